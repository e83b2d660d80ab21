//! Which pragmas only read.
//!
//! SQLite runs many pragmas while it compiles them, and its own idea of "read-only" does not help. So a
//! pragma is allowed by its name and the form of its argument or not at all, in a statement of its own,
//! under EXPLAIN, and as the table function `pragma_name()`.

/// What a pragma's argument is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// It takes none; with one it would set something.
    Getter,
    /// It names a table or an index to describe.
    Describes,
    /// It may name a table; without one it tells of all tables.
    DescribesAll,
    /// It checks the database and may name a table or a number of messages.
    Check,
}

const GETTERS: &[&str] = &[
    "analysis_limit",
    "application_id",
    "auto_vacuum",
    "automatic_index",
    "busy_timeout",
    "cache_size",
    "cache_spill",
    "cell_size_check",
    "checkpoint_fullfsync",
    "collation_list",
    "compile_options",
    "data_version",
    "database_list",
    "defer_foreign_keys",
    "encoding",
    "foreign_keys",
    "freelist_count",
    "fullfsync",
    "function_list",
    "hard_heap_limit",
    "ignore_check_constraints",
    "journal_mode",
    "journal_size_limit",
    "legacy_alter_table",
    "locking_mode",
    "max_page_count",
    "mmap_size",
    "module_list",
    "page_count",
    "page_size",
    "pragma_list",
    "query_only",
    "read_uncommitted",
    "recursive_triggers",
    "reverse_unordered_selects",
    "schema_version",
    "secure_delete",
    "soft_heap_limit",
    "synchronous",
    "temp_store",
    "threads",
    "trusted_schema",
    "user_version",
    "wal_autocheckpoint",
    "writable_schema",
];

const DESCRIBES: &[&str] =
    &["foreign_key_list", "index_info", "index_list", "index_xinfo", "table_info", "table_xinfo"];

const DESCRIBES_ALL: &[&str] = &["foreign_key_check", "table_list"];

const CHECKS: &[&str] = &["integrity_check", "quick_check"];

/// How the pragma of this name may be used; `None` when it may not.
pub(crate) fn form(name: &str) -> Option<Form> {
    let named = |list: &[&str]| list.iter().any(|n| n.eq_ignore_ascii_case(name));
    if named(GETTERS) {
        Some(Form::Getter)
    } else if named(DESCRIBES) {
        Some(Form::Describes)
    } else if named(DESCRIBES_ALL) {
        Some(Form::DescribesAll)
    } else if named(CHECKS) {
        Some(Form::Check)
    } else {
        None
    }
}

/// Whether the pragma only reads with or without an argument.
pub(crate) fn only_reads(name: &str, has_argument: bool) -> bool {
    match form(name) {
        Some(Form::Getter) => !has_argument,
        Some(Form::Describes | Form::DescribesAll | Form::Check) => true,
        None => false,
    }
}

/// The pragma behind a table function `pragma_…`.
pub(crate) fn of_table_function(name: &str) -> Option<&str> {
    let (prefix, pragma) = name.split_at_checked("pragma_".len())?;
    prefix.eq_ignore_ascii_case("pragma_").then_some(pragma)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setters_and_actions_are_not_on_the_list() {
        for (name, argument) in [
            ("user_version", true),
            ("Journal_Mode", true),
            ("query_only", true),
            ("wal_checkpoint", false),
            ("incremental_vacuum", false),
            ("optimize", false),
            ("shrink_memory", false),
            ("temp_store_directory", false),
            ("case_sensitive_like", true),
            ("default_cache_size", false),
            ("no_such_pragma", false),
        ] {
            assert!(!only_reads(name, argument), "{name}");
        }
        assert!(only_reads("TABLE_INFO", true) && only_reads("user_version", false));
    }

    #[test]
    fn every_name_is_one_that_the_engine_has() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let mut statement = connection.prepare("SELECT name FROM pragma_pragma_list").unwrap();
        let known: Vec<String> =
            statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
        for name in [GETTERS, DESCRIBES, DESCRIBES_ALL, CHECKS].concat() {
            assert!(known.iter().any(|k| k == name), "{name}");
        }
    }

    #[test]
    fn table_functions_name_their_pragma() {
        assert_eq!(of_table_function("PRAGMA_table_info"), Some("table_info"));
        assert_eq!(of_table_function("pragmatic"), None);
        assert_eq!(of_table_function("é"), None);
    }
}
