//! Catalogues of Postgres that hold secrets, settings files, raw storage or samples of the data.

use dbagent_core::ObjectName;

/// Why nobody should read it, if so.
pub(super) fn why(name: &ObjectName) -> Option<&'static str> {
    if name.namespace.as_deref() == Some("pg_toast") {
        return Some("holds the raw storage of long values");
    }
    if !matches!(name.namespace.as_deref(), None | Some("pg_catalog" | "information_schema")) {
        return None;
    }
    Some(match name.name.as_str() {
        "pg_authid" | "pg_shadow" => "holds the passwords of accounts",
        "pg_user_mapping" | "pg_user_mappings" | "_pg_user_mappings" | "user_mapping_options" => {
            "holds the passwords of other servers"
        }
        "pg_subscription" | "pg_stat_wal_receiver" => "holds how to connect to other servers",
        "pg_hba_file_rules" | "pg_ident_file_mappings" | "pg_file_settings" => {
            "holds the server's configuration files"
        }
        "pg_largeobject" => "holds large objects, which no rule can name",
        "pg_statistic" | "pg_statistic_ext_data" => "holds samples of the data of every table",
        _ => return None,
    })
}

/// Columns of views over the statistics that show values of the data.
pub(super) fn sample_columns(name: &ObjectName) -> &'static [&'static str] {
    if !matches!(name.namespace.as_deref(), None | Some("pg_catalog")) {
        return &[];
    }
    match name.name.as_str() {
        "pg_stats" => &[
            "most_common_vals",
            "histogram_bounds",
            "most_common_elems",
            "range_bounds_histogram",
            "range_length_histogram",
        ],
        "pg_stats_ext" => &["most_common_vals"],
        "pg_stats_ext_exprs" => &["most_common_vals", "histogram_bounds", "most_common_elems"],
        _ => &[],
    }
}
