//! Rows as a compact text table with types.

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, SchemaRef};

use crate::observe::{Frame, NULL, write_cell};
use crate::rows::{Cell, TYPE_KEY};

/// The word for a column's type, as models read it.
pub fn column_type(field: &Field) -> &str {
    if let Some(kind) = field.metadata().get(TYPE_KEY) {
        return kind;
    }
    match field.data_type() {
        DataType::Null => "unknown",
        DataType::Boolean => "boolean",
        t if t.is_integer() => "integer",
        DataType::Float16 | DataType::Float32 | DataType::Float64 => "real",
        DataType::Decimal128(..) | DataType::Decimal256(..) => "decimal",
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text",
        DataType::Binary | DataType::LargeBinary | DataType::FixedSizeBinary(_) | DataType::BinaryView => {
            "bytes"
        }
        DataType::Date32 | DataType::Date64 => "date",
        DataType::Time32(_) | DataType::Time64(_) => "time",
        DataType::Timestamp(..) => "timestamp",
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => "list",
        DataType::Struct(_) => "struct",
        DataType::Map(..) => "map",
        _ => "other",
    }
}

/// Writes rows as one framed table. A value over `max_chars` is shortened in place and says by how much.
pub fn render_rows(schema: &SchemaRef, batches: &[RecordBatch], max_chars: usize) -> String {
    let mut frame = Frame::new();
    frame.cells(schema.fields().iter().map(|f| {
        let mut cell = String::new();
        write_cell(&mut cell, f.name());
        cell.push(' ');
        cell.push_str(column_type(f));
        cell
    }));
    for batch in batches {
        for row in 0..batch.num_rows() {
            frame.cells(
                (0..batch.num_columns()).map(|column| write_value(&Cell::at(batch, column, row), max_chars)),
            );
        }
    }
    frame.close()
}

fn write_value(cell: &Cell<'_>, max_chars: usize) -> String {
    let mut out = String::new();
    match cell {
        Cell::Null => out.push_str(NULL),
        Cell::Text(text) | Cell::Json(text) if text.len() <= max_chars => write_cell(&mut out, text),
        cell => {
            let text = cell.to_text();
            write_cell(&mut out, &crate::text::shorten(&text, max_chars));
        }
    }
    out
}
