//! Light highlighting of statements: words, texts, numbers and comments of SQL and its relatives.
//!
//! It only colours; what it takes for a word never changes what runs.

use crate::paint::Paint;

/// Words that are shown as words of the language.
const WORDS: &[&str] = &[
    "all",
    "analyze",
    "and",
    "as",
    "asc",
    "between",
    "by",
    "case",
    "cast",
    "collate",
    "count",
    "create",
    "cross",
    "delete",
    "desc",
    "describe",
    "distinct",
    "drop",
    "else",
    "end",
    "escape",
    "except",
    "exists",
    "explain",
    "fetch",
    "filter",
    "for",
    "from",
    "full",
    "glob",
    "group",
    "having",
    "ilike",
    "in",
    "inner",
    "insert",
    "intersect",
    "into",
    "is",
    "join",
    "lateral",
    "left",
    "like",
    "limit",
    "match",
    "merge",
    "natural",
    "not",
    "null",
    "nulls",
    "offset",
    "on",
    "optional",
    "or",
    "order",
    "outer",
    "over",
    "partition",
    "plan",
    "pragma",
    "query",
    "recursive",
    "return",
    "returning",
    "right",
    "rows",
    "select",
    "set",
    "show",
    "table",
    "then",
    "union",
    "unwind",
    "update",
    "using",
    "values",
    "view",
    "when",
    "where",
    "window",
    "with",
];

/// Colours a statement that was made printable before.
pub(crate) fn statement(text: &str, paint: Paint) -> String {
    if !paint.is_on() {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() * 2);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (token, kind) = token(rest, first);
        out.push_str(&match kind {
            Kind::Word if WORDS.binary_search(&token.to_ascii_lowercase().as_str()).is_ok() => {
                paint.blue(token)
            }
            Kind::Text => paint.green(token),
            Kind::Number => paint.cyan(token),
            Kind::Comment => paint.dim(token),
            Kind::Word | Kind::Other => token.to_owned(),
        });
        rest = rest.strip_prefix(token).unwrap_or_default();
    }
    out
}

#[derive(Clone, Copy)]
enum Kind {
    Word,
    Text,
    Number,
    Comment,
    Other,
}

/// The first token of a text that begins with `first`; never empty.
fn token(text: &str, first: char) -> (&str, Kind) {
    let upto = |end: usize| text.split_at_checked(end).map_or(text, |(token, _)| token);
    let while_true = |good: fn(char) -> bool| upto(text.find(|c: char| !good(c)).unwrap_or(text.len()));
    match first {
        '\'' | '"' | '`' => {
            let close = text.char_indices().skip(1).find(|(_, c)| *c == first);
            let token = upto(close.map_or(text.len(), |(at, c)| at + c.len_utf8()));
            (token, if first == '\'' { Kind::Text } else { Kind::Other })
        }
        '-' if text.starts_with("--") => (upto(text.find('\n').unwrap_or(text.len())), Kind::Comment),
        '/' if text.starts_with("/*") => {
            (upto(text.find("*/").map_or(text.len(), |at| at + 2)), Kind::Comment)
        }
        c if c.is_ascii_digit() => (while_true(|c| c.is_ascii_alphanumeric() || c == '.'), Kind::Number),
        c if c.is_alphabetic() || c == '_' => (while_true(|c| c.is_alphanumeric() || c == '_'), Kind::Word),
        c => (upto(c.len_utf8()), Kind::Other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_sorted() {
        assert!(WORDS.is_sorted());
    }

    #[test]
    fn colours_change_nothing_but_colours() {
        for text in [
            "SELECT a.\"order\", 'it''s', 12.5 FROM t -- why\nWHERE x = 1 /* c */",
            "'open",
            "/* open",
            "日本 ünïcode 'ß",
            "",
        ] {
            let coloured = statement(text, Paint::new(true));
            assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), text);
            assert_eq!(statement(text, Paint::PLAIN), text);
        }
        let coloured = statement("SELECT 'x', 1", Paint::new(true));
        assert_eq!(coloured, "\u{1b}[34mSELECT\u{1b}[0m \u{1b}[32m'x'\u{1b}[0m, \u{1b}[36m1\u{1b}[0m");
    }
}
