//! For tests: the hardened connection with the guard out of the way, and databases to try it on.
//!
//! The guard judges texts and the session stops what gets past it. A test that asks what the session stops
//! by itself comes in through this door. It is in no release build: the feature `testing` opens it.

use std::path::Path;
use std::sync::Arc;

use dbagent_core::{Result, Target};
use duckdb::{Connection, InterruptHandle};

use crate::connect::{Database, Opener};
use crate::error::{Phase, translate};
use crate::location::Location;

/// A connection as a session opens it, with nobody judging what runs on it.
pub struct RawHardened {
    db: Connection,
    database: Database,
}

/// Opens the hardened read connection of a target without a guard before it.
///
/// # Errors
/// As opening a session on it.
pub fn raw_hardened(target: &Target) -> Result<RawHardened> {
    let database = Opener::new(Location::of(&target.url)?)?.open()?;
    Ok(RawHardened { db: database.connect()?, database })
}

impl RawHardened {
    /// Runs every statement of a text to its end.
    ///
    /// # Errors
    /// What the first statement that fails says.
    pub fn run(&self, text: &str) -> Result<()> {
        self.db.execute_batch(text).map_err(|e| translate(e, Phase::Run))
    }

    /// The value of a query that returns one, as text.
    ///
    /// # Errors
    /// What the engine says of the text.
    pub fn value(&self, text: &str) -> Result<String> {
        let read = |row: &duckdb::Row<'_>| {
            row.get_ref(0).map(|value| match value {
                duckdb::types::ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
                other => format!("{other:?}"),
            })
        };
        self.db.query_row(text, [], read).map_err(|e| translate(e, Phase::Run))
    }

    /// Another connection to the same database, as the next call would have.
    ///
    /// # Errors
    /// What the engine says.
    pub fn next(self) -> Result<RawHardened> {
        Ok(RawHardened { db: self.database.connect()?, database: self.database })
    }

    /// A handle by which another thread stops what runs.
    pub fn interrupt_handle(&self) -> Arc<InterruptHandle> {
        self.db.interrupt_handle()
    }
}

/// Makes a database file by running a text on it, with every right.
///
/// # Errors
/// What the engine says of the text.
pub fn create_database(file: &Path, sql: &str) -> Result<()> {
    let made = Connection::open(file).and_then(|db| db.execute_batch(sql));
    made.map_err(|e| translate(e, Phase::Run))
}
