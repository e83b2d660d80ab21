//! Streams the rows of a compiled statement into the sink, and shows plans.

use std::time::Instant;

use dbagent_core::context::CallContext;
use dbagent_core::rows::{ColumnSpec, ColumnType, Flow, RowWriter, Sink};
use dbagent_core::{Error, Result};
use rusqlite::types::ValueRef;
use rusqlite::{Row, Statement, ffi};

use crate::connect::Conn;
use crate::error::{Phase, primary, translate, translate_under};

/// Runs the statement until its rows are done or the sink has enough.
///
/// # Errors
/// What SQLite says; [`TooLarge`](dbagent_core::ErrorKind::TooLarge) for a value over the cap.
pub(crate) fn stream(
    conn: &Conn,
    statement: &mut Statement<'_>,
    sink: Sink,
    call: &CallContext,
) -> Result<()> {
    let columns: Vec<ColumnSpec> = statement
        .columns()
        .map(|c| ColumnSpec { name: c.name().to_owned(), declared: c.decl_type().and_then(affinity) })
        .collect();
    let width = columns.len();
    let mut writer = sink.into_writer(columns);
    let until = conn.patience(call);
    loop {
        let mut rows = statement.raw_query();
        let mut delivered = false;
        let failed = loop {
            match rows.next() {
                Ok(Some(row)) => {
                    delivered = true;
                    if writer.begin_row() == Flow::Stop {
                        break None;
                    }
                    write(row, width, &mut writer)?;
                    if writer.end_row_blocking()? == Flow::Stop {
                        break None;
                    }
                }
                Ok(None) => break None,
                Err(e) => break Some(e),
            }
        };
        match failed {
            None => break,
            // The lock that another process holds may be free in a moment; nothing was handed on yet.
            Some(e) if primary(&e) == Some(ffi::SQLITE_BUSY) && !delivered && waits(until, call) => {}
            Some(e) => return Err(translate_under(e, Phase::Run, call)),
        }
    }
    writer.finish_blocking()
}

fn waits(until: Instant, call: &CallContext) -> bool {
    Instant::now() < until && !call.is_over()
}

fn write(row: &Row<'_>, width: usize, writer: &mut RowWriter) -> Result<()> {
    for index in 0..width {
        match row.get_ref(index).map_err(|e| translate(e, Phase::Run))? {
            ValueRef::Null => writer.null()?,
            ValueRef::Integer(n) => writer.int(n)?,
            ValueRef::Real(x) => writer.float(x)?,
            // SQLite keeps any bytes as text. What is no text is kept as the bytes it is.
            ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => writer.text(text)?,
                Err(_) => writer.bytes(bytes)?,
            },
            ValueRef::Blob(bytes) => writer.bytes(bytes)?,
        }
    }
    Ok(())
}

/// The type that most values of a column so declared have, by SQLite's rules of affinity. A hint: values
/// keep the type they have.
fn affinity(declared: &str) -> Option<ColumnType> {
    let declared = declared.to_ascii_uppercase();
    let has = |part: &str| declared.contains(part);
    if has("INT") {
        Some(ColumnType::Int)
    } else if has("CHAR") || has("CLOB") || has("TEXT") {
        Some(ColumnType::Text)
    } else if has("BLOB") {
        Some(ColumnType::Bytes)
    } else if has("REAL") || has("FLOA") || has("DOUB") {
        Some(ColumnType::Float)
    } else {
        None
    }
}

/// The rows of EXPLAIN QUERY PLAN as an indented tree.
///
/// # Errors
/// What SQLite says.
pub(crate) fn plan(statement: &mut Statement<'_>, call: &CallContext) -> Result<String> {
    let failed = |e: rusqlite::Error| -> Error { translate_under(e, Phase::Run, call) };
    let mut steps: Vec<(i64, usize)> = Vec::new();
    let mut text = String::new();
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next().map_err(failed)? {
        let (id, parent): (i64, i64) = (row.get(0).map_err(failed)?, row.get(1).map_err(failed)?);
        let detail: String = row.get(3).map_err(failed)?;
        let depth = steps.iter().rev().find(|(step, _)| *step == parent).map_or(0, |(_, depth)| depth + 1);
        steps.push((id, depth));
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&"  ".repeat(depth));
        text.push_str(&detail);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_types_have_the_affinity_of_sqlite() {
        for (declared, expected) in [
            ("INTEGER", Some(ColumnType::Int)),
            ("bigint", Some(ColumnType::Int)),
            ("CHARINT", Some(ColumnType::Int)),
            ("NVARCHAR(40)", Some(ColumnType::Text)),
            ("Blob", Some(ColumnType::Bytes)),
            ("DOUBLE PRECISION", Some(ColumnType::Float)),
            ("FLOATING POINT", Some(ColumnType::Int)),
            ("NUMERIC(10,2)", None),
            ("DATETIME", None),
            ("BOOLEAN", None),
        ] {
            assert_eq!(affinity(declared), expected, "{declared}");
        }
    }
}
