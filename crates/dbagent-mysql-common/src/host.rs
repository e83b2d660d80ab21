//! Connections that a host lends from a pool of its own: what they were set to, and how that comes back.

use std::ops::{Deref, DerefMut};

use dbagent_core::{Error, ErrorKind, Result};
use sqlx::mysql::{MySqlArguments, MySqlRow};
use sqlx::pool::PoolConnection;
use sqlx::{
    Arguments as _, AssertSqlSafe, Connection as _, Executor as _, MySql, MySqlConnection, MySqlPool,
    Row as _,
};
use tokio::runtime::Handle;

use crate::connect::{DATABASE, Pinned, WHO, WHO_COLUMNS, made, text};
use crate::error;
use crate::flavor::Server;
use crate::ident::Ident;

/// A connection, and whose it is.
pub(crate) enum Held {
    /// Made for this session.
    Own(MySqlConnection),
    /// Lent by the host's pool.
    Lent(Lent),
}

impl Held {
    /// Whether judged texts may stay prepared here. On a host's connection they may not, and none that the host
    /// has prepared is used: a prepared text goes on in the database, and under the SQL mode, that it was prepared
    /// in.
    pub(crate) fn keeps_statements(&self) -> bool {
        matches!(self, Self::Own(_))
    }

    /// To be called before anything is run that stays prepared and is no judged text. What the host has prepared
    /// is closed first, and what came to it before the host gets the connection back.
    pub(crate) async fn gather(&mut self) -> sqlx::Result<()> {
        if let Self::Lent(lent) = self {
            lent.gathers = true;
            lent.held_mut().clear_cached_statements().await?;
        }
        Ok(())
    }

    /// Closes it without waiting for anything: something may still run on it.
    pub(crate) async fn abandon(self) {
        match self {
            // Told or not, the server sees that it is gone.
            Self::Own(connection) => _ = connection.close_hard().await,
            Self::Lent(lent) => drop(lent),
        }
    }
}

impl Deref for Held {
    type Target = MySqlConnection;

    fn deref(&self) -> &MySqlConnection {
        match self {
            Self::Own(connection) => connection,
            Self::Lent(lent) => lent.held(),
        }
    }
}

impl DerefMut for Held {
    fn deref_mut(&mut self) -> &mut MySqlConnection {
        match self {
            Self::Own(connection) => connection,
            Self::Lent(lent) => lent.held_mut(),
        }
    }
}

/// A connection of the host's pool and what it was set to. Once something was done on it, dropping closes it unless
/// it is given back: the pool must not get it in the middle of something.
pub(crate) struct Lent {
    /// Taken only by dropping.
    connection: Option<PoolConnection<MySql>>,
    before: Vec<Option<String>>,
    /// Whether anything was done on it.
    touched: bool,
    /// The database that it was in, where it was moved into another one.
    moved_from: Option<String>,
    /// Whether statements of ours may stay prepared on it, beside those that set it and put it back.
    gathers: bool,
    server: Server,
    /// The driver's pool needs a runtime for what it does when a connection is dropped.
    runtime: Handle,
}

impl Lent {
    /// Takes a connection of the pool. Whoever stops waiting leaves it to the pool, whole.
    ///
    /// # Errors
    /// What the pool says; `WorkerCrashed` where the driver could not go on.
    pub(crate) async fn borrow(pool: &MySqlPool, server: Server) -> sqlx::Result<Self> {
        let (pool, runtime) = (pool.clone(), Handle::current());
        let lent = async move {
            let connection = Some(pool.acquire().await?);
            Ok(Self {
                connection,
                before: Vec::new(),
                touched: false,
                moved_from: None,
                gathers: false,
                server,
                runtime,
            })
        };
        made(lent, |unwanted| async { drop(unwanted) }).await
    }

    /// Ends what is open on it, looks at what it is set to, and says who it is. `known` is whether an earlier one
    /// was of this server: of another one, nothing but who it is gets asked.
    ///
    /// All that a host can change between two calls is read again, in one statement that is not prepared.
    pub(crate) async fn look(&mut self, known: bool) -> sqlx::Result<MySqlRow> {
        let server = self.server;
        self.touched = true;
        // Another server has other settings.
        if !known {
            let row = self.held_mut().fetch_one("SELECT VERSION()").await?;
            if Server::of_version(&text(&row, 0)?.unwrap_or_default()) != server {
                let who = self.held_mut().fetch_one(WHO).await?;
                // It is as it was, and stays the host's.
                self.touched = false;
                return Ok(who);
            }
        }
        // Before anything is compared: what was open was nobody's, and holds a transaction of ours up. To switch
        // autocommit on, or to begin a transaction, would commit it.
        self.held_mut().execute("ROLLBACK").await?;
        let (row, before, _) = snapshot(self.held_mut(), server).await?;
        self.before = before;
        Ok(row)
    }

    /// Sets it to what connections of our own are set to, and moves it into the database that the session's names
    /// are in.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] when the session is in no database and this connection in one: there is no way out of
    /// it.
    pub(crate) async fn harden(&mut self, pinned: &Pinned, longest: u64, limit: u64) -> Result<()> {
        let failed = |e| error::translate(e, None).op("open");
        let now = database(&self.before);
        if pinned.database.is_none() && now.is_some() {
            return Err(Error::new(
                ErrorKind::Config,
                "a connection of the host's pool is in a database, and the first one was in none",
            )
            .op("open")
            .hint("give the pool's options a database, and let nobody change it by USE"));
        }
        let set = sqlx::query(ours(self.server)).bind(&pinned.sql_mode).bind(longest).bind(limit);
        set.execute(self.held_mut()).await.map_err(failed)?;
        if let Some(database) = pinned.database.as_deref().filter(|name| now.as_deref() != Some(name)) {
            // Who was in none cannot be put back there.
            self.moved_from = Some(now.unwrap_or_default());
            let go = format!("USE {}", Ident(database));
            self.held_mut().execute(AssertSqlSafe(go)).await.map_err(failed)?;
        }
        Ok(())
    }

    /// Puts back what was changed and gives the connection back, or closes it where that cannot be done, or where
    /// a statement left something else that the server tells.
    pub(crate) async fn give_back(mut self) {
        let (server, before) = (self.server, std::mem::take(&mut self.before));
        let restored = async {
            match self.moved_from.take().as_deref() {
                None => {}
                Some("") => return Ok(false),
                Some(name) => {
                    let go = format!("USE {}", Ident(name));
                    self.held_mut().execute(AssertSqlSafe(go)).await?;
                }
            }
            restore(self.held_mut(), server, &before).await?;
            let (_, now, locks) = snapshot(self.held_mut(), server).await?;
            if self.gathers {
                self.held_mut().clear_cached_statements().await?;
            }
            Ok::<_, sqlx::Error>(now == before && locks.as_deref() == Some("0"))
        };
        if matches!(restored.await, Ok(true))
            && let Some(connection) = self.connection.take()
        {
            let _entered = self.runtime.enter();
            drop(connection);
        }
    }

    #[expect(clippy::expect_used, reason = "only dropping takes it, and nothing is asked of it after that")]
    fn held(&self) -> &MySqlConnection {
        self.connection.as_deref().expect("a lent connection is held until it is dropped")
    }

    #[expect(clippy::expect_used, reason = "only dropping takes it, and nothing is asked of it after that")]
    fn held_mut(&mut self) -> &mut MySqlConnection {
        self.connection.as_deref_mut().expect("a lent connection is held until it is dropped")
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(mut connection) = self.connection.take() {
            let _entered = self.runtime.enter();
            if self.touched {
                connection.close_on_drop();
            }
        }
    }
}

/// Everything that a connection of our own is set to when it is made and when a call begins: what decides what a
/// text means and how values come, that every transaction is read-only, and how long a statement may run. The
/// parameters are the SQL mode, the length of a GROUP_CONCAT and the time limit. It stays prepared: no name in it
/// is of a database, and no word of it means another thing in another mode.
const fn ours(server: Server) -> &'static str {
    match server {
        Server::MySql => {
            "SET SESSION character_set_client = 'utf8mb4', character_set_results = 'utf8mb4', \
             character_set_connection = 'utf8mb4', time_zone = '+00:00', autocommit = 1, \
             sql_select_limit = DEFAULT, transaction_read_only = 1, information_schema_stats_expiry = 0, \
             sql_mode = ?, group_concat_max_len = ?, max_execution_time = ?"
        }
        Server::MariaDb => {
            "SET SESSION character_set_client = 'utf8mb4', character_set_results = 'utf8mb4', \
             character_set_connection = 'utf8mb4', time_zone = '+00:00', autocommit = 1, \
             sql_select_limit = DEFAULT, tx_read_only = 1, \
             sql_mode = ?, group_concat_max_len = ?, max_statement_time = ?"
        }
    }
}

/// How a setting is given back to the server.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    Whole,
    /// `ON` and `OFF`, or 1 and 0.
    Switch,
    Seconds,
}

/// What is changed on a connection of the host, in the order in which it is put back: the character sets last,
/// since texts are sent in them.
const fn settings(server: Server) -> &'static [(&'static str, Kind)] {
    match server {
        Server::MySql => &[
            ("sql_mode", Kind::Text),
            ("group_concat_max_len", Kind::Whole),
            ("information_schema_stats_expiry", Kind::Whole),
            ("max_execution_time", Kind::Whole),
            ("transaction_read_only", Kind::Switch),
            ("autocommit", Kind::Switch),
            ("sql_select_limit", Kind::Whole),
            ("time_zone", Kind::Text),
            ("character_set_connection", Kind::Text),
            ("collation_connection", Kind::Text),
            ("character_set_results", Kind::Text),
            ("character_set_client", Kind::Text),
        ],
        Server::MariaDb => &[
            ("sql_mode", Kind::Text),
            ("group_concat_max_len", Kind::Whole),
            ("max_statement_time", Kind::Seconds),
            ("tx_read_only", Kind::Switch),
            ("autocommit", Kind::Switch),
            ("sql_select_limit", Kind::Whole),
            ("time_zone", Kind::Text),
            ("character_set_connection", Kind::Text),
            ("collation_connection", Kind::Text),
            ("character_set_results", Kind::Text),
            ("character_set_client", Kind::Text),
        ],
    }
}

/// What is compared beside the settings: a statement could have changed it, and nothing of ours does.
const fn compared(server: Server) -> &'static [&'static str] {
    match server {
        Server::MySql => &["transaction_isolation", "lc_time_names", "foreign_key_checks"],
        Server::MariaDb => &["tx_isolation", "lc_time_names", "foreign_key_checks"],
    }
}

/// Who the connection is; the settings as texts, what else is compared, and last the name of the database; and how
/// many locks were let go. Names of people are in hexadecimal digits: whatever the connection's character set,
/// these arrive as they are.
async fn snapshot(
    connection: &mut MySqlConnection,
    server: Server,
) -> sqlx::Result<(MySqlRow, Vec<Option<String>>, Option<String>)> {
    let names = settings(server).iter().map(|(name, _)| name).chain(compared(server));
    let mut columns = vec![WHO.to_owned()];
    columns.extend(names.map(|name| format!("CONCAT(@@SESSION.{name})")));
    columns.push("HEX(CONVERT(CURRENT_ROLE() USING utf8mb4))".to_owned());
    columns.push(DATABASE.to_owned());
    columns.push("CONCAT(RELEASE_ALL_LOCKS())".to_owned());
    // Nothing but names of this file. It is not prepared: it would go on in the database that the connection was
    // in when it was.
    let sql = columns.join(", ");
    let row = connection.fetch_one(AssertSqlSafe(sql)).await?;
    let mut values =
        (WHO_COLUMNS..row.len()).map(|index| text(&row, index)).collect::<Result<Vec<_>, _>>()?;
    let locks = values.pop().flatten();
    Ok((row, values, locks))
}

/// The database in a snapshot.
fn database(snapshot: &[Option<String>]) -> Option<String> {
    from_hex(snapshot.last()?.as_deref()?)
}

async fn restore(
    connection: &mut MySqlConnection,
    server: Server,
    before: &[Option<String>],
) -> sqlx::Result<()> {
    let mut arguments = MySqlArguments::default();
    let mut changes = Vec::new();
    for ((name, kind), value) in settings(server).iter().zip(before) {
        let value = value.as_deref();
        let number = || value.unwrap_or_default();
        let added = match kind {
            Kind::Text => arguments.add(value),
            Kind::Switch => arguments.add(u64::from(matches!(value, Some("ON" | "1")))),
            Kind::Whole => number().parse::<u64>().map_err(Into::into).and_then(|n| arguments.add(n)),
            Kind::Seconds => number().parse::<f64>().map_err(Into::into).and_then(|x| arguments.add(x)),
        };
        added.map_err(sqlx::Error::Encode)?;
        changes.push(format!("{name} = ?"));
    }
    // Nothing but names of this file.
    let sql = format!("SET SESSION {}", changes.join(", "));
    sqlx::query_with(AssertSqlSafe(sql), arguments).execute(connection).await.map(drop)
}

/// A text by the hexadecimal digits of its bytes.
pub(crate) fn from_hex(digits: &str) -> Option<String> {
    let pairs = digits
        .as_bytes()
        .chunks(2)
        .map(|pair| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok()));
    String::from_utf8(pairs.collect::<Option<Vec<u8>>>()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_from_their_digits() {
        assert_eq!(from_hex("73686F70").as_deref(), Some("shop"));
        assert_eq!(from_hex("E697A5").as_deref(), Some("日"));
        assert_eq!((from_hex("F"), from_hex("XY"), from_hex("FF")), (from_hex("0f"), None, None));
    }
}
