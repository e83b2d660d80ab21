//! What MySQL and MariaDB share in dbagent.
//!
//! For the two dialect crates, `dbagent-mysql` and `dbagent-mariadb`; who uses a database needs one of those
//! and not this one. It registers nothing: a dialect is [`dialect`] with a [`Flavor`].
//!
//! A statement is read by a grammar and a lexer that follow the server's own SQL mode, judged by the core, and
//! run as one prepared statement on a session that the server keeps from writing: every transaction of it is
//! read-only, also those that statements begin by themselves. The documentation of the dialects says what each
//! server still lets through.

pub mod account;
mod bind;
mod catalog;
mod connect;
mod error;
mod estimate;
pub mod flavor;
pub mod functions;
mod host;
mod ident;
pub mod lex;
mod location;
pub mod parse;
mod pool;
mod probe;
mod read;
mod resolve;
mod server;
mod session;
#[cfg(feature = "testing")]
pub mod testing;
mod tls;
mod types;

use dbagent_core::dialect::{Capabilities, OpenFn, ParseFn, Support};
use dbagent_core::{Dialect, Noun, ObjectName, OpenContext, Request, Result, Session, Target};
use futures_core::future::BoxFuture;

pub use dbagent_sql;
pub use location::CREDENTIAL_KEYS;
pub use sqlx;

use flavor::Flavor;
use session::{CONNECTIONS, MySqlSession};

/// What both servers can do.
pub const CAPABILITIES: Capabilities = Capabilities {
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
    mixed_columns: Support::No,
    nested_values: Support::No,
    namespaces: Support::Yes,
    max_concurrent_reads: CONNECTIONS,
};

/// The descriptor that both dialects start from.
pub const fn dialect(id: &'static str, parse: ParseFn, open: OpenFn) -> Dialect {
    Dialect::new(id, parse, open)
        .default_port(location::PORT)
        .language("SQL")
        .noun(Noun::TABLES)
        .name_case(Flavor::NAME_CASE)
        .credential_keys(CREDENTIAL_KEYS)
        .capabilities(CAPABILITIES)
        .count(count)
        .sample(sample)
}

/// Opens a session on a target.
pub fn open<'a>(
    flavor: &'static Flavor,
    target: &'a Target,
    context: &'a OpenContext,
) -> BoxFuture<'a, Result<Box<dyn Session>>> {
    Box::pin(
        async move { Ok(Box::new(MySqlSession::open(flavor, target, context).await?) as Box<dyn Session>) },
    )
}

/// Makes a session over a pool that the host brought.
///
/// # Errors
/// What the server says on the first connection.
pub async fn from_pool(
    flavor: &'static Flavor,
    pool: sqlx::MySqlPool,
    target: &Target,
) -> Result<Box<dyn Session>> {
    Ok(Box::new(MySqlSession::over_pool(flavor, pool, target).await?))
}

fn count(name: &ObjectName) -> Request {
    dbagent_sql::count_backtick(name)
}

fn sample(name: &ObjectName) -> Request {
    dbagent_sql::sample_backtick(name)
}
