//! Opens a database that cannot write, reach files or change its settings, as far as the engine can be told.

use std::sync::{Mutex, PoisonError};

use dbagent_core::{Error, Result};
use duckdb::{AccessMode, Config, Connection};

use crate::error::{Phase, translate};
use crate::file::{self, Identity};
use crate::lake::Lake;
use crate::location::{Location, Place};
use crate::schema::Snapshot;
use crate::spill::Spill;

/// Settings of every database, made before any statement of a request. The order matters: the last one
/// locks them all.
const SETTINGS: &[(&str, &str)] = &[
    ("errors_as_json", "true"),
    ("arrow_lossless_conversion", "true"),
    ("TimeZone", "'UTC'"),
    ("autoload_known_extensions", "false"),
    ("autoinstall_known_extensions", "false"),
    ("allow_community_extensions", "false"),
    ("enable_logging", "false"),
    ("max_expression_depth", "1000"),
];
/// The last settings: no file beyond what is open, and no setting after them.
const LOCKS: &[(&str, &str)] = &[("enable_external_access", "false"), ("lock_configuration", "true")];
/// Most that may be written to the private folder for what does not fit into memory.
const MAX_SPILL: &str = "'4GB'";
/// Threads of the engine where the URL says nothing.
const THREADS: usize = 4;

/// How a database is opened.
#[derive(Debug, Clone)]
pub(crate) struct Opener {
    place: Place,
    memory: String,
    threads: usize,
}

/// An open database: every call works on a connection of its own to it.
pub(crate) struct Database {
    root: Mutex<Connection>,
    snapshot: Snapshot,
    /// The file that it has open; none for a lake, and when the host brought the connection.
    identity: Option<Identity>,
    /// Where what does not fit into memory is put.
    #[cfg_attr(not(test), expect(dead_code, reason = "kept so that it is removed with the database"))]
    spill: Option<Spill>,
}

impl Opener {
    pub(crate) fn new(location: Location) -> Result<Self> {
        let place = match location.place {
            Place::File(path) => Place::File(file::absolute(&path)?),
            Place::Lake(path) => Place::Lake(file::absolute(&path)?),
        };
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = location.threads.unwrap_or(cores.min(THREADS));
        Ok(Self { place, memory: location.memory, threads })
    }

    /// Opens the database, up to reading its catalogue.
    ///
    /// # Errors
    /// What is wrong with the file or the folder, each with a kind of its own.
    pub(crate) fn open(&self) -> Result<Database> {
        match &self.place {
            Place::File(path) => {
                let identity = file::identity(path)?;
                let config = base().and_then(|c| c.access_mode(AccessMode::ReadOnly)).map_err(opening)?;
                let connection =
                    Connection::open_with_flags(path, config).map_err(|e| file::cannot_open(path, e))?;
                let spill = self.settle(&connection)?;
                lock(&connection)?;
                // Pages are read when they are needed: the catalogue is the first that can be damaged.
                let snapshot =
                    Snapshot::read(&connection).map_err(|e| opening(e).with("file", path.display()))?;
                Ok(Database::new(connection, snapshot, Some(identity), Some(spill)))
            }
            Place::Lake(folder) => {
                let connection = base().and_then(Connection::open_in_memory_with_flags).map_err(opening)?;
                let spill = self.settle(&connection)?;
                let lake = Lake::open(folder)?;
                lake.define(&connection)?;
                lake.confine(&connection)?;
                lock(&connection)?;
                let snapshot = Snapshot::read(&connection).map_err(opening)?.of_lake(lake);
                Ok(Database::new(connection, snapshot, None, Some(spill)))
            }
        }
    }

    /// Whether what was opened is no longer what the place holds.
    ///
    /// # Errors
    /// When the file or folder is gone.
    pub(crate) fn is_stale(&self, database: &Database) -> Result<bool> {
        match &self.place {
            Place::File(path) => Ok(database.identity != Some(file::identity(path)?)),
            Place::Lake(_) => database.snapshot.lake().map_or(Ok(false), Lake::has_changed),
        }
    }

    /// Sets what the engine may use, and gives it a private folder for what does not fit into memory.
    fn settle(&self, connection: &Connection) -> Result<Spill> {
        let spill = Spill::new()?;
        let folder = Literal(&spill.path().to_string_lossy()).to_string();
        let (memory, threads) = (format!("'{}'", self.memory), self.threads.to_string());
        let own: [(&str, &str); 4] = [
            ("memory_limit", &memory),
            ("threads", &threads),
            ("temp_directory", &folder),
            ("max_temp_directory_size", MAX_SPILL),
        ];
        for (name, value) in SETTINGS.iter().copied().chain(own) {
            set(connection, name, value)?;
        }
        Ok(spill)
    }
}

impl Database {
    pub(crate) fn new(
        connection: Connection,
        snapshot: Snapshot,
        identity: Option<Identity>,
        spill: Option<Spill>,
    ) -> Self {
        Self { root: Mutex::new(connection), snapshot, identity, spill }
    }

    /// A connection of its own for one call: what a statement leaves behind goes with it.
    pub(crate) fn connect(&self) -> Result<Connection> {
        let root = self.root.lock().unwrap_or_else(PoisonError::into_inner);
        root.try_clone().map_err(|e| translate(e, Phase::Open))
    }

    /// What the catalogue holds.
    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }
}

/// What has to be said before a database is open.
fn base() -> duckdb::Result<Config> {
    Config::default()
        .with("allow_persistent_secrets", "false")?
        .with("autoload_known_extensions", "false")?
        .with("autoinstall_known_extensions", "false")
}

/// Hardens a database that the host brought.
pub(crate) fn harden(connection: &Connection) -> Result<()> {
    for (name, value) in SETTINGS {
        set(connection, name, value)?;
    }
    lock(connection)
}

/// Takes files and settings out of reach.
fn lock(connection: &Connection) -> Result<()> {
    LOCKS.iter().try_for_each(|(name, value)| set(connection, name, value))
}

fn set(connection: &Connection, name: &str, value: &str) -> Result<()> {
    connection
        .execute_batch(&format!("SET GLOBAL {name} = {value}"))
        .map_err(|e| opening(e).with("setting", name))
}

fn opening(e: duckdb::Error) -> Error {
    translate(e, Phase::Open)
}

/// A text as the engine reads it back. For settings, which take no parameters; never for a value of a request.
pub(crate) struct Literal<'a>(pub(crate) &'a str);

impl std::fmt::Display for Literal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "'{}'", self.0.replace('\'', "''"))
    }
}

#[cfg(test)]
mod tests {
    use dbagent_core::ConnUrl;

    use super::*;

    fn opened(folder: &std::path::Path) -> Database {
        let file = folder.join("x.db");
        Connection::open(&file).unwrap().execute_batch("CREATE TABLE t (a INTEGER)").unwrap();
        let url =
            ConnUrl::parse(&format!("duckdb:///{}?memory_limit=512MB&threads=3", file.display())).unwrap();
        Opener::new(Location::of(&url).unwrap()).unwrap().open().unwrap()
    }

    /// Each layer is on by itself; a test of what gets through could not tell that one is missing.
    #[test]
    fn every_layer_is_on() {
        let folder = tempfile::tempdir().unwrap();
        let connection = opened(folder.path()).connect().unwrap();
        let value = |name: &str| -> String {
            connection
                .query_row("SELECT current_setting(?)::VARCHAR", [name], |row| row.get(0))
                .unwrap_or_else(|e| panic!("{name}: {e}"))
        };
        for (name, expected) in [
            ("access_mode", "read_only"),
            ("enable_external_access", "false"),
            ("lock_configuration", "true"),
            ("allow_persistent_secrets", "false"),
            ("autoload_known_extensions", "false"),
            ("autoinstall_known_extensions", "false"),
            ("allow_community_extensions", "false"),
            ("errors_as_json", "true"),
            ("arrow_lossless_conversion", "true"),
            ("max_expression_depth", "1000"),
            ("TimeZone", "UTC"),
        ] {
            assert_eq!(value(name).to_ascii_lowercase(), expected.to_ascii_lowercase(), "{name}");
        }
        // What the URL of the test asks for, as the engine writes it.
        assert_eq!((value("memory_limit"), value("threads")), ("488.2 MiB".to_owned(), "3".to_owned()));
        assert!(value("temp_directory").contains("dbagent-duckdb-"));
        assert!(connection.execute_batch("SET threads = 1").is_err());
        assert!(connection.execute_batch("INSERT INTO t VALUES (1)").is_err());
    }

    #[test]
    fn the_private_folder_goes_with_the_database() {
        let folder = tempfile::tempdir().unwrap();
        let database = opened(folder.path());
        let spill = database.spill.as_ref().unwrap().path().to_owned();
        assert!(spill.exists());
        drop(database);
        assert!(!spill.exists());
        let names: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
        assert_eq!(names, ["x.db"]);
    }
}
