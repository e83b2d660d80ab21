//! Values of types that have no cell of their own: as text, nested ones as JSON.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType,
    IntervalDayTimeType, IntervalMonthDayNanoType, IntervalYearMonthType,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, IntervalUnit, TimeUnit};

use super::value::{Cell, mixed_json};

/// How deep nested values are followed.
const MAX_DEPTH: usize = 64;

/// The text of a value that no other cell holds; never NULL. A type that nobody has taught us shows its
/// name, so that it is not taken for a value.
pub(super) fn text(array: &dyn Array, row: usize) -> String {
    match array.data_type() {
        DataType::Duration(unit) => duration(array, *unit, row),
        DataType::Interval(unit) => interval(array, *unit, row),
        kind if is_nested(kind) => json(array, row, 0),
        kind => format!("<{kind}>"),
    }
}

fn is_nested(kind: &DataType) -> bool {
    matches!(
        kind,
        DataType::List(_)
            | DataType::LargeList(_)
            | DataType::FixedSizeList(..)
            | DataType::Struct(_)
            | DataType::Map(..)
            | DataType::Union(..)
    )
}

/// Lists become arrays, structs objects in the order of their fields, maps arrays of entries, unions an
/// object of the one member that the value has.
fn json(array: &dyn Array, row: usize, depth: usize) -> String {
    if array.is_null(row) {
        return "null".to_owned();
    }
    if depth == MAX_DEPTH {
        return format!("\"nested deeper than {MAX_DEPTH} levels\"");
    }
    let items = |items: &ArrayRef| {
        let texts: Vec<String> = (0..items.len()).map(|i| json(items, i, depth + 1)).collect();
        format!("[{}]", texts.join(","))
    };
    match array.data_type() {
        DataType::List(_) => items(&array.as_list::<i32>().value(row)),
        DataType::LargeList(_) => items(&array.as_list::<i64>().value(row)),
        DataType::FixedSizeList(..) => items(&array.as_fixed_size_list().value(row)),
        DataType::Map(..) => {
            let entries: ArrayRef = std::sync::Arc::new(array.as_map().value(row));
            items(&entries)
        }
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns().iter();
            let members: Vec<String> = fields
                .iter()
                .zip(columns)
                .map(|(f, c)| {
                    format!("{}:{}", serde_json::Value::from(f.name().as_str()), json(c, row, depth + 1))
                })
                .collect();
            format!("{{{}}}", members.join(","))
        }
        DataType::Union(fields, _) => {
            let union = array.as_union();
            let member = union.type_id(row);
            let name = fields.iter().find(|(id, _)| *id == member).map_or("", |(_, f)| f.name().as_str());
            let value = json(union.child(member), union.value_offset(row), depth + 1);
            format!("{{{}:{value}}}", serde_json::Value::from(name))
        }
        _ => mixed_json(&Cell::of(array, row)),
    }
}

fn duration(array: &dyn Array, unit: TimeUnit, row: usize) -> String {
    let (n, unit) = match unit {
        TimeUnit::Second => (array.as_primitive::<DurationSecondType>().value(row), "seconds"),
        TimeUnit::Millisecond => (array.as_primitive::<DurationMillisecondType>().value(row), "milliseconds"),
        TimeUnit::Microsecond => (array.as_primitive::<DurationMicrosecondType>().value(row), "microseconds"),
        TimeUnit::Nanosecond => (array.as_primitive::<DurationNanosecondType>().value(row), "nanoseconds"),
    };
    format!("{n} {unit}")
}

fn interval(array: &dyn Array, unit: IntervalUnit, row: usize) -> String {
    match unit {
        IntervalUnit::YearMonth => {
            format!("{} months", array.as_primitive::<IntervalYearMonthType>().value(row))
        }
        IntervalUnit::DayTime => {
            let v = array.as_primitive::<IntervalDayTimeType>().value(row);
            format!("{} days {} milliseconds", v.days, v.milliseconds)
        }
        IntervalUnit::MonthDayNano => {
            let v = array.as_primitive::<IntervalMonthDayNanoType>().value(row);
            format!("{} months {} days {} nanoseconds", v.months, v.days, v.nanoseconds)
        }
    }
}
