//! DuckDB for dbagent.
//!
//! For those who let dbagent work on DuckDB files, or on a folder of Parquet, CSV and JSON files. Most name
//! this crate once (the feature `duckdb` of `dbagent` does it for you) and open `duckdb:///file.db`, or
//! `duckdb:///folder/` with a slash at its end; Rust hosts that have a connection of their own pass it to
//! [`from_connection`]. The README of the crate says how the library of DuckDB is found.
//!
//! A statement is read by DuckDB's own grammar, judged by the core, and run on a database that DuckDB itself
//! keeps from writing: opened read-only, without files, network and extensions, its settings locked. Results
//! are DuckDB's own Arrow batches, streamed.
//!
//! ```no_run
//! use dbagent_core::context::CallContext;
//! use dbagent_core::{ConnUrl, GuardedSession, Target};
//! # async fn open() -> dbagent_core::Result<()> {
//! let target = Target::new("shop", ConnUrl::parse("duckdb:///shop.db")?);
//! let call = CallContext::within(std::time::Duration::from_secs(10));
//! let session = GuardedSession::open(&dbagent_duckdb::DIALECT, target, &call).await?;
//! # drop(session);
//! # Ok(())
//! # }
//! ```

mod account;
mod bind;
mod catalog;
mod connect;
mod convert;
mod error;
mod file;
pub mod functions;
mod ident;
mod lake;
mod location;
mod parse;
mod plan;
mod pool;
mod read;
mod resolve;
mod schema;
mod session;
mod spill;
#[cfg(feature = "testing")]
pub mod testing;
mod watch;

use dbagent_core::dialect::{Capabilities, Support};
use dbagent_core::{Dialect, NameCase, Noun, ObjectName, OpenContext, Request, Result, Session, Target};

pub use duckdb;

use futures_core::future::BoxFuture;

use ident::Qualified;
use session::{CONNECTIONS, DuckdbSession};

/// Everything dbagent knows of DuckDB.
pub const DIALECT: Dialect = Dialect::new("duckdb", parse::parse, open)
    .name("DuckDB")
    .schemes(&["duckdb"])
    .language("SQL")
    .noun(Noun::TABLES)
    .name_case(NameCase::AsciiInsensitive)
    .capabilities(Capabilities {
        read_only_session: Support::Yes,
        statement_timeout: Support::Emulated,
        cancel: Support::Emulated,
        explain: Support::Yes,
        estimate_rows: Support::Yes,
        column_rules: Support::Yes,
        positional_parameters: Support::Yes,
        named_parameters: Support::Yes,
        foreign_keys: Support::Yes,
        comments: Support::Yes,
        mixed_columns: Support::No,
        nested_values: Support::Yes,
        namespaces: Support::Yes,
        max_concurrent_reads: CONNECTIONS,
    })
    .prompt(include_str!("prompt.md"))
    .scratch(parse::scratch)
    .count(count)
    .sample(sample);

dbagent_core::inventory::submit! { DIALECT }

fn open<'a>(target: &'a Target, context: &'a OpenContext) -> BoxFuture<'a, Result<Box<dyn Session>>> {
    Box::pin(async move { Ok(Box::new(DuckdbSession::open(target, context).await?) as Box<dyn Session>) })
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
/// Files, the network and extensions are taken out of reach and the settings are locked, for the whole
/// database and for good: the host's own statements on it are held to that too. These guarantees of a
/// session that dbagent opens itself are lost:
///
/// - The database may be open for writing: the guard stands alone between a statement and a write.
/// - Databases that the host attached can be named by statements; their objects are not listed, and rules
///   for objects know them by `database.schema`.
/// - The catalogue is read once: tables, views and functions that the host makes later are not known to the
///   guard. A function that takes the name of one of the engine's after that is called unseen.
/// - Limits of memory, threads and temporary files are the host's.
///
/// # Errors
/// [`Refused`](dbagent_core::ErrorKind::Refused) when the settings are locked already; what the engine says.
pub fn from_connection(connection: duckdb::Connection, target: &Target) -> Result<Box<dyn Session>> {
    Ok(Box::new(DuckdbSession::over(connection, target)?))
}
