//! Opens a connection that cannot write, as far as the server can be told.

use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use dbagent_core::context::CallContext;
use dbagent_core::{Error, ErrorKind, Result, Secret, Settings, Target};
use sqlx::mysql::{MySqlConnectOptions, MySqlRow, MySqlTypeInfo};
use sqlx::{
    Column as _, ConnectOptions as _, Connection as _, Executor as _, MySqlConnection, MySqlPool, Row as _,
};
use tokio::sync::oneshot;

use crate::error;
use crate::flavor::Server;
use crate::host::{Held, Lent, from_hex};
use crate::location::Location;
use crate::probe::{self, Greeting};

/// Prepared statements that a connection can keep. More than a call ever adds to [`MANY_STATEMENTS`]: the driver
/// must not close one between two statements.
const KEPT_STATEMENTS: usize = 256;
/// Prepared statements after which a connection that comes back forgets them all.
///
/// To close a statement is a message that the server does not answer. The driver leaves Nagle's algorithm on
/// (sqlx 0.9.0, its issue 4335), so the message behind it waits until the server acknowledges that one, which on
/// Linux takes 40 ms. So statements are not closed one by one, but all at once where nobody waits.
const MANY_STATEMENTS: usize = 64;

/// How much longer a connection may take that nobody waits for any more, and how long saying goodbye may.
const GRACE: Duration = Duration::from_secs(5);

/// What a GROUP_CONCAT may become at least and at most; the server has its own limit of a packet beside that.
const SHORTEST_CONCAT: u64 = 1_024;
const LONGEST_CONCAT: u64 = 1 << 30;

/// Who the connection is, and what its texts mean. The name of the database comes in hexadecimal digits, whatever
/// the character set. The last column is there for its type: the driver has no other name for an exact number.
pub(crate) const WHO: &str = "SELECT CAST(CONNECTION_ID() AS UNSIGNED), VERSION(), @@SESSION.sql_mode, \
                              @@GLOBAL.sql_mode, CAST(@@lower_case_table_names AS UNSIGNED), \
                              HEX(CONVERT(DATABASE() USING utf8mb4)), CAST(0 AS DECIMAL(1, 0))";
/// How many columns that are.
pub(crate) const WHO_COLUMNS: usize = 7;
/// The name of the database, in hexadecimal digits.
pub(crate) const DATABASE: &str = "HEX(CONVERT(DATABASE() USING utf8mb4))";

/// How connections to one target are made.
#[derive(Clone)]
pub(crate) struct Opener {
    server: Server,
    source: Source,
    /// The cap of a cell.
    cell_bytes: u64,
    /// What the first connection found; every other one is made the same.
    pinned: Arc<OnceLock<Pinned>>,
}

/// Where connections come from.
#[derive(Clone)]
pub(crate) enum Source {
    /// They are made, by a target's URL.
    Place(Box<(Location, MySqlConnectOptions)>),
    /// The host lends them.
    Host(MySqlPool),
}

/// What the texts of a session mean, for its whole life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pinned {
    pub(crate) version: String,
    pub(crate) sql_mode: String,
    /// 0: names of tables are told apart by case; 1 and 2: they are not.
    pub(crate) lower_case_table_names: u64,
    pub(crate) database: Option<String>,
}

/// An open connection and what belongs to it.
pub(crate) struct Conn {
    pub(crate) inner: Held,
    /// The server's number of it.
    pub(crate) id: u64,
    /// The time limit that was set last, in the server's unit.
    pub(crate) limit: Option<u64>,
    /// The driver's name for the type of an exact number.
    pub(crate) decimal: MySqlTypeInfo,
    /// What the session looked like when it was new.
    pub(crate) state: String,
}

impl Opener {
    pub(crate) fn new(server: Server, target: &Target) -> Result<Self> {
        let location = Location::of(target)?;
        location.tls.check_files()?;
        let mut options = MySqlConnectOptions::new()
            .host(&location.host)
            .port(location.port)
            .username(&location.user)
            // `||` means what it means in the user's own client, and so does the rest of the SQL mode.
            .pipes_as_concat(false)
            .no_engine_substitution(false)
            .timezone(Some("+00:00".to_owned()))
            .charset("utf8mb4")
            .statement_cache_capacity(KEPT_STATEMENTS)
            // Texts of statements are nobody's log lines.
            .disable_statement_logging();
        if let Some(path) = &location.socket {
            options = options.socket(path);
        }
        if let Some(password) = &location.password {
            options = options.password(password.expose());
        }
        if let Some(database) = &location.database {
            options = options.database(database);
        }
        let options = location.tls.apply(options);
        let cell_bytes = target.guardrails.max_cell_bytes;
        Ok(Self {
            server,
            source: Source::Place(Box::new((location, options))),
            cell_bytes,
            pinned: Arc::default(),
        })
    }

    /// Takes the connections from a pool of the host.
    pub(crate) fn over(server: Server, pool: MySqlPool, target: &Target) -> Self {
        let cell_bytes = target.guardrails.max_cell_bytes;
        Self { server, source: Source::Host(pool), cell_bytes, pinned: Arc::default() }
    }

    pub(crate) fn server(&self) -> Server {
        self.server
    }

    /// Where the server is, unless the host lends its connections.
    pub(crate) fn location(&self) -> Option<&Location> {
        match &self.source {
            Source::Place(place) => Some(&place.0),
            Source::Host(_) => None,
        }
    }

    /// What came as a credential and is not to be shown.
    pub(crate) fn secrets(&self) -> &[Secret] {
        self.location().map_or(&[], |location| &location.secrets)
    }

    /// The server's place for people.
    fn place(&self) -> String {
        self.location().map_or_else(|| "that of the host's pool".to_owned(), Location::place)
    }

    /// What the first connection found.
    pub(crate) fn pinned(&self) -> Option<&Pinned> {
        self.pinned.get()
    }

    /// The language settings for the parser.
    pub(crate) fn settings(&self) -> Settings {
        let Some(pinned) = self.pinned() else { return Settings::new() };
        let settings = Settings::new()
            .with("version", &pinned.version)
            .with("sql_mode", &pinned.sql_mode)
            .with("lower_case_table_names", pinned.lower_case_table_names.to_string());
        match &pinned.database {
            Some(database) => settings.with(Settings::DEFAULT_NAMESPACE, database),
            None => settings,
        }
    }

    /// Opens one connection and hardens it. `limit` is the time that the call has whose connection it will be.
    ///
    /// # Errors
    /// What is wrong with the server, the account or the way to them, each with a kind of its own.
    pub(crate) async fn open(&self, call: &CallContext, limit: Duration) -> Result<Conn> {
        let opened = async {
            let held = match &self.source {
                Source::Place(_) => Held::Own(self.connect(call).await?),
                Source::Host(pool) => {
                    let lent = call.bound("open", Lent::borrow(pool, self.server)).await;
                    let lent = lent.map_err(|e| self.silent(e))?;
                    Held::Lent(lent.map_err(|e| error::translate(e, None).op("open"))?)
                }
            };
            let hardened = call.bound("open", self.harden(held, limit)).await;
            hardened.map_err(|e| self.silent(e))?
        };
        // The server repeats names of accounts and databases.
        opened.await.map_err(|e| error::without_secrets(e, self.secrets()))
    }

    /// Opens one connection as the driver does, for the crate's own small jobs beside a session.
    pub(crate) async fn connect(&self, call: &CallContext) -> Result<MySqlConnection> {
        let options = match &self.source {
            Source::Place(place) => place.1.clone(),
            Source::Host(pool) => MySqlConnectOptions::clone(&pool.connect_options()),
        };
        // On a task of its own: the driver trusts the first bytes of a server and may panic on others.
        let connecting = made(async move { options.connect().await }, |unwanted: MySqlConnection| async {
            // Told or not, the server sees that it is gone.
            _ = tokio::time::timeout(GRACE, unwanted.close()).await;
        });
        let failed = match call.bound("open", connecting).await.map_err(|e| self.silent(e))? {
            Ok(connection) => return Ok(connection),
            Err(e) => e,
        };
        let Some(location) = self.location() else { return Err(error::translate(failed, None).op("open")) };
        // The driver's words do not tell a login that it cannot do from a server of another kind.
        let (failed, greeting) = match failed {
            sqlx::Error::WorkerCrashed => (None, probe::greeting(location).await),
            e @ (sqlx::Error::Protocol(_) | sqlx::Error::Io(_)) => (Some(e), probe::greeting(location).await),
            e => (Some(e), Greeting::Unknown),
        };
        Err(error::connecting(failed, location, self.server, greeting))
    }

    /// The error for a server that did not answer in time.
    fn silent(&self, e: Error) -> Error {
        if e.kind() != ErrorKind::Timeout {
            return e;
        }
        Error::new(ErrorKind::Connection, "the server did not answer in time")
            .op("open")
            .with("server", self.place())
            .hint(
                "nothing listens there, a firewall drops what is sent, the server hangs, or it is a server of \
                 another kind that waits for its client to speak first; check host and port",
            )
    }

    async fn harden(&self, mut connection: Held, limit: Duration) -> Result<Conn> {
        let failed = |e| error::translate(e, None).op("open");
        let who = match &mut connection {
            Held::Own(connection) => connection.fetch_one(WHO).await,
            Held::Lent(lent) => lent.look(self.pinned().is_some()).await,
        }
        .map_err(failed)?;
        let id = who.try_get_unchecked::<u64, _>(0).map_err(failed)?;
        let decimal = who.column(6).type_info().clone();
        let found = pinned(&who).map_err(failed)?;
        let server = Server::of_version(&found.version);
        if server != self.server {
            return Err(Error::new(
                ErrorKind::NotADatabase,
                format!("the server is {}, not {}", server.title(), self.server.title()),
            )
            .op("open")
            .with("server", self.place())
            .with("version", found.version)
            .hint(format!("write {}:// instead of {}://", server.scheme(), self.server.scheme())));
        }
        if let Some(oldest) = server.too_old(&found.version) {
            return Err(Error::new(ErrorKind::Unsupported, format!("this {} is too old", server.title()))
                .op("open")
                .with("server", self.place())
                .with("version", found.version)
                .hint(format!("sessions need {oldest} or newer")));
        }
        let pinned = self.pinned.get_or_init(|| found);
        // The server cuts what is longer, and says so nowhere that anybody looks. One byte over the cap of a
        // cell, so that what was cut is over it and an error.
        let longest = self.cell_bytes.saturating_add(1).clamp(SHORTEST_CONCAT, LONGEST_CONCAT);
        let mut conn = Conn { inner: connection, id, limit: None, decimal, state: String::new() };
        match &mut conn.inner {
            Held::Lent(lent) => {
                let limit = self.server.time_value(limit);
                lent.harden(pinned, longest, limit).await?;
                conn.limit = Some(limit);
            }
            Held::Own(connection) => {
                // The default of every transaction of the session: without it, a statement that commits by itself
                // (any change of the schema) ends a read-only transaction and runs.
                connection.execute("SET SESSION TRANSACTION READ ONLY").await.map_err(failed)?;
                let pin = sqlx::query(self.server.pin()).bind(&pinned.sql_mode).bind(longest);
                pin.execute(connection).await.map_err(failed)?;
                conn.state = conn.state_now(self.server).await.map_err(failed)?;
            }
        }
        Ok(conn)
    }
}

impl Conn {
    /// Lets go of all locks and says what the session looks like.
    pub(crate) async fn state_now(&mut self, server: Server) -> sqlx::Result<String> {
        let row = sqlx::query(server.state()).fetch_one(&mut *self.inner).await?;
        Ok(text(&row, 0)?.unwrap_or_default())
    }

    /// Whether a connection of our own is what it was when it was new. What a host lent is compared with what it
    /// was when it is put back, and closed where it differs.
    pub(crate) async fn is_as_new(&mut self, server: Server) -> sqlx::Result<bool> {
        match self.inner {
            Held::Own(_) => Ok(self.state_now(server).await? == self.state),
            Held::Lent(_) => Ok(true),
        }
    }

    /// Closes what is prepared, once it is much; to be the last that is done on a connection of our own before it
    /// waits.
    pub(crate) async fn forget_statements(&mut self) -> sqlx::Result<()> {
        if self.inner.keeps_statements() && self.inner.cached_statements_size() > MANY_STATEMENTS {
            self.inner.clear_cached_statements().await?;
        }
        Ok(())
    }
}

/// Makes a connection on a task of its own. Where nobody waits for it any more it is finished all the same, unless
/// that takes long, and handed to `unwanted`: a connection that is dropped half made is an error in the books of
/// the server, which may lock a host out that has many, and a driver in the middle of something.
///
/// # Errors
/// Why it could not be made; `WorkerCrashed` where the driver could not go on.
pub(crate) async fn made<T, U>(
    making: impl Future<Output = sqlx::Result<T>> + Send + 'static,
    unwanted: impl FnOnce(T) -> U + Send + 'static,
) -> sqlx::Result<T>
where
    T: Send + 'static,
    U: Future<Output = ()> + Send,
{
    let (mut wanted, answer) = oneshot::channel();
    tokio::spawn(async move {
        let mut making = pin!(making);
        let made = tokio::select! {
            made = &mut making => made,
            () = wanted.closed() => match tokio::time::timeout(GRACE, making).await {
                Ok(made) => made,
                Err(_) => return,
            },
        };
        if let Err(Ok(made)) = wanted.send(made) {
            unwanted(made).await;
        }
    });
    answer.await.unwrap_or(Err(sqlx::Error::WorkerCrashed))
}

fn pinned(who: &MySqlRow) -> sqlx::Result<Pinned> {
    let session = text(who, 2)?.unwrap_or_default();
    let global = text(who, 3)?.unwrap_or_default();
    Ok(Pinned {
        version: text(who, 1)?.unwrap_or_default(),
        sql_mode: without_the_drivers_mode(&session, &global),
        lower_case_table_names: who.try_get_unchecked(4)?,
        database: text(who, 5)?.as_deref().and_then(from_hex),
    })
}

/// The SQL mode that the account's own client would have: the driver always asks for `IGNORE_SPACE`.
fn without_the_drivers_mode(session: &str, global: &str) -> String {
    const DRIVERS: &str = "IGNORE_SPACE";
    if global.split(',').any(|mode| mode == DRIVERS) {
        return session.to_owned();
    }
    session.split(',').filter(|mode| *mode != DRIVERS).collect::<Vec<_>>().join(",")
}

/// The text of a column of the crate's own statements.
pub(crate) fn text(row: &MySqlRow, index: usize) -> sqlx::Result<Option<String>> {
    let bytes: Option<&[u8]> = row.try_get_unchecked(index)?;
    Ok(bytes.map(|b| String::from_utf8_lossy(b).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_of_the_driver_is_taken_out_again() {
        let mode = without_the_drivers_mode;
        assert_eq!(mode("IGNORE_SPACE,STRICT_TRANS_TABLES", "STRICT_TRANS_TABLES"), "STRICT_TRANS_TABLES");
        assert_eq!(mode("IGNORE_SPACE,ANSI", "IGNORE_SPACE,ANSI"), "IGNORE_SPACE,ANSI");
        assert_eq!(mode("IGNORE_SPACE", ""), "");
        assert_eq!(mode("", ""), "");
    }
}
