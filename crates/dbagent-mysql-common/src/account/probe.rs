//! Tries what the account can do beyond reading.
//!
//! Statements that change the schema commit by themselves here, so nothing could be rolled back. But the
//! server checks most rights when a statement is *prepared*: each try is prepared and never executed.

use dbagent_core::account::{Found, Power, PowerKind, Probe, Transport};
use dbagent_core::text::counted;
use sqlx::{AssertSqlSafe, Executor as _, MySqlConnection, Row as _, SqlSafeStr as _};

use crate::ident::Ident;

/// Tables that are tried at most.
const TRIES: i64 = 20;

const WHO: &str = "SELECT CURRENT_USER() AS name, \
     (SELECT p.HOST FROM information_schema.PROCESSLIST p WHERE p.ID = CONNECTION_ID()) AS peer";

const TABLES: &str = "SELECT t.TABLE_SCHEMA AS db, t.TABLE_NAME AS name FROM information_schema.TABLES t \
     WHERE t.TABLE_TYPE = 'BASE TABLE' \
     AND t.TABLE_SCHEMA NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys') \
     AND (? IS NULL OR t.TABLE_SCHEMA = ?) ORDER BY 1, 2 LIMIT ?";

const SCHEMAS: &str = "SELECT s.SCHEMA_NAME AS db FROM information_schema.SCHEMATA s \
     WHERE s.SCHEMA_NAME NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys') \
     AND (? IS NULL OR s.SCHEMA_NAME = ?) ORDER BY 1 LIMIT 1";

/// Rights on the whole server, granted to the account itself. A user's name may hold an `@`.
const GLOBAL: &str = "SELECT p.PRIVILEGE_TYPE AS name FROM information_schema.USER_PRIVILEGES p \
     WHERE p.GRANTEE = CONCAT('''', SUBSTRING_INDEX(CURRENT_USER(), '@', GREATEST(1, LENGTH(CURRENT_USER()) \
        - LENGTH(REPLACE(CURRENT_USER(), '@', '')))), '''@''', SUBSTRING_INDEX(CURRENT_USER(), '@', -1), '''') \
     ORDER BY 1";

/// Rights on the whole server that are of one database at most, or that only read.
const ORDINARY: &[&str] = &[
    "USAGE",
    "SELECT",
    "SHOW VIEW",
    "SHOW DATABASES",
    "SHOW_ROUTINE",
    "INSERT",
    "UPDATE",
    "DELETE",
    "CREATE",
    "DROP",
    "ALTER",
    "INDEX",
    "REFERENCES",
    "CREATE VIEW",
    "CREATE TEMPORARY TABLES",
    "LOCK TABLES",
    "TRIGGER",
    "CREATE ROUTINE",
    "ALTER ROUTINE",
    "EXECUTE",
    "EVENT",
    "FILE",
    "DELETE HISTORY",
];

const ROUTINES: &str = "SELECT COUNT(*) AS routines, MIN(CONCAT(r.ROUTINE_SCHEMA, '.', r.ROUTINE_NAME)) AS one \
     FROM information_schema.ROUTINES r WHERE (r.SQL_DATA_ACCESS = 'MODIFIES SQL DATA' OR r.ROUTINE_TYPE = 'PROCEDURE') \
     AND r.ROUTINE_SCHEMA NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema')";

/// What the server said to a try.
enum Tried {
    Allowed,
    /// It refused for want of a right, in its words.
    Refused(String),
    /// It failed for another reason.
    Failed(String),
}

/// Everything about the account behind a connection, in one database or in all that it sees.
///
/// # Errors
/// What the server says of the questions about the account; a refused try is an answer.
pub(crate) async fn probe(
    connection: &mut MySqlConnection,
    database: Option<&str>,
) -> Result<Probe, sqlx::Error> {
    let row = sqlx::query(WHO).fetch_one(&mut *connection).await?;
    let (account, peer): (String, Option<String>) = (row.try_get("name")?, row.try_get("peer")?);
    let who = Who::ask(connection, &account).await?;
    let transport = transport(connection, peer.as_deref()).await?;
    let powers = vec![
        write_rows(connection, database, &who).await?,
        change_schema(connection, database, &who).await?,
        temporary_tables(connection, database, &who).await?,
        functions(connection).await?,
        server_files(connection, &who).await?,
        administer(&who),
    ];
    Ok(Probe { account: Some(account), transport, powers })
}

/// The account and its rights on the whole server.
struct Who {
    /// As statements for an administrator name it.
    grantee: String,
    global: Vec<String>,
}

impl Who {
    async fn ask(connection: &mut MySqlConnection, account: &str) -> Result<Self, sqlx::Error> {
        let mut global = Vec::new();
        for row in sqlx::query(GLOBAL).fetch_all(connection).await? {
            global.push(row.try_get("name")?);
        }
        // The host is after the last `@`: a user's name may hold one.
        let (user, host) = account.rsplit_once('@').unwrap_or((account, "%"));
        Ok(Self { grantee: format!("{}@{}", Ident(user), Ident(host)), global })
    }

    fn has(&self, right: &str) -> bool {
        self.global.iter().any(|name| name == right)
    }

    /// What takes rights away, where they were given. An account that manages accounts is not mended but
    /// replaced.
    fn without(&self, rights: &[&str], database: &str) -> Vec<String> {
        if self.has("CREATE USER") || self.has("SUPER") {
            return Vec::new();
        }
        let everywhere: Vec<&str> = rights.iter().copied().filter(|right| self.has(right)).collect();
        let revoke = |rights: &[&str], on: String| {
            format!("REVOKE {} ON {on} FROM {}", rights.join(", "), self.grantee)
        };
        if everywhere.is_empty() {
            vec![revoke(rights, format!("{}.*", Ident(database)))]
        } else {
            vec![revoke(&everywhere, "*.*".to_owned())]
        }
    }
}

async fn transport(connection: &mut MySqlConnection, peer: Option<&str>) -> Result<Transport, sqlx::Error> {
    let rows = sqlx::query("SHOW SESSION STATUS WHERE Variable_name IN ('Ssl_cipher', 'Ssl_version')")
        .fetch_all(connection)
        .await?;
    let mut words = Vec::new();
    for row in &rows {
        let word: String = row.try_get(1)?;
        if !word.is_empty() {
            words.push(word);
        }
    }
    if !words.is_empty() {
        words.reverse();
        return Ok(Transport::Encrypted(words.join(" ")));
    }
    let host = peer.map(|peer| peer.rsplit_once(':').map_or(peer, |(host, _)| host));
    Ok(match host {
        Some("localhost" | "127.0.0.1" | "::1" | "[::1]" | "") => Transport::Local,
        _ => Transport::Plain,
    })
}

async fn write_rows(
    connection: &mut MySqlConnection,
    database: Option<&str>,
    who: &Who,
) -> Result<Power, sqlx::Error> {
    let power =
        |found, evidence: String, remedy| Power { kind: PowerKind::WriteRows, found, evidence, remedy };
    let tables =
        sqlx::query(TABLES).bind(database).bind(database).bind(TRIES).fetch_all(&mut *connection).await?;
    let mut refused = None;
    let mut failed = None;
    for table in &tables {
        let (db, name): (String, String) = (table.try_get("db")?, table.try_get("name")?);
        let qualified = format!("{}.{}", Ident(&db), Ident(&name));
        for change in [format!("DELETE FROM {qualified}"), format!("INSERT INTO {qualified} () VALUES ()")] {
            match attempt(connection, &change).await? {
                Tried::Allowed => {
                    return Ok(power(
                        Found::Can,
                        format!("in {db}.{name}, for one"),
                        who.without(&["INSERT", "UPDATE", "DELETE"], &db),
                    ));
                }
                Tried::Refused(words) => refused = Some(words),
                Tried::Failed(words) => failed = Some(words),
            }
        }
    }
    Ok(match (refused, failed) {
        (Some(words), None) => power(
            Found::Cannot,
            format!("tried on {}: {words}", counted(tables.len() as u64, "table", "tables")),
            Vec::new(),
        ),
        (_, Some(words)) => power(Found::Unknown, words, Vec::new()),
        (None, None) => power(Found::Unknown, "there is no table to try it on".to_owned(), Vec::new()),
    })
}

async fn change_schema(
    connection: &mut MySqlConnection,
    database: Option<&str>,
    who: &Who,
) -> Result<Power, sqlx::Error> {
    let try_it = |db: &str| format!("CREATE TABLE {}.dbagent_probe (a INT)", Ident(db));
    in_database(connection, database, PowerKind::ChangeSchema, try_it, |db| {
        who.without(&["CREATE", "ALTER", "DROP", "INDEX", "CREATE VIEW"], db)
    })
    .await
}

async fn temporary_tables(
    connection: &mut MySqlConnection,
    database: Option<&str>,
    who: &Who,
) -> Result<Power, sqlx::Error> {
    let try_it = |db: &str| format!("CREATE TEMPORARY TABLE {}.dbagent_probe (a INT)", Ident(db));
    in_database(connection, database, PowerKind::TemporaryTables, try_it, |db| {
        who.without(&["CREATE TEMPORARY TABLES"], db)
    })
    .await
}

async fn in_database(
    connection: &mut MySqlConnection,
    database: Option<&str>,
    kind: PowerKind,
    statement: impl Fn(&str) -> String,
    remedy: impl Fn(&str) -> Vec<String>,
) -> Result<Power, sqlx::Error> {
    let power = |found, evidence: String, remedy| Power { kind, found, evidence, remedy };
    let row = sqlx::query(SCHEMAS).bind(database).bind(database).fetch_optional(&mut *connection).await?;
    let Some(row) = row else {
        return Ok(power(Found::Unknown, "there is no database to try it in".to_owned(), Vec::new()));
    };
    let db: String = row.try_get("db")?;
    Ok(match attempt(connection, &statement(&db)).await? {
        Tried::Allowed => power(Found::Can, format!("in {db}"), remedy(&db)),
        Tried::Refused(words) => power(Found::Cannot, words, Vec::new()),
        Tried::Failed(words) => power(Found::Unknown, words, Vec::new()),
    })
}

async fn functions(connection: &mut MySqlConnection) -> Result<Power, sqlx::Error> {
    let power =
        |found, evidence: String| Power { kind: PowerKind::Functions, found, evidence, remedy: Vec::new() };
    let row = sqlx::query(ROUTINES).fetch_one(connection).await?;
    let (routines, one): (i64, Option<String>) = (row.try_get("routines")?, row.try_get("one")?);
    // Named locks and sleeping are open to every account, and no right takes them away: only the guard does.
    Ok(match one {
        Some(one) if routines > 0 => power(
            Found::Can,
            format!("it sees {routines} stored routines that may change something, such as {one}"),
        ),
        _ => power(
            Found::Cannot,
            "it sees no stored routine that changes something; GET_LOCK and SLEEP are open to every account"
                .to_owned(),
        ),
    })
}

async fn server_files(connection: &mut MySqlConnection, who: &Who) -> Result<Power, sqlx::Error> {
    let power =
        |found, evidence: String, remedy| Power { kind: PowerKind::ServerFiles, found, evidence, remedy };
    Ok(match attempt(connection, "SELECT 1 INTO OUTFILE 'dbagent_probe'").await? {
        Tried::Allowed => power(
            Found::Can,
            "it has the right FILE; secure_file_priv says where".to_owned(),
            who.without(&["FILE"], ""),
        ),
        Tried::Refused(words) => power(Found::Cannot, words, Vec::new()),
        Tried::Failed(words) => power(Found::Unknown, words, Vec::new()),
    })
}

fn administer(who: &Who) -> Power {
    let power =
        |found, evidence: String, remedy| Power { kind: PowerKind::Administer, found, evidence, remedy };
    let rights: Vec<&str> =
        who.global.iter().map(String::as_str).filter(|right| !ORDINARY.contains(right)).collect();
    let shown = match rights.as_slice() {
        [] => {
            let evidence = "it has no right on the whole server beyond those above".to_owned();
            return power(Found::Cannot, evidence, Vec::new());
        }
        [a, b, c, rest @ ..] if !rest.is_empty() => format!("{a}, {b}, {c} and {} more", rest.len()),
        all => all.join(", "),
    };
    power(Found::Can, format!("it has {shown} on the whole server"), who.without(&rights, ""))
}

/// Prepares a statement and forgets it: the server says whether it would be allowed, and nothing runs.
async fn attempt(connection: &mut MySqlConnection, sql: &str) -> Result<Tried, sqlx::Error> {
    match connection.prepare(AssertSqlSafe(sql).into_sql_str()).await {
        Ok(_) => Ok(Tried::Allowed),
        Err(sqlx::Error::Database(e)) => {
            let number = e
                .try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>()
                .map(sqlx::mysql::MySqlDatabaseError::number);
            let words = format!("{} ({})", e.message(), number.unwrap_or_default());
            Ok(match number {
                Some(DATABASE_DENIED | TABLE_DENIED | COLUMN_DENIED | SPECIFIC_DENIED) => {
                    Tried::Refused(words)
                }
                _ => Tried::Failed(words),
            })
        }
        Err(e) => Err(e),
    }
}

const DATABASE_DENIED: u16 = 1044;
const TABLE_DENIED: u16 = 1142;
const COLUMN_DENIED: u16 = 1143;
const SPECIFIC_DENIED: u16 = 1227;
