//! Makes happen what `next` says: does the IO, appends the facts, decides nothing.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Inner;
use super::run::{Answer, Run};
use crate::artifact::Artifact;
use crate::budget::{BudgetHandle, Entry};
use crate::context::CallContext;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{EventKind, EventSender, ProgressSender};
use crate::fact::{ArtifactFigures, Fact, FactRecord, RunEnd};
use crate::middleware::CallDecision;
use crate::model::{
    Finish, ModelError, ModelErrorKind, ModelEvent, ModelRequest, OutputMode, Reply, ToolCall, drain,
};
use crate::state::{CallRecord, Next, State, next, over};
use crate::store::{Appended, Lease};
use crate::text::{estimate_tokens, near_misses, thousands};
use crate::tool::{Arguments, Tool, ToolContext, ToolError, ToolHints, ToolOutput};

/// How long a driver may be silent before another one may take its thread.
const LEASE: Duration = Duration::from_secs(30);
/// How long a call may go on after its deadline or its cancellation before it is dropped.
const GRACE: Duration = Duration::from_secs(3);
/// Tokens of a host tool's output; longer ones are refused with their size.
const MAX_TOOL_TOKENS: u64 = 20_000;
/// How often an answer that does not fit its schema, or is empty, is asked for again.
const REPAIRS: u32 = 2;
/// Attempts of a read-only tool that asks to be retried.
const TOOL_ATTEMPTS: u32 = 3;

pub(super) fn spawn(agent: Arc<Inner>, thread: &str, input: Option<String>, events: EventSender) -> Run {
    let cancel = CancellationToken::new();
    let first = Mutex::new(Some(events.subscribe()));
    let from = Arc::new(OnceLock::new());
    let store = Arc::clone(&agent.store);
    let task = tokio::spawn(drive(
        agent,
        thread.to_owned(),
        input,
        events.clone(),
        cancel.clone(),
        Arc::clone(&from),
    ));
    Run { thread: thread.to_owned(), events, store, cancel, first, from, task }
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
        let deadline = Instant::now() + agent.budgets.wall_clock();
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
            last_text: String::new(),
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
                Some(Next::Idle) | None => return Ok(RunEnd::Answered),
            }
        }
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

    /// Calls that were running when a process ended: reads run again, of others the outcome is unknown.
    async fn recover(&mut self) -> Result<()> {
        let interrupted: Vec<CallRecord> = self
            .state
            .calls
            .iter()
            .filter(|c| matches!(c.status, crate::state::CallStatus::Executing(_)))
            .cloned()
            .collect();
        for call in interrupted {
            let hints = self.tool(&call.call.name).map(|t| t.spec().hints).unwrap_or_default();
            let fact = if hints.read_only || hints.idempotent {
                Fact::CallReady { key: call.key, arguments: call.arguments }
            } else {
                Fact::CallFinished {
                    key: call.key,
                    text: "The process ended while this call was running. Its outcome is unknown: verify before repeating it."
                        .into(),
                    is_error: true,
                    artifact: None,
                }
            };
            self.append(fact).await?;
        }
        Ok(())
    }

    fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.agent.tools.iter().find(|t| t.spec().name == name).cloned()
    }

    /// Looks at each call that was received: known tool, readable arguments, middleware.
    async fn gate(&mut self) -> Result<Option<RunEnd>> {
        let received: Vec<CallRecord> = self
            .state
            .calls
            .iter()
            .filter(|c| c.status == crate::state::CallStatus::Received)
            .cloned()
            .collect();
        let agent = Arc::clone(&self.agent);
        for (index, call) in received.iter().enumerate() {
            let refuse = |text: String| Fact::CallFinished {
                key: call.key.clone(),
                text,
                is_error: true,
                artifact: None,
            };
            if index >= agent.budgets.calls_per_turn {
                self.append(refuse(format!(
                    "Not run: a reply may ask for at most {} calls. Ask again for what is still needed.",
                    agent.budgets.calls_per_turn
                )))
                .await?;
                continue;
            }
            let Some(tool) = self.tool(&call.call.name) else {
                let names: Vec<&str> = agent.tools.iter().map(|t| t.spec().name.as_str()).collect();
                let near = near_misses(&call.call.name, names.iter().copied(), 1);
                let near = near.first().map(|n| format!(" Did you mean {n}?")).unwrap_or_default();
                let asked = crate::text::shorten(&crate::text::printable(&call.call.name), 64);
                self.append(refuse(format!(
                    "There is no tool {asked:?}.{near} Tools: {}.",
                    names.join(", ")
                )))
                .await?;
                continue;
            };
            match self.decide(&call.call, &tool.spec().hints).await {
                CallDecision::Run => match check_arguments(&*tool, &call.call.arguments) {
                    Ok(()) => {
                        self.append(Fact::CallReady {
                            key: call.key.clone(),
                            arguments: call.call.arguments.clone(),
                        })
                        .await?;
                    }
                    Err(text) => self.append(refuse(text)).await?,
                },
                CallDecision::Rewrite(arguments) => match check_arguments(&*tool, &arguments) {
                    Ok(()) => self.append(Fact::CallReady { key: call.key.clone(), arguments }).await?,
                    Err(text) => self.append(refuse(text)).await?,
                },
                CallDecision::Skip(message) => self.append(refuse(message)).await?,
                CallDecision::Ask(reason) => {
                    self.append(refuse(format!(
                        "Not run: {reason}. It needs a person's approval, and nobody can be asked here."
                    )))
                    .await?;
                }
                CallDecision::Stop(reason) => {
                    for open in received.iter().skip(index) {
                        self.append(Fact::CallFinished {
                            key: open.key.clone(),
                            text: format!("Not run: the run was stopped: {reason}."),
                            is_error: true,
                            artifact: None,
                        })
                        .await?;
                    }
                    self.append(Fact::TurnClosed { turn: self.state.turn }).await?;
                    if self.last_text.is_empty() {
                        self.last_text = format!("Stopped: {reason}.");
                    }
                    return Ok(Some(RunEnd::Stopped(reason)));
                }
            }
        }
        Ok(None)
    }

    /// What the middleware says of a call. An error refuses it.
    async fn decide(&self, call: &ToolCall, hints: &ToolHints) -> CallDecision {
        let mut arguments: Option<String> = None;
        for middleware in &self.agent.middleware {
            let current = ToolCall {
                arguments: arguments.clone().unwrap_or_else(|| call.arguments.clone()),
                ..call.clone()
            };
            match middleware.on_call(&self.state, &current, hints).await {
                Ok(CallDecision::Run) => {}
                Ok(CallDecision::Rewrite(new)) => arguments = Some(new),
                Ok(other) => return other,
                Err(e) => {
                    tracing::warn!(middleware = middleware.name(), error = %e, "a hook failed; the call is refused");
                    return CallDecision::Skip(format!(
                        "Not run: a check of this program ({}) failed.",
                        middleware.name()
                    ));
                }
            }
        }
        arguments.map_or(CallDecision::Run, CallDecision::Rewrite)
    }

    /// Runs calls, several at once up to the limit; each begins and ends with a fact of its own.
    async fn execute(&mut self, keys: Vec<String>) -> Result<()> {
        let mut waiting = keys.into_iter();
        let mut running = FuturesUnordered::new();
        let mut fatal = None;
        loop {
            while running.len() < self.agent.budgets.parallel_calls
                && fatal.is_none()
                && !self.cancel.is_cancelled()
            {
                let Some(key) = waiting.next() else { break };
                let Some(call) = self.state.find_call(&key).cloned() else { continue };
                self.append(Fact::CallBegun { key: key.clone(), attempt: 1 }).await?;
                let Some(tool) = self.tool(&call.call.name) else { continue };
                running.push(run_call(tool, self.context(&key, &call), call));
            }
            if running.is_empty() {
                break;
            }
            tokio::select! {
                biased;
                Some(entry) = self.entries.recv() => {
                    self.append(entry.fact).await?;
                    // A call that was dropped meanwhile needs no word.
                    _ = entry.done.send(());
                }
                Some((call, result)) = running.next() => {
                    if let Err(e) = self.finish(&call, result).await? {
                        fatal = Some(e);
                    }
                }
            }
        }
        match fatal {
            Some(e) => Err(e),
            None => Ok(()),
        }
    }

    fn context(&self, key: &str, call: &CallRecord) -> ToolContext {
        let hints = self.tool(&call.call.name).map(|t| t.spec().hints).unwrap_or_default();
        let deadline = hints.timeout.map_or(self.deadline, |t| self.deadline.min(Instant::now() + t));
        ToolContext {
            thread: self.thread.clone(),
            key: key.to_owned(),
            attempt: 1,
            cancel: self.cancel.child_token(),
            deadline,
            budget: self.budget.for_call(key),
            metrics: self.agent.metrics.clone(),
            progress: ProgressSender::new(key, &self.events),
            host: self.agent.host.clone(),
        }
    }

    /// Writes the end of a call. The inner error ends the run.
    async fn finish(
        &mut self,
        call: &CallRecord,
        result: Result<ToolOutput, ToolError>,
    ) -> Result<Result<(), Error>> {
        let mut fatal = Ok(());
        let mut output = match result {
            Ok(output) => output,
            Err(ToolError::ForModel(text) | ToolError::Retry { message: text, .. }) => {
                ToolOutput::feedback(text)
            }
            Err(ToolError::Fatal(e)) => {
                let text = format!("The run ends: {}", e.kind());
                fatal = Err(e);
                ToolOutput::feedback(text)
            }
        };
        let agent = Arc::clone(&self.agent);
        for middleware in &agent.middleware {
            output = match middleware.after_call(&call.call, output).await {
                Ok(output) => output,
                Err(e) => {
                    tracing::warn!(middleware = middleware.name(), error = %e, "a hook failed; the output is withheld");
                    ToolOutput::feedback(format!(
                        "The output is withheld: a check of this program ({}) failed.",
                        middleware.name()
                    ))
                }
            };
        }
        let tokens = estimate_tokens(&output.text, 4.0);
        if tokens > MAX_TOOL_TOKENS {
            output.text = format!(
                "REFUSED: the output has about {} tokens, over the limit of {}. Nothing of it is shown; ask for less.",
                thousands(tokens),
                thousands(MAX_TOOL_TOKENS)
            );
            output.is_error = true;
        }
        let figures = output.artifact.as_ref().map(figures);
        if let Some(artifact) = output.artifact {
            self.artifacts.push((call.key.clone(), artifact));
        }
        self.append(Fact::CallFinished {
            key: call.key.clone(),
            text: output.text,
            is_error: output.is_error,
            artifact: figures,
        })
        .await?;
        Ok(fatal)
    }

    /// Asks the model once and writes its reply.
    async fn ask_model(&mut self, tools: bool) -> Result<Reply> {
        let agent = Arc::clone(&self.agent);
        let mut system = agent.system.to_vec();
        if !tools {
            system.push(
                "No tool calls are left in this run. Answer now with what you have, and say what is missing."
                    .to_owned(),
            );
        }
        let profile = agent.model.profile();
        let with_tools = tools && self.repairs == 0;
        let output = match &agent.output {
            Some(o) if !with_tools || agent.tools.is_empty() || profile.schema_with_tools => {
                OutputMode::JsonSchema { name: o.name().to_owned(), schema: Arc::clone(o.schema()) }
            }
            _ => OutputMode::Text,
        };
        let mut request = ModelRequest {
            system: system.into(),
            messages: self.state.messages.clone().into(),
            tools: if with_tools {
                agent.tools.iter().map(|t| t.spec().clone()).collect()
            } else {
                Arc::from([])
            },
            output,
            max_output: profile.max_output,
            temperature: agent.temperature,
            cancel: self.cancel.child_token(),
            deadline: Some(self.deadline),
        };
        for middleware in &agent.middleware {
            middleware.before_model(&self.state, &mut request).await?;
        }
        let call = CallContext { deadline: self.deadline, cancel: self.cancel.clone() };
        let events = self.events.clone();
        let reply = call
            .bound("model", async {
                let stream = agent.model.stream(request).await?;
                drain(stream, |event| forward(&events, event)).await
            })
            .await??;
        agent.metrics.model(&reply.usage, agent.price);
        self.append(Fact::ModelReplied {
            text: reply.text.clone(),
            calls: reply.calls.clone(),
            finish: reply.finish.clone(),
            usage: reply.usage,
            model: reply.model.clone(),
            extras: reply.extras.clone(),
        })
        .await?;
        Ok(reply)
    }

    /// What a reply means for the run: go on (`None`) or end.
    async fn after_reply(
        &mut self,
        reply: &Reply,
        tools: bool,
        over: Option<String>,
    ) -> Result<Option<RunEnd>> {
        if !reply.text.trim().is_empty() {
            self.last_text.clone_from(&reply.text);
        }
        if reply.finish == Finish::Filtered {
            return Err(ModelError::new(
                ModelErrorKind::Refused,
                "the model's server refused to answer this",
            )
            .into());
        }
        if !reply.calls.is_empty() {
            if tools {
                return Ok(None);
            }
            // Tools were taken away and it asks for them all the same.
            let open: Vec<String> = self.state.calls.iter().map(|c| c.key.clone()).collect();
            for key in open {
                let text = "Not run: no tool calls are left in this run.".to_owned();
                self.append(Fact::CallFinished { key, text, is_error: true, artifact: None }).await?;
            }
            self.append(Fact::TurnClosed { turn: self.state.turn }).await?;
            let what = over.unwrap_or_else(|| "tool calls".into());
            if self.last_text.is_empty() {
                self.last_text =
                    format!("The budget of this run ({what}) is used up before there was an answer.");
            }
            return Ok(Some(RunEnd::BudgetExhausted(what)));
        }
        if reply.text.trim().is_empty() {
            return self.repair("Your reply was empty. Answer the question in words.", "empty reply").await;
        }
        if reply.finish == Finish::Length {
            return Ok(Some(RunEnd::BudgetExhausted("the model's longest reply; the answer is cut".into())));
        }
        if let Some(output) = self.agent.output.clone() {
            match output.read(&reply.text) {
                Ok(value) => self.structured = Some(value),
                Err(problem) => {
                    let ask = format!(
                        "Give that answer as one JSON value that fits this schema, and nothing else: {}\nProblem: {problem}",
                        output.schema()
                    );
                    return self.repair(&ask, "answer does not fit the schema").await;
                }
            }
        }
        Ok(Some(over.map_or(RunEnd::Answered, |what| {
            if tools { RunEnd::Answered } else { RunEnd::BudgetExhausted(what) }
        })))
    }

    /// Asks again, a few times at most.
    async fn repair(&mut self, ask: &str, why: &str) -> Result<Option<RunEnd>> {
        self.repairs += 1;
        if self.repairs > REPAIRS {
            return Err(ModelError::new(
                ModelErrorKind::Decode,
                format!("the model gave no usable answer after {REPAIRS} repairs ({why})"),
            )
            .retryable(false)
            .into());
        }
        self.append(Fact::MessageInjected { text: ask.to_owned(), by: "dbagent".into() }).await?;
        Ok(None)
    }
}

/// Checks arguments against the tool's schema, so that every tool gives the same feedback.
fn check_arguments(tool: &dyn Tool, raw: &str) -> std::result::Result<(), String> {
    Arguments::parse(raw).map(|_| ()).map_err(|e| {
        format!(
            "ERROR (invalid_request).\n{}\nWrite the arguments of {} as one JSON object and call again.",
            crate::observe::framed(&e.0, 500),
            tool.spec().name
        )
    })
}

/// One call: time limit, panics and retries of reads handled here.
async fn run_call(
    tool: Arc<dyn Tool>,
    mut context: ToolContext,
    call: CallRecord,
) -> (CallRecord, std::result::Result<ToolOutput, ToolError>) {
    let arguments = match Arguments::parse(&call.arguments) {
        Ok(arguments) => arguments,
        Err(e) => return (call, Err(ToolError::ForModel(e.to_string()))),
    };
    loop {
        let attempt = AssertUnwindSafe(tool.call(&context, arguments.clone())).catch_unwind();
        let cancelled = async {
            context.cancel.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        let result = tokio::select! {
            biased;
            result = attempt => result.unwrap_or_else(|_| {
                Err(ToolError::ForModel(format!("The tool {} failed inside. Another call may work.", tool.spec().name)))
            }),
            () = tokio::time::sleep_until(context.deadline + GRACE) => {
                Err(ToolError::ForModel(format!("The tool {} ran past its time limit and was stopped.", tool.spec().name)))
            }
            () = cancelled => Err(ToolError::ForModel("The call was cancelled.".into())),
        };
        match result {
            Err(ToolError::Retry { after, .. })
                if tool.spec().hints.read_only && context.attempt < TOOL_ATTEMPTS =>
            {
                tokio::select! {
                    () = tokio::time::sleep(after) => {}
                    () = context.cancel.cancelled() => return (call, Err(ToolError::ForModel("The call was cancelled.".into()))),
                }
                context.attempt += 1;
            }
            result => return (call, result),
        }
    }
}

fn forward(events: &EventSender, event: ModelEvent) {
    match event {
        ModelEvent::TextDelta(text) => events.send(EventKind::TextDelta(text)),
        ModelEvent::ReasoningDelta(text) => events.send(EventKind::ReasoningDelta(text)),
        ModelEvent::Retrying { attempt, after, reason } => {
            events.send(EventKind::ModelRetrying { attempt, after, reason });
        }
        ModelEvent::FellBack { from, to, reason } => {
            events.send(EventKind::ModelFellBack { from, to, reason })
        }
        // Arguments are shown once the call is a fact; the end is one.
        ModelEvent::ArgumentsDelta { .. } | ModelEvent::End(_) => {}
    }
}

fn figures(artifact: &Artifact) -> ArtifactFigures {
    match artifact {
        Artifact::Rows(rows) => ArtifactFigures {
            kind: "rows".into(),
            statement: Some(rows.statement.clone()),
            rows: Some(rows.ending.rows),
            columns: rows.schema.fields().iter().map(|f| f.name().clone()).collect(),
            complete: Some(rows.ending.is_complete()),
        },
        Artifact::Plan { statement, .. } => ArtifactFigures {
            kind: "plan".into(),
            statement: Some(statement.clone()),
            ..ArtifactFigures::default()
        },
        Artifact::Objects(page) => ArtifactFigures {
            kind: "objects".into(),
            rows: Some(page.objects.len() as u64),
            ..ArtifactFigures::default()
        },
        Artifact::Descriptions(d) => ArtifactFigures {
            kind: "descriptions".into(),
            rows: Some(d.found.len() as u64),
            ..ArtifactFigures::default()
        },
        Artifact::Json(_) => ArtifactFigures { kind: "json".into(), ..ArtifactFigures::default() },
    }
}
