//! Binds the values of a request to a prepared statement.

use dbagent_core::{Error, ErrorKind, Param, Params, Result};
use sqlx::encode::{Encode, IsNull};
use sqlx::mysql::{MySqlArguments, MySqlTypeInfo};
use sqlx::{Arguments as _, MySql, Type};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The arguments for the driver. `decimal` is its name for the type of an exact number.
///
/// # Errors
/// [`ErrorKind::InvalidRequest`] for values by name, which the servers do not have; [`ErrorKind::Data`] for a
/// date that is none.
pub(crate) fn arguments(params: &Params, decimal: &MySqlTypeInfo) -> Result<MySqlArguments> {
    let mut arguments = MySqlArguments::default();
    let values = match params {
        Params::None => return Ok(arguments),
        Params::Positional(values) => values,
        Params::Named(_) => {
            return Err(Error::new(ErrorKind::InvalidRequest, "parameters have no names here")
                .hint("write ? for each parameter and give params as an array"));
        }
    };
    for (index, value) in values.iter().enumerate() {
        add(&mut arguments, value, decimal).map_err(|e| {
            Error::new(ErrorKind::Data, format!("the parameter {} does not fit: {e}", index + 1))
        })?;
    }
    Ok(arguments)
}

fn add(arguments: &mut MySqlArguments, value: &Param, decimal: &MySqlTypeInfo) -> Result<(), Failure> {
    match value {
        Param::Null => arguments.add(None::<&str>),
        Param::Bool(b) => arguments.add(i64::from(*b)),
        Param::I64(n) => arguments.add(*n),
        Param::F64(x) => arguments.add(*x),
        Param::Text(text) | Param::Uuid(text) => arguments.add(text.as_str()),
        Param::Decimal(text) => arguments.add(Exact { text, info: decimal }),
        Param::Date(text) => arguments.add(moment(text)?.as_str()),
        Param::Bytes(bytes) => arguments.add(bytes.as_slice()),
    }
}

/// An exact number: its text, under the type that the server computes exactly with. As a text it would be
/// compared as a double.
struct Exact<'a> {
    text: &'a str,
    info: &'a MySqlTypeInfo,
}

impl Type<MySql> for Exact<'_> {
    fn type_info() -> MySqlTypeInfo {
        <str as Type<MySql>>::type_info()
    }
}

impl Encode<'_, MySql> for Exact<'_> {
    fn encode_by_ref(&self, buffer: &mut Vec<u8>) -> Result<IsNull, Failure> {
        <&str as Encode<'_, MySql>>::encode_by_ref(&self.text, buffer)
    }

    fn produces(&self) -> Option<MySqlTypeInfo> {
        Some(self.info.clone())
    }
}

/// A date or a moment as both servers read it: no T, no zone. The session's time zone is UTC, so a moment with
/// a zone is given in UTC.
fn moment(text: &str) -> Result<String, Failure> {
    let Some((date, time)) = text.split_once(['T', ' ']) else { return Ok(text.to_owned()) };
    let (clock, minutes) = zone(time)?;
    if minutes == 0 {
        return Ok(format!("{date} {clock}"));
    }
    shifted(date, clock, minutes).ok_or_else(|| format!("{text:?} is no moment").into())
}

/// A clock time without its zone, and how many minutes the zone is ahead of UTC.
fn zone(time: &str) -> Result<(&str, i64), Failure> {
    if let Some(clock) = time.strip_suffix('Z') {
        return Ok((clock, 0));
    }
    let Some(at) = time.find(['+', '-']) else { return Ok((time, 0)) };
    let (clock, zone) = time.split_at(at);
    let (sign, zone) = match zone.strip_prefix('-') {
        Some(zone) => (-1, zone),
        None => (1, zone.trim_start_matches('+')),
    };
    let (hours, minutes) = zone.split_once(':').unwrap_or((zone, "0"));
    let minutes: i64 = hours.parse::<i64>()? * 60 + minutes.parse::<i64>()?;
    Ok((clock, sign * minutes))
}

/// The moment that many minutes earlier.
fn shifted(date: &str, clock: &str, minutes: i64) -> Option<String> {
    let (clock, fraction) = clock.split_once('.').map_or((clock, None), |(c, f)| (c, Some(f)));
    let mut parts = clock.split(':');
    let (hour, minute) = (parts.next()?.parse::<i64>().ok()?, parts.next()?.parse::<i64>().ok()?);
    let second = parts.next().unwrap_or("00");
    let of_day = hour * 60 + minute - minutes;
    let day = day(date, of_day.div_euclid(1_440))?;
    let of_day = of_day.rem_euclid(1_440);
    let fraction = fraction.map(|f| format!(".{f}")).unwrap_or_default();
    Some(format!("{day} {:02}:{:02}:{second}{fraction}", of_day / 60, of_day % 60))
}

/// The date one day earlier, the same, or one day later.
fn day(date: &str, days: i64) -> Option<String> {
    let mut parts = date.split('-');
    let mut part = || parts.next()?.parse::<i64>().ok();
    let (mut year, mut month, day) = (part()?, part()?, part()? + days);
    let length = |year: i64, month: i64| match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    };
    let mut of_month = day;
    if of_month < 1 {
        (year, month) = if month == 1 { (year - 1, 12) } else { (year, month - 1) };
        of_month = length(year, month);
    } else if of_month > length(year, month) {
        (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
        of_month = 1;
    }
    Some(format!("{year:04}-{month:02}-{of_month:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_given_in_utc() {
        for (text, given) in [
            ("2024-05-01", "2024-05-01"),
            ("2024-05-01T10:20:30", "2024-05-01 10:20:30"),
            ("2024-05-01T10:20:30.123456Z", "2024-05-01 10:20:30.123456"),
            ("2024-05-01T10:20:30+02:00", "2024-05-01 08:20:30"),
            ("2024-03-01T00:30+01:00", "2024-02-29 23:30:00"),
            ("2023-12-31T23:30:00.5-01", "2024-01-01 00:30:00.5"),
            ("2024-01-01 00:00:00+05:30", "2023-12-31 18:30:00"),
        ] {
            assert_eq!(moment(text).unwrap(), given, "{text}");
        }
    }
}
