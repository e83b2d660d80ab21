//! Everything that needs a real server, the same for both dialects. Each says in its `own` which one it is.

mod account;
mod bad_input;
mod catalogue;
mod errors;
mod hidden;
mod host;
mod host_habits;
mod hygiene;
mod login;
mod lost;
pub(crate) mod modes;
mod plans;
mod proxy;
mod stopping;
pub(crate) mod support;
mod trips;
mod types;
