//! Counts the parameters of a statement as SQLite numbers them: in the order of the text.

use dbagent_core::guard::{Finding, ParameterUse, Rule};
use sqlite3_parser::dialect::TokenType;

use super::lex::Tokens;

/// The largest number that SQLite gives a parameter.
const MAX_NUMBER: usize = 32_766;

/// The parameters, or what is wrong with them.
pub(super) fn count(tokens: &Tokens<'_>) -> Result<ParameterUse, Finding> {
    let mut used = ParameterUse::default();
    for token in tokens.list().iter().filter(|t| t.kind == TokenType::TK_VARIABLE) {
        let text = tokens.slice(token.span);
        if let Some(number) = text.strip_prefix('?') {
            // A number beyond `usize` is beyond the limit too.
            used.positional = match number {
                "" => used.positional + 1,
                digits => used.positional.max(digits.parse().unwrap_or(usize::MAX)),
            };
            if used.positional > MAX_NUMBER || number.parse() == Ok(0_usize) {
                return Err(Finding::new(
                    Rule::Parameters,
                    format!("parameters are numbered from ?1 to ?{MAX_NUMBER}, {text} is outside"),
                    Some(token.span),
                ));
            }
        } else if let Some(name) = text.strip_prefix([':', '@', '$']) {
            if !used.named.iter().any(|n| n == name) {
                used.named.push(name.to_owned());
            }
        } else {
            return Err(Finding::new(
                Rule::UnknownSyntax,
                format!("{text} is no parameter that a statement may have"),
                Some(token.span),
            ));
        }
    }
    Ok(used)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<ParameterUse, Finding> {
        count(&Tokens::read(text, 100).unwrap())
    }

    #[test]
    fn numbers_follow_the_text() {
        assert_eq!(of("SELECT ?3 FROM (SELECT ?)").unwrap().positional, 4);
        assert_eq!(of("SELECT ?, ?2, ?1, ?").unwrap().positional, 3);
        assert_eq!(of("SELECT '?', \"?\", -- ?\n 1").unwrap().positional, 0);
    }

    #[test]
    fn names_count_once_whatever_their_marker() {
        assert_eq!(of("SELECT :a, @a, $b, :a").unwrap().named, ["a", "b"]);
    }

    #[test]
    fn what_sqlite_does_not_number_is_refused() {
        for text in ["SELECT ?0", "SELECT ?32767", "SELECT ?99999999999999999999999", "SELECT #1"] {
            assert!(of(text).is_err(), "{text}");
        }
    }
}
