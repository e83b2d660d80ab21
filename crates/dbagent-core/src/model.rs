//! Models: what the agent loop asks of them and what they send back.
//!
//! One primitive, [`Model::stream`]: a stream of events that ends in exactly one
//! [`ModelEvent::End`]. A stream that stops without it is [`ModelErrorKind::Truncated`], and [`drain`]
//! makes that impossible to miss. Retry and fallback are wrappers that are models themselves.

mod json_actions;
mod message;
mod retry;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_core::stream::BoxStream;
use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub use json_actions::JsonActions;
pub use message::{AssistantMessage, Message, ToolCall, ToolMessage};
pub use retry::{Fallback, Randomness, RetryPolicy, Retrying};

use crate::metrics::Price;
use crate::tool::ToolSpec;

/// A language model, or anything that answers like one. Object safe.
///
/// **Contract.** (1) The stream ends with one `End` or one error. (2) It observes the request's
/// cancellation and deadline. (3) Errors carry no credential. (4) Text from tools stays in tool messages.
#[async_trait]
pub trait Model: Send + Sync {
    /// The name under which usage is reported, such as `openai:gpt-5`.
    fn id(&self) -> &str;

    /// What the model can do; plain data.
    fn profile(&self) -> ModelProfile;

    /// Starts one reply.
    ///
    /// # Errors
    /// Everything that happened before the first event. Later errors are items of the stream.
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError>;
}

/// The events of one reply.
pub type ModelStream = BoxStream<'static, Result<ModelEvent, ModelError>>;

/// How a model asks for tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actions {
    /// Through its server's own tool calls.
    #[default]
    Native,
    /// By writing one JSON object per turn, for models that cannot call tools.
    Json,
}

/// What a model can do. Data, so that a new model needs no code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelProfile {
    /// Tokens that fit into one request; unknown when absent.
    pub window: Option<u64>,
    /// Most tokens of one reply; unknown when absent.
    pub max_output: Option<u64>,
    /// Whether it may ask for several tools in one reply.
    pub parallel_calls: bool,
    /// How it asks for tools.
    pub actions: Actions,
    /// Whether its server keeps to a JSON schema sent as `response_format`.
    pub json_schema: bool,
    /// Whether a JSON schema and tools may be sent together.
    pub schema_with_tools: bool,
    /// Whether provider fields of earlier replies (reasoning, signatures) are sent back.
    pub replay_extras: bool,
    /// Characters of ordinary text per token, for estimates.
    pub chars_per_token: f32,
    /// Whether it needs every message whole, as a planner does that reads results back: then no old result is
    /// shortened for it, and no turn left out.
    pub whole_history: bool,
    /// What its tokens cost; unknown when absent.
    pub price: Option<Price>,
}

impl Default for ModelProfile {
    fn default() -> Self {
        Self {
            window: None,
            max_output: None,
            parallel_calls: true,
            actions: Actions::Native,
            json_schema: true,
            schema_with_tools: false,
            replay_extras: false,
            chars_per_token: 4.0,
            whole_history: false,
            price: None,
        }
    }
}

/// What the reply should look like.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum OutputMode {
    /// Plain text.
    #[default]
    Text,
    /// One JSON value that fits the schema.
    JsonSchema {
        /// A short name for the schema.
        name: String,
        /// The schema.
        schema: Arc<serde_json::Value>,
    },
}

/// One request to a model. Owned, cheap to clone.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// Blocks of the system role, in order. Never holds data from a database.
    pub system: Arc<[String]>,
    /// The conversation.
    pub messages: Arc<[Message]>,
    /// The tools that may be called; empty means none may.
    pub tools: Arc<[ToolSpec]>,
    /// What the reply should look like.
    pub output: OutputMode,
    /// Most tokens of the reply.
    pub max_output: Option<u64>,
    /// Sampling temperature; the server's default when absent.
    pub temperature: Option<f32>,
    /// Fires when the run is cancelled.
    pub cancel: CancellationToken,
    /// When the reply must be complete.
    pub deadline: Option<Instant>,
}

impl ModelRequest {
    /// A request of these messages, without tools.
    pub fn new(messages: impl Into<Arc<[Message]>>) -> Self {
        Self {
            system: Arc::from([]),
            messages: messages.into(),
            tools: Arc::from([]),
            output: OutputMode::Text,
            max_output: None,
            temperature: None,
            cancel: CancellationToken::new(),
            deadline: None,
        }
    }
}

/// What arrives while a model replies.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    /// More text of the answer.
    TextDelta(String),
    /// More text of the model's reasoning, where its server shows it.
    ReasoningDelta(String),
    /// More of the arguments of the call with that index; for display only.
    ArgumentsDelta {
        /// Which call of this reply.
        index: usize,
        /// The text that was added.
        delta: String,
    },
    /// An attempt failed and another one starts; nothing of the failed one counts.
    Retrying {
        /// Number of the attempt that failed, from 1.
        attempt: u32,
        /// How long until the next one.
        after: Duration,
        /// Why the attempt failed, in one line.
        reason: String,
    },
    /// Another model takes over.
    FellBack {
        /// The model that failed.
        from: String,
        /// The model that takes over.
        to: String,
        /// Why, in one line.
        reason: String,
    },
    /// The reply is complete. Exactly one, and last.
    End(Reply),
}

/// Why a reply ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The model was done.
    Stop,
    /// The model wants its calls answered.
    ToolCalls,
    /// The reply hit its length limit.
    Length,
    /// The server's filter cut the reply.
    Filtered,
    /// A reason that has no name here.
    Other(String),
}

/// What a reply used, or several together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens read, cached ones included.
    pub input: u64,
    /// Of these, read from the server's cache.
    pub cached_input: u64,
    /// Tokens written to the server's cache.
    pub cache_write: u64,
    /// Tokens of the reply, reasoning included.
    pub output: u64,
    /// Of these, reasoning.
    pub reasoning: u64,
    /// Whether these are estimates, because the server said nothing.
    pub estimated: bool,
    /// What they cost, in millionths of the currency that the host's prices are in. Unknown when absent,
    /// which is not the same as 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
}

impl Usage {
    /// The beginning of a sum: nothing was used, and that costs nothing.
    pub const NOTHING: Usage = Usage {
        input: 0,
        cached_input: 0,
        cache_write: 0,
        output: 0,
        reasoning: 0,
        estimated: false,
        cost_micros: Some(0),
    };

    /// Both together. The cost of the sum is known only if that of each part is.
    pub fn add(&mut self, other: &Usage) {
        // Servers say what they like: a sum stops at the largest number there is.
        self.input = self.input.saturating_add(other.input);
        self.cached_input = self.cached_input.saturating_add(other.cached_input);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.output = self.output.saturating_add(other.output);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
        self.estimated |= other.estimated;
        self.cost_micros = self.cost_micros.zip(other.cost_micros).map(|(a, b)| a.saturating_add(b));
    }

    /// Input and output together.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// A complete reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The text; may be empty when there are calls.
    pub text: String,
    /// The calls, in order.
    pub calls: Vec<ToolCall>,
    /// Why it ended.
    pub finish: Finish,
    /// What it used. Its cost may be left out: the agent knows prices.
    pub usage: Usage,
    /// The model that answered, as its server names it.
    pub model: String,
    /// Provider fields to be sent back with this reply, where the profile says so.
    pub extras: serde_json::Map<String, serde_json::Value>,
}

impl Reply {
    /// A reply of text alone.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            calls: Vec::new(),
            finish: Finish::Stop,
            usage: Usage::default(),
            model: String::new(),
            extras: serde_json::Map::new(),
        }
    }

    /// A reply that asks for tools.
    pub fn calls(calls: Vec<ToolCall>) -> Self {
        Self { calls, finish: Finish::ToolCalls, ..Self::text("") }
    }
}

/// What kind of failure a model server had. Causes are documented on the variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// Too many requests, or a quota is used up (then `retry_after` is absent and retry is useless).
    RateLimited,
    /// The request does not fit the model's window.
    ContextOverflow,
    /// The key is missing, wrong, or lacks a right.
    Auth,
    /// The server does not accept the request as it is.
    InvalidRequest,
    /// No such model, or no such path on that server.
    NotFound,
    /// The server is overloaded or failed; also 408 and 409.
    Server,
    /// The connection failed.
    Transport,
    /// The server sent something that is not a reply.
    Decode,
    /// The stream stopped before the reply was complete.
    Truncated,
    /// The server's policy refused to answer.
    Refused,
    /// The deadline passed.
    Timeout,
    /// The caller cancelled.
    Cancelled,
}

impl ModelErrorKind {
    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RateLimited => "rate_limited",
            Self::ContextOverflow => "context_overflow",
            Self::Auth => "auth",
            Self::InvalidRequest => "invalid_request",
            Self::NotFound => "not_found",
            Self::Server => "server_error",
            Self::Transport => "transport",
            Self::Decode => "decode",
            Self::Truncated => "truncated",
            Self::Refused => "refused",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A failure of a model.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// What kind.
    pub kind: ModelErrorKind,
    /// What happened and what to do, for people; no credential, no long body.
    pub message: String,
    /// The HTTP status, where there was one.
    pub status: Option<u16>,
    /// What the server said, capped at 500 characters.
    pub body: Option<String>,
    /// How long the server asks to wait.
    pub retry_after: Option<Duration>,
    /// Whether the same request may succeed later.
    pub retryable: bool,
}

impl ModelError {
    /// A failure of that kind. Rate limits, server, transport and truncation count as retryable.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        let retryable = matches!(
            kind,
            ModelErrorKind::RateLimited
                | ModelErrorKind::Server
                | ModelErrorKind::Transport
                | ModelErrorKind::Truncated
        );
        Self { kind, message: message.into(), status: None, body: None, retry_after: None, retryable }
    }

    /// Keeps the HTTP status.
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Keeps what the server said; longer texts are shortened with a mark.
    pub fn with_body(mut self, body: &str) -> Self {
        self.body = Some(crate::text::shorten(body, 500));
        self
    }

    /// Overrides whether the same request may succeed later.
    pub fn retryable(mut self, retryable: bool) -> Self {
        self.retryable = retryable;
        self
    }
}

impl From<ModelError> for crate::Error {
    fn from(e: ModelError) -> Self {
        let kind = match e.kind {
            ModelErrorKind::Cancelled => crate::ErrorKind::Cancelled,
            ModelErrorKind::Timeout => crate::ErrorKind::Timeout,
            _ => crate::ErrorKind::Model,
        };
        let retry = if e.retryable { crate::Retry::Later } else { crate::Retry::Never };
        let mut error = crate::Error::new(kind, e.message.clone()).op("model").retry(retry);
        if let Some(status) = e.status {
            error = error.with("status", status);
        }
        error.source(e)
    }
}

/// Reads a stream to its end, handing every event but the last to `on_event`.
///
/// # Errors
/// The stream's own error, or [`ModelErrorKind::Truncated`] when it stops without an end.
pub async fn drain(
    mut stream: ModelStream,
    mut on_event: impl FnMut(ModelEvent),
) -> Result<Reply, ModelError> {
    while let Some(event) = stream.next().await {
        match event? {
            ModelEvent::End(reply) => return Ok(reply),
            event => on_event(event),
        }
    }
    Err(ModelError::new(
        ModelErrorKind::Truncated,
        "the model's stream stopped before its reply was complete",
    ))
}
