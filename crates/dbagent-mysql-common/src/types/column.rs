//! One column of a batch that is being filled.
//!
//! The server says the type of a column beforehand, so that nearly every value fits. What does not (a zero date
//! among dates, a time of 30 hours, an exact number of 50 digits) makes the column a text while the first batch
//! is being filled, and one of canonical JSON texts after that: the type that was announced is not taken back.

use std::collections::HashMap;
use std::sync::Arc;

use dbagent_core::arrow_array::builder::{
    BinaryBuilder, Date32Builder, Decimal128Builder, Decimal256Builder, Float64Builder, Int64Builder,
    StringBuilder, Time64MicrosecondBuilder, TimestampMicrosecondBuilder, UInt64Builder,
};
use dbagent_core::arrow_array::types::{ArrowPrimitiveType, Decimal256Type};
use dbagent_core::arrow_array::{Array as _, ArrayRef, NullArray, RecordBatch};
use dbagent_core::arrow_schema::{DataType, Field, Schema, TimeUnit};
use dbagent_core::rows::{Cell, TYPE_KEY, TYPE_MIXED, mixed_json};

use super::number::Number;
use super::temporal::{Span, Stamp};
use super::{Code, Spec, bits, double, float, signed, unsigned};

type I256 = <Decimal256Type as ArrowPrimitiveType>::Native;

/// The most digits of the exact numbers that fit 128 bits.
const NARROW: u8 = 38;
/// The most digits of those that fit 256 bits; the servers have up to 65.
const WIDE: u8 = 76;

pub(super) struct Column {
    name: String,
    code: Code,
    values: Values,
}

enum Values {
    Nulls(usize),
    Int(Int64Builder),
    Unsigned(UInt64Builder),
    Double(Float64Builder),
    /// Exact numbers before the first that is not NULL: how many digits follow the point is not known yet.
    Exact(usize),
    Narrow(Decimal128Builder, i8),
    Wide(Decimal256Builder, i8),
    Date(Date32Builder),
    DateTime(TimestampMicrosecondBuilder),
    Time(Time64MicrosecondBuilder),
    Text(StringBuilder),
    /// The texts of a JSON column.
    Json(StringBuilder),
    Bytes(BinaryBuilder),
    /// Canonical JSON texts, since not every value was of the column's type.
    Mixed(StringBuilder),
}

/// A value that is none of its column's type.
enum Misfit {
    /// As this text.
    Text(String),
    /// As these bytes, which are no text.
    Bytes,
}

impl Column {
    pub(super) fn new(spec: Spec) -> Self {
        let values = match spec.code {
            Code::Int => Values::Int(Int64Builder::new()),
            Code::Unsigned | Code::Bit => Values::Unsigned(UInt64Builder::new()),
            Code::Float | Code::Double => Values::Double(Float64Builder::new()),
            Code::Decimal => Values::Exact(0),
            Code::Date => Values::Date(Date32Builder::new()),
            Code::DateTime => Values::DateTime(TimestampMicrosecondBuilder::new()),
            Code::Time => Values::Time(Time64MicrosecondBuilder::new()),
            Code::Text => Values::Text(StringBuilder::new()),
            Code::Json => Values::Json(StringBuilder::new()),
            Code::Bytes => Values::Bytes(BinaryBuilder::new()),
            Code::Null => Values::Nulls(0),
        };
        Self { name: spec.name, code: spec.code, values }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn null(&mut self) {
        match &mut self.values {
            Values::Nulls(n) | Values::Exact(n) => *n += 1,
            Values::Int(b) => b.append_null(),
            Values::Unsigned(b) => b.append_null(),
            Values::Double(b) => b.append_null(),
            Values::Narrow(b, _) => b.append_null(),
            Values::Wide(b, _) => b.append_null(),
            Values::Date(b) => b.append_null(),
            Values::DateTime(b) => b.append_null(),
            Values::Time(b) => b.append_null(),
            Values::Text(b) | Values::Json(b) | Values::Mixed(b) => b.append_null(),
            Values::Bytes(b) => b.append_null(),
        }
    }

    /// Appends a value by its bytes. `announced` is whether the column's type was told to the reader.
    pub(super) fn push(&mut self, bytes: &[u8], announced: bool) {
        if let Err(misfit) = self.fit(bytes, announced) {
            self.misfit(misfit, bytes, announced);
        }
    }

    fn fit(&mut self, bytes: &[u8], announced: bool) -> Result<(), Misfit> {
        match &mut self.values {
            Values::Int(b) => b.append_value(signed(bytes).ok_or(Misfit::Bytes)?),
            Values::Unsigned(b) => {
                let value = if self.code == Code::Bit { bits(bytes) } else { unsigned(bytes) };
                b.append_value(value.ok_or(Misfit::Bytes)?);
            }
            Values::Double(b) => {
                let value = if self.code == Code::Float { float(bytes) } else { double(bytes) };
                b.append_value(value.ok_or(Misfit::Bytes)?);
            }
            Values::Date(b) => {
                let stamp = Stamp::read(bytes).ok_or(Misfit::Bytes)?;
                b.append_value(stamp.days().ok_or_else(|| Misfit::Text(stamp.date_text()))?);
            }
            Values::DateTime(b) => {
                let stamp = Stamp::read(bytes).ok_or(Misfit::Bytes)?;
                b.append_value(stamp.micros().ok_or_else(|| Misfit::Text(stamp.text()))?);
            }
            Values::Time(b) => {
                let span = Span::read(bytes).ok_or(Misfit::Bytes)?;
                b.append_value(span.micros().ok_or_else(|| Misfit::Text(span.text()))?);
            }
            Values::Exact(_) | Values::Narrow(..) | Values::Wide(..) => return self.exact(bytes, announced),
            Values::Bytes(b) => b.append_value(bytes),
            // A column that was turned into one of texts.
            Values::Text(_) if self.code != Code::Text => return Err(self.as_text(bytes)),
            Values::Text(b) | Values::Json(b) => {
                b.append_value(std::str::from_utf8(bytes).map_err(|_| Misfit::Bytes)?);
            }
            Values::Nulls(_) | Values::Mixed(_) => return Err(self.as_text(bytes)),
        }
        Ok(())
    }

    /// An exact number: digits with an optional sign and point.
    fn exact(&mut self, bytes: &[u8], announced: bool) -> Result<(), Misfit> {
        let text = std::str::from_utf8(bytes).map_err(|_| Misfit::Bytes)?;
        let whole = || Misfit::Text(text.to_owned());
        let number = Number::read(text).ok_or_else(whole)?;
        if let Values::Exact(nulls) = self.values {
            if announced {
                // The reader was told of a column without values.
                return Err(whole());
            }
            let mut b = narrow_builder(number.scale);
            b.append_nulls(nulls);
            self.values = Values::Narrow(b, number.scale);
        }
        if let (Values::Narrow(b, scale), None, false) = (&mut self.values, number.narrow(), announced) {
            let scale = *scale;
            let mut wide = Decimal256Builder::new().with_data_type(DataType::Decimal256(WIDE, scale));
            wide.extend(b.finish().iter().map(|v| v.map(I256::from_i128)));
            self.values = Values::Wide(wide, scale);
        }
        match &mut self.values {
            Values::Narrow(b, scale) if *scale == number.scale => {
                b.append_value(number.narrow().ok_or_else(whole)?);
            }
            Values::Wide(b, scale) if *scale == number.scale => {
                b.append_value(number.wide().ok_or_else(whole)?);
            }
            _ => return Err(whole()),
        }
        Ok(())
    }

    /// The text of a value in a column that is no longer of its type.
    fn as_text(&self, bytes: &[u8]) -> Misfit {
        let text = match self.code {
            Code::Int => signed(bytes).map(|n| n.to_string()),
            Code::Unsigned => unsigned(bytes).map(|n| n.to_string()),
            Code::Bit => bits(bytes).map(|n| n.to_string()),
            Code::Float => float(bytes).map(|x| format!("{x:?}")),
            Code::Double => double(bytes).map(|x| format!("{x:?}")),
            Code::Date => Stamp::read(bytes).map(Stamp::date_text),
            Code::DateTime => Stamp::read(bytes).map(Stamp::text),
            Code::Time => Span::read(bytes).map(Span::text),
            Code::Decimal | Code::Text | Code::Json | Code::Null => {
                std::str::from_utf8(bytes).ok().map(str::to_owned)
            }
            Code::Bytes => None,
        };
        text.map_or(Misfit::Bytes, Misfit::Text)
    }

    #[cold]
    fn misfit(&mut self, misfit: Misfit, bytes: &[u8], announced: bool) {
        match (misfit, &mut self.values) {
            (Misfit::Text(text), Values::Text(b)) => b.append_value(text),
            (Misfit::Text(text), Values::Mixed(_)) => self.mix(&Cell::Text(&text)),
            (Misfit::Text(text), _) if !announced => self.turn_to_texts(&text),
            (Misfit::Text(text), _) => self.mix(&Cell::Text(&text)),
            (Misfit::Bytes, _) => self.mix(&Cell::Bytes(bytes)),
        }
    }

    /// Turns the column into one of plain texts, as the server would print its values, and appends one.
    fn turn_to_texts(&mut self, text: &str) {
        let mut texts = self.converted(|cell| match cell {
            // ISO 8601 has a T where the servers have a space.
            Cell::Time(text) => text.replacen('T', " ", 1),
            cell => cell.to_text(),
        });
        texts.append_value(text);
        self.values = Values::Text(texts);
    }

    /// Turns the column into one of canonical JSON texts and appends a value.
    fn mix(&mut self, cell: &Cell<'_>) {
        if !matches!(self.values, Values::Mixed(_)) {
            self.values = Values::Mixed(self.converted(|cell| mixed_json(&cell)));
        }
        if let Values::Mixed(b) = &mut self.values {
            b.append_value(mixed_json(cell));
        }
    }

    /// The values so far, each as a text.
    fn converted(&mut self, text: impl Fn(Cell<'_>) -> String) -> StringBuilder {
        let mut texts = StringBuilder::new();
        let schema = Arc::new(Schema::new(vec![self.field()]));
        let array = self.take();
        let rows = array.len();
        // A column and its own field always fit.
        let Ok(batch) = RecordBatch::try_new(schema, vec![array]) else { return texts };
        for row in 0..rows {
            match Cell::at(&batch, 0, row) {
                Cell::Null => texts.append_null(),
                cell => texts.append_value(text(cell)),
            }
        }
        texts
    }

    pub(super) fn field(&self) -> Field {
        let kind = match &self.values {
            Values::Nulls(_) => DataType::Null,
            Values::Int(_) => DataType::Int64,
            Values::Unsigned(_) => DataType::UInt64,
            Values::Double(_) => DataType::Float64,
            Values::Exact(_) => DataType::Decimal128(NARROW, 0),
            Values::Narrow(_, scale) => DataType::Decimal128(NARROW, *scale),
            Values::Wide(_, scale) => DataType::Decimal256(WIDE, *scale),
            Values::Date(_) => DataType::Date32,
            Values::DateTime(_) => DataType::Timestamp(TimeUnit::Microsecond, None),
            Values::Time(_) => DataType::Time64(TimeUnit::Microsecond),
            Values::Text(_) | Values::Json(_) | Values::Mixed(_) => DataType::Utf8,
            Values::Bytes(_) => DataType::Binary,
        };
        let field = Field::new(&self.name, kind, true);
        match &self.values {
            Values::Json(_) | Values::Mixed(_) => {
                field.with_metadata(HashMap::from([(TYPE_KEY.to_owned(), TYPE_MIXED.to_owned())]))
            }
            _ => field,
        }
    }

    /// The values so far; the column is empty afterwards and keeps its type.
    pub(super) fn take(&mut self) -> ArrayRef {
        match &mut self.values {
            Values::Nulls(n) => Arc::new(NullArray::new(std::mem::take(n))),
            Values::Int(b) => Arc::new(b.finish()),
            Values::Unsigned(b) => Arc::new(b.finish()),
            Values::Double(b) => Arc::new(b.finish()),
            Values::Exact(n) => {
                let mut b = narrow_builder(0);
                b.append_nulls(std::mem::take(n));
                Arc::new(b.finish())
            }
            Values::Narrow(b, _) => Arc::new(b.finish()),
            Values::Wide(b, _) => Arc::new(b.finish()),
            Values::Date(b) => Arc::new(b.finish()),
            Values::DateTime(b) => Arc::new(b.finish()),
            Values::Time(b) => Arc::new(b.finish()),
            Values::Text(b) | Values::Json(b) | Values::Mixed(b) => Arc::new(b.finish()),
            Values::Bytes(b) => Arc::new(b.finish()),
        }
    }
}

fn narrow_builder(scale: i8) -> Decimal128Builder {
    Decimal128Builder::new().with_data_type(DataType::Decimal128(NARROW, scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the reader sees of these values, the first batch ending before the one of that index.
    fn filled(code: Code, values: &[Option<&[u8]>], first_batch: usize) -> Vec<String> {
        let mut column = Column::new(Spec { name: "c".into(), code });
        let mut texts = Vec::new();
        let mut take = |column: &mut Column| {
            let schema = Arc::new(Schema::new(vec![column.field()]));
            let array = column.take();
            let rows = array.len();
            let batch = RecordBatch::try_new(schema, vec![array]).unwrap();
            texts.extend((0..rows).map(|row| format!("{:?}", Cell::at(&batch, 0, row)).replace('\\', "")));
        };
        for (index, value) in values.iter().enumerate() {
            if index == first_batch {
                take(&mut column);
            }
            match value {
                Some(bytes) => column.push(bytes, index >= first_batch),
                None => column.null(),
            }
        }
        take(&mut column);
        texts
    }

    const DAY: &[u8] = &[4, 0xe8, 7, 5, 1];
    const ZERO: &[u8] = &[0];

    #[test]
    fn a_zero_date_makes_a_first_batch_text_and_a_later_one_mixed() {
        assert_eq!(
            filled(Code::Date, &[Some(DAY), None, Some(ZERO), Some(DAY)], 9),
            [r#"Text("2024-05-01")"#, "Null", r#"Text("0000-00-00")"#, r#"Text("2024-05-01")"#]
        );
        assert_eq!(
            filled(Code::Date, &[Some(DAY), None, Some(ZERO), Some(DAY)], 1),
            [r#"Time("2024-05-01")"#, "Null", r#"Json(""0000-00-00"")"#, r#"Json(""2024-05-01"")"#]
        );
        // Once text, always text: it was announced as such.
        assert_eq!(
            filled(Code::DateTime, &[Some(ZERO), Some(DAY)], 1),
            [r#"Text("0000-00-00 00:00:00")"#, r#"Text("2024-05-01 00:00:00")"#]
        );
    }

    #[test]
    fn exact_numbers_keep_every_digit() {
        const WIDE: &str = "12345678901234567890123456789012345.123456789012345678901234567890";
        let wide = Some(WIDE.as_bytes());
        assert_eq!(
            filled(Code::Decimal, &[None, Some(b"-12.50"), Some(b"0.05")], 9),
            ["Null", r#"Decimal("-12.50")"#, r#"Decimal("0.05")"#]
        );
        let first = Some(&b"1.000000000000000000000000000000"[..]);
        assert_eq!(
            filled(Code::Decimal, &[first, wide], 9),
            [r#"Decimal("1.000000000000000000000000000000")"#.to_owned(), format!("Decimal({WIDE:?})")]
        );
        // Beyond 38 digits after the first batch, and another scale than the column began with.
        assert_eq!(
            filled(Code::Decimal, &[Some(b"1"), wide, Some(b"2")], 1),
            [r#"Decimal("1")"#.to_owned(), format!(r#"Json(""{WIDE}"")"#), r#"Json(""2"")"#.to_owned()]
        );
        assert_eq!(
            filled(Code::Decimal, &[Some(b"1.5"), Some(b"2.25")], 9),
            [r#"Text("1.5")"#, r#"Text("2.25")"#]
        );
    }

    #[test]
    fn bytes_that_are_no_text_stay_bytes() {
        assert_eq!(
            filled(Code::Text, &[Some(b"a"), Some(&[0xff])], 9),
            [r#"Json(""a"")"#, r#"Json("{"$bytes":"/w=="}")"#]
        );
        assert_eq!(filled(Code::Json, &[Some(br#"{"a": 1}"#)], 9), [r#"Json("{"a": 1}")"#]);
        assert_eq!(filled(Code::Null, &[None], 9), ["Null"]);
    }
}
