//! Reads a statement into tokens, as SQLite's own tokenizer does.
//!
//! Everything that looks at a text as text stands here: the limit on tokens and on nesting, which come
//! before any parser; the byte order mark and the unterminated comment, which SQLite skips; and the Tcl
//! variables, which SQLite reads as one token and other tokenizers do not. What is read here is what the
//! parser and the spans are made of, so that all of them agree on where a token ends.

use dbagent_core::guard::Span;
use sqlite3_parser::dialect::TokenType;
use sqlite3_parser::lexer::Splitter as _;
use sqlite3_parser::lexer::sql::{Error as LexError, Tokenizer};

/// How deep parentheses may be nested. Trees are walked and dropped by recursion along them, and a view's
/// text is read on an ordinary thread.
const MAX_PARENTHESES: usize = 300;
/// How many names a list may have. SQLite knows at most 2,000 columns, and the parser compares the names of
/// a list with each other.
const MAX_NAMES: usize = 4_000;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const VERTICAL_TAB: u8 = 0x0b;

/// One token of a statement; comments and white space are none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: TokenType,
    pub(crate) span: Span,
}

/// A piece of text between tokens that says something: a comment, without its markers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Comment {
    pub(crate) span: Span,
    /// How many tokens stand before it.
    pub(crate) after: usize,
}

/// The tokens of a text.
#[derive(Debug, Clone)]
pub(crate) struct Tokens<'t> {
    text: &'t str,
    list: Vec<Token>,
    comments: Vec<Comment>,
}

/// Why a text is no list of tokens that may be parsed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Unreadable {
    /// More tokens than the limit.
    TooMany,
    /// Parentheses nested too deep.
    TooDeep(Span),
    /// A list of more names than a table can have columns.
    TooLong(Span),
    /// A variable in the form of Tcl, `$name(…)`: its end is not where other readers see it.
    TclVariable(Span),
    /// What SQLite's tokenizer refuses.
    Bad { what: &'static str, at: usize },
}

impl<'t> Tokens<'t> {
    /// Reads at most `limit` tokens.
    pub(crate) fn read(text: &'t str, limit: usize) -> Result<Self, Unreadable> {
        let bytes = text.as_bytes();
        let mut tokens = Self { text, list: Vec::new(), comments: Vec::new() };
        let mut tokenizer = Tokenizer::new();
        let mut at = 0;
        let mut depth = 0_usize;
        while let Some(rest) = bytes.get(at..).filter(|r| !r.is_empty()) {
            if rest.starts_with(BYTE_ORDER_MARK) {
                at += BYTE_ORDER_MARK.len();
                continue;
            }
            // SQLite accepts this one only behind another white space.
            if rest.first() == Some(&VERTICAL_TAB) && at > 0 && is_space(bytes.get(at - 1)) {
                at += 1;
                continue;
            }
            let (token, length) = match tokenizer.split(rest) {
                Ok(read) => read,
                // SQLite takes a comment without an end as a comment up to the end of the text, but a
                // bare opening as two operators.
                Err(LexError::UnterminatedBlockComment(_)) if rest.len() > 2 => {
                    tokens.comment(at, bytes.len());
                    break;
                }
                Err(LexError::UnterminatedBlockComment(_)) => (Some((rest, TokenType::TK_SLASH)), 1),
                // Colons in a name, as in `$a::b`, are of Tcl too.
                Err(LexError::BadVariableName(_)) if rest.get(1) == Some(&b':') => {
                    return Err(Unreadable::TclVariable(Span::new(at, at + 2)));
                }
                Err(e) => return Err(Unreadable::Bad { what: word_for(&e), at }),
            };
            let span = Span::new(at, at + length.max(1));
            at = span.end;
            let Some((_, kind)) = token else {
                if rest.starts_with(b"--") || rest.starts_with(b"/*") {
                    tokens.comment(span.start, span.end);
                }
                continue;
            };
            match kind {
                TokenType::TK_LP => {
                    depth += 1;
                    if depth > MAX_PARENTHESES {
                        return Err(Unreadable::TooDeep(span));
                    }
                }
                TokenType::TK_RP => depth = depth.saturating_sub(1),
                TokenType::TK_VARIABLE if is_tcl(rest, length) => {
                    return Err(Unreadable::TclVariable(span));
                }
                _ => {}
            }
            if tokens.list.len() >= limit {
                return Err(Unreadable::TooMany);
            }
            tokens.list.push(Token { kind, span });
        }
        match tokens.long_list() {
            Some(at) => Err(Unreadable::TooLong(at)),
            None => Ok(tokens),
        }
    }

    /// Where a list of names is too long: bare names and commas in turn, or the columns of a definition.
    fn long_list(&self) -> Option<Span> {
        let creates = self.list.iter().find(|t| t.kind != TokenType::TK_SEMI);
        let creates = creates.is_some_and(|t| t.kind == TokenType::TK_CREATE);
        let (mut names, mut columns, mut depth) = (0, 0, 0_usize);
        let mut after_comma = false;
        let mut using = false;
        for token in &self.list {
            match token.kind {
                TokenType::TK_USING => (using, columns) = (true, 0),
                TokenType::TK_LP => depth += 1,
                TokenType::TK_RP => {
                    depth = depth.saturating_sub(1);
                    using = false;
                }
                TokenType::TK_COMMA if using || (depth == 1 && creates) => columns += 1,
                _ => {}
            }
            // Everything but a name behind a comma and a comma behind a name ends the list.
            let is_comma = token.kind == TokenType::TK_COMMA;
            if token.kind == TokenType::TK_ID && after_comma {
                names += 1;
            } else if !is_comma || after_comma {
                names = 0;
            }
            after_comma = is_comma;
            if names > MAX_NAMES || columns > MAX_NAMES {
                return Some(token.span);
            }
        }
        None
    }

    fn comment(&mut self, start: usize, end: usize) {
        self.comments.push(Comment { span: Span::new(start, end), after: self.list.len() });
    }

    /// The tokens in order.
    pub(crate) fn list(&self) -> &[Token] {
        &self.list
    }

    /// The comments in order.
    pub(crate) fn comments(&self) -> &[Comment] {
        &self.comments
    }

    /// The text between two places.
    pub(crate) fn slice(&self, span: Span) -> &'t str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }

    /// The text of a token.
    pub(crate) fn text_of(&self, index: usize) -> &'t str {
        self.list.get(index).map(|t| self.slice(t.span)).unwrap_or_default()
    }
}

fn is_space(byte: Option<&u8>) -> bool {
    byte.is_some_and(|b| b.is_ascii_whitespace() || *b == VERTICAL_TAB)
}

/// Whether SQLite reads on where the tokenizer stopped: `$name(index)` is one variable to it.
fn is_tcl(rest: &[u8], length: usize) -> bool {
    !rest.starts_with(b"?") && matches!(rest.get(length), Some(b'('))
}

fn word_for(e: &LexError) -> &'static str {
    match e {
        LexError::UnterminatedLiteral(_) => "a quote that is never closed",
        LexError::UnterminatedBracket(_) => "a bracket that is never closed",
        LexError::UnterminatedBlockComment(_) => "a comment that is never closed",
        LexError::BadVariableName(_) => "a parameter without a name",
        LexError::BadNumber(_) => "a number that is not well formed",
        LexError::ExpectedEqualsSign(_) => "an exclamation mark without an equals sign",
        LexError::MalformedBlobLiteral(_) => "a blob literal that is not well formed",
        LexError::MalformedHexInteger(_) => "a hexadecimal number that is not well formed",
        // The enum may grow; what is new is refused like the rest.
        _ => "a character that no token begins with",
    }
}

/// Takes the quotes off a name or a string, as SQLite does.
pub(crate) fn unquote(raw: &str) -> String {
    let mut chars = raw.chars();
    let close = match chars.next() {
        Some('[') => ']',
        Some(c @ ('"' | '\'' | '`')) => c,
        _ => return raw.to_owned(),
    };
    let mut out = String::with_capacity(raw.len());
    let mut rest = chars.peekable();
    while let Some(c) = rest.next() {
        if c == close {
            if close != ']' && rest.peek() == Some(&close) {
                rest.next();
                out.push(c);
                continue;
            }
            break;
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let tokens = Tokens::read(text, 1_000).unwrap();
        (0..tokens.list().len()).map(|i| tokens.text_of(i)).collect()
    }

    #[test]
    fn a_byte_order_mark_is_white_space_at_the_start_of_a_token() {
        assert_eq!(words("\u{feff}SELECT \u{feff}x"), ["SELECT", "x"]);
        assert_eq!(words("a\u{feff}b"), ["a\u{feff}b"]);
        assert_eq!(words("'\u{feff}'"), ["'\u{feff}'"]);
    }

    #[test]
    fn an_open_comment_runs_to_the_end_and_a_bare_opening_does_not() {
        assert_eq!(words("SELECT 1 /* x ; DROP"), ["SELECT", "1"]);
        assert_eq!(words("SELECT 1 /*"), ["SELECT", "1", "/", "*"]);
        assert_eq!(words("a /*/ b */ c"), ["a", "c"]);
    }

    #[test]
    fn what_sqlite_reads_as_one_variable_is_refused() {
        assert!(matches!(Tokens::read("SELECT $a(')')", 99), Err(Unreadable::TclVariable(_))));
        assert!(matches!(Tokens::read("SELECT :a::b", 99), Err(Unreadable::TclVariable(_))));
        assert!(matches!(Tokens::read("SELECT $::a", 99), Err(Unreadable::TclVariable(_))));
        assert!(matches!(Tokens::read("SELECT : a", 99), Err(Unreadable::Bad { .. })));
        assert!(Tokens::read("SELECT ?(1)", 99).is_ok());
    }

    #[test]
    fn limits_come_before_the_parser() {
        assert_eq!(Tokens::read("a b c", 2).unwrap_err(), Unreadable::TooMany);
        assert!(Tokens::read("a b c", 3).is_ok());
        assert!(matches!(Tokens::read(&"(".repeat(301), 9_999), Err(Unreadable::TooDeep(_))));
    }

    #[test]
    fn lists_of_names_are_no_longer_than_tables_are_wide() {
        let names = |n| vec!["a"; n].join(", ");
        let read = |text: String| Tokens::read(&text, 99_999).err();
        assert_eq!(read(format!("SELECT {} FROM t", names(4_000))), None);
        assert!(matches!(read(format!("SELECT {} FROM t", names(4_100))), Some(Unreadable::TooLong(_))));
        assert!(matches!(
            read(format!("SELECT 1 FROM t JOIN u USING ({})", names(4_100))),
            Some(Unreadable::TooLong(_))
        ));
        let columns = vec!["a INT"; 4_100].join(", ");
        assert!(matches!(read(format!("CREATE TABLE t ({columns})")), Some(Unreadable::TooLong(_))));
        let strings = vec!["'a'"; 4_100].join(", ");
        let using = format!("SELECT 1 FROM t JOIN u USING ({strings})");
        assert!(matches!(read(using), Some(Unreadable::TooLong(_))));
        // Values are no names.
        assert_eq!(read(format!("SELECT 1 IN ({strings})")), None);
        assert_eq!(read(format!("SELECT 1 IN ({})", vec!["1"; 9_000].join(","))), None);
        assert_eq!(read(format!("SELECT {}", vec!["a, 1"; 9_000].join(","))), None);
    }

    #[test]
    fn quotes_come_off_as_in_sqlite() {
        for (raw, name) in [
            ("plain", "plain"),
            ("\"a\"\"b\"", "a\"b"),
            ("[a]", "a"),
            ("`a``b`", "a`b"),
            ("'it''s'", "it's"),
            ("\"\"", ""),
            ("\"\"\"\"", "\""),
        ] {
            assert_eq!(unquote(raw), name);
        }
    }
}
