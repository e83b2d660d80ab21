//! Ledger files for dbagent: a whole dialect, written the way a stranger writes one.
//!
//! A ledger is a SQLite file, `ledger:///path/to/file`, of which only the tables can be read.

mod engine;
mod session;

use dbagent_core::guard::Parsed;
use dbagent_core::{Capabilities, Dialect, NameCase, ParseContext, Request, Result, Support};
use dbagent_sql::sqlparser::dialect::SQLiteDialect;
use dbagent_sql::{Folding, Recursion, SqlGrammar, count_ansi, functions::STANDARD, sample_ansi};

/// Everything dbagent knows of ledgers.
pub const DIALECT: Dialect = Dialect::new("ledger", parse, session::open)
    .name("Ledger")
    .name_case(NameCase::AsciiInsensitive)
    .capabilities(Capabilities {
        read_only_session: Support::Yes,
        statement_timeout: Support::Emulated,
        cancel: Support::Emulated,
        column_rules: Support::Yes,
        mixed_columns: Support::Yes,
        max_concurrent_reads: 8,
        ..Capabilities::NONE
    })
    .prompt("Amounts are decimal numbers. Dates are text, such as 2024-05-01.")
    .count(count_ansi)
    .sample(sample_ansi);

dbagent_core::inventory::submit! { DIALECT }

const GRAMMAR: SqlGrammar =
    SqlGrammar::new(&SQLiteDialect {}, &STANDARD).folding(Folding::All).recursion(Recursion::Always);

fn parse(request: &Request, context: &ParseContext) -> Result<Parsed> {
    GRAMMAR.parse(request, context)
}

#[cfg(feature = "testing")]
pub use engine::connect;
