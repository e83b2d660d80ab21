//! What a watcher of a run sees: one enum in one envelope.
//!
//! Durable events are exactly the facts and carry their number; deltas and progress carry none. A watcher
//! that lags loses deltas and is moved to reading the store; it never blocks the run.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast;

use crate::ErrorKind;
use crate::estimate::PlanWarning;
use crate::fact::FactRecord;
use crate::setup::SetupChange;

/// Something to watch.
#[derive(Debug, Clone)]
pub struct Event {
    /// The thread.
    pub thread: Arc<str>,
    /// The number of the fact, where it is one.
    pub seq: Option<u64>,
    /// What happened.
    pub kind: EventKind,
}

/// What happened.
#[non_exhaustive]
#[derive(Debug, Clone)]
pub enum EventKind {
    /// A fact was written.
    Fact(Arc<FactRecord>),
    /// The model writes its answer.
    TextDelta(String),
    /// The model shows its reasoning.
    ReasoningDelta(String),
    /// The model is asked again after a failure.
    ModelRetrying {
        /// Number of the attempt that failed.
        attempt: u32,
        /// How long until the next.
        after: Duration,
        /// Why it failed.
        reason: String,
    },
    /// Another model takes over.
    ModelFellBack {
        /// Who failed.
        from: String,
        /// Who takes over.
        to: String,
        /// Why.
        reason: String,
    },
    /// The thread goes on with an agent that is made of something else than before.
    SetupChanged {
        /// What is not as it was.
        changes: Vec<SetupChange>,
    },
    /// The watcher was too slow, and the facts that it missed could not be read from the store. Facts after
    /// this number may be missing for it; the log itself is whole.
    Missed {
        /// Number of the last fact that it has seen.
        after: u64,
        /// Why they could not be read.
        reason: String,
    },
    /// The run failed in a way that is not in its log, because it could not begin or nothing could be
    /// written any more. The last event of such a run.
    Failed {
        /// The kind of the error.
        kind: ErrorKind,
        /// Its text.
        message: String,
    },
    /// The guard decided about a call's request.
    Judged {
        /// Our key of the call.
        key: String,
        /// The request's text.
        statement: String,
        /// `None` when it may run, else why not.
        refusal: Option<crate::Refusal>,
    },
    /// Rows arrive.
    Progress {
        /// Our key of the call.
        key: String,
        /// Rows so far.
        rows: u64,
        /// Bytes so far.
        bytes: u64,
    },
    /// A statement ended.
    Ran {
        /// Our key of the call.
        key: String,
        /// Rows that it returned.
        rows: u64,
        /// Whether that is all of them.
        complete: bool,
        /// How long it took.
        elapsed: Duration,
    },
    /// Something about a statement's plan is worth a word, now that it has run. Follows its [`Ran`](Self::Ran).
    Warned {
        /// Our key of the call.
        key: String,
        /// What it is.
        warning: PlanWarning,
    },
}

/// Sends events of one thread to whoever watches. Nobody watching is fine.
#[derive(Clone)]
pub(crate) struct EventSender {
    thread: Arc<str>,
    tx: broadcast::Sender<Event>,
}

/// Events that wait for a slow watcher before it lags.
const BUFFER: usize = 1_024;

impl EventSender {
    pub(crate) fn new(thread: &str) -> Self {
        Self { thread: Arc::from(thread), tx: broadcast::channel(BUFFER).0 }
    }

    pub(crate) fn send(&self, kind: EventKind) {
        let seq = match &kind {
            EventKind::Fact(record) => Some(record.seq),
            _ => None,
        };
        // An error only says that nobody watches.
        _ = self.tx.send(Event { thread: Arc::clone(&self.thread), seq, kind });
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.tx.subscribe()
    }
}

/// Sends the progress of one call.
#[derive(Clone)]
pub struct ProgressSender {
    key: String,
    events: Option<EventSender>,
}

impl ProgressSender {
    /// Progress that nobody watches.
    pub fn nowhere() -> Self {
        Self { key: String::new(), events: None }
    }

    pub(crate) fn new(key: &str, events: &EventSender) -> Self {
        Self { key: key.to_owned(), events: Some(events.clone()) }
    }

    fn send(&self, make: impl FnOnce(String) -> EventKind) {
        if let Some(events) = &self.events {
            events.send(make(self.key.clone()));
        }
    }

    /// Rows arrived.
    pub fn rows(&self, rows: u64, bytes: u64) {
        self.send(|key| EventKind::Progress { key, rows, bytes });
    }

    pub(crate) fn judged(&self, statement: &str, refusal: Option<&crate::Refusal>) {
        self.send(|key| EventKind::Judged {
            key,
            statement: statement.to_owned(),
            refusal: refusal.cloned(),
        });
    }

    pub(crate) fn warned(&self, warning: &PlanWarning) {
        self.send(|key| EventKind::Warned { key, warning: warning.clone() });
    }

    pub(crate) fn ran(&self, rows: u64, complete: bool, elapsed: Duration) {
        self.send(|key| EventKind::Ran { key, rows, complete, elapsed });
    }
}
