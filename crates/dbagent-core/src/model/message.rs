//! The conversation as the agent keeps it: our own types, with a map for provider fields.

use serde::{Deserialize, Serialize};

/// One message of a conversation. System text is not a message; it travels apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// What a person (or a parent agent) said.
    User {
        /// The text.
        text: String,
    },
    /// What the model replied.
    Assistant(AssistantMessage),
    /// The observation about one call.
    Tool(ToolMessage),
}

impl Message {
    /// A message of a person.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into() }
    }
}

/// A reply as part of the conversation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// The text; may be empty when there are calls.
    #[serde(default)]
    pub text: String,
    /// The calls, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// Provider fields to be sent back, where the model's profile says so.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub extras: serde_json::Map<String, serde_json::Value>,
}

/// A call that a model asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id. May be empty, repeated or very long: it is sent back, never used as a key.
    #[serde(default)]
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as the model wrote them; read only by [`Json::parse`](crate::json::Json::parse).
    pub arguments: String,
    /// Provider fields to be sent back with the call.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub extras: serde_json::Map<String, serde_json::Value>,
}

impl ToolCall {
    /// A call without a provider id.
    pub fn new(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self {
            id: String::new(),
            name: name.into(),
            arguments: arguments.into(),
            extras: serde_json::Map::new(),
        }
    }
}

/// The observation about one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolMessage {
    /// The provider's id of the call. Adapters pair by order when ids are empty or repeated.
    #[serde(default)]
    pub call_id: String,
    /// The tool's name.
    pub name: String,
    /// What the model reads.
    pub text: String,
    /// Whether the call failed.
    #[serde(default)]
    pub is_error: bool,
}
