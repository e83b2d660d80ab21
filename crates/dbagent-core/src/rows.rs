//! Results: a bounded stream of Arrow record batches, the one form of every result on every dialect.
//!
//! The producer side is a [`Sink`] (given to [`Session::read`](crate::session::Session::read)), the
//! consumer side is [`Rows`]. Between them wait at most [`QUEUE_BYTES`] of batches: a slow reader slows
//! the writer. Row dialects fill a [`RowWriter`], Arrow dialects push batches.

mod nested;
mod queue;
mod sink;
mod size;
mod stream;
mod value;
mod writer;

pub use sink::{Flow, Sink, SinkLimits};
pub use stream::{Ending, Rows};
pub use value::{Cell, mixed_json};
pub use writer::{ColumnSpec, ColumnType, RowWriter};

/// Most rows of one batch.
pub const BATCH_ROWS: usize = 8_192;
/// Bytes after which a batch is closed.
pub const BATCH_BYTES: usize = 1 << 20;
/// Bytes of batches that wait between the writer and the reader; one batch may always wait.
pub const QUEUE_BYTES: usize = 1 << 20;
/// Context key of the error for a dialect that did not stop by itself and was dropped after a grace.
pub const GRACE_KEY: &str = "grace";
/// Field metadata key that says what a column's text means.
pub const TYPE_KEY: &str = "dbagent.type";
/// Value of [`TYPE_KEY`]: each value is a canonical JSON text, because the column mixes types.
pub const TYPE_MIXED: &str = "mixed";

#[cfg(test)]
mod tests;
