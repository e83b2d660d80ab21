//! PostgreSQL for dbagent.

mod functions;
mod parse;

/// The guard's two entrances, for tests that ask it without a session.
#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod guard {
    pub use crate::parse::parse;
}
