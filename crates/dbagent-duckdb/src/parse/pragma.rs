//! The pragmas that only show something.

use dbagent_core::guard::{Finding, Parsed, Rule, StatementClass};
use dbagent_core::{Effects, ObjectName};

use super::command::Argument;
use super::special::{TableArgument, table_argument};
use super::{CATALOGUE, Names};

/// Pragmas without an argument that show a part of the catalogue.
const CATALOGUE_PRAGMAS: &[&str] = &[
    "collations",
    "database_list",
    "database_size",
    "functions",
    "show_databases",
    "show_tables",
    "show_tables_expanded",
];
/// Pragmas without an argument that show the engine itself.
const ENGINE_PRAGMAS: &[&str] = &["platform", "user_agent", "version"];
/// Pragmas that take the name of a table.
const TABLE_PRAGMAS: &[&str] = &["show", "storage_info", "table_info"];

/// What a PRAGMA does. One that is on no list changes something, as far as anybody knows.
pub(super) fn pragma(name: &str, argument: Option<&Argument>, names: &Names) -> Parsed {
    let mut parsed = Parsed::new(StatementClass::Catalogue, Effects::READ);
    let table = TABLE_PRAGMAS.contains(&name).then(|| argument.and_then(|a| names.parse(&a.text))).flatten();
    let mut object = |name: ObjectName, span| {
        parsed.objects.push(dbagent_core::guard::ObjectUse { name, written: false, span });
    };
    match (table, argument) {
        (Some(table), Some(argument)) => {
            object(table, Some(argument.span));
            if table_argument(&format!("pragma_{name}")) == Some(TableArgument::Reads) {
                let all = dbagent_core::guard::ColumnUse {
                    candidates: vec![0],
                    column: None,
                    span: Some(argument.span),
                };
                parsed.columns.push(all);
            }
        }
        (None, None) if CATALOGUE_PRAGMAS.contains(&name) => {
            object(ObjectName::within(CATALOGUE, "duckdb_tables"), None);
        }
        (None, None) if ENGINE_PRAGMAS.contains(&name) => {}
        _ => {
            parsed = Parsed::new(StatementClass::Session, Effects::SESSION);
            parsed.findings.push(
                Finding::new(
                    Rule::SessionChange,
                    format!("PRAGMA {name} is none of those that only show something"),
                    argument.map(|a| a.span),
                )
                .advice("Use PRAGMA table_info('name'), DESCRIBE name, SHOW TABLES or SUMMARIZE name."),
            );
        }
    }
    parsed
}
