//! The functions of SQLite and what each of them does.
//!
//! The list is the engine's own, and a test holds it against `PRAGMA function_list`, so that an upgrade
//! that brings a function fails until somebody has said what it does. Functions that SQLite's shell and
//! its well-known extensions bring are named too, so that a refusal can say why. What is not here is
//! unknown, and unknown is refused.

use dbagent_core::Effects;

/// What a function does; [`Effects::UNKNOWN`] when it is not on the list. Names compare without case.
pub fn effects(name: &str) -> Effects {
    let name = name.to_ascii_lowercase();
    let listed = |list: &[&str]| list.binary_search(&name.as_str()).is_ok();
    if listed(SCALAR) || listed(AGGREGATE) || listed(MATH) || listed(FULL_TEXT) || listed(TABLE) {
        Effects::READ
    } else if listed(REACHES_OUT) {
        Effects::SERVER_IO
    } else if listed(WRITES) {
        Effects::WRITE
    } else {
        Effects::UNKNOWN
    }
}

/// Whether a function may be called in FROM and is no table of anybody.
pub fn is_table_function(name: &str) -> bool {
    TABLE.iter().any(|t| t.eq_ignore_ascii_case(name))
}

/// Whether a table of this name reaches outside the database although it looks like a table.
pub fn is_outside_table(name: &str) -> bool {
    OUTSIDE_TABLES.iter().any(|t| t.eq_ignore_ascii_case(name))
}

const SCALAR: &[&str] = &[
    "->",
    "->>",
    "abs",
    "changes",
    "char",
    "coalesce",
    "concat",
    "concat_ws",
    "current_date",
    "current_time",
    "current_timestamp",
    "date",
    "datetime",
    "format",
    "glob",
    "hex",
    "if",
    "ifnull",
    "iif",
    "instr",
    "json",
    "json_array",
    "json_array_insert",
    "json_array_length",
    "json_error_position",
    "json_extract",
    "json_insert",
    "json_object",
    "json_patch",
    "json_pretty",
    "json_quote",
    "json_remove",
    "json_replace",
    "json_set",
    "json_type",
    "json_valid",
    "jsonb",
    "jsonb_array",
    "jsonb_array_insert",
    "jsonb_extract",
    "jsonb_insert",
    "jsonb_object",
    "jsonb_patch",
    "jsonb_remove",
    "jsonb_replace",
    "jsonb_set",
    "julianday",
    "last_insert_rowid",
    "length",
    "like",
    "likelihood",
    "likely",
    "lower",
    "ltrim",
    "max",
    "min",
    "nullif",
    "octet_length",
    "printf",
    "quote",
    "random",
    "randomblob",
    "replace",
    "round",
    "rtrim",
    "sign",
    "soundex",
    "sqlite_compileoption_get",
    "sqlite_compileoption_used",
    "sqlite_source_id",
    "sqlite_version",
    "strftime",
    "substr",
    "substring",
    "subtype",
    "time",
    "timediff",
    "total_changes",
    "trim",
    "typeof",
    "unhex",
    "unicode",
    "unistr",
    "unistr_quote",
    "unixepoch",
    "unlikely",
    "upper",
    "zeroblob",
];

const AGGREGATE: &[&str] = &[
    "avg",
    "count",
    "cume_dist",
    "dense_rank",
    "first_value",
    "group_concat",
    "json_group_array",
    "json_group_object",
    "jsonb_group_array",
    "jsonb_group_object",
    "lag",
    "last_value",
    "lead",
    "median",
    "nth_value",
    "ntile",
    "percent_rank",
    "percentile",
    "percentile_cont",
    "percentile_disc",
    "rank",
    "row_number",
    "string_agg",
    "sum",
    "total",
];

/// Not in every build of SQLite; where the engine has none, the session brings them.
const MATH: &[&str] = &[
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "ceiling", "cos", "cosh", "degrees",
    "exp", "floor", "ln", "log", "log10", "log2", "mod", "pi", "pow", "power", "radians", "sin", "sinh",
    "sqrt", "tan", "tanh", "trunc",
];

/// Of the full-text and spatial indexes; they read the index that the statement names.
const FULL_TEXT: &[&str] = &[
    "bm25",
    "fts5_get_locale",
    "fts5_insttoken",
    "fts5_locale",
    "fts5_source_id",
    "highlight",
    "match",
    "matchinfo",
    "offsets",
    "rtreecheck",
    "rtreedepth",
    "rtreenode",
    "snippet",
];

/// Table functions over values. Those over pragmas are judged with the pragmas.
const TABLE: &[&str] = &["json_each", "json_tree", "jsonb_each", "jsonb_tree"];

/// Files, programs, native code, the log, pointers into the process.
const REACHES_OUT: &[&str] = &[
    "edit",
    "eval",
    "fsdir",
    "fts3_tokenizer",
    "fts5",
    "load_extension",
    "lsmode",
    "readfile",
    "shell_add_schema",
    "shell_escape_crnl",
    "shell_module_schema",
    "shell_putsnl",
    "sqlite_log",
    "writefile",
    "zipfile",
    "zipfile_cds",
];

/// Rewrites an index.
const WRITES: &[&str] = &["optimize"];

/// Modules whose tables need no declaration and read files.
const OUTSIDE_TABLES: &[&str] = &["fsdir", "zipfile"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_knows_every_function_of_the_engine() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let mut statement =
            connection.prepare("SELECT DISTINCT name FROM pragma_function_list ORDER BY name").unwrap();
        let names: Vec<String> =
            statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
        assert!(names.len() > 100, "{names:?}");
        let unknown: Vec<_> = names.iter().filter(|n| effects(n).contains(Effects::UNKNOWN)).collect();
        assert!(unknown.is_empty(), "the engine has functions that nobody has judged: {unknown:?}");
    }

    #[test]
    fn lists_are_sorted_and_no_name_stands_in_two() {
        let lists = [SCALAR, AGGREGATE, MATH, FULL_TEXT, TABLE, REACHES_OUT, WRITES];
        for list in lists {
            assert!(list.is_sorted(), "{list:?}");
        }
        let mut all: Vec<&str> = lists.concat();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn names_compare_without_case_and_the_rest_is_unknown() {
        assert_eq!(effects("LOAD_EXTENSION"), Effects::SERVER_IO);
        assert_eq!(effects("Abs"), Effects::READ);
        assert_eq!(effects("optimize"), Effects::WRITE);
        assert_eq!(effects("regexp"), Effects::UNKNOWN);
        assert!(is_table_function("JSON_EACH") && !is_table_function("abs"));
        assert!(is_outside_table("ZipFile"));
    }
}
