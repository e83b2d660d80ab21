//! Retry and fallback as models that wrap models.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};

use super::{Model, ModelError, ModelErrorKind, ModelEvent, ModelProfile, ModelRequest, ModelStream};

/// How often and how patiently a model is asked again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryPolicy {
    /// Attempts after the first.
    pub retries: u32,
    /// Wait before the first retry; doubles each time.
    pub base: Duration,
    /// Longest wait, also of a wait that the server asks for.
    pub max: Duration,
}

impl Default for RetryPolicy {
    /// 2 retries, 1 s doubled, at most 60 s.
    fn default() -> Self {
        Self { retries: 2, base: Duration::from_secs(1), max: Duration::from_secs(60) }
    }
}

impl RetryPolicy {
    fn wait(&self, attempt: u32, error: &ModelError) -> Duration {
        let own = self.base.saturating_mul(2u32.saturating_pow(attempt.saturating_sub(1)));
        error.retry_after.unwrap_or(own).min(self.max)
    }
}

/// A model that asks another one again after failures that may pass.
///
/// Only before any event of the attempt was seen: text that was shown is never silently replaced.
pub struct Retrying {
    inner: Arc<dyn Model>,
    policy: RetryPolicy,
}

impl Retrying {
    /// Wraps `inner`.
    pub fn new(inner: Arc<dyn Model>, policy: RetryPolicy) -> Self {
        Self { inner, policy }
    }
}

/// Starts a stream and waits for its first event, so that a failure before it can still be retried.
async fn start(model: &dyn Model, request: ModelRequest) -> Result<ModelStream, ModelError> {
    let mut events = model.stream(request).await?;
    match events.next().await {
        Some(Ok(first)) => Ok(stream::iter([Ok(first)]).chain(events).boxed()),
        Some(Err(error)) => Err(error),
        None => {
            Err(ModelError::new(ModelErrorKind::Truncated, "the model's stream ended before its first event"))
        }
    }
}

fn cancelled() -> ModelError {
    ModelError::new(ModelErrorKind::Cancelled, "cancelled while waiting to ask the model again")
}

#[async_trait]
impl Model for Retrying {
    fn id(&self) -> &str {
        self.inner.id()
    }

    fn profile(&self) -> ModelProfile {
        self.inner.profile()
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let mut notes = Vec::new();
        let mut attempt = 1;
        loop {
            let error = match start(&*self.inner, request.clone()).await {
                Ok(events) => return Ok(stream::iter(notes).chain(events).boxed()),
                Err(error) => error,
            };
            if !error.retryable || attempt > self.policy.retries {
                return Err(error);
            }
            let after = self.policy.wait(attempt, &error);
            if request.deadline.is_some_and(|d| crate::context::in_future(after) >= d) {
                return Err(error);
            }
            tracing::warn!(
                attempt,
                kind = error.kind.as_str(),
                after_ms = after.as_millis(),
                "asking the model again"
            );
            notes.push(Ok(ModelEvent::Retrying { attempt, after, reason: error.message.clone() }));
            tokio::select! {
                () = tokio::time::sleep(after) => {}
                () = request.cancel.cancelled() => return Err(cancelled()),
            }
            attempt += 1;
        }
    }
}

/// A model that hands over to the next one on rate limits, outages, authentication errors and timeouts,
/// and only before any event of that reply was seen.
pub struct Fallback {
    models: Vec<Arc<dyn Model>>,
    id: String,
}

impl Fallback {
    /// Tries `first`, then each of `others` in order.
    pub fn new(first: Arc<dyn Model>, others: impl IntoIterator<Item = Arc<dyn Model>>) -> Self {
        let id = first.id().to_owned();
        let mut models = vec![first];
        models.extend(others);
        Self { models, id }
    }
}

fn hands_over(error: &ModelError) -> bool {
    error.retryable
        || matches!(error.kind, ModelErrorKind::Auth | ModelErrorKind::Timeout | ModelErrorKind::RateLimited)
}

#[async_trait]
impl Model for Fallback {
    fn id(&self) -> &str {
        &self.id
    }

    fn profile(&self) -> ModelProfile {
        self.models.first().map(|m| m.profile()).unwrap_or_default()
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let mut notes = Vec::new();
        let mut models = self.models.iter().peekable();
        while let Some(model) = models.next() {
            match start(&**model, request.clone()).await {
                Ok(events) => return Ok(stream::iter(notes).chain(events).boxed()),
                Err(error) => match models.peek() {
                    Some(next) if hands_over(&error) => notes.push(Ok(ModelEvent::FellBack {
                        from: model.id().to_owned(),
                        to: next.id().to_owned(),
                        reason: error.message,
                    })),
                    _ => return Err(error),
                },
            }
        }
        Err(ModelError::new(ModelErrorKind::InvalidRequest, "no model is configured"))
    }
}
