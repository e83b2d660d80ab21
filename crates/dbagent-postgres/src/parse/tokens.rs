//! The tokens of a text, by Postgres' own scanner: their number, and where each of them ends.

use dbagent_core::guard::Span;
use pg_query::protobuf::{ScanToken, Token};

/// How deep brackets may be nested.
pub(super) const MAX_NESTING: usize = 256;

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
pub(super) struct Tokens(Vec<Span>);

impl Tokens {
    pub(super) fn read(text: &str, limit: usize) -> Result<Self, Unreadable> {
        let scanned = pg_query::scan_tokens(text).map_err(|e| {
            Unreadable::Bad(match e {
                pg_query::Error::Scan(why) => why,
                other => other.to_string(),
            })
        })?;
        let comment =
            |t: &ScanToken| t.token == Token::SqlComment as i32 || t.token == Token::CComment as i32;
        let place = |at: i32| usize::try_from(at).unwrap_or_default();
        let (mut spans, mut depth) = (Vec::new(), 0_usize);
        for token in scanned.iter().filter(|t| !comment(t)) {
            let span = Span::new(place(token.start), place(token.end));
            if spans.len() >= limit {
                return Err(Unreadable::TooMany);
            }
            match u8::try_from(token.token) {
                Ok(b'(' | b'[') => depth += 1,
                Ok(b')' | b']') => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > MAX_NESTING {
                return Err(Unreadable::TooDeep(span));
            }
            spans.push(span);
        }
        Ok(Self(spans))
    }

    /// The place of what starts at this byte and is `parts` names with dots between them.
    pub(super) fn span(&self, location: i32, parts: usize) -> Option<Span> {
        let start = usize::try_from(location).ok()?;
        let at = self.0.binary_search_by_key(&start, |s| s.start).ok()?;
        let last = self.0.get(at + 2 * parts.saturating_sub(1)).or_else(|| self.0.get(at))?;
        Some(Span::new(start, last.end))
    }

    /// The first token at or behind this byte.
    pub(super) fn first_from(&self, start: usize) -> Option<Span> {
        self.0.iter().find(|s| s.start >= start).copied()
    }
}
