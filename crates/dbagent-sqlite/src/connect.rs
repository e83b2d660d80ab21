//! Opens a connection that cannot write, as far as SQLite can be told.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dbagent_core::context::CallContext;
use dbagent_core::{Error, Policy, Result};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, ffi};

use crate::error::{self, Phase};
use crate::file::{self, Identity};
use crate::location::Location;
use crate::watch::Watch;

/// How long SQLite itself waits for a lock before it gives control back. Waiting goes on from outside, so
/// that a call that is over does not keep waiting.
const LOCK_SLICE: Duration = Duration::from_millis(25);
/// The largest value that may be made while a statement runs: 64 MiB.
const MAX_VALUE: i32 = 64 << 20;

/// The limits of every connection, beside those that SQLite has by itself.
const LIMITS: &[(Limit, i32)] = &[
    (Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, MAX_VALUE),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 1_000),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 500),
    (Limit::SQLITE_LIMIT_VDBE_OP, 5_000_000),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 5_000),
    (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
];

/// Settings that no statement on the connection can change: the authorizer denies every setter.
const SETTINGS: &str = "PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; \
                        PRAGMA mmap_size = 0;";

/// How connections to one target are made.
#[derive(Debug, Clone)]
pub(crate) struct Opener {
    path: PathBuf,
    immutable: bool,
    policy: Policy,
    lock_wait: Duration,
}

/// An open connection and what belongs to it.
pub(crate) struct Conn {
    pub(crate) db: Connection,
    pub(crate) watch: Watch,
    /// The file that it has open; none when the host brought the connection.
    pub(crate) identity: Option<Identity>,
    pub(crate) lock_wait: Duration,
}

impl Opener {
    pub(crate) fn new(location: Location, policy: Policy, lock_wait: Duration) -> Result<Self> {
        let path = file::absolute(&location.path)?;
        Ok(Self { path, immutable: location.immutable, policy, lock_wait })
    }

    /// The absolute path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens one connection, up to reading the schema.
    ///
    /// # Errors
    /// What is wrong with the file, each with a kind of its own.
    pub(crate) fn open(&self, call: &CallContext) -> Result<Conn> {
        let identity = file::identity(&self.path)?;
        let mut flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_EXRESCODE;
        let opened = if self.immutable {
            flags |= OpenFlags::SQLITE_OPEN_URI;
            Connection::open_with_flags(immutable_uri(&self.path), flags)
        } else {
            // The path is absolute, so that it cannot begin with `file:`, which this build reads as a URI.
            Connection::open_with_flags(&self.path, flags)
        };
        let db = opened.map_err(|e| match error::primary(&e) {
            Some(ffi::SQLITE_CANTOPEN | ffi::SQLITE_PERM | ffi::SQLITE_AUTH) => {
                file::cannot_open(&self.path, e)
            }
            _ => self.failed(e, call),
        })?;
        let conn = crate::fulltext::declare(&db)
            .and_then(|()| harden(db, &self.policy, self.lock_wait))
            .map_err(|e| self.failed(e, call))?;
        conn.patiently(call, || conn.db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())))
            .map_err(|e| self.failed(e, call))?;
        Ok(Conn { identity: Some(identity), ..conn })
    }

    fn failed(&self, e: rusqlite::Error, call: &CallContext) -> Error {
        match error::primary(&e) {
            Some(ffi::SQLITE_NOTADB) => file::not_a_database(&self.path).source(e),
            _ => error::translate_under(e, Phase::Open, call).with("file", self.path.display()),
        }
    }
}

/// Takes from a connection what can be taken: writing, attaching, loading, and trust in the schema. The file
/// is not read for it, so that no lock is in the way.
pub(crate) fn harden(mut db: Connection, policy: &Policy, lock_wait: Duration) -> rusqlite::Result<Conn> {
    db.busy_timeout(LOCK_SLICE)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false)?;
    for (limit, value) in LIMITS {
        let now = db.limit(*limit)?;
        db.set_limit(*limit, now.min(*value))?;
    }
    db.execute_batch(SETTINGS)?;
    db.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    crate::math::install(&db)?;
    let watch = Watch::install(&mut db, policy)?;
    Ok(Conn { db, watch, identity: None, lock_wait })
}

impl Conn {
    /// Tries until the lock is free, the wait is used up or the call is over.
    pub(crate) fn patiently<T>(
        &self,
        call: &CallContext,
        attempt: impl Fn() -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let until = self.patience(call);
        loop {
            let outcome = attempt();
            let busy = matches!(&outcome, Err(e) if error::primary(e) == Some(ffi::SQLITE_BUSY));
            if !busy || Instant::now() >= until || call.is_over() {
                return outcome;
            }
        }
    }

    /// How long a lock is waited for: a little less than the call has time, so that it can still say why
    /// nothing came.
    pub(crate) fn patience(&self, call: &CallContext) -> Instant {
        Instant::now() + self.lock_wait.min(call.remaining().saturating_sub(2 * LOCK_SLICE))
    }
}

/// The URI of a file that nobody changes. Everything but plain characters is escaped.
fn immutable_uri(path: &Path) -> String {
    let mut uri = String::from("file://");
    let text = path.to_string_lossy();
    if !text.starts_with('/') {
        uri.push('/');
    }
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' | b':' => {
                uri.push(char::from(byte));
            }
            b'\\' if cfg!(windows) => uri.push('/'),
            // Writing to a String cannot fail.
            other => _ = write!(uri, "%{other:02X}"),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

#[cfg(test)]
mod tests {
    use dbagent_core::ConnUrl;

    use super::*;

    /// Each layer is on by itself; a test of what gets through could not tell that one is missing.
    #[test]
    fn every_layer_is_on() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.db");
        Connection::open(&file).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
        let location =
            Location::of(&ConnUrl::parse(&format!("sqlite:///{}", file.display())).unwrap()).unwrap();
        let opener = Opener::new(location, Policy::default(), Duration::from_secs(1)).unwrap();
        let conn = opener.open(&CallContext::within(Duration::from_secs(10))).unwrap();
        let db = &conn.db;
        assert!(db.is_readonly("main").unwrap());
        for (name, value) in
            [("query_only", 1), ("trusted_schema", 0), ("cell_size_check", 1), ("mmap_size", 0)]
        {
            let found: i64 = db.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0)).unwrap();
            assert_eq!(found, value, "{name}");
        }
        for (config, value) in [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false),
        ] {
            assert_eq!(db.db_config(config).unwrap(), value, "{config:?}");
        }
        for (limit, value) in LIMITS {
            assert_eq!(db.limit(*limit).unwrap(), *value, "{limit:?}");
        }
        assert_eq!(db.limit(Limit::SQLITE_LIMIT_ATTACHED).unwrap(), 0);
    }

    #[test]
    fn without_the_authorizer_the_file_is_still_for_reading_only() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.db");
        Connection::open(&file).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
        let location =
            Location::of(&ConnUrl::parse(&format!("sqlite:///{}", file.display())).unwrap()).unwrap();
        let opener = Opener::new(location, Policy::default(), Duration::from_secs(1)).unwrap();
        let mut conn = opener.open(&CallContext::within(Duration::from_secs(10))).unwrap();
        conn.db
            .authorizer(None::<fn(rusqlite::hooks::AuthContext<'_>) -> rusqlite::hooks::Authorization>)
            .unwrap();
        conn.db.execute_batch("PRAGMA query_only = OFF").unwrap();
        for sql in
            ["INSERT INTO t VALUES (1)", "CREATE TABLE u (a)", "DROP TABLE t", "PRAGMA user_version = 5"]
        {
            assert!(conn.db.execute_batch(sql).is_err(), "{sql}");
        }
        let other = folder.path().join("other.db");
        assert!(conn.db.execute("ATTACH ?1 AS o", [other.to_str().unwrap()]).is_err());
        assert!(!other.exists());
    }

    #[test]
    fn uris_escape_what_is_not_plain() {
        let uri = immutable_uri(Path::new("/a b/ü?#%.db"));
        assert_eq!(uri, "file:///a%20b/%C3%BC%3F%23%25.db?immutable=1");
    }
}
