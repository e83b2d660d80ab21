//! What servers send back, read as leniently as they write: every field may be absent or null, `type`
//! defaults to a function, arguments are a text or an object, and what has no name here is kept.

use dbagent_core::model::{Finish, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A whole reply or one event of a stream; they differ in `message` and `delta` only.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Chunk {
    pub(crate) choices: Option<Vec<Choice>>,
    pub(crate) usage: Option<Value>,
    /// Groq's place for the usage of a stream.
    pub(crate) x_groq: Option<Value>,
    pub(crate) model: Option<Value>,
    pub(crate) error: Option<Value>,
    pub(crate) object: Option<Value>,
    pub(crate) message: Option<Value>,
    pub(crate) detail: Option<Value>,
}

impl Chunk {
    /// Whether this is an error instead of a part of a reply, although the status said 200.
    pub(crate) fn is_error(&self) -> bool {
        let object_says_so = self.object.as_ref().and_then(Value::as_str) == Some("error");
        let only_words = self.choices.is_none()
            && self.usage.is_none()
            && [&self.message, &self.detail].iter().any(|v| v.as_ref().is_some_and(Value::is_string));
        self.error.is_some() || object_says_so || only_words
    }

    /// The name that the server gives the model.
    pub(crate) fn model_name(&self) -> Option<&str> {
        self.model.as_ref().and_then(Value::as_str).filter(|name| !name.is_empty())
    }

    /// The usage, unless it is absent or all zero, which some servers send instead of nothing.
    pub(crate) fn usage(&self) -> Option<Usage> {
        let groq = self.x_groq.as_ref().and_then(|x| x.get("usage"));
        let usage = read_usage(self.usage.as_ref().or(groq)?);
        (usage.input + usage.output > 0).then_some(usage)
    }
}

fn read_usage(value: &Value) -> Usage {
    let read = |paths: &[&str]| {
        let number = |path: &&str| {
            let v = value.pointer(path)?;
            v.as_u64().or_else(|| v.as_f64().and_then(rounded))
        };
        paths.iter().find_map(number).unwrap_or(0)
    };
    Usage {
        input: read(&["/prompt_tokens", "/input_tokens"]),
        cached_input: read(&[
            "/prompt_tokens_details/cached_tokens",
            "/prompt_cache_hit_tokens",
            "/cached_tokens",
        ]),
        cache_write: read(&["/prompt_tokens_details/cache_write_tokens", "/cache_creation_input_tokens"]),
        output: read(&["/completion_tokens", "/output_tokens"]),
        reasoning: read(&["/completion_tokens_details/reasoning_tokens", "/reasoning_tokens"]),
        estimated: false,
        // Whoever configured the server knows its prices.
        cost_micros: None,
    }
}

/// Some servers count in floating point.
fn rounded(n: f64) -> Option<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
    (0.0..9e15).contains(&n).then(|| n.round() as u64)
}

/// One choice. We ask for one; some servers split that one over several.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Choice {
    pub(crate) delta: Option<Part>,
    pub(crate) message: Option<Part>,
    pub(crate) finish_reason: Option<FinishReason>,
    pub(crate) error: Option<Value>,
}

/// A message or a part of one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Part {
    pub(crate) content: Option<Content>,
    pub(crate) refusal: Option<Value>,
    pub(crate) tool_calls: Option<Vec<CallPart>>,
    /// Always the assistant.
    #[serde(rename = "role")]
    _role: Option<Value>,
    /// Fields of the provider: reasoning, signatures and whatever comes next.
    #[serde(flatten)]
    pub(crate) extras: Map<String, Value>,
}

/// Text, or a list of typed parts.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Content {
    Text(String),
    Parts(Vec<Value>),
    Other(Value),
}

/// A tool call or a part of one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CallPart {
    pub(crate) index: Option<Value>,
    pub(crate) id: Option<Value>,
    #[serde(rename = "type")]
    pub(crate) kind: CallKind,
    pub(crate) function: Option<FunctionPart>,
    #[serde(flatten)]
    pub(crate) extras: Map<String, Value>,
}

impl CallPart {
    pub(crate) fn index(&self) -> Option<u64> {
        let index = self.index.as_ref()?;
        index.as_u64().or_else(|| index.as_str()?.parse().ok())
    }

    /// The id as text; absent when empty.
    pub(crate) fn id(&self) -> Option<String> {
        text_of(self.id.as_ref()?).filter(|id| !id.is_empty())
    }
}

/// What kind of call it is.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Option<Value>")]
pub(crate) enum CallKind {
    #[default]
    Function,
    Other(String),
}

impl From<Option<Value>> for CallKind {
    fn from(value: Option<Value>) -> Self {
        match value.as_ref().and_then(text_of).as_deref() {
            None | Some("" | "function") => Self::Function,
            Some(other) => Self::Other(other.to_owned()),
        }
    }
}

/// The function of a call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FunctionPart {
    pub(crate) name: Option<Value>,
    /// Kept as written: arguments that are an object reach the reader of arguments with every key, also one
    /// that appears twice.
    pub(crate) arguments: Option<Box<RawValue>>,
    #[serde(flatten)]
    pub(crate) extras: Map<String, Value>,
}

impl FunctionPart {
    pub(crate) fn name(&self) -> Option<String> {
        text_of(self.name.as_ref()?).filter(|name| !name.is_empty())
    }

    /// The text of the arguments: of a string its content, of anything else its JSON.
    pub(crate) fn arguments(&self) -> Option<String> {
        let raw = self.arguments.as_ref()?.get();
        Some(serde_json::from_str::<String>(raw).unwrap_or_else(|_| raw.to_owned()))
    }
}

/// Why a choice ended. An empty reason says that it ended and not why.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "Value")]
pub(crate) enum FinishReason {
    Empty,
    /// The provider failed after it had begun.
    Error,
    Known(Finish),
}

impl From<Value> for FinishReason {
    fn from(value: Value) -> Self {
        let text = text_of(&value).unwrap_or_else(|| value.to_string());
        Self::Known(match text.to_ascii_lowercase().as_str() {
            "" => return Self::Empty,
            "error" => return Self::Error,
            "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" => Finish::Stop,
            "tool_calls" | "tool_call" | "function_call" | "tool_use" => Finish::ToolCalls,
            "length" | "max_tokens" | "model_length" => Finish::Length,
            "content_filter" | "safety" => Finish::Filtered,
            _ => Finish::Other(text),
        })
    }
}

/// A text, or a number as text.
pub(crate) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(text: &str) -> Chunk {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn every_field_may_be_absent_or_null() {
        for text in [
            "{}",
            r#"{"choices":null,"usage":null,"model":null,"error":null}"#,
            r#"{"choices":[{}]}"#,
            r#"{"choices":[{"delta":null,"message":null,"finish_reason":null,"error":null}]}"#,
            r#"{"choices":[{"delta":{"role":null,"content":null,"refusal":null,"tool_calls":null}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":null,"id":null,"type":null,"function":null}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"function":{"name":null,"arguments":null}}]}}]}"#,
            r#"{"service_tier":"on_demand","created":"soon","id":7,"x_groq":null}"#,
        ] {
            assert!(!chunk(text).is_error(), "{text}");
        }
    }

    #[test]
    fn arguments_keep_what_was_written() {
        let part = |arguments: &str| {
            let text = format!(r#"{{"name":"q","arguments":{arguments}}}"#);
            serde_json::from_str::<FunctionPart>(&text).unwrap().arguments()
        };
        assert_eq!(part(r#""{\"a\":1}""#).unwrap(), r#"{"a":1}"#);
        assert_eq!(part(r#"{"a":1, "a":2}"#).unwrap(), r#"{"a":1, "a":2}"#);
        assert_eq!(part("12345678901234567890123").unwrap(), "12345678901234567890123");
        assert_eq!(part("null"), None);
    }

    #[test]
    fn finish_reasons() {
        let reason = |text: &str| serde_json::from_str::<Option<FinishReason>>(text).unwrap();
        assert_eq!(reason("null"), None);
        assert_eq!(reason("\"\""), Some(FinishReason::Empty));
        assert_eq!(reason("\"STOP\""), Some(FinishReason::Known(Finish::Stop)));
        assert_eq!(reason("\"error\""), Some(FinishReason::Error));
        assert_eq!(reason("\"Nap\""), Some(FinishReason::Known(Finish::Other("Nap".to_owned()))));
        assert_eq!(reason("7"), Some(FinishReason::Known(Finish::Other("7".to_owned()))));
    }

    #[test]
    fn usage_of_several_makes() {
        let usage = |text: &str| chunk(text).usage();
        let full = usage(
            r#"{"usage":{"prompt_tokens":10,"completion_tokens":5.0,"prompt_tokens_details":{"cached_tokens":4},
                "completion_tokens_details":{"reasoning_tokens":3}}}"#,
        );
        let expected =
            Usage { input: 10, cached_input: 4, cache_write: 0, output: 5, reasoning: 3, ..Usage::default() };
        assert_eq!(full, Some(expected));
        assert_eq!(
            usage(r#"{"x_groq":{"usage":{"prompt_tokens":1,"completion_tokens":2}}}"#).unwrap().output,
            2
        );
        assert_eq!(
            usage(
                r#"{"usage":{"prompt_tokens":3,"prompt_tokens_details":null,"prompt_cache_hit_tokens":2}}"#
            )
            .unwrap()
            .cached_input,
            2
        );
        assert_eq!(usage(r#"{"usage":{"prompt_tokens":0,"completion_tokens":0}}"#), None);
        assert_eq!(usage(r#"{"usage":"none"}"#), None);
    }
}
