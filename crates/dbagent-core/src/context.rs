//! What every await knows: when to stop.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::error::{Error, ErrorKind, Result};

/// The deadline and the cancellation of one call.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// When the call must be done.
    pub deadline: Instant,
    /// Fires when the caller gives up.
    pub cancel: CancellationToken,
}

/// This long from now. A limit beyond every clock is one of thirty years.
pub(crate) fn in_future(limit: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(30 * 365 * 86_400);
    Instant::now() + limit.min(FAR)
}

impl CallContext {
    /// A call that may take this long and that nobody cancels.
    pub fn within(limit: Duration) -> Self {
        Self { deadline: in_future(limit), cancel: CancellationToken::new() }
    }

    /// The same cancellation, the earlier of both deadlines.
    pub fn limited(&self, limit: Duration) -> Self {
        Self { deadline: self.deadline.min(in_future(limit)), cancel: self.cancel.clone() }
    }

    /// How much time is left.
    pub fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Whether the deadline has passed or the caller gave up.
    pub fn is_over(&self) -> bool {
        self.cancel.is_cancelled() || self.remaining().is_zero()
    }

    /// The error for a call that is over: cancelled, or past its time.
    pub fn over(&self, operation: &'static str) -> Error {
        if self.cancel.is_cancelled() {
            Error::new(ErrorKind::Cancelled, "the call was cancelled").op(operation)
        } else {
            Error::new(ErrorKind::Timeout, "the time limit passed")
                .op(operation)
                .hint("ask for less at once, or allow more time")
        }
    }

    /// Waits for a future, but not past the deadline or the cancellation. The future is dropped then.
    ///
    /// # Errors
    /// [`ErrorKind::Timeout`] or [`ErrorKind::Cancelled`].
    pub async fn bound<T>(&self, operation: &'static str, future: impl Future<Output = T>) -> Result<T> {
        tokio::select! {
            value = future => Ok(value),
            () = self.cancel.cancelled() => Err(self.over(operation)),
            () = tokio::time::sleep_until(self.deadline) => Err(self.over(operation)),
        }
    }
}
