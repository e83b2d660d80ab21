//! Selects: common table expressions, set operations, FROM with everything that may stand in it.

use dbagent_core::ObjectName;
use dbagent_core::guard::{FunctionUse, Rule, Span};
use sqlite3_parser::ast::{
    As, CommonTableExpr, Distinctness, Expr, FromClause, FunctionTail, Indexed, JoinConstraint, JoinOperator,
    JoinType, JoinedSelectTable, Limit, Literal, OneSelect, Over, QualifiedName, ResultColumn, Select,
    SelectTable, SortedColumn, Window, WindowDef, With,
};

use super::marked::Word;
use super::pragma::{self, Form};
use super::scope::{Env, Source};
use super::walk::Walk;
use crate::functions;

/// What a FROM clause leaves to walk once all its names are known.
#[derive(Default)]
struct Later<'a> {
    on: Vec<&'a Expr<'a>>,
    arguments: Vec<&'a [Expr<'a>]>,
    using: Vec<Word>,
    natural: bool,
}

impl Walk<'_, '_> {
    /// A select and everything in it. `env` is what it can see from outside.
    pub(super) fn select(&mut self, select: &Select<'_>, env: Env) {
        if !self.enter_select() {
            return;
        }
        let Select { with, body, order_by, limit } = select;
        let env = self.with(with.as_ref(), env);
        let mut scopes = vec![self.one_select(&body.select, env)];
        for compound in body.compounds.iter().flatten() {
            // Every operator reads both sides whole.
            scopes.push(self.one_select(&compound.select, env));
        }
        if let Some(terms) = order_by {
            let aliases = match (&body.compounds, &body.select) {
                (None, OneSelect::Select { columns, .. }) => self.aliases(columns),
                _ => Vec::new(),
            };
            let scope = match scopes.as_slice() {
                [one] => *one,
                several => self.scopes.merged(several, env.scope),
            };
            let inside = Env { scope: Some(scope), ..env };
            for term in *terms {
                if !self.is_alias(&term.expr, &aliases) {
                    self.sorted(term, inside);
                }
            }
        }
        self.limit(*limit, env);
        self.leave_select();
    }

    /// Walks the expressions of WITH and returns the environment in which their names are known. Each of
    /// them sees all of them, as in SQLite.
    pub(super) fn with(&mut self, with: Option<&With<'_>>, env: Env) -> Env {
        let Some(With { recursive: _, ctes }) = with else { return env };
        let names: Vec<String> = ctes.iter().map(|c| self.word(&c.tbl_name).text).collect();
        let inside = Env { ctes: Some(self.scopes.with(names.into_iter(), env.ctes)), ..env };
        for CommonTableExpr { tbl_name: _, columns: _, materialized: _, select } in *ctes {
            self.select(select, inside);
        }
        inside
    }

    /// The names that result columns are given.
    fn aliases(&self, columns: &[ResultColumn<'_>]) -> Vec<String> {
        let given = columns.iter().filter_map(|c| match c {
            ResultColumn::Expr(_, alias) => alias_word(self, alias.as_ref()),
            ResultColumn::Star | ResultColumn::TableStar(_) => None,
        });
        given.collect()
    }

    /// Whether a term of ORDER BY is nothing but the name of a result column: that comes first in SQLite.
    fn is_alias(&self, term: &Expr<'_>, aliases: &[String]) -> bool {
        let mut term = term;
        while let Expr::Collate(inner, _) = term {
            term = inner;
        }
        let Expr::Id(id) = term else { return false };
        let word = self.word_of(id.0);
        aliases.iter().any(|a| a.eq_ignore_ascii_case(&word.text))
    }

    /// One select of a compound; returns the scope of its FROM.
    fn one_select(&mut self, select: &OneSelect<'_>, env: Env) -> usize {
        let scope = self.scopes.open(env.scope);
        let inside = Env { scope: Some(scope), ..env };
        match select {
            OneSelect::Select {
                distinctness: None | Some(Distinctness::Distinct | Distinctness::All),
                columns,
                from,
                where_clause,
                group_by,
                having,
                window_clause,
            } => {
                if let Some(from) = from {
                    self.from(from, scope, env);
                }
                self.result_columns(columns, scope, env);
                for expr in [*where_clause, *having].into_iter().flatten() {
                    self.expr(expr, inside);
                }
                for expr in group_by.iter().copied().flatten() {
                    self.expr(expr, inside);
                }
                for WindowDef { name: _, window } in window_clause.iter().copied().flatten() {
                    self.window(window, inside);
                }
            }
            OneSelect::Values(rows) => {
                for expr in rows.iter().flatten() {
                    self.expr(expr, inside);
                }
            }
        }
        scope
    }

    /// Result columns of a select or of RETURNING.
    pub(super) fn result_columns(&mut self, columns: &[ResultColumn<'_>], scope: usize, env: Env) {
        let inside = Env { scope: Some(scope), ..env };
        for column in columns {
            match column {
                ResultColumn::Expr(expr, _) => self.expr(expr, inside),
                ResultColumn::Star => {
                    let all = self.scopes.own(scope);
                    self.column_of(all, None, None);
                }
                ResultColumn::TableStar(table) => {
                    let word = self.word(table);
                    let some = self.scopes.named_here(scope, &word.text);
                    let some = some.unwrap_or_else(|| self.scopes.own(scope));
                    self.column_of(some, None, word.span);
                }
            }
        }
    }

    /// A FROM clause into a scope. Sub-selects in it see only what is outside, the rest sees all of it.
    pub(super) fn from(&mut self, from: &FromClause<'_>, scope: usize, env: Env) {
        let mut later = Later::default();
        self.gather(from, scope, env, &mut later);
        let inside = Env { scope: Some(scope), ..env };
        for expr in later.on {
            self.expr(expr, inside);
        }
        for expr in later.arguments.into_iter().flatten() {
            self.expr(expr, inside);
        }
        // The columns of USING are read on both sides.
        for word in later.using {
            let all = self.scopes.own(scope);
            self.column_of(all, Some(word.text), word.span);
        }
        // Which columns a natural join compares only the catalogue knows: all of them may be read.
        if later.natural {
            let all = self.scopes.own(scope);
            self.column_of(all, None, None);
        }
    }

    /// Adds the sources of a FROM clause and returns the objects behind them.
    fn gather<'a>(
        &mut self,
        from: &'a FromClause<'a>,
        scope: usize,
        env: Env,
        later: &mut Later<'a>,
    ) -> Vec<usize> {
        let mut objects = Vec::new();
        if let Some(table) = from.select {
            objects.extend(self.table(table, scope, env, later));
        }
        for JoinedSelectTable { operator, table, constraint } in from.joins.iter().flatten() {
            objects.extend(self.table(table, scope, env, later));
            match operator {
                JoinOperator::Comma | JoinOperator::TypedJoin(None) => {}
                JoinOperator::TypedJoin(Some(kind)) => later.natural |= kind.contains(JoinType::NATURAL),
            }
            match constraint {
                None => {}
                Some(JoinConstraint::On(expr)) => later.on.push(expr),
                Some(JoinConstraint::Using(names)) => {
                    later.using.extend(names.iter().map(|n| self.word(n)));
                }
            }
        }
        objects
    }

    fn table<'a>(
        &mut self,
        table: &'a SelectTable<'a>,
        scope: usize,
        env: Env,
        later: &mut Later<'a>,
    ) -> Vec<usize> {
        let source = match table {
            SelectTable::Table(name, alias, hint) => {
                match hint {
                    // The name of an index, not of a column.
                    None | Some(Indexed::IndexedBy(_) | Indexed::NotIndexed) => {}
                }
                let alias = alias_word(self, alias.as_ref());
                self.table_source(name, alias, env)
            }
            SelectTable::TableCall(name, arguments, alias) => {
                let arguments = arguments.unwrap_or_default();
                later.arguments.push(arguments);
                let alias = alias_word(self, alias.as_ref());
                self.table_call(name, arguments, alias)
            }
            SelectTable::Select(select, alias) => {
                self.select(select, env);
                Source::derived(alias_word(self, alias.as_ref()))
            }
            SelectTable::Sub(inner, alias) => {
                let objects = self.gather(inner, scope, env, later);
                // The names inside stay visible; with an alias they have one more.
                if let Some(name) = alias_word(self, alias.as_ref()) {
                    self.scopes.add(scope, Source { name: Some(name), objects: objects.clone() });
                }
                return objects;
            }
        };
        let objects = source.objects.clone();
        self.scopes.add(scope, source);
        objects
    }

    /// A call in FROM or after IN: a table function, or the columns of a virtual table compared in
    /// SQLite's short form.
    pub(super) fn table_call(
        &mut self,
        name: &QualifiedName<'_>,
        arguments: &[Expr<'_>],
        alias: Option<String>,
    ) -> Source {
        let word = self.word(&name.name);
        let visible = Some(alias.unwrap_or_else(|| word.text.clone()));
        if pragma::of_table_function(&word.text).is_some() {
            self.pragma_function(&word, Some(arguments));
            return Source::derived(visible);
        }
        let effects = functions::effects(&word.text);
        self.parsed.functions.push(FunctionUse {
            name: word.text.clone(),
            arguments: Some(arguments.len()),
            effects,
            span: word.span,
        });
        if functions::is_table_function(&word.text) || functions::is_outside_table(&word.text) {
            return Source::derived(visible);
        }
        let object = self.object(name, false);
        // A full-text table called like a function is searched in all its columns, by its own name.
        self.column_of(vec![object], Some(word.text), word.span);
        Source { name: visible, objects: vec![object] }
    }

    /// A pragma as a table function; without parentheses its hidden columns are its arguments.
    pub(super) fn pragma_function(&mut self, word: &Word, arguments: Option<&[Expr<'_>]>) {
        let Some(name) = pragma::of_table_function(&word.text).map(str::to_owned) else { return };
        let first = arguments.and_then(<[_]>::first);
        if !pragma::only_reads(&name, first.is_some()) {
            self.refuse_pragma(&name, word.span);
            return;
        }
        self.parsed.functions.push(FunctionUse {
            name: word.text.clone(),
            arguments: arguments.map(<[_]>::len),
            effects: dbagent_core::Effects::READ,
            span: word.span,
        });
        let constant = |expr: Option<&Expr<'_>>| match expr {
            Some(Expr::Literal(Literal::String(raw))) => Some(self.word_of(raw).text),
            _ => None,
        };
        let (object, schema) = (constant(first), constant(arguments.and_then(|a| a.get(1))));
        let open = arguments.is_some_and(|a| a.len() > 1) && schema.is_none();
        // A schema that only the data tell may be any.
        self.pragma_objects(&name, schema, object.filter(|_| !open), word.span);
    }

    /// The objects that a pragma tells of.
    pub(super) fn pragma_objects(
        &mut self,
        pragma: &str,
        schema: Option<String>,
        argument: Option<String>,
        span: Option<Span>,
    ) {
        let named = match (pragma::form(pragma), argument) {
            (None | Some(Form::Getter), _) => return,
            (Some(Form::Check), Some(n)) if n.parse::<i64>().is_ok() => None,
            (Some(_), argument) => argument,
        };
        // Without a name it tells of every table, as the schema table does.
        let object = named.unwrap_or_else(|| "sqlite_schema".to_owned());
        self.named_object(ObjectName { namespace: schema, name: object }, false, span);
    }

    pub(super) fn refuse_pragma(&mut self, name: &str, span: Option<Span>) {
        self.parsed.effects |= dbagent_core::Effects::SESSION;
        self.find(
            dbagent_core::guard::Finding::new(
                Rule::SessionChange,
                format!("the pragma {name} does more than read, at least in this form"),
                span,
            )
            .advice(
                "Pragmas that describe may be read: table_info, table_list, index_list, foreign_key_list and \
                 settings without a value.",
            ),
        );
    }

    /// One term of ORDER BY.
    pub(super) fn sorted(&mut self, term: &SortedColumn<'_>, env: Env) {
        let SortedColumn { expr, order: _, nulls: _ } = term;
        self.expr(expr, env);
    }

    /// LIMIT and OFFSET: they see what is outside the select.
    pub(super) fn limit(&mut self, limit: Option<&Limit<'_>>, env: Env) {
        if let Some(Limit { expr, offset }) = limit {
            self.expr(expr, env);
            if let Some(offset) = offset {
                self.expr(offset, env);
            }
        }
    }

    /// FILTER and OVER behind a call.
    pub(super) fn tail(&mut self, tail: &FunctionTail<'_>, env: Env) {
        let FunctionTail { filter_clause, over_clause } = tail;
        if let Some(filter) = filter_clause {
            self.expr(filter, env);
        }
        match over_clause {
            None | Some(Over::Name(_)) => {}
            Some(Over::Window(window)) => self.window(window, env),
        }
    }

    fn window(&mut self, window: &Window<'_>, env: Env) {
        use sqlite3_parser::ast::{FrameBound, FrameClause};
        let Window { base: _, partition_by, order_by, frame_clause } = window;
        for expr in partition_by.iter().copied().flatten() {
            self.expr(expr, env);
        }
        for term in order_by.iter().copied().flatten() {
            self.sorted(term, env);
        }
        if let Some(FrameClause { mode: _, start, end, exclude: _ }) = frame_clause {
            for bound in [Some(start), end.as_ref()].into_iter().flatten() {
                match bound {
                    FrameBound::CurrentRow
                    | FrameBound::UnboundedFollowing
                    | FrameBound::UnboundedPreceding => {}
                    FrameBound::Following(expr) | FrameBound::Preceding(expr) => self.expr(expr, env),
                }
            }
        }
    }
}

fn alias_word(walk: &Walk<'_, '_>, alias: Option<&As<'_>>) -> Option<String> {
    match alias? {
        As::As(name) | As::Elided(name) => Some(walk.word(name).text),
    }
}
