//! The limits that no prompt can lift.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};

/// What happens when a result has more rows than the call's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnOverflow {
    /// The first rows are shown under a first line that says INCOMPLETE.
    #[default]
    Show,
    /// Nothing is shown but lower bounds of the size.
    Refuse,
}

/// The limits of one target. Every field has the documented default; hosts set what they need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Guardrails {
    /// Rows of a `query` that names no limit: 100.
    #[schemars(range(min = 1))]
    pub default_rows: u64,
    /// Largest limit that a call may name: 1,000.
    #[schemars(range(min = 1))]
    pub hard_max_rows: u64,
    /// What happens when there are more rows than the limit.
    pub on_overflow: OnOverflow,
    /// Estimated rows of a result above which a statement is refused before it runs: 1,000,000.
    pub explain_row_threshold: u64,
    /// Estimated rows read above which a statement is refused; off by default, since aggregating a large
    /// table in the database is what is wanted.
    pub max_scan_rows: Option<u64>,
    /// Seconds one statement may take: 30.
    #[schemars(range(min = 1))]
    pub query_timeout_s: u64,
    /// Rows that a thread may fetch in all: 10,000,000.
    pub row_budget: u64,
    /// Tokens of one observation: 5,000.
    #[schemars(range(min = 1))]
    pub max_result_tokens: u64,
    /// Bytes of one result held in memory: 10 MiB.
    #[schemars(range(min = 1))]
    pub max_result_bytes: u64,
    /// Bytes of one value: 1 MiB.
    #[schemars(range(min = 1))]
    pub max_cell_bytes: u64,
    /// Characters of one value as shown to the model; the whole value stays in the artifact: 500.
    #[schemars(range(min = 1))]
    pub max_cell_chars: usize,
    /// Bytes of one statement: 64 KiB.
    #[schemars(range(min = 1))]
    pub max_statement_bytes: usize,
    /// Tokens of one statement, as the dialect's lexer counts them: 10,000.
    #[schemars(range(min = 1))]
    pub max_statement_tokens: usize,
    /// Seconds that what was learnt of the catalogue may be reused where the engine has no version: 5.
    pub catalogue_ttl_s: u64,
    /// Seconds to wait for a connection: 10.
    #[schemars(range(min = 1))]
    pub connect_timeout_s: u64,
}

impl Default for Guardrails {
    fn default() -> Self {
        Self {
            default_rows: 100,
            hard_max_rows: 1_000,
            on_overflow: OnOverflow::Show,
            explain_row_threshold: 1_000_000,
            max_scan_rows: None,
            query_timeout_s: 30,
            row_budget: 10_000_000,
            max_result_tokens: 5_000,
            max_result_bytes: 10 << 20,
            max_cell_bytes: 1 << 20,
            max_cell_chars: 500,
            max_statement_bytes: 64 << 10,
            max_statement_tokens: 10_000,
            catalogue_ttl_s: 5,
            connect_timeout_s: 10,
        }
    }
}

impl Guardrails {
    /// Checks that something can be done within them at all.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] for a limit of 0 under which every call would fail. A `row_budget`, a
    /// `catalogue_ttl_s` and the thresholds of estimates may be 0.
    pub fn check(&self) -> Result<()> {
        for (name, value) in [
            ("default_rows", self.default_rows),
            ("hard_max_rows", self.hard_max_rows),
            ("query_timeout_s", self.query_timeout_s),
            ("max_result_tokens", self.max_result_tokens),
            ("max_result_bytes", self.max_result_bytes),
            ("max_cell_bytes", self.max_cell_bytes),
            ("max_cell_chars", self.max_cell_chars as u64),
            ("max_statement_bytes", self.max_statement_bytes as u64),
            ("max_statement_tokens", self.max_statement_tokens as u64),
            ("connect_timeout_s", self.connect_timeout_s),
        ] {
            if value == 0 {
                return Err(Error::new(ErrorKind::Config, format!("the limit {name} must not be 0"))
                    .hint("leave it out for its default"));
            }
        }
        Ok(())
    }

    /// The time limit of one statement.
    pub fn query_timeout(&self) -> Duration {
        Duration::from_secs(self.query_timeout_s)
    }

    /// The limits that a parser works under.
    pub fn statement_limits(&self) -> StatementLimits {
        StatementLimits { bytes: self.max_statement_bytes, tokens: self.max_statement_tokens }
    }
}

/// How large a statement may be, checked before any parser sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatementLimits {
    /// Most bytes.
    pub bytes: usize,
    /// Most tokens.
    pub tokens: usize,
}

impl Default for StatementLimits {
    fn default() -> Self {
        Guardrails::default().statement_limits()
    }
}
