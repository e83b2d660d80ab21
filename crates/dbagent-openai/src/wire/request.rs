//! The body of a request: the common ground of all servers, and a field more only where it is needed.

use dbagent_core::model::{Actions, ModelError, ModelProfile, ModelRequest, OutputMode};
use dbagent_core::tool::ToolSpec;
use serde::Serialize;
use serde_json::{Value, json};

use super::history::{WireMessage, messages};
use crate::provider::LimitField;

/// The body of `POST /chat/completions`.
#[derive(Debug, Serialize)]
pub(crate) struct ChatRequest<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    /// With its `byot` feature async-openai sends this only if we do.
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Debug, Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Debug, Serialize)]
struct WireTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireFunction<'a>,
}

#[derive(Debug, Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

impl<'a> ChatRequest<'a> {
    /// The body for one request.
    ///
    /// # Errors
    /// When the conversation holds an answer to a call that is not in it.
    pub(crate) fn new(
        model: &'a str,
        request: &'a ModelRequest,
        profile: &ModelProfile,
        limit_field: LimitField,
        stream: bool,
    ) -> Result<Self, ModelError> {
        // In JSON mode the core has written the tools into the prompt.
        let tools: Vec<_> = match profile.actions {
            Actions::Native => request.tools.iter().map(WireTool::of).collect(),
            Actions::Json => Vec::new(),
        };
        let schema_allowed = profile.json_schema && (tools.is_empty() || profile.schema_with_tools);
        let limit = request.max_output.or(profile.max_output);
        let limit_of = |field| limit.filter(|_| limit_field == field);
        Ok(Self {
            model,
            messages: messages(request, profile.replay_extras)?,
            parallel_tool_calls: (!tools.is_empty() && !profile.parallel_calls).then_some(false),
            response_format: if schema_allowed { response_format(&request.output) } else { None },
            tools,
            max_tokens: limit_of(LimitField::MaxTokens),
            max_completion_tokens: limit_of(LimitField::MaxCompletionTokens),
            temperature: request.temperature,
            stream,
            stream_options: stream.then_some(StreamOptions { include_usage: true }),
        })
    }
}

impl<'a> WireTool<'a> {
    fn of(spec: &'a ToolSpec) -> Self {
        let function =
            WireFunction { name: &spec.name, description: &spec.description, parameters: &spec.parameters };
        Self { kind: "function", function }
    }
}

fn response_format(output: &OutputMode) -> Option<Value> {
    let OutputMode::JsonSchema { name, schema } = output else { return None };
    let allowed = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let name: String = name.chars().take(64).map(allowed).collect();
    let name = if name.is_empty() { "answer" } else { &name };
    // `strict` stays out: servers refuse schemas that it does not cover, and the core checks every answer.
    Some(json!({ "type": "json_schema", "json_schema": { "name": name, "schema": **schema } }))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dbagent_core::model::Message;
    use dbagent_core::tool::ToolHints;

    use super::*;

    fn request() -> ModelRequest {
        let mut request = ModelRequest::new(vec![Message::user("hi")]);
        request.system = Arc::from(["one".to_owned(), "two".to_owned()]);
        request
    }

    fn with_tool() -> ModelRequest {
        let mut request = request();
        request.tools = Arc::from([ToolSpec {
            name: "query".to_owned(),
            description: "Runs a query.".to_owned(),
            parameters: Arc::new(json!({"type": "object"})),
            hints: ToolHints::READ_ONLY,
        }]);
        request
    }

    fn body(request: &ModelRequest, profile: &ModelProfile, field: LimitField, stream: bool) -> Value {
        serde_json::to_value(ChatRequest::new("m", request, profile, field, stream).unwrap()).unwrap()
    }

    #[test]
    fn a_plain_request_holds_nothing_more_than_it_needs() {
        let body = body(&request(), &ModelProfile::default(), LimitField::MaxTokens, false);
        let expected = json!({"model": "m", "stream": false, "messages": [
            {"role": "system", "content": "one\n\ntwo"}, {"role": "user", "content": "hi"}]});
        assert_eq!(body, expected);
    }

    #[test]
    fn a_stream_is_asked_for_with_its_usage() {
        let body = body(&request(), &ModelProfile::default(), LimitField::MaxTokens, true);
        assert_eq!(
            (&body["stream"], &body["stream_options"]),
            (&json!(true), &json!({"include_usage": true}))
        );
    }

    #[test]
    fn tools_go_along_unless_actions_are_json() {
        let mut profile = ModelProfile { parallel_calls: false, ..ModelProfile::default() };
        let native = body(&with_tool(), &profile, LimitField::MaxTokens, true);
        let tool = json!([{"type": "function", "function":
            {"name": "query", "description": "Runs a query.", "parameters": {"type": "object"}}}]);
        assert_eq!((&native["tools"], &native["parallel_tool_calls"]), (&tool, &json!(false)));
        profile.actions = Actions::Json;
        let json = body(&with_tool(), &profile, LimitField::MaxTokens, true);
        assert!(json.get("tools").is_none() && json.get("parallel_tool_calls").is_none());
    }

    #[test]
    fn limits_go_into_the_field_that_the_server_reads() {
        let mut request = request();
        request.max_output = Some(9);
        request.temperature = Some(0.1);
        let old = body(&request, &ModelProfile::default(), LimitField::MaxTokens, true);
        assert_eq!((&old["max_tokens"], old.get("max_completion_tokens")), (&json!(9), None));
        let new = body(&request, &ModelProfile::default(), LimitField::MaxCompletionTokens, true);
        assert_eq!((&new["max_completion_tokens"], new.get("max_tokens")), (&json!(9), None));
        let text = serde_json::to_string(
            &ChatRequest::new("m", &request, &ModelProfile::default(), LimitField::MaxTokens, true).unwrap(),
        );
        assert!(text.unwrap().contains(r#""temperature":0.1,"#));
        request.max_output = None;
        let profile = ModelProfile { max_output: Some(5), ..ModelProfile::default() };
        assert_eq!(body(&request, &profile, LimitField::MaxTokens, true)["max_tokens"], 5);
    }

    #[test]
    fn a_schema_is_sent_where_the_server_keeps_to_it() {
        let with_schema = |mut request: ModelRequest| {
            let schema = Arc::new(json!({"type": "object"}));
            request.output = OutputMode::JsonSchema { name: "the answer!".to_owned(), schema };
            request
        };
        let format = |request: &ModelRequest, profile: &ModelProfile| {
            body(request, profile, LimitField::MaxTokens, true).get("response_format").cloned()
        };
        let profile = ModelProfile::default();
        let expected = json!({"type": "json_schema", "json_schema":
            {"name": "the_answer_", "schema": {"type": "object"}}});
        assert_eq!(format(&with_schema(request()), &profile), Some(expected));
        assert_eq!(format(&with_schema(with_tool()), &profile), None);
        let both = ModelProfile { schema_with_tools: true, ..ModelProfile::default() };
        assert!(format(&with_schema(with_tool()), &both).is_some());
        let none = ModelProfile { json_schema: false, ..ModelProfile::default() };
        assert_eq!(format(&with_schema(request()), &none), None);
        let json = ModelProfile { actions: Actions::Json, ..ModelProfile::default() };
        assert!(format(&with_schema(with_tool()), &json).is_some());
    }
}
