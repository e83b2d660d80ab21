//! What the end of a statement does to the number of its rows, as far as its words tell. Only for estimates:
//! nothing is allowed or refused by it that limits of rows and time do not hold as well.

use dbagent_sql::sqlparser::dialect::MySqlDialect;
use dbagent_sql::sqlparser::tokenizer::{Token, Tokenizer};

/// Functions that make one row of many.
const AGGREGATES: &[&str] = &[
    "AVG",
    "BIT_AND",
    "BIT_OR",
    "BIT_XOR",
    "COUNT",
    "GROUP_CONCAT",
    "JSON_ARRAYAGG",
    "JSON_OBJECTAGG",
    "MAX",
    "MIN",
    "STD",
    "STDDEV",
    "STDDEV_POP",
    "STDDEV_SAMP",
    "SUM",
    "VARIANCE",
    "VAR_POP",
    "VAR_SAMP",
];

/// What becomes of the rows in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Shape {
    /// Everything is aggregated into one row.
    pub(super) one_row: bool,
    /// At most so many.
    pub(super) limit: Option<u64>,
    /// Whether a query within it has a limit of its own.
    pub(super) inner_limit: bool,
}

/// Looks at the outermost query of a text.
pub(super) fn of(text: &str) -> Shape {
    let Ok(tokens) = Tokenizer::new(&MySqlDialect {}, text).tokenize() else { return Shape::default() };
    let tokens: Vec<Token> = tokens.into_iter().filter(|t| !matches!(t, Token::Whitespace(_))).collect();
    let mut shape = Shape::default();
    // For each open parenthesis, whether a query is in it.
    let mut open: Vec<bool> = Vec::new();
    let (mut selecting, mut aggregated, mut grouped, mut combined) = (false, false, false, false);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::LParen => {
                open.push(matches!(word(tokens.get(at + 1)).as_deref(), Some("SELECT" | "WITH")));
            }
            Token::RParen => _ = open.pop(),
            _ => {}
        }
        let Some(word) = word(Some(token)) else { continue };
        if selecting
            && !open.contains(&true)
            && AGGREGATES.contains(&word.as_str())
            && tokens.get(at + 1) == Some(&Token::LParen)
            && !is_windowed(&tokens, at + 1)
        {
            aggregated = true;
        }
        if !open.is_empty() {
            shape.inner_limit |= word == "LIMIT";
            continue;
        }
        match word.as_str() {
            "SELECT" => selecting = true,
            "FROM" => selecting = false,
            "GROUP" => grouped = true,
            "UNION" | "INTERSECT" | "EXCEPT" | "MINUS" => combined = true,
            "LIMIT" => shape.limit = limit(&tokens, at + 1),
            _ => {}
        }
    }
    shape.one_row = aggregated && !grouped && !combined;
    shape
}

/// `LIMIT n`, `LIMIT n OFFSET m`, `LIMIT m, n`.
fn limit(tokens: &[Token], at: usize) -> Option<u64> {
    let number = |at: usize| match tokens.get(at) {
        Some(Token::Number(digits, _)) => digits.parse().ok(),
        _ => None,
    };
    if tokens.get(at + 1) == Some(&Token::Comma) { number(at + 2) } else { number(at) }
}

/// Whether OVER stands behind the parenthesis that opens here.
fn is_windowed(tokens: &[Token], from: usize) -> bool {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match token {
            Token::LParen => depth += 1,
            Token::RParen => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return word(tokens.get(at + 1)).as_deref() == Some("OVER");
                }
            }
            _ => {}
        }
    }
    false
}

fn word(token: Option<&Token>) -> Option<String> {
    match token {
        Some(Token::Word(word)) if word.quote_style.is_none() => Some(word.value.to_ascii_uppercase()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_outermost_query_counts() {
        let one = Shape { one_row: true, ..Shape::default() };
        let inner = Shape { inner_limit: true, ..one };
        let many = Shape::default();
        for (text, shape) in [
            ("SELECT count(*) FROM t", one),
            ("select 1 + sum(a) / count(b) from t where x in (select y from u limit 3)", inner),
            ("WITH c AS (SELECT * FROM t LIMIT 5) SELECT max(a) FROM c", inner),
            ("SELECT (SELECT max(x) FROM u) FROM t", many),
            ("SELECT sum(a) OVER (PARTITION BY b) FROM t", many),
            ("SELECT a, count(*) FROM t GROUP BY a", many),
            ("SELECT count(*) FROM t UNION SELECT a FROM t", many),
            ("SELECT `count` FROM t", many),
            ("SELECT 'count(*)' FROM t", many),
            ("SELECT * FROM t LIMIT 7", Shape { limit: Some(7), ..Shape::default() }),
            ("SELECT * FROM t ORDER BY a LIMIT 10, 7", Shape { limit: Some(7), ..Shape::default() }),
            ("SELECT * FROM t LIMIT 7 OFFSET 10", Shape { limit: Some(7), ..Shape::default() }),
            ("SELECT * FROM t LIMIT ?", many),
            ("SELECT 'limit 5' FROM t", many),
            ("SELECT 'open", many),
        ] {
            assert_eq!(of(text), shape, "{text}");
        }
    }
}
