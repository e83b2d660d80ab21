//! What MySQL and MariaDB share.
pub mod account;
mod ident;
#[cfg(test)]
mod scratch_tests;
