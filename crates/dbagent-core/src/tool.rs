//! Tools: what a model may call. The core makes the database's tools; hosts add their own.

mod args;
mod typed;

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub use args::{ArgumentError, Arguments};
pub(crate) use args::{ArgumentSchema, path};
pub use typed::{TypedTool, tool};

/// What a model is told about a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// What it does, when to use it and what comes back; written for a model.
    pub description: String,
    /// A JSON schema of the arguments (an object). Its keys are in a stable order.
    pub parameters: Arc<serde_json::Value>,
    /// What calls do. Absent hints mean the worst.
    pub hints: ToolHints,
}

/// What the calls of a tool do. **Absence means mutating and not repeatable.**
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolHints {
    /// Calls change nothing.
    pub read_only: bool,
    /// The same call twice is the same as once.
    pub idempotent: bool,
    /// Calls may destroy something.
    pub destructive: bool,
    /// Calls reach beyond this program and its databases.
    pub open_world: bool,
    /// Longest time of one call; the run's deadline when absent.
    pub timeout: Option<Duration>,
}

impl ToolHints {
    /// Changes nothing, may be repeated.
    pub const READ_ONLY: ToolHints =
        ToolHints { read_only: true, idempotent: true, destructive: false, open_world: false, timeout: None };
}

/// A tool. Object safe.
///
/// **Contract.** (1) `spec` never changes. (2) `call` observes cancellation and deadline of its context.
/// (3) Text of the output is at most what the host's limits allow; the agent refuses longer ones with
/// their size. (4) An error for the model holds no operator detail.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the model is told.
    fn spec(&self) -> &ToolSpec;

    /// Runs one call.
    ///
    /// # Errors
    /// See [`ToolError`]: most failures are for the model.
    async fn call(&self, context: &ToolContext, arguments: Arguments) -> Result<ToolOutput, ToolError>;
}

/// What a call knows of the run it is part of.
#[derive(Clone)]
pub struct ToolContext {
    /// The thread.
    pub thread: String,
    /// Our key of the call within its thread, such as `t3c1`. With the thread it is an idempotency key.
    pub key: String,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// Fires when the run is cancelled.
    pub cancel: CancellationToken,
    /// When the call must be done.
    pub deadline: Instant,
    /// Rows and tokens that may still be used.
    pub budget: crate::budget::BudgetHandle,
    /// Counters that the caller reads.
    pub metrics: crate::metrics::SessionMetrics,
    /// Progress to whoever watches.
    pub progress: crate::event::ProgressSender,
    /// Objects that the host put there by type.
    pub host: HostObjects,
}

/// Objects of the host, by type, for its own tools.
#[derive(Clone, Default)]
pub struct HostObjects(Arc<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl HostObjects {
    /// The same objects and one more; an earlier one of the same type is replaced.
    pub fn with<T: Any + Send + Sync>(&self, object: Arc<T>) -> Self {
        let mut map = (*self.0).clone();
        map.insert(TypeId::of::<T>(), object);
        Self(Arc::new(map))
    }

    /// The object of that type.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.0.get(&TypeId::of::<T>()).and_then(|o| Arc::clone(o).downcast().ok())
    }
}

/// Put among the host's objects where traces may hold the text of statements.
pub(crate) struct TraceContent;

/// What a call gives back.
#[derive(Debug, Clone, Default)]
pub struct ToolOutput {
    /// What the model reads.
    pub text: String,
    /// Whether the call failed in a way the model should mend.
    pub is_error: bool,
    /// What the host gets beside it; never shown to the model.
    pub artifact: Option<crate::artifact::Artifact>,
}

impl ToolOutput {
    /// An output of text alone.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: false, artifact: None }
    }

    /// Feedback about a failure that the model can mend.
    pub fn feedback(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true, artifact: None }
    }

    /// The same output with something for the host.
    pub fn with_artifact(mut self, artifact: crate::artifact::Artifact) -> Self {
        self.artifact = Some(artifact);
        self
    }
}

/// Why a call has no output.
#[derive(Debug)]
pub enum ToolError {
    /// The model gets this text and goes on.
    ForModel(String),
    /// A read-only call may be tried again after this time; others become feedback.
    Retry {
        /// What happened, for the model if no attempt is left.
        message: String,
        /// When to try again.
        after: Duration,
    },
    /// The run ends with this error.
    Fatal(crate::Error),
}

impl From<crate::Error> for ToolError {
    /// What a model can mend is feedback; the rest ends the run.
    fn from(e: crate::Error) -> Self {
        if e.kind().is_mendable() { ToolError::ForModel(e.to_string()) } else { ToolError::Fatal(e) }
    }
}
