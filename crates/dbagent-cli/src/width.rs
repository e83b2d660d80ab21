//! Text as people read it: measured in the columns of a terminal, and counted.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// A text of at most `max` columns; a longer one ends in `…`.
pub(crate) fn shorten(text: &str, max: usize) -> String {
    if width(text) <= max {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let w = c.width().unwrap_or(0);
        if used + w + 1 > max {
            break;
        }
        used += w;
        out.push(c);
    }
    out.push('…');
    out
}

/// Breaks each line at spaces so that it fits into `max` columns; a longer word is broken where it must be.
pub(crate) fn wrap(text: &str, max: usize) -> Vec<String> {
    let max = max.max(8);
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut current = String::new();
        let mut used = 0;
        for piece in line.split_inclusive(' ') {
            let word = width(piece.trim_end());
            if used > 0 && used + word > max {
                lines.push(current.trim_end().to_owned());
                current.clear();
                used = 0;
            }
            for c in piece.chars() {
                let w = c.width().unwrap_or(0);
                if used + w > max && c != ' ' {
                    lines.push(std::mem::take(&mut current));
                    used = 0;
                }
                current.push(c);
                used += w;
            }
        }
        lines.push(current.trim_end().to_owned());
    }
    lines
}

/// A text filled up with spaces to `to` columns.
pub(crate) fn pad(text: &str, to: usize, right: bool) -> String {
    let fill = " ".repeat(to.saturating_sub(width(text)));
    if right { format!("{fill}{text}") } else { format!("{text}{fill}") }
}

/// `1 row`, `1,234 rows`.
pub(crate) fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", dbagent::text::thousands(n), if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(width("日本"), 4);
        assert_eq!(shorten("日本語", 5), "日本…");
        assert_eq!(shorten("日本語", 6), "日本語");
        assert_eq!(pad("日", 4, true), "  日");
        assert_eq!(shorten("abc", 0), "…");
    }

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(
            wrap("SELECT a, b\nFROM some_long_table_name x", 12),
            ["SELECT a, b", "FROM", "some_long_ta", "ble_name x"]
        );
        assert_eq!(wrap("  a b", 10), ["  a b"]);
        assert!(wrap(&"日本語 ".repeat(20), 11).iter().all(|l| width(l) <= 11));
    }
}
