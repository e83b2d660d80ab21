//! JSON: one value, or one object a line. Characters that act on a terminal are escaped as JSON allows, so
//! that nothing changes for a reader.

use std::fmt::Write as _;

use dbagent::arrow_array::RecordBatch;
use dbagent::arrow_schema::SchemaRef;
use dbagent::rows::{Cell, Ending};
use dbagent::text::is_unsafe;
use dbagent::tools::column_type;
use serde_json::{Value, json};

use crate::exit::Failure;
use crate::out::Out;

/// A JSON text in which nothing acts: what JSON leaves as it is, but a terminal would obey, is escaped.
pub(crate) fn safe(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        // Line ends stand between values only: inside strings serde_json escapes them.
        if c == '\n' || !is_unsafe(c) {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a String cannot fail.
                _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

/// The columns of a result with their types.
fn columns(schema: &SchemaRef) -> Vec<Value> {
    schema.fields().iter().map(|f| json!({"name": f.name(), "type": column_type(f)})).collect()
}

/// The rows of batches as arrays.
pub(crate) fn rows(batches: &[RecordBatch]) -> Vec<Value> {
    batches.iter().flat_map(|batch| (0..batch.num_rows()).map(|row| row_values(batch, row))).collect()
}

fn row_values(batch: &RecordBatch, row: usize) -> Value {
    Value::Array((0..batch.num_columns()).map(|column| Cell::at(batch, column, row).to_json()).collect())
}

pub(super) fn begin(out: &mut Out, schema: &SchemaRef) -> Result<(), Failure> {
    let columns = Value::Array(columns(schema)).to_string();
    out.text(&format!("{{\"columns\":{},\"rows\":[", safe(&columns)))
}

pub(super) fn batch(out: &mut Out, batch: &RecordBatch, written: &mut u64) -> Result<(), Failure> {
    for row in 0..batch.num_rows() {
        out.text(if *written == 0 { "\n" } else { ",\n" })?;
        out.text(&safe(&row_values(batch, row).to_string()))?;
        *written += 1;
    }
    Ok(())
}

pub(super) fn end(out: &mut Out, ending: &Ending) -> Result<(), Failure> {
    out.line(format!("],\"complete\":{}}}", ending.is_complete()))
}

/// One object a row. A name that is there twice gets a number, so that no value is lost.
pub(super) fn lines(out: &mut Out, batch: &RecordBatch) -> Result<(), Failure> {
    let keys = unique_names(batch);
    let mut line = String::new();
    for row in 0..batch.num_rows() {
        line.clear();
        line.push('{');
        for (column, key) in keys.iter().enumerate() {
            if column > 0 {
                line.push(',');
            }
            line.push_str(key);
            line.push(':');
            line.push_str(&Cell::at(batch, column, row).to_json().to_string());
        }
        line.push('}');
        out.line(safe(&line))?;
    }
    Ok(())
}

/// The names as JSON texts.
fn unique_names(batch: &RecordBatch) -> Vec<String> {
    let mut taken: Vec<String> = Vec::new();
    for field in batch.schema().fields() {
        let mut name = field.name().clone();
        let mut number = 2;
        while taken.contains(&name) {
            name = format!("{}_{number}", field.name());
            number += 1;
        }
        taken.push(name);
    }
    taken.into_iter().map(|name| Value::String(name).to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaping_changes_nothing_for_a_reader() {
        let value = json!({"a\u{202e}": "x\u{9b}31m\u{e0041}\n\"ü日"});
        let text = safe(&value.to_string());
        assert!(!text.chars().any(is_unsafe), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
