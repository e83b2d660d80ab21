//! Selects: set operations, VALUES and the clauses around a FROM.

use dbagent_core::Effects;
use dbagent_core::guard::{Rule, Span, StatementClass};
use pg_query::protobuf::{GroupingSet, IntoClause, LockingClause, ResTarget, SelectStmt, SortBy, WindowDef};
use pg_query::{Node, NodeEnum};

use super::from::Later;
use super::inner;
use super::scope::Env;
use super::walk::{Walk, string};
use crate::functions::{Called, Qualified};

impl Walk<'_> {
    /// What stands where a query is expected: a select, or a statement that returns rows.
    pub(super) fn query(&mut self, node: Option<&Node>, env: Env) {
        match node.and_then(inner) {
            Some(NodeEnum::SelectStmt(select)) => self.select(select, env),
            Some(NodeEnum::InsertStmt(insert)) => self.insert(insert, env),
            Some(NodeEnum::UpdateStmt(update)) => self.update(update, env),
            Some(NodeEnum::DeleteStmt(delete)) => self.delete(delete, env),
            Some(NodeEnum::MergeStmt(merge)) => self.merge(merge, env),
            _ => self.unknown("this query", None),
        }
    }

    /// A select and everything in it. `env` is what it can see from outside.
    pub(super) fn select(&mut self, select: &SelectStmt, env: Env) {
        if !self.enter() {
            return;
        }
        let SelectStmt {
            distinct_clause,
            into_clause,
            target_list,
            from_clause,
            where_clause,
            group_clause,
            group_distinct: _,
            having_clause,
            window_clause,
            values_lists,
            sort_clause,
            limit_offset,
            limit_count,
            // WITH TIES compares by the order, which is walked.
            limit_option: _,
            locking_clause,
            with_clause,
            op: _,
            all: _,
            larg,
            rarg,
        } = select;
        self.effect(Effects::READ);
        let env = self.with(with_clause.as_ref(), env);
        let mut inside = Env { scope: Some(self.scopes.open(env.scope)), ..env };
        let mut aliases = Vec::new();
        if larg.is_some() || rarg.is_some() {
            for arm in [larg, rarg].into_iter().flatten() {
                self.select(arm, env);
            }
            self.equality("=", None);
            // Its ORDER BY sees the names of the result and nothing of the arms.
            inside = env;
            aliases = first_names(select);
        }
        self.from(from_clause, inside, env);
        for list in values_lists {
            self.expr(list, inside);
        }
        self.targets(target_list, inside);
        self.optional(where_clause.as_deref(), inside);
        self.exprs(group_clause, inside);
        self.optional(having_clause.as_deref(), inside);
        for window in window_clause {
            match inner(window) {
                Some(NodeEnum::WindowDef(window)) => self.window(window, inside),
                _ => self.unknown("this window", None),
            }
        }
        if !distinct_clause.is_empty() {
            self.equality("=", None);
        }
        self.exprs(distinct_clause, inside);
        if larg.is_none() {
            aliases = names_of(target_list);
        }
        for sort in sort_clause {
            self.sorted(sort, &aliases, inside);
        }
        // LIMIT sees what is outside the select.
        self.optional(limit_offset.as_deref(), env);
        self.optional(limit_count.as_deref(), env);
        for lock in locking_clause {
            self.lock(lock);
        }
        if let Some(into) = into_clause {
            self.note(StatementClass::Schema, Effects::SCHEMA | Effects::WRITE);
            self.into(into);
        }
        self.leave();
    }

    /// Result columns of a select.
    fn targets(&mut self, targets: &[Node], env: Env) {
        for target in targets {
            match inner(target) {
                Some(NodeEnum::ResTarget(target)) => {
                    let ResTarget { name: _, indirection: _, val, location: _ } = target.as_ref();
                    self.optional(val.as_deref(), env);
                }
                _ => self.expr(target, env),
            }
        }
    }

    /// A FROM clause. Sub-selects in it see what is outside, and with LATERAL what stands before them.
    fn from(&mut self, items: &[Node], inside: Env, outside: Env) {
        let mut later = Later::default();
        for item in items {
            self.source(item, inside, outside, &mut later);
        }
        self.later(later, inside);
    }

    fn lock(&mut self, node: &Node) {
        let Some(NodeEnum::LockingClause(lock)) = inner(node) else {
            return self.unknown("this locking clause", None);
        };
        let LockingClause { locked_rels: _, strength: _, wait_policy: _ } = lock;
        self.note(StatementClass::Read, Effects::LOCK);
    }

    /// The table that a select makes.
    pub(super) fn into(&mut self, into: &IntoClause) {
        let IntoClause {
            rel,
            col_names: _,
            access_method: _,
            options: _,
            on_commit: _,
            table_space_name: _,
            view_query: _,
            skip_data: _,
        } = into;
        match rel {
            Some(rel) => {
                self.written_object(rel);
            }
            None => self.unknown("INTO without a table", None),
        }
    }

    /// One term of an ORDER BY. The name of a result column stands for what was walked there.
    pub(super) fn sorted(&mut self, node: &Node, aliases: &[&str], env: Env) {
        let Some(NodeEnum::SortBy(sort)) = inner(node) else {
            return self.expr(node, env);
        };
        let SortBy { node, sortby_dir: _, sortby_nulls: _, use_op, location } = sort.as_ref();
        if use_op.is_empty() {
            self.equality("<", None);
        } else {
            let span = self.span(*location, 1);
            self.operator(use_op, 0, span);
        }
        let alias = node.as_deref().and_then(bare_name);
        if !alias.is_some_and(|name| aliases.contains(&name)) {
            self.optional(node.as_deref(), env);
        }
    }

    pub(super) fn window(&mut self, window: &WindowDef, env: Env) {
        let WindowDef {
            name: _,
            refname: _,
            partition_clause,
            order_clause,
            frame_options: _,
            start_offset,
            end_offset,
            location: _,
        } = window;
        self.exprs(partition_clause, env);
        for sort in order_clause {
            self.sorted(sort, &[], env);
        }
        for offset in [start_offset, end_offset].into_iter().flatten() {
            // A range is told by adding to and taking from the value that is sorted by.
            self.comparison("+", None);
            self.comparison("-", None);
            self.expr(offset, env);
        }
    }

    pub(super) fn grouping_set<'n>(&mut self, set: &'n GroupingSet, open: &mut Vec<&'n Node>) {
        let GroupingSet { kind: _, content, location: _ } = set;
        self.equality("=", None);
        open.extend(content);
    }

    /// An operator that the grammar does not show: of equality, or of an order.
    /// What it compares are columns and results, which have types.
    pub(super) fn equality(&mut self, operator: &str, span: Option<Span>) {
        self.operator_named(Qualified::bare(operator), 0, span);
    }

    /// The same of values that may have no type of their own.
    pub(super) fn comparison(&mut self, operator: &str, span: Option<Span>) {
        self.operator_named(Qualified::bare(operator), Called::ANY, span);
    }

    /// Refuses a size that nobody needs.
    pub(super) fn size_cap(&mut self, message: String, span: Option<Span>) {
        self.find(dbagent_core::guard::Finding::new(Rule::SizeCap, message, span).choice("size_cap"));
    }
}

/// The name that an expression is, if it is nothing else.
fn bare_name(node: &Node) -> Option<&str> {
    match inner(node)? {
        NodeEnum::ColumnRef(column) => match column.fields.as_slice() {
            [name] => string(name),
            _ => None,
        },
        _ => None,
    }
}

/// The names that result columns are given.
fn names_of(targets: &[Node]) -> Vec<&str> {
    let given = targets.iter().filter_map(|t| match inner(t) {
        Some(NodeEnum::ResTarget(target)) if !target.name.is_empty() => Some(target.name.as_str()),
        _ => None,
    });
    given.collect()
}

/// Every name that ORDER BY behind a set operation may use for a column of the result: those of its arms.
fn first_names(select: &SelectStmt) -> Vec<&str> {
    let mut left = select;
    while let Some(arm) = left.larg.as_deref() {
        left = arm;
    }
    let mut names = names_of(&left.target_list);
    for target in &left.target_list {
        if let Some(NodeEnum::ResTarget(target)) = inner(target)
            && let Some(NodeEnum::ColumnRef(column)) = target.val.as_deref().and_then(inner)
            && let Some(name) = column.fields.last().and_then(string)
        {
            names.push(name);
        }
    }
    names
}
