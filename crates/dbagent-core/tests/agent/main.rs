//! The agent loop, its observations and its facts, on a tiny dialect and a scripted model.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

mod enduring;
mod golden;
mod guarding;
mod history;
mod hosting;
mod observations;
mod properties;
mod resuming;
mod running;
mod secrets;
mod steering;
mod support;
mod watching;
