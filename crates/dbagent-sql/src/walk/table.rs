//! What stands in FROM.

use dbagent_core::Effects;
use sqlparser::ast::{
    AfterMatchSkip, Expr, ExprWithAlias, Ident, Join, JoinConstraint, JoinOperator, JsonPathElem,
    JsonTableColumn, JsonTableColumnErrorHandling, JsonTableNamedColumn, JsonTableNestedColumn, Measure,
    ObjectName, OpenJsonTableColumn, PivotValueSource, RowsPerMatch, SymbolDefinition, TableAlias,
    TableAliasColumnDef, TableFactor, TableFunctionArgs, TableIndexDirective, TableSample, TableSampleBucket,
    TableSampleKind, TableSampleQuantity, TableSampleSeed, TableVersion, TableWithJoins,
    XmlNamespaceDefinition, XmlPassingArgument, XmlPassingClause, XmlTableColumn, XmlTableColumnOption,
};

use super::Walk;
use super::scope::{Source, Word};

impl Walk<'_> {
    pub(super) fn table_with_joins(&mut self, table: &TableWithJoins) {
        let TableWithJoins { relation, joins } = table;
        self.table_factor(relation);
        for join in joins {
            self.join(join);
        }
    }

    pub(super) fn join(&mut self, join: &Join) {
        let Join { relation, global: _, join_operator } = join;
        self.table_factor(relation);
        match join_operator {
            JoinOperator::Join(on)
            | JoinOperator::Inner(on)
            | JoinOperator::Left(on)
            | JoinOperator::LeftOuter(on)
            | JoinOperator::Right(on)
            | JoinOperator::RightOuter(on)
            | JoinOperator::FullOuter(on)
            | JoinOperator::CrossJoin(on)
            | JoinOperator::Semi(on)
            | JoinOperator::LeftSemi(on)
            | JoinOperator::RightSemi(on)
            | JoinOperator::Anti(on)
            | JoinOperator::LeftAnti(on)
            | JoinOperator::RightAnti(on)
            | JoinOperator::StraightJoin(on) => self.join_constraint(on),
            JoinOperator::AsOf { match_condition, constraint } => {
                self.expr(match_condition);
                self.join_constraint(constraint);
            }
            JoinOperator::CrossApply | JoinOperator::OuterApply => {}
            // ClickHouse's ARRAY JOIN names a column where others name a table: it was noted as an object,
            // and nobody can say which column it reads.
            JoinOperator::ArrayJoin | JoinOperator::LeftArrayJoin | JoinOperator::InnerArrayJoin => {
                self.parsed.columns_known = false;
            }
        }
    }

    fn join_constraint(&mut self, constraint: &JoinConstraint) {
        match constraint {
            JoinConstraint::On(expr) => self.expr(expr),
            JoinConstraint::Using(columns) | JoinConstraint::UsingAlias(columns, _) => {
                for column in columns {
                    self.using_column(column);
                }
            }
            // Compares all columns that have a name in common.
            JoinConstraint::Natural => {
                let objects = self.objects_here(0);
                self.star(objects, None);
            }
            JoinConstraint::None => {}
        }
    }

    fn using_column(&mut self, column: &ObjectName) {
        if let Some(idents) = self.idents(column)
            && let Some(column) = idents.last()
        {
            let (objects, span) = (self.objects_here(0), self.place(column));
            self.column(objects, Some(&column.value), span);
        }
    }

    pub(super) fn table_factor(&mut self, table: &TableFactor) {
        // PIVOT and its like stand behind each other in a chain: a loop, not recursion.
        let first = self.scope.sources();
        let mut outer = Vec::new();
        let mut node = table;
        while let TableFactor::Pivot { table, .. }
        | TableFactor::Unpivot { table, .. }
        | TableFactor::MatchRecognize { table, .. } = node
        {
            outer.push(node);
            node = table;
        }
        self.table_leaf(node);
        if outer.is_empty() {
            return;
        }
        let objects = self.objects_here(first);
        self.star(objects.clone(), None);
        let mut alias = None;
        while let Some(node) = outer.pop() {
            alias = self.table_around(node).or(alias);
        }
        self.derived(alias, objects);
    }

    /// What is wrapped around another table, and its alias. What it hands on cannot be told column by column,
    /// so it counts as reading all columns.
    fn table_around<'t>(&mut self, table: &'t TableFactor) -> Option<&'t TableAlias> {
        self.census.tables += 1;
        match table {
            TableFactor::Pivot {
                table: _,
                aggregate_functions,
                value_column,
                value_source,
                default_on_null,
                alias,
            } => {
                for ExprWithAlias { expr, alias: _ } in aggregate_functions {
                    self.expr(expr);
                }
                self.exprs(value_column);
                self.pivot_source(value_source);
                self.optional(default_on_null.as_ref());
                alias.as_ref()
            }
            TableFactor::Unpivot { table: _, value, name: _, columns, null_inclusion: _, alias } => {
                self.expr(value);
                for ExprWithAlias { expr, alias: _ } in columns {
                    self.expr(expr);
                }
                alias.as_ref()
            }
            TableFactor::MatchRecognize {
                table: _,
                partition_by,
                order_by,
                measures,
                rows_per_match,
                after_match_skip,
                // Names of symbols only.
                pattern: _,
                symbols,
                alias,
            } => {
                self.exprs(partition_by);
                for item in order_by {
                    self.order_expr(item);
                }
                for Measure { expr, alias: _ } in measures {
                    self.expr(expr);
                }
                match rows_per_match {
                    None | Some(RowsPerMatch::OneRow | RowsPerMatch::AllRows(_)) => {}
                }
                match after_match_skip {
                    None
                    | Some(
                        AfterMatchSkip::PastLastRow
                        | AfterMatchSkip::ToNextRow
                        | AfterMatchSkip::ToFirst(_)
                        | AfterMatchSkip::ToLast(_),
                    ) => {}
                }
                for SymbolDefinition { symbol: _, definition } in symbols {
                    self.expr(definition);
                }
                alias.as_ref()
            }
            // Nothing else is wrapped around a table.
            _ => None,
        }
    }

    pub(super) fn pivot_source(&mut self, source: &PivotValueSource) {
        match source {
            PivotValueSource::List(items) => {
                for ExprWithAlias { expr, alias: _ } in items {
                    self.expr(expr);
                }
            }
            PivotValueSource::Any(order) => order.iter().for_each(|item| self.order_expr(item)),
            PivotValueSource::Subquery(query) => {
                let class = self.query(query);
                self.note_write(class);
            }
        }
    }

    fn table_leaf(&mut self, table: &TableFactor) {
        match table {
            TableFactor::Table {
                name,
                alias,
                args,
                with_hints,
                version,
                with_ordinality: _,
                partitions: _,
                json_path,
                sample,
                index_directives,
                inheritance: _,
            } => {
                match args {
                    None => self.table(name, alias.as_ref()),
                    Some(TableFunctionArgs { args, settings }) => {
                        self.table_function(name, args);
                        self.settings(settings.as_ref());
                        self.derived(alias.as_ref(), Vec::new());
                    }
                }
                for hint in with_hints {
                    self.table_hint(hint);
                }
                if let Some(version) = version {
                    self.table_version(version);
                }
                if let Some(path) = json_path {
                    self.json_path(path);
                }
                self.sample_kind(sample.as_ref());
                for directive in index_directives {
                    match directive {
                        TableIndexDirective::MySql(_)
                        | TableIndexDirective::IndexedBy(_)
                        | TableIndexDirective::NotIndexed => {}
                    }
                }
            }
            TableFactor::Derived { lateral, subquery, alias, sample } => {
                self.hidden(*lateral, |walk| {
                    let class = walk.query(subquery);
                    walk.note_write(class);
                });
                self.sample_kind(sample.as_ref());
                self.derived(alias.as_ref(), Vec::new());
            }
            TableFactor::TableFunction { expr, alias } => {
                self.expr(expr);
                self.derived(alias.as_ref(), Vec::new());
            }
            TableFactor::Function { lateral: _, name, args, with_ordinality: _, alias } => {
                self.table_function(name, args);
                self.derived(alias.as_ref(), Vec::new());
            }
            TableFactor::UNNEST {
                alias,
                array_exprs,
                with_offset: _,
                with_offset_alias: _,
                with_ordinality: _,
            } => {
                self.exprs(array_exprs);
                self.syntax_function("unnest", array_exprs.len());
                self.derived(alias.as_ref(), Vec::new());
            }
            TableFactor::JsonTable { json_expr, json_path, columns, alias } => {
                self.expr(json_expr);
                self.value(json_path);
                self.json_columns(columns);
                self.syntax_function("json_table", 2);
                self.derived(alias.as_ref(), Vec::new());
            }
            TableFactor::OpenJsonTable { json_expr, json_path, columns, alias } => {
                self.expr(json_expr);
                if let Some(path) = json_path {
                    self.value(path);
                }
                for OpenJsonTableColumn { name: _, r#type, path: _, as_json: _ } in columns {
                    self.data_type(r#type);
                }
                self.syntax_function("openjson", 2);
                self.derived(alias.as_ref(), Vec::new());
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                let first = self.scope.sources();
                self.table_with_joins(table_with_joins);
                if alias.is_some() {
                    let objects = self.objects_here(first);
                    self.derived(alias.as_ref(), objects);
                }
            }
            TableFactor::UnpivotExpr { expression, value_alias: _, attribute_alias: _ } => {
                self.expr(expression);
            }
            TableFactor::XmlTable { namespaces, row_expression, passing, columns, alias } => {
                for XmlNamespaceDefinition { uri, name: _ } in namespaces {
                    self.expr(uri);
                }
                self.expr(row_expression);
                let XmlPassingClause { arguments } = passing;
                for XmlPassingArgument { expr, alias: _, by_value: _ } in arguments {
                    self.expr(expr);
                }
                for XmlTableColumn { name: _, option } in columns {
                    match option {
                        XmlTableColumnOption::NamedInfo { r#type, path, default, nullable: _ } => {
                            self.data_type(r#type);
                            self.optional(path.as_ref());
                            self.optional(default.as_ref());
                        }
                        XmlTableColumnOption::ForOrdinality => {}
                    }
                }
                self.syntax_function("xmltable", 2);
                self.derived(alias.as_ref(), Vec::new());
            }
            TableFactor::SemanticView { name, dimensions, metrics, facts, where_clause, alias } => {
                let object = self.named_object(name, false);
                self.star(object.into_iter().collect(), None);
                self.exprs(dimensions);
                self.exprs(metrics);
                self.exprs(facts);
                self.optional(where_clause.as_ref());
                self.derived(alias.as_ref(), object.into_iter().collect());
            }
            TableFactor::Pivot { .. } | TableFactor::Unpivot { .. } | TableFactor::MatchRecognize { .. } => {
                self.table_factor(table);
                return;
            }
        }
        self.census.tables += 1;
    }

    /// A table, a view or a common table expression.
    fn table(&mut self, name: &ObjectName, alias: Option<&TableAlias>) {
        let mut source = self.source(name);
        if let Some(TableAlias { explicit: _, name, columns, at: _ }) = alias {
            source.name = Some(Word::from(name));
            if !columns.is_empty() {
                // `t AS x(a, b)` gives the columns other names, by position: all of them count as read.
                self.star(source.objects.clone(), self.place(name));
            }
            self.alias_columns(columns);
        }
        self.scope.add(source);
    }

    /// Something that is no object itself; `objects` are those that its columns come from unchanged.
    fn derived(&mut self, alias: Option<&TableAlias>, objects: Vec<usize>) {
        let mut source = Source { objects, ..Source::default() };
        if let Some(TableAlias { explicit: _, name, columns, at: _ }) = alias {
            source.name = Some(Word::from(name));
            self.alias_columns(columns);
        }
        self.scope.add(source);
    }

    fn alias_columns(&mut self, columns: &[TableAliasColumnDef]) {
        for TableAliasColumnDef { name: _, data_type } in columns {
            if let Some(data_type) = data_type {
                self.data_type(data_type);
            }
        }
    }

    /// Walks a derived table, which sees its neighbours only where it is lateral.
    fn hidden(&mut self, lateral: bool, walk: impl FnOnce(&mut Self)) {
        if lateral || self.grammar().is_implicitly_lateral() {
            return walk(self);
        }
        let frame = self.scope.pop_frame();
        walk(self);
        self.scope.restore(frame);
    }

    fn table_hint(&mut self, hint: &Expr) {
        const HARMLESS: [&str; 6] =
            ["NOLOCK", "READUNCOMMITTED", "READCOMMITTED", "READPAST", "SNAPSHOT", "NOEXPAND"];
        const LOCKING: [&str; 9] = [
            "HOLDLOCK",
            "PAGLOCK",
            "REPEATABLEREAD",
            "ROWLOCK",
            "SERIALIZABLE",
            "TABLOCK",
            "TABLOCKX",
            "UPDLOCK",
            "XLOCK",
        ];
        if let Expr::Identifier(Ident { value, quote_style: None, span: _ }) = hint {
            let is = |list: &[&str]| list.iter().any(|w| w.eq_ignore_ascii_case(value));
            if is(&HARMLESS) || is(&LOCKING) {
                self.census.exprs += 1;
                if is(&LOCKING) {
                    self.effect(Effects::LOCK);
                }
                return;
            }
        }
        self.unknown("a hint on a table", None);
        self.expr(hint);
    }

    fn table_version(&mut self, version: &TableVersion) {
        match version {
            TableVersion::ForSystemTimeAsOf(expr)
            | TableVersion::TimestampAsOf(expr)
            | TableVersion::VersionAsOf(expr) => self.expr(expr),
            TableVersion::Function(expr) => self.version_function(expr),
            TableVersion::Changes { changes, at, end } => {
                self.version_function(changes);
                self.version_function(at);
                if let Some(end) = end {
                    self.version_function(end);
                }
            }
        }
    }

    /// `AT(…)`, `BEFORE(…)`, `CHANGES(…)`: clauses that sqlparser writes as functions.
    fn version_function(&mut self, expr: &Expr) {
        if let Expr::Function(function) = expr {
            self.census.exprs += 1;
            self.function_parts(function);
        } else {
            self.expr(expr);
        }
    }

    pub(super) fn json_path(&mut self, path: &sqlparser::ast::JsonPath) {
        for element in &path.path {
            match element {
                JsonPathElem::Dot { key: _, quoted: _ } => {}
                JsonPathElem::Bracket { key } | JsonPathElem::ColonBracket { key } => self.expr(key),
            }
        }
    }

    fn sample_kind(&mut self, sample: Option<&TableSampleKind>) {
        match sample {
            None => {}
            Some(TableSampleKind::BeforeTableAlias(s) | TableSampleKind::AfterTableAlias(s)) => {
                self.sample(s);
            }
        }
    }

    pub(super) fn sample(&mut self, sample: &TableSample) {
        let TableSample { modifier: _, name: _, quantity, seed, bucket, offset } = sample;
        if let Some(TableSampleQuantity { parenthesized: _, value, unit: _ }) = quantity {
            self.expr(value);
        }
        if let Some(TableSampleSeed { modifier: _, value }) = seed {
            self.value(value);
        }
        if let Some(TableSampleBucket { bucket, total, on }) = bucket {
            self.value(bucket);
            self.value(total);
            self.optional(on.as_ref());
        }
        self.optional(offset.as_ref());
    }

    fn json_columns(&mut self, columns: &[JsonTableColumn]) {
        for column in columns {
            match column {
                JsonTableColumn::Named(JsonTableNamedColumn {
                    name: _,
                    r#type,
                    path,
                    exists: _,
                    on_empty,
                    on_error,
                }) => {
                    self.data_type(r#type);
                    self.value(path);
                    for handling in on_empty.iter().chain(on_error) {
                        match handling {
                            JsonTableColumnErrorHandling::Null | JsonTableColumnErrorHandling::Error => {}
                            JsonTableColumnErrorHandling::Default(value) => self.value(value),
                        }
                    }
                }
                JsonTableColumn::ForOrdinality(_) => {}
                JsonTableColumn::Nested(JsonTableNestedColumn { path, columns }) => {
                    self.value(path);
                    self.json_columns(columns);
                }
            }
        }
    }
}
