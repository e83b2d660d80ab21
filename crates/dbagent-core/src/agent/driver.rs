//! Makes happen what `next` says: does the IO, appends the facts, decides nothing.

mod artifacts;
mod calls;
mod history;
mod reply;

use std::hash::{BuildHasher as _, RandomState};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, OnceLock};

use futures_util::FutureExt as _;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use artifacts::Artifacts;

use super::Inner;
use super::inject::Voice;
use super::run::{Answer, Run};
use crate::budget::{BudgetHandle, Entry};
use crate::context::{CallContext, in_future};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{EventKind, EventSender};
use crate::fact::{Fact, FactRecord, RunEnd};
use crate::model::Message;
use crate::setup::{Setup, SetupChange};
use crate::state::{CallStatus, Next, State, next, over};
use crate::store::{Appended, LEASE, Lease, Store};

/// How a driver begins.
pub(super) enum Begin {
    /// With a question.
    Ask(String),
    /// Where an interrupted run stopped.
    Resume,
    /// By ending an interrupted run.
    Abandon,
}

pub(super) fn spawn(agent: Arc<Inner>, thread: &str, begin: Begin, events: EventSender) -> Run {
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
    // Reachable from here on, so that nobody who holds the run speaks into the void.
    let voice = agent.running.enter(thread);
    let sender = events.clone();
    let driving =
        drive(agent, thread.to_owned(), begin, events.clone(), cancel.clone(), Arc::clone(&from), voice);
    let task = tokio::spawn(
        async move {
            let _guard = guard;
            let outcome = driving.await;
            if let Err(e) = &outcome {
                // Whoever has seen the fact of the run's end does not look further.
                sender.send(EventKind::Failed { kind: e.kind(), message: e.to_string() });
            }
            outcome
        }
        .instrument(span),
    );
    Run { thread: thread.to_owned(), events, store, cancel, done, first, from, task }
}

/// One run from load to end, under a lease of its thread.
async fn drive(
    agent: Arc<Inner>,
    thread: String,
    begin: Begin,
    events: EventSender,
    cancel: CancellationToken,
    from: Arc<OnceLock<u64>>,
    mut voice: Voice,
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
        let last_text = if matches!(begin, Begin::Ask(_)) { String::new() } else { last_words(&state) };
        let mut driver = Driver {
            agent: Arc::clone(&agent),
            thread,
            state,
            events,
            budget,
            entries,
            cancel: cancel.clone(),
            deadline,
            voice: &mut voice,
            facts: Vec::new(),
            artifacts: Artifacts::new(agent.budgets.artifact_bytes),
            last_text,
            structured: None,
            repairs: 0,
            fatal: None,
            lost: false,
        };
        driver.run(begin).await
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

struct Driver<'a> {
    agent: Arc<Inner>,
    thread: String,
    state: State,
    events: EventSender,
    budget: BudgetHandle,
    entries: UnboundedReceiver<Entry>,
    cancel: CancellationToken,
    deadline: Instant,
    voice: &'a mut Voice,
    facts: Vec<Arc<FactRecord>>,
    artifacts: Artifacts,
    last_text: String,
    structured: Option<serde_json::Value>,
    repairs: u32,
    /// An error that ends the run although the log could go on.
    fatal: Option<Error>,
    /// Whether somebody else writes the log now.
    lost: bool,
}

impl Driver<'_> {
    async fn run(&mut self, begin: Begin) -> Result<Answer> {
        let abandon = matches!(begin, Begin::Abandon);
        self.begin(begin).await?;
        // A model, a hook or a store that panics ends its run like one that fails.
        let worked = if abandon {
            Ok(RunEnd::Cancelled)
        } else {
            AssertUnwindSafe(self.work()).catch_unwind().await.unwrap_or_else(|_| {
                Err(Error::new(ErrorKind::Internal, "a part of the agent failed inside")
                    .hint("the panic's own message is on standard error"))
            })
        };
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
        let usage = self.state.run.usage;
        self.append(Fact::RunEnded { why: why.clone(), usage: Some(usage) }).await?;
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
                artifacts: self.artifacts.take(),
                usage,
                facts: std::mem::take(&mut self.facts),
                end: why,
            }),
        }
    }

    /// Writes the beginning of a run, or finds out whether an interrupted one may go on.
    async fn begin(&mut self, begin: Begin) -> Result<()> {
        let interrupted = self.state.run.number > 0 && self.state.run.ended.is_none();
        let setup = self.agent.setup.clone();
        match begin {
            Begin::Ask(_) if interrupted => {
                Err(Error::new(ErrorKind::Conflict, "the last run of this thread has not ended")
                    .hint("resume or abandon it first, or ask on another thread"))
            }
            Begin::Ask(input) => {
                self.tell_changes();
                let run = self.state.run.number + 1;
                let fingerprint = setup.fingerprint();
                self.append(Fact::RunStarted { run, input, fingerprint, setup: Some(setup) }).await
            }
            Begin::Resume | Begin::Abandon if !interrupted => {
                Err(Error::new(ErrorKind::InvalidRequest, "there is no interrupted run on this thread"))
            }
            Begin::Resume => {
                let changes = self.changes();
                let touched = changes.iter().filter(|change| self.touches_open_calls(change));
                let touched: Vec<String> = touched.map(ToString::to_string).collect();
                if !touched.is_empty() {
                    return Err(Error::new(
                        ErrorKind::Config,
                        format!(
                            "a call of the interrupted run depends on what was changed: {}",
                            touched.join("; ")
                        ),
                    )
                    .op("resume")
                    .hint("resume with an agent that is made as before, or abandon the run and ask again"));
                }
                self.tell_changes();
                if self.state.run.setup.as_ref() == Some(&setup) {
                    return Ok(());
                }
                self.append(Fact::RunResumed { setup }).await
            }
            Begin::Abandon => Ok(()),
        }
    }

    /// What the agent is made of and the last run was not. Logs that do not say it cannot be compared.
    fn changes(&self) -> Vec<SetupChange> {
        self.state.run.setup.as_ref().map(|before| self.agent.setup.changes(before)).unwrap_or_default()
    }

    fn tell_changes(&self) {
        let changes = self.changes();
        if !changes.is_empty() {
            self.events.send(EventKind::SetupChanged { changes });
        }
    }

    /// A policy counts for a call that worked on a database before or would now.
    fn touches_open_calls(&self, change: &SetupChange) -> bool {
        let before = self.state.run.setup.iter().chain([&self.agent.setup]);
        let setups: Vec<&Setup> = before.collect();
        self.state
            .calls
            .iter()
            .filter(|c| c.status != CallStatus::Done)
            .any(|c| setups.iter().any(|s| s.touches(change, &c.call.name)))
    }

    /// Writes down what was said to the thread meanwhile; says whether there was anything.
    async fn listen(&mut self) -> Result<bool> {
        let mut heard = false;
        while let Some(said) = self.voice.try_hear() {
            self.append(Fact::MessageInjected { text: said.text, by: "host".into() }).await?;
            // Whoever gave up waiting needs no word.
            _ = said.written.send(());
            heard = true;
        }
        Ok(heard)
    }

    async fn work(&mut self) -> Result<RunEnd> {
        self.connect().await?;
        let agent = Arc::clone(&self.agent);
        for middleware in &agent.middleware {
            middleware.before_run(&self.state).await?;
        }
        loop {
            self.check_time()?;
            self.listen().await?;
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
                        // An answer that was written without what was said meanwhile is not the last word.
                        if !self.listen().await? || end != RunEnd::Answered {
                            return Ok(end);
                        }
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
