//! What the thread already holds: every call that was answered, with its observation. The planner keeps
//! nothing itself, so it works on a thread that another process began.

use std::collections::BTreeMap;

use dbagent_core::json::{Json, JsonLimits};
use dbagent_core::model::{Message, ToolCall};
use serde_json::Value;

/// What came back from a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Observation {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

/// A call the planner wants answered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
}

impl Call {
    pub(crate) fn new(tool: &'static str, arguments: Value) -> Self {
        Self { tool, arguments }
    }

    pub(crate) fn to_tool_call(&self) -> ToolCall {
        ToolCall::new(self.tool, self.arguments.to_string())
    }

    fn key(&self) -> String {
        key(self.tool, &self.arguments)
    }
}

/// The same call has the same key however its arguments were spaced.
fn key(tool: &str, arguments: &Value) -> String {
    format!("{tool} {arguments}")
}

/// The answered calls of a thread.
#[derive(Debug, Clone, Default)]
pub(crate) struct Knowledge {
    answered: BTreeMap<String, Observation>,
}

impl Knowledge {
    /// Reads the messages of a thread: answers follow the calls of a reply in their order, or carry an id.
    pub(crate) fn new(messages: &[Message]) -> Self {
        let mut answered = BTreeMap::new();
        let mut open: Vec<&ToolCall> = Vec::new();
        for message in messages {
            match message {
                Message::User { .. } => open.clear(),
                Message::Assistant(reply) => open = reply.calls.iter().collect(),
                Message::Tool(tool) => {
                    let by_id: Vec<usize> = open
                        .iter()
                        .enumerate()
                        .filter(|(_, c)| !c.id.is_empty() && c.id == tool.call_id)
                        .map(|(i, _)| i)
                        .collect();
                    let at = match by_id.as_slice() {
                        [only] => *only,
                        _ => 0,
                    };
                    if at >= open.len() {
                        continue;
                    }
                    let call = open.remove(at);
                    if let Ok(arguments) = Json::parse(&call.arguments, JsonLimits::default()) {
                        // A later answer to the same call is the newer one.
                        answered.insert(
                            key(&call.name, &arguments.to_value()),
                            Observation { text: tool.text.clone(), is_error: tool.is_error },
                        );
                    }
                }
            }
        }
        Self { answered }
    }

    /// The observation about a call, if it was made.
    pub(crate) fn get(&self, call: &Call) -> Option<&Observation> {
        self.answered.get(&call.key())
    }
}

#[cfg(test)]
mod tests {
    use dbagent_core::model::{AssistantMessage, ToolMessage};
    use serde_json::json;

    use super::*;

    fn tool(id: &str, text: &str) -> Message {
        Message::Tool(ToolMessage {
            call_id: id.into(),
            name: "query".into(),
            text: text.into(),
            is_error: false,
        })
    }

    fn call(id: &str, arguments: &str) -> ToolCall {
        ToolCall { id: id.into(), ..ToolCall::new("query", arguments) }
    }

    #[test]
    fn answers_find_their_calls_by_id_and_by_order() {
        let reply = |calls| Message::Assistant(AssistantMessage { calls, ..AssistantMessage::default() });
        let messages = [
            Message::user("?"),
            reply(vec![call("a", r#"{"statement": "1"}"#), call("b", r#"{"statement":"2"}"#)]),
            tool("b", "two"),
            tool("a", "one"),
            reply(vec![call("", r#"{"statement":"3"}"#), call("", r#"{"statement":"4"}"#)]),
            tool("", "three"),
            tool("", "four"),
        ];
        let known = Knowledge::new(&messages);
        for (statement, text) in [("1", "one"), ("2", "two"), ("3", "three"), ("4", "four")] {
            let found = known.get(&Call::new("query", json!({ "statement": statement })));
            assert_eq!(found.map(|o| o.text.as_str()), Some(text));
        }
        assert!(known.get(&Call::new("query", json!({ "statement": "5" }))).is_none());
    }
}
