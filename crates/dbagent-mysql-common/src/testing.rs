//! For tests: the hardened connection with the guard out of the way, and a connection of an owner.
//!
//! The guard judges texts and the session stops what gets past it. A test that asks what the session stops
//! by itself comes in through this door. It is in no release build: the feature `testing` opens it.

use std::time::Duration;

use dbagent_core::context::CallContext;
use dbagent_core::{ConnUrl, Params, Result, Target};
use futures_util::TryStreamExt as _;
use sqlx::{AssertSqlSafe, Executor as _, MySqlConnection};

use crate::bind;
use crate::connect::{Conn, Opener};
use crate::error::translate;
use crate::flavor::Server;
use crate::location::Location;
use crate::read;

/// A connection as a session opens it, with nobody judging what runs on it.
pub struct RawHardened {
    conn: Conn,
}

/// Opens the hardened read connection of a target without a guard before it.
///
/// # Errors
/// As opening a session on it.
pub async fn raw_hardened(server: Server, target: &Target, call: &CallContext) -> Result<RawHardened> {
    let opener = Opener::new(server, Location::of(target)?)?;
    Ok(RawHardened { conn: opener.open(call).await? })
}

impl RawHardened {
    /// Runs a text as a session would, as one prepared statement in a read-only transaction, to its end, and
    /// returns how many rows it gave.
    ///
    /// # Errors
    /// What the server says.
    pub async fn run(&mut self, text: &str, params: &Params) -> Result<u64> {
        let failed = |e| translate(e, Some(text));
        let arguments = bind::arguments(params, &self.conn.decimal)?;
        let connection = &mut self.conn.inner;
        connection.execute("START TRANSACTION READ ONLY").await.map_err(failed)?;
        let ran = {
            let query = sqlx::query_with(AssertSqlSafe(text), arguments).persistent(false);
            let mut rows = query.fetch(&mut *connection);
            let mut count = 0;
            loop {
                match rows.try_next().await {
                    Ok(Some(_)) => count += 1,
                    Ok(None) => break Ok(count),
                    Err(e) => break Err(failed(e)),
                }
            }
        };
        connection.execute("ROLLBACK").await.map_err(failed)?;
        ran
    }

    /// The driver's connection.
    pub fn connection(&mut self) -> &mut MySqlConnection {
        &mut self.conn.inner
    }
}

/// A connection with the rights of its account and nothing hardened, for preparing scratch databases and for
/// looking at the server from the side.
pub struct Owner(MySqlConnection);

impl Owner {
    /// Connects.
    ///
    /// # Errors
    /// As opening a session.
    pub async fn connect(server: Server, url: &str) -> Result<Self> {
        let target = Target::new("owner", ConnUrl::parse(url)?);
        let opener = Opener::new(server, Location::of(&target)?)?;
        Ok(Self(opener.connect(&CallContext::within(Duration::from_secs(60))).await?))
    }

    /// Runs one statement.
    ///
    /// # Errors
    /// What the server says.
    pub async fn run(&mut self, text: &str) -> Result<()> {
        // Not prepared: some of what prepares a database cannot be.
        self.0.execute(AssertSqlSafe(text)).await.map(drop).map_err(|e| translate(e, Some(text)))
    }

    /// The rows of a statement, each value as text.
    ///
    /// # Errors
    /// What the server says.
    pub async fn rows(&mut self, text: &str) -> Result<Vec<Vec<Option<String>>>> {
        let rows = read::texts(&mut self.0, text, sqlx::mysql::MySqlArguments::default()).await;
        let rows = rows.map_err(|e| translate(e, Some(text)))?;
        Ok(rows.into_iter().map(|row| row.into_iter().map(|(_, value)| value).collect()).collect())
    }
}
