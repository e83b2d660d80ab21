//! PostgreSQL for dbagent.

mod functions;
mod parse;
mod resolve;

/// The guard's two entrances, for tests that ask it without a session.
#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod guard {
    pub use crate::parse::parse;
    pub use crate::resolve::resolve;
}
