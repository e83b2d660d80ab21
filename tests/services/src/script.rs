//! Takes an SQL script apart into its statements, for servers that want them one by one.
//!
//! A backslash in a text means itself, as in standard SQL: MySQL is told so where it reads them.

/// The statements of a script, without comments, psql's own commands and the closing semicolons.
pub(crate) fn statements(script: &str) -> Vec<String> {
    let mut statements = Vec::new();
    let mut current = String::new();
    let mut rest = script;
    while let Some(first) = rest.chars().next() {
        let is_at_start = current.trim().is_empty();
        let taken = match first {
            '-' if rest.starts_with("--") => skip_line(rest),
            '\\' if is_at_start => skip_line(rest),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '\'' | '"' | '`' => {
                let length = quoted(rest, first);
                current.push_str(rest.get(..length).unwrap_or(rest));
                length
            }
            ';' => {
                keep(&mut statements, &mut current);
                1
            }
            other => {
                current.push(other);
                other.len_utf8()
            }
        };
        rest = rest.get(taken..).unwrap_or("");
    }
    keep(&mut statements, &mut current);
    statements
}

fn keep(statements: &mut Vec<String>, current: &mut String) {
    let statement = current.trim();
    if !statement.is_empty() {
        statements.push(statement.to_owned());
    }
    current.clear();
}

fn skip_line(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// The length of a quoted text at the start, with its quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut letters = text.char_indices().skip(1);
    // A doubled quote ends a text and opens another at once, which comes to the same.
    letters.find(|(_, letter)| *letter == quote).map_or(text.len(), |(at, _)| at + quote.len_utf8())
}

/// Makes each statement one line, for readers that take a line for a statement.
///
/// None where a line break stands in a quoted text and would be lost.
pub(crate) fn on_one_line(statement: &str) -> Option<String> {
    let mut line = String::with_capacity(statement.len());
    let mut rest = statement;
    while let Some(first) = rest.chars().next() {
        let taken = if matches!(first, '\'' | '"' | '`') {
            let length = quoted(rest, first);
            let text = rest.get(..length)?;
            if text.contains(['\n', '\r']) {
                return None;
            }
            line.push_str(text);
            length
        } else {
            line.push(if matches!(first, '\n' | '\r') { ' ' } else { first });
            first.len_utf8()
        };
        rest = rest.get(taken..)?;
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_semicolon_ends_a_statement_only_outside_of_quotes_and_comments() {
        let script =
            "CREATE TABLE \"a;b\" (x int); -- no; end\nINSERT INTO t VALUES ('it''s; one'); /* ; */ SELECT 1";
        assert_eq!(
            statements(script),
            ["CREATE TABLE \"a;b\" (x int)", "INSERT INTO t VALUES ('it''s; one')", "SELECT 1"]
        );
    }

    #[test]
    fn the_commands_of_psql_are_not_for_the_server() {
        assert_eq!(
            statements("CREATE DATABASE c;\n\n\\c c;\n\nSELECT 1;"),
            ["CREATE DATABASE c", "SELECT 1"]
        );
    }

    #[test]
    fn a_backslash_means_itself() {
        assert_eq!(statements(r"SELECT 'a\'; SELECT `b\`"), [r"SELECT 'a\'", r"SELECT `b\`"]);
    }

    #[test]
    fn what_is_not_closed_is_kept_whole() {
        for script in ["SELECT 'open; never closed", "SELECT \"x", "/* open", "--", "\\", "'", "é'ü"] {
            let found = statements(script);
            assert!(found.len() <= 1, "{script}: {found:?}");
        }
    }

    #[test]
    fn lines_are_joined_unless_a_text_would_change() {
        assert_eq!(
            on_one_line("INSERT INTO t VALUES\n  (1,\r\n 'a')").as_deref(),
            Some("INSERT INTO t VALUES   (1,   'a')")
        );
        assert_eq!(on_one_line("SELECT 'a\nb'"), None);
        assert_eq!(on_one_line(r"SELECT 'a\nb'").as_deref(), Some(r"SELECT 'a\nb'"));
    }
}
