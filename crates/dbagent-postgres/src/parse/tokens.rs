//! The tokens of a text, by Postgres' own scanner: their number, and where each of them ends.

use dbagent_core::guard::Span;
use pg_query::protobuf::{ScanToken, Token};

/// The bytes of the longest name that the grammar does not cut.
const LONGEST_NAME: usize = 63;

/// How large a text may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Most tokens, comments left out.
    pub(crate) tokens: usize,
    /// How deep brackets may be nested.
    pub(crate) nesting: usize,
    /// How many bytes a name may have, quotes included, where a longer one cannot be read: the grammar cuts it as
    /// a server in UTF-8 would, and a definition of a database in another encoding may hold one that is whole.
    pub(crate) name: usize,
}

impl Limits {
    /// Those of a request: nobody writes brackets this deep.
    pub(crate) fn of_request(tokens: usize) -> Self {
        Self { tokens, nesting: 256, name: usize::MAX }
    }

    /// Those of a definition in the catalogue, where Postgres itself puts a bracket around each term.
    pub(crate) fn of_definition(tokens: usize) -> Self {
        Self { tokens: tokens.max(100_000), nesting: usize::MAX, name: LONGEST_NAME + 2 }
    }
}

/// Why a text has no tokens.
#[derive(Debug)]
pub(super) enum Unreadable {
    /// There are more than the limit.
    TooMany,
    /// Brackets are nested deeper than anybody writes them.
    TooDeep(Span),
    /// The scanner says so.
    Bad(String),
}

/// The tokens of a text, comments left out.
#[derive(Debug)]
pub(super) struct Tokens {
    spans: Vec<Span>,
    /// Which of them are names, quoted or not.
    names: Vec<usize>,
}

impl Tokens {
    pub(super) fn read(text: &str, limits: Limits) -> Result<Self, Unreadable> {
        // For a text without tokens the binding makes a slice of a null pointer, which aborts or worse.
        if text.bytes().all(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)) {
            return Ok(Self { spans: Vec::new(), names: Vec::new() });
        }
        let scanned = pg_query::scan_tokens(text).map_err(|e| {
            Unreadable::Bad(match e {
                pg_query::Error::Scan(why) => why,
                other => other.to_string(),
            })
        })?;
        let comment =
            |t: &ScanToken| t.token == Token::SqlComment as i32 || t.token == Token::CComment as i32;
        let place = |at: i32| usize::try_from(at).unwrap_or_default();
        let (mut spans, mut names, mut depth) = (Vec::new(), Vec::new(), 0_usize);
        for token in scanned.iter().filter(|t| !comment(t)) {
            let span = Span::new(place(token.start), place(token.end));
            if spans.len() >= limits.tokens {
                return Err(Unreadable::TooMany);
            }
            match u8::try_from(token.token) {
                Ok(b'(' | b'[') => depth += 1,
                Ok(b')' | b']') => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > limits.nesting {
                return Err(Unreadable::TooDeep(span));
            }
            if token.token == Token::Ident as i32 || token.token == Token::Uident as i32 {
                if span.end - span.start > limits.name {
                    return Err(Unreadable::Bad("a name is too long to be read here".to_owned()));
                }
                names.push(spans.len());
            }
            spans.push(span);
        }
        Ok(Self { spans, names })
    }

    /// The place of what starts at this byte and is `parts` names with dots between them.
    pub(super) fn span(&self, location: i32, parts: usize) -> Option<Span> {
        let start = usize::try_from(location).ok()?;
        let at = self.spans.binary_search_by_key(&start, |s| s.start).ok()?;
        let last = self.spans.get(at + 2 * parts.saturating_sub(1)).or_else(|| self.spans.get(at))?;
        Some(Span::new(start, last.end))
    }

    /// The first name with letters beyond ASCII, or with escapes that may stand for such.
    pub(super) fn first_odd_name(&self, text: &str) -> Option<Span> {
        let names = self.names.iter().filter_map(|at| self.spans.get(*at));
        let odd = |name: &str| !name.is_ascii() || name.starts_with("U&") || name.starts_with("u&");
        names.copied().find(|s| text.get(s.start..s.end).is_none_or(odd))
    }

    /// The first token at or behind this byte.
    pub(super) fn first_from(&self, start: usize) -> Option<Span> {
        self.spans.iter().find(|s| s.start >= start).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, tokens: usize) -> Result<Tokens, Unreadable> {
        Tokens::read(text, Limits::of_request(tokens))
    }

    #[test]
    fn a_text_without_tokens_is_read_like_any_other() {
        for text in ["", " ", "\t\r\n\u{b}\u{c}", "-- only a comment", "/* one */ /* and one */", "\u{a0}"] {
            let tokens = Tokens::read(text, Limits::of_request(10));
            assert!(tokens.is_ok_and(|t| t.spans.len() <= 1), "{text:?}");
        }
    }

    #[test]
    fn comments_do_not_count_and_brackets_have_a_bound() {
        assert!(read("SELECT /* one two three */ 1 -- four", 2).is_ok());
        assert!(matches!(read("SELECT 1, 2", 3), Err(Unreadable::TooMany)));
        let nested = |n: usize| read(&format!("SELECT {}1{}", "(".repeat(n), ")".repeat(n)), 10_000);
        assert!(nested(256).is_ok());
        assert!(matches!(nested(257), Err(Unreadable::TooDeep(_))));
        assert!(matches!(read("SELECT 'open", 10), Err(Unreadable::Bad(_))));
    }

    #[test]
    fn places_are_those_of_names_with_dots() {
        let tokens = read("SELECT a . /* x */ b FROM t", 10).unwrap();
        assert_eq!(tokens.span(7, 2), Some(Span::new(7, 20)));
        assert_eq!(tokens.span(26, 9), Some(Span::new(26, 27)));
        assert_eq!(tokens.span(8, 1), None);
        assert_eq!(tokens.span(-1, 1), None);
    }
}
