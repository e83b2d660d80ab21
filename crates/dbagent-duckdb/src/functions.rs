//! The functions of DuckDB and what each of them does.
//!
//! The list is the engine's own, and a test holds it against `duckdb_functions()`, so that an upgrade that
//! brings a function fails until somebody has said what it does. Readers of well-known extensions are named
//! too, so that a refusal can say why. What is not here is unknown, and unknown is refused unless the
//! database itself defines it and the definition reads only.

mod read;

use dbagent_core::Effects;

/// What a function does; [`Effects::UNKNOWN`] when it is not on the list. Names compare without case.
pub fn effects(name: &str) -> Effects {
    let name = name.to_ascii_lowercase();
    let listed = |list: &[&str]| list.binary_search(&name.as_str()).is_ok();
    if listed(read::READ) || listed(SECRET) || COLLATIONS.iter().any(|p| name.starts_with(p)) {
        Effects::READ
    } else if listed(REACHES_OUT) {
        Effects::SERVER_IO
    } else if listed(SESSION) {
        Effects::SESSION
    } else if listed(WRITES) {
        Effects::WRITE
    } else {
        Effects::UNKNOWN
    }
}

/// Whether a function may show secrets, or what others asked. A policy has to allow it.
pub(crate) fn is_secret(name: &str) -> bool {
    SECRET.iter().any(|s| s.eq_ignore_ascii_case(name))
}

/// Whether a function in FROM reads whatever table or file its argument names.
pub(crate) fn reads_by_argument(name: &str) -> bool {
    ["histogram", "histogram_values"].iter().any(|n| n.eq_ignore_ascii_case(name))
}

/// Whether a function in FROM shows the catalogue.
pub(crate) fn is_catalogue(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    (name.starts_with("duckdb_") || CATALOGUE.contains(&name.as_str())) && effects(&name).is_pure_read()
}

/// Whether the list knows a function without vouching for it.
pub fn is_left_out(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    LEFT_OUT.binary_search(&name.as_str()).is_ok() || name.starts_with("__internal")
}

/// Sort keys of collations: one function for each language.
const COLLATIONS: &[&str] = &["collate_", "icu_collate_"];

/// Functions beside `duckdb_…()` that show the catalogue.
const CATALOGUE: &[&str] = &["pragma_collations", "pragma_database_size", "pragma_metadata_info"];

#[rustfmt::skip]
/// Functions that may show secrets, or what others asked.
const SECRET: &[&str] = &[
    "duckdb_log_contexts", "duckdb_logs", "duckdb_logs_parsed", "duckdb_secrets", "getenv", "which_secret",
];

#[rustfmt::skip]
/// Functions that reach files, the network or another database, those of extensions included.
const REACHES_OUT: &[&str] = &[
    "arrow_scan", "arrow_scan_dumb", "delta_scan", "duckdb_external_file_cache", "duckdb_temporary_files",
    "glob", "http_get", "http_post", "iceberg_metadata", "iceberg_scan", "iceberg_snapshots",
    "load_aws_credentials", "mysql_query", "mysql_scan", "parquet_bloom_probe", "parquet_file_metadata",
    "parquet_full_metadata", "parquet_kv_metadata", "parquet_metadata", "parquet_scan", "parquet_schema",
    "postgres_execute", "postgres_query", "postgres_scan", "postgres_scan_pushdown", "read_avro",
    "read_blob", "read_csv", "read_csv_auto", "read_duckdb", "read_json", "read_json_auto",
    "read_json_objects", "read_json_objects_auto", "read_ndjson", "read_ndjson_auto", "read_ndjson_objects",
    "read_parquet", "read_single_csv_file", "read_single_json_file", "read_single_parquet_file",
    "read_text", "read_xlsx", "scan_arrow_ipc", "shapefile_meta", "sniff_csv", "sqlite_attach",
    "sqlite_query", "sqlite_scan", "st_drivers", "st_read", "st_read_meta", "st_readosm", "st_readshp",
];

#[rustfmt::skip]
/// Functions that change the session or the engine, or hold it up.
const SESSION: &[&str] = &[
    "create_external_resource", "deregister_external_resource", "destroy_external_resource",
    "disable_logging", "disable_profiling", "enable_logging", "enable_profiling", "pg_sleep",
    "register_external_resource", "register_external_resource_type", "setseed", "sleep_ms",
    "truncate_duckdb_logs", "write_log",
];

#[rustfmt::skip]
/// Functions that change what is stored.
const WRITES: &[&str] = &[
    "checkpoint", "force_checkpoint", "nextval", "setval",
];

#[rustfmt::skip]
/// Functions that run a text as a statement, that hide which table they read, or that take raw values of the
/// engine from inside: nobody vouches for them.
const LEFT_OUT: &[&str] = &[
    "combine", "combine_aggr", "constant_or_null", "create_sort_key", "duckdb_connection_count",
    "duckdb_eviction_queues", "duckdb_external_resource_types", "duckdb_external_resources",
    "duckdb_grammar_extensions", "duckdb_table_sample", "finalize", "index_key",
    "json_execute_serialized_sql", "json_serialize_plan", "query", "query_table", "remap_struct",
    "replace_type", "seq_scan", "summary", "test_vector_types", "to_aggregate_state", "unpivot_list",
    "variant_bytes_to_variant", "variant_comparator", "variant_normalize", "variant_to_parquet_variant",
];
