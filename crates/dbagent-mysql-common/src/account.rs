//! The account: what it can really do, and how one is set up that can only read.

mod probe;
mod setup;

pub(crate) use probe::probe;
pub use setup::{apply, statements};
