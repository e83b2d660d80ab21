//! Makes happen what `next` says: does the IO, appends the facts, decides nothing.

mod calls;
mod reply;

use std::hash::{BuildHasher as _, RandomState};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::Inner;
use super::run::{Answer, Run};
use crate::artifact::Artifact;
use crate::budget::{BudgetHandle, Entry};
use crate::context::{CallContext, in_future};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{EventKind, EventSender};
use crate::fact::{Fact, FactRecord, RunEnd};
use crate::model::Message;
use crate::state::{CallStatus, Next, State, next, over};
use crate::store::{Appended, Lease, Store};

/// How long a driver may be silent before another one may take its thread.
const LEASE: Duration = Duration::from_secs(30);

pub(super) fn spawn(agent: Arc<Inner>, thread: &str, input: Option<String>, events: EventSender) -> Run {
    let cancel = CancellationToken::new();
    let first = Mutex::new(Some(events.subscribe()));
    let from = Arc::new(OnceLock::new());
    let store = Arc::clone(&agent.store);
    let done = CancellationToken::new();
    let guard = done.clone().drop_guard();
    let span = tracing::info_span!(
        "invoke_agent",
        gen_ai.operation.name = "invoke_agent",
        gen_ai.conversation.id = thread,
        gen_ai.request.model = agent.model.id(),
    );
    let driving = drive(agent, thread.to_owned(), input, events.clone(), cancel.clone(), Arc::clone(&from));
    let task = tokio::spawn(
        async move {
            let _guard = guard;
            driving.await
        }
        .instrument(span),
    );
    Run { thread: thread.to_owned(), events, store, cancel, done, first, from, task }
}

/// One run from load to end, under a lease of its thread.
async fn drive(
    agent: Arc<Inner>,
    thread: String,
    input: Option<String>,
    events: EventSender,
    cancel: CancellationToken,
    from: Arc<OnceLock<u64>>,
) -> Result<Answer> {
    // Numbers of processes repeat between machines, so the name has a random part.
    let owner = format!("{}-{:016x}", std::process::id(), RandomState::new().hash_one(&thread));
    let Some(lease) = agent.store.lease(&thread, &owner, LEASE).await? else {
        return Err(Error::new(
            ErrorKind::Conflict,
            format!("the thread {thread:?} is being driven by somebody else"),
        )
        .retry(crate::Retry::Later)
        .hint("wait until that run has ended, or ask on another thread"));
    };
    let outcome = async {
        let state = State::fold(&agent.store.load(&thread, 0).await?)?;
        // Only the first caller sets it; there is one per run.
        _ = from.set(state.seq);
        let (budget, entries) = BudgetHandle::new(state.rows, &state.reserved);
        let deadline = in_future(agent.budgets.wall_clock());
        let last_text = if input.is_none() { last_words(&state) } else { String::new() };
        let mut driver = Driver {
            agent: Arc::clone(&agent),
            thread,
            state,
            events,
            budget,
            entries,
            cancel: cancel.clone(),
            deadline,
            facts: Vec::new(),
            artifacts: Vec::new(),
            last_text,
            structured: None,
            repairs: 0,
            fatal: None,
            lost: false,
        };
        driver.run(input).await
    };
    let outcome = tokio::select! {
        outcome = outcome => outcome,
        lost = keep(&*agent.store, &lease) => {
            cancel.cancel();
            Err(lost)
        }
    };
    if let Err(e) = agent.store.release(&lease).await {
        // The outcome matters more: a lease that is not given back runs out.
        tracing::warn!(error = %e, "the lease of a thread could not be given back");
    }
    outcome
}

/// Renews the lease while the run goes on, also while it only waits. Returns once the lease is lost.
async fn keep(store: &dyn Store, lease: &Lease) -> Error {
    loop {
        tokio::time::sleep(LEASE / 3).await;
        match store.renew(lease, LEASE).await {
            Ok(true) => {}
            Ok(false) => {
                return Error::new(ErrorKind::Conflict, "the lease of this thread was lost to somebody else")
                    .hint("somebody else drives it now; follow the thread in the store");
            }
            // It is tried again; an append finds out for itself whether the log is still ours.
            Err(e) => tracing::warn!(error = %e, "the lease of a thread could not be renewed"),
        }
    }
}

struct Driver {
    agent: Arc<Inner>,
    thread: String,
    state: State,
    events: EventSender,
    budget: BudgetHandle,
    entries: UnboundedReceiver<Entry>,
    cancel: CancellationToken,
    deadline: Instant,
    facts: Vec<Arc<FactRecord>>,
    artifacts: Vec<(String, Artifact)>,
    last_text: String,
    structured: Option<serde_json::Value>,
    repairs: u32,
    /// An error that ends the run although the log could go on.
    fatal: Option<Error>,
    /// Whether somebody else writes the log now.
    lost: bool,
}

impl Driver {
    async fn run(&mut self, input: Option<String>) -> Result<Answer> {
        if let Some(input) = input {
            if self.state.run.ended.is_none() && self.state.run.number > 0 {
                return Err(Error::new(ErrorKind::Conflict, "the last run of this thread has not ended")
                    .hint("resume the thread first, or ask on another one"));
            }
            let run = self.state.run.number + 1;
            self.append(Fact::RunStarted { run, input, fingerprint: self.agent.fingerprint.clone() }).await?;
        } else if self.state.run.number == 0 || self.state.run.ended.is_some() {
            return Err(Error::new(
                ErrorKind::InvalidRequest,
                "there is no interrupted run on this thread to resume",
            ));
        }
        // A model, a hook or a store that panics ends its run like one that fails.
        let worked = AssertUnwindSafe(self.work()).catch_unwind().await.unwrap_or_else(|_| {
            Err(Error::new(ErrorKind::Internal, "a part of the agent failed inside")
                .hint("the panic's own message is on standard error"))
        });
        let why = match worked {
            Ok(why) => why,
            Err(e) => {
                let why = match e.kind() {
                    ErrorKind::Cancelled => RunEnd::Cancelled,
                    kind => RunEnd::Failed { kind: kind.to_string(), message: e.to_string() },
                };
                self.fatal = Some(e);
                why
            }
        };
        // Somebody else owns the log now: nothing more is written to it.
        if self.lost
            && let Some(e) = self.fatal.take()
        {
            return Err(e);
        }
        self.answer_open_calls("Not run: the run ended before.").await?;
        self.append(Fact::RunEnded { why: why.clone() }).await?;
        let agent = Arc::clone(&self.agent);
        for middleware in &agent.middleware {
            // The run has ended, so that there is nothing left to refuse or to stop.
            if let Err(e) = middleware.after_run(&self.state).await {
                tracing::warn!(middleware = middleware.name(), error = %e, "a hook failed after the run");
            }
        }
        match self.fatal.take() {
            Some(e) => Err(e),
            None => Ok(Answer {
                thread: self.thread.clone(),
                text: std::mem::take(&mut self.last_text),
                structured: self.structured.take(),
                artifacts: std::mem::take(&mut self.artifacts),
                usage: self.state.run.usage,
                facts: std::mem::take(&mut self.facts),
                end: why,
            }),
        }
    }

    async fn work(&mut self) -> Result<RunEnd> {
        self.connect().await?;
        let agent = Arc::clone(&self.agent);
        for middleware in &agent.middleware {
            middleware.before_run(&self.state).await?;
        }
        loop {
            self.check_time()?;
            let steps = next(&self.state, &self.agent.budgets);
            match steps.first() {
                Some(Next::Recover(_)) => self.recover().await?,
                Some(Next::Gate(_)) => {
                    if let Some(end) = self.gate().await? {
                        return Ok(end);
                    }
                }
                Some(Next::Execute(_)) => {
                    let keys = steps.into_iter().filter_map(|s| match s {
                        Next::Execute(key) => Some(key),
                        _ => None,
                    });
                    self.execute(keys.collect()).await?;
                }
                Some(Next::Wait) => {
                    return Err(Error::new(
                        ErrorKind::Unsupported,
                        "a call waits for a person, and nobody can be asked here",
                    ));
                }
                Some(Next::CloseTurn) => self.append(Fact::TurnClosed { turn: self.state.turn }).await?,
                Some(Next::Model { tools }) => {
                    let tools = *tools;
                    let over = over(&self.state, &self.agent.budgets);
                    let reply = self.ask_model(tools).await?;
                    if let Some(end) = self.after_reply(&reply, tools, over).await? {
                        return Ok(end);
                    }
                }
                // Reached when a process ended between the last reply and the end of its run.
                Some(Next::Idle) | None => {
                    self.structured = self.agent.output.as_ref().and_then(|o| o.read(&self.last_text).ok());
                    return Ok(RunEnd::Answered);
                }
            }
        }
    }

    /// Every call has exactly one answer before the model is asked again, also in a later run.
    async fn answer_open_calls(&mut self, text: &str) -> Result<()> {
        let open: Vec<String> =
            self.state.calls.iter().filter(|c| c.status != CallStatus::Done).map(|c| c.key.clone()).collect();
        for key in open {
            let text = text.to_owned();
            self.append(Fact::CallFinished { key, text, is_error: true, artifact: None }).await?;
        }
        if self.state.calls.is_empty() {
            return Ok(());
        }
        self.append(Fact::TurnClosed { turn: self.state.turn }).await
    }

    /// Opens the databases before the model is asked: without them every token would be wasted.
    async fn connect(&mut self) -> Result<()> {
        let call = CallContext { deadline: self.deadline, cancel: self.cancel.clone() };
        for database in &self.agent.databases {
            database.session(&call).await?;
        }
        Ok(())
    }

    fn check_time(&self) -> Result<()> {
        if self.cancel.is_cancelled() {
            return Err(Error::new(ErrorKind::Cancelled, "the run was cancelled"));
        }
        if Instant::now() >= self.deadline {
            return Err(Error::new(ErrorKind::Timeout, "the run's wall clock budget is used up")
                .with("limit", format!("{} s", self.agent.budgets.wall_clock_s))
                .hint("raise budgets.wall_clock_s, or ask a narrower question"));
        }
        Ok(())
    }

    async fn append(&mut self, fact: Fact) -> Result<()> {
        let record = FactRecord { seq: self.state.seq + 1, at_ms: crate::store::now_ms(), fact };
        match self.agent.store.append(&self.thread, self.state.seq, vec![record.clone()]).await? {
            Appended::At(_) => {}
            Appended::Conflict(actual) => {
                self.lost = true;
                return Err(Error::new(ErrorKind::Conflict, "somebody else wrote to this thread meanwhile")
                    .with("expected", self.state.seq)
                    .with("actual", actual));
            }
        }
        self.state.apply(&record)?;
        if let Fact::CallReady { key, .. } | Fact::CallFinished { key, .. } = &record.fact {
            self.budget.release(key);
        }
        let record = Arc::new(record);
        self.facts.push(Arc::clone(&record));
        self.events.send(EventKind::Fact(record));
        Ok(())
    }
}

/// What the model said last in the current run, for a run that is resumed.
fn last_words(state: &State) -> String {
    let said = state.messages.iter().rev().take_while(|m| !matches!(m, Message::User { .. }));
    let mut texts = said.filter_map(|m| match m {
        Message::Assistant(a) if !a.text.trim().is_empty() => Some(a.text.clone()),
        _ => None,
    });
    texts.next().unwrap_or_default()
}
