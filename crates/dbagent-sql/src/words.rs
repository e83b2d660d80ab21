//! The pieces of a statement as a dialect's own rules see them.

use dbagent_core::ObjectName;
use dbagent_core::guard::Span;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::place::Places;

/// The words, names and marks of a statement in order, without blanks and comments.
pub struct Words<'a> {
    tokens: Vec<&'a TokenWithSpan>,
    places: &'a Places<'a>,
}

impl<'a> Words<'a> {
    pub(crate) fn new(tokens: &'a [TokenWithSpan], places: &'a Places<'a>) -> Self {
        let tokens = tokens.iter().filter(|t| !matches!(t.token, Token::Whitespace(_))).collect();
        Self { tokens, places }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The bare word at `index` as it is written; `None` for names in quotes and for everything else.
    pub fn word(&self, index: usize) -> Option<&'a str> {
        match &self.tokens.get(index)?.token {
            Token::Word(w) if w.quote_style.is_none() => Some(&w.value),
            _ => None,
        }
    }

    /// Whether the words from `index` on are these, whatever their case.
    pub fn are(&self, index: usize, words: &[&str]) -> bool {
        words
            .iter()
            .enumerate()
            .all(|(i, w)| self.word(index + i).is_some_and(|have| have.eq_ignore_ascii_case(w)))
    }

    /// The mark at `index`, such as `(`, `=` or `;`, as sqlparser knows it.
    pub fn token(&self, index: usize) -> Option<&'a Token> {
        self.tokens.get(index).map(|t| &t.token)
    }

    /// The text of the string at `index`.
    pub fn string(&self, index: usize) -> Option<&'a str> {
        match &self.tokens.get(index)?.token {
            Token::SingleQuotedString(s) | Token::DoubleQuotedString(s) => Some(s),
            _ => None,
        }
    }

    /// The name at `index`, bare or quoted, with a namespace where it has one, and the index after it.
    pub fn name(&self, index: usize) -> Option<(ObjectName, usize)> {
        let part = |i: usize| match &self.tokens.get(i)?.token {
            Token::Word(w) => Some(w.value.clone()),
            _ => None,
        };
        let first = part(index)?;
        if self.token(index + 1) == Some(&Token::Period) {
            return Some((ObjectName::within(first, part(index + 2)?), index + 3));
        }
        Some((ObjectName::new(first), index + 1))
    }

    /// Whether nothing but semicolons is left from `index` on.
    pub fn ends(&self, index: usize) -> bool {
        self.tokens.iter().skip(index).all(|t| t.token == Token::SemiColon)
    }

    /// Where the piece at `index` is.
    pub fn span(&self, index: usize) -> Option<Span> {
        self.places.span(self.tokens.get(index)?.span)
    }

    /// The first one or two words in capitals, for messages.
    pub(crate) fn title(&self) -> String {
        let mut title = self.word(0).unwrap_or("this").to_ascii_uppercase();
        let second = self.tokens.get(1).and_then(|t| match &t.token {
            Token::Word(w) if w.quote_style.is_none() && w.keyword != Keyword::NoKeyword => Some(&w.value),
            _ => None,
        });
        if let Some(second) = second {
            title.push(' ');
            title.push_str(&second.to_ascii_uppercase());
        }
        title
    }
}
