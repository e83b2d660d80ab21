//! What tells of every object of a database, also of those that a policy hides.
//!
//! The engine's own views and functions write names, definitions and constraints of all tables out. The core
//! refuses them where a policy hides anything; what tells of one object by its name is judged as that object.

use dbagent_core::ObjectName;
use dbagent_core::guard::{ObjectUse, Parsed};

use super::CATALOGUE;

/// Views and functions of the engine that tell of the engine alone.
const OF_THE_ENGINE: &[&str] = &[
    "character_sets",
    "duckdb_extensions",
    "duckdb_keywords",
    "duckdb_memory",
    "duckdb_optimizers",
    "duckdb_settings",
    "pragma_collations",
    "pragma_database_size",
    "pragma_platform",
    "pragma_user_agent",
    "pragma_version",
];
/// How the names of the engine's own views begin, where they are written without a schema.
const BEGINNINGS: &[&str] = &["duckdb_", "pg_", "pragma_", "sqlite_"];
/// Functions that write a definition out.
const DEFINITIONS: &[&str] = &["pg_get_constraintdef", "pg_get_expr", "pg_get_viewdef"];

/// Marks what tells of every object.
pub(super) fn marked(mut parsed: Parsed) -> Parsed {
    let names: Vec<(ObjectName, _)> = parsed
        .functions
        .iter()
        .filter(|f| DEFINITIONS.iter().any(|name| f.name.eq_ignore_ascii_case(name)))
        .map(|f| (ObjectName::within(CATALOGUE, f.name.to_ascii_lowercase()), f.span))
        .collect();
    parsed.objects.extend(names.into_iter().map(|(name, span)| ObjectUse { name, written: false, span }));
    let objects = parsed.objects.iter().enumerate();
    parsed.tell_all = objects.filter(|(_, o)| tells_all(&o.name)).map(|(index, _)| index).collect();
    parsed
}

fn tells_all(name: &ObjectName) -> bool {
    let own = name.name.to_ascii_lowercase();
    if OF_THE_ENGINE.binary_search(&own.as_str()).is_ok() {
        return false;
    }
    match name.namespace.as_deref().map(str::to_ascii_lowercase).as_deref() {
        Some(CATALOGUE | "information_schema" | "pg_catalog") => true,
        None | Some("main") => BEGINNINGS.iter().any(|begin| own.starts_with(begin)),
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_tells_of_all_and_a_table_of_itself() {
        assert!(OF_THE_ENGINE.is_sorted());
        for name in ["duckdb_tables", "SQLite_Master", "pg_class", "pragma_table_info"] {
            assert!(tells_all(&ObjectName::new(name)), "{name}");
        }
        assert!(tells_all(&ObjectName::within("information_schema", "tables")));
        assert!(tells_all(&ObjectName::within("system", "anything")));
        for name in ["users", "duckdb_settings", "DUCKDB_Extensions"] {
            assert!(!tells_all(&ObjectName::new(name)), "{name}");
        }
        assert!(!tells_all(&ObjectName::within("s", "pg_class")));
    }
}
