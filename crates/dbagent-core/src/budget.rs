//! Budgets: reserved before, charged after, derived from facts, so that they survive a restart.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use crate::fact::Fact;

/// What a run and a thread may use. A child's budget is carved from its parent's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Budgets {
    /// Model replies of one run: 50. At the last one the tools are taken away.
    #[schemars(range(min = 1))]
    pub turns: u32,
    /// Tool calls of one run: 200.
    #[schemars(range(min = 1))]
    pub tool_calls: u32,
    /// Tokens of one run, read and written: 2,000,000.
    #[schemars(range(min = 1))]
    pub tokens: u64,
    /// Seconds of one run: 1,800.
    #[schemars(range(min = 1))]
    pub wall_clock_s: u64,
    /// Calls that run at once: 4.
    #[schemars(range(min = 1))]
    pub parallel_calls: usize,
    /// Calls of one reply that are looked at; more are answered with an error: 32.
    #[schemars(range(min = 1))]
    pub calls_per_turn: usize,
    /// Bytes of results that one run keeps for the host, all calls together: 64 MiB. Over it the oldest are
    /// dropped, and say so; what the model reads stays the same.
    pub artifact_bytes: u64,
    /// Tokens of the conversation in one request to the model: 100,000, or what its window leaves where that is
    /// less. Over it old results are shortened, then old turns left out behind one line; the thread keeps both.
    #[schemars(range(min = 1))]
    pub history_tokens: u64,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            turns: 50,
            tool_calls: 200,
            tokens: 2_000_000,
            wall_clock_s: 1_800,
            parallel_calls: 4,
            calls_per_turn: 32,
            artifact_bytes: 64 << 20,
            history_tokens: 100_000,
        }
    }
}

impl Budgets {
    /// The time of one run.
    pub fn wall_clock(&self) -> Duration {
        Duration::from_secs(self.wall_clock_s)
    }
}

/// What a budget counts.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Rows fetched by a thread.
    Rows,
}

/// What of a budget is used, open reservations included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RowBudget {
    /// Rows charged.
    pub charged: u64,
    /// Rows reserved by calls that have not ended.
    pub reserved: u64,
}

/// The budget of one thread as its calls see it. Never negative: a reservation that does not fit is refused.
#[derive(Clone)]
pub struct BudgetHandle {
    key: String,
    shared: Arc<Mutex<Shared>>,
    journal: Option<mpsc::UnboundedSender<Entry>>,
}

#[derive(Default)]
struct Shared {
    used: RowBudget,
    /// Of the reserved rows, those of each call.
    open: BTreeMap<String, u64>,
}

impl Shared {
    /// Frees up to `rows` of what a call has reserved.
    fn free(&mut self, key: &str, rows: u64) {
        let Some(open) = self.open.get_mut(key) else { return };
        let freed = rows.min(*open);
        *open -= freed;
        if *open == 0 {
            self.open.remove(key);
        }
        self.used.reserved = self.used.reserved.saturating_sub(freed);
    }
}

/// A fact of a budget on its way to the log, and whom to tell when it is there.
pub(crate) struct Entry {
    pub(crate) fact: Fact,
    pub(crate) done: oneshot::Sender<()>,
}

/// The reservation does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the row budget of {} has {} left", crate::text::counted(*limit, "row", "rows"), crate::text::thousands(*left))]
pub struct BudgetExhausted {
    /// The budget.
    pub limit: u64,
    /// What is left of it.
    pub left: u64,
}

impl BudgetHandle {
    /// A budget that no log keeps, for calls outside a thread.
    pub fn unlogged() -> Self {
        Self { key: String::new(), shared: Arc::default(), journal: None }
    }

    /// The budget of a thread, with what calls of an interrupted run had reserved.
    pub(crate) fn new(
        used: RowBudget,
        open: &BTreeMap<String, u64>,
    ) -> (Self, mpsc::UnboundedReceiver<Entry>) {
        let (journal, entries) = mpsc::unbounded_channel();
        let shared = Arc::new(Mutex::new(Shared { used, open: open.clone() }));
        (Self { key: String::new(), shared, journal: Some(journal) }, entries)
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Frees whatever a call has still reserved: it has ended, or it begins anew.
    pub(crate) fn release(&self, key: &str) {
        self.shared().free(key, u64::MAX);
    }

    pub(crate) fn for_call(&self, key: &str) -> Self {
        Self { key: key.to_owned(), ..self.clone() }
    }

    /// Reserves up to `rows` of a budget of `limit`: what is left if that is less.
    ///
    /// # Errors
    /// When nothing is left.
    pub async fn reserve_rows(&self, rows: u64, limit: u64) -> Result<u64, BudgetExhausted> {
        let granted = {
            let mut shared = self.shared();
            let left = limit.saturating_sub(shared.used.charged.saturating_add(shared.used.reserved));
            if left == 0 {
                return Err(BudgetExhausted { limit, left });
            }
            let granted = rows.min(left);
            shared.used.reserved += granted;
            *shared.open.entry(self.key.clone()).or_default() += granted;
            granted
        };
        self.log(Fact::BudgetReserved { key: self.key.clone(), dimension: Dimension::Rows, amount: granted })
            .await;
        Ok(granted)
    }

    /// Charges what a reservation really used; the rest is free again.
    pub async fn charge_rows(&self, reserved: u64, used_rows: u64) {
        {
            let mut shared = self.shared();
            shared.free(&self.key, reserved);
            shared.used.charged = shared.used.charged.saturating_add(used_rows);
        }
        self.log(Fact::BudgetCharged {
            key: self.key.clone(),
            dimension: Dimension::Rows,
            amount: used_rows,
        })
        .await;
    }

    async fn log(&self, fact: Fact) {
        if let Some(journal) = &self.journal {
            let (done, logged) = oneshot::channel();
            // A run that is gone keeps no log; its reservations are gone with it.
            if journal.send(Entry { fact, done }).is_ok() {
                _ = logged.await;
            }
        }
    }

    /// What is used now.
    pub fn rows(&self) -> RowBudget {
        self.shared().used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn reservations_never_go_over() {
        let b = BudgetHandle::unlogged();
        assert_eq!(b.reserve_rows(60, 100).await, Ok(60));
        assert_eq!(b.reserve_rows(60, 100).await, Ok(40));
        assert_eq!(b.reserve_rows(1, 100).await, Err(BudgetExhausted { limit: 100, left: 0 }));
        b.charge_rows(60, 10).await;
        assert_eq!(b.rows(), RowBudget { charged: 10, reserved: 40 });
        assert_eq!(b.reserve_rows(100, 100).await, Ok(50));
    }
}
