//! Dates and times of parameters, in ISO 8601.

use dbagent_core::Param;

use super::Why;

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;
/// Days from 1970-01-01 to 2000-01-01, from which the server counts.
const EPOCH: i64 = 10_957;

/// Days since 2000-01-01.
pub(super) fn date(value: &Param) -> Result<i32, Why> {
    let text = written(value)?;
    let (date, rest) = text.split_at_checked(10).ok_or_else(wrong)?;
    if !rest.is_empty() {
        return Err(Why::Value("it has a time; the parameter is a day"));
    }
    i32::try_from(days(date)?).map_err(|_| wrong())
}

/// Microseconds since midnight.
pub(super) fn clock(value: &Param) -> Result<i64, Why> {
    micros(written(value)?)
}

/// Microseconds since 2000-01-01 in UTC; a time without a zone is taken to be in UTC.
pub(super) fn timestamp(value: &Param) -> Result<i64, Why> {
    let text = written(value)?;
    let (date, rest) = text.split_at_checked(10).ok_or_else(wrong)?;
    let midnight = days(date)? * DAY;
    let Some(rest) = rest.strip_prefix(['T', ' ']) else {
        return if rest.is_empty() { Ok(midnight) } else { Err(wrong()) };
    };
    let (time, zone) = match rest.strip_suffix('Z') {
        Some(time) => (time, 0),
        None => match rest.rfind(['+', '-']).and_then(|at| rest.split_at_checked(at)) {
            Some((time, zone)) => (time, offset(zone)?),
            None => (rest, 0),
        },
    };
    Ok(midnight + micros(time)? - zone * SECOND)
}

fn written(value: &Param) -> Result<&str, Why> {
    match value {
        Param::Date(text) | Param::Text(text) => Ok(text.trim()),
        _ => Err(Why::Value("give it as {\"$date\": \"YYYY-MM-DD\"}, with THH:MM:SS where a time is wanted")),
    }
}

fn wrong() -> Why {
    Why::Value("it must be YYYY-MM-DD, with THH:MM:SS where a time is wanted")
}

fn two(text: &str) -> Result<i64, Why> {
    if text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit()) {
        text.parse().map_err(|_| wrong())
    } else {
        Err(wrong())
    }
}

fn days(text: &str) -> Result<i64, Why> {
    let mut parts = text.split('-');
    let (Some(year), Some(month), Some(day), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(wrong());
    };
    if year.len() != 4 || !year.bytes().all(|b| b.is_ascii_digit()) {
        return Err(wrong());
    }
    let year: i64 = year.parse().map_err(|_| wrong())?;
    let (month, day) = (two(month)?, two(day)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return Err(Why::Value("there is no such month")),
    };
    if year == 0 || day == 0 || day > last {
        return Err(Why::Value("there is no such day"));
    }
    // By eras of 400 years that begin in March.
    let shifted = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let of_era = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    Ok(era * 146_097 + of_era - 719_468 - EPOCH)
}

fn micros(text: &str) -> Result<i64, Why> {
    let (clock, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = clock.split(':');
    let hour = two(parts.next().unwrap_or_default())?;
    let minute = two(parts.next().unwrap_or_default())?;
    let second = parts.next().map_or(Ok(0), two)?;
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 59 {
        return Err(Why::Value("there is no such time"));
    }
    if !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return Err(wrong());
    }
    let fraction: String = fraction.chars().chain("000000".chars()).take(6).collect();
    let fraction: i64 = fraction.parse().map_err(|_| wrong())?;
    Ok(((hour * 60 + minute) * 60 + second) * SECOND + fraction)
}

/// Seconds east of UTC.
fn offset(text: &str) -> Result<i64, Why> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (hours, minutes) = text.split_once(':').unwrap_or((text, "00"));
    Ok(sign * (two(hours)? * 3_600 + two(minutes)? * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> i64 {
        timestamp(&Param::Date(text.into())).map_err(|_| ()).unwrap()
    }

    #[test]
    fn moments_are_counted_from_the_year_2000() {
        assert_eq!(at("2000-01-01"), 0);
        assert_eq!(at("2000-01-02T00:00:01"), DAY + SECOND);
        assert_eq!(at("2000-01-01T02:00:00.5+02:00"), 500_000);
        assert_eq!(at("1999-12-31 23:00:00-01"), 0);
        assert_eq!(at("2000-01-01T00:00:00Z"), 0);
        assert_eq!(date(&Param::Date("2024-02-29".into())).map_err(|_| ()).unwrap(), 8_825);
    }

    #[test]
    fn what_no_calendar_has_is_refused() {
        for text in ["2023-02-29", "2024-04-31", "2024-13-01", "0000-01-01", "2024-1-1", "today", "", "é"] {
            assert!(date(&Param::Date(text.into())).is_err(), "{text}");
        }
        for text in ["2024-01-01T25:00", "2024-01-01x", "2024-01-01T10", "2024-01-01T10:00:00.x"] {
            assert!(timestamp(&Param::Date(text.into())).is_err(), "{text}");
        }
    }
}
