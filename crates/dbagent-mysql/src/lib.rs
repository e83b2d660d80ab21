//! MySQL for dbagent.
//!
//! For those who let dbagent work on MySQL databases. Most name this crate once (the feature `mysql` of
//! `dbagent` does it for you) and open `mysql://user@host/database`.
//!
//! A statement is read by a grammar and a lexer that follow the server's own SQL mode, judged by the core, and
//! run as one prepared statement on a session whose every transaction is read-only. The README of the crate
//! lists URLs, TLS, and what is hardened; the page `docs/dialects/mysql.md` says what the account needs.
//!
//! ```no_run
//! use dbagent_core::context::CallContext;
//! use dbagent_core::{ConnUrl, GuardedSession, Target};
//! # async fn open() -> dbagent_core::Result<()> {
//! let target = Target::new("shop", ConnUrl::parse("mysql://reader@db.example/shop?ssl-mode=VERIFY_IDENTITY")?);
//! let call = CallContext::within(std::time::Duration::from_secs(10));
//! let session = GuardedSession::open(&dbagent_mysql::DIALECT, target, &call).await?;
//! # drop(session);
//! # Ok(())
//! # }
//! ```

mod flavor;
mod functions;
#[cfg(feature = "testing")]
pub mod testing;

use dbagent_core::account::{RoleSetup, SetupStep};
use dbagent_core::{
    Capabilities, Dialect, OpenContext, ParseContext, Parsed, Request, Result, Session, Support, Target,
};
use dbagent_mysql_common::CAPABILITIES;
use futures_core::future::BoxFuture;

pub use dbagent_mysql_common::sqlx;
pub use flavor::FLAVOR;

/// Everything dbagent knows of MySQL.
pub const DIALECT: Dialect = dbagent_mysql_common::dialect("mysql", parse, open)
    .name("MySQL")
    .schemes(&["mysql"])
    // A JSON column holds them.
    .capabilities(Capabilities { nested_values: Support::Yes, ..CAPABILITIES })
    .prompt(include_str!("prompt.md"))
    .role_setup(RoleSetup::new(dbagent_mysql_common::account::statements, set_up));

dbagent_core::inventory::submit! { DIALECT }

fn parse(request: &Request, context: &ParseContext) -> Result<Parsed> {
    dbagent_mysql_common::parse::parse(&FLAVOR, request, context)
}

fn open<'a>(target: &'a Target, context: &'a OpenContext) -> BoxFuture<'a, Result<Box<dyn Session>>> {
    dbagent_mysql_common::open(&FLAVOR, target, context)
}

/// Makes a session over a pool that the host brought, to be guarded by
/// [`GuardedSession::over`](dbagent_core::GuardedSession::over).
///
/// Each call borrows a connection, sets it to what connections of our own are set to, runs its statement in a
/// read-only transaction, stops and checks it as always, and puts back what it set: SQL mode, time zone, character
/// sets, autocommit, database, time limit, the kind of transactions and more. A connection that cannot be put back
/// is closed, and the pool makes another. One connection beside the pool, made with the pool's options once a
/// statement has to be stopped, ends what the others run. These guarantees of a session that dbagent opens itself
/// are lost:
///
/// - What the URL would have checked is the host's business: encryption, which account, time limits of the network.
/// - Connections may be held by others of the host: waiting for one is bounded by the pool's own time, and
///   the error then is of the kind [`TooManyConnections`](dbagent_core::ErrorKind::TooManyConnections).
/// - What the host left on a connection is not undone: temporary tables, which hide the tables that were judged and
///   which a read-only transaction may still write, user variables, roles, settings that are not named above. A
///   transaction that was left open is rolled back, and locks are released.
/// - The session's database and SQL mode are those of the first connection that it borrows.
/// - A read takes nine round trips instead of five, and the pool's own test of a connection. What the host has
///   prepared is used for no statement that was judged, and stays; questions about the catalogue close it before and
///   after them, and it is prepared again when the host next runs it.
/// - The driver logs statements as the host's options say.
///
/// # Errors
/// What the server says on the first connection; that it is another server.
pub async fn from_pool(pool: sqlx::MySqlPool, target: &Target) -> Result<Box<dyn Session>> {
    dbagent_mysql_common::from_pool(&FLAVOR, pool, target).await
}

fn set_up<'a>(
    target: &'a Target,
    steps: &'a [SetupStep],
    context: &'a OpenContext,
) -> BoxFuture<'a, Result<()>> {
    dbagent_mysql_common::account::apply(&FLAVOR, target, steps, context)
}
