//! Values: from the bytes of the binary protocol into typed batches, without loss.
//!
//! The driver's own decoding is not used: it takes zero dates for NULL, and knows no unsigned values, no exact
//! numbers and no times beyond a day without further crates.

mod column;
mod number;
mod temporal;
mod writer;

use dbagent_core::{Error, ErrorKind, Result};
use sqlx::mysql::{MySqlRow, MySqlTypeInfo};
use sqlx::{Column as _, MySql, Row as _, Type, TypeInfo as _};

pub(crate) use writer::TypedWriter;

/// How the bytes of a column are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// Signed integers of 1, 2, 4 or 8 bytes.
    Int,
    /// Unsigned integers of 1, 2, 4 or 8 bytes.
    Unsigned,
    /// Bits, most significant byte first.
    Bit,
    /// 4 bytes.
    Float,
    /// 8 bytes.
    Double,
    /// An exact number as text.
    Decimal,
    Date,
    /// DATETIME and TIMESTAMP; the session's time zone is UTC.
    DateTime,
    Time,
    /// A text in UTF-8, whatever the column's own character set is: the server converts.
    Text,
    /// A text that is JSON.
    Json,
    Bytes,
    /// A column of nothing but NULL.
    Null,
}

/// A column of a result.
#[derive(Debug, Clone)]
pub(crate) struct Spec {
    pub(crate) name: String,
    pub(crate) code: Code,
}

/// The columns of a result.
pub(crate) fn specs(columns: &[sqlx::mysql::MySqlColumn]) -> Vec<Spec> {
    columns.iter().map(|c| Spec { name: c.name().to_owned(), code: code(c.type_info()) }).collect()
}

fn code(info: &MySqlTypeInfo) -> Code {
    match info.name() {
        // `BOOLEAN` is TINYINT(1), which may be unsigned all the same.
        "BOOLEAN" | "TINYINT" => {
            if *info == <u8 as Type<MySql>>::type_info() {
                Code::Unsigned
            } else {
                Code::Int
            }
        }
        "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT" => Code::Int,
        "TINYINT UNSIGNED" | "SMALLINT UNSIGNED" | "MEDIUMINT UNSIGNED" | "INT UNSIGNED"
        | "BIGINT UNSIGNED" | "YEAR" => Code::Unsigned,
        "BIT" => Code::Bit,
        "FLOAT" => Code::Float,
        "DOUBLE" => Code::Double,
        "DECIMAL" => Code::Decimal,
        "DATE" => Code::Date,
        "DATETIME" | "TIMESTAMP" => Code::DateTime,
        "TIME" => Code::Time,
        "JSON" => Code::Json,
        "GEOMETRY" => Code::Bytes,
        "NULL" => Code::Null,
        // A collation that compares bytes (utf8mb4_bin) makes the driver call a text binary; what counts is
        // whether there is a character set at all.
        _ if <str as Type<MySql>>::compatible(info) => Code::Text,
        // The servers send these as texts with a mark.
        "ENUM" | "SET" => Code::Text,
        _ => Code::Bytes,
    }
}

/// The bytes of a value; `None` is NULL. A zero date is no NULL.
pub(crate) fn bytes(row: &MySqlRow, index: usize, code: Code) -> Result<Option<&[u8]>> {
    use sqlx::ValueRef as _;
    let failed = |e: Box<dyn std::error::Error + Send + Sync>| {
        Error::new(ErrorKind::Internal, format!("the driver does not give the column {index}: {e}"))
    };
    let value = row.try_get_raw(index).map_err(|e| failed(Box::new(e)))?;
    if value.is_null() {
        // The driver calls a zero date NULL too; only a real NULL has no bytes.
        return match code {
            Code::Date | Code::DateTime => Ok(<&[u8] as sqlx::Decode<'_, MySql>>::decode(value).ok()),
            _ => Ok(None),
        };
    }
    <&[u8] as sqlx::Decode<'_, MySql>>::decode(value).map(Some).map_err(failed)
}

/// A value as a person reads it, for the few rows of a plan.
pub(crate) fn shown(bytes: &[u8], code: Code) -> String {
    match code {
        Code::Int => signed(bytes).map(|n| n.to_string()),
        Code::Unsigned => unsigned(bytes).map(|n| n.to_string()),
        Code::Float => float(bytes).map(|x| x.to_string()),
        Code::Double => double(bytes).map(|x| x.to_string()),
        _ => None,
    }
    .unwrap_or_else(|| String::from_utf8_lossy(bytes).into_owned())
}

/// An integer of up to eight bytes, lowest first, with its sign.
fn signed(bytes: &[u8]) -> Option<i64> {
    let negative = bytes.last()? & 0x80 != 0;
    let mut whole = [if negative { 0xff } else { 0 }; 8];
    whole.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(i64::from_le_bytes(whole))
}

/// An integer of up to eight bytes, lowest first.
fn unsigned(bytes: &[u8]) -> Option<u64> {
    let mut whole = [0; 8];
    whole.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u64::from_le_bytes(whole))
}

/// Bits, the highest byte first.
fn bits(bytes: &[u8]) -> Option<u64> {
    if bytes.len() > 8 {
        return None;
    }
    Some(bytes.iter().fold(0, |sum, b| (sum << 8) | u64::from(*b)))
}

/// A float as the double with the same shortest text: 0.1 stays 0.1.
fn float(bytes: &[u8]) -> Option<f64> {
    let value = f32::from_le_bytes(bytes.try_into().ok()?);
    if value.is_finite() { value.to_string().parse().ok() } else { Some(value.into()) }
}

fn double(bytes: &[u8]) -> Option<f64> {
    bytes.try_into().ok().map(f64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_every_width() {
        assert_eq!(signed(&[0xff]), Some(-1));
        assert_eq!(signed(&[0x00, 0x80]), Some(-32_768));
        assert_eq!(signed(&i64::MIN.to_le_bytes()), Some(i64::MIN));
        assert_eq!(unsigned(&[0xff]), Some(255));
        assert_eq!(unsigned(&u64::MAX.to_le_bytes()), Some(u64::MAX));
        assert_eq!(bits(&[1, 0]), Some(256));
        assert_eq!(bits(&[0xff; 8]), Some(u64::MAX));
        assert_eq!(
            (signed(&[0; 9]), unsigned(&[0; 9]), bits(&[0; 9]), signed(&[])),
            (None, None, None, None)
        );
    }

    #[test]
    fn a_float_keeps_its_shortest_text() {
        assert_eq!(float(&0.1_f32.to_le_bytes()), Some(0.1));
        assert_eq!(
            float(&f32::MAX.to_le_bytes()),
            Some(340_282_350_000_000_000_000_000_000_000_000_000_000.0)
        );
        assert_eq!(float(&[0, 0]), None);
    }
}
