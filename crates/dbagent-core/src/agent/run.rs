//! A run as its caller holds it: events, cancellation, outcome.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::artifact::Artifact;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, EventKind, EventSender};
use crate::fact::{Fact, FactRecord, RunEnd};
use crate::model::Usage;
use crate::store::Store;

/// What came of a run.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The thread; ask on it again to continue.
    pub thread: String,
    /// The answer in words.
    pub text: String,
    /// The answer as JSON, where a schema was asked for.
    pub structured: Option<serde_json::Value>,
    /// What the calls left for the host, by our key of the call, in order of completion.
    pub artifacts: Vec<(String, Artifact)>,
    /// Tokens that the models used, and what they cost where that is known.
    pub usage: Usage,
    /// The facts of this run.
    pub facts: Vec<Arc<FactRecord>>,
    /// Why it ended.
    pub end: RunEnd,
}

/// A run that goes on by itself.
pub struct Run {
    pub(super) thread: String,
    pub(super) events: EventSender,
    pub(super) store: Arc<dyn Store>,
    pub(super) cancel: CancellationToken,
    /// Fires when the task has ended, whatever came of it.
    pub(super) done: CancellationToken,
    /// Subscribed before the run began, for the first who asks.
    pub(super) first: Mutex<Option<Receiver<Event>>>,
    /// Number of the last fact before the run, once the log was read.
    pub(super) from: Arc<OnceLock<u64>>,
    pub(super) task: JoinHandle<Result<Answer>>,
}

impl Run {
    /// The thread.
    pub fn thread(&self) -> &str {
        &self.thread
    }

    /// What happens in the run. The first call sees it from its beginning, later calls from now on. Ends
    /// with the run. Dropping it stops nothing.
    pub fn events(&self) -> EventStream {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner).take();
        EventStream {
            rx: first.unwrap_or_else(|| self.events.subscribe()),
            store: Arc::clone(&self.store),
            thread: self.thread.clone(),
            from: Arc::clone(&self.from),
            done: self.done.clone(),
            last: 0,
            backlog: VecDeque::new(),
            ended: false,
        }
    }

    /// Cancels the run: what runs is stopped, on the server too.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    pub(super) fn cancel_token(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// Waits for the outcome.
    ///
    /// # Errors
    /// What the model cannot mend.
    pub async fn outcome(self) -> Result<Answer> {
        match self.task.await {
            Ok(outcome) => outcome,
            Err(e) => {
                Err(Error::new(ErrorKind::Internal, "the run's task ended without an outcome").source(e))
            }
        }
    }
}

/// The events of one run.
pub struct EventStream {
    rx: Receiver<Event>,
    store: Arc<dyn Store>,
    thread: String,
    from: Arc<OnceLock<u64>>,
    done: CancellationToken,
    last: u64,
    backlog: VecDeque<Event>,
    ended: bool,
}

impl EventStream {
    /// The next event; `None` after the run ended.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.backlog.pop_front() {
                return Some(self.note(event));
            }
            if self.ended {
                return None;
            }
            let received = tokio::select! {
                biased;
                received = self.rx.recv() => received,
                // Nothing is left to receive, and nobody will send: the run could not begin, or failed.
                () = self.done.cancelled() => return None,
            };
            match received {
                // A fact that was read from the store already.
                Ok(event) if event.seq.is_some_and(|seq| seq <= self.last) => {}
                Ok(event) => return Some(self.note(event)),
                Err(RecvError::Closed) => return None,
                Err(RecvError::Lagged(_)) => self.catch_up().await,
            }
        }
    }

    /// Reads from the store what the buffer no longer has. Deltas in between are lost.
    async fn catch_up(&mut self) {
        let after = self.last.max(self.from.get().copied().unwrap_or_default());
        let thread: Arc<str> = Arc::from(self.thread.as_str());
        match self.store.load(&self.thread, after).await {
            Ok(records) => self.backlog.extend(records.into_iter().map(|record| Event {
                thread: Arc::clone(&thread),
                seq: Some(record.seq),
                kind: EventKind::Fact(Arc::new(record)),
            })),
            // The buffer still holds what came last, the end of the run among it.
            Err(e) => {
                let kind = EventKind::Missed { after, reason: e.to_string() };
                self.backlog.push_back(Event { thread, seq: None, kind });
            }
        }
    }

    /// The same as a stream.
    pub fn into_stream(self) -> impl futures_core::Stream<Item = Event> + Send {
        futures_util::stream::unfold(self, |mut events| async move {
            let event = events.next().await?;
            Some((event, events))
        })
    }

    fn note(&mut self, event: Event) -> Event {
        if let Some(seq) = event.seq {
            self.last = self.last.max(seq);
        }
        if let EventKind::Fact(record) = &event.kind
            && matches!(record.fact, Fact::RunEnded { .. })
        {
            self.ended = true;
        }
        event
    }
}
