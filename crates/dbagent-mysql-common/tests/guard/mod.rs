//! The tests of the guard, the same for both servers. Each dialect crate runs them as `guard::…` over its
//! flavor; see its `tests/guard.rs`.

mod corpus;
mod live;
mod names;
mod server;

use dbagent_core::Dialect;
use dbagent_mysql_common::flavor::Flavor;

/// What differs between the two crates.
pub(crate) struct Kit {
    /// The dialect's id, which is the name of its folder of corpora.
    pub(crate) id: &'static str,
    pub(crate) flavor: &'static Flavor,
    pub(crate) dialect: &'static Dialect,
}
