//! How an engine cuts text into strings, quoted names and comments.

/// What `--` begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DashComment {
    /// A comment, always.
    Always,
    /// A comment only before a blank or the end of the text, as in MySQL; else two minus signs.
    BeforeBlank,
}

/// How `/* … */` ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockComment {
    /// At the first `*/`.
    Flat,
    /// At the `*/` that matches.
    Nested,
    /// Nobody can say: a comment that holds `/*` is refused.
    RefuseNested,
}

/// What text in double quotes is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DoubleQuotes {
    /// An identifier; a backslash in it means itself.
    Identifier,
    /// A string, with the escapes of strings.
    String,
}

/// What square brackets are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Brackets {
    /// Subscripts and arrays.
    Symbols,
    /// Identifiers that end at the first `]`, as in SQLite.
    Identifier,
    /// Identifiers with `]]` for a closing bracket, as in SQL Server.
    DoubledIdentifier,
}

/// What `/*+ … */` and `--+ …` are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hints {
    /// A comment.
    Ignore,
    /// An instruction to the optimizer, which may lift limits (`SET_VAR`): refused.
    Refuse,
    /// An instruction to the optimizer. Those of these names, in lower case, only say how rows are found; all
    /// others are refused.
    Named(&'static [&'static str]),
}

/// How an engine cuts text into strings, quoted names and comments, under the settings of a session.
///
/// These decide what is text and what is code, so a grammar and its parser must agree on them:
/// [`lex`](super::lex) cuts by these rules, and what sqlparser cut differently is refused. Start with
/// [`LexRules::ANSI`] and set what differs.
///
/// ```
/// use dbagent_sql::lex::{BlockComment, DashComment, DoubleQuotes, LexRules};
/// const MYSQL: LexRules = LexRules::ANSI
///     .dash_comment(DashComment::BeforeBlank)
///     .hash_comments(true)
///     .block_comment(BlockComment::Flat)
///     .executable_comments(true)
///     .backslash_escapes(true)
///     .double_quotes(DoubleQuotes::String)
///     .backticks(true);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LexRules {
    pub(super) dash: DashComment,
    pub(super) hash: bool,
    pub(super) slashes: bool,
    pub(super) block: BlockComment,
    pub(super) open_comment: bool,
    pub(super) executable: bool,
    pub(super) hints: Hints,
    pub(super) return_ends_comment: bool,
    pub(super) backslash: bool,
    pub(super) escape_strings: bool,
    pub(super) raw_strings: bool,
    pub(super) quoted_strings: bool,
    pub(super) triple_quotes: bool,
    pub(super) dollar_quotes: bool,
    pub(super) double_quotes: DoubleQuotes,
    pub(super) backticks: bool,
    pub(super) brackets: Brackets,
    pub(super) operators: bool,
}

impl LexRules {
    /// Standard SQL: `--` comments, comments in comments refused, hints refused, `"name"`, `'it''s'`.
    pub const ANSI: LexRules = LexRules {
        dash: DashComment::Always,
        hash: false,
        slashes: false,
        block: BlockComment::RefuseNested,
        open_comment: false,
        executable: false,
        hints: Hints::Refuse,
        return_ends_comment: false,
        backslash: false,
        escape_strings: false,
        raw_strings: false,
        quoted_strings: false,
        triple_quotes: false,
        dollar_quotes: false,
        double_quotes: DoubleQuotes::Identifier,
        backticks: false,
        brackets: Brackets::Symbols,
        operators: false,
    };

    /// Sets what `--` begins.
    pub const fn dash_comment(mut self, rule: DashComment) -> Self {
        self.dash = rule;
        self
    }

    /// Whether `#` begins a comment to the end of the line.
    pub const fn hash_comments(mut self, yes: bool) -> Self {
        self.hash = yes;
        self
    }

    /// Whether `//` begins a comment to the end of the line.
    pub const fn slash_comments(mut self, yes: bool) -> Self {
        self.slashes = yes;
        self
    }

    /// Sets how `/* … */` ends.
    pub const fn block_comment(mut self, rule: BlockComment) -> Self {
        self.block = rule;
        self
    }

    /// Whether a block comment may run to the end of the text.
    pub const fn unterminated_comment(mut self, yes: bool) -> Self {
        self.open_comment = yes;
        self
    }

    /// Whether `/*! … */` and `/*M! … */` are executed. Such comments are then refused, whatever they hold.
    pub const fn executable_comments(mut self, yes: bool) -> Self {
        self.executable = yes;
        self
    }

    /// Sets what `/*+ … */` and `--+ …` are.
    pub const fn hints(mut self, rule: Hints) -> Self {
        self.hints = rule;
        self
    }

    /// Whether a carriage return ends a line comment, as in PostgreSQL.
    pub const fn return_ends_comment(mut self, yes: bool) -> Self {
        self.return_ends_comment = yes;
        self
    }

    /// Whether a backslash escapes the next character of a string.
    pub const fn backslash_escapes(mut self, yes: bool) -> Self {
        self.backslash = yes;
        self
    }

    /// Whether `E'…'` is a string with backslash escapes.
    pub const fn escape_strings(mut self, yes: bool) -> Self {
        self.escape_strings = yes;
        self
    }

    /// Whether `r'…'` is a string in which a backslash escapes nothing but still keeps a quote, as in BigQuery.
    pub const fn raw_strings(mut self, yes: bool) -> Self {
        self.raw_strings = yes;
        self
    }

    /// Whether `q'[…]'` is a string, as in Oracle.
    pub const fn quoted_strings(mut self, yes: bool) -> Self {
        self.quoted_strings = yes;
        self
    }

    /// Whether `'''…'''` and `"""…"""` are strings, as in BigQuery.
    pub const fn triple_quotes(mut self, yes: bool) -> Self {
        self.triple_quotes = yes;
        self
    }

    /// Whether `$tag$…$tag$` is a string.
    pub const fn dollar_quotes(mut self, yes: bool) -> Self {
        self.dollar_quotes = yes;
        self
    }

    /// Sets what text in double quotes is.
    pub const fn double_quotes(mut self, rule: DoubleQuotes) -> Self {
        self.double_quotes = rule;
        self
    }

    /// Whether `` `name` `` is an identifier.
    pub const fn backticks(mut self, yes: bool) -> Self {
        self.backticks = yes;
        self
    }

    /// Sets what square brackets are.
    pub const fn brackets(mut self, rule: Brackets) -> Self {
        self.brackets = rule;
        self
    }

    /// Whether anybody can define operators, as in PostgreSQL: what stands together without a blank is then
    /// one operator, and sqlparser must see it as one.
    pub const fn custom_operators(mut self, yes: bool) -> Self {
        self.operators = yes;
        self
    }
}
