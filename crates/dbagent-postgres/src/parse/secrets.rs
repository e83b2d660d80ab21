//! Catalogues of Postgres that hold secrets, settings files, raw storage or samples of the data.

use dbagent_core::ObjectName;

use crate::functions::Qualified;

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

/// Relations of the catalogue that tell of no object that a policy could hide.
const OF_THE_SERVER: &[&str] = &[
    "administrable_role_authorizations",
    "applicable_roles",
    "character_sets",
    "collations",
    "enabled_roles",
    "information_schema_catalog_name",
    "pg_aggregate",
    "pg_am",
    "pg_amop",
    "pg_amproc",
    "pg_auth_members",
    "pg_available_extension_versions",
    "pg_available_extensions",
    "pg_cast",
    "pg_collation",
    "pg_conversion",
    "pg_database",
    "pg_enum",
    "pg_extension",
    "pg_group",
    "pg_language",
    "pg_opclass",
    "pg_operator",
    "pg_opfamily",
    "pg_range",
    "pg_roles",
    "pg_settings",
    "pg_tablespace",
    "pg_timezone_abbrevs",
    "pg_timezone_names",
    "pg_ts_config",
    "pg_ts_config_map",
    "pg_ts_dict",
    "pg_ts_parser",
    "pg_ts_template",
    "pg_user",
    "sql_features",
    "sql_implementation_info",
    "sql_parts",
    "sql_sizing",
];

/// Functions that write definitions or names of objects out.
const DEFINITIONS: &[&str] = &[
    "col_description",
    "obj_description",
    "pg_describe_object",
    "pg_get_constraintdef",
    "pg_get_expr",
    "pg_get_function_sqlbody",
    "pg_get_functiondef",
    "pg_get_indexdef",
    "pg_get_partition_constraintdef",
    "pg_get_partkeydef",
    "pg_get_ruledef",
    "pg_get_serial_sequence",
    "pg_get_statisticsobjdef",
    "pg_get_statisticsobjdef_columns",
    "pg_get_statisticsobjdef_expressions",
    "pg_get_triggerdef",
    "pg_get_viewdef",
    "pg_identify_object",
    "pg_identify_object_as_address",
];

/// Whether a relation of the catalogue tells of every object, also of those that a policy hides: all but a list
/// do. A bare name that begins with `pg_` is the catalogue's, which is looked into first.
pub(super) fn tells_all(name: &ObjectName) -> bool {
    match name.namespace.as_deref() {
        None if !name.name.starts_with("pg_") => return false,
        None | Some("pg_catalog" | "information_schema") => {}
        Some(_) => return false,
    }
    OF_THE_SERVER.binary_search(&name.name.as_str()).is_err()
}

/// The catalogue that a function reads definitions from, if it does.
pub(super) fn read_by(function: &Qualified) -> Option<ObjectName> {
    let own = matches!(function.schema.as_deref(), None | Some("pg_catalog"));
    let shows = own && DEFINITIONS.binary_search(&function.name.as_str()).is_ok();
    shows.then(|| ObjectName::within("pg_catalog", "pg_rewrite"))
}

/// Columns of the catalogue's views that show more than the rest of the view, and what that is.
pub(super) fn telling_columns(name: &ObjectName) -> (&'static [&'static str], &'static str) {
    const SAMPLES: &str = "samples of the data of every table";
    if !matches!(name.namespace.as_deref(), None | Some("pg_catalog")) {
        return (&[], "");
    }
    match name.name.as_str() {
        "pg_stat_activity" => (&["query"], "the statements of others, and the passwords in them"),
        "pg_attribute" => (&["attmissingval"], SAMPLES),
        "pg_stats" => (
            &[
                "most_common_vals",
                "histogram_bounds",
                "most_common_elems",
                "range_bounds_histogram",
                "range_length_histogram",
            ],
            SAMPLES,
        ),
        "pg_stats_ext" => (&["most_common_vals"], SAMPLES),
        "pg_stats_ext_exprs" => (&["most_common_vals", "histogram_bounds", "most_common_elems"], SAMPLES),
        _ => (&[], ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_tells_of_all_objects_but_for_what_is_the_servers() {
        let tells = |space: &str, name: &str| tells_all(&ObjectName::within(space, name));
        assert!(tells("pg_catalog", "pg_views") && tells("information_schema", "columns"));
        assert!(!tells("pg_catalog", "pg_settings") && !tells("information_schema", "sql_features"));
        assert!(!tells("public", "pg_views") && !tells_all(&ObjectName::new("views")));
        assert!(tells_all(&ObjectName::new("pg_class")) && !tells_all(&ObjectName::new("pg_timezone_names")));
        assert!(OF_THE_SERVER.is_sorted() && DEFINITIONS.is_sorted());
        assert!(read_by(&Qualified::bare("pg_get_viewdef")).is_some());
        assert!(read_by(&Qualified::within("public", "pg_get_viewdef")).is_none());
    }
}
