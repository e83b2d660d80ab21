//! For models that cannot call tools: the tools are written into the prompt, and the model answers with
//! one JSON object per turn. Everything behind it is the same road.

use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};
use serde_json::json;

use super::{
    AssistantMessage, Finish, Message, Model, ModelError, ModelErrorKind, ModelEvent, ModelProfile,
    ModelRequest, ModelStream, OutputMode, Reply, ToolCall, drain,
};
use crate::json::{Json, JsonLimits};
use crate::tool::ToolSpec;

/// A model that calls tools by writing `{"tool": …, "args": …}` or `{"answer": …}`.
pub struct JsonActions {
    inner: Arc<dyn Model>,
}

impl JsonActions {
    /// Wraps a model whose profile says `actions = json`.
    pub fn new(inner: Arc<dyn Model>) -> Self {
        Self { inner }
    }
}

/// What one reply means.
enum Action {
    Call(ToolCall),
    Answer(String),
}

#[async_trait]
impl Model for JsonActions {
    fn id(&self) -> &str {
        self.inner.id()
    }

    fn profile(&self) -> ModelProfile {
        ModelProfile { parallel_calls: false, schema_with_tools: false, ..self.inner.profile() }
    }

    async fn stream(&self, mut request: ModelRequest) -> Result<ModelStream, ModelError> {
        if request.tools.is_empty() {
            let acted = request.messages.iter().any(|m| match m {
                Message::Assistant(a) => !a.calls.is_empty(),
                Message::Tool(_) => true,
                Message::User { .. } => false,
            });
            request.messages = flatten(&request.messages);
            if !acted {
                return self.inner.stream(request).await;
            }
            return self.last_words(request).await;
        }
        let tools = std::mem::replace(&mut request.tools, Arc::from([]));
        let mut system: Vec<String> = request.system.to_vec();
        system.push(instructions(&tools));
        request.system = system.into();
        request.messages = flatten(&request.messages);
        if self.inner.profile().json_schema {
            request.output =
                OutputMode::JsonSchema { name: "action".into(), schema: Arc::new(schema(&tools)) };
        }
        let mut notes = Vec::new();
        let first = drain(self.inner.stream(request.clone()).await?, |e| notes.push(e)).await?;
        let mut reply = match read(&first.text) {
            Ok(action) => finish(first, action),
            Err(problem) => {
                // One repair: the model sees what it wrote and what is wrong with it.
                let mut messages: Vec<Message> = request.messages.to_vec();
                messages.push(Message::Assistant(AssistantMessage {
                    text: first.text.clone(),
                    ..AssistantMessage::default()
                }));
                messages.push(Message::user(format!(
                    "That was not one JSON object as required: {problem}. Reply with exactly one JSON object and nothing else."
                )));
                request.messages = messages.into();
                let mut second = drain(self.inner.stream(request).await?, |e| notes.push(e)).await?;
                second.usage.add(&first.usage);
                match read(&second.text) {
                    Ok(action) => finish(second, action),
                    Err(problem) => {
                        return Err(ModelError::new(
                            ModelErrorKind::Decode,
                            format!("the model does not write actions as JSON ({problem}); a model that can call tools is needed"),
                        )
                        .with_body(&second.text));
                    }
                }
            }
        };
        reply.finish = if reply.calls.is_empty() { Finish::Stop } else { Finish::ToolCalls };
        Ok(replay(notes, reply))
    }
}

impl JsonActions {
    /// The tools were taken away from a model that has used them: it may go on in the form that it was asked
    /// for before, and the person must get the text of that.
    async fn last_words(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let output = request.output.clone();
        let mut notes = Vec::new();
        let mut reply = drain(self.inner.stream(request).await?, |e| notes.push(e)).await?;
        if reply.calls.is_empty()
            && let Some(action) = protocol(&reply.text, &output)
        {
            reply = finish(reply, action);
        }
        Ok(replay(notes, reply))
    }
}

/// What a reply without tools means, if it is one JSON object of the protocol and nothing else. A schema that
/// has such members itself is left alone.
fn protocol(text: &str, output: &OutputMode) -> Option<Action> {
    let text = text.trim();
    let inner = text
        .strip_prefix("```json")
        .or_else(|| text.strip_prefix("```"))
        .and_then(|t| t.strip_suffix("```"))
        .unwrap_or(text)
        .trim();
    if !inner.starts_with('{') || object_end(inner) != Some(inner.len()) {
        return None;
    }
    let json = Json::parse(inner, JsonLimits::default()).ok()?;
    let known = |key: &str| match output {
        OutputMode::Text => false,
        OutputMode::JsonSchema { schema, .. } => {
            schema.get("properties").is_some_and(|p| p.get(key).is_some())
        }
    };
    let ours = json
        .as_object()?
        .iter()
        .all(|(key, _)| matches!(key.as_str(), "answer" | "tool" | "args" | "arguments") && !known(key));
    if ours { read(inner).ok() } else { None }
}

/// The events of a reply that was read to its end. Text of the protocol is not text of the answer: of the
/// events on the way only notes about attempts and the reasoning are kept.
fn replay(notes: Vec<ModelEvent>, reply: Reply) -> ModelStream {
    let kept = notes.into_iter().filter(|e| {
        matches!(e, ModelEvent::Retrying { .. } | ModelEvent::FellBack { .. } | ModelEvent::ReasoningDelta(_))
    });
    let mut events: Vec<Result<ModelEvent, ModelError>> = kept.map(Ok).collect();
    if !reply.text.is_empty() {
        events.push(Ok(ModelEvent::TextDelta(reply.text.clone())));
    }
    events.push(Ok(ModelEvent::End(reply)));
    stream::iter(events).boxed()
}

fn finish(reply: Reply, action: Action) -> Reply {
    match action {
        Action::Call(call) => Reply { text: String::new(), calls: vec![call], ..reply },
        Action::Answer(text) => Reply { text, calls: Vec::new(), ..reply },
    }
}

fn instructions(tools: &[ToolSpec]) -> String {
    let mut text = String::from(
        "You can use tools. Reply with exactly one JSON object and nothing else:\n\
         {\"tool\": \"name\", \"args\": {…}} to use a tool, or {\"answer\": \"text\"} to answer.\n\
         The result of a tool comes in the next message. Tools:\n",
    );
    for tool in tools {
        // Writing to a String cannot fail.
        _ = writeln!(
            text,
            "- {}: {} Arguments (JSON schema): {}",
            tool.name, tool.description, tool.parameters
        );
    }
    text
}

fn schema(tools: &[ToolSpec]) -> serde_json::Value {
    let names: Vec<&str> = tools.iter().map(|t| t.name.as_str()).collect();
    json!({
        "type": "object",
        "properties": {
            "tool": {"type": "string", "enum": names},
            "args": {"type": "object"},
            "answer": {"type": "string"}
        }
    })
}

/// Turns calls and tool messages into plain text, since the server knows no tools.
fn flatten(messages: &[Message]) -> Arc<[Message]> {
    messages
        .iter()
        .map(|m| match m {
            Message::Assistant(a) if !a.calls.is_empty() => {
                let mut text = a.text.clone();
                for call in &a.calls {
                    let args = if call.arguments.trim().is_empty() { "{}" } else { call.arguments.as_str() };
                    if !text.is_empty() {
                        text.push('\n');
                    }
                    // Writing to a String cannot fail.
                    _ = write!(
                        text,
                        "{{\"tool\":{},\"args\":{args}}}",
                        serde_json::Value::from(call.name.as_str())
                    );
                }
                Message::Assistant(AssistantMessage { text, calls: Vec::new(), extras: a.extras.clone() })
            }
            Message::Tool(t) => Message::user(format!("Result of {}:\n{}", t.name, t.text)),
            other => other.clone(),
        })
        .collect()
}

/// Reads the action: the first JSON object in the text, whatever stands around it.
fn read(text: &str) -> Result<Action, String> {
    let start = text.find('{').ok_or("there is no JSON object in it")?;
    let from = text.get(start..).unwrap_or_default();
    let end = object_end(from).ok_or("the JSON object does not end")?;
    let json =
        Json::parse(from.get(..end).unwrap_or_default(), JsonLimits::default()).map_err(|e| e.to_string())?;
    match (json.get("tool").and_then(Json::as_str), json.get("answer")) {
        (Some(tool), _) if !tool.is_empty() => {
            let args = match json.get("args").or_else(|| json.get("arguments")) {
                Some(args) => args.to_string(),
                None => "{}".to_owned(),
            };
            Ok(Action::Call(ToolCall::new(tool, args)))
        }
        (_, Some(Json::String(answer))) => Ok(Action::Answer(answer.clone())),
        (_, Some(other)) => Ok(Action::Answer(other.to_string())),
        _ => Err("it has neither \"tool\" nor \"answer\"".into()),
    }
}

/// Where the object that starts the text ends, strings respected.
fn object_end(text: &str) -> Option<usize> {
    let (mut depth, mut string, mut escaped) = (0usize, false, false);
    for (i, b) in text.bytes().enumerate() {
        match b {
            _ if escaped => escaped = false,
            b'\\' if string => escaped = true,
            b'"' => string = !string,
            b'{' if !string => depth += 1,
            b'}' if !string => {
                depth -= 1;
                if depth == 0 {
                    return Some(i + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_read_from_whatever_surrounds_them() {
        match read("Sure!\n```json\n{\"tool\": \"query\", \"args\": {\"statement\": \"SELECT '}'\"}}\n```")
            .unwrap()
        {
            Action::Call(c) => assert_eq!(
                (c.name.as_str(), c.arguments.as_str()),
                ("query", r#"{"statement":"SELECT '}'"}"#)
            ),
            Action::Answer(_) => panic!(),
        }
        assert!(matches!(read("{\"answer\": \"42\"}").unwrap(), Action::Answer(a) if a == "42"));
        for text in ["no", "{\"x\":1}", "{\"tool\":\"a\"", "{\"tool\":\"a\",\"tool\":\"b\"}"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
