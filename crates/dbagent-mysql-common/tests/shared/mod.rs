//! What the tests of both dialects share. Each says in its `own` which one it is.

pub(crate) mod fixture;
pub(crate) mod material;
