//! Words that a read does not hold.
//!
//! Where a name may stand without AS, sqlparser takes nearly any word for an alias. An engine may take it for
//! the beginning of something else: SQL Server needs no semicolon, so that `SELECT 1 DELETE FROM users` is
//! two statements there. A statement that the walk found to be a pure read is looked through for such words.

use dbagent_core::guard::{Finding, Rule};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;

use crate::words::Words;

/// Words that no engine lets a bare alias be, or that nobody calls one.
const WRITES: [&str; 8] = ["alter", "create", "delete", "drop", "insert", "merge", "truncate", "update"];

/// Words that begin a statement of T-SQL, whose statements need no semicolon between them; for
/// [`SqlGrammar::statement_words`](crate::SqlGrammar::statement_words).
pub const TSQL_STATEMENTS: &[&str] = &[
    "backup",
    "begin",
    "break",
    "bulk",
    "checkpoint",
    "close",
    "commit",
    "continue",
    "dbcc",
    "deallocate",
    "declare",
    "deny",
    "disable",
    "enable",
    "exec",
    "execute",
    "go",
    "goto",
    "grant",
    "if",
    "kill",
    "open",
    "print",
    "raiserror",
    "readtext",
    "reconfigure",
    "restore",
    "return",
    "revert",
    "revoke",
    "rollback",
    "save",
    "set",
    "setuser",
    "shutdown",
    "throw",
    "updatetext",
    "use",
    "waitfor",
    "while",
    "writetext",
];

/// Finds the first word that stands where a read has none: INTO, or a word that may begin a statement.
pub(crate) fn find(words: &Words<'_>, statement_words: &[&str]) -> Option<Finding> {
    let at = (1..words.len()).find(|i| {
        let Some(word) = words.word(*i) else { return false };
        let is = |list: &[&str]| list.iter().any(|w| w.eq_ignore_ascii_case(word));
        if word.eq_ignore_ascii_case("into") {
            return !matches!(words.token(i - 1), Some(Token::Period)) && !words.are(i - 1, &["as"]);
        }
        (is(&WRITES) || is(statement_words)) && may_end(words.token(i - 1)) && !is_call(words, *i)
    })?;
    let word = words.word(at).unwrap_or_default().to_ascii_uppercase();
    Some(
        Finding::new(
            Rule::UnknownSyntax,
            format!("{word} stands where a read has no such word"),
            words.span(at),
        )
        .advice("Put a name like that in quotes, or AS before it."),
    )
}

/// Whether a statement can end with this, so that a word behind it may begin another one.
fn may_end(token: Option<&Token>) -> bool {
    match token {
        None | Some(Token::SemiColon) => false,
        Some(Token::Word(w)) if w.quote_style.is_none() => !matches!(
            w.keyword,
            Keyword::ALL
                | Keyword::ANALYZE
                | Keyword::AND
                | Keyword::AS
                | Keyword::BETWEEN
                | Keyword::BY
                | Keyword::CASE
                | Keyword::DISTINCT
                | Keyword::ELSE
                | Keyword::EXPLAIN
                | Keyword::FOR
                | Keyword::FROM
                | Keyword::HAVING
                | Keyword::IN
                | Keyword::INTERVAL
                | Keyword::IS
                | Keyword::JOIN
                | Keyword::LIKE
                | Keyword::NOT
                | Keyword::ON
                | Keyword::OR
                | Keyword::QUALIFY
                | Keyword::SELECT
                | Keyword::SHOW
                | Keyword::THEN
                | Keyword::WHEN
                | Keyword::WHERE
        ),
        Some(token) => matches!(
            token,
            Token::Word(_)
                | Token::Number(..)
                | Token::SingleQuotedString(_)
                | Token::DoubleQuotedString(_)
                | Token::NationalStringLiteral(_)
                | Token::HexStringLiteral(_)
                | Token::Placeholder(_)
                | Token::RParen
                | Token::RBracket
                | Token::RBrace
                | Token::Mul
        ),
    }
}

/// Whether the word at `index` is the name of a function or the head of a path.
fn is_call(words: &Words<'_>, index: usize) -> bool {
    matches!(words.token(index + 1), Some(Token::LParen | Token::Period))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Places;
    use sqlparser::dialect::GenericDialect;
    use sqlparser::tokenizer::Tokenizer;

    fn stray(text: &str) -> bool {
        let tokens = Tokenizer::new(&GenericDialect {}, text).tokenize_with_location().unwrap();
        let places = Places::new(text);
        find(&Words::new(&tokens, &places), TSQL_STATEMENTS).is_some()
    }

    #[test]
    fn a_word_behind_a_whole_statement_is_found() {
        for text in [
            "SELECT 1 DELETE FROM users",
            "SELECT name UPDATE users",
            "SELECT 1 SHUTDOWN",
            "SELECT * FROM users SHUTDOWN",
            "SELECT * FROM users WHERE (id = 1) EXEC do_work",
            "SELECT 1 x INTO t",
            "SELECT * DROP",
        ] {
            assert!(stray(text), "{text}");
        }
    }

    #[test]
    fn names_are_left_alone() {
        for text in [
            "SELECT u.update, update, (delete) FROM users u",
            "SELECT 1 AS delete, 2 AS \"into\", \"delete\", 3 \"drop\"",
            "SELECT insert(a, 1), a + truncate(b, 1), x.into FROM t",
            "SELECT id FROM users FOR UPDATE",
            "SELECT id FROM users WHERE set = 1 AND use IN (open)",
            "DELETE FROM users",
            "SHOW CREATE TABLE users",
        ] {
            assert!(!stray(text), "{text}");
        }
    }
}
