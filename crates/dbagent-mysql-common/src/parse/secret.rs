//! Objects of the servers that show more than the data of this account: password hashes, grants, the
//! statements and connections of others.

use dbagent_core::ObjectName;

/// Tables of `information_schema` that do, in lower case. The rest of it shows each account its own.
const SCHEMA: &[&str] = &[
    "all_plugins",
    "applicable_roles",
    "client_statistics",
    "column_privileges",
    "innodb_buffer_page",
    "innodb_buffer_page_lru",
    "innodb_ft_being_deleted",
    "innodb_ft_deleted",
    "innodb_ft_index_cache",
    "innodb_ft_index_table",
    "innodb_lock_waits",
    "innodb_locks",
    "innodb_trx",
    "metadata_lock_info",
    "processlist",
    "profiling",
    "query_cache_info",
    "role_column_grants",
    "role_routine_grants",
    "role_table_grants",
    "schema_privileges",
    "table_privileges",
    "user_attributes",
    "user_privileges",
    "user_statistics",
];

/// Tables of `information_schema` that tell of no object that a policy could hide, in lower case.
const OF_THE_SERVER: &[&str] = &[
    "character_sets",
    "collation_character_set_applicability",
    "collations",
    "enabled_roles",
    "engines",
    "global_status",
    "global_variables",
    "keywords",
    "locales",
    "plugins",
    "resource_groups",
    "session_status",
    "session_variables",
    "spatial_ref_sys",
    "sql_functions",
    "st_spatial_reference_systems",
    "st_units_of_measure",
    "system_variables",
];

/// Tables of `information_schema` that set what they count to zero when they are read, in lower case.
const RESETS: &[&str] = &["innodb_cmp_per_index_reset", "innodb_cmp_reset", "innodb_cmpmem_reset"];

/// Whether reading an object changes what everybody else sees in the server's counters.
pub(super) fn resets(name: &ObjectName) -> bool {
    let space = name.namespace.as_deref().map(str::to_lowercase);
    space.as_deref() == Some("information_schema") && RESETS.contains(&name.name.to_lowercase().as_str())
}

/// Whether an object tells of every other, also of those that a policy hides: all of the servers' own schemas but
/// a list do.
pub(super) fn tells_all(name: &ObjectName) -> bool {
    let Some(space) = name.namespace.as_deref().map(str::to_lowercase) else { return false };
    match space.as_str() {
        "mysql" | "performance_schema" | "sys" => true,
        "information_schema" => !OF_THE_SERVER.contains(&name.name.to_lowercase().as_str()),
        _ => false,
    }
}

/// Why an object counts as secret, if it does.
pub(super) fn secret(name: &ObjectName) -> Option<String> {
    let space = name.namespace.as_deref()?.to_lowercase();
    let table = name.name.to_lowercase();
    match space.as_str() {
        "mysql" => Some("the schema mysql holds accounts, their passwords and grants".to_owned()),
        "performance_schema" | "sys" => {
            Some(format!("the schema {space} shows the statements and connections of others"))
        }
        "information_schema" if SCHEMA.contains(&table.as_str()) => {
            Some(format!("information_schema.{table} shows grants, or the work of others"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schemas_of_the_server_hold_secrets_and_the_schema_of_names_does_not() {
        let is = |space: &str, table: &str| secret(&ObjectName::within(space, table)).is_some();
        assert!(is("mysql", "user") && is("MySQL", "USER") && is("performance_schema", "threads"));
        assert!(is("sys", "session") && is("INFORMATION_SCHEMA", "ProcessList"));
        assert!(!is("information_schema", "tables") && !is("shop", "user"));
        assert!(SCHEMA.is_sorted() && OF_THE_SERVER.is_sorted());
        assert!(secret(&ObjectName::new("user")).is_none());
        let resets = |space: &str, table: &str| resets(&ObjectName::within(space, table));
        assert!(
            resets("Information_Schema", "INNODB_CMP_RESET") && !resets("information_schema", "innodb_cmp")
        );
        assert!(!resets("shop", "innodb_cmp_reset"));
        let tells = |space: &str, table: &str| tells_all(&ObjectName::within(space, table));
        assert!(tells("INFORMATION_SCHEMA", "Views") && tells("mysql", "tables_priv"));
        assert!(!tells("information_schema", "COLLATIONS") && !tells("shop", "views"));
    }
}
