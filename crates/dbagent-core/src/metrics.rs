//! Counters that the caller makes, hands in and reads at any time.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Serialize;

use crate::model::Usage;
use crate::text::counted;

macro_rules! counters {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        #[derive(Default)]
        struct Counters { $($name: AtomicU64,)+ }

        /// The counters at one moment.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
        pub struct Summary { $($(#[doc = $doc])+ pub $name: u64,)+ }

        impl SessionMetrics {
            /// The counters now.
            pub fn summary(&self) -> Summary {
                Summary { $($name: self.0.$name.load(Ordering::Relaxed),)+ }
            }
        }
    };
}

counters! {
    /// Statements that ran.
    queries,
    /// Rows that they returned.
    rows,
    /// Bytes of those rows.
    bytes,
    /// Microseconds that they took.
    query_micros,
    /// Requests that the guard refused.
    refused,
    /// Statements refused because of their estimate.
    blocked_by_estimate,
    /// Calls refused because a budget was used up.
    budget_exhausted,
    /// Results that were too large to show.
    too_large,
    /// Statements that failed.
    errors,
    /// Of these, past their time limit.
    timeouts,
    /// Requests to models.
    model_calls,
    /// Tokens read by models.
    input_tokens,
    /// Tokens written by models.
    output_tokens,
    /// Cost in millionths of the currency that the host's prices are in, of the calls whose cost is known.
    cost_micros,
    /// Of the requests to models, those whose cost is not known.
    unpriced_calls,
}

/// Counters of everything that runs with them. Thread-safe; clones share the counters.
#[derive(Clone, Default)]
pub struct SessionMetrics(Arc<Counters>);

/// What a host pays for a million tokens, in its own currency.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Deserialize, serde::Serialize)]
pub struct Price {
    /// For a million tokens read.
    pub input: f64,
    /// For a million of these that came from the server's cache; as much as others when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    /// For a million tokens written.
    pub output: f64,
}

impl Price {
    /// A price without a discount for cached tokens.
    pub const fn new(input: f64, output: f64) -> Self {
        Self { input, cached_input: None, output }
    }

    /// Sets the price of tokens that came from the server's cache.
    pub const fn cached(mut self, cached_input: f64) -> Self {
        self.cached_input = Some(cached_input);
        self
    }

    /// Whether each part is a number that a price can be.
    pub(crate) fn is_valid(&self) -> bool {
        [self.input, self.cached_input.unwrap_or_default(), self.output]
            .iter()
            .all(|p| p.is_finite() && *p >= 0.0)
    }

    /// The cost of this use in millionths.
    pub fn micros(&self, usage: &Usage) -> u64 {
        let cached = usage.cached_input.min(usage.input);
        let micros = self.input * (usage.input - cached) as f64
            + self.cached_input.unwrap_or(self.input) * cached as f64
            + self.output * usage.output as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cost is shown rounded and is not negative"
        )]
        {
            micros.max(0.0).round() as u64
        }
    }
}

impl SessionMetrics {
    /// Counters at zero.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn query(&self, rows: u64, bytes: u64, time: Duration) {
        add(&self.0.queries, 1);
        add(&self.0.rows, rows);
        add(&self.0.bytes, bytes);
        add(&self.0.query_micros, u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    }

    pub(crate) fn refused(&self) {
        add(&self.0.refused, 1);
    }

    pub(crate) fn blocked_by_estimate(&self) {
        add(&self.0.blocked_by_estimate, 1);
    }

    pub(crate) fn budget_exhausted(&self) {
        add(&self.0.budget_exhausted, 1);
    }

    pub(crate) fn too_large(&self) {
        add(&self.0.too_large, 1);
    }

    pub(crate) fn error(&self, kind: crate::ErrorKind) {
        add(&self.0.errors, 1);
        if kind == crate::ErrorKind::Timeout {
            add(&self.0.timeouts, 1);
        }
    }

    pub(crate) fn model(&self, usage: &Usage) {
        add(&self.0.model_calls, 1);
        add(&self.0.input_tokens, usage.input);
        add(&self.0.output_tokens, usage.output);
        match usage.cost_micros {
            Some(cost) => add(&self.0.cost_micros, cost),
            None => add(&self.0.unpriced_calls, 1),
        }
    }
}

fn add(counter: &AtomicU64, n: u64) {
    counter.fetch_add(n, Ordering::Relaxed);
}

impl fmt::Debug for SessionMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.summary().fmt(f)
    }
}

impl fmt::Display for Summary {
    /// One line for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, {}, {} refused, {}, {}, {} + {} tokens",
            counted(self.queries, "query", "queries"),
            counted(self.rows, "row", "rows"),
            self.refused,
            counted(self.errors, "error", "errors"),
            counted(self.model_calls, "model call", "model calls"),
            self.input_tokens,
            self.output_tokens
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_have_a_price_of_their_own() {
        let usage = Usage { input: 1_000, cached_input: 600, output: 100, ..Usage::default() };
        assert_eq!(Price::new(2.0, 10.0).micros(&usage), 2_000 + 1_000);
        assert_eq!(Price::new(2.0, 10.0).cached(0.5).micros(&usage), 800 + 300 + 1_000);
        // A server that reports more cached tokens than tokens is not believed.
        let odd = Usage { input: 10, cached_input: u64::MAX, ..Usage::default() };
        assert_eq!(Price::new(2.0, 10.0).micros(&odd), 20);
    }
}
