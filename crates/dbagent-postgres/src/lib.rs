//! PostgreSQL for dbagent.
mod account;
mod ident;
#[cfg(test)]
mod scratch_tests;
