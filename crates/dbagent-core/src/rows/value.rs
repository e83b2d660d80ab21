//! Values of batches as text, without loss.

use std::fmt::Write as _;

use arrow_array::cast::AsArray as _;
use arrow_array::temporal_conversions as temporal;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
    Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
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
    /// A type that has no form of its own here, as text; lists, structs and maps as JSON text.
    Other(String),
}

impl<'a> Cell<'a> {
    /// The value at a place of a batch; NULL outside it.
    pub fn at(batch: &'a RecordBatch, column: usize, row: usize) -> Cell<'a> {
        let Some(array) = batch.columns().get(column) else { return Cell::Null };
        match Cell::of(array.as_ref(), row) {
            Cell::Text(text) if is_mixed(batch.schema_ref().field(column)) => Cell::Json(text),
            cell => cell,
        }
    }

    /// The value at a place of an array; NULL outside it.
    pub(super) fn of(array: &'a dyn Array, row: usize) -> Cell<'a> {
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
            DataType::Float16 => Cell::Float(array.as_primitive::<Float16Type>().value(row).to_f64()),
            DataType::Float32 => Cell::Float(array.as_primitive::<Float32Type>().value(row).into()),
            DataType::Float64 => Cell::Float(array.as_primitive::<Float64Type>().value(row)),
            DataType::Decimal32(..) => {
                Cell::Decimal(array.as_primitive::<Decimal32Type>().value_as_string(row))
            }
            DataType::Decimal64(..) => {
                Cell::Decimal(array.as_primitive::<Decimal64Type>().value_as_string(row))
            }
            DataType::Decimal128(..) => {
                Cell::Decimal(array.as_primitive::<Decimal128Type>().value_as_string(row))
            }
            DataType::Decimal256(..) => {
                Cell::Decimal(array.as_primitive::<Decimal256Type>().value_as_string(row))
            }
            DataType::Utf8 => Cell::Text(array.as_string::<i32>().value(row)),
            DataType::LargeUtf8 => Cell::Text(array.as_string::<i64>().value(row)),
            DataType::Utf8View => Cell::Text(array.as_string_view().value(row)),
            DataType::Binary => Cell::Bytes(array.as_binary::<i32>().value(row)),
            DataType::LargeBinary => Cell::Bytes(array.as_binary::<i64>().value(row)),
            DataType::BinaryView => Cell::Bytes(array.as_binary_view().value(row)),
            DataType::FixedSizeBinary(_) => Cell::Bytes(array.as_fixed_size_binary().value(row)),
            DataType::Date32 | DataType::Date64 | DataType::Time32(_) | DataType::Time64(_) => {
                moment(array, row, false)
            }
            DataType::Timestamp(_, zone) => moment(array, row, zone.is_some()),
            DataType::Dictionary(..) => match array.as_any_dictionary_opt() {
                Some(d) => match Cell::of(d.keys(), row) {
                    Cell::Int(key) => {
                        Cell::of(d.values().as_ref(), usize::try_from(key).unwrap_or(usize::MAX))
                    }
                    _ => Cell::Null,
                },
                None => Cell::Null,
            },
            _ => Cell::Other(super::nested::text(array, row)),
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

/// A date, a time or both, as ISO 8601 text. What no calendar holds keeps its number.
fn moment(array: &dyn Array, row: usize, zoned: bool) -> Cell<'static> {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    let stamp = |t: Option<_>, raw: i64| match t {
        Some(t) => (Some(format!("{t}{}", if zoned { "Z" } else { "" }).replacen(' ', "T", 1)), raw),
        None => (None, raw),
    };
    macro_rules! value {
        ($kind:ty) => {
            array.as_primitive::<$kind>().value(row)
        };
    }
    let (text, raw) = match array.data_type() {
        DataType::Date32 => {
            let v = value!(Date32Type);
            (temporal::date32_to_datetime(v).map(|d| d.date().to_string()), v.into())
        }
        DataType::Date64 => {
            let v = value!(Date64Type);
            (temporal::date64_to_datetime(v).map(|d| d.date().to_string()), v)
        }
        DataType::Time32(Second) => {
            let v = value!(Time32SecondType);
            (temporal::time32s_to_time(v).map(|t| t.to_string()), v.into())
        }
        DataType::Time32(_) => {
            let v = value!(Time32MillisecondType);
            (temporal::time32ms_to_time(v).map(|t| t.to_string()), v.into())
        }
        DataType::Time64(Nanosecond) => {
            let v = value!(Time64NanosecondType);
            (temporal::time64ns_to_time(v).map(|t| t.to_string()), v)
        }
        DataType::Time64(_) => {
            let v = value!(Time64MicrosecondType);
            (temporal::time64us_to_time(v).map(|t| t.to_string()), v)
        }
        DataType::Timestamp(Second, _) => {
            let v = value!(TimestampSecondType);
            stamp(temporal::timestamp_s_to_datetime(v), v)
        }
        DataType::Timestamp(Millisecond, _) => {
            let v = value!(TimestampMillisecondType);
            stamp(temporal::timestamp_ms_to_datetime(v), v)
        }
        DataType::Timestamp(Microsecond, _) => {
            let v = value!(TimestampMicrosecondType);
            stamp(temporal::timestamp_us_to_datetime(v), v)
        }
        _ => {
            let v = value!(TimestampNanosecondType);
            stamp(temporal::timestamp_ns_to_datetime(v), v)
        }
    };
    let end = if matches!(array.data_type(), DataType::Date32) { i32::MAX.into() } else { i64::MAX };
    match text {
        Some(text) => Cell::Time(text),
        // Engines keep the infinities of time at the two ends of what a date or moment holds.
        None if raw == end => Cell::Time("infinity".to_owned()),
        None if raw == -end => Cell::Time("-infinity".to_owned()),
        None => Cell::Other(format!("{raw} out of range of {}", array.data_type())),
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

/// The largest cell of a batch that is over a cap: its column and its bytes.
pub(super) fn cell_over(batch: &RecordBatch, cap: u64) -> Option<(usize, u64)> {
    let largest = |(index, array): (usize, &arrow_array::ArrayRef)| {
        let bytes = match array.data_type() {
            DataType::Utf8 => widest(array.as_string::<i32>().value_offsets(), cap),
            DataType::Binary => widest(array.as_binary::<i32>().value_offsets(), cap),
            DataType::LargeUtf8 => widest(array.as_string::<i64>().value_offsets(), cap),
            DataType::LargeBinary => widest(array.as_binary::<i64>().value_offsets(), cap),
            DataType::Utf8View => widest_view(array.as_string_view().views()),
            DataType::BinaryView => widest_view(array.as_binary_view().views()),
            _ => None,
        };
        bytes.filter(|bytes| *bytes > cap).map(|bytes| (index, bytes))
    };
    batch.columns().iter().enumerate().filter_map(largest).max_by_key(|(_, bytes)| *bytes)
}

/// The low half of a view's first eight bytes is its length.
fn widest_view(views: &[u128]) -> Option<u64> {
    views.iter().map(|view| u64::try_from(view & u128::from(u32::MAX)).unwrap_or(u64::MAX)).max()
}

/// The most bytes between two offsets; nothing where all of them together are within the cap.
fn widest<T: Copy + TryInto<u64> + std::ops::Sub<Output = T>>(offsets: &[T], cap: u64) -> Option<u64> {
    let between = |first: T, last: T| (last - first).try_into().unwrap_or(u64::MAX);
    if let (Some(first), Some(last)) = (offsets.first(), offsets.last())
        && between(*first, *last) <= cap
    {
        return None;
    }
    offsets.windows(2).filter_map(|w| if let [a, b] = w { Some(between(*a, *b)) } else { None }).max()
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
    fn the_ends_of_time_are_infinite_and_what_no_calendar_holds_keeps_its_number() {
        let texts = |array: &dyn Array| -> Vec<String> {
            (0..array.len()).map(|row| Cell::of(array, row).to_text()).collect()
        };
        let dates = arrow_array::Date32Array::from(vec![i32::MAX, -i32::MAX, i32::MAX - 1]);
        assert_eq!(texts(&dates), ["infinity", "-infinity", "2147483646 out of range of Date32"]);
        let moments = arrow_array::TimestampMicrosecondArray::from(vec![i64::MAX, -i64::MAX, i64::MIN, 0]);
        let out = "-9223372036854775808 out of range of Timestamp(µs)";
        assert_eq!(texts(&moments), ["infinity", "-infinity", out, "1970-01-01T00:00:00"]);
    }

    #[test]
    fn a_union_is_the_member_that_it_has() {
        use arrow_array::{ArrayRef, Int64Array, StringArray, UnionArray};
        use arrow_schema::UnionFields;
        let fields: UnionFields = [
            (0, std::sync::Arc::new(Field::new("number", DataType::Int64, true))),
            (1, std::sync::Arc::new(Field::new("a \"text\"", DataType::Utf8, true))),
        ]
        .into_iter()
        .collect();
        let children: Vec<ArrayRef> = vec![
            std::sync::Arc::new(Int64Array::from(vec![Some(1), None, None])),
            std::sync::Arc::new(StringArray::from(vec![None, Some("x"), None])),
        ];
        let union = UnionArray::try_new(fields, vec![0_i8, 1, 1].into(), None, children).unwrap();
        let texts: Vec<String> = (0..3).map(|row| Cell::of(&union, row).to_text()).collect();
        assert_eq!(texts, [r#"{"number":1}"#, r#"{"a \"text\"":"x"}"#, r#"{"a \"text\"":null}"#]);
    }

    #[test]
    fn mixed_values_are_canonical_json() {
        assert_eq!(mixed_json(&Cell::Float(1.0)), "1.0");
        assert_eq!(mixed_json(&Cell::Float(f64::INFINITY)), "{\"$double\":\"Infinity\"}");
        assert_eq!(mixed_json(&Cell::Text("a\"b")), "\"a\\\"b\"");
        assert_eq!(mixed_json(&Cell::Bytes(&[1])), "{\"$bytes\":\"AQ==\"}");
    }
}
