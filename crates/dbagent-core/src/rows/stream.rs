//! The reader's end of a result.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use futures_core::future::BoxFuture;
use tokio::time::Instant;

use super::QUEUE_BYTES;
use super::queue::Queue;
use super::sink::{Progress, Sink, SinkLimits};
use crate::context::CallContext;
use crate::error::{Error, ErrorKind, Result};
use crate::guard::Refusal;
use crate::session::Outcome;

/// How long a dialect may take to stop after its deadline before it is dropped.
const GRACE: Duration = Duration::from_secs(2);

/// How a result ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ending {
    /// Rows handed on.
    pub rows: u64,
    /// Bytes of their values.
    pub bytes: u64,
    /// Whether more rows exist than the row cap let through.
    pub more_rows: bool,
    /// Whether the byte cap ended it early.
    pub over_bytes: bool,
}

impl Ending {
    /// Whether everything that the statement returns was handed on.
    pub fn is_complete(&self) -> bool {
        !self.more_rows && !self.over_bytes
    }
}

/// The rows of one read. Nothing runs unless it is polled; dropping it stops the statement.
///
/// The schema may change between batches in one way only: a column becomes
/// [mixed](super::TYPE_MIXED) text when a later value does not fit its type.
pub struct Rows {
    queue: Arc<Queue>,
    progress: Arc<Mutex<Progress>>,
    call: CallContext,
    read: Option<BoxFuture<'static, Result<Outcome<()>>>>,
    failed: Option<Error>,
    refused: Option<Refusal>,
    /// When a dialect that was told to stop is dropped.
    stop_by: Option<Instant>,
}

impl Rows {
    pub(crate) fn start(
        limits: SinkLimits,
        call: CallContext,
        read: impl FnOnce(Sink, CallContext) -> BoxFuture<'static, Result<Outcome<()>>>,
    ) -> Self {
        let queue = Queue::new(QUEUE_BYTES);
        let progress = Arc::new(Mutex::new(Progress::default()));
        let sink =
            Sink { queue: Arc::clone(&queue), progress: Arc::clone(&progress), limits, call: call.clone() };
        let read = read(sink, call.clone());
        Self { queue, progress, call, read: Some(read), failed: None, refused: None, stop_by: None }
    }

    /// A result from batches that are already there, for tests and for what the host has in memory.
    pub fn from_batches(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        let limits = SinkLimits { rows: None, bytes: None, cell_bytes: u64::MAX };
        let call = CallContext::within(Duration::from_secs(3600));
        Self::start(limits, call, move |mut sink, _| {
            Box::pin(async move {
                sink.begin(schema);
                for batch in batches {
                    if sink.push(batch).await? == super::Flow::Stop {
                        break;
                    }
                }
                Ok(Ok(()))
            })
        })
    }

    /// The next batch; `Ok(None)` when everything was handed on, a cap was reached, or the engine refused
    /// (see [`refusal`](Self::refusal)).
    ///
    /// # Errors
    /// What the dialect says; [`ErrorKind::Timeout`] and [`ErrorKind::Cancelled`] also when it does not
    /// stop by itself: the error then carries the context key [`GRACE_KEY`](super::GRACE_KEY).
    pub async fn next(&mut self) -> Result<Option<RecordBatch>> {
        // Set once the writer has pushed its last batch and only has to say how it ended.
        let mut drained = false;
        loop {
            // Checked here too: a source that always has something ready would never let the clock speak.
            if self.read.is_some() && self.call.is_over() {
                let stop_by = *self.stop_by.get_or_insert_with(|| Instant::now() + GRACE);
                if Instant::now() >= stop_by {
                    return Err(self.abort());
                }
            }
            if !drained && let Some(batch) = self.queue.pop_ready() {
                return Ok(Some(batch));
            }
            if let Some(read) = &mut self.read {
                let wait = over_with_grace(&self.call, self.stop_by);
                tokio::select! {
                    biased;
                    done = read => {
                        self.read = None;
                        // The sink is dropped with the future at the latest; what it pushed is still taken.
                        self.queue.finish();
                        match done {
                            // A dialect that was told to stop and returns quietly did not read everything.
                            Ok(Ok(())) if self.call.is_over() && self.ending().is_complete() => {
                                self.failed = Some(self.call.over("read"));
                            }
                            Ok(Ok(())) => {}
                            Ok(Err(refusal)) => self.refused = Some(refusal),
                            Err(e) => self.failed = Some(e),
                        }
                    }
                    batch = self.queue.pop(), if !drained => match batch {
                        Some(batch) => return Ok(Some(batch)),
                        None => drained = true,
                    },
                    () = wait => return Err(self.abort()),
                }
            } else if let Some(batch) = self.queue.pop().await {
                return Ok(Some(batch));
            } else if let Some(e) = self.failed.take() {
                return Err(e);
            } else {
                return Ok(None);
            }
        }
    }

    /// Gives up on a dialect that did not stop in time.
    fn abort(&mut self) -> Error {
        self.call.cancel.cancel();
        self.queue.close();
        // A producer on a thread of its own may hold the sink still; nobody waits for it.
        self.queue.finish();
        self.read = None;
        let error = if Instant::now() >= self.call.deadline {
            Error::new(ErrorKind::Timeout, "the time limit passed and the database did not stop in time")
        } else {
            Error::new(ErrorKind::Cancelled, "the call was cancelled and the database did not stop in time")
        };
        error.op("read").with(super::GRACE_KEY, format!("{} s", GRACE.as_secs()))
    }

    /// The columns, once they are known: after the first [`next`](Self::next).
    pub fn schema(&self) -> Option<SchemaRef> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).schema.clone()
    }

    /// Why the engine's own view of the text refused it. Nothing was run then.
    pub fn refusal(&self) -> Option<&Refusal> {
        self.refused.as_ref()
    }

    /// How it ended, or stands so far.
    pub fn ending(&self) -> Ending {
        let p = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        Ending { rows: p.rows, bytes: p.bytes, more_rows: p.more_rows, over_bytes: p.over_bytes }
    }
}

/// Waits until the call is over and the grace has passed.
async fn over_with_grace(call: &CallContext, stop_by: Option<Instant>) {
    if let Some(stop_by) = stop_by {
        return tokio::time::sleep_until(stop_by).await;
    }
    tokio::select! {
        () = call.cancel.cancelled() => {}
        () = tokio::time::sleep_until(call.deadline) => {}
    }
    tokio::time::sleep(GRACE).await;
}

impl Drop for Rows {
    fn drop(&mut self) {
        // A producer on a thread of its own is stopped by the token, one inside the future by the drop.
        self.call.cancel.cancel();
        self.queue.close();
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ColumnSpec, Flow, GRACE_KEY};
    use super::*;

    const LIMITS: SinkLimits = SinkLimits { rows: None, bytes: None, cell_bytes: 1 << 20 };

    /// Rows without end, of a dialect that returns quietly when it is told to stop.
    async fn quiet(sink: Sink) -> Result<Outcome<()>> {
        let mut writer = sink.into_writer(vec![ColumnSpec { name: "n".into(), declared: None }]);
        for n in 0.. {
            if writer.begin_row() == Flow::Stop {
                break;
            }
            writer.int(n)?;
            if writer.end_row().await? == Flow::Stop {
                break;
            }
        }
        Ok(Ok(()))
    }

    #[tokio::test]
    async fn a_read_that_was_cancelled_is_never_taken_for_complete() {
        let call = CallContext::within(Duration::from_secs(60));
        let mut rows = Rows::start(LIMITS, call.clone(), |sink, _| Box::pin(quiet(sink)));
        assert!(rows.next().await.unwrap().is_some());
        call.cancel.cancel();
        let error = loop {
            match rows.next().await {
                Ok(Some(_)) => {}
                Ok(None) => panic!("taken for complete"),
                Err(e) => break e,
            }
        };
        assert_eq!(error.kind(), ErrorKind::Cancelled);
        assert!(error.context().is_empty(), "it stopped by itself: {error}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_dialect_that_does_not_stop_is_dropped_and_named() {
        let call = CallContext::within(Duration::from_secs(5));
        let mut rows = Rows::start(LIMITS, call, |sink, _| {
            Box::pin(async move {
                std::future::pending::<()>().await;
                drop(sink);
                Ok(Ok(()))
            })
        });
        let error = rows.next().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout);
        assert!(error.context().iter().any(|(key, _)| *key == GRACE_KEY), "{error}");
    }
}
