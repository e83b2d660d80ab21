//! One value as people read it: nothing in it acts, and nothing looks like something else.

use dbagent::observe::NULL;
use dbagent::rows::Cell;
use dbagent::text::{escape_into, is_unsafe};

use super::grid::Text;

/// A value for a table.
pub(super) fn text(cell: &Cell<'_>) -> Text {
    match cell {
        Cell::Null => Text::null(),
        Cell::Text(text) => Text::new(quoted(text)),
        Cell::Json(text) => Text::new(shown(text)),
        other => Text::new(shown(&other.to_text())),
    }
}

/// A name or a remark for a table.
pub(super) fn shown(text: &str) -> String {
    let escaped = text.chars().any(is_unsafe) || looks_escaped(text);
    if !escaped {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 8);
    escape_into(&mut out, text, &[]);
    out
}

/// Whether a backslash in a text would be taken for an escape.
fn looks_escaped(text: &str) -> bool {
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\\' && chars.peek().is_some_and(|next| matches!(next, '\\' | 'n' | 'r' | 't' | 'u')) {
            return true;
        }
    }
    false
}

/// A text in quotes where it could be taken for nothing, for NULL, or for a quoted text.
fn quoted(text: &str) -> String {
    let quote = text.is_empty()
        || text.eq_ignore_ascii_case(NULL)
        || text.starts_with([' ', '"'])
        || text.ends_with(' ');
    let shown = shown(text);
    if quote { format!("\"{shown}\"") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_alike_can_be_told_apart() {
        let texts = [
            "NULL",
            "",
            " a",
            "a\nb",
            "a\\nb",
            "C:\\new",
            "C:\\data",
            "\u{1b}[2J",
            "a\u{200b}",
            "\"q\"",
            "\\",
        ];
        let shown: Vec<String> = texts.iter().map(|t| text(&Cell::Text(t)).text).collect();
        assert_eq!(
            shown,
            [
                "\"NULL\"",
                "\"\"",
                "\" a\"",
                "a\\nb",
                "a\\\\nb",
                "C:\\\\new",
                "C:\\data",
                "\\u{1b}[2J",
                "a\\u{200b}",
                "\"\"q\"\"",
                "\\"
            ]
        );
        assert_eq!(text(&Cell::Null).text, "NULL");
        assert!(text(&Cell::Null).null);
        assert_eq!(text(&Cell::Bytes(&[1])).text, "x'01'");
    }
}
