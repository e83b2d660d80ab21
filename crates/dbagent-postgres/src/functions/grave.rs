//! Postgres' own functions that do more than read, by what they do.

use dbagent_core::Effects;

use super::Known;

/// Change settings, transaction, seeds or open descriptors of the session, or hold a snapshot open.
const SESSION: &[&str] = &[
    "lo_close",
    "lo_lseek",
    "lo_lseek64",
    "lo_open",
    "lo_tell",
    "lo_tell64",
    "loread",
    "pg_export_snapshot",
    "pg_replication_origin_session_reset",
    "pg_replication_origin_session_setup",
    "pg_replication_origin_xact_reset",
    "pg_replication_origin_xact_setup",
    "pg_stat_clear_snapshot",
    "pg_stat_force_next_flush",
    "set_config",
    "setseed",
];
/// Take or give back locks that others wait for. A lock of a session outlives its transaction.
const LOCK: &[&str] = &[
    "pg_advisory_lock",
    "pg_advisory_lock_shared",
    "pg_advisory_unlock",
    "pg_advisory_unlock_all",
    "pg_advisory_unlock_shared",
    "pg_advisory_xact_lock",
    "pg_advisory_xact_lock_shared",
    "pg_try_advisory_lock",
    "pg_try_advisory_lock_shared",
    "pg_try_advisory_xact_lock",
    "pg_try_advisory_xact_lock_shared",
];
/// Write rows, sequences, large objects, statistics, the log, or take a transaction id. Much of this runs in
/// a read-only transaction.
const WRITE: &[&str] = &[
    "brin_desummarize_range",
    "brin_summarize_new_values",
    "brin_summarize_range",
    "gin_clean_pending_list",
    "lo_creat",
    "lo_create",
    "lo_from_bytea",
    "lo_put",
    "lo_truncate",
    "lo_truncate64",
    "lo_unlink",
    "lowrite",
    "nextval",
    "pg_clear_attribute_stats",
    "pg_clear_relation_stats",
    "pg_create_restore_point",
    "pg_current_xact_id",
    "pg_extension_config_dump",
    "pg_log_standby_snapshot",
    "pg_logical_emit_message",
    "pg_nextoid",
    "pg_restore_attribute_stats",
    "pg_restore_relation_stats",
    "pg_stat_reset",
    "pg_stat_reset_backend_stats",
    "pg_stat_reset_replication_slot",
    "pg_stat_reset_shared",
    "pg_stat_reset_single_function_counters",
    "pg_stat_reset_single_table_counters",
    "pg_stat_reset_slru",
    "pg_stat_reset_subscription_stats",
    "pg_switch_wal",
    "setval",
    "txid_current",
];
/// Write the catalogue.
const SCHEMA: &[&str] = &[
    "binary_upgrade_add_sub_rel_state",
    "binary_upgrade_create_empty_extension",
    "binary_upgrade_logical_slot_has_caught_up",
    "binary_upgrade_replorigin_advance",
    "binary_upgrade_set_missing_value",
    "binary_upgrade_set_next_array_pg_type_oid",
    "binary_upgrade_set_next_heap_pg_class_oid",
    "binary_upgrade_set_next_heap_relfilenode",
    "binary_upgrade_set_next_index_pg_class_oid",
    "binary_upgrade_set_next_index_relfilenode",
    "binary_upgrade_set_next_multirange_array_pg_type_oid",
    "binary_upgrade_set_next_multirange_pg_type_oid",
    "binary_upgrade_set_next_pg_authid_oid",
    "binary_upgrade_set_next_pg_enum_oid",
    "binary_upgrade_set_next_pg_tablespace_oid",
    "binary_upgrade_set_next_pg_type_oid",
    "binary_upgrade_set_next_toast_pg_class_oid",
    "binary_upgrade_set_next_toast_pg_type_oid",
    "binary_upgrade_set_next_toast_relfilenode",
    "binary_upgrade_set_record_init_privs",
    "pg_import_system_collations",
    "pg_stop_making_pinned_objects",
];
/// Read or write files of the server, or load a library.
const FILES: &[&str] = &[
    "fmgr_c_validator",
    "fmgr_internal_validator",
    "fmgr_sql_validator",
    "lo_export",
    "lo_import",
    "pg_available_wal_summaries",
    "pg_current_logfile",
    "pg_ls_archive_statusdir",
    "pg_ls_dir",
    "pg_ls_logdir",
    "pg_ls_logicalmapdir",
    "pg_ls_logicalsnapdir",
    "pg_ls_replslotdir",
    "pg_ls_summariesdir",
    "pg_ls_tmpdir",
    "pg_ls_waldir",
    "pg_read_binary_file",
    "pg_read_file",
    "pg_read_file_old",
    "pg_rotate_logfile",
    "pg_rotate_logfile_old",
    "pg_stat_file",
    "pg_wal_summary_contents",
    "plpgsql_validator",
];
/// Reach other sessions or show their statements, the server as a whole, its backups and its replication.
const SERVER: &[&str] = &[
    "pg_backup_start",
    "pg_backup_stop",
    "pg_cancel_backend",
    "pg_copy_logical_replication_slot",
    "pg_copy_physical_replication_slot",
    "pg_create_logical_replication_slot",
    "pg_create_physical_replication_slot",
    "pg_drop_replication_slot",
    "pg_log_backend_memory_contexts",
    "pg_logical_slot_get_binary_changes",
    "pg_logical_slot_get_changes",
    "pg_logical_slot_peek_binary_changes",
    "pg_logical_slot_peek_changes",
    "pg_notify",
    "pg_promote",
    "pg_reload_conf",
    "pg_replication_origin_advance",
    "pg_replication_origin_create",
    "pg_replication_origin_drop",
    "pg_replication_slot_advance",
    "pg_start_backup",
    "pg_stat_get_activity",
    "pg_stat_get_backend_activity",
    "pg_stop_backup",
    "pg_sync_replication_slots",
    "pg_terminate_backend",
    "pg_wal_replay_pause",
    "pg_wal_replay_resume",
];
/// Run a statement, or the input function of a type, that only the data name. What they do cannot be told.
const TEXT: &[&str] = &[
    "array_in",
    "currtid",
    "currtid2",
    "cursor_to_xml",
    "cursor_to_xmlschema",
    "database_to_xml",
    "database_to_xml_and_xmlschema",
    "database_to_xmlschema",
    "domain_in",
    "enum_in",
    "multirange_in",
    "pg_input_error_info",
    "pg_input_is_valid",
    "query_to_xml",
    "query_to_xml_and_xmlschema",
    "query_to_xmlschema",
    "range_in",
    "record_in",
    "schema_to_xml",
    "schema_to_xml_and_xmlschema",
    "schema_to_xmlschema",
    "table_to_xml",
    "table_to_xml_and_xmlschema",
    "table_to_xmlschema",
    "ts_rewrite",
    "ts_stat",
];
/// Hold a connection for as long as an argument says.
const SLEEP: &[&str] = &["pg_sleep", "pg_sleep_for", "pg_sleep_until"];
/// Read a large object, which has no name that a rule could allow or deny.
const LARGE_OBJECTS: &[&str] = &["lo_get"];
/// Show the server's configuration files, which say who may log in from where.
const CONFIGURATION: &[&str] = &["pg_hba_file_rules", "pg_ident_file_mappings", "pg_show_all_file_settings"];

/// Everything but reading, for what cannot be told.
const ANYTHING: Effects =
    Effects::WRITE.union(Effects::LOCK).union(Effects::SESSION).union(Effects::SERVER_IO);

/// The lists that no choice allows.
const GROUPS: &[(&[&str], Effects)] = &[
    (SESSION, Effects::SESSION),
    (LOCK, Effects::LOCK),
    (WRITE, Effects::WRITE),
    (SCHEMA, Effects::SCHEMA),
    (FILES, Effects::SERVER_IO),
    (SERVER, Effects::SERVER_IO),
    (TEXT, ANYTHING),
];
/// The lists that a choice of policy allows.
const CHOICES: &[(&[&str], &str)] =
    &[(SLEEP, "sleep"), (LARGE_OBJECTS, "large_objects"), (CONFIGURATION, "secret_catalog")];

/// What a function of that name does, if it is one of these.
pub(super) fn of(name: &str) -> Option<Known> {
    let grave = GROUPS.iter().filter(|(names, _)| names.binary_search(&name).is_ok());
    let effects = grave.fold(Effects::NONE, |all, (_, effects)| all | *effects);
    if !effects.is_empty() {
        return Some(Known { effects, choice: None });
    }
    let choice = CHOICES.iter().find(|(names, _)| names.binary_search(&name).is_ok());
    choice.map(|(_, choice)| Known { effects: Effects::READ, choice: Some(choice) })
}

/// All of their names.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let grave = GROUPS.iter().map(|(names, _)| names);
    grave.chain(CHOICES.iter().map(|(names, _)| names)).flat_map(|names| names.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted() {
        for names in GROUPS.iter().map(|g| g.0).chain(CHOICES.iter().map(|c| c.0)) {
            assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
        }
    }
}
