//! What SQL dialects of dbagent share.
//!
//! For those who write a dialect for an SQL database, in this repository or in their own. Who only uses a
//! database needs its dialect crate, not this one.
//!
//! - [`SqlGrammar`] reads a statement with sqlparser and says everything that it does, as the core's
//!   [`Parsed`](dbagent_core::Parsed): class, effects, objects, columns, functions in every position. It is a
//!   `const` of answers where engines differ; what it does not know is refused.
//! - [`functions!`] writes down what an engine's functions do; [`functions::STANDARD`] are those that every
//!   engine has.
//! - [`lex`] cuts a text by an engine's own rules and refuses where sqlparser would cut it differently.
//! - [`Quoting`] makes identifiers a type; [`count_ansi`] and its like print the two statements that the core's
//!   tools need.
//! - [`catalog::Fold`] makes objects out of the flat rows of catalogue queries.
//!
//! The README of the crate shows a dialect's grammar in thirty lines.

pub mod catalog;
pub mod functions;
pub mod lex;

mod grammar;
mod ident;
mod limits;
mod options;
mod place;
mod pragma;
mod print;
mod stray;
mod walk;
mod words;

pub use dbagent_core::Effects;
pub use functions::{FunctionGroup, FunctionTable, Known};
pub use grammar::{AfterFn, BridgeFn, DialectFn, OpeningFn, SqlGrammar};
pub use ident::{Ident, Path, Quoting};
pub use limits::{MAX_CHAIN, MAX_NESTING};
pub use options::{ExplainAnalyze, Folding, Opening, Recursion, ShowNames};
pub use place::Places;
pub use print::{
    count_ansi, count_backtick, count_bracket, count_request, sample_ansi, sample_backtick, sample_bracket,
    sample_request,
};
pub use sqlparser;
pub use stray::TSQL_STATEMENTS;
pub use words::Words;

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
