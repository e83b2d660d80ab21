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

fn set_up<'a>(
    target: &'a Target,
    steps: &'a [SetupStep],
    context: &'a OpenContext,
) -> BoxFuture<'a, Result<()>> {
    dbagent_mysql_common::account::apply(&FLAVOR, target, steps, context)
}
