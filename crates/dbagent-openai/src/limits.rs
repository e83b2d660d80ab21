//! Cancellation and deadline, observed on every await.

use std::time::Duration;

use dbagent_core::model::{ModelError, ModelErrorKind, ModelRequest};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// When work has to stop.
#[derive(Clone)]
pub(crate) struct Limits {
    cancel: CancellationToken,
    deadline: Option<Instant>,
}

/// Why work stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    Cancelled,
    Deadline,
}

impl Limits {
    pub(crate) fn of(request: &ModelRequest) -> Self {
        Self { cancel: request.cancel.clone(), deadline: request.deadline }
    }

    /// No cancellation, and at most this long.
    pub(crate) fn within(time: Duration) -> Self {
        Self { cancel: CancellationToken::new(), deadline: Instant::now().checked_add(time) }
    }

    /// Awaits the future until it is done, cancelled, or the deadline passed. What stopped is dropped, which
    /// closes its connection.
    pub(crate) async fn run<F: Future>(&self, future: F) -> Result<F::Output, Stopped> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Stopped::Cancelled),
            () = until(self.deadline) => Err(Stopped::Deadline),
            output = future => Ok(output),
        }
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

impl Stopped {
    /// The error for people: `who` is the model that was waited for.
    pub(crate) fn error(self, who: &str) -> ModelError {
        match self {
            Self::Cancelled => {
                ModelError::new(ModelErrorKind::Cancelled, format!("the request to {who} was cancelled"))
            }
            Self::Deadline => ModelError::new(
                ModelErrorKind::Timeout,
                format!(
                    "{who} did not finish its reply before the deadline; allow more time or ask for less"
                ),
            ),
        }
    }
}
