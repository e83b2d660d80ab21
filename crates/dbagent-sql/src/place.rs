//! From sqlparser's lines and columns to bytes.

use dbagent_core::guard::Span;
use sqlparser::tokenizer::{Location, Span as TokenSpan};

/// The places of a text. Sqlparser counts lines at `\n` and columns in characters, both from 1.
#[derive(Debug)]
pub struct Places<'t> {
    text: &'t str,
    /// Where each line begins, as an index of characters (of bytes where the text is ASCII).
    lines: Vec<usize>,
    /// Where each character begins; `None` where the text is ASCII.
    chars: Option<Vec<usize>>,
}

impl<'t> Places<'t> {
    /// Reads the text once.
    pub fn new(text: &'t str) -> Self {
        let mut lines = vec![0];
        if text.is_ascii() {
            lines.extend(text.match_indices('\n').map(|(i, _)| i + 1));
            return Self { text, lines, chars: None };
        }
        lines.extend(text.chars().enumerate().filter(|(_, c)| *c == '\n').map(|(i, _)| i + 1));
        Self { text, lines, chars: Some(text.char_indices().map(|(i, _)| i).collect()) }
    }

    /// The byte at which a place begins; `None` for sqlparser's empty place and for places outside the text.
    pub fn byte(&self, at: Location) -> Option<usize> {
        let line = usize::try_from(at.line).ok()?.checked_sub(1)?;
        let column = usize::try_from(at.column).ok()?.checked_sub(1)?;
        let index = self.lines.get(line)? + column;
        match &self.chars {
            None => (index <= self.text.len()).then_some(index),
            Some(chars) if index == chars.len() => Some(self.text.len()),
            Some(chars) => chars.get(index).copied(),
        }
    }

    /// The length of the text in bytes.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// A span in bytes; `None` where sqlparser does not know it.
    pub fn span(&self, span: TokenSpan) -> Option<Span> {
        let (start, end) = (self.byte(span.start)?, self.byte(span.end)?);
        (start <= end).then_some(Span::new(start, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlparser::dialect::GenericDialect;
    use sqlparser::tokenizer::{Token, Tokenizer, Whitespace};

    #[test]
    fn every_token_is_found_again() {
        let text = "SELECT 'ä😀', \"größe\"\r\n, 列\tFROM  t\n\n-- ü\nWHERE x = 1";
        let places = Places::new(text);
        let tokens = Tokenizer::new(&GenericDialect {}, text).tokenize_with_location().unwrap();
        let mut at = 0;
        for token in tokens {
            let span = places.span(token.span).unwrap();
            assert_eq!(span.start, at, "tokens follow each other without gaps");
            at = span.end;
            let piece = text.get(span.start..span.end).unwrap();
            match token.token {
                Token::Word(w) => assert_eq!(piece.trim_matches('"'), w.value),
                Token::Whitespace(Whitespace::SingleLineComment { .. }) => assert_eq!(piece, "-- ü"),
                _ => {}
            }
        }
        assert_eq!(at, text.len());
    }

    #[test]
    fn no_place_is_no_byte() {
        let places = Places::new("ab");
        assert_eq!(places.byte(Location::empty()), None);
        assert_eq!(places.byte(Location::new(1, 3)), Some(2));
        assert_eq!(places.byte(Location::new(1, 4)), None);
        assert_eq!(places.byte(Location::new(2, 1)), None);
    }
}
