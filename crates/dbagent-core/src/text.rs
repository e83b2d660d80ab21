//! Small things about text that is shown: shortening that says so, escaping of what must not act,
//! hiding of credentials, counting of tokens, near misses.

mod mask;
mod tokens;

use std::fmt::Write as _;

pub(crate) use mask::may_be_password;
pub use mask::{is_secret, mask_urls};
pub use tokens::estimate_tokens;

/// Shortens a text to about `max` characters and says by how much. Shorter texts come back unchanged.
pub fn shorten(text: &str, max: usize) -> String {
    let total = text.chars().count();
    if total <= max {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(max).collect();
    // Writing to a String cannot fail.
    _ = write!(out, "… [{} more characters]", total - max);
    out
}

/// Whether a character could act on a terminal, a page or a reader instead of being shown: control
/// characters, and the bidirectional and invisible ones that reorder or hide text.
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Writes a text on one line with nothing in it that acts: line ends and tabs as `\n`, `\r`, `\t`, other
/// unsafe characters as `\u{…}`, and the characters of `also` behind a backslash. A backslash is doubled,
/// so that the original can be told.
pub fn escape_into(out: &mut String, text: &str, also: &[char]) {
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_unsafe(c) => _ = write!(out, "\\u{{{:x}}}", c as u32),
            c if also.contains(&c) => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
}

/// The inverse of [`escape_into`].
pub fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('u') => {
                let code: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
                out.extend(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32));
            }
            Some(c) => out.push(c),
            None => out.push('\\'),
        }
    }
    out
}

/// Keeps the lines of a text for people (an answer, a statement) and makes everything else in it visible
/// that could act on a terminal.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            c if is_unsafe(c) => _ = write!(out, "\\u{{{:x}}}", c as u32),
            c => out.push(c),
        }
    }
    out
}

/// The candidates nearest to a misspelt name, best first, at most `max`.
pub fn near_misses<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    max: usize,
) -> Vec<&'a str> {
    let wanted = name.to_lowercase();
    let mut scored: Vec<(f64, &str)> = candidates
        .into_iter()
        .map(|c| (strsim::jaro_winkler(&wanted, &c.to_lowercase()), c))
        .filter(|(score, c)| *score >= 0.8 || (wanted.len() >= 3 && c.to_lowercase().contains(&wanted)))
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored.into_iter().take(max).map(|(_, c)| c).collect()
}

/// `1,234,567`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// `1 row`, `2 rows`, `1,000 rows`.
pub fn counted(n: u64, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{} {many}", thousands(n)) }
}

/// `512 bytes`, `3.4 KiB`, `12.0 MiB`, `1.5 GiB`.
pub fn bytes(n: u64) -> String {
    match n {
        0..1024 => format!("{n} bytes"),
        1024..0x10_0000 => format!("{:.1} KiB", n as f64 / 1024.0),
        0x10_0000..0x4000_0000 => format!("{:.1} MiB", n as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", n as f64 / 1_073_741_824.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortening_says_by_how_much() {
        assert_eq!(shorten("abcdef", 4), "abcd… [2 more characters]");
        assert_eq!(shorten("äöü", 3), "äöü");
    }

    #[test]
    fn escaping_is_reversible_and_leaves_nothing_that_acts() {
        let nasty = "a|b\\n\n\u{1b}[31m\u{202e}\u{200b}\u{e0041}ü";
        let mut out = String::new();
        escape_into(&mut out, nasty, &['|']);
        assert!(!out.chars().any(is_unsafe), "{out}");
        assert_eq!(unescape(&out), nasty);
    }

    #[test]
    fn figures_read_well() {
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(thousands(12), "12");
        assert_eq!(
            (counted(1, "row", "rows"), counted(1_000, "row", "rows")),
            ("1 row".into(), "1,000 rows".into())
        );
        assert_eq!(bytes(10 << 20), "10.0 MiB");
    }

    #[test]
    fn near_misses_come_best_first() {
        assert_eq!(near_misses("albm", ["Artist", "Album", "AlbumId"], 2), ["Album", "AlbumId"]);
        assert!(near_misses("zzz", ["Artist"], 2).is_empty());
    }
}
