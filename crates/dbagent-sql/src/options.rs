//! The answers that a dialect gives where engines differ.

/// When a common table expression sees itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Recursion {
    /// Only after `WITH RECURSIVE`; else its own name is the table behind it.
    #[default]
    Keyword,
    /// Always, as in SQLite and SQL Server.
    Always,
}

/// How names of tables and common table expressions compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Folding {
    /// `Users` and `users` are two names.
    #[default]
    Sensitive,
    /// Bare names compare without case, quoted ones with it, as in standard SQL.
    Bare,
    /// All names compare without case, quoted or not, as in SQLite.
    All,
}

/// What EXPLAIN that executes its body (`EXPLAIN ANALYZE`) is, where the body is a pure read. Of anything
/// else it is always refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExplainAnalyze {
    /// A read like the body, under the same limits.
    #[default]
    Allow,
    /// Refused unless the policy allows the choice `explain_analyze`.
    Ask,
}

/// What `SHOW name` is, where sqlparser sees nothing but names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ShowNames {
    /// Unknown: it may show anything, so it is refused.
    #[default]
    Refuse,
    /// A setting, as in PostgreSQL.
    Setting,
}

/// What a statement is that sqlparser does not know, decided by its first words.
#[derive(Debug, Clone, PartialEq)]
pub enum Opening {
    /// All there is to say of it.
    Whole(Box<dbagent_core::Parsed>),
    /// EXPLAIN in words of the engine's own, before a statement that sqlparser does know.
    Explain {
        /// How many of [`Words`](crate::Words) to skip.
        skip: usize,
        /// Whether the body is executed.
        executes: bool,
    },
    /// A statement that ends with a condition over rows of the engine's own, such as `SHOW TABLES WHERE …`.
    Filter {
        /// How many of [`Words`](crate::Words) stand before the condition.
        skip: usize,
        /// What is to be said of the words before it; what the condition does is added.
        parsed: Box<dbagent_core::Parsed>,
    },
}
