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
        assert!(SCHEMA.is_sorted());
        assert!(secret(&ObjectName::new("user")).is_none());
    }
}
