//! One reply of the model, and what it means for the run.

use std::sync::Arc;

use tracing::Instrument as _;

use super::{Driver, history};
use crate::context::CallContext;
use crate::error::Result;
use crate::event::{EventKind, EventSender};
use crate::fact::{Fact, RunEnd};
use crate::model::{Finish, ModelError, ModelErrorKind, ModelEvent, ModelRequest, OutputMode, Reply, drain};

/// How often an answer that does not fit its schema, or is empty, is asked for again.
const REPAIRS: u32 = 2;

impl Driver<'_> {
    /// Asks the model once and writes its reply.
    pub(super) async fn ask_model(&mut self, tools: bool) -> Result<Reply> {
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
        history::fit(&mut request, self.state.run.from, &agent.budgets, &profile);
        for middleware in &agent.middleware {
            middleware.before_model(&self.state, &mut request).await?;
        }
        let call = CallContext { deadline: self.deadline, cancel: self.cancel.clone() };
        let events = self.events.clone();
        let span = tracing::info_span!(
            "chat",
            gen_ai.operation.name = "chat",
            gen_ai.request.model = agent.model.id(),
            gen_ai.response.model = tracing::field::Empty,
            gen_ai.usage.input_tokens = tracing::field::Empty,
            gen_ai.usage.output_tokens = tracing::field::Empty,
            error.type = tracing::field::Empty,
        );
        let asking = call.bound("model", async {
            let stream = agent.model.stream(request).await?;
            drain(stream, |event| forward(&events, event)).await
        });
        let asked = asking.instrument(span.clone()).await;
        match &asked {
            Ok(Ok(reply)) => {
                span.record("gen_ai.response.model", reply.model.as_str());
                span.record("gen_ai.usage.input_tokens", reply.usage.input);
                span.record("gen_ai.usage.output_tokens", reply.usage.output);
            }
            Ok(Err(e)) => _ = span.record("error.type", e.kind.as_str()),
            Err(e) => _ = span.record("error.type", e.kind().as_str()),
        }
        let mut reply = asked??;
        let cost = || agent.price.map(|p| p.micros(&reply.usage));
        reply.usage.cost_micros = reply.usage.cost_micros.or_else(cost);
        agent.metrics.model(&reply.usage);
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
    pub(super) async fn after_reply(
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
            self.answer_open_calls("Not run: no tool calls were left in this run.").await?;
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

fn forward(events: &EventSender, event: ModelEvent) {
    match event {
        ModelEvent::TextDelta(text) => events.send(EventKind::TextDelta(text)),
        ModelEvent::ReasoningDelta(text) => events.send(EventKind::ReasoningDelta(text)),
        ModelEvent::Retrying { attempt, after, reason } => {
            events.send(EventKind::ModelRetrying { attempt, after, reason });
        }
        ModelEvent::FellBack { from, to, reason } => {
            events.send(EventKind::ModelFellBack { from, to, reason });
        }
        // Arguments are shown once the call is a fact; the end is one.
        ModelEvent::ArgumentsDelta { .. } | ModelEvent::End(_) => {}
    }
}
