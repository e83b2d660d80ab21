//! Everything that a statement could change on a server, as text.

use std::collections::BTreeMap;
use std::path::Path;

use dbagent_mysql_common::sqlx;

use super::server::Side;
use crate::KIT;

/// The state, by parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State(pub(crate) BTreeMap<String, Vec<String>>);

/// Settings that change by themselves, or that tell the time.
const RESTLESS: [&str; 16] = [
    "aria_sync_log_dir",
    "binlog_snapshot_position",
    "gtid_binlog_pos",
    "gtid_current_pos",
    "gtid_executed",
    "innodb_buffer_pool_dump_now",
    "innodb_redo_log_capacity",
    "innodb_thread_sleep",
    "innodb_undo_tablespaces",
    "insert_id",
    "last_insert_id",
    "pseudo_thread_id",
    "rand_seed1",
    "rand_seed2",
    "timestamp",
    "tls_session_cache_timeout",
];

impl State {
    /// The state of the whole server, rows those of one database.
    pub(crate) async fn of(side: &mut Side, database: &str) -> sqlx::Result<Self> {
        let mut parts: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (part, question) in questions(database) {
            let mut lines = match side.lines(&question).await {
                Ok(lines) => lines,
                // A table that was dropped has no rows, and one that is locked says so.
                Err(sqlx::Error::Database(e)) => vec![e.message().to_owned()],
                Err(e) => return Err(e),
            };
            if part == "settings" {
                lines.retain(|l| !RESTLESS.iter().any(|r| l.starts_with(&format!("{r}|"))));
            }
            lines.sort();
            parts.insert(part.to_owned(), lines);
        }
        let folder = side.lines("SELECT @@datadir").await?.concat();
        parts.insert("files".to_owned(), files(Path::new(&folder), database));
        Ok(Self(parts))
    }

    /// The parts that are different, and what is in one and not in the other.
    pub(crate) fn differs_from(&self, before: &Self) -> String {
        let mut out = Vec::new();
        for (part, now) in &self.0 {
            let was = before.0.get(part).cloned().unwrap_or_default();
            let new = now.iter().filter(|l| !was.contains(l)).map(|l| format!("+{l}"));
            let gone = was.iter().filter(|l| !now.contains(l)).map(|l| format!("-{l}"));
            let lines: Vec<String> = new.chain(gone).take(3).map(|l| l.chars().take(120).collect()).collect();
            if !lines.is_empty() {
                out.push(format!("{part}: {}", lines.join(" ")));
            }
        }
        out.join("; ")
    }

    /// Statements that take back what can be taken back outside of the scratch database.
    pub(crate) fn undo(&self, before: &Self) -> Vec<String> {
        let lines = |state: &Self, part: &str| state.0.get(part).cloned().unwrap_or_default();
        let mut out = vec!["UNLOCK TABLES".to_owned()];
        let own: &[&str] = match KIT.id {
            "mysql" => &["UNLOCK INSTANCE", "STOP REPLICA", "RESET REPLICA ALL", "RESET PERSIST"],
            _ => &["BACKUP STAGE END", "STOP SLAVE", "RESET SLAVE ALL"],
        };
        out.extend(own.iter().map(|s| (*s).to_owned()));
        let was = lines(before, "settings");
        for line in lines(self, "settings").iter().filter(|l| !was.contains(l)) {
            let name = line.split('|').next().unwrap_or_default();
            if let Some((_, value)) = was.iter().filter_map(|l| l.split_once('|')).find(|(n, _)| *n == name) {
                let number = value.parse::<i64>().is_ok();
                let value = if number { value.to_owned() } else { format!("'{value}'") };
                out.push(format!("SET GLOBAL {name} = {value}"));
            }
        }
        let was = lines(before, "accounts");
        for line in lines(self, "accounts").iter().filter(|l| !was.contains(l)) {
            let mut parts = line.split('|');
            let (user, host) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            if !was.iter().any(|l| l.starts_with(&format!("{user}|{host}|"))) {
                out.push(format!("DROP USER IF EXISTS '{user}'@'{host}'"));
                out.push(format!("DROP ROLE IF EXISTS '{user}'"));
            }
        }
        let was = lines(before, "databases");
        for line in lines(self, "databases").iter().filter(|l| !was.contains(l)) {
            out.push(format!("DROP DATABASE IF EXISTS `{}`", line.split('|').next().unwrap_or_default()));
        }
        out
    }
}

fn questions(database: &str) -> Vec<(&'static str, String)> {
    let own = "('information_schema', 'performance_schema', 'sys', 'mysql')";
    let mut all = vec![
        ("databases", "SELECT * FROM information_schema.SCHEMATA".to_owned()),
        (
            "tables",
            format!(
                "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE, TABLE_COLLATION, CREATE_OPTIONS, TABLE_COMMENT \
                 FROM information_schema.TABLES WHERE TABLE_SCHEMA NOT IN {own}"
            ),
        ),
        (
            "columns",
            format!(
                "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, COLUMN_DEFAULT, EXTRA \
                 FROM information_schema.COLUMNS WHERE TABLE_SCHEMA NOT IN {own}"
            ),
        ),
        (
            "indexes",
            format!(
                "SELECT TABLE_NAME, INDEX_NAME, COLUMN_NAME FROM information_schema.STATISTICS \
                 WHERE TABLE_SCHEMA NOT IN {own}"
            ),
        ),
        ("partitions", format!(
            "SELECT TABLE_NAME, PARTITION_NAME FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = '{database}'"
        )),
        ("routines", "SELECT ROUTINE_SCHEMA, ROUTINE_NAME, ROUTINE_TYPE, LAST_ALTERED FROM information_schema.ROUTINES".to_owned()),
        ("triggers", "SELECT TRIGGER_SCHEMA, TRIGGER_NAME FROM information_schema.TRIGGERS".to_owned()),
        ("events", "SELECT EVENT_SCHEMA, EVENT_NAME, STATUS FROM information_schema.EVENTS".to_owned()),
        ("views", format!("SELECT TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA = '{database}'")),
        ("plugins", "SELECT PLUGIN_NAME, PLUGIN_STATUS FROM information_schema.PLUGINS".to_owned()),
        ("settings", "SHOW GLOBAL VARIABLES".to_owned()),
        ("grants", "SELECT GRANTEE, PRIVILEGE_TYPE FROM information_schema.USER_PRIVILEGES".to_owned()),
        ("loadable", "SELECT * FROM mysql.func".to_owned()),
        ("servers", "SELECT * FROM mysql.servers".to_owned()),
        ("statistics", format!("SELECT * FROM mysql.innodb_table_stats WHERE database_name = '{database}' AND 1 = 0")),
        ("locks", "SELECT IS_USED_LOCK('a') IS NOT NULL, IS_FREE_LOCK('b') IS NOT NULL".to_owned()),
    ];
    // Says so where somebody locked it.
    all.push(("writable", format!("UPDATE `{database}`.users SET id = id WHERE 1 = 0")));
    for table in ["users", "orders", "logs", "places", "named"] {
        all.push((table, format!("SELECT * FROM `{database}`.`{table}`")));
    }
    if KIT.id == "mysql" {
        all.push((
            "accounts",
            "SELECT User, Host, HEX(authentication_string), account_locked FROM mysql.user".to_owned(),
        ));
        all.push(("roles", "SELECT * FROM mysql.default_roles".to_owned()));
        all.push(("components", "SELECT * FROM mysql.component".to_owned()));
        all.push((
            "reference systems",
            "SELECT COUNT(*) FROM information_schema.ST_SPATIAL_REFERENCE_SYSTEMS".to_owned(),
        ));
        all.push((
            "replication",
            "SELECT HOST, PORT FROM performance_schema.replication_connection_configuration".to_owned(),
        ));
        all.push(("table spaces", "SELECT NAME FROM information_schema.INNODB_TABLESPACES".to_owned()));
        all.push(("groups", "SELECT RESOURCE_GROUP_NAME FROM information_schema.RESOURCE_GROUPS".to_owned()));
        all.push(("waiting", "SELECT OBJECT_TYPE, OBJECT_NAME, LOCK_TYPE FROM performance_schema.metadata_locks \
                   WHERE OBJECT_TYPE IN ('USER LEVEL LOCK', 'BACKUP LOCK', 'GLOBAL') AND LOCK_DURATION = 'EXPLICIT'".to_owned()));
        all.push(("persisted", "SELECT * FROM performance_schema.persisted_variables".to_owned()));
        all.push((
            "transactions",
            "SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE TRX_ROWS_LOCKED > 0".to_owned(),
        ));
    } else {
        all.push(("accounts", "SELECT User, Host, Priv FROM mysql.global_priv".to_owned()));
        all.push(("roles", "SELECT * FROM mysql.roles_mapping".to_owned()));
        // Nobody lists these locks: they show where somebody else wants them.
        all.push(("backup", "BACKUP STAGE START".to_owned()));
        all.push(("end of backup", "BACKUP STAGE END".to_owned()));
        all.push(("alterable", format!("ALTER TABLE `{database}`.users ENABLE KEYS")));
        all.push(("sequence", format!("SELECT next_not_cached_value FROM `{database}`.s")));
        all.push(("history", format!("SELECT COUNT(*) FROM `{database}`.users FOR SYSTEM_TIME ALL")));
        all.push((
            "transactions",
            "SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE TRX_ROWS_LOCKED > 0".to_owned(),
        ));
    }
    all
}

/// The names of the files of the server and of the scratch database, without those that come and go.
fn files(folder: &Path, database: &str) -> Vec<String> {
    let mut names = Vec::new();
    for inside in [folder.to_owned(), folder.join(database)] {
        let Ok(entries) = std::fs::read_dir(&inside) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let restless = ["#", "ib", "aria_log", "undo", "binlog", "ddl", "tc.log", "mysqld"];
            if !restless.iter().any(|r| name.starts_with(r)) {
                names.push(format!("{}/{name}", inside.file_name().unwrap_or_default().to_string_lossy()));
            }
        }
    }
    names.sort();
    names
}
