//! Figures as people read them.

use dbagent_core::text::printable;

/// A cell of a result: a fraction without the digits that only binary arithmetic made.
pub(crate) fn cell(text: &str) -> String {
    let digits = text.split_once('.').map_or(0, |(_, f)| f.len());
    let numeric = text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | 'e' | 'E' | '+'));
    if digits > 4
        && numeric
        && let Ok(number) = text.parse::<f64>()
        && number.abs() < 1e15
    {
        let places = if number.abs() >= 1.0 { 4 } else { 6 };
        let rounded = format!("{number:.places$}");
        return rounded.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    // A date at midnight is a day.
    for midnight in [" 00:00:00", " 00:00:00.000", "T00:00:00"] {
        if let Some(day) = text.strip_suffix(midnight) {
            return day.to_owned();
        }
    }
    printable(text)
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn fractions_lose_what_binary_arithmetic_added() {
        assert_eq!(cell("2328.600000000004"), "2328.6");
        assert_eq!(cell("0.1"), "0.1");
        assert_eq!(cell("37.0253"), "37.0253");
        assert_eq!(cell("5.651941747572825"), "5.6519");
        assert_eq!(cell("1.2.3.45678"), "1.2.3.45678");
        assert_eq!(cell("2021-01-01 00:00:00"), "2021-01-01");
        assert_eq!(cell("a\u{1b}b"), "a\\u{1b}b");
    }
}
