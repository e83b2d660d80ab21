//! Which class a statement is of, and what it does.

use dbagent_core::Effects;
use dbagent_core::guard::{Finding, Rule, StatementClass};
use sqlparser::ast::{
    CommentObject, CopySource, CopyTarget, Expr, Function, Ident, ObjectName, ShowCharset, ShowCreateObject,
    ShowObjects, ShowStatementFilter, ShowStatementFilterPosition, ShowStatementIn,
    ShowStatementInParentType, ShowStatementOptions, Statement, UtilityOption, Value, ValueWithSpan,
};

use super::Walk;
use crate::options::{ExplainAnalyze, ShowNames};

impl Walk<'_> {
    pub(super) fn statement(&mut self, statement: &Statement) -> StatementClass {
        self.census.statements += 1;
        match statement {
            Statement::Query(query) => self.query(query),
            Statement::Insert(insert) => self.insert(insert),
            Statement::Update(update) => self.update(update),
            Statement::Delete(delete) => self.delete(delete),
            Statement::Merge(merge) => self.merge(merge),
            Statement::Truncate(truncate) => self.truncate(truncate),
            Statement::Explain {
                describe_alias: _,
                analyze,
                verbose: _,
                query_plan: _,
                estimate: _,
                statement,
                format: _,
                options,
            } => {
                let class = self.statement(statement);
                let mut executes = *analyze;
                for UtilityOption { name, arg } in options.iter().flatten() {
                    match arg {
                        // `off`, `json`: a word, no column.
                        Some(Expr::Identifier(_)) => self.census.exprs += 1,
                        arg => self.optional(arg.as_ref()),
                    }
                    executes |= name.value.eq_ignore_ascii_case("analyze") && !is_off(arg.as_ref());
                }
                self.explained(class, executes)
            }
            Statement::ExplainTable {
                describe_alias: _,
                hive_format: _,
                has_table_keyword: _,
                table_name,
            } => {
                self.named_object(table_name, false);
                self.catalogue()
            }
            Statement::ShowFunctions { filter }
            | Statement::ShowCollation { filter }
            | Statement::ShowStatus { filter, global: _, session: _ }
            | Statement::ShowVariables { filter, global: _, session: _ }
            | Statement::ShowCharset(ShowCharset { is_shorthand: _, filter }) => {
                self.show_filter(filter.as_ref());
                self.catalogue()
            }
            Statement::ShowVariable { variable } => self.show_names(variable),
            Statement::ShowCreate { obj_type, obj_name } => {
                match obj_type {
                    ShowCreateObject::Table | ShowCreateObject::View => {
                        self.named_object(obj_name, false);
                    }
                    // Their text is no row of anybody.
                    ShowCreateObject::Event
                    | ShowCreateObject::Function
                    | ShowCreateObject::Procedure
                    | ShowCreateObject::Trigger => {}
                }
                self.catalogue()
            }
            Statement::ShowColumns { extended: _, full: _, show_options } => {
                self.show_options(show_options, true);
                self.catalogue()
            }
            Statement::ShowCatalogs { terse: _, history: _, show_options }
            | Statement::ShowDatabases { terse: _, history: _, show_options }
            | Statement::ShowSchemas { terse: _, history: _, show_options }
            | Statement::ShowObjects(ShowObjects { terse: _, show_options })
            | Statement::ShowTables {
                terse: _,
                history: _,
                extended: _,
                full: _,
                external: _,
                show_options,
            }
            | Statement::ShowViews { terse: _, materialized: _, show_options } => {
                self.show_options(show_options, false);
                self.catalogue()
            }
            Statement::ShowProcessList { full: _ } => {
                self.finding(
                    Finding::new(
                        Rule::SecretCatalogue,
                        "the process list shows the statements of other sessions",
                        None,
                    )
                    .choice("secret_catalog"),
                );
                self.catalogue()
            }
            Statement::Pragma { name, value, is_eq } => self.pragma(name, value.as_ref(), *is_eq),

            Statement::CreateTable(create) => self.create_table(create, statement),
            Statement::CreateView(create) => self.create_view(create, statement),
            Statement::CreateIndex(create) => self.create_index(create, statement),
            Statement::AlterTable(alter) => self.alter_table(alter, statement),
            Statement::RenameTable(renames) => self.rename_tables(renames),
            Statement::Drop {
                object_type,
                if_exists: _,
                names,
                cascade: _,
                restrict: _,
                purge: _,
                temporary: _,
                table,
            } => self.drop_objects(*object_type, names, table.as_ref(), statement),
            Statement::Comment { object_type, object_name, comment: _, if_exists: _ } => match object_type {
                CommentObject::Table
                | CommentObject::View
                | CommentObject::MaterializedView
                | CommentObject::ForeignTable => {
                    self.effect(Effects::SCHEMA);
                    self.named_object(object_name, true);
                    StatementClass::Schema
                }
                CommentObject::Collation
                | CommentObject::Column
                | CommentObject::Database
                | CommentObject::Domain
                | CommentObject::Extension
                | CommentObject::Function
                | CommentObject::Index
                | CommentObject::Procedure
                | CommentObject::Role
                | CommentObject::Schema
                | CommentObject::Sequence
                | CommentObject::Type
                | CommentObject::User => self.unlisted(statement),
            },
            Statement::CreateSchema { .. }
            | Statement::CreateDatabase { .. }
            | Statement::CreateSequence { .. }
            | Statement::CreateDomain(_)
            | Statement::CreateType { .. }
            | Statement::CreateVirtualTable { .. }
            | Statement::CreateRole(_)
            | Statement::CreateSecret { .. }
            | Statement::CreateServer(_)
            | Statement::CreateForeignTable(_)
            | Statement::CreateForeignDataWrapper(_)
            | Statement::CreateUserMapping(_)
            | Statement::CreatePolicy(_)
            | Statement::CreateRule(_)
            | Statement::CreateConnector(_)
            | Statement::CreateOperator(_)
            | Statement::CreateOperatorFamily(_)
            | Statement::CreateOperatorClass(_)
            | Statement::CreateTextSearch(_)
            | Statement::CreateAggregate(_)
            | Statement::CreateExtension(_)
            | Statement::CreateCollation(_)
            | Statement::CreateFunction(_)
            | Statement::CreateTrigger(_)
            | Statement::CreateProcedure { .. }
            | Statement::CreateMacro { .. }
            | Statement::CreateStage { .. }
            | Statement::CreateFileFormat { .. }
            | Statement::CreateWarehouse(_)
            | Statement::CreateUser(_)
            | Statement::AlterSchema(_)
            | Statement::AlterIndex { .. }
            | Statement::AlterView(_)
            | Statement::AlterFunction(_)
            | Statement::AlterType(_)
            | Statement::AlterCollation(_)
            | Statement::AlterOperator(_)
            | Statement::AlterOperatorFamily(_)
            | Statement::AlterOperatorClass(_)
            | Statement::AlterTextSearch(_)
            | Statement::AlterRole { .. }
            | Statement::AlterPolicy(_)
            | Statement::AlterTrigger(_)
            | Statement::AlterConnector { .. }
            | Statement::AlterDefaultPrivileges(_)
            | Statement::AlterUser(_)
            | Statement::DropFunction(_)
            | Statement::DropDomain(_)
            | Statement::DropProcedure { .. }
            | Statement::DropSecret { .. }
            | Statement::DropPolicy(_)
            | Statement::DropRule(_)
            | Statement::DropConnector { .. }
            | Statement::DropExtension(_)
            | Statement::DropOperator(_)
            | Statement::DropOperatorFamily(_)
            | Statement::DropOperatorClass(_)
            | Statement::DropTrigger(_)
            | Statement::Grant(_)
            | Statement::GrantRole(_)
            | Statement::Deny(_)
            | Statement::Revoke(_)
            | Statement::RevokeRole(_) => self.unlisted(statement),

            Statement::Set(_)
            | Statement::Use(_)
            | Statement::AlterSession { .. }
            | Statement::Reset(_)
            | Statement::Discard { .. }
            | Statement::Deallocate { .. }
            | Statement::Prepare { .. }
            | Statement::Declare { .. }
            | Statement::Open(_)
            | Statement::Close { .. }
            | Statement::LISTEN { .. }
            | Statement::UNLISTEN { .. } => {
                self.refused(statement, StatementClass::Session, Effects::SESSION)
            }
            // What a cursor fetches was said elsewhere.
            Statement::Fetch { .. } => {
                self.refused(statement, StatementClass::Session, Effects::SESSION | Effects::UNKNOWN)
            }
            Statement::StartTransaction {
                modes: _,
                begin: _,
                transaction: _,
                modifier: _,
                statements,
                exception,
                has_end_keyword: _,
            } => {
                let class = if statements.is_empty() && exception.is_none() {
                    StatementClass::Transaction
                } else {
                    StatementClass::Procedure
                };
                self.refused(statement, class, Effects::SESSION)
            }
            Statement::Commit { .. }
            | Statement::Rollback { .. }
            | Statement::Savepoint { .. }
            | Statement::ReleaseSavepoint { .. }
            | Statement::UnlockTables => {
                self.refused(statement, StatementClass::Transaction, Effects::SESSION)
            }
            Statement::Lock(_) | Statement::LockTables { .. } => {
                self.refused(statement, StatementClass::Transaction, Effects::LOCK)
            }
            Statement::Analyze(_)
            | Statement::Vacuum(_)
            | Statement::OptimizeTable { .. }
            | Statement::Msck(_)
            | Statement::Cache { .. }
            | Statement::UNCache { .. }
            | Statement::Flush { .. }
            | Statement::RefreshMaterializedView(_) => {
                self.refused(statement, StatementClass::Maintenance, Effects::WRITE)
            }
            Statement::Copy { source, to, target, options: _, legacy_options: _, payload: _ } => {
                if let CopySource::Table { table_name, columns } = source {
                    let object = self.named_object(table_name, !to);
                    self.copied_columns(object, columns);
                }
                let moved = if *to { Effects::READ } else { Effects::WRITE };
                match target {
                    CopyTarget::Stdin
                    | CopyTarget::Stdout
                    | CopyTarget::File { filename: _ }
                    | CopyTarget::Program { command: _ } => {}
                }
                self.refused(statement, StatementClass::ServerIo, Effects::SERVER_IO | moved)
            }
            Statement::LoadData { .. } | Statement::CopyIntoSnowflake { .. } => {
                self.refused(statement, StatementClass::ServerIo, Effects::SERVER_IO | Effects::WRITE)
            }
            Statement::AttachDatabase { .. }
            | Statement::AttachDuckDBDatabase { .. }
            | Statement::DetachDuckDBDatabase { .. } => {
                self.refused(statement, StatementClass::ServerIo, Effects::SERVER_IO | Effects::SESSION)
            }
            Statement::Install { .. }
            | Statement::Load { .. }
            | Statement::Directory { .. }
            | Statement::Unload { .. }
            | Statement::ExportData(_)
            | Statement::List(_)
            | Statement::Put { .. }
            | Statement::Remove(_)
            | Statement::Kill { .. }
            | Statement::NOTIFY { .. } => {
                self.refused(statement, StatementClass::ServerIo, Effects::SERVER_IO)
            }
            Statement::Call(function) => {
                self.procedure(function);
                self.refused(statement, StatementClass::Procedure, Effects::UNKNOWN)
            }
            Statement::Execute { .. }
            | Statement::Case(_)
            | Statement::If(_)
            | Statement::While(_)
            | Statement::Raise(_)
            | Statement::Assert { .. }
            | Statement::RaisError { .. }
            | Statement::Throw(_)
            | Statement::Print(_)
            | Statement::WaitFor(_)
            | Statement::Return(_) => self.refused(statement, StatementClass::Procedure, Effects::UNKNOWN),
        }
    }

    /// A statement that is neither a read nor a change that a person may approve.
    fn refused(&mut self, statement: &Statement, class: StatementClass, effects: Effects) -> StatementClass {
        self.effect(effects);
        let written = effects.contains(Effects::WRITE);
        self.whole(statement, written);
        class
    }

    fn catalogue(&mut self) -> StatementClass {
        self.effect(Effects::READ);
        StatementClass::Catalogue
    }

    /// What EXPLAIN makes of its body.
    pub(super) fn explained(&mut self, body: StatementClass, executes: bool) -> StatementClass {
        self.effect(Effects::READ);
        let is_read = body == StatementClass::Read && self.parsed.effects.is_pure_read();
        if executes && !is_read {
            self.finding(
                Finding::new(Rule::Write, "EXPLAIN ANALYZE runs the statement, and it is no read", None)
                    .advice("Use EXPLAIN without ANALYZE, or of a SELECT."),
            );
        } else if executes && self.grammar().explain_analyze_rule() == ExplainAnalyze::Ask {
            self.finding(
                Finding::new(Rule::UnknownEffect, "EXPLAIN ANALYZE runs the statement", None)
                    .choice("explain_analyze")
                    .advice("Use EXPLAIN without ANALYZE."),
            );
        }
        StatementClass::Explain
    }

    fn procedure(&mut self, function: &Function) {
        if let Some(idents) = self.idents(&function.name) {
            let name: Vec<_> = idents.iter().map(|i| i.value.as_str()).collect();
            let span = self.place_of(&function.name);
            let effects = self.grammar().known(&name.join(".")).map_or(Effects::UNKNOWN, |k| k.effects);
            self.function_use(&name.join("."), None, effects, span);
        }
    }

    fn copied_columns(&mut self, object: Option<usize>, columns: &[Ident]) {
        let objects: Vec<_> = object.into_iter().collect();
        if columns.is_empty() {
            self.star(objects.clone(), None);
        }
        for column in columns {
            let span = self.place(column);
            self.column(objects.clone(), Some(&column.value), span);
        }
    }

    fn pragma(&mut self, name: &ObjectName, value: Option<&ValueWithSpan>, is_eq: bool) -> StatementClass {
        if let Some(value) = value {
            self.value(value);
        }
        let own = self.idents(name).and_then(|i| i.last().map(|i| i.value.to_ascii_lowercase()));
        let reads = own.is_some_and(|own| self.grammar().readable_pragmas().contains(&own.as_str()));
        if reads && !is_eq {
            return self.catalogue();
        }
        self.effect(Effects::SESSION);
        StatementClass::Session
    }

    /// `SHOW a b c`, where sqlparser sees nothing but names.
    fn show_names(&mut self, names: &[Ident]) -> StatementClass {
        match self.grammar().show_rule() {
            ShowNames::Setting => {}
            ShowNames::Refuse => {
                let span = names.first().and_then(|n| self.place(n));
                self.unknown("this form of SHOW", span);
            }
        }
        self.catalogue()
    }

    fn show_options(&mut self, options: &ShowStatementOptions, of_table: bool) {
        let ShowStatementOptions { show_in, starts_with, limit, limit_from, filter_position } = options;
        if let Some(ShowStatementIn { clause: _, parent_type, parent_name }) = show_in {
            let is_table = match parent_type {
                None => of_table,
                Some(ShowStatementInParentType::Table | ShowStatementInParentType::View) => true,
                Some(
                    ShowStatementInParentType::Account
                    | ShowStatementInParentType::Database
                    | ShowStatementInParentType::Schema,
                ) => false,
            };
            if let (true, Some(name)) = (is_table, parent_name) {
                self.named_object(name, false);
            }
        }
        for value in starts_with.iter().chain(limit_from) {
            self.value(value);
        }
        self.optional(limit.as_ref());
        match filter_position {
            None => {}
            Some(
                ShowStatementFilterPosition::Infix(filter) | ShowStatementFilterPosition::Suffix(filter),
            ) => {
                self.show_filter(Some(filter));
            }
        }
    }

    fn show_filter(&mut self, filter: Option<&ShowStatementFilter>) {
        match filter {
            None
            | Some(
                ShowStatementFilter::Like(_)
                | ShowStatementFilter::ILike(_)
                | ShowStatementFilter::NoKeyword(_),
            ) => {}
            Some(ShowStatementFilter::Where(expr)) => self.expr(expr),
        }
    }
}

/// Whether the argument of an EXPLAIN option turns it off. What is not plainly off is on.
fn is_off(arg: Option<&Expr>) -> bool {
    match arg {
        Some(Expr::Value(value)) => match &value.value {
            Value::Boolean(on) => !on,
            Value::Number(digits, _) => digits == "0",
            Value::SingleQuotedString(word) => is_off_word(word),
            _ => false,
        },
        Some(Expr::Identifier(word)) => is_off_word(&word.value),
        _ => false,
    }
}

fn is_off_word(word: &str) -> bool {
    word.eq_ignore_ascii_case("off") || word.eq_ignore_ascii_case("false")
}
