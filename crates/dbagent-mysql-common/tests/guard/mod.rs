//! The tests of the guard, the same for both servers. Each dialect crate runs them as `guard::…` over its
//! flavor; see its `tests/guard.rs`.

mod corpus;
mod depth;
mod door;
mod functions;
mod fuzz;
mod lexing;
mod live;
mod names;
mod reasons;
mod server;
mod state;

use dbagent_core::Dialect;
use dbagent_mysql_common::flavor::Flavor;

/// What differs between the two crates.
pub(crate) struct Kit {
    /// The dialect's id, which is the name of its folder of corpora.
    pub(crate) id: &'static str,
    pub(crate) flavor: &'static Flavor,
    pub(crate) dialect: &'static Dialect,
    /// Deny rows that change something on a hardened connection of an owner all the same: only the guard stops
    /// them, or the rights of the account.
    pub(crate) still_change: &'static [&'static str],
}
