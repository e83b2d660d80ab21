//! What SQL dialects of dbagent share, for those who write one: parsing into
//! [`Parsed`](dbagent_core::Parsed), identifiers, printers, and the folding of catalogue rows.

pub mod functions;
pub mod lex;

mod grammar;
mod ident;
mod limits;
mod options;
mod place;
mod pragma;
mod print;
mod walk;
mod words;

pub use dbagent_core::Effects;
pub use functions::{FunctionGroup, FunctionTable, Known};
pub use grammar::{AfterFn, OpeningFn, SqlGrammar};
pub use ident::{Ident, Path, Quoting};
pub use limits::{MAX_CHAIN, MAX_NESTING};
pub use options::{ExplainAnalyze, Folding, Opening, Recursion, ShowNames};
pub use place::Places;
pub use print::{
    count_ansi, count_backtick, count_bracket, count_request, sample_ansi, sample_backtick, sample_bracket,
    sample_request,
};
pub use sqlparser;
pub use words::Words;
