//! SQLite for dbagent.
//!
//! For those who let dbagent work on SQLite files. Most name this crate once (the feature `sqlite` of
//! `dbagent` does it for you) and open `sqlite:///file.db`; Rust hosts that have a connection of their own
//! pass it to [`from_connection`].
//!
//! A statement is read by SQLite's own grammar, judged by the core, and run on a connection that SQLite
//! itself keeps from writing: opened read-only, under an authorizer that denies by default, with no trust in
//! the schema of the file. Nothing is stepped unless SQLite, asked what it compiled, agrees with what was
//! judged. The README of the crate lists what is hardened and what a database in WAL mode means.
//!
//! ```no_run
//! use dbagent_core::context::CallContext;
//! use dbagent_core::{ConnUrl, GuardedSession, Target};
//! # async fn open() -> dbagent_core::Result<()> {
//! let target = Target::new("shop", ConnUrl::parse("sqlite:///shop.db")?);
//! let call = CallContext::within(std::time::Duration::from_secs(10));
//! let session = GuardedSession::open(&dbagent_sqlite::DIALECT, target, &call).await?;
//! # drop(session);
//! # Ok(())
//! # }
//! ```

mod account;
mod bind;
mod catalog;
mod compile;
mod connect;
mod count;
mod diagnose;
mod error;
mod file;
mod fulltext;
pub mod functions;
mod ident;
mod location;
mod math;
mod modules;
mod parse;
mod pool;
mod read;
mod resolve;
mod scans;
mod schema;
mod session;
#[cfg(feature = "testing")]
pub mod testing;
mod watch;

use dbagent_core::dialect::{Capabilities, Support};
use dbagent_core::{
    CredentialKey, Dialect, Magic, NameCase, Noun, ObjectName, OpenContext, Request, Result, Session, Target,
};

pub use rusqlite;

use futures_core::future::BoxFuture;

use ident::Qualified;
use session::{CONNECTIONS, SqliteSession};

/// Everything dbagent knows of SQLite.
pub const DIALECT: Dialect = Dialect::new("sqlite", parse::parse, open)
    .name("SQLite")
    .schemes(&["sqlite"])
    .language("SQL")
    .noun(Noun::TABLES)
    .name_case(NameCase::AsciiInsensitive)
    .files(
        &["db", "db3", "sqlite", "sqlite3", "sqlitedb", "s3db", "sl3"],
        &[Magic::new(0, b"SQLite format 3\0")],
    )
    .credential_keys(&[CredentialKey::new(
        "connect_timeout",
        "seconds to wait for a connection and for a lock that another process holds",
    )])
    .capabilities(Capabilities {
        read_only_session: Support::Yes,
        statement_timeout: Support::Emulated,
        cancel: Support::Emulated,
        explain: Support::Yes,
        estimate_rows: Support::No,
        column_rules: Support::Yes,
        positional_parameters: Support::Yes,
        named_parameters: Support::Yes,
        foreign_keys: Support::Yes,
        comments: Support::Emulated,
        mixed_columns: Support::Yes,
        nested_values: Support::No,
        // The one file is the one namespace; it is not shown.
        namespaces: Support::No,
        max_concurrent_reads: CONNECTIONS,
    })
    .prompt(include_str!("prompt.md"))
    .count(count)
    .sample(sample);

dbagent_core::inventory::submit! { DIALECT }

fn open<'a>(target: &'a Target, context: &'a OpenContext) -> BoxFuture<'a, Result<Box<dyn Session>>> {
    Box::pin(async move { Ok(Box::new(SqliteSession::open(target, context).await?) as Box<dyn Session>) })
}

fn count(name: &ObjectName) -> Request {
    Request::text(format!("SELECT count(*) AS \"rows\" FROM {}", Qualified(name)))
}

fn sample(name: &ObjectName) -> Request {
    Request::text(format!("SELECT * FROM {}", Qualified(name)))
}

/// Makes a session over a connection that the host brought, to be guarded by
/// [`GuardedSession::over`](dbagent_core::GuardedSession::over). This is the way to a database in memory.
///
/// The authorizer, `query_only`, defensive mode, distrust of the schema, and the limits are put on the
/// connection, and stay on it. These guarantees of a session that dbagent opens itself are lost:
///
/// - The file may be open for writing: `query_only` and the authorizer stand alone between a statement and
///   a write.
/// - Databases that the host attached are in scope, as namespaces of their own. Attach them before: a rule of
///   the policy may name only those that are there.
/// - Functions, collations and modules that the host registered run if the policy allows them by name
///   (`allow_functions`); what they do is the host's business.
/// - There is one connection: one statement at a time. A handle on it that the host keeps elsewhere, or a
///   transaction that it left open, is not noticed.
/// - Whether the file was deleted or replaced is not noticed.
///
/// # Errors
/// [`Config`](dbagent_core::ErrorKind::Config) for a wrong credential, and for a rule of the policy that names
/// the schema table by another name than `sqlite_schema`; what SQLite says.
pub fn from_connection(connection: rusqlite::Connection, target: &Target) -> Result<Box<dyn Session>> {
    Ok(Box::new(SqliteSession::over(connection, target)?))
}
