//! Statements: what each kind does, and the parts of writes that read.

use dbagent_core::guard::{Finding, Rule, StatementClass};
use dbagent_core::{Effects, ObjectName};
use sqlite3_parser::ast::{
    AlterTableBody, Cmd, ColumnConstraint, ColumnDefinition, CreateTableBody, Expr, ForeignKeyClause,
    FromClause, InsertBody, Limit, Literal, NamedColumnConstraint, NamedTableConstraint, PragmaBody,
    QualifiedName, ResultColumn, Select, Set, SortedColumn, Stmt, TableConstraint, TriggerCmd, TriggerEvent,
    UnaryOperator, Upsert, UpsertDo, UpsertIndex, With,
};

use super::pragma;
use super::scope::{Env, Source};
use super::walk::Walk;

/// The parts that statements which change rows share.
#[derive(Default)]
struct Change<'a> {
    sets: &'a [Set<'a>],
    from: Option<&'a FromClause<'a>>,
    condition: Option<&'a Expr<'a>>,
    returning: Option<&'a [ResultColumn<'a>]>,
    order_by: Option<&'a [SortedColumn<'a>]>,
    limit: Option<&'a Limit<'a>>,
}

impl Walk<'_, '_> {
    /// A whole command.
    pub(super) fn command(&mut self, command: &Cmd<'_>) {
        match command {
            Cmd::Stmt(statement) => self.statement(statement),
            Cmd::Explain(statement) | Cmd::ExplainQueryPlan(statement) => {
                self.statement(statement);
                let class = self.parsed.class;
                // SQLite compiles the body, and some statements act while they are compiled.
                if !matches!(class, StatementClass::Read | StatementClass::Catalogue) {
                    self.find(
                        Finding::new(Rule::Write, "EXPLAIN is allowed for reads only", None)
                            .advice("Explain the SELECT that finds the rows instead."),
                    );
                }
                self.parsed.class = StatementClass::Explain;
            }
        }
    }

    fn is(&mut self, class: StatementClass, effects: Effects) {
        self.parsed.class = class;
        self.parsed.effects |= effects;
    }

    fn statement(&mut self, statement: &Stmt<'_>) {
        let env = Env::default();
        let schema = Effects::SCHEMA.union(Effects::WRITE);
        match statement {
            Stmt::Select(select) => {
                self.is(StatementClass::Read, Effects::READ);
                self.select(select, env);
            }
            Stmt::Insert { with, or_conflict: _, tbl_name, columns: _, body, returning } => {
                self.is(StatementClass::Insert, Effects::READ | Effects::WRITE);
                self.insert(with.as_ref(), tbl_name, body, *returning, env);
            }
            Stmt::Update {
                with,
                or_conflict: _,
                tbl_name,
                indexed: _,
                sets,
                from,
                where_clause,
                returning,
                order_by,
                limit,
            } => {
                self.is(StatementClass::Update, Effects::READ | Effects::WRITE);
                let env = self.with(with.as_ref(), env);
                let parts = Change {
                    sets,
                    from: from.as_ref(),
                    condition: where_clause.as_ref(),
                    returning: *returning,
                    order_by: *order_by,
                    limit: *limit,
                };
                self.change(tbl_name, &parts, env);
            }
            Stmt::Delete { with, tbl_name, indexed: _, where_clause, returning, order_by, limit } => {
                self.is(StatementClass::Delete, Effects::READ | Effects::WRITE);
                let env = self.with(with.as_ref(), env);
                let parts = Change {
                    condition: where_clause.as_ref(),
                    returning: *returning,
                    order_by: *order_by,
                    limit: *limit,
                    ..Change::default()
                };
                self.change(tbl_name, &parts, env);
            }
            Stmt::Pragma(name, body) => self.pragma(name, body.as_ref()),
            Stmt::AlterTable(name, body) => {
                self.is(StatementClass::Schema, schema);
                self.written(name);
                self.alter(body, env);
            }
            Stmt::CreateIndex {
                unique: _,
                if_not_exists: _,
                idx_name: _,
                tbl_name,
                columns,
                where_clause,
            } => {
                self.is(StatementClass::Schema, schema);
                let word = self.word(tbl_name);
                let table = self.named_object(ObjectName::new(word.text), true, word.span);
                let env = self.over(table, env);
                for column in *columns {
                    self.sorted(column, env);
                }
                self.maybe(where_clause.as_ref(), env);
            }
            Stmt::CreateTable { temporary: _, if_not_exists: _, tbl_name, body } => {
                self.is(StatementClass::Schema, schema);
                self.written(tbl_name);
                match body {
                    CreateTableBody::ColumnsAndConstraints { columns, constraints, flags: _ } => {
                        for column in columns {
                            self.column_definition(column, env);
                        }
                        for constraint in constraints.iter().copied().flatten() {
                            self.table_constraint(constraint, env);
                        }
                    }
                    CreateTableBody::AsSelect(select) => self.select(select, env),
                }
            }
            Stmt::CreateTrigger {
                temporary: _,
                if_not_exists: _,
                trigger_name: _,
                time: _,
                event,
                tbl_name,
                for_each_row: _,
                when_clause,
                commands,
            } => {
                self.is(StatementClass::Schema, schema);
                match event {
                    TriggerEvent::Delete
                    | TriggerEvent::Insert
                    | TriggerEvent::Update
                    | TriggerEvent::UpdateOf(_) => {}
                }
                let table = self.written(tbl_name);
                let env = self.over(table, env);
                self.in_trigger = true;
                self.maybe(when_clause.as_ref(), env);
                for command in *commands {
                    self.trigger_command(command, env);
                }
                self.in_trigger = false;
            }
            Stmt::CreateView { temporary: _, if_not_exists: _, view_name, columns: _, select } => {
                self.is(StatementClass::Schema, schema);
                self.written(view_name);
                self.select(select, env);
            }
            Stmt::CreateVirtualTable { if_not_exists: _, tbl_name, module_name: _, args: _ } => {
                // A module may open whatever its arguments name.
                self.is(StatementClass::Schema, schema | Effects::SERVER_IO);
                self.written(tbl_name);
            }
            Stmt::DropIndex { if_exists: _, idx_name: name }
            | Stmt::DropTable { if_exists: _, tbl_name: name }
            | Stmt::DropTrigger { if_exists: _, trigger_name: name }
            | Stmt::DropView { if_exists: _, view_name: name } => {
                self.is(StatementClass::Schema, schema);
                self.written(name);
            }
            Stmt::Analyze(name) => self.maintenance(name.as_ref()),
            Stmt::Reindex { obj_name } => self.maintenance(obj_name.as_ref()),
            Stmt::Vacuum(_, None) => self.maintenance(None),
            Stmt::Vacuum(_, Some(file)) => {
                self.is(StatementClass::ServerIo, Effects::READ | Effects::SERVER_IO);
                self.expr(file, env);
            }
            Stmt::Attach { expr, db_name, key } => {
                self.is(StatementClass::ServerIo, Effects::SERVER_IO | Effects::SESSION);
                for part in [Some(expr), Some(db_name), key.as_ref()].into_iter().flatten() {
                    self.expr(part, env);
                }
            }
            Stmt::Detach(expr) => {
                self.is(StatementClass::ServerIo, Effects::SERVER_IO | Effects::SESSION);
                self.expr(expr, env);
            }
            Stmt::Begin(_, _)
            | Stmt::Commit(_)
            | Stmt::Rollback { tx_name: _, savepoint_name: _ }
            | Stmt::Savepoint(_)
            | Stmt::Release(_) => self.is(StatementClass::Transaction, Effects::SESSION),
        }
    }

    fn maintenance(&mut self, name: Option<&QualifiedName<'_>>) {
        self.is(StatementClass::Maintenance, Effects::WRITE);
        if let Some(name) = name {
            self.written(name);
        }
    }

    fn maybe(&mut self, expr: Option<&Expr<'_>>, env: Env) {
        if let Some(expr) = expr {
            self.expr(expr, env);
        }
    }

    /// Adds an object that is changed.
    fn written(&mut self, name: &QualifiedName<'_>) -> usize {
        let (object, span) = self.object_name(name);
        if object.name.get(..7).is_some_and(|p| p.eq_ignore_ascii_case("sqlite_")) {
            self.find(Finding::new(
                Rule::SchemaChange,
                format!("{object} belongs to the engine itself and is never changed by hand"),
                span,
            ));
        }
        self.named_object(object, true, span)
    }

    /// An environment in which one object's columns are visible.
    fn over(&mut self, object: usize, env: Env) -> Env {
        let scope = self.scopes.open(env.scope);
        let name = self.parsed.objects.get(object).map(|o| o.name.name.clone());
        self.scopes.add(scope, Source { name, objects: vec![object] });
        Env { scope: Some(scope), ..env }
    }

    fn target(&mut self, name: &QualifiedName<'_>, env: Env) -> (usize, Env) {
        let object = self.written(name);
        let inside = self.over(object, env);
        let scope = inside.scope.unwrap_or_default();
        // Rows that a conflict or a trigger brings are rows of the same table.
        for other in ["excluded", "new", "old"] {
            self.scopes.add(scope, Source { name: Some(other.to_owned()), objects: vec![object] });
        }
        if let Some(alias) = &name.alias {
            let alias = self.word(alias).text;
            self.scopes.add(scope, Source { name: Some(alias), objects: vec![object] });
        }
        (scope, inside)
    }

    fn insert(
        &mut self,
        with: Option<&With<'_>>,
        name: &QualifiedName<'_>,
        body: &InsertBody<'_>,
        returning: Option<&[ResultColumn<'_>]>,
        env: Env,
    ) {
        let env = self.with(with, env);
        let (scope, inside) = self.target(name, env);
        match body {
            InsertBody::DefaultValues => {}
            InsertBody::Select(select, upsert) => {
                self.select(select, env);
                self.upsert(*upsert, inside);
            }
        }
        self.result_columns(returning.unwrap_or_default(), scope, env);
    }

    fn upsert(&mut self, first: Option<&Upsert<'_>>, env: Env) {
        let mut next = first;
        while let Some(Upsert { index, do_clause, next: after }) = next {
            if let Some(UpsertIndex { targets, where_clause }) = index {
                for target in *targets {
                    self.sorted(target, env);
                }
                self.maybe(where_clause.as_ref(), env);
            }
            match do_clause {
                UpsertDo::Nothing => {}
                UpsertDo::Set { sets, where_clause } => {
                    self.sets(sets, env);
                    self.maybe(where_clause.as_ref(), env);
                }
            }
            next = *after;
        }
    }

    fn sets(&mut self, sets: &[Set<'_>], env: Env) {
        for Set { col_names: _, expr } in sets {
            self.expr(expr, env);
        }
    }

    fn change(&mut self, name: &QualifiedName<'_>, parts: &Change<'_>, env: Env) {
        let (scope, inside) = self.target(name, env);
        if let Some(from) = parts.from {
            self.from(from, scope, env);
        }
        self.sets(parts.sets, inside);
        self.maybe(parts.condition, inside);
        self.result_columns(parts.returning.unwrap_or_default(), scope, env);
        for term in parts.order_by.unwrap_or_default() {
            self.sorted(term, inside);
        }
        self.limit(parts.limit, env);
    }

    fn trigger_command(&mut self, command: &TriggerCmd<'_>, env: Env) {
        match command {
            TriggerCmd::Update { or_conflict: _, tbl_name, sets, from, where_clause } => {
                let parts = Change {
                    sets,
                    from: from.as_ref(),
                    condition: where_clause.as_ref(),
                    ..Change::default()
                };
                self.change(tbl_name, &parts, env);
            }
            TriggerCmd::Insert { or_conflict: _, tbl_name, col_names: _, select, upsert } => {
                self.trigger_insert(tbl_name, select, *upsert, env);
            }
            TriggerCmd::Delete { tbl_name, where_clause } => {
                let parts = Change { condition: where_clause.as_ref(), ..Change::default() };
                self.change(tbl_name, &parts, env);
            }
            TriggerCmd::Select(select) => self.select(select, env),
        }
    }

    fn trigger_insert(
        &mut self,
        name: &QualifiedName<'_>,
        select: &Select<'_>,
        upsert: Option<&Upsert<'_>>,
        env: Env,
    ) {
        let (_, inside) = self.target(name, env);
        self.select(select, env);
        self.upsert(upsert, inside);
    }

    fn alter(&mut self, body: &AlterTableBody<'_>, env: Env) {
        match body {
            AlterTableBody::AddColumn(column) => self.column_definition(column, env),
            AlterTableBody::AddConstraint(constraint) => self.table_constraint(constraint, env),
            AlterTableBody::RenameTo(_)
            | AlterTableBody::DropColumnNotNull(_)
            | AlterTableBody::SetColumnNotNull(_, _)
            | AlterTableBody::RenameColumn { old: _, new: _ }
            | AlterTableBody::DropColumn(_)
            | AlterTableBody::DropConstraint(_) => {}
        }
    }

    fn column_definition(&mut self, column: &ColumnDefinition<'_>, env: Env) {
        for NamedColumnConstraint { name: _, constraint } in column.constraints {
            match constraint {
                ColumnConstraint::Check(expr)
                | ColumnConstraint::Default(expr)
                | ColumnConstraint::Generated { expr, typ: _ } => self.expr(expr, env),
                ColumnConstraint::ForeignKey { clause, defer_clause: _ } => self.foreign_key(clause),
                ColumnConstraint::PrimaryKey { order: _, conflict_clause: _, auto_increment: _ }
                | ColumnConstraint::NotNull { nullable: _, conflict_clause: _ }
                | ColumnConstraint::Unique(_)
                | ColumnConstraint::Defer(_)
                | ColumnConstraint::Collate { collation_name: _ } => {}
            }
        }
    }

    fn table_constraint(&mut self, constraint: &NamedTableConstraint<'_>, env: Env) {
        match &constraint.constraint {
            TableConstraint::PrimaryKey { columns, auto_increment: _, conflict_clause: _ }
            | TableConstraint::Unique { columns, conflict_clause: _ } => {
                for column in *columns {
                    self.sorted(column, env);
                }
            }
            TableConstraint::Check(expr, _) => self.expr(expr, env),
            TableConstraint::ForeignKey { columns: _, clause, defer_clause: _ } => self.foreign_key(clause),
        }
    }

    fn foreign_key(&mut self, clause: &ForeignKeyClause<'_>) {
        let word = self.word(&clause.tbl_name);
        self.named_object(ObjectName::new(word.text), false, word.span);
    }

    fn pragma(&mut self, name: &QualifiedName<'_>, body: Option<&PragmaBody<'_>>) {
        self.is(StatementClass::Catalogue, Effects::READ);
        let word = self.word(&name.name);
        // For a pragma that describes, both spellings of the argument mean the same; for all others both
        // are refused.
        let argument = match body {
            None => None,
            Some(PragmaBody::Equals(value) | PragmaBody::Call(value)) => Some(self.pragma_value(value)),
        };
        if pragma::only_reads(&word.text, argument.is_some()) {
            let schema = name.db_name.as_ref().map(|n| self.word(n).text);
            self.pragma_objects(&word.text, schema, argument, word.span);
        } else {
            self.parsed.class = StatementClass::Session;
            self.refuse_pragma(&word.text, word.span);
        }
    }

    fn pragma_value(&mut self, value: &Expr<'_>) -> String {
        if let Expr::Name(name) = value {
            return self.word(name).text;
        }
        if let Expr::Literal(Literal::Numeric(text) | Literal::Keyword(text)) = value {
            return (*text).to_owned();
        }
        if let Expr::Unary(UnaryOperator::Negative | UnaryOperator::Positive, inner) = value
            && let Expr::Literal(Literal::Numeric(text)) = inner
        {
            return (*text).to_owned();
        }
        // The grammar has no other form of value; a new one is a name of nothing.
        String::new()
    }
}
