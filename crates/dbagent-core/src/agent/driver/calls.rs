//! The calls of a turn: looked at, run several at once, written down one by one.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};

use tracing::Instrument as _;

use super::Driver;
use crate::artifact::Artifact;
use crate::context::in_future;
use crate::error::{Error, Result};
use crate::event::ProgressSender;
use crate::fact::{ArtifactFigures, Fact, RunEnd};
use crate::middleware::CallDecision;
use crate::model::ToolCall;
use crate::observe::host_text;
use crate::state::{CallRecord, CallStatus};
use crate::text::{counted, estimate_tokens, near_misses, thousands};
use crate::tool::{Arguments, Tool, ToolContext, ToolError, ToolHints, ToolOutput};

/// How long a call may go on after its deadline or its cancellation before it is dropped.
const GRACE: Duration = Duration::from_secs(3);
/// Tokens of a host tool's output; longer ones are refused with their size.
const MAX_TOOL_TOKENS: u64 = 20_000;
/// Attempts of a read-only tool that asks to be retried.
const TOOL_ATTEMPTS: u32 = 3;

impl Driver<'_> {
    /// Calls that were running when a process ended: reads run again, of others the outcome is unknown.
    pub(super) async fn recover(&mut self) -> Result<()> {
        let interrupted: Vec<CallRecord> = self
            .state
            .calls
            .iter()
            .filter(|c| matches!(c.status, CallStatus::Executing(_)))
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
    pub(super) async fn gate(&mut self) -> Result<Option<RunEnd>> {
        let received: Vec<CallRecord> =
            self.state.calls.iter().filter(|c| c.status == CallStatus::Received).cloned().collect();
        let agent = Arc::clone(&self.agent);
        // What the calls of earlier replies left of the run's own budget.
        let before = (self.state.run.calls as usize).saturating_sub(self.state.calls.len());
        let left = (agent.budgets.tool_calls as usize).saturating_sub(before);
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
            if index >= left {
                self.append(refuse(format!(
                    "Not run: the {} of this run are used up. Answer with what you have.",
                    counted(agent.budgets.tool_calls.into(), "tool call", "tool calls")
                )))
                .await?;
                continue;
            }
            let Some(tool) = self.tool(&call.call.name) else {
                let names: Vec<&str> = agent.tools.iter().map(|t| t.spec().name.as_str()).collect();
                let asked = shown_name(&call.call.name);
                let near = near_misses(&asked, names.iter().copied(), 1);
                let near = near.first().map(|n| format!(" Did you mean {n}?")).unwrap_or_default();
                self.append(refuse(format!(
                    "There is no tool {asked:?}.{near} Tools: {}.",
                    names.join(", ")
                )))
                .await?;
                continue;
            };
            match self.decide(&call.call, &tool.spec().hints).await {
                CallDecision::Run => match self.check_arguments(&*tool, &call.call.arguments) {
                    Ok(()) => {
                        self.append(Fact::CallReady {
                            key: call.key.clone(),
                            arguments: call.call.arguments.clone(),
                        })
                        .await?;
                    }
                    Err(text) => self.append(refuse(text)).await?,
                },
                CallDecision::Rewrite(arguments) => match self.check_arguments(&*tool, &arguments) {
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
                    self.answer_open_calls(&format!("Not run: the run was stopped: {reason}.")).await?;
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
    pub(super) async fn execute(&mut self, keys: Vec<String>) -> Result<()> {
        let mut waiting = keys.into_iter();
        let mut running = FuturesUnordered::new();
        let mut fatal = None;
        loop {
            while running.len() < self.agent.budgets.parallel_calls
                && fatal.is_none()
                && self.check_time().is_ok()
            {
                let Some(key) = waiting.next() else { break };
                let Some(call) = self.state.find_call(&key).cloned() else { continue };
                let Some(tool) = self.tool(&call.call.name) else {
                    let text =
                        format!("Not run: there is no tool {:?} any more.", shown_name(&call.call.name));
                    self.append(Fact::CallFinished { key, text, is_error: true, artifact: None }).await?;
                    continue;
                };
                self.append(Fact::CallBegun { key: key.clone(), attempt: 1 }).await?;
                let span = tracing::info_span!(
                    "execute_tool",
                    gen_ai.operation.name = "execute_tool",
                    gen_ai.tool.name = tool.spec().name,
                    gen_ai.tool.call.id = key,
                );
                running.push(run_call(tool, self.context(&key, &call), call).instrument(span));
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

    /// Checks arguments against the tool's schema, so that every tool gives the same feedback.
    fn check_arguments(&self, tool: &dyn Tool, raw: &str) -> std::result::Result<(), String> {
        let name = &tool.spec().name;
        let checked = Arguments::parse(raw).and_then(|arguments| match self.agent.schemas.get(name) {
            Some(schema) => schema.check(&arguments),
            None => Ok(()),
        });
        checked.map_err(|e| {
            format!(
                "ERROR (invalid_request).\n{}\nWrite the arguments of {name} as one JSON object that fits its schema, and \
                 call again.",
                crate::observe::framed(&e.0, 500),
            )
        })
    }

    fn context(&self, key: &str, call: &CallRecord) -> ToolContext {
        let hints = self.tool(&call.call.name).map(|t| t.spec().hints).unwrap_or_default();
        let deadline = hints.timeout.map_or(self.deadline, |t| self.deadline.min(in_future(t)));
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
        // The core's own tools escape what comes from a database, cell by cell; what hosts write is not trusted
        // with it.
        if !self.agent.setup.guarded.contains(&call.call.name) {
            output.text = host_text(&output.text);
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
        // What the call said of the budget before it was dropped comes before its end in the log.
        while let Ok(entry) = self.entries.try_recv() {
            self.append(entry.fact).await?;
            _ = entry.done.send(());
        }
        let figures = output.artifact.as_ref().map(figures);
        if let Some(artifact) = output.artifact {
            self.artifacts.keep(call.key.clone(), artifact);
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
}

/// A tool's name as the model wrote it, made fit to be shown.
fn shown_name(name: &str) -> String {
    crate::text::printable(&crate::text::shorten(name, 64))
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
        Artifact::NotKept(gone) => ArtifactFigures {
            kind: gone.kind.into(),
            statement: gone.statement.clone(),
            rows: gone.rows,
            ..ArtifactFigures::default()
        },
    }
}
