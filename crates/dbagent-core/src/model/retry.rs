//! Retry and fallback as models that wrap models.

use std::hash::{BuildHasher as _, RandomState};
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
    /// Longest wait. A server that asks for a longer one is not asked again.
    pub max: Duration,
    /// By which part of itself a wait is longer or shorter at random, so that many who failed together do
    /// not come back together; between 0 and 1.
    pub jitter: f64,
}

impl Default for RetryPolicy {
    /// 2 retries, 1 s doubled, at most 60 s, ±25 %.
    fn default() -> Self {
        Self { retries: 2, base: Duration::from_secs(1), max: Duration::from_secs(60), jitter: 0.25 }
    }
}

impl RetryPolicy {
    /// How long to wait after an attempt, by a random number from 0 to 1. `None` when the server asks for
    /// more than the longest wait.
    fn wait(&self, attempt: u32, error: &ModelError, random: f64) -> Option<Duration> {
        let own = self.base.saturating_mul(2u32.saturating_pow(attempt.saturating_sub(1))).min(self.max);
        let jitter = if self.jitter.is_finite() { self.jitter.clamp(0.0, 1.0) } else { 0.0 };
        let random = if random.is_finite() { random.clamp(0.0, 1.0) } else { 0.5 };
        let own = Duration::try_from_secs_f64(own.as_secs_f64() * (1.0 + jitter * (2.0 * random - 1.0)))
            .unwrap_or(self.max)
            .min(self.max);
        match error.retry_after {
            Some(asked) if asked > self.max => None,
            // Earlier than the server asks is never of use.
            Some(asked) => Some(own.max(asked)),
            None => Some(own),
        }
    }
}

/// Where random numbers from 0 to 1 come from.
pub type Randomness = Arc<dyn Fn() -> f64 + Send + Sync>;

/// A number from 0 to 1 that differs between calls, threads and processes. Good enough to spread waits.
fn spread() -> f64 {
    // The keys of a hasher are seeded by the system once a thread and differ for each hasher.
    let bits = RandomState::new().hash_one(0u8);
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// A model that asks another one again after failures that may pass.
///
/// Only before any event of the attempt was seen: text that was shown is never silently replaced.
pub struct Retrying {
    inner: Arc<dyn Model>,
    policy: RetryPolicy,
    random: Randomness,
}

impl Retrying {
    /// Wraps `inner`.
    pub fn new(inner: Arc<dyn Model>, policy: RetryPolicy) -> Self {
        Self { inner, policy, random: Arc::new(spread) }
    }

    /// Takes the random part of its waits from there, for tests that must come out the same each time.
    pub fn with_randomness(mut self, random: Randomness) -> Self {
        self.random = random;
        self
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
            let Some(after) = self.policy.wait(attempt, &error, (self.random)()) else {
                return Err(error);
            };
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
/// and only before any event of that reply was seen. Each reply costs what the model that gave it says of
/// its price.
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
        let first = self.models.first().map(|m| m.profile()).unwrap_or_default();
        // The price of one is not that of all.
        ModelProfile { price: first.price.filter(|_| self.models.len() == 1), ..first }
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let mut notes = Vec::new();
        let mut models = self.models.iter().peekable();
        while let Some(model) = models.next() {
            match start(&**model, request.clone()).await {
                Ok(events) => {
                    let price = model.profile().price;
                    let events = events.map(move |event| {
                        event.map(|event| match event {
                            ModelEvent::End(mut reply) => {
                                let cost = || price.map(|p| p.micros(&reply.usage));
                                reply.usage.cost_micros = reply.usage.cost_micros.or_else(cost);
                                ModelEvent::End(reply)
                            }
                            event => event,
                        })
                    });
                    return Ok(stream::iter(notes).chain(events).boxed());
                }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_spread_by_a_quarter_and_never_shorter_than_the_server_asks() {
        let policy = RetryPolicy::default();
        let error = |asked: Option<u64>| {
            let mut e = ModelError::new(ModelErrorKind::RateLimited, "slow down");
            e.retry_after = asked.map(Duration::from_secs);
            e
        };
        let millis = |attempt, asked, random| {
            policy.wait(attempt, &error(asked), random).map(|d| u64::try_from(d.as_millis()).unwrap())
        };
        let own: Vec<_> = [0.0, 0.5, 1.0].map(|random| millis(1, None, random)).into();
        assert_eq!(own, [Some(750), Some(1_000), Some(1_250)]);
        assert_eq!(millis(3, None, 0.0), Some(3_000));
        // The longest wait is the longest, jitter included.
        assert_eq!(millis(30, None, 1.0), Some(60_000));
        assert_eq!(millis(30, None, 0.0), Some(45_000));
        assert_eq!(millis(1, Some(7), 0.0), Some(7_000));
        assert_eq!(millis(4, Some(7), 1.0), Some(10_000));
        assert_eq!(millis(1, Some(61), 0.5), None);
        assert_eq!(millis(1, None, f64::NAN), Some(1_000));
    }

    #[test]
    fn spread_is_between_0_and_1_and_varies() {
        let some: Vec<f64> = (0..100).map(|_| spread()).collect();
        assert!(some.iter().all(|x| (0.0..1.0).contains(x)), "{some:?}");
        assert!(some.iter().any(|x| *x < 0.5) && some.iter().any(|x| *x >= 0.5), "{some:?}");
    }
}
