//! Comma-separated values, quoted as RFC 4180 says, lines ended by `\n`: NULL is an empty field, an empty text is `""`, binary is hexadecimal.
//!
//! Values are written as they are. Only on a terminal, where they would act, are control characters made
//! visible.

use std::borrow::Cow;

use dbagent::arrow_array::RecordBatch;
use dbagent::arrow_schema::SchemaRef;
use dbagent::rows::Cell;
use dbagent::text::is_unsafe;

use crate::exit::Failure;
use crate::out::Out;

/// The line of names.
pub(super) fn header(out: &mut Out, schema: &SchemaRef) -> Result<(), Failure> {
    let mut line = String::new();
    for (i, field) in schema.fields().iter().enumerate() {
        if i > 0 {
            line.push(',');
        }
        write_field(&mut line, &visible(field.name(), out.terminal));
    }
    line.push('\n');
    out.text(&line)
}

/// The lines of a batch.
pub(super) fn batch(out: &mut Out, batch: &RecordBatch) -> Result<(), Failure> {
    let mut line = String::new();
    for row in 0..batch.num_rows() {
        line.clear();
        for column in 0..batch.num_columns() {
            if column > 0 {
                line.push(',');
            }
            match Cell::at(batch, column, row) {
                Cell::Null => {}
                Cell::Text(text) | Cell::Json(text) => write_field(&mut line, &visible(text, out.terminal)),
                bytes @ Cell::Bytes(_) => {
                    let json = bytes.to_json();
                    write_field(&mut line, json.as_str().unwrap_or_default());
                }
                other => write_field(&mut line, &visible(&other.to_text(), out.terminal)),
            }
        }
        line.push('\n');
        out.text(&line)?;
    }
    Ok(())
}

fn visible(text: &str, terminal: bool) -> Cow<'_, str> {
    if terminal && text.chars().any(is_unsafe) {
        Cow::Owned(dbagent::text::printable(text))
    } else {
        Cow::Borrowed(text)
    }
}

fn write_field(line: &mut String, text: &str) {
    let quoted = text.is_empty()
        || text.contains([',', '"', '\n', '\r'])
        || text.starts_with([' ', '\t'])
        || text.ends_with([' ', '\t']);
    if !quoted {
        line.push_str(text);
        return;
    }
    line.push('"');
    for c in text.chars() {
        if c == '"' {
            line.push('"');
        }
        line.push(c);
    }
    line.push('"');
}
