//! Makes happen what `next` says: does the IO, appends the facts, decides nothing.

mod calls;
mod reply;

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

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
use crate::store::{Appended, Lease};

/// How long a driver may be silent before another one may take its thread.
const LEASE: Duration = Duration::from_secs(30);
pub(super) fn spawn(agent: Arc<Inner>, thread: &str, input: Option<String>, events: EventSender) -> Run {
    let cancel = CancellationToken::new();
    let first = Mutex::new(Some(events.subscribe()));
    let from = Arc::new(OnceLock::new());
    let store = Arc::clone(&agent.store);
    let done = CancellationToken::new();
    let guard = done.clone().drop_guard();
    let driving = drive(agent, thread.to_owned(), input, events.clone(), cancel.clone(), Arc::clone(&from));
    let task = tokio::spawn(async move {
        let _guard = guard;
        driving.await
    });
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
    let owner = format!("{}-{:p}", std::process::id(), Arc::as_ptr(&from));
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
        let (budget, entries) = BudgetHandle::new(state.rows);
        let deadline = in_future(agent.budgets.wall_clock());
        let last_text = if input.is_none() { last_words(&state) } else { String::new() };
        let mut driver = Driver {
            agent: Arc::clone(&agent),
            thread,
            state,
            events,
            lease: lease.clone(),
            renewed: Instant::now(),
            budget,
            entries,
            cancel,
            deadline,
            facts: Vec::new(),
            artifacts: Vec::new(),
            last_text,
            structured: None,
            repairs: 0,
            fatal: None,
        };
        driver.run(input).await
    }
    .await;
    agent.store.release(&lease).await?;
    outcome
}

struct Driver {
    agent: Arc<Inner>,
    thread: String,
    state: State,
    events: EventSender,
    lease: Lease,
    renewed: Instant,
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
        let why = match self.work().await {
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
        // A conflict means that somebody else owns the log now: nothing more is written to it.
        if self.fatal.as_ref().is_some_and(|e| e.kind() == ErrorKind::Conflict) {
            return Err(self
                .fatal
                .take()
                .unwrap_or_else(|| Error::new(ErrorKind::Conflict, "the log has moved on")));
        }
        self.answer_open_calls().await?;
        self.append(Fact::RunEnded { why: why.clone() }).await?;
        let agent = Arc::clone(&self.agent);
        for middleware in &agent.middleware {
            middleware.after_run(&self.state).await?;
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
    async fn answer_open_calls(&mut self) -> Result<()> {
        let open: Vec<String> =
            self.state.calls.iter().filter(|c| c.status != CallStatus::Done).map(|c| c.key.clone()).collect();
        for key in open {
            let text = "Not run: the run ended before.".to_owned();
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
        if self.renewed.elapsed() > LEASE / 3 {
            if !self.agent.store.renew(&self.lease, LEASE).await? {
                return Err(Error::new(
                    ErrorKind::Conflict,
                    "the lease of this thread was lost to somebody else",
                ));
            }
            self.renewed = Instant::now();
        }
        let record = FactRecord { seq: self.state.seq + 1, at_ms: crate::store::now_ms(), fact };
        match self.agent.store.append(&self.thread, self.state.seq, vec![record.clone()]).await? {
            Appended::At(_) => {}
            Appended::Conflict(actual) => {
                return Err(Error::new(ErrorKind::Conflict, "somebody else wrote to this thread meanwhile")
                    .with("expected", self.state.seq)
                    .with("actual", actual));
            }
        }
        self.state.apply(&record)?;
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
