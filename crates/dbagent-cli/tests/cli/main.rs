//! The built binary, as people and scripts use it: output, errors, exit codes.
#![cfg(all(feature = "sqlite", feature = "offline", feature = "openai"))]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what a test does not expect is a failure of the test"
)]

mod accounts;
mod ask;
mod batch;
mod config;
mod judge;
mod look;
mod run;
mod secrets;
mod streams;
mod support;
