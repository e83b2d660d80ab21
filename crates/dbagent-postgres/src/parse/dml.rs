//! Statements that change rows, which also stand in common table expressions.

use dbagent_core::Effects;
use dbagent_core::guard::StatementClass;
use pg_query::protobuf::{
    DeleteStmt, IndexElem, InferClause, InsertStmt, MergeStmt, MergeWhenClause, OnConflictClause, RangeVar,
    ResTarget, ReturningClause, UpdateStmt,
};
use pg_query::{Node, NodeEnum};

use super::from::Later;
use super::inner;
use super::scope::{Env, Source};
use super::walk::Walk;

impl Walk<'_> {
    pub(super) fn insert(&mut self, insert: &InsertStmt, env: Env) {
        let InsertStmt {
            relation,
            cols,
            select_stmt,
            on_conflict_clause,
            returning_clause,
            with_clause,
            r#override: _,
        } = insert;
        self.note(StatementClass::Insert, Effects::WRITE);
        let env = self.with(with_clause.as_ref(), env);
        let (inside, object) = self.target(relation.as_ref(), env);
        self.assigned(cols, &object, inside);
        // Without a query the columns have their defaults.
        if select_stmt.is_some() {
            self.query(select_stmt.as_deref(), env);
        }
        if let Some(conflict) = on_conflict_clause {
            let OnConflictClause { action: _, infer, target_list, where_clause, location: _ } =
                conflict.as_ref();
            if let Some(scope) = inside.scope {
                let excluded = Source::of("excluded".to_owned(), object.clone());
                self.scopes.add(scope, excluded);
            }
            if let Some(InferClause { index_elems, where_clause, conname: _, location: _ }) = infer.as_deref()
            {
                for element in index_elems {
                    match inner(element) {
                        Some(NodeEnum::IndexElem(element)) => self.index_element(element, &object, inside),
                        _ => self.unknown("this part of ON CONFLICT", None),
                    }
                }
                self.optional(where_clause.as_deref(), inside);
            }
            self.assigned(target_list, &object, inside);
            self.optional(where_clause.as_deref(), inside);
        }
        self.returning(returning_clause.as_ref(), &object, inside);
    }

    pub(super) fn update(&mut self, update: &UpdateStmt, env: Env) {
        let UpdateStmt { relation, target_list, where_clause, from_clause, returning_clause, with_clause } =
            update;
        self.note(StatementClass::Update, Effects::WRITE);
        let env = self.with(with_clause.as_ref(), env);
        let (inside, object) = self.target(relation.as_ref(), env);
        self.sources(from_clause, inside, env);
        self.assigned(target_list, &object, inside);
        self.optional(where_clause.as_deref(), inside);
        self.returning(returning_clause.as_ref(), &object, inside);
    }

    pub(super) fn delete(&mut self, delete: &DeleteStmt, env: Env) {
        let DeleteStmt { relation, using_clause, where_clause, returning_clause, with_clause } = delete;
        self.note(StatementClass::Delete, Effects::WRITE);
        let env = self.with(with_clause.as_ref(), env);
        let (inside, object) = self.target(relation.as_ref(), env);
        self.sources(using_clause, inside, env);
        self.optional(where_clause.as_deref(), inside);
        self.returning(returning_clause.as_ref(), &object, inside);
    }

    pub(super) fn merge(&mut self, merge: &MergeStmt, env: Env) {
        let MergeStmt {
            relation,
            source_relation,
            join_condition,
            merge_when_clauses,
            returning_clause,
            with_clause,
        } = merge;
        self.note(StatementClass::Merge, Effects::WRITE);
        let env = self.with(with_clause.as_ref(), env);
        let (inside, object) = self.target(relation.as_ref(), env);
        let mut later = Later::default();
        if let Some(source) = source_relation.as_deref() {
            self.source(source, inside, env, &mut later);
        }
        self.later(later, inside);
        self.optional(join_condition.as_deref(), inside);
        for clause in merge_when_clauses {
            let Some(NodeEnum::MergeWhenClause(clause)) = inner(clause) else {
                self.unknown("this part of MERGE", None);
                continue;
            };
            let MergeWhenClause {
                match_kind: _,
                command_type: _,
                r#override: _,
                condition,
                target_list,
                values,
            } = clause.as_ref();
            self.optional(condition.as_deref(), inside);
            self.assigned(target_list, &object, inside);
            self.exprs(values, inside);
        }
        self.returning(returning_clause.as_ref(), &object, inside);
    }

    /// The table that is changed, as a scope of its own.
    fn target(&mut self, relation: Option<&RangeVar>, env: Env) -> (Env, Vec<usize>) {
        let scope = self.scopes.open(env.scope);
        let inside = Env { scope: Some(scope), ..env };
        let Some(relation) = relation else {
            self.unknown("a write without a table", None);
            return (inside, Vec::new());
        };
        let object = vec![self.written_object(relation)];
        let name = relation.alias.as_ref().map_or(&relation.relname, |a| &a.aliasname);
        self.scopes.add(scope, Source::of(name.clone(), object.clone()));
        (inside, object)
    }

    fn sources(&mut self, items: &[Node], inside: Env, outside: Env) {
        let mut later = Later::default();
        for item in items {
            self.source(item, inside, outside, &mut later);
        }
        self.later(later, inside);
    }

    /// Columns that are set, and what to.
    fn assigned(&mut self, targets: &[Node], object: &[usize], env: Env) {
        for target in targets {
            let Some(NodeEnum::ResTarget(target)) = inner(target) else {
                self.unknown("this column that is set", None);
                continue;
            };
            let ResTarget { name, indirection, val, location } = target.as_ref();
            let span = self.span(*location, 1);
            self.column(object.to_vec(), Some(name), span);
            let mut open = Vec::new();
            self.indirection(indirection, &mut open);
            open.extend(val.as_deref());
            for expr in open {
                self.expr(expr, env);
            }
        }
    }

    /// A column or an expression of an index.
    pub(super) fn index_element(&mut self, element: &IndexElem, object: &[usize], env: Env) {
        let IndexElem {
            name,
            expr,
            indexcolname: _,
            collation: _,
            // Only a superuser makes one, and it must exist.
            opclass: _,
            opclassopts: _,
            ordering: _,
            nulls_ordering: _,
        } = element;
        if !name.is_empty() {
            self.column(object.to_vec(), Some(name), None);
        }
        self.optional(expr.as_deref(), env);
    }

    fn returning(&mut self, returning: Option<&ReturningClause>, object: &[usize], env: Env) {
        let Some(ReturningClause { options, exprs }) = returning else { return };
        let mut names = vec!["old".to_owned(), "new".to_owned()];
        for option in options {
            match inner(option) {
                Some(NodeEnum::ReturningOption(option)) => names.push(option.value.clone()),
                _ => self.unknown("this option of RETURNING", None),
            }
        }
        if let Some(scope) = env.scope {
            for name in names {
                self.scopes.add(scope, Source::of(name, object.to_vec()));
            }
        }
        self.exprs(exprs, env);
    }
}
