//! Brings the few columns that only DuckDB could read into a form that everybody reads. All others are
//! handed on as they are.
//!
//! The engine is asked for Arrow without loss. It then gives a huge integer, a time with a zone, a string
//! of bits, a big number and a UUID as raw bytes with a note of what they are: numbers become decimals, the
//! others the text by which the engine writes them. Truth values come as bytes and become bits.

mod value;

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Decimal256Type, Int8Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, LargeListArray, ListArray, MapArray, PrimitiveArray,
    RecordBatch, StringArray, StructArray, UnionArray,
};
use arrow_buffer::BooleanBuffer;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use dbagent_core::{Error, ErrorKind, Result};

/// Digits of the largest huge integer.
const HUGE_DIGITS: u8 = 39;

/// What is done with the columns of one result.
pub(crate) struct Converter {
    schema: SchemaRef,
    columns: Vec<How>,
}

/// What is done with a column, or a part of one.
enum How {
    Keep,
    Bool,
    Huge { signed: bool },
    Text(fn(&[u8]) -> Result<String>),
    List(Box<How>, FieldRef),
    LargeList(Box<How>, FieldRef),
    FixedList(Box<How>, FieldRef),
    Map(Box<How>, FieldRef),
    Struct(Vec<How>, Fields),
    Union(Vec<How>, DataType),
}

impl Converter {
    /// For results of this schema.
    pub(crate) fn new(schema: &Schema) -> Self {
        let (fields, columns): (Vec<Field>, Vec<How>) = schema.fields().iter().map(|f| plan(f)).unzip();
        Self { schema: Arc::new(Schema::new(fields)), columns }
    }

    /// The schema of what comes out.
    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Converts a batch; columns that are kept are shared.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] for a number of more digits than anybody writes out;
    /// [`ErrorKind::Internal`] when the engine's bytes are not what they say.
    pub(crate) fn convert(&self, batch: RecordBatch) -> Result<RecordBatch> {
        if self.columns.iter().all(|how| matches!(how, How::Keep)) {
            return Ok(batch);
        }
        let columns = batch.columns().iter().zip(&self.columns).map(|(array, how)| convert(array, how));
        RecordBatch::try_new(self.schema(), columns.collect::<Result<_>>()?).map_err(odd)
    }
}

/// The field that comes out, and what is done for it.
fn plan(field: &Field) -> (Field, How) {
    let became = |kind: DataType, how: How| {
        let plain = Field::new(field.name(), kind, field.is_nullable());
        (plain, how)
    };
    match (field.data_type(), native(field).as_deref()) {
        (DataType::Int8, Some("bool8")) => became(DataType::Boolean, How::Bool),
        (DataType::FixedSizeBinary(16), Some("hugeint")) => {
            became(DataType::Decimal256(HUGE_DIGITS, 0), How::Huge { signed: true })
        }
        (DataType::FixedSizeBinary(16), Some("uhugeint")) => {
            became(DataType::Decimal256(HUGE_DIGITS, 0), How::Huge { signed: false })
        }
        (DataType::FixedSizeBinary(16), Some("uuid")) => became(DataType::Utf8, How::Text(value::uuid)),
        (DataType::FixedSizeBinary(8), Some("time_tz")) => became(DataType::Utf8, How::Text(value::time_tz)),
        (DataType::Binary, Some("bit")) => became(DataType::Utf8, How::Text(value::bits)),
        (DataType::Binary, Some("bignum")) => became(DataType::Utf8, How::Text(value::big_number)),
        (DataType::List(inner), _) => nested(field, inner, DataType::List, How::List),
        (DataType::LargeList(inner), _) => nested(field, inner, DataType::LargeList, How::LargeList),
        (DataType::FixedSizeList(inner, size), _) => {
            nested(field, inner, |f| DataType::FixedSizeList(f, *size), How::FixedList)
        }
        (DataType::Map(entries, sorted), _) => {
            nested(field, entries, |f| DataType::Map(f, *sorted), How::Map)
        }
        (DataType::Struct(fields), _) => {
            let (fields, hows): (Vec<Field>, Vec<How>) = fields.iter().map(|f| plan(f)).unzip();
            if hows.iter().all(|how| matches!(how, How::Keep)) {
                return (field.clone(), How::Keep);
            }
            let fields = Fields::from(fields);
            (field.clone().with_data_type(DataType::Struct(fields.clone())), How::Struct(hows, fields))
        }
        (DataType::Union(fields, mode), _) => {
            let planned: Vec<(i8, Field, How)> = fields
                .iter()
                .map(|(id, f)| {
                    let (field, how) = plan(f);
                    (id, field, how)
                })
                .collect();
            if planned.iter().all(|(_, _, how)| matches!(how, How::Keep)) {
                return (field.clone(), How::Keep);
            }
            let kind =
                DataType::Union(planned.iter().map(|(id, f, _)| (*id, Arc::new(f.clone()))).collect(), *mode);
            let hows = planned.into_iter().map(|(_, _, how)| how).collect();
            (field.clone().with_data_type(kind.clone()), How::Union(hows, kind))
        }
        _ => (field.clone(), How::Keep),
    }
}

fn nested(
    field: &Field,
    inner: &FieldRef,
    kind: impl FnOnce(FieldRef) -> DataType,
    how: fn(Box<How>, FieldRef) -> How,
) -> (Field, How) {
    match plan(inner) {
        (_, How::Keep) => (field.clone(), How::Keep),
        (planned, inner) => {
            let planned = Arc::new(planned);
            (field.clone().with_data_type(kind(Arc::clone(&planned))), how(Box::new(inner), planned))
        }
    }
}

/// The engine's own type behind raw bytes.
fn native(field: &Field) -> Option<String> {
    let metadata = field.metadata();
    match metadata.get("ARROW:extension:name").map(String::as_str)? {
        "arrow.uuid" => Some("uuid".to_owned()),
        "arrow.bool8" => Some("bool8".to_owned()),
        "arrow.opaque" => {
            let told: serde_json::Value =
                serde_json::from_str(metadata.get("ARROW:extension:metadata")?).ok()?;
            let vendor = told.get("vendor_name")?.as_str()?;
            (vendor == "DuckDB").then(|| told.get("type_name")?.as_str().map(str::to_owned)).flatten()
        }
        _ => None,
    }
}

fn odd(e: ArrowError) -> Error {
    Error::new(ErrorKind::Internal, "a column of the engine is not what it says it is").op("read").source(e)
}

fn convert(array: &ArrayRef, how: &How) -> Result<ArrayRef> {
    Ok(match how {
        How::Keep => Arc::clone(array),
        How::Bool => {
            let bytes = array.as_primitive::<Int8Type>();
            let bits =
                BooleanBuffer::collect_bool(bytes.len(), |i| bytes.values().get(i).is_some_and(|b| *b != 0));
            Arc::new(BooleanArray::new(bits, bytes.nulls().cloned()))
        }
        How::Huge { signed } => {
            let raw = array.as_fixed_size_binary();
            let values =
                (0..raw.len()).map(|i| (!raw.is_null(i)).then(|| value::huge(raw.value(i), *signed)));
            let decimals: PrimitiveArray<Decimal256Type> = values.collect();
            Arc::new(decimals.with_precision_and_scale(HUGE_DIGITS, 0).map_err(odd)?)
        }
        How::Text(write) => {
            let text = |bytes: Option<&[u8]>| bytes.map(*write).transpose();
            let texts: Result<StringArray> = if let Some(raw) = array.as_fixed_size_binary_opt() {
                raw.iter().map(text).collect()
            } else {
                array.as_binary::<i32>().iter().map(text).collect()
            };
            Arc::new(texts?)
        }
        How::List(inner, field) => {
            let list = array.as_list::<i32>();
            let values = convert(list.values(), inner)?;
            let nulls = list.nulls().cloned();
            Arc::new(
                ListArray::try_new(Arc::clone(field), list.offsets().clone(), values, nulls).map_err(odd)?,
            )
        }
        How::LargeList(inner, field) => {
            let list = array.as_list::<i64>();
            let values = convert(list.values(), inner)?;
            let nulls = list.nulls().cloned();
            Arc::new(
                LargeListArray::try_new(Arc::clone(field), list.offsets().clone(), values, nulls)
                    .map_err(odd)?,
            )
        }
        How::FixedList(inner, field) => {
            let list = array.as_fixed_size_list();
            let values = convert(list.values(), inner)?;
            let (size, nulls) = (list.value_length(), list.nulls().cloned());
            Arc::new(FixedSizeListArray::try_new(Arc::clone(field), size, values, nulls).map_err(odd)?)
        }
        How::Map(inner, field) => {
            let map = array.as_map();
            let entries: ArrayRef = Arc::new(map.entries().clone());
            let entries = convert(&entries, inner)?.as_struct().clone();
            let (offsets, nulls) = (map.offsets().clone(), map.nulls().cloned());
            Arc::new(MapArray::try_new(Arc::clone(field), offsets, entries, nulls, false).map_err(odd)?)
        }
        How::Struct(hows, fields) => {
            let parts = array.as_struct();
            let columns: Result<Vec<ArrayRef>> =
                parts.columns().iter().zip(hows).map(|(c, how)| convert(c, how)).collect();
            Arc::new(StructArray::try_new(fields.clone(), columns?, parts.nulls().cloned()).map_err(odd)?)
        }
        How::Union(hows, kind) => {
            let union = array.as_union();
            let DataType::Union(fields, _) = kind else { return Ok(Arc::clone(array)) };
            let children: Result<Vec<ArrayRef>> =
                fields.iter().zip(hows).map(|((id, _), how)| convert(union.child(id), how)).collect();
            let (ids, offsets) = (union.type_ids().clone(), union.offsets().cloned());
            Arc::new(UnionArray::try_new(fields.clone(), ids, offsets, children?).map_err(odd)?)
        }
    })
}
