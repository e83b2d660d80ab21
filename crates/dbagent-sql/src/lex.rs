//! A small lexer of our own, and its comparison with sqlparser's.
//!
//! Where a string or a comment ends decides what is code. A parser that reads `'\''` differently from the
//! engine judges another statement than the one that runs. So the text is cut twice: by the engine's rules
//! ([`lex`] under [`LexRules`]), and by sqlparser's tokenizer; [`agree`] refuses where the two differ.

mod agree;
mod rules;
mod scan;

pub use agree::agree;
pub use rules::{BlockComment, Brackets, DashComment, DoubleQuotes, Hints, LexRules};
pub use scan::lex;

use dbagent_core::guard::{Finding, Span};
use dbagent_core::{Error, ErrorKind};

/// A piece of the text that is not blank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lexeme {
    /// What it is.
    pub kind: LexKind,
    /// Where it is. A string's prefix (`E`, `N`, `x` …) is a word of its own before it.
    pub span: Span,
}

/// What a piece of the text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LexKind {
    /// A comment.
    Comment,
    /// A string with its quotes.
    String,
    /// An identifier with its quotes.
    QuotedIdent,
    /// A keyword or a bare identifier.
    Word,
    /// A number.
    Number,
    /// One character of punctuation.
    Symbol,
}

/// Why a text cannot be cut.
#[derive(Debug)]
pub enum LexFault {
    /// The engine would not accept it either: an error of kind [`ErrorKind::Syntax`].
    Syntax(Error),
    /// The engine may accept it, but it must not run.
    Refused(Finding),
}

impl LexFault {
    fn open(what: &str, at: usize) -> Self {
        Self::Syntax(
            Error::new(ErrorKind::Syntax, format!("this {what} is not closed"))
                .at(at)
                .hint("Close it; a quote inside is written twice."),
        )
    }
}
