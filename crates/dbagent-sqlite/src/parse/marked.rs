//! Gives names their place back.
//!
//! The parser's tree holds names as texts and no places. So the parser reads the statement with each plain
//! identifier replaced by the number of its token in double quotes, which is an identifier too: the tree
//! is the same, and each name in it says which token it is. What runs is the judged text; this copy is
//! only read. Keywords that serve as names stay as they are and are found by their text.

use std::collections::HashMap;

use dbagent_core::guard::Span;
use sqlite3_parser::dialect::TokenType;

use super::lex::{Tokens, unquote};

/// Words that the grammar tells apart although they are identifiers.
const KEPT: &[&str] = &["rowid", "strict", "stored"];

/// A name of the tree, read back.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Word {
    /// Without quotes.
    pub(crate) text: String,
    pub(crate) span: Option<Span>,
}

/// How the copy that the parser reads spells identifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// As numbers of tokens.
    Numbered,
    /// As written.
    Plain,
}

/// The copy that the parser reads, and the way back from its names.
pub(crate) struct Marks<'t> {
    tokens: &'t Tokens<'t>,
    spelling: Spelling,
    text: String,
    /// Where each token begins in the copy.
    starts: Vec<usize>,
    by_text: HashMap<&'t str, usize>,
}

impl<'t> Marks<'t> {
    /// Writes the copy. Tokens are set apart in it, so that none run together.
    pub(crate) fn new(tokens: &'t Tokens<'t>, spelling: Spelling) -> Self {
        let mut by_text = HashMap::new();
        let mut text = String::new();
        let mut starts = Vec::with_capacity(tokens.list().len());
        for (index, token) in tokens.list().iter().enumerate() {
            let own = tokens.slice(token.span);
            starts.push(text.len());
            let kept = KEPT.iter().any(|k| k.eq_ignore_ascii_case(own));
            if spelling == Spelling::Numbered && token.kind == TokenType::TK_ID && !kept {
                text.push('"');
                text.push_str(&index.to_string());
                text.push('"');
            } else {
                text.push_str(own);
                by_text.entry(own).or_insert(index);
            }
            text.push(' ');
        }
        Self { tokens, spelling, text, starts, by_text }
    }

    /// The copy.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The tokens that the copy was made of.
    pub(crate) fn tokens(&self) -> &'t Tokens<'t> {
        self.tokens
    }

    /// The token at or before a place of the copy.
    pub(crate) fn token_at(&self, place: usize) -> Option<usize> {
        self.starts.partition_point(|start| *start <= place).checked_sub(1)
    }

    /// The name behind a text of the tree.
    pub(crate) fn word(&self, raw: &str) -> Word {
        if self.spelling == Spelling::Numbered
            && let Some(index) = number(raw)
            && let Some(token) = self.tokens.list().get(index)
        {
            return Word { text: unquote(self.tokens.text_of(index)), span: Some(token.span) };
        }
        let span = self.by_text.get(raw).and_then(|i| self.tokens.list().get(*i)).map(|t| t.span);
        Word { text: unquote(raw), span }
    }
}

fn number(raw: &str) -> Option<usize> {
    raw.strip_prefix('"')?.strip_suffix('"')?.parse().ok()
}
