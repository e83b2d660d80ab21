//! Values of batches as text, without loss.

use std::fmt::Write as _;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use arrow_array::temporal_conversions as temporal;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_schema::{DataType, Field, TimeUnit};
use base64::Engine as _;

use super::{TYPE_KEY, TYPE_MIXED};

/// One value of a batch, borrowed where it can be.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'a> {
    /// NULL.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer of any width, as text where it is unsigned 64 bits.
    Int(i64),
    /// An unsigned integer beyond `i64`.
    Unsigned(u64),
    /// A double.
    Float(f64),
    /// An exact number as text.
    Decimal(String),
    /// A text.
    Text(&'a str),
    /// Binary.
    Bytes(&'a [u8]),
    /// A date, a time or both, ISO 8601.
    Time(String),
    /// A canonical JSON text: a value of a column that mixes types, or a nested value.
    Json(&'a str),
    /// A type that has no form of its own here, as the engine's text.
    Other(String),
}

impl<'a> Cell<'a> {
    /// The value at a place of a batch; NULL outside it.
    pub fn at(batch: &'a RecordBatch, column: usize, row: usize) -> Cell<'a> {
        let Some(array) = batch.columns().get(column) else { return Cell::Null };
        if row >= array.len() || array.is_null(row) {
            return Cell::Null;
        }
        match array.data_type() {
            DataType::Null => Cell::Null,
            DataType::Boolean => Cell::Bool(array.as_boolean().value(row)),
            DataType::Int8 => Cell::Int(array.as_primitive::<Int8Type>().value(row).into()),
            DataType::Int16 => Cell::Int(array.as_primitive::<Int16Type>().value(row).into()),
            DataType::Int32 => Cell::Int(array.as_primitive::<Int32Type>().value(row).into()),
            DataType::Int64 => Cell::Int(array.as_primitive::<Int64Type>().value(row)),
            DataType::UInt8 => Cell::Int(array.as_primitive::<UInt8Type>().value(row).into()),
            DataType::UInt16 => Cell::Int(array.as_primitive::<UInt16Type>().value(row).into()),
            DataType::UInt32 => Cell::Int(array.as_primitive::<UInt32Type>().value(row).into()),
            DataType::UInt64 => {
                let value = array.as_primitive::<UInt64Type>().value(row);
                i64::try_from(value).map_or(Cell::Unsigned(value), Cell::Int)
            }
            DataType::Float32 => Cell::Float(array.as_primitive::<Float32Type>().value(row).into()),
            DataType::Float64 => Cell::Float(array.as_primitive::<Float64Type>().value(row)),
            DataType::Decimal128(_, _) => {
                Cell::Decimal(array.as_primitive::<Decimal128Type>().value_as_string(row))
            }
            DataType::Utf8 => {
                let text = array.as_string::<i32>().value(row);
                if is_mixed(batch.schema_ref().field(column)) { Cell::Json(text) } else { Cell::Text(text) }
            }
            DataType::LargeUtf8 => Cell::Text(array.as_string::<i64>().value(row)),
            DataType::Utf8View => Cell::Text(array.as_string_view().value(row)),
            DataType::Binary => Cell::Bytes(array.as_binary::<i32>().value(row)),
            DataType::LargeBinary => Cell::Bytes(array.as_binary::<i64>().value(row)),
            DataType::Date32 => {
                match temporal::date32_to_datetime(array.as_primitive::<Date32Type>().value(row)) {
                    Some(d) => Cell::Time(d.date().to_string()),
                    None => Cell::Other("date out of range".into()),
                }
            }
            DataType::Timestamp(TimeUnit::Microsecond, zone) => {
                let value = array.as_primitive::<TimestampMicrosecondType>().value(row);
                match temporal::timestamp_us_to_datetime(value) {
                    Some(t) => Cell::Time(
                        format!("{t}{}", if zone.is_some() { "Z" } else { "" }).replacen(' ', "T", 1),
                    ),
                    None => Cell::Other("timestamp out of range".into()),
                }
            }
            DataType::Time64(TimeUnit::Microsecond) => {
                match temporal::time64us_to_time(array.as_primitive::<Time64MicrosecondType>().value(row)) {
                    Some(t) => Cell::Time(t.to_string()),
                    None => Cell::Other("time out of range".into()),
                }
            }
            other => Cell::Other(format!("<{other}>")),
        }
    }

    /// The value as text for people: texts as they are, binary as `x'…'`, NULL as `NULL`.
    pub fn to_text(&self) -> String {
        match self {
            Cell::Null => crate::observe::NULL.to_owned(),
            Cell::Bool(b) => b.to_string(),
            Cell::Int(n) => n.to_string(),
            Cell::Unsigned(n) => n.to_string(),
            Cell::Float(x) => float(*x),
            Cell::Decimal(s) | Cell::Time(s) | Cell::Other(s) => s.clone(),
            Cell::Text(s) | Cell::Json(s) => (*s).to_owned(),
            Cell::Bytes(b) => hex(b),
        }
    }

    /// The value as JSON: integers beyond 2^53 and decimals as numbers with all digits would lose them in
    /// most readers, so those become texts; doubles that JSON cannot hold become texts; binary becomes hex.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value;
        const SAFE: u64 = 1 << 53;
        match self {
            Cell::Null => Value::Null,
            Cell::Bool(b) => Value::Bool(*b),
            Cell::Int(n) if n.unsigned_abs() <= SAFE => Value::from(*n),
            Cell::Int(n) => Value::String(n.to_string()),
            Cell::Unsigned(n) => Value::String(n.to_string()),
            Cell::Float(x) => {
                serde_json::Number::from_f64(*x).map_or_else(|| Value::String(float(*x)), Value::Number)
            }
            Cell::Decimal(s) | Cell::Time(s) | Cell::Other(s) => Value::String(s.clone()),
            Cell::Text(s) => Value::String((*s).to_owned()),
            Cell::Json(s) => serde_json::from_str(s).unwrap_or_else(|_| Value::String((*s).to_owned())),
            Cell::Bytes(b) => {
                Value::String(hex(b).trim_start_matches("x'").trim_end_matches('\'').to_owned())
            }
        }
    }
}

/// Whether a column mixes types.
pub(crate) fn is_mixed(field: &Field) -> bool {
    field.metadata().get(TYPE_KEY).is_some_and(|t| t == TYPE_MIXED)
}

/// The shortest text that reads back as the same double, with a point or an exponent.
pub(crate) fn float(x: f64) -> String {
    if x.is_nan() {
        "NaN".to_owned()
    } else if x.is_infinite() {
        if x > 0.0 { "Infinity".to_owned() } else { "-Infinity".to_owned() }
    } else {
        format!("{x:?}")
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2 + 3);
    out.push_str("x'");
    for b in bytes {
        // Writing to a String cannot fail.
        _ = write!(out, "{b:02x}");
    }
    out.push('\'');
    out
}

/// The canonical JSON text of a value in a mixed column: numbers, texts and truth values as JSON; binary
/// as `{"$bytes":"base64"}`; doubles that JSON cannot hold as `{"$double":"Infinity"}`.
pub fn mixed_json(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Null => "null".to_owned(),
        Cell::Bool(b) => b.to_string(),
        Cell::Int(n) => n.to_string(),
        Cell::Unsigned(n) => n.to_string(),
        Cell::Float(x) if x.is_finite() => float(*x),
        Cell::Float(x) => format!("{{\"$double\":\"{}\"}}", float(*x)),
        Cell::Text(s) => serde_json::Value::String((*s).to_owned()).to_string(),
        Cell::Decimal(s) | Cell::Time(s) | Cell::Other(s) => serde_json::Value::String(s.clone()).to_string(),
        Cell::Bytes(b) => {
            format!("{{\"$bytes\":\"{}\"}}", base64::engine::general_purpose::STANDARD.encode(b))
        }
        Cell::Json(s) => (*s).to_owned(),
    }
}

/// The column and size of the largest text or binary value of a batch.
pub(super) fn largest_cell(batch: &RecordBatch) -> Option<(usize, u64)> {
    let mut largest = None;
    for (index, array) in batch.columns().iter().enumerate() {
        let sizes: Box<dyn Iterator<Item = usize>> = match array.data_type() {
            DataType::Utf8 => Box::new(widths(array.as_string::<i32>().value_offsets())),
            DataType::Binary => Box::new(widths(array.as_binary::<i32>().value_offsets())),
            DataType::LargeUtf8 => Box::new(widths(array.as_string::<i64>().value_offsets())),
            DataType::LargeBinary => Box::new(widths(array.as_binary::<i64>().value_offsets())),
            _ => continue,
        };
        if let Some(max) = sizes.max()
            && largest.is_none_or(|(_, size)| size < max as u64)
        {
            largest = Some((index, max as u64));
        }
    }
    largest
}

fn widths<T: Copy + TryInto<usize> + std::ops::Sub<Output = T>>(
    offsets: &[T],
) -> impl Iterator<Item = usize> + '_ {
    offsets.windows(2).filter_map(|w| match w {
        [a, b] => (*b - *a).try_into().ok(),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_what_readers_would_lose() {
        assert_eq!(Cell::Int(9_007_199_254_740_993).to_json(), serde_json::json!("9007199254740993"));
        assert_eq!(Cell::Int(5).to_json(), serde_json::json!(5));
        assert_eq!(Cell::Float(f64::NAN).to_json(), serde_json::json!("NaN"));
        assert_eq!(Cell::Bytes(&[0, 255]).to_json(), serde_json::json!("00ff"));
    }

    #[test]
    fn mixed_values_are_canonical_json() {
        assert_eq!(mixed_json(&Cell::Float(1.0)), "1.0");
        assert_eq!(mixed_json(&Cell::Float(f64::INFINITY)), "{\"$double\":\"Infinity\"}");
        assert_eq!(mixed_json(&Cell::Text("a\"b")), "\"a\\\"b\"");
        assert_eq!(mixed_json(&Cell::Bytes(&[1])), "{\"$bytes\":\"AQ==\"}");
    }
}
