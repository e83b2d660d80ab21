//! Bounds on nesting, before the parser runs.
//!
//! Sqlparser recurses where a statement nests, and its trees are visited by recursion where operators form a
//! chain (`a + a + …` parses in a loop into a tree as deep as it has terms). The core parses on a stack of
//! [`PARSE_STACK_BYTES`](dbagent_core::session::PARSE_STACK_BYTES) (256 MiB); the bounds here keep every text
//! within the token limit inside it, however high a host raises that limit. Measured with sqlparser 0.64
//! without optimisation, which is the worst case:
//!
//! | what | stack per level | levels at most | together |
//! |---|---|---|---|
//! | parsing one level of recursion | 75 KiB | [`MAX_RECURSION`] | 75 MiB |
//! | parsing one bracket that sqlparser does not count | 11 KiB | [`MAX_NESTING`] | 3 MiB |
//! | visiting one operator of a chain | 2.2 KiB | [`MAX_CHAIN`] | 110 MiB |
//! | dropping one operator of a chain | 0.1 KiB | [`MAX_CHAIN`] | 5 MiB |
//!
//! Our own walk follows chains in a loop. A test in a child process runs each construct at and beyond these
//! bounds.

use dbagent_core::guard::{Finding, Rule};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::place::Places;

/// Most brackets, CASEs, prefix operators or JOINs without their conditions inside each other.
pub const MAX_NESTING: usize = 256;
/// Most operators and keywords that can stand in one chain: those of all brackets that are open at a place.
/// Names, numbers, strings and commas do not count, so a long list is no chain.
pub const MAX_CHAIN: usize = 50_000;
/// Most levels of sqlparser's own recursion; a bracket takes up to four.
pub(crate) const MAX_RECURSION: usize = 1_024;
/// Most operators that sqlparser parses by copying everything to their left.
const MAX_COPYING: usize = 500;

/// Checks the bounds.
pub(crate) fn check(tokens: &[TokenWithSpan], places: &Places<'_>) -> Result<(), Box<Finding>> {
    let mut depth = Depth::default();
    let mut before: Option<&Token> = None;
    for token in tokens {
        if matches!(token.token, Token::Whitespace(_)) {
            continue;
        }
        depth.add(&token.token, before);
        before = Some(&token.token);
        if let Some(what) = depth.excess() {
            return Err(Box::new(
                Finding::new(Rule::TooComplex, what, places.span(token.span))
                    .advice("Write a simpler statement; pass long lists as IN (…) or as parameters."),
            ));
        }
    }
    Ok(())
}

/// How deep the tree of what was read so far can be.
#[derive(Default)]
struct Depth {
    /// What counts on each open bracket.
    open: Vec<Level>,
    /// What counts outside of brackets.
    outside: Level,
    /// All levels together.
    chain: usize,
    /// JOINs whose condition is still to come, on all levels: MySQL's grammar nests them.
    joins: usize,
    cases: usize,
    prefixes: usize,
    copying: usize,
}

#[derive(Default)]
struct Level {
    chain: usize,
    joins: usize,
}

impl Depth {
    fn add(&mut self, token: &Token, before: Option<&Token>) {
        let is_prefix = match token {
            Token::Plus | Token::Minus | Token::Tilde | Token::ExclamationMark => true,
            Token::Word(w) => w.keyword == Keyword::NOT,
            _ => false,
        };
        self.prefixes = if is_prefix { self.prefixes + 1 } else { 0 };
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => {
                // A bracket counts where it stands (`a[1][1]` is a chain), unless it begins an item of a list.
                if !matches!(before, Some(Token::Comma | Token::LParen)) {
                    self.count();
                }
                self.open.push(Level::default());
            }
            Token::RParen | Token::RBracket | Token::RBrace => {
                if let Some(level) = self.open.pop() {
                    self.chain -= level.chain;
                    self.joins -= level.joins;
                }
            }
            Token::Word(w) if w.quote_style.is_some() || w.keyword == Keyword::NoKeyword => {}
            Token::Word(w) => {
                self.keyword(w.keyword, before);
                self.count();
            }
            Token::Comma
            | Token::Period
            | Token::SemiColon
            | Token::Number(..)
            | Token::Placeholder(_)
            | Token::SingleQuotedString(_)
            | Token::DoubleQuotedString(_) => {}
            _ => self.count(),
        }
    }

    fn level(&mut self) -> &mut Level {
        self.open.last_mut().unwrap_or(&mut self.outside)
    }

    fn count(&mut self) {
        self.chain += 1;
        self.level().chain += 1;
    }

    fn keyword(&mut self, keyword: Keyword, before: Option<&Token>) {
        match keyword {
            Keyword::CASE => self.cases += 1,
            Keyword::END => self.cases = self.cases.saturating_sub(1),
            Keyword::DIV | Keyword::MATCH | Keyword::REGEXP | Keyword::GLOB => self.copying += 1,
            Keyword::JOIN if !is_word(before, Keyword::CROSS) && !is_word(before, Keyword::NATURAL) => {
                self.joins += 1;
                self.level().joins += 1;
            }
            Keyword::ON | Keyword::USING if self.level().joins > 0 => {
                self.joins -= 1;
                self.level().joins -= 1;
            }
            _ => {}
        }
    }

    fn excess(&self) -> Option<String> {
        if self.open.len().max(self.cases).max(self.prefixes).max(self.joins) > MAX_NESTING {
            Some(format!("the statement nests deeper than {MAX_NESTING} levels"))
        } else if self.chain > MAX_CHAIN {
            Some(format!("the statement chains more than {MAX_CHAIN} operators and keywords"))
        } else if self.copying > MAX_COPYING {
            Some(format!("the statement has more than {MAX_COPYING} matching or DIV operators"))
        } else {
            None
        }
    }
}

fn is_word(token: Option<&Token>, keyword: Keyword) -> bool {
    matches!(token, Some(Token::Word(w)) if w.keyword == keyword)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlparser::dialect::GenericDialect;
    use sqlparser::tokenizer::Tokenizer;

    fn passes(text: &str) -> bool {
        let tokens = Tokenizer::new(&GenericDialect {}, text).tokenize_with_location().unwrap();
        check(&tokens, &Places::new(text)).is_ok()
    }

    #[test]
    fn lists_are_no_chains() {
        assert!(passes(&format!("SELECT 1 IN ({}1)", "1, ".repeat(200_000))));
        assert!(passes(&format!("INSERT INTO t VALUES {}(1, NULL)", "(1, NULL), ".repeat(30_000))));
    }

    #[test]
    fn chains_are_counted_through_open_brackets() {
        assert!(passes(&format!("SELECT 1{}", " + 1".repeat(MAX_CHAIN - 1))));
        assert!(!passes(&format!("SELECT 1{}", " + 1".repeat(MAX_CHAIN))));
        let half = " + 1".repeat(MAX_CHAIN / 2);
        assert!(!passes(&format!("SELECT 1{half} + (1{half})")));
        assert!(passes(&format!("SELECT (1{half}), (1{half})")));
        assert!(!passes(&format!("SELECT a{}", "[1]".repeat(MAX_CHAIN))));
    }

    #[test]
    fn nesting_is_bounded() {
        let nest = |open: &str, n: usize, close: &str| {
            passes(&format!("SELECT {}1{}", open.repeat(n), close.repeat(n)))
        };
        assert!(nest("(", MAX_NESTING, ")"));
        assert!(!passes(&format!("SELECT 1 FROM t{}", " JOIN t".repeat(MAX_NESTING + 1))));
        assert!(passes(&format!("SELECT 1 FROM t{}", " JOIN t ON 1".repeat(MAX_NESTING + 1))));
        let half = "(t".to_owned() + &" JOIN t".repeat(MAX_NESTING / 2 + 1);
        assert!(!passes(&format!("SELECT 1 FROM {half} JOIN {half}")));
        assert!(!nest("(", MAX_NESTING + 1, ")"));
        assert!(!nest("NOT ", MAX_NESTING + 1, ""));
        assert!(!nest("- ", MAX_NESTING + 1, ""));
        assert!(!nest("CASE WHEN 1 THEN ", MAX_NESTING + 1, " END"));
        assert!(passes(&"SELECT CASE WHEN 1 THEN 1 END, ".repeat(1_000)));
        assert!(!passes(&format!("SELECT 1{}", " DIV 1".repeat(MAX_COPYING + 1))));
    }
}
