//! Connections that a host lends from a pool of its own: what they were set to, and how that comes back.

use std::ops::{Deref, DerefMut};

use dbagent_core::{Error, ErrorKind, Result};
use sqlx::mysql::MySqlArguments;
use sqlx::pool::PoolConnection;
use sqlx::{
    Arguments as _, AssertSqlSafe, Connection as _, Executor as _, MySql, MySqlConnection, MySqlPool,
};
use tokio::runtime::Handle;

use crate::connect::text;
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

/// A connection of the host's pool and what it was set to. Unless it is given back, dropping closes it: the pool
/// must not get it in the middle of something.
pub(crate) struct Lent {
    /// Taken only by dropping.
    connection: Option<PoolConnection<MySql>>,
    before: Vec<Option<String>>,
    /// Whether it was moved into another database.
    moved: bool,
    server: Server,
    /// The driver's pool needs a runtime for what it does when a connection is dropped.
    runtime: Handle,
}

impl Lent {
    /// Takes a connection of the pool, with nothing open on it, speaking UTF-8, and remembers what it was. `known`
    /// is whether an earlier one was of this server.
    ///
    /// # Errors
    /// [`ErrorKind::TooManyConnections`] when the pool has none in its own time; what the server says.
    pub(crate) async fn borrow(pool: &MySqlPool, server: Server, known: bool) -> Result<Self> {
        let failed = |e| error::translate(e, None).op("open");
        let connection = pool.acquire().await.map_err(failed)?;
        let runtime = Handle::current();
        let mut lent =
            Self { connection: Some(connection), before: Vec::new(), moved: false, server, runtime };
        // Another server has other settings. Whoever hardens the connection says so.
        if !known && Server::of_version(&version(lent.held_mut()).await.map_err(failed)?) != server {
            return Ok(lent);
        }
        // Before anything is compared: what was open was nobody's, and holds a transaction of ours up.
        lent.held_mut().execute("ROLLBACK").await.map_err(failed)?;
        lent.before = snapshot(lent.held_mut(), server).await.map_err(failed)?;
        lent.held_mut().execute(OURS).await.map_err(failed)?;
        // A text that the host has prepared would go on in the database, and under the SQL mode, that it was
        // prepared in: what was judged is not what it means there.
        lent.held_mut().clear_cached_statements().await.map_err(failed)?;
        Ok(lent)
    }

    /// Moves it into the database that the session's names are in.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] when the session is in none and this connection in one: there is no way out of it.
    pub(crate) async fn move_to(&mut self, pinned: Option<&str>, now: Option<&str>) -> Result<()> {
        if pinned == now {
            return Ok(());
        }
        let Some(database) = pinned else {
            return Err(Error::new(
                ErrorKind::Config,
                "a connection of the host's pool is in a database, and the first one was in none",
            )
            .op("open")
            .hint("give the pool's options a database, and let nobody change it by USE"));
        };
        self.moved = true;
        let go = format!("USE {}", Ident(database));
        let went = self.held_mut().execute(AssertSqlSafe(go)).await;
        went.map(drop).map_err(|e| error::translate(e, None).op("open"))
    }

    /// Puts back what was changed and gives the connection back, or closes it where that cannot be done.
    pub(crate) async fn give_back(mut self) {
        let (server, before) = (self.server, std::mem::take(&mut self.before));
        // Names of databases are remembered by their bytes; who was in none cannot be put back there.
        let restored = async {
            if self.moved {
                let Some(Some(name)) = before.last() else { return Ok(false) };
                let Some(name) = from_hex(name) else { return Ok(false) };
                let go = format!("USE {}", Ident(&name));
                self.held_mut().execute(AssertSqlSafe(go)).await?;
            }
            restore(self.held_mut(), server, &before).await?;
            Ok::<_, sqlx::Error>(snapshot(self.held_mut(), server).await? == before)
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
            connection.close_on_drop();
        }
    }
}

/// What decides what a text means and how values come, as on connections of our own. The rest is pinned by what
/// hardens every connection.
const OURS: &str = "SET SESSION character_set_client = 'utf8mb4', character_set_results = 'utf8mb4', \
                    character_set_connection = 'utf8mb4', time_zone = '+00:00', autocommit = 1, \
                    sql_select_limit = DEFAULT";

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

/// The settings as texts, and last the name of the database in hexadecimal digits: whatever the connection's
/// character set, these arrive as they are.
async fn snapshot(connection: &mut MySqlConnection, server: Server) -> sqlx::Result<Vec<Option<String>>> {
    let names = settings(server).iter().map(|(name, _)| format!("CONCAT(@@SESSION.{name})"));
    let mut columns: Vec<String> = names.collect();
    columns.push("HEX(CONVERT(DATABASE() USING utf8mb4))".to_owned());
    // Nothing but names of this file. A statement that stays prepared would go on in the database that the
    // connection was in when it was prepared.
    let sql = format!("SELECT {}", columns.join(", "));
    let row = sqlx::query(AssertSqlSafe(sql)).persistent(false).fetch_one(connection).await?;
    (0..columns.len()).map(|index| text(&row, index)).collect()
}

async fn version(connection: &mut MySqlConnection) -> sqlx::Result<String> {
    let row = sqlx::query("SELECT VERSION()").persistent(false).fetch_one(connection).await?;
    Ok(text(&row, 0)?.unwrap_or_default())
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

fn from_hex(digits: &str) -> Option<String> {
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
