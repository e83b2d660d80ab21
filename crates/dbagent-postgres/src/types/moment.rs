//! Dates, times and intervals as the server writes them under `DateStyle = ISO` and in UTC.

use std::fmt::Write as _;

use dbagent_core::Result;

use super::binary::malformed;

/// Days from 1970-01-01 to the server's own first day, 2000-01-01.
const EPOCH: i64 = 10_957;
const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

// Writing to a String cannot fail, so the results of `write!` are dropped here.

pub(super) fn date(days: i32, out: &mut String) {
    match days {
        i32::MAX => out.push_str("infinity"),
        i32::MIN => out.push_str("-infinity"),
        days => {
            let before = calendar(i64::from(days), out);
            out.push_str(before);
        }
    }
}

pub(super) fn timestamp(micros: i64, zoned: bool, out: &mut String) {
    match micros {
        i64::MAX => out.push_str("infinity"),
        i64::MIN => out.push_str("-infinity"),
        micros => {
            let before = calendar(micros.div_euclid(DAY), out);
            out.push(' ');
            clock(micros.rem_euclid(DAY), out);
            if zoned {
                out.push_str("+00");
            }
            out.push_str(before);
        }
    }
}

pub(super) fn time(micros: i64, out: &mut String) -> Result<()> {
    // 24:00:00 is a time of its own.
    if !(0..=DAY).contains(&micros) {
        return Err(malformed());
    }
    clock(micros, out);
    Ok(())
}

/// The zone comes as seconds west.
pub(super) fn time_with_zone(micros: i64, west: i32, out: &mut String) -> Result<()> {
    time(micros, out)?;
    let seconds = west.unsigned_abs();
    out.push(if west > 0 { '-' } else { '+' });
    _ = write!(out, "{:02}", seconds / 3_600);
    if !seconds.is_multiple_of(3_600) {
        _ = write!(out, ":{:02}", seconds / 60 % 60);
    }
    if !seconds.is_multiple_of(60) {
        _ = write!(out, ":{:02}", seconds % 60);
    }
    Ok(())
}

pub(super) fn interval(micros: i64, days: i32, months: i32, out: &mut String) {
    match (micros, days, months) {
        (i64::MAX, i32::MAX, i32::MAX) => {
            out.push_str("infinity");
            return;
        }
        (i64::MIN, i32::MIN, i32::MIN) => {
            out.push_str("-infinity");
            return;
        }
        _ => {}
    }
    let start = out.len();
    let mut negative = false;
    for (value, unit) in [(months / 12, "year"), (months % 12, "mon"), (days, "day")] {
        if value == 0 {
            continue;
        }
        if out.len() > start {
            out.push(' ');
        }
        // After a negative part a positive one says so.
        let sign = if negative && value > 0 { "+" } else { "" };
        let plural = if value == 1 { "" } else { "s" };
        _ = write!(out, "{sign}{value} {unit}{plural}");
        negative = value < 0;
    }
    if micros != 0 || out.len() == start {
        if out.len() > start {
            out.push(' ');
        }
        if micros < 0 {
            out.push('-');
        } else if negative {
            out.push('+');
        }
        let whole = micros.unsigned_abs();
        let (seconds, fraction) = (whole / SECOND.unsigned_abs(), whole % SECOND.unsigned_abs());
        _ = write!(out, "{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
        decimals(fraction, out);
    }
}

/// A day as year, month and day. Returns what follows the whole text: a year before the first says so.
fn calendar(days: i64, out: &mut String) -> &'static str {
    let (year, month, day) = civil(days + EPOCH);
    let (year, before) = if year > 0 { (year, "") } else { (1 - year, " BC") };
    padded(out, year, 4);
    out.push('-');
    padded(out, month, 2);
    out.push('-');
    padded(out, day, 2);
    before
}

/// A number with leading zeros, faster than the general way: timestamps are many.
fn padded(out: &mut String, value: i64, width: usize) {
    match (value, width) {
        (0..=99, 2) => {
            out.push(digit(value / 10));
            out.push(digit(value % 10));
        }
        (0..=9_999, 4) => {
            out.push(digit(value / 1_000));
            out.push(digit(value / 100 % 10));
            out.push(digit(value / 10 % 10));
            out.push(digit(value % 10));
        }
        _ => _ = write!(out, "{value:0width$}"),
    }
}

fn digit(value: i64) -> char {
    char::from(b'0' + u8::try_from(value).unwrap_or_default())
}

fn clock(micros: i64, out: &mut String) {
    let seconds = micros / SECOND;
    padded(out, seconds / 3_600, 2);
    out.push(':');
    padded(out, seconds / 60 % 60, 2);
    out.push(':');
    padded(out, seconds % 60, 2);
    decimals((micros % SECOND).unsigned_abs(), out);
}

/// A fraction of a second without trailing zeros.
fn decimals(micros: u64, out: &mut String) {
    if micros > 0 {
        _ = write!(out, ".{micros:06}");
        out.truncate(out.trim_end_matches('0').len());
    }
}

/// Year, month and day of a count of days since 1970-01-01 in the proleptic calendar of Gregory, by eras of
/// 400 years that begin in March.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(f: impl FnOnce(&mut String)) -> String {
        let mut out = String::new();
        f(&mut out);
        out
    }

    #[test]
    fn intervals_are_written_as_the_server_does() {
        for (micros, days, months, expected) in [
            (0, 0, 0, "00:00:00"),
            (14_706_500_000, 3, 14, "1 year 2 mons 3 days 04:05:06.5"),
            (-14_706_000_000, 3, -14, "-1 years -2 mons +3 days -04:05:06"),
            (3_600_000_000, -1, 0, "-1 days +01:00:00"),
            (0, 1, 1, "1 mon 1 day"),
            (i64::MIN + 1, 0, 0, "-2562047788:00:54.775807"),
        ] {
            assert_eq!(told(|out| interval(micros, days, months, out)), expected);
        }
    }

    #[test]
    fn every_day_is_found() {
        assert_eq!(told(|out| date(0, out)), "2000-01-01");
        assert_eq!(told(|out| date(59, out)), "2000-02-29");
        assert_eq!(told(|out| date(-730_485, out)), "0001-01-01 BC");
        assert_eq!(told(|out| date(2_145_031_948, out)), "5874897-12-31");
        assert_eq!(told(|out| timestamp(-1, true, out)), "1999-12-31 23:59:59.999999+00");
    }
}
