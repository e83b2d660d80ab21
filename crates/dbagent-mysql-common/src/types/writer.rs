//! Fills typed batches row by row and hands them to the sink.

use std::sync::Arc;

use dbagent_core::arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use dbagent_core::arrow_schema::{Field, Schema, SchemaRef};
use dbagent_core::rows::{BATCH_BYTES, BATCH_ROWS, Flow, Sink};
use dbagent_core::{Error, ErrorKind, Result};

use super::Spec;
use super::column::Column;

/// Fills batches of a result.
pub(crate) struct TypedWriter {
    sink: Sink,
    columns: Vec<Column>,
    schema: Option<SchemaRef>,
    rows: usize,
    bytes: usize,
    /// Rows that may still be handed on.
    left: u64,
    cell_limit: u64,
}

impl TypedWriter {
    pub(crate) fn new(sink: Sink, specs: Vec<Spec>) -> Self {
        let limits = sink.limits();
        Self {
            sink,
            columns: specs.into_iter().map(Column::new).collect(),
            schema: None,
            rows: 0,
            bytes: 0,
            left: limits.rows.unwrap_or(u64::MAX),
            cell_limit: limits.cell_bytes,
        }
    }

    /// Writes the next value of the row: its bytes, or none for NULL. The values of a row are written in
    /// order, all of them.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] over the cell cap.
    pub(crate) fn value(&mut self, column: usize, bytes: Option<&[u8]>) -> Result<()> {
        let announced = self.schema.is_some();
        let limit = self.cell_limit;
        let Some(column) = self.columns.get_mut(column) else {
            return Err(Error::new(ErrorKind::Internal, "a row has more values than there are columns"));
        };
        match bytes {
            None => {
                column.null();
                self.bytes += 1;
            }
            Some(bytes) if bytes.len() as u64 > limit => {
                return Err(too_large(column.name(), bytes.len() as u64, limit));
            }
            Some(bytes) => {
                column.push(bytes, announced);
                self.bytes += bytes.len() + 4;
            }
        }
        Ok(())
    }

    /// Ends a row; hands a full batch on.
    ///
    /// # Errors
    /// What the sink says.
    pub(crate) async fn end_row(&mut self) -> Result<Flow> {
        self.rows += 1;
        // One row more than the limit is handed on too: the sink keeps it back and marks that more exist.
        if self.rows as u64 > self.left || self.rows >= BATCH_ROWS || self.bytes >= BATCH_BYTES {
            return self.flush().await;
        }
        Ok(Flow::More)
    }

    /// Hands on what is left, and announces the columns of a result without rows.
    ///
    /// # Errors
    /// What the sink says.
    pub(crate) async fn finish(mut self) -> Result<()> {
        if self.rows > 0 || self.schema.is_none() {
            // Whether more is wanted does not matter at the end.
            let (Flow::More | Flow::Stop) = self.flush().await?;
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<Flow> {
        let fields: Vec<Field> = self.columns.iter().map(Column::field).collect();
        let schema = match &self.schema {
            Some(known) if known.fields().iter().map(AsRef::as_ref).eq(&fields) => Arc::clone(known),
            _ => {
                let schema = Arc::new(Schema::new(fields));
                self.sink.begin(Arc::clone(&schema));
                self.schema = Some(Arc::clone(&schema));
                schema
            }
        };
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        self.left = self.left.saturating_sub(rows as u64);
        if rows == 0 {
            return Ok(Flow::More);
        }
        let arrays: Vec<ArrayRef> = self.columns.iter_mut().map(Column::take).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(schema, arrays, &options)
            .map_err(|e| Error::new(ErrorKind::Internal, "a batch does not fit its own columns").source(e))?;
        self.sink.push(batch).await
    }
}

fn too_large(column: &str, bytes: u64, limit: u64) -> Error {
    let count = dbagent_core::text::thousands;
    Error::new(
        ErrorKind::TooLarge,
        format!(
            "a value of the column {column:?} has {} bytes, over max_cell_bytes = {}",
            count(bytes),
            count(limit)
        ),
    )
    .hint("select a part of it or its length instead")
}
