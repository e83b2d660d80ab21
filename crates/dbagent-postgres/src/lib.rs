//! PostgreSQL for dbagent.
//!
//! For those who let dbagent work on PostgreSQL, versions 13 to 18. Most name this crate once (the feature
//! `postgres` of `dbagent` does it for you) and open `postgres://user@host/database`; Rust hosts that have a
//! pool of their own pass it to [`from_pool`].
//!
//! A statement is read by PostgreSQL's own grammar, judged by the core with every function, operator and
//! view looked up in the live catalogue, and run in a read-only transaction of its own, under limits that the
//! server keeps too. It is sent in the extended protocol, which takes one statement a message. When enough
//! rows came, or the time is over, it is cancelled on the server. Nothing that a statement does to its
//! connection outlives it. The README of the crate lists what is hardened, and by what.
//!
//! ```no_run
//! use dbagent_core::context::CallContext;
//! use dbagent_core::{ConnUrl, GuardedSession, Target};
//! # async fn open() -> dbagent_core::Result<()> {
//! let target = Target::new("shop", ConnUrl::parse("postgres://reader@db.example.org/shop?sslmode=verify-full")?);
//! let call = CallContext::within(std::time::Duration::from_secs(10));
//! let session = GuardedSession::open(&dbagent_postgres::DIALECT, target, &call).await?;
//! # drop(session);
//! # Ok(())
//! # }
//! ```

mod account;
mod bind;
mod catalog;
mod connect;
mod cursor;
mod error;
mod functions;
mod ident;
mod options;
mod parse;
mod plan;
mod pool;
mod read;
mod resolve;
mod session;
#[cfg(feature = "testing")]
pub mod testing;
mod transaction;
mod types;

use dbagent_core::account::RoleSetup;
use dbagent_core::dialect::{Capabilities, Support};
use dbagent_core::{
    CredentialKey, Dialect, NameCase, Noun, ObjectName, OpenContext, Request, Result, Session, Target,
};
use futures_core::future::BoxFuture;

pub use error::ServerError;
pub use sqlx;

use ident::Qualified;
use session::{CONNECTIONS, PostgresSession};

/// The guard's entrances, for tests that ask it without a session.
#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod guard {
    use dbagent_core::guard::{Needs, Parsed, Resolution};
    use dbagent_core::guardrails::StatementLimits;
    use dbagent_core::{ParseContext, Request, Result};

    pub fn parse(request: &Request, context: &ParseContext) -> Result<Parsed> {
        crate::parse::parse(request, context)
    }

    pub async fn resolve(
        connection: &mut sqlx::PgConnection,
        needs: &Needs,
        limits: StatementLimits,
    ) -> Result<Resolution> {
        crate::resolve::resolve(connection, needs, limits).await
    }
}

/// Everything dbagent knows of PostgreSQL.
pub const DIALECT: Dialect = Dialect::new("postgres", parse::parse, open)
    .name("PostgreSQL")
    .schemes(&["postgres", "postgresql"])
    .default_port(options::PORT)
    .language("SQL")
    .noun(Noun::TABLES)
    .name_case(NameCase::Sensitive)
    .credential_keys(&[
        CredentialKey::new("user", "the account"),
        CredentialKey::new("password", "its password").secret(),
        CredentialKey::new("database", "the database, where the URL names none").aliases(&["db"]),
        CredentialKey::new("connect_timeout", "seconds to wait for a connection"),
    ])
    .capabilities(Capabilities {
        read_only_session: Support::Yes,
        statement_timeout: Support::Yes,
        cancel: Support::Yes,
        explain: Support::Yes,
        estimate_rows: Support::Yes,
        column_rules: Support::Yes,
        positional_parameters: Support::Yes,
        named_parameters: Support::No,
        foreign_keys: Support::Yes,
        comments: Support::Yes,
        // A column has one type; arrays, composites and JSON are nested values.
        mixed_columns: Support::No,
        nested_values: Support::Yes,
        namespaces: Support::Yes,
        max_concurrent_reads: CONNECTIONS,
    })
    .prompt(include_str!("prompt.md"))
    .count(count)
    .sample(sample)
    .role_setup(RoleSetup::new(account::statements, account::apply))
    .plan_reader(plan::read_printed);

dbagent_core::inventory::submit! { DIALECT }

fn open<'a>(target: &'a Target, context: &'a OpenContext) -> BoxFuture<'a, Result<Box<dyn Session>>> {
    Box::pin(async move { Ok(Box::new(PostgresSession::open(target, context).await?) as Box<dyn Session>) })
}

fn count(name: &ObjectName) -> Request {
    Request::text(format!("SELECT count(*) AS \"rows\" FROM {}", Qualified(name)))
}

fn sample(name: &ObjectName) -> Request {
    Request::text(format!("SELECT * FROM {}", Qualified(name)))
}

/// Makes a session over a pool that the host brought, to be guarded by
/// [`GuardedSession::over`](dbagent_core::GuardedSession::over).
///
/// Every statement still runs in a read-only transaction with pinned settings, and is cancelled and reset as
/// on connections of our own. One connection beside the pool is opened with the pool's options: it cancels
/// what the others run. These guarantees of a session that dbagent opens itself are lost:
///
/// - What the URL would have checked is the host's business: encryption, the kind of server, which account.
/// - Connections may be held by others of the host: waiting for one is bounded by the pool's own time, and
///   the error then is of the kind [`TooManyConnections`](dbagent_core::ErrorKind::TooManyConnections).
/// - What the host did to a connection before is not undone: temporary tables, prepared statements, settings
///   that are not pinned. Advisory locks that it holds are released, what it listens to is dropped.
/// - Statements that the pool keeps prepared are forgotten after each call, as behind a pooler.
/// - The driver logs statements as the host's options say.
///
/// # Errors
/// What the server says when the one connection is opened.
pub async fn from_pool(pool: sqlx::PgPool, target: &Target) -> Result<Box<dyn Session>> {
    Ok(Box::new(PostgresSession::over_pool(pool, target).await?))
}
