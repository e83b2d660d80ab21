//! For tests: the hardened connection with the guard out of the way, and a connection of an owner.
//!
//! The guard judges texts and the session stops what gets past it. A test that asks what the session stops
//! by itself comes in through this door. It is in no release build: the feature `testing` opens it.

use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dbagent_core::context::CallContext;
use dbagent_core::{ConnUrl, Params, Result, Target};
use futures_util::TryStreamExt as _;
use sqlx::{AssertSqlSafe, Executor as _, MySqlConnection};

use crate::bind;
use crate::connect::{Conn, Opener};
use crate::error::translate;
use crate::flavor::Server;
use crate::read;

/// A connection as a session opens it, with nobody judging what runs on it.
pub struct RawHardened {
    conn: Conn,
    server: Server,
}

/// Opens the hardened read connection of a target without a guard before it.
///
/// # Errors
/// As opening a session on it.
pub async fn raw_hardened(server: Server, target: &Target, call: &CallContext) -> Result<RawHardened> {
    let opener = Opener::new(server, target)?;
    Ok(RawHardened { conn: opener.open(call, call.remaining()).await?, server })
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
        let connection: &mut MySqlConnection = &mut self.conn.inner;
        connection.execute("START TRANSACTION READ ONLY").await.map_err(failed)?;
        let ran = {
            let query = sqlx::query_with(AssertSqlSafe(text), arguments);
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

    /// Whether the session would use the connection again: nothing that the server tells of it differs from
    /// what it was when it was new.
    ///
    /// # Errors
    /// What the server says.
    pub async fn is_as_new(&mut self) -> Result<bool> {
        self.conn.is_as_new(self.server).await.map_err(|e| translate(e, None))
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
        let opener = Opener::new(server, &target)?;
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
        let rows = read::texts(&mut self.0, text, sqlx::mysql::MySqlArguments::default(), true).await;
        let rows = rows.map_err(|e| translate(e, Some(text)))?;
        Ok(rows.into_iter().map(|row| row.into_iter().map(|(_, value)| value).collect()).collect())
    }
}

/// A database of its own on a server, with accounts of its own; both are removed when it is dropped.
pub struct Scratch {
    server: Server,
    /// The owner's URL, with this database.
    url: String,
    name: String,
    accounts: std::sync::Mutex<Vec<String>>,
}

/// Tells the databases of one process apart.
static NEXT: AtomicU64 = AtomicU64::new(1);

impl Scratch {
    /// Makes a database with the rights of the owner whose URL this is.
    ///
    /// # Errors
    /// As connecting, and what the server says.
    pub async fn new(server: Server, owner: &str) -> Result<Self> {
        Self::named(server, owner, Self::fresh_name()).await
    }

    /// A name that no other database has.
    pub fn fresh_name() -> String {
        format!("dbagent_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Makes a database of such a name.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub async fn named(server: Server, owner: &str, name: String) -> Result<Self> {
        let mut connection = Owner::connect(server, owner).await?;
        connection.run(&format!("CREATE DATABASE {name} CHARACTER SET utf8mb4")).await?;
        Ok(Self { server, url: with_database(owner, &name), name, accounts: std::sync::Mutex::default() })
    }

    /// The owner's URL with this database.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The name of the database.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The owner, in this database.
    ///
    /// # Errors
    /// As connecting.
    pub async fn owner(&self) -> Result<Owner> {
        Owner::connect(self.server, &self.url).await
    }

    /// Makes an account that may read this database, and returns its name. `how` is what follows `CREATE USER
    /// name`.
    ///
    /// # Errors
    /// What the server says.
    pub async fn reader(&self, how: &str) -> Result<String> {
        let name = Self::fresh_name();
        let mut owner = self.owner().await?;
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner).push(name.clone());
        owner.run(&format!("CREATE USER '{name}'@'%' {how}")).await?;
        owner.run(&format!("GRANT SELECT, SHOW VIEW ON {}.* TO '{name}'@'%'", self.name)).await?;
        Ok(name)
    }

    /// The URL of this database for another account; the parameters of the owner's URL are kept.
    pub fn url_of(&self, account: &str, password: &str) -> String {
        let (scheme, rest) = self.url.split_once("://").unwrap_or(("", &self.url));
        let rest = rest.split_once('@').map_or(rest, |(_, rest)| rest);
        let password = if password.is_empty() { String::new() } else { format!(":{password}") };
        format!("{scheme}://{account}{password}@{rest}")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let (server, url, name) = (self.server, self.url.clone(), self.name.clone());
        let accounts = std::mem::take(&mut *self.accounts.lock().unwrap_or_else(PoisonError::into_inner));
        // On a thread and a runtime of its own: those of the test may be at their end. What fails here leaves
        // a database of a process that is gone behind, and no wrong result.
        let remove = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let Ok(runtime) = runtime else { return };
            runtime.block_on(async {
                let Ok(mut owner) = Owner::connect(server, &url).await else { return };
                for account in accounts {
                    drop(owner.run(&format!("DROP USER IF EXISTS '{account}'@'%'")).await);
                }
                drop(owner.run(&format!("DROP DATABASE IF EXISTS {name}")).await);
            });
        });
        drop(remove.join());
    }
}

/// The same URL with another database.
fn with_database(url: &str, database: &str) -> String {
    let (place, parameters) = url.split_once('?').map_or((url, None), |(place, p)| (place, Some(p)));
    let (scheme, rest) = place.split_once("://").unwrap_or(("", place));
    let authority = rest.split('/').next().unwrap_or(rest);
    let parameters = parameters.map(|p| format!("?{p}")).unwrap_or_default();
    format!("{scheme}://{authority}/{database}{parameters}")
}
