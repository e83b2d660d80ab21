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

/// Most brackets, CASEs or prefix operators inside each other.
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
    let mut open: Vec<usize> = vec![0];
    let (mut chain, mut cases, mut prefixes, mut copying) = (0_usize, 0_usize, 0_usize, 0_usize);
    for token in tokens {
        let refuse = |what: String| {
            Box::new(
                Finding::new(Rule::TooComplex, what, places.span(token.span))
                    .advice("Write a simpler statement; pass long lists as IN (…) or as parameters."),
            )
        };
        let too_deep = || refuse(format!("the statement nests deeper than {MAX_NESTING} levels"));
        let prefix = match &token.token {
            Token::Whitespace(_) => continue,
            Token::Plus | Token::Minus | Token::Tilde | Token::ExclamationMark => true,
            Token::Word(w) => w.keyword == Keyword::NOT,
            _ => false,
        };
        prefixes = if prefix { prefixes + 1 } else { 0 };
        let counts = match &token.token {
            Token::LParen | Token::LBracket | Token::LBrace => {
                if open.len() > MAX_NESTING {
                    return Err(too_deep());
                }
                // The bracket counts where it stands: `a[1][1]` is a chain.
                if let Some(level) = open.last_mut() {
                    *level += 1;
                }
                chain += 1;
                open.push(0);
                false
            }
            Token::RParen | Token::RBracket | Token::RBrace => {
                if open.len() > 1 {
                    chain -= open.pop().unwrap_or(0);
                }
                false
            }
            Token::Word(w) if w.quote_style.is_some() => false,
            Token::Word(w) => {
                match w.keyword {
                    Keyword::CASE => cases += 1,
                    Keyword::END => cases = cases.saturating_sub(1),
                    Keyword::DIV | Keyword::MATCH | Keyword::REGEXP | Keyword::GLOB => copying += 1,
                    _ => {}
                }
                w.keyword != Keyword::NoKeyword
            }
            Token::Comma
            | Token::Period
            | Token::SemiColon
            | Token::Number(..)
            | Token::Placeholder(_)
            | Token::SingleQuotedString(_)
            | Token::DoubleQuotedString(_) => false,
            _ => true,
        };
        if counts {
            if let Some(level) = open.last_mut() {
                *level += 1;
            }
            chain += 1;
        }
        if cases > MAX_NESTING || prefixes > MAX_NESTING {
            return Err(too_deep());
        }
        if chain > MAX_CHAIN {
            return Err(refuse(format!("the statement chains more than {MAX_CHAIN} operators and keywords")));
        }
        if copying > MAX_COPYING {
            return Err(refuse(format!(
                "the statement has more than {MAX_COPYING} matching or DIV operators"
            )));
        }
    }
    Ok(())
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
        assert!(!nest("(", MAX_NESTING + 1, ")"));
        assert!(!nest("NOT ", MAX_NESTING + 1, ""));
        assert!(!nest("- ", MAX_NESTING + 1, ""));
        assert!(!nest("CASE WHEN 1 THEN ", MAX_NESTING + 1, " END"));
        assert!(passes(&"SELECT CASE WHEN 1 THEN 1 END, ".repeat(1_000)));
        assert!(!passes(&format!("SELECT 1{}", " DIV 1".repeat(MAX_COPYING + 1))));
    }
}
