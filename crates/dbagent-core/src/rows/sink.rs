//! The producer's end of a result.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::queue::Queue;
use super::size;
use super::writer::{ColumnSpec, RowWriter};
use super::{BATCH_BYTES, BATCH_ROWS};
use crate::context::CallContext;
use crate::error::{Error, ErrorKind, Result};

/// Whether more rows are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Flow {
    /// Go on.
    More,
    /// Stop the statement and return; the call is over, the reader is gone, or a cap was reached.
    Stop,
}

/// The caps of one result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SinkLimits {
    /// Most rows that are handed on; one more only sets a mark.
    pub rows: Option<u64>,
    /// Most bytes of values.
    pub bytes: Option<u64>,
    /// Most bytes of one value.
    pub cell_bytes: u64,
}

/// What the producer and the reader both see of a result.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) schema: Option<SchemaRef>,
    pub(super) rows: u64,
    pub(super) bytes: u64,
    pub(super) more_rows: bool,
    pub(super) over_bytes: bool,
}

/// Where a session pushes the rows of a read. Owned by the producer; dropping it ends the stream.
pub struct Sink {
    pub(super) queue: Arc<Queue>,
    pub(super) progress: Arc<Mutex<Progress>>,
    pub(super) limits: SinkLimits,
    pub(super) call: CallContext,
}

impl Sink {
    /// Announces the columns. Needed before the first batch; also for a result without rows.
    pub fn begin(&mut self, schema: SchemaRef) {
        self.progress(|p| p.schema = Some(schema));
    }

    /// Makes a writer of rows for these columns and announces them with its first batch.
    pub fn into_writer(self, columns: Vec<ColumnSpec>) -> RowWriter {
        RowWriter::new(self, columns)
    }

    /// Whether to stop: the call is over, the reader is gone, or a cap was reached.
    pub fn is_stopped(&self) -> bool {
        self.progress(|p| p.more_rows || p.over_bytes) || self.queue.is_closed(&self.call)
    }

    /// The caps, for engines that can use them.
    pub fn limits(&self) -> SinkLimits {
        self.limits
    }

    pub(super) fn progress<T>(&self, f: impl FnOnce(&mut Progress) -> T) -> T {
        f(&mut self.progress.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Pushes a batch of any size; it is sliced.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] when nothing was announced; [`ErrorKind::TooLarge`] for a value over the cap.
    pub async fn push(&mut self, batch: RecordBatch) -> Result<Flow> {
        for (slice, bytes) in self.slices(batch)? {
            if !self.queue.push(slice, bytes, &self.call).await {
                return Ok(Flow::Stop);
            }
        }
        Ok(self.flow())
    }

    /// The same from a thread that may block.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn push_blocking(&mut self, batch: RecordBatch) -> Result<Flow> {
        for (slice, bytes) in self.slices(batch)? {
            if !self.queue.push_blocking(slice, bytes, &self.call) {
                return Ok(Flow::Stop);
            }
        }
        Ok(self.flow())
    }

    fn flow(&self) -> Flow {
        if self.progress(|p| p.more_rows || p.over_bytes) { Flow::Stop } else { Flow::More }
    }

    /// Cuts a batch to the caps and to the size of batches, and counts it.
    fn slices(&mut self, batch: RecordBatch) -> Result<Slices> {
        let limits = self.limits;
        if let Some((column, bytes)) = super::value::cell_over(&batch, limits.cell_bytes) {
            return Err(cell_too_large(batch.schema().field(column).name(), bytes, limits.cell_bytes));
        }
        let total = batch.columns().iter().map(|array| size::of(array)).sum::<usize>().max(1);
        self.progress(|p| {
            if p.schema.is_none() {
                return Err(Error::new(
                    ErrorKind::Internal,
                    "a dialect pushed rows before it announced the columns",
                ));
            }
            let mut rows = batch.num_rows();
            if let Some(limit) = limits.rows {
                let left = usize::try_from(limit.saturating_sub(p.rows)).unwrap_or(usize::MAX);
                if rows > left {
                    rows = left;
                    p.more_rows = true;
                }
            }
            let per_row = (total / batch.num_rows().max(1)).max(1);
            if let Some(limit) = limits.bytes {
                let left = usize::try_from(limit.saturating_sub(p.bytes)).unwrap_or(usize::MAX);
                let fit = left / per_row;
                if rows > fit {
                    rows = fit;
                    p.over_bytes = true;
                }
            }
            p.rows += rows as u64;
            p.bytes += (rows * per_row) as u64;
            let step = BATCH_ROWS.min((BATCH_BYTES / per_row).max(1));
            Ok(Slices { batch, per_row, step, at: 0, rows })
        })
    }
}

/// A batch in pieces of the size of batches, with their bytes.
struct Slices {
    batch: RecordBatch,
    per_row: usize,
    step: usize,
    at: usize,
    rows: usize,
}

impl Iterator for Slices {
    type Item = (RecordBatch, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let n = self.step.min(self.rows - self.at);
        if n == 0 {
            return None;
        }
        let slice =
            if n == self.batch.num_rows() { self.batch.clone() } else { self.batch.slice(self.at, n) };
        self.at += n;
        Some((slice, n * self.per_row))
    }
}

pub(super) fn cell_too_large(column: &str, bytes: u64, limit: u64) -> Error {
    Error::new(
        ErrorKind::TooLarge,
        format!(
            "a value of the column {column:?} has {} bytes, over max_cell_bytes = {}",
            crate::text::thousands(bytes),
            crate::text::thousands(limit)
        ),
    )
    .hint("select a part of it or its length instead")
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.queue.finish();
    }
}
