//! INSERT, UPDATE, DELETE, MERGE.

use dbagent_core::Effects;
use dbagent_core::guard::StatementClass;
use sqlparser::ast::{
    Assignment, AssignmentTarget, ConflictTarget, Delete, DoUpdate, FromTable, Ident, InputFormatClause,
    Insert, InsertAliases, Merge, MergeAction, MergeClause, MergeInsertExpr, MergeInsertKind,
    MergeUpdateExpr, MergeUpdateKind, MultiTableInsertIntoClause, MultiTableInsertValue,
    MultiTableInsertValues, MultiTableInsertWhenClause, ObjectName, ObjectNamePart, OnConflict,
    OnConflictAction, OnInsert, OutputClause, SelectItem, TableAliasWithoutColumns, TableFactor, TableObject,
    TableWithJoins, Update, UpdateTableFromKind,
};

use super::Walk;
use super::scope::{Source, Word};

impl Walk<'_> {
    pub(super) fn insert(&mut self, insert: &Insert) -> StatementClass {
        let Insert {
            insert_token: _,
            optimizer_hints: _,
            // What happens on a conflict; the effect is a write either way.
            or: _,
            ignore: _,
            into: _,
            table,
            table_alias,
            columns,
            by_name: _,
            overwrite: _,
            source,
            assignments,
            partitioned,
            after_columns,
            overriding: _,
            has_table_keyword: _,
            on,
            returning,
            output,
            replace_into: _,
            priority: _,
            insert_alias,
            settings,
            format_clause,
            // Whether all branches or the first that fits is taken: all are walked.
            multi_table_insert_type: _,
            multi_table_into_clauses,
            multi_table_when_clauses,
            multi_table_else_clause,
        } = insert;
        self.effect(Effects::WRITE);
        // The rows to insert do not see the table that they go to.
        if let Some(source) = source {
            let class = self.query(source);
            self.note_write(class);
        }
        self.scope.push_frame();
        let target = match table {
            TableObject::TableName(name) => self.target(name),
            TableObject::TableFunction(function) => {
                self.function(function);
                self.effect(Effects::UNKNOWN);
                None
            }
            TableObject::TableQuery(query) => {
                self.query(query);
                self.effect(Effects::UNKNOWN);
                None
            }
        };
        if let Some(TableAliasWithoutColumns { explicit: _, alias }) = table_alias {
            self.pseudo(&alias.value, target);
        }
        if let Some(InsertAliases { row_alias, col_aliases }) = insert_alias {
            let name = self.idents(row_alias).and_then(|i| i.last().map(|i| i.value.clone()));
            if let Some(name) = name {
                self.pseudo(&name, target);
            }
            if col_aliases.is_some() {
                self.star(target.into_iter().collect(), None);
            }
        }
        if columns.is_empty() && after_columns.is_empty() && assignments.is_empty() {
            self.star(target.into_iter().collect(), None);
        }
        for column in columns {
            self.target_column(column, target);
        }
        for column in after_columns {
            self.written_column(column, target);
        }
        self.assignments(assignments, target);
        self.exprs(partitioned.iter().flatten());
        if let Some(on) = on {
            self.on_insert(on, target);
        }
        self.returning(returning.as_ref());
        self.output(output.as_ref());
        self.settings(settings.as_ref());
        if let Some(InputFormatClause { ident: _, values }) = format_clause {
            self.exprs(values);
        }
        for clause in multi_table_into_clauses.iter().chain(multi_table_else_clause.iter().flatten()) {
            self.branch(clause);
        }
        for MultiTableInsertWhenClause { condition, into_clauses } in multi_table_when_clauses {
            self.expr(condition);
            for clause in into_clauses {
                self.branch(clause);
            }
        }
        self.scope.pop_frame();
        StatementClass::Insert
    }

    fn branch(&mut self, clause: &MultiTableInsertIntoClause) {
        let MultiTableInsertIntoClause { table_name, columns, values } = clause;
        let target = self.named_object(table_name, true);
        for column in columns {
            self.written_column(column, target);
        }
        if columns.is_empty() {
            self.star(target.into_iter().collect(), None);
        }
        if let Some(MultiTableInsertValues { values }) = values {
            for value in values {
                match value {
                    MultiTableInsertValue::Expr(expr) => self.expr(expr),
                    MultiTableInsertValue::Default => {}
                }
            }
        }
    }

    fn on_insert(&mut self, on: &OnInsert, target: Option<usize>) {
        match on {
            OnInsert::DuplicateKeyUpdate(assignments) => self.assignments(assignments, target),
            OnInsert::OnConflict(OnConflict { conflict_target, action }) => {
                match conflict_target {
                    None | Some(ConflictTarget::OnConstraint(_)) => {}
                    Some(ConflictTarget::Columns { columns, predicate }) => {
                        for column in columns {
                            self.written_column(column, target);
                        }
                        self.optional(predicate.as_ref());
                    }
                }
                match action {
                    OnConflictAction::DoNothing => {}
                    OnConflictAction::DoUpdate(DoUpdate { assignments, selection }) => {
                        self.assignments(assignments, target);
                        self.optional(selection.as_ref());
                    }
                }
            }
            // The enum is open: what is new in it is refused.
            _ => self.unknown("what happens on a conflict", None),
        }
    }

    pub(super) fn update(&mut self, update: &Update) -> StatementClass {
        let Update {
            update_token: _,
            optimizer_hints: _,
            table,
            on_cluster: _,
            assignments,
            from,
            selection,
            returning,
            output,
            or: _,
            order_by,
            limit,
            settings,
        } = update;
        self.effect(Effects::READ | Effects::WRITE);
        self.scope.push_frame();
        self.target_factor(&table.relation);
        table.joins.iter().for_each(|join| self.join(join));
        let mut targets = self.scope.since(0);
        match from {
            None => {}
            Some(UpdateTableFromKind::BeforeSet(tables) | UpdateTableFromKind::AfterSet(tables)) => {
                let first = self.scope.sources();
                for table in tables {
                    self.table_with_joins(table);
                }
                // SQL Server: `UPDATE u SET … FROM users u` changes users.
                if let TableFactor::Table { name, .. } = &table.relation
                    && let [ObjectNamePart::Identifier(ident)] = name.0.as_slice()
                {
                    targets.extend(self.scope.called_since(first, ident));
                }
            }
        }
        self.pseudo_rows(&targets);
        // Which of several tables is changed is told by the columns that are set.
        let named: Vec<_> = assignments.iter().flat_map(|a| self.assigned(&a.target)).collect();
        let all = named.is_empty() || targets.len() == 1;
        for index in targets.iter().filter(|i| all || named.contains(i)) {
            self.mark_written(*index);
        }
        self.assignments(assignments, if targets.len() == 1 { targets.first().copied() } else { None });
        self.optional(selection.as_ref());
        self.returning(returning.as_ref());
        self.output(output.as_ref());
        for item in order_by {
            self.order_expr(item);
        }
        self.optional(limit.as_ref());
        self.settings(settings.as_ref());
        self.scope.pop_frame();
        StatementClass::Update
    }

    pub(super) fn delete(&mut self, delete: &Delete) -> StatementClass {
        let Delete {
            delete_token: _,
            optimizer_hints: _,
            tables,
            from,
            on_cluster: _,
            using,
            selection,
            returning,
            output,
            order_by,
            limit,
            settings,
        } = delete;
        self.effect(Effects::READ | Effects::WRITE);
        self.scope.push_frame();
        let (FromTable::WithFromKeyword(list) | FromTable::WithoutKeyword(list)) = from;
        for table in list {
            self.target_factor(&table.relation);
            table.joins.iter().for_each(|join| self.join(join));
        }
        let from = self.scope.since(0);
        using.iter().flatten().for_each(|t: &TableWithJoins| self.table_with_joins(t));
        self.pseudo_rows(&from);
        // `DELETE a, b FROM …` names the tables, or their aliases, that lose rows.
        let mut targets = Vec::new();
        for name in tables {
            if let Some(idents) = self.idents(name) {
                let called = match idents.as_slice() {
                    [table] => self.scope.called(table, None),
                    [.., space, table] => self.scope.called(table, Some(space)),
                    [] => None,
                };
                match called {
                    Some(objects) => targets.extend(objects),
                    None => targets.extend(self.named_object(name, true)),
                }
            }
        }
        for index in if targets.is_empty() { from } else { targets } {
            self.mark_written(index);
        }
        self.optional(selection.as_ref());
        self.returning(returning.as_ref());
        self.output(output.as_ref());
        for item in order_by {
            self.order_expr(item);
        }
        self.optional(limit.as_ref());
        self.settings(settings.as_ref());
        self.scope.pop_frame();
        StatementClass::Delete
    }

    pub(super) fn merge(&mut self, merge: &Merge) -> StatementClass {
        let Merge { merge_token: _, optimizer_hints: _, into: _, table, source, on, clauses, output } = merge;
        self.effect(Effects::READ | Effects::WRITE);
        self.scope.push_frame();
        self.target_factor(table);
        let targets = self.scope.since(0);
        for index in &targets {
            self.mark_written(*index);
        }
        self.table_factor(source);
        self.pseudo_rows(&targets);
        let target = targets.first().copied();
        self.expr(on);
        for MergeClause { when_token: _, clause_kind: _, predicate, action } in clauses {
            self.optional(predicate.as_ref());
            match action {
                MergeAction::Insert(MergeInsertExpr {
                    insert_token: _,
                    columns,
                    kind_token: _,
                    kind,
                    insert_predicate,
                }) => {
                    for column in columns {
                        self.target_column(column, target);
                    }
                    if columns.is_empty() {
                        self.star(targets.clone(), None);
                    }
                    match kind {
                        MergeInsertKind::Values(values) => self.values(values),
                        // All columns of the source.
                        MergeInsertKind::Row | MergeInsertKind::Wildcard => {
                            let objects = self.scope.since(0);
                            self.star(objects, None);
                        }
                    }
                    self.optional(insert_predicate.as_ref());
                }
                MergeAction::Update(MergeUpdateExpr {
                    update_token: _,
                    kind,
                    update_predicate,
                    delete_predicate,
                }) => {
                    match kind {
                        MergeUpdateKind::Set(assignments) => self.assignments(assignments, target),
                        MergeUpdateKind::Wildcard => {
                            let objects = self.scope.since(0);
                            self.star(objects, None);
                        }
                    }
                    self.optional(update_predicate.as_ref());
                    self.optional(delete_predicate.as_ref());
                }
                MergeAction::Delete { delete_token: _ }
                | MergeAction::DoNothing { do_token: _, nothing_token: _ } => {}
            }
        }
        self.output(output.as_ref());
        self.scope.pop_frame();
        StatementClass::Merge
    }

    /// The table that a statement writes to: always a table, whatever a common table expression is called.
    fn target(&mut self, name: &ObjectName) -> Option<usize> {
        let object = self.named_object(name, true);
        let idents = self.idents(name).unwrap_or_default();
        let mut parts = idents.iter().rev();
        let own = parts.next().map(|i| Word::from(*i));
        let namespace = parts.next().map(|i| i.value.clone());
        self.scope.add(Source {
            name: own.clone(),
            behind: own,
            namespace,
            objects: object.into_iter().collect(),
        });
        let objects: Vec<_> = object.into_iter().collect();
        self.pseudo_rows(&objects);
        object
    }

    /// What is changed: a table even where a common table expression has its name.
    fn target_factor(&mut self, table: &TableFactor) {
        self.changing = true;
        self.table_factor(table);
        self.changing = false;
    }

    /// The names under which statements see rows as they were, or will be.
    fn pseudo_rows(&mut self, objects: &[usize]) {
        for name in ["excluded", "inserted", "deleted", "old", "new"] {
            let name = Some(Word { value: name.to_owned(), quoted: false });
            self.scope.add(Source { name, objects: objects.to_vec(), ..Source::default() });
        }
    }

    fn pseudo(&mut self, name: &str, object: Option<usize>) {
        let name = Some(Word { value: name.to_owned(), quoted: false });
        let objects = object.into_iter().collect();
        self.scope.add(Source { name, objects, ..Source::default() });
    }

    fn mark_written(&mut self, index: usize) {
        if let Some(object) = self.parsed.objects.get_mut(index) {
            object.written = true;
        }
    }

    /// The objects that the qualified targets of an assignment belong to.
    fn assigned(&mut self, target: &AssignmentTarget) -> Vec<usize> {
        let names = match target {
            AssignmentTarget::ColumnName(name) => std::slice::from_ref(name),
            AssignmentTarget::Tuple(names) => names,
        };
        let mut objects = Vec::new();
        for name in names {
            let Some(idents) = self.idents(name) else { continue };
            let called = match idents.as_slice() {
                [.., space, table, _] => self.scope.called(table, Some(space)),
                [table, _] => self.scope.called(table, None),
                _ => None,
            };
            // A bare column may belong to any of them.
            objects.extend(called.unwrap_or_else(|| self.scope.since(0)));
        }
        objects
    }

    fn assignments(&mut self, assignments: &[Assignment], target: Option<usize>) {
        for Assignment { target: column, value } in assignments {
            match column {
                AssignmentTarget::ColumnName(name) => self.target_column(name, target),
                AssignmentTarget::Tuple(names) => {
                    for name in names {
                        self.target_column(name, target);
                    }
                }
            }
            self.expr(value);
        }
    }

    /// A column that is written: of the target where that is known, else whatever its name says.
    fn target_column(&mut self, name: &ObjectName, target: Option<usize>) {
        let Some(idents) = self.idents(name) else { return };
        match (idents.as_slice(), target) {
            ([column], Some(_)) => self.written_column(column, target),
            _ => self.column_path(&idents),
        }
    }

    fn written_column(&mut self, column: &Ident, target: Option<usize>) {
        let span = self.place(column);
        self.column(target.into_iter().collect(), Some(&column.value), span);
    }

    fn returning(&mut self, items: Option<&Vec<SelectItem>>) {
        for item in items.into_iter().flatten() {
            self.select_item(item);
        }
    }

    fn output(&mut self, output: Option<&OutputClause>) {
        match output {
            None => {}
            Some(OutputClause::Output { output_token: _, select_items, into_table }) => {
                self.returning(Some(select_items));
                if let Some(into) = into_table {
                    self.select_into(into, false);
                }
            }
            Some(OutputClause::Returning { returning_token: _, select_items }) => {
                self.returning(Some(select_items));
            }
        }
    }
}
