//! Dates in a question: days, months, quarters and years, as half-open spans of days.

use crate::words::MONTHS;
use crate::words::{Kind, Token};

/// A day of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Day {
    pub(crate) year: i32,
    pub(crate) month: u32,
    pub(crate) date: u32,
}

impl Day {
    /// The day, if the calendar has it.
    pub(crate) fn new(year: i32, month: u32, day: u32) -> Option<Self> {
        ((1..=12).contains(&month) && day >= 1 && day <= days_in(year, month)).then_some(Self {
            year,
            month,
            date: day,
        })
    }

    fn next(self) -> Self {
        if self.date < days_in(self.year, self.month) {
            return Self { date: self.date + 1, ..self };
        }
        self.month_after(1)
    }

    fn month_after(self, months: u32) -> Self {
        let index = self.month - 1 + months;
        let years = i32::try_from(index / 12).unwrap_or_default();
        Self { year: self.year + years, month: index % 12 + 1, date: 1 }
    }

    /// `2011-05-01`.
    pub(crate) fn iso(self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.date)
    }

    /// Days since 1970-01-01.
    pub(crate) fn epoch_days(self) -> i64 {
        // Howard Hinnant's algorithm: years that begin in March have their leap day last.
        let year = i64::from(self.year) - i64::from(self.month <= 2);
        let era = year.div_euclid(400);
        let of_era = year.rem_euclid(400);
        let from_march = (i64::from(self.month) + 9) % 12;
        let of_year = (153 * from_march + 2) / 5 + i64::from(self.date) - 1;
        era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
    }
}

fn days_in(year: i32, month: u32) -> u32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// From a day on, up to and without another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) from: Day,
    pub(crate) to: Day,
}

/// A date as a question names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Time {
    /// A stretch of days.
    Span(Span),
    /// A month of any year.
    Month(u32),
}

impl Span {
    pub(crate) fn year(year: i32) -> Option<Self> {
        Some(Self { from: Day::new(year, 1, 1)?, to: Day::new(year + 1, 1, 1)? })
    }

    pub(crate) fn month(year: i32, month: u32) -> Option<Self> {
        let from = Day::new(year, month, 1)?;
        Some(Self { from, to: from.month_after(1) })
    }

    fn quarter(year: i32, quarter: u32) -> Option<Self> {
        let from = Day::new(year, quarter.checked_sub(1)? * 3 + 1, 1)?;
        Some(Self { from, to: from.month_after(3) })
    }

    fn day(day: Day) -> Self {
        Self { from: day, to: day.next() }
    }

    /// The year, if this is a whole one.
    pub(crate) fn whole_year(self) -> Option<i32> {
        (Self::year(self.from.year) == Some(self)).then_some(self.from.year)
    }

    /// As people write it.
    pub(crate) fn spoken(self) -> String {
        if let Some(year) = self.whole_year() {
            year.to_string()
        } else if Self::month(self.from.year, self.from.month) == Some(self) {
            format!("{:04}-{:02}", self.from.year, self.from.month)
        } else if Self::day(self.from) == self {
            self.from.iso()
        } else {
            format!("{} up to, without, {}", self.from.iso(), self.to.iso())
        }
    }
}

/// The year that a token is.
pub(crate) fn year(token: &Token) -> Option<i32> {
    let plain =
        token.kind == Kind::Number && token.text.len() == 4 && token.text.bytes().all(|b| b.is_ascii_digit());
    token.lower.parse().ok().filter(|y| plain && (1000..=2999).contains(y))
}

/// The month that a word names. `may` is one only in capitals, and the caller knows whether it can be.
pub(crate) fn month(token: &Token) -> Option<u32> {
    let word = token.lower.as_str();
    let at = MONTHS
        .iter()
        .position(|n| *n == word || (word.len() >= 3 && n.starts_with(word) && word.len() <= 4))?;
    let doubtful = [
        "may", "march", "mar", "dec", "sept", "mar", "jun", "jul", "oct", "nov", "jan", "feb", "apr", "aug",
        "sep",
    ];
    if doubtful.contains(&word) && !token.is_capital() {
        return None;
    }
    u32::try_from(at + 1).ok()
}

fn day_number(token: &Token) -> Option<u32> {
    let word = token.lower.as_str();
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|e| word.strip_suffix(e)).unwrap_or(word);
    digits.parse().ok().filter(|d| (1..=31).contains(d))
}

/// Reads a date at the start of some tokens: the date and how many tokens it takes. A bare year is not
/// read here; it may be a number.
pub(crate) fn read(tokens: &[Token]) -> Option<(Time, usize)> {
    let span = |s: Option<Span>, n: usize| s.map(|s| (Time::Span(s), n));
    let first = tokens.first()?;
    if first.kind == Kind::Date {
        let mut parts = first.text.split(['-', '/']).map(|p| p.parse::<i32>().ok());
        let year = parts.next()??;
        let month = parts.next().flatten().and_then(|m| u32::try_from(m).ok())?;
        return match parts.next().flatten().and_then(|d| u32::try_from(d).ok()) {
            Some(day) => span(Day::new(year, month, day).map(Span::day), 1),
            None => span(Span::month(year, month), 1),
        };
    }
    if let Some(year_only) = year(first)
        && tokens.get(1).is_some_and(|t| t.lower.starts_with('q') && t.lower.len() == 2)
    {
        let quarter = tokens.get(1).and_then(|t| t.lower.strip_prefix('q')).and_then(|q| q.parse().ok())?;
        return span(Span::quarter(year_only, quarter), 2);
    }
    if let Some(quarter) = first.lower.strip_prefix('q').and_then(|q| q.parse::<u32>().ok()) {
        let skip = usize::from(tokens.get(1).is_some_and(|t| t.lower == "of"));
        return span(Span::quarter(year(tokens.get(1 + skip)?)?, quarter), 2 + skip);
    }
    let ordinals = ["first", "second", "third", "fourth"];
    if let Some(quarter) = ordinals.iter().position(|o| *o == first.lower)
        && tokens.get(1).is_some_and(|t| t.lower == "quarter")
    {
        let skip = usize::from(tokens.get(2).is_some_and(|t| ["of", "in"].contains(&t.lower.as_str())));
        return span(Span::quarter(year(tokens.get(2 + skip)?)?, u32::try_from(quarter + 1).ok()?), 3 + skip);
    }
    if let Some(month) = month(first) {
        // `May 1, 2011`, `March of 2012`, `March 2012`, `March`.
        let comma =
            |at: usize| usize::from(tokens.get(at).is_some_and(|t| [",", "of"].contains(&t.lower.as_str())));
        if let Some(day) = tokens.get(1).filter(|t| year(t).is_none()).and_then(day_number) {
            let skip = comma(2);
            if let Some(year) = tokens.get(2 + skip).and_then(year) {
                return span(Day::new(year, month, day).map(Span::day), 3 + skip);
            }
        }
        let skip = comma(1);
        if let Some(year) = tokens.get(1 + skip).and_then(year) {
            return span(Span::month(year, month), 2 + skip);
        }
        return Some((Time::Month(month), 1));
    }
    // `1 May 2011`, `1st of May 2011`.
    let day = day_number(first)?;
    let skip = usize::from(tokens.get(1).is_some_and(|t| t.lower == "of"));
    let month = month(tokens.get(1 + skip)?)?;
    let comma = usize::from(tokens.get(2 + skip).is_some_and(|t| t.lower == ","));
    let year = year(tokens.get(2 + skip + comma)?)?;
    span(Day::new(year, month, day).map(Span::day), 3 + skip + comma)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::tokens;

    fn spoken(text: &str) -> Option<(String, usize)> {
        read(&tokens(text)).map(|(t, n)| match t {
            Time::Span(s) => (s.spoken(), n),
            Time::Month(m) => (format!("month {m}"), n),
        })
    }

    #[test]
    fn dates_are_read_in_many_writings() {
        for (text, date, n) in [
            ("2011-05-01 or", "2011-05-01", 1),
            ("May 1, 2011", "2011-05-01", 4),
            ("1st of May 2011", "2011-05-01", 4),
            ("1 May 2011", "2011-05-01", 3),
            ("March 2012", "2012-03", 2),
            ("March of 2012", "2012-03", 3),
            ("December", "month 12", 1),
            ("2012-03", "2012-03", 1),
            ("Q4 2010", "2010-10-01 up to, without, 2011-01-01", 2),
            ("first quarter of 2010", "2010-01-01 up to, without, 2010-04-01", 4),
        ] {
            assert_eq!(spoken(text), Some((date.to_owned(), n)), "{text}");
        }
        for text in ["may I", "march on", "2011-13-01", "31 June 2011", "5 tracks", "2010"] {
            assert_eq!(spoken(text), None, "{text}");
        }
    }

    #[test]
    fn days_follow_the_calendar() {
        let leap = Day::new(2012, 2, 29).unwrap();
        assert_eq!(leap.next().iso(), "2012-03-01");
        assert_eq!(Day::new(2011, 2, 29), None);
        assert_eq!(Day::new(2011, 12, 31).unwrap().next().iso(), "2012-01-01");
        assert_eq!(Day::new(1970, 1, 1).unwrap().epoch_days(), 0);
        assert_eq!(Day::new(2000, 3, 1).unwrap().epoch_days(), 11_017);
        assert_eq!(Span::year(2010).unwrap().whole_year(), Some(2010));
    }
}
