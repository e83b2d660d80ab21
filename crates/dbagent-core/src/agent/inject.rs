//! Speaking to a thread between its turns, whether a run is going on there or not.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{mpsc, oneshot};

use super::Inner;
use crate::error::{Error, ErrorKind, Result};
use crate::fact::{Fact, FactRecord};
use crate::state::State;
use crate::store::{Appended, LEASE};

/// Something that was said to a run, and whom to tell when it is in the log.
pub(super) struct Said {
    pub(super) text: String,
    pub(super) written: oneshot::Sender<()>,
}

/// The runs that an agent drives, each with a way to speak to it.
#[derive(Default)]
pub(super) struct Running(Arc<Mutex<Vec<Entry>>>);

struct Entry {
    thread: String,
    voice: mpsc::UnboundedSender<Said>,
}

fn entries(running: &Mutex<Vec<Entry>>) -> MutexGuard<'_, Vec<Entry>> {
    // Every change is one push or one removal, so a panic elsewhere leaves nothing half done.
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Running {
    /// Makes a run reachable until its [`Voice`] is dropped.
    pub(super) fn enter(&self, thread: &str) -> Voice {
        let (voice, said) = mpsc::unbounded_channel();
        entries(&self.0).push(Entry { thread: thread.to_owned(), voice });
        Voice { said, running: Arc::clone(&self.0) }
    }

    fn of(&self, thread: &str) -> Vec<mpsc::UnboundedSender<Said>> {
        entries(&self.0).iter().filter(|e| e.thread == thread).map(|e| e.voice.clone()).collect()
    }
}

/// What a run hears.
pub(super) struct Voice {
    said: mpsc::UnboundedReceiver<Said>,
    running: Arc<Mutex<Vec<Entry>>>,
}

impl Voice {
    /// What was said and not heard yet.
    pub(super) fn try_hear(&mut self) -> Option<Said> {
        self.said.try_recv().ok()
    }
}

impl Drop for Voice {
    fn drop(&mut self) {
        // Closed first, so that whoever holds a copy of the sender learns that nobody listens.
        self.said.close();
        entries(&self.running).retain(|e| !e.voice.is_closed());
    }
}

/// Writes a message into the log of a thread: through the run that is going on here, else directly.
pub(super) async fn inject(agent: &Inner, thread: &str, text: String) -> Result<()> {
    for voice in agent.running.of(thread) {
        let (written, done) = oneshot::channel();
        let said = Said { text: text.clone(), written };
        // A run that ends without having heard it drops it.
        if voice.send(said).is_ok() && done.await.is_ok() {
            return Ok(());
        }
    }
    let owner = format!("inject-{}-{:016x}", std::process::id(), RandomState::new().hash_one(thread));
    let Some(lease) = agent.store.lease(thread, &owner, LEASE).await? else {
        return Err(Error::new(
            ErrorKind::Conflict,
            format!("the thread {thread:?} is being driven by somebody else"),
        )
        .op("inject")
        .retry(crate::Retry::Later)
        .hint("say it to the agent that drives the thread, or wait until its run has ended"));
    };
    let written = append(agent, thread, text).await;
    if let Err(e) = agent.store.release(&lease).await {
        // What was said is in the log or is not: a lease that is not given back runs out.
        tracing::warn!(error = %e, "the lease of a thread could not be given back");
    }
    written
}

async fn append(agent: &Inner, thread: &str, text: String) -> Result<()> {
    let state = State::fold(&agent.store.load(thread, 0).await?)?;
    if state.run.number == 0 {
        return Err(Error::new(ErrorKind::InvalidRequest, format!("there is no thread {thread:?}"))
            .op("inject")
            .hint("start the thread with a question"));
    }
    let fact = Fact::MessageInjected { text, by: "host".into() };
    let record = FactRecord { seq: state.seq + 1, at_ms: crate::store::now_ms(), fact };
    match agent.store.append(thread, state.seq, vec![record]).await? {
        Appended::At(_) => Ok(()),
        Appended::Conflict(actual) => {
            Err(Error::new(ErrorKind::Conflict, "somebody else wrote to this thread meanwhile")
                .op("inject")
                .with("expected", state.seq)
                .with("actual", actual)
                .retry(crate::Retry::Later))
        }
    }
}
