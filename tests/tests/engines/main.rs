//! The same sample database on every engine gives the same answers, asked by the planner and by a model.
//!
//! SQLite is a file of the repository, DuckDB one that is filled from it; the others are servers whose addresses
//! stand in the environment (`cargo xtask services`). What is not there is printed as skipped.
#![expect(clippy::unwrap_used, reason = "tests")]

#[cfg(feature = "duckdb")]
mod duck;
mod engine;
mod planner;
mod sakila;
mod scripted;
mod tls;
