//! Binds the values of a request.

use dbagent_core::{Error, ErrorKind, Param, Params, Result};
use duckdb::types::{Decimal, TimeUnit, ToSqlOutput, Value, ValueRef};
use duckdb::{Statement, ToSql};

use crate::error::{Phase, translate};

/// The values for every parameter of a statement, in its order. The core has compared the two before.
pub(crate) fn values<'p>(statement: &Statement<'_>, params: &'p Params) -> Result<Vec<Bound<'p>>> {
    let count = statement.parameter_count();
    match params {
        Params::None => Ok(Vec::new()),
        Params::Positional(values) => Ok(values.iter().take(count).map(Bound).collect()),
        Params::Named(values) => (1..=count)
            .map(|index| {
                let name = statement.parameter_name(index).map_err(|e| translate(e, Phase::Compile))?;
                let value = values.iter().find(|(key, _)| key.eq_ignore_ascii_case(&name));
                value.map(|(_, value)| Bound(value)).ok_or_else(|| {
                    Error::new(
                        ErrorKind::InvalidRequest,
                        format!("no value is given for the parameter {name}"),
                    )
                })
            })
            .collect(),
    }
}

/// A value as the engine takes it: dates and exact numbers as such where they fit, else as text, which the
/// engine converts where it is compared.
pub(crate) struct Bound<'a>(&'a Param);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> duckdb::Result<ToSqlOutput<'_>> {
        let text = |text: &'_ str| Value::Text(text.to_owned());
        Ok(match self.0 {
            Param::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Param::Bool(b) => ToSqlOutput::Borrowed(ValueRef::Boolean(*b)),
            Param::I64(n) => ToSqlOutput::Borrowed(ValueRef::BigInt(*n)),
            Param::F64(x) => ToSqlOutput::Borrowed(ValueRef::Double(*x)),
            Param::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            Param::Text(t) | Param::Uuid(t) => ToSqlOutput::Borrowed(ValueRef::Text(t.as_bytes())),
            Param::Decimal(t) => ToSqlOutput::Owned(decimal(t).unwrap_or_else(|| text(t))),
            Param::Date(t) => ToSqlOutput::Owned(moment(t).unwrap_or_else(|| text(t))),
        })
    }
}

/// An exact number of at most 38 digits.
fn decimal(text: &str) -> Option<Value> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits: String = whole.chars().chain(fraction.chars()).filter(char::is_ascii_digit).collect();
    let significant = digits.trim_start_matches('0').len();
    let scale = u8::try_from(fraction.len()).ok()?;
    let width = u8::try_from(significant.max(fraction.len()).max(1)).ok().filter(|w| *w <= 38)?;
    let number: i128 = digits.parse().ok()?;
    let number = if text.starts_with('-') { -number } else { number };
    Decimal::new(width, scale, number).ok().map(Value::Decimal)
}

/// A date, or a date and a time without a zone.
fn moment(text: &str) -> Option<Value> {
    let days = days(text.get(..10)?)?;
    let Some(clock) = text.get(10..).filter(|c| !c.is_empty()) else { return Some(Value::Date32(days)) };
    let clock = clock.strip_prefix(['T', ' '])?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut parts = clock.split(':').map(|p| p.parse::<i64>().ok().filter(|n| (0..60).contains(n)));
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = match parts.next() {
        Some(second) => second?,
        None => 0,
    };
    if hour > 23
        || parts.next().is_some()
        || fraction.len() > 6
        || !fraction.bytes().all(|b| b.is_ascii_digit())
    {
        return None;
    }
    let micros: i64 = format!("{fraction:0<6}").parse().ok()?;
    let seconds = i64::from(days) * 86_400 + hour * 3_600 + minute * 60 + second;
    Some(Value::Timestamp(TimeUnit::Microsecond, seconds.checked_mul(1_000_000)?.checked_add(micros)?))
}

/// The days from 1970-01-01 to a date of the form `2024-05-01`.
fn days(text: &str) -> Option<i32> {
    let mut parts = text.split('-').map(|p| p.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    // Years that begin in March, so that the leap day is the last one.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = y.div_euclid(400);
    let of_era = y.rem_euclid(400);
    let of_year = (153 * m + 2) / 5 + day - 1;
    i32::try_from(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days_and_moments_are_microseconds() {
        assert_eq!(days("1970-01-01"), Some(0));
        assert_eq!(days("2024-02-29"), Some(19_782));
        assert_eq!(days("1969-12-31"), Some(-1));
        assert_eq!(days("2023-02-29"), None);
        assert_eq!(
            moment("1970-01-02T00:00:01.5"),
            Some(Value::Timestamp(TimeUnit::Microsecond, 86_401_500_000))
        );
        assert_eq!(moment("1970-01-01 00:01"), Some(Value::Timestamp(TimeUnit::Microsecond, 60_000_000)));
        assert_eq!(moment("1970-01-01T00:00:00Z"), None, "with a zone it is a text, which the engine reads");
        assert_eq!(moment("1970-01-01T00:00:00.123456789"), None);
    }

    #[test]
    fn exact_numbers_keep_their_digits() {
        let told = |t: &str| decimal(t).map(|v| format!("{v:?}"));
        assert_eq!(told("-12.50"), Some(format!("{:?}", Value::Decimal(Decimal::new(4, 2, -1250).unwrap()))));
        assert_eq!(told("0.001"), Some(format!("{:?}", Value::Decimal(Decimal::new(3, 3, 1).unwrap()))));
        assert_eq!(told(&"9".repeat(39)), None);
    }
}
