//! A fingerprint of everything that a statement could change: rows, catalogue, sequences, large objects,
//! locks, settings of the server, files.

use dbagent_postgres::sqlx::{self, AssertSqlSafe, PgConnection, Row as _};

/// What is not a table of this database, by name.
const OTHERS: &[(&str, &str)] = &[
    (
        "storage",
        "SELECT string_agg(concat_ws(' ', oid, relname, relfilenode, relkind, relpersistence), ';' ORDER BY oid)
         FROM pg_class WHERE oid >= 16384",
    ),
    ("statistics", "SELECT count(*)::text || ' ' || coalesce(max(xmin::text::bigint), 0) FROM pg_statistic WHERE starelid >= 16384"),
    ("large objects", "SELECT md5(string_agg(l::text, ';' ORDER BY loid, pageno)) FROM pg_largeobject AS l"),
    (
        "accounts",
        "SELECT md5(string_agg(a::text, ';' ORDER BY oid)) FROM pg_authid AS a WHERE rolname !~ '^(guard|dbagent)_'",
    ),
    ("memberships", "SELECT md5(string_agg(m::text, ';' ORDER BY m::text)) FROM pg_auth_members AS m"),
    (
        "databases",
        "SELECT string_agg(datname, ' ' ORDER BY datname) FROM pg_database WHERE datname !~ '^(guard|dbagent)_'",
    ),
    ("settings of accounts", "SELECT md5(string_agg(s::text, ';' ORDER BY s::text)) FROM pg_db_role_setting AS s"),
    ("tablespaces", "SELECT string_agg(spcname, ' ' ORDER BY oid) FROM pg_tablespace"),
    ("settings of the server", "SELECT md5(pg_read_file('postgresql.auto.conf'))"),
    ("when settings were loaded", "SELECT pg_conf_load_time()::text"),
    ("replication", "SELECT (SELECT count(*) FROM pg_replication_slots) || ' ' || (SELECT count(*) FROM pg_replication_origin)"),
    ("prepared transactions", "SELECT count(*)::text FROM pg_prepared_xacts"),
    (
        "locks",
        "SELECT string_agg(locktype || ' ' || mode, ';' ORDER BY locktype, mode) FROM pg_locks
         WHERE pid <> pg_backend_pid() AND (locktype = 'advisory' OR mode ~ 'Exclusive')
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
    ),
    ("statistics of use", "SELECT stats_reset::text FROM pg_stat_database WHERE datname = current_database()"),
    (
        "files",
        "SELECT string_agg(d || '/' || f, ' ' ORDER BY d, f)
         FROM unnest(ARRAY['.', 'global', 'pg_replslot', 'pg_snapshots', 'pg_twophase', 'pg_logical/snapshots', 'pg_tblspc']) AS d,
              pg_ls_dir(d) AS f WHERE f !~ '^pg_internal|^current_logfiles|\\.tmp'",
    ),
];

/// The state as the owner sees it, each part with a name.
pub(crate) async fn fingerprint(owner: &mut PgConnection) -> Result<Vec<(String, String)>, sqlx::Error> {
    // A row that was written has another transaction and another place.
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT c.oid::regclass::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace
         WHERE relkind IN ('r', 'm') AND NOT relisshared AND relispopulated AND nspname <> 'pg_toast'
           AND relpersistence <> 't' AND c.oid NOT IN ('pg_statistic'::regclass, 'pg_largeobject'::regclass)
           AND nspname <> 'information_schema'
         ORDER BY 1",
    )
    .fetch_all(&mut *owner)
    .await?;
    let one = |table: &String| {
        format!(
            "SELECT '{table}'::text AS part, count(*) || ' ' || coalesce(sum(xmin::text::bigint), 0) || ' ' ||
             coalesce(sum(hashtext(ctid::text)::bigint), 0) AS state FROM {table}"
        )
    };
    let mut parts = vec![tables.iter().map(one).collect::<Vec<_>>().join(" UNION ALL ")];
    let sequences: Vec<String> =
        sqlx::query_scalar("SELECT oid::regclass::text FROM pg_class WHERE relkind = 'S' ORDER BY 1")
            .fetch_all(&mut *owner)
            .await?;
    parts.extend(
        sequences.iter().map(|s| format!("SELECT '{s}'::text, last_value || ' ' || is_called FROM {s}")),
    );
    parts.extend(OTHERS.iter().map(|(name, sql)| format!("SELECT '{name}'::text, ({sql})::text")));
    // The same text again is planned already.
    let rows = sqlx::query(AssertSqlSafe(parts.join(" UNION ALL "))).fetch_all(owner).await?;
    Ok(rows.iter().map(|r| (r.get(0), r.get::<Option<String>, _>(1).unwrap_or_default())).collect())
}

/// The parts that differ.
pub(crate) fn changed(before: &[(String, String)], now: &[(String, String)]) -> Vec<String> {
    let mut names: Vec<String> = before
        .iter()
        .filter(|part| !now.contains(part))
        .chain(now.iter().filter(|part| !before.contains(part)))
        .map(|(name, _)| name.clone())
        .collect();
    names.sort();
    names.dedup();
    names
}
