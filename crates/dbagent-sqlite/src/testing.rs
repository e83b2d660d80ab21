//! For tests: the hardened connection with the guard out of the way, and databases to try it on.
//!
//! The guard judges texts and the session stops what gets past it. A test that asks what the session stops
//! by itself comes in through this door. It is in no release build: the feature `testing` opens it.

use std::path::Path;

use dbagent_core::context::CallContext;
use dbagent_core::{Result, Target};
use fallible_iterator::FallibleIterator as _;
use rusqlite::{Batch, Connection};

use crate::connect::{Conn, Opener};
use crate::error::{Phase, translate};
use crate::location::Location;

/// A connection as a session opens it, with nobody judging what runs on it.
pub struct RawHardened {
    conn: Conn,
}

/// Opens the hardened read connection of a target without a guard before it.
///
/// # Errors
/// As opening a session on it.
pub fn raw_hardened(target: &Target, call: &CallContext) -> Result<RawHardened> {
    let wait = std::time::Duration::from_millis(100);
    let opener = Opener::new(Location::of(&target.url)?, target.policy.clone(), wait)?;
    Ok(RawHardened { conn: opener.open(call)? })
}

impl RawHardened {
    /// Runs every statement of a text to its end and returns how many rows they gave.
    ///
    /// # Errors
    /// What the first statement that fails says.
    pub fn run(&self, text: &str) -> Result<u64> {
        let mut count = 0;
        let mut batch = Batch::new(&self.conn.db, text);
        while let Some(mut statement) = batch.next().map_err(|e| translate(e, Phase::Compile))? {
            let mut rows = statement.raw_query();
            while rows.next().map_err(|e| translate(e, Phase::Run))?.is_some() {
                count += 1;
            }
        }
        Ok(count)
    }

    /// Compiles the first statement of a text and drops it without a step.
    ///
    /// # Errors
    /// What SQLite says of the text.
    pub fn compile(&self, text: &str) -> Result<()> {
        self.conn.db.prepare(text).map(drop).map_err(|e| translate(e, Phase::Compile))
    }

    /// The value of a pragma or query that returns one.
    ///
    /// # Errors
    /// What SQLite says of the text.
    pub fn value(&self, text: &str) -> Result<String> {
        let read = |row: &rusqlite::Row<'_>| row.get_ref(0).map(|v| format!("{v:?}"));
        self.conn.db.query_row(text, [], read).map_err(|e| translate(e, Phase::Run))
    }

    /// Stops statements that run on after this many steps of SQLite's machine.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn stop_after(&mut self, steps: i32) -> Result<()> {
        self.conn.db.progress_handler(steps, Some(|| true)).map_err(|e| translate(e, Phase::Run))
    }
}

/// Makes a database file by running a text on it, with every right.
///
/// # Errors
/// What SQLite says of the text.
pub fn create_database(file: &Path, sql: &str) -> Result<()> {
    // A scratch file need not outlive a power cut.
    let made = Connection::open(file)
        .and_then(|db| db.execute_batch("PRAGMA synchronous = OFF").and_then(|()| db.execute_batch(sql)));
    made.map_err(|e| translate(e, Phase::Run))
}
