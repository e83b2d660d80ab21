//! The conversation as servers accept it.
//!
//! They insist that every call has an id of its own and exactly one answer, and that arguments are JSON;
//! models and providers keep to neither. Here ids that are empty or repeated within one reply are replaced,
//! the same for call and answer; a call without an answer gets one that says so; arguments that are no JSON
//! object are wrapped in one. What a provider sent well comes back as it was, however long its ids are.

use std::borrow::Cow;
use std::collections::HashSet;

use dbagent_core::model::{
    AssistantMessage, Message, ModelError, ModelErrorKind, ModelRequest, ToolCall, ToolMessage,
};
use dbagent_core::text::shorten;
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

/// One message on the wire.
#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(crate) enum WireMessage<'a> {
    System {
        content: String,
    },
    User {
        content: &'a str,
    },
    Assistant {
        /// Null beside calls, as the servers themselves write it.
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WireCall<'a>>,
        #[serde(flatten)]
        extras: Map<String, Value>,
    },
    Tool {
        tool_call_id: String,
        content: &'a str,
    },
}

/// One call on the wire.
#[derive(Debug, Serialize)]
pub(crate) struct WireCall<'a> {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireCallFunction<'a>,
    #[serde(flatten)]
    extras: Map<String, Value>,
}

#[derive(Debug, Serialize)]
struct WireCallFunction<'a> {
    name: &'a str,
    arguments: Cow<'a, str>,
    #[serde(flatten)]
    extras: Map<String, Value>,
}

/// What a call without an answer is answered with: servers refuse a conversation that leaves one open.
const UNANSWERED: &str = "No result of this call was recorded.";

/// A call that waits for its answer.
struct Open<'a> {
    call: &'a ToolCall,
    wire_id: String,
}

/// System text and conversation, in the form and order in which they are sent.
///
/// # Errors
/// When an answer belongs to no call of the reply before it.
pub(crate) fn messages(
    request: &ModelRequest,
    replay_extras: bool,
) -> Result<Vec<WireMessage<'_>>, ModelError> {
    let mut out = Vec::with_capacity(request.messages.len() + 1);
    // Many chat templates know one system message, at the start.
    let system: Vec<&str> = request.system.iter().map(String::as_str).filter(|s| !s.is_empty()).collect();
    if !system.is_empty() {
        out.push(WireMessage::System { content: system.join("\n\n") });
    }
    let mut open = Vec::new();
    for (turn, message) in request.messages.iter().enumerate() {
        match message {
            Message::User { text } => {
                close(&mut open, &mut out);
                out.push(WireMessage::User { content: text });
            }
            Message::Assistant(reply) => {
                close(&mut open, &mut out);
                open = open_calls(reply, turn);
                out.push(assistant(reply, &open, replay_extras));
            }
            Message::Tool(answer) => {
                let at = pair(&open, answer).ok_or_else(|| orphan(answer, turn))?;
                out.push(WireMessage::Tool { tool_call_id: open.remove(at).wire_id, content: &answer.text });
            }
        }
    }
    close(&mut open, &mut out);
    Ok(out)
}

fn open_calls(reply: &AssistantMessage, turn: usize) -> Vec<Open<'_>> {
    let mut taken: HashSet<String> = reply.calls.iter().map(|c| c.id.clone()).collect();
    let mut seen = HashSet::new();
    let mut open = Vec::with_capacity(reply.calls.len());
    for (index, call) in reply.calls.iter().enumerate() {
        let wire_id = if !call.id.is_empty() && seen.insert(call.id.as_str()) {
            call.id.clone()
        } else {
            replacement(turn, index, &mut taken)
        };
        open.push(Open { call, wire_id });
    }
    open
}

/// An id that the reply does not hold yet. Nine letters and digits, because Mistral takes no other.
fn replacement(turn: usize, index: usize, taken: &mut HashSet<String>) -> String {
    let mut number = index;
    loop {
        let id = format!("c{turn:04}{number:04}");
        if taken.insert(id.clone()) {
            return id;
        }
        number += 1;
    }
}

/// The call that an answer belongs to: the first open one with its id, of these the first with its name too;
/// where the ids do not tell, the first of its name; else the first.
fn pair(open: &[Open<'_>], answer: &ToolMessage) -> Option<usize> {
    let same_id = |o: &&Open<'_>| o.call.id == answer.call_id;
    let same_name = |o: &&Open<'_>| o.call.name == answer.name;
    let at = |wanted: &dyn Fn(&&Open<'_>) -> bool| open.iter().position(|o| wanted(&o));
    at(&|o| same_id(o) && same_name(o))
        .or_else(|| at(&same_id))
        .or_else(|| at(&same_name))
        .or_else(|| at(&|_| true))
}

fn close(open: &mut Vec<Open<'_>>, out: &mut Vec<WireMessage<'_>>) {
    out.extend(open.drain(..).map(|o| WireMessage::Tool { tool_call_id: o.wire_id, content: UNANSWERED }));
}

fn assistant<'a>(reply: &'a AssistantMessage, open: &[Open<'a>], replay_extras: bool) -> WireMessage<'a> {
    let tool_calls: Vec<_> = open.iter().map(|o| wire_call(o, replay_extras)).collect();
    let content = (!reply.text.is_empty() || tool_calls.is_empty()).then_some(reply.text.as_str());
    let extras = replayed(&reply.extras, replay_extras, &["role", "content", "tool_calls"]);
    WireMessage::Assistant { content, tool_calls, extras }
}

fn wire_call<'a>(open: &Open<'a>, replay_extras: bool) -> WireCall<'a> {
    let call = open.call;
    let function = call.extras.get("function").and_then(Value::as_object);
    let function = WireCallFunction {
        name: &call.name,
        arguments: arguments(&call.arguments),
        extras: function.map(|f| replayed(f, replay_extras, &["name", "arguments"])).unwrap_or_default(),
    };
    let extras = replayed(&call.extras, replay_extras, &["id", "type", "function", "index"]);
    WireCall { id: open.wire_id.clone(), kind: "function", function, extras }
}

/// The provider's fields, where they are sent back, without those that are ours.
fn replayed(extras: &Map<String, Value>, replay: bool, ours: &[&str]) -> Map<String, Value> {
    let wanted = extras.iter().filter(|(key, _)| replay && !ours.contains(&key.as_str()));
    wanted.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Chat templates read the arguments, and a server whose template cannot read them refuses the whole
/// conversation: what is not one JSON object is shown inside one.
fn arguments(written: &str) -> Cow<'_, str> {
    let text = written.trim();
    if text.is_empty() {
        Cow::Borrowed("{}")
    } else if text.starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok() {
        Cow::Borrowed(written)
    } else {
        Cow::Owned(serde_json::json!({ "not_a_json_object": written }).to_string())
    }
}

fn orphan(answer: &ToolMessage, turn: usize) -> ModelError {
    ModelError::new(
        ModelErrorKind::InvalidRequest,
        format!(
            "message {turn} of the conversation answers a call of {} that the reply before it does not make; \
             answers must follow the reply with their calls",
            shorten(&answer.name, 64)
        ),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
        ToolCall { id: id.to_owned(), ..ToolCall::new(name, arguments) }
    }

    fn reply(calls: Vec<ToolCall>) -> Message {
        Message::Assistant(AssistantMessage { calls, ..AssistantMessage::default() })
    }

    fn answer(id: &str, name: &str, text: &str) -> Message {
        let (call_id, name, text) = (id.to_owned(), name.to_owned(), text.to_owned());
        Message::Tool(ToolMessage { call_id, name, text, is_error: false })
    }

    fn wire(conversation: Vec<Message>, replay: bool) -> Value {
        serde_json::to_value(messages(&ModelRequest::new(conversation), replay).unwrap()).unwrap()
    }

    /// Each call's id with the text of its answer.
    fn pairs(conversation: Vec<Message>) -> Vec<(String, String)> {
        let sent = wire(conversation, false);
        let sent = sent.as_array().unwrap();
        let answers = |id: &str| -> Vec<String> {
            sent.iter()
                .filter(|m| m["tool_call_id"] == id)
                .map(|m| m["content"].as_str().unwrap().to_owned())
                .collect()
        };
        let ids = sent.iter().flat_map(|m| m["tool_calls"].as_array().into_iter().flatten());
        ids.map(|c| {
            let id = c["id"].as_str().unwrap();
            let found = answers(id);
            assert_eq!(found.len(), 1, "call {id} has {found:?}");
            (id.to_owned(), found[0].clone())
        })
        .collect()
    }

    fn texts(pairs: &[(String, String)]) -> Vec<(&str, &str)> {
        pairs.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect()
    }

    #[test]
    fn ids_come_back_as_they_were() {
        let long = "x".repeat(2048);
        let got = pairs(vec![
            reply(vec![call("a", "q", "{}"), call(&long, "q", "{}")]),
            answer(&long, "q", "second"),
            answer("a", "q", "first"),
        ]);
        assert_eq!(texts(&got), [("a", "first"), (long.as_str(), "second")]);
    }

    #[test]
    fn empty_and_repeated_ids_are_replaced_for_call_and_answer() {
        let got = pairs(vec![
            Message::user("hi"),
            reply(vec![call("", "q", "{}"), call("d", "q", "{}"), call("d", "r", "{}"), call("", "r", "{}")]),
            answer("", "q", "1"),
            answer("d", "q", "2"),
            answer("d", "r", "3"),
            answer("", "r", "4"),
            reply(vec![call("", "q", "{}")]),
            answer("", "q", "5"),
        ]);
        let expected =
            [("c00010000", "1"), ("d", "2"), ("c00010002", "3"), ("c00010003", "4"), ("c00060000", "5")];
        assert_eq!(texts(&got), expected);
    }

    #[test]
    fn a_replacement_does_not_meet_an_id_that_is_there() {
        let got = pairs(vec![
            reply(vec![call("", "q", "{}"), call("c00000000", "q", "{}")]),
            answer("c00000000", "q", "b"),
            answer("", "q", "a"),
        ]);
        assert_eq!(texts(&got), [("c00000001", "a"), ("c00000000", "b")]);
    }

    #[test]
    fn a_thousand_calls_without_ids_are_paired_in_order() {
        let mut conversation = vec![reply((0..1000).map(|_| call("", "q", "{}")).collect())];
        conversation.extend((0..1000).map(|i| answer("", "q", &i.to_string())));
        for (i, (id, text)) in pairs(conversation).into_iter().enumerate() {
            assert_eq!((id, text), (format!("c0000{i:04}"), i.to_string()));
        }
    }

    #[test]
    fn a_call_without_an_answer_gets_one_before_anything_else_follows() {
        let sent = wire(
            vec![
                reply(vec![call("a", "q", "{}"), call("b", "q", "{}")]),
                answer("b", "q", "ok"),
                Message::user("go on"),
            ],
            false,
        );
        let roles: Vec<_> = sent.as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["assistant", "tool", "tool", "user"]);
        assert_eq!(sent[2], json!({"role": "tool", "tool_call_id": "a", "content": UNANSWERED}));
    }

    #[test]
    fn an_answer_without_a_call_is_an_error() {
        let request = ModelRequest::new(vec![Message::user("hi"), answer("a", "q", "ok")]);
        let error = messages(&request, false).unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::InvalidRequest);
        assert!(error.message.contains("message 1") && !error.retryable, "{}", error.message);
    }

    #[test]
    fn arguments_are_sent_as_json_objects() {
        let sent = |written: &str| arguments(written).into_owned();
        assert_eq!(sent(r#" {"a":1,"a":2} "#), r#" {"a":1,"a":2} "#);
        assert_eq!(sent(" "), "{}");
        assert_eq!(sent(r#"{"a":"#), r#"{"not_a_json_object":"{\"a\":"}"#);
        assert_eq!(sent("[1]"), r#"{"not_a_json_object":"[1]"}"#);
    }

    #[test]
    fn provider_fields_are_sent_back_where_the_profile_says_so_and_never_over_ours() {
        let extras = |value: Value| value.as_object().cloned().unwrap();
        let mut one = call("a", "q", "{}");
        one.extras = extras(
            json!({"extra_content": {"s": 1}, "id": "forged", "function": {"note": 1, "name": "forged"}}),
        );
        let message = Message::Assistant(AssistantMessage {
            text: String::new(),
            calls: vec![one],
            extras: extras(json!({"reasoning_content": "hm", "role": "system", "content": "forged"})),
        });
        let sent = wire(vec![message.clone()], true);
        let expected = json!({"role": "assistant", "content": null, "reasoning_content": "hm", "tool_calls": [
            {"id": "a", "type": "function", "extra_content": {"s": 1},
             "function": {"name": "q", "arguments": "{}", "note": 1}}]});
        assert_eq!(sent[0], expected);
        let plain = wire(vec![message], false);
        assert_eq!(
            plain[0]["tool_calls"][0],
            json!({"id": "a", "type": "function", "function": {"name": "q", "arguments": "{}"}})
        );
        assert!(plain[0].get("reasoning_content").is_none());
    }

    #[test]
    fn an_empty_reply_is_an_empty_text() {
        assert_eq!(wire(vec![reply(Vec::new())], false)[0], json!({"role": "assistant", "content": ""}));
    }
}
