//! Where in the text the server saw the problem. Its messages quote a part of the text; where that part is
//! cannot be told for sure, there is no place.

/// How much of the rest of a text a message quotes at most, in characters.
const QUOTED: usize = 80;

/// The byte offset of what a message is about.
pub(super) fn find(number: u16, message: &str, text: &str) -> Option<usize> {
    match number {
        1064 | 1149 => near(message, text),
        1054 | 1052 | 1146 | 1109 | 1305 | 1630 | 1582 | 1055 => name(message, text),
        _ => None,
    }
}

/// `… near 'REST OF THE TEXT' at line N`.
fn near(message: &str, text: &str) -> Option<usize> {
    let (_, rest) = message.split_once("near '")?;
    let (quoted, line) = rest.rsplit_once("' at line ")?;
    if quoted.is_empty() {
        return Some(text.trim_end().len());
    }
    // A short quote is the whole rest.
    if quoted.chars().count() < QUOTED && text.ends_with(quoted) {
        return text.len().checked_sub(quoted.len());
    }
    let line: usize = line.trim().parse().ok()?;
    let line_start =
        std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).nth(line.checked_sub(1)?)?;
    let after = text.get(line_start..)?;
    let mut places = after.match_indices(quoted).map(|(at, _)| line_start + at);
    let first = places.next()?;
    places.next().is_none().then_some(first)
}

/// A name in quotes that the text holds once as a word.
fn name(message: &str, text: &str) -> Option<usize> {
    let quoted = message.split('\'').nth(1).or_else(|| {
        // `FUNCTION db.name does not exist`
        message.strip_prefix("FUNCTION ").and_then(|rest| rest.split(' ').next())
    })?;
    let lower = text.to_ascii_lowercase();
    // The server writes a table with its database and a column with its table, the text need not.
    let last = quoted.rsplit('.').next().unwrap_or(quoted);
    [quoted, last].into_iter().find_map(|wanted| once(&lower, &wanted.to_ascii_lowercase()))
}

fn once(text: &str, wanted: &str) -> Option<usize> {
    if wanted.is_empty() {
        return None;
    }
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut places = text.match_indices(wanted).filter(|(at, found)| {
        let before = text.get(..*at).and_then(|t| t.chars().next_back());
        let after = text.get(at + found.len()..).and_then(|t| t.chars().next());
        !before.is_some_and(word) && !after.is_some_and(word)
    });
    let (first, _) = places.next()?;
    places.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_where_they_are_sure() {
        let syntax = |near: &str, line: usize| {
            format!("You have an error in your SQL syntax; … near '{near}' at line {line}")
        };
        let text = "SELECT a\nFROM t WHERE WHERE x";
        assert_eq!(find(1064, &syntax("WHERE x", 2), text), text.rfind("WHERE"));
        assert_eq!(find(1064, &syntax("", 1), "SELECT 1 +  "), Some(10));
        let long = format!("SELECT 1 FROM FROM {}", "x ".repeat(100));
        let quoted: String = long.chars().skip(14).take(QUOTED).collect();
        assert_eq!(find(1064, &syntax(&quoted, 1), &long), Some(14));
        assert_eq!(find(1064, &syntax("something else", 1), text), None);

        assert_eq!(find(1054, "Unknown column 'no_such' in 'field list'", "SELECT No_Such FROM t"), Some(7));
        assert_eq!(find(1054, "Unknown column 'a' in 'field list'", "SELECT a, a FROM t"), None);
        assert_eq!(find(1054, "Unknown column 't.a' in 'field list'", "SELECT t.a, b.a FROM t"), Some(7));
        assert_eq!(find(1146, "Table 'shop.t' doesn't exist", "SELECT 1 FROM `t`"), Some(15));
        assert_eq!(find(1305, "FUNCTION shop.f does not exist", "SELECT f(1)"), Some(7));
    }
}
