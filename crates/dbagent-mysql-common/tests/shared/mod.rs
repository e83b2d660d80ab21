//! What the tests of both dialects share. Each says in its `own.rs` which one it is.

pub(crate) mod fixture;
pub(crate) mod material;
