//! A rough reading of a text into tokens: enough to count them and to find words outside quotes.
//!
//! It decides nothing about what a statement does: the engine's own grammar reads every text. Where this
//! reader and the engine might disagree, such as comments inside comments, it says that it cannot tell.

use dbagent_core::guard::Span;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or keyword without quotes.
    Word,
    /// A name in double quotes.
    Quoted,
    /// A text, in single quotes or between dollars.
    Text,
    /// A number.
    Number,
    /// Anything else, one character.
    Sign(char),
}

/// One token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

/// Why a text is no list of tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// More tokens than the limit.
    TooMany,
    /// A quote or comment that never ends.
    Open(usize),
}

/// The tokens of a text.
#[derive(Debug, Clone)]
pub(crate) struct Tokens<'t> {
    text: &'t str,
    list: Vec<Token>,
    /// Whether a comment holds the beginning of another one.
    nested_comment: bool,
}

impl<'t> Tokens<'t> {
    /// Reads at most `limit` tokens.
    pub(crate) fn read(text: &'t str, limit: usize) -> Result<Self, Unreadable> {
        let mut tokens = Self { text, list: Vec::new(), nested_comment: false };
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|r| !r.is_empty()) {
            let Some(first) = rest.chars().next() else { break };
            if first.is_whitespace() || first == '\u{feff}' {
                at += first.len_utf8();
                continue;
            }
            if rest.starts_with("--") {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            if let Some(inside) = rest.strip_prefix("/*") {
                let end = inside.find("*/").ok_or(Unreadable::Open(at))?;
                tokens.nested_comment |= inside.get(..end).is_some_and(|c| c.contains("/*"));
                at += end + 4;
                continue;
            }
            if tokens.list.len() >= limit {
                return Err(Unreadable::TooMany);
            }
            let (kind, length) = token(rest, first).ok_or(Unreadable::Open(at))?;
            tokens.list.push(Token { kind, span: Span::new(at, at + length) });
            at += length;
        }
        Ok(tokens)
    }

    /// All of them.
    pub(crate) fn list(&self) -> &[Token] {
        &self.list
    }

    /// Whether a comment holds the beginning of another one, so that readers may differ.
    pub(crate) fn has_nested_comment(&self) -> bool {
        self.nested_comment
    }

    /// The text of a token.
    pub(crate) fn text(&self, token: &Token) -> &'t str {
        self.text.get(token.span.start..token.span.end).unwrap_or_default()
    }

    /// Whether the token at an index is this keyword.
    pub(crate) fn is_word(&self, index: usize, word: &str) -> bool {
        self.list.get(index).is_some_and(|t| t.kind == Kind::Word && self.text(t).eq_ignore_ascii_case(word))
    }

    /// Whether the token at an index is one of these keywords.
    pub(crate) fn is_any(&self, index: usize, words: &[&str]) -> bool {
        words.iter().any(|w| self.is_word(index, w))
    }

    /// Whether the token at an index is this character.
    pub(crate) fn is_sign(&self, index: usize, sign: char) -> bool {
        self.list.get(index).is_some_and(|t| t.kind == Kind::Sign(sign))
    }

    /// How many tokens there are without the semicolons that end the text.
    pub(crate) fn end(&self) -> usize {
        let semicolons = self.list.iter().rev().take_while(|t| t.kind == Kind::Sign(';')).count();
        self.list.len() - semicolons
    }

    /// The name that a token is, without its quotes.
    pub(crate) fn name(&self, index: usize) -> Option<String> {
        let token = self.list.get(index)?;
        match token.kind {
            Kind::Word => Some(self.text(token).to_owned()),
            Kind::Quoted => Some(unquote(self.text(token), '"')),
            _ => None,
        }
    }

    /// The value of a plain text in single quotes.
    pub(crate) fn plain_text(&self, index: usize) -> Option<String> {
        let token = self.list.get(index).filter(|t| t.kind == Kind::Text)?;
        let text = self.text(token);
        text.starts_with('\'').then(|| unquote(text, '\''))
    }
}

fn unquote(text: &str, quote: char) -> String {
    let inside = text.strip_prefix(quote).and_then(|t| t.strip_suffix(quote)).unwrap_or(text);
    inside.replace(&format!("{quote}{quote}"), &quote.to_string())
}

/// The kind and length of the token that a text begins with; none when a quote never ends.
fn token(rest: &str, first: char) -> Option<(Kind, usize)> {
    match first {
        '\'' => Some((Kind::Text, quoted(rest, '\'', false)?)),
        '"' => Some((Kind::Quoted, quoted(rest, '"', false)?)),
        'e' | 'E' if rest.get(1..2) == Some("'") => {
            Some((Kind::Text, 1 + quoted(rest.get(1..)?, '\'', true)?))
        }
        'x' | 'X' | 'b' | 'B' if rest.get(1..2) == Some("'") => {
            Some((Kind::Text, 1 + quoted(rest.get(1..)?, '\'', false)?))
        }
        '$' => match dollar_tag(rest) {
            Some(tag) => {
                let inside = rest.get(tag.len()..)?;
                Some((Kind::Text, tag.len() + inside.find(tag)? + tag.len()))
            }
            None => Some((Kind::Sign('$'), 1)),
        },
        c if c.is_alphabetic() || c == '_' => {
            let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
            Some((Kind::Word, length.unwrap_or(rest.len())))
        }
        c if c.is_ascii_digit() => {
            let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'));
            Some((Kind::Number, length.unwrap_or(rest.len())))
        }
        c => Some((Kind::Sign(c), c.len_utf8())),
    }
}

/// The length of what stands in quotes, the quotes included.
fn quoted(rest: &str, quote: char, escapes: bool) -> Option<usize> {
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if escapes && c == '\\' {
            chars.next()?;
        } else if c == quote && chars.next_if(|(_, next)| *next == quote).is_none() {
            return Some(at + quote.len_utf8());
        }
    }
    None
}

/// `$$` or `$tag$` at the beginning of a text.
fn dollar_tag(rest: &str) -> Option<&str> {
    let inside = rest.strip_prefix('$')?;
    let end = inside.find('$')?;
    let tag = inside.get(..end)?;
    let good = tag.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !tag.starts_with(|c: char| c.is_ascii_digit());
    good.then(|| rest.get(..end + 2)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        let tokens = Tokens::read(text, 100).unwrap();
        tokens.list().iter().map(|t| tokens.text(t).to_owned()).collect()
    }

    #[test]
    fn quotes_and_comments_hide_what_is_in_them() {
        assert_eq!(
            texts("SELECT 'a;b''c' -- x ' y\n, \"q\"\"r\" /* ' */ ;"),
            ["SELECT", "'a;b''c'", ",", "\"q\"\"r\"", ";"]
        );
        assert_eq!(
            texts("E'a\\'b' x'00' $$a'b$$ $t$ $$ $t$ $1 1.5e3"),
            ["E'a\\'b'", "x'00'", "$$a'b$$", "$t$ $$ $t$", "$", "1", "1.5e3"]
        );
        assert_eq!(Tokens::read("SELECT 'open", 9).unwrap_err(), Unreadable::Open(7));
        assert_eq!(Tokens::read("SELECT 1 /* open", 9).unwrap_err(), Unreadable::Open(9));
        assert_eq!(Tokens::read("a b c", 2).unwrap_err(), Unreadable::TooMany);
        assert!(Tokens::read("/* a /* b */ c", 9).unwrap().has_nested_comment());
    }

    #[test]
    fn names_lose_their_quotes() {
        let tokens = Tokens::read("\"a\"\"b\" c 'it''s' E'x'", 9).unwrap();
        assert_eq!(tokens.name(0).as_deref(), Some("a\"b"));
        assert_eq!(tokens.name(1).as_deref(), Some("c"));
        assert_eq!(tokens.plain_text(2).as_deref(), Some("it's"));
        assert_eq!(tokens.plain_text(3), None);
    }
}
