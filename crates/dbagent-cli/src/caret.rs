//! A place in a statement, shown under its line.

use dbagent::guard::Span;
use dbagent::text::{is_unsafe, mask_urls};

use crate::width::width;

/// The line of the statement that holds the place, and marks under it; nothing when the place is outside.
/// Credentials in URLs are stars.
pub(crate) fn lines(statement: &str, span: Span, room: usize) -> Vec<String> {
    let masked = mask_urls(statement);
    let statement = masked.as_ref();
    let Some(before) = statement.get(..span.start.min(statement.len())) else { return Vec::new() };
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    let line = statement.get(line_start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let head = plain(before.get(line_start..).unwrap_or_default());
    let marked = statement
        .get(span.start..span.end.max(span.start))
        .and_then(|s| s.lines().next())
        .unwrap_or_default();
    let marked_width = width(&plain(marked)).max(1);
    let shown: Vec<char> = plain(line).chars().collect();
    // A long line is shown around the place.
    let head_chars = head.chars().count();
    let from = head_chars.saturating_sub(room / 2);
    let cut: String = shown.iter().skip(from).take(room).collect();
    let indent: String = head.chars().skip(from).collect();
    let marks = marked_width.min(room.saturating_sub(width(&indent)).max(1));
    vec![cut, format!("{}{}", " ".repeat(width(&indent)), "^".repeat(marks))]
}

/// Line and column of a byte, both from 1, counted in characters.
pub(crate) fn position(statement: &str, at: usize) -> (usize, usize) {
    let before: String = statement.char_indices().take_while(|(i, _)| *i < at).map(|(_, c)| c).collect();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

/// One column for whatever would act or move the marks.
fn plain(text: &str) -> String {
    text.chars().map(|c| if is_unsafe(c) { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marks_stand_under_the_place() {
        let statement = "SELECT 1\nFROM 日本 WHERE load_extension('x')";
        let start = statement.find("load_extension").unwrap();
        assert_eq!(
            lines(statement, Span::new(start, start + 14), 60),
            ["FROM 日本 WHERE load_extension('x')", "                ^^^^^^^^^^^^^^"]
        );
        assert_eq!(position(statement, start), (2, 15));
    }

    #[test]
    fn a_long_line_is_shown_around_the_place() {
        let statement = format!("SELECT {} bad()", "x,".repeat(500));
        let start = statement.find("bad").unwrap();
        let shown = lines(&statement, Span::new(start, start + 3), 40);
        assert!(shown[0].contains("bad()"));
        assert_eq!(shown[1].find('^'), shown[0].find("bad"));
    }

    #[test]
    fn a_place_outside_is_no_panic() {
        assert!(lines("日", Span::new(1, 2), 40).is_empty());
        assert_eq!(lines("ab", Span::new(9, 12), 40), ["ab", "  ^"]);
    }
}
