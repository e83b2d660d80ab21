//! Queries: common table expressions, set operations, ordering, limits, locks, pipes.

use dbagent_core::Effects;
use dbagent_core::guard::StatementClass;
use sqlparser::ast::{
    Cte, Expr, Fetch, ForClause, FormatClause, Interpolate, InterpolateExpr, LimitClause, LockClause,
    LockType, Offset, OrderBy, OrderByExpr, OrderByKind, OrderByOptions, OrderBySort, PipeOperator, Query,
    SetExpr, Setting, Table, Values, With, WithFill,
};

use super::Walk;
use super::scope::Source;
use crate::options::Recursion;

impl Walk<'_> {
    /// Walks a query and says which class it is: a read, or the write in its body.
    pub(super) fn query(&mut self, query: &Query) -> StatementClass {
        let class = self.open_query(query);
        self.scope.pop_frame();
        class
    }

    /// Walks a query and leaves the frame of its body open, for an ORDER BY that stands outside of it.
    fn open_query(&mut self, query: &Query) -> StatementClass {
        let Query {
            with,
            body,
            order_by,
            limit_clause,
            fetch,
            locks,
            for_clause,
            settings,
            format_clause,
            pipe_operators,
        } = query;
        self.census.queries += 1;
        let ctes = self.scope.ctes();
        if let Some(with) = with {
            self.with(with);
        }
        let class = self.set_expr(body);
        if let Some(order_by) = order_by {
            self.order_by(order_by);
        }
        if let Some(limit) = limit_clause {
            self.limit(limit);
        }
        if let Some(Fetch { with_ties: _, percent: _, quantity }) = fetch {
            self.optional(quantity.as_ref());
        }
        for lock in locks {
            self.lock_clause(lock);
        }
        match for_clause {
            // FOR BROWSE, JSON and XML say how rows are returned.
            None | Some(ForClause::Browse | ForClause::Json { .. } | ForClause::Xml { .. }) => {}
        }
        self.settings(settings.as_ref());
        match format_clause {
            None | Some(FormatClause::Identifier(_) | FormatClause::Null) => {}
        }
        for pipe in pipe_operators {
            self.pipe(pipe);
        }
        self.scope.forget_ctes(ctes);
        class
    }

    /// `SETTINGS a = 1` behind a statement.
    pub(super) fn settings(&mut self, settings: Option<&Vec<Setting>>) {
        for Setting { key: _, value } in settings.into_iter().flatten() {
            self.effect(Effects::SESSION);
            self.expr(value);
        }
    }

    fn with(&mut self, with: &With) {
        let With { with_token: _, recursive, cte_tables } = with;
        let sees_itself = *recursive || self.grammar().recursion_rule() == Recursion::Always;
        if *recursive {
            self.scope.announce(cte_tables.iter().rev().map(|cte| &cte.alias.name));
        }
        for cte in cte_tables {
            if *recursive {
                self.scope.arrived();
            }
            let Cte { alias, query, from, materialized: _, closing_paren_token: _ } = cte;
            if let Some(from) = from {
                self.unknown("FROM behind a common table expression", self.place(from));
            }
            if sees_itself {
                self.scope.add_cte(&alias.name, 0);
            }
            let before = self.written_out();
            let class = self.query(query);
            self.note_write(class);
            let parts = self.written_out().saturating_sub(before);
            if sees_itself {
                self.scope.size_cte(parts);
            } else {
                // A name that comes later never hides a table: engines differ, and a table more is safe.
                self.scope.add_cte(&alias.name, parts);
            }
        }
    }

    /// Keeps the class of the first statement inside that is no read.
    pub(super) fn note_write(&mut self, class: StatementClass) {
        if class != StatementClass::Read {
            self.written.get_or_insert(class);
        }
    }

    /// Walks the body of a query and leaves a frame open that sees what it reads.
    fn set_expr(&mut self, body: &SetExpr) -> StatementClass {
        // A long UNION is deep to the left: a loop, not recursion.
        let mut rights = Vec::new();
        let mut node = body;
        while let SetExpr::SetOperation { left, op: _, set_quantifier: _, right } = node {
            rights.push(right.as_ref());
            node = left;
        }
        let mut class = self.set_leaf(node);
        if rights.is_empty() {
            return class;
        }
        // An arm does not see what another reads from; an ORDER BY behind them may name a column of any.
        let mut all = self.scope.pop_frame();
        while let Some(right) = rights.pop() {
            let of_right = self.set_expr(right);
            all.absorb(self.scope.pop_frame());
            if class == StatementClass::Read {
                class = of_right;
            }
        }
        self.scope.reopen(all);
        class
    }

    fn set_leaf(&mut self, body: &SetExpr) -> StatementClass {
        match body {
            SetExpr::Select(select) => {
                self.select(select);
                self.effect(Effects::READ);
                StatementClass::Read
            }
            SetExpr::Query(query) => self.open_query(query),
            SetExpr::SetOperation { .. } => self.set_expr(body),
            SetExpr::Values(values) => {
                self.scope.push_frame();
                self.values(values);
                self.effect(Effects::READ);
                StatementClass::Read
            }
            SetExpr::Insert(statement)
            | SetExpr::Update(statement)
            | SetExpr::Delete(statement)
            | SetExpr::Merge(statement) => {
                let class = self.nested_statement(statement);
                self.scope.push_frame();
                class
            }
            SetExpr::Table(table) => {
                self.scope.push_frame();
                self.table_command(table);
                self.effect(Effects::READ);
                StatementClass::Read
            }
        }
    }

    /// `TABLE name`.
    fn table_command(&mut self, table: &Table) {
        let Table { table_name, schema_name } = table;
        let parts = schema_name.iter().chain(table_name).cloned().collect::<Vec<_>>();
        let source = self.source(&parts.into());
        self.star(source.objects.clone(), table_name.as_ref().and_then(|n| self.place(n)));
        self.scope.add(source);
    }

    pub(super) fn values(&mut self, values: &Values) {
        let Values { explicit_row: _, value_keyword: _, rows } = values;
        for row in rows {
            self.exprs(&row.content);
        }
    }

    pub(super) fn order_by(&mut self, order_by: &OrderBy) {
        let OrderBy { kind, interpolate } = order_by;
        match kind {
            OrderByKind::All(options) => self.order_options(options),
            OrderByKind::Expressions(exprs) => self.order_exprs(exprs),
        }
        if let Some(Interpolate { exprs }) = interpolate {
            for InterpolateExpr { column: _, expr } in exprs.iter().flatten() {
                self.optional(expr.as_ref());
            }
        }
    }

    /// The expressions of an ORDER BY at the end of a query, which sees output columns first.
    fn order_exprs(&mut self, exprs: &[OrderByExpr]) {
        for item in exprs {
            match &item.expr {
                // A name of the output: what it is made of has been looked at where it is made.
                Expr::Identifier(name) if self.scope.is_output(&name.value) => {
                    self.census.exprs += 1;
                    self.order_rest(item);
                }
                _ => self.order_expr(item),
            }
        }
    }

    pub(super) fn order_expr(&mut self, item: &OrderByExpr) {
        self.expr(&item.expr);
        self.order_rest(item);
    }

    fn order_rest(&mut self, item: &OrderByExpr) {
        let OrderByExpr { expr: _, options, with_fill } = item;
        self.order_options(options);
        if let Some(WithFill { from, to, step }) = with_fill {
            self.optional(from.as_ref());
            self.optional(to.as_ref());
            self.optional(step.as_ref());
        }
    }

    fn order_options(&mut self, options: &OrderByOptions) {
        let OrderByOptions { sort, nulls_first: _ } = options;
        match sort {
            None | Some(OrderBySort::Asc | OrderBySort::Desc) => {}
            Some(OrderBySort::Using(operator)) => {
                let span = self.place_of(operator);
                self.custom_operator(&operator.to_string(), span);
            }
        }
    }

    fn limit(&mut self, limit: &LimitClause) {
        match limit {
            LimitClause::LimitOffset { limit, offset, limit_by } => {
                self.optional(limit.as_ref());
                if let Some(Offset { value, rows: _ }) = offset {
                    self.expr(value);
                }
                self.exprs(limit_by);
            }
            LimitClause::OffsetCommaLimit { offset, limit } => {
                self.expr(offset);
                self.expr(limit);
            }
        }
    }

    fn lock_clause(&mut self, lock: &LockClause) {
        let LockClause { lock_type, of: _, nonblock: _ } = lock;
        match lock_type {
            LockType::Share | LockType::Update => self.effect(Effects::LOCK),
        }
    }

    fn pipe(&mut self, pipe: &PipeOperator) {
        match pipe {
            PipeOperator::Limit { expr, offset } => {
                self.expr(expr);
                self.optional(offset.as_ref());
            }
            PipeOperator::Where { expr } => self.expr(expr),
            PipeOperator::OrderBy { exprs } => exprs.iter().for_each(|e| self.order_expr(e)),
            PipeOperator::Select { exprs } | PipeOperator::Extend { exprs } => {
                for item in exprs {
                    self.select_item(item);
                }
            }
            PipeOperator::Set { assignments } => {
                for assignment in assignments {
                    self.expr(&assignment.value);
                }
            }
            PipeOperator::Drop { columns: _ } | PipeOperator::Rename { mappings: _ } => {}
            PipeOperator::As { alias } => {
                let objects = self.objects_here(0);
                self.scope.add(Source { name: Some(alias.into()), objects, ..Source::default() });
            }
            PipeOperator::Aggregate { full_table_exprs, group_by_expr } => {
                for item in full_table_exprs.iter().chain(group_by_expr) {
                    self.expr(&item.expr.expr);
                    self.order_options(&item.order_by);
                }
            }
            PipeOperator::TableSample { sample } => self.sample(sample),
            PipeOperator::Union { set_quantifier: _, queries }
            | PipeOperator::Intersect { set_quantifier: _, queries }
            | PipeOperator::Except { set_quantifier: _, queries } => {
                for query in queries {
                    let class = self.query(query);
                    self.note_write(class);
                }
            }
            PipeOperator::Call { function, alias: _ } => self.function(function),
            PipeOperator::Pivot { aggregate_functions, value_column, value_source, alias: _ } => {
                for item in aggregate_functions {
                    self.expr(&item.expr);
                }
                for column in value_column {
                    self.column_path(&[column]);
                }
                self.pivot_source(value_source);
                let objects = self.objects_here(0);
                self.star(objects, None);
            }
            PipeOperator::Unpivot { value_column: _, name_column: _, unpivot_columns, alias: _ } => {
                for column in unpivot_columns {
                    self.column_path(&[column]);
                }
                let objects = self.objects_here(0);
                self.star(objects, None);
            }
            PipeOperator::Join(join) => self.join(join),
        }
    }
}
