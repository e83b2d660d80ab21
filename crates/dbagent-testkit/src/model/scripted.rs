//! A model that says what a test wrote down, in order.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dbagent_core::async_trait;
use dbagent_core::model::{
    Model, ModelError, ModelErrorKind, ModelEvent, ModelProfile, ModelRequest, ModelStream, Reply, ToolCall,
};
use futures_util::StreamExt as _;
use futures_util::stream;

use super::in_pieces;

/// A model that follows a script. Clones share the script, so a test keeps one and gives away another.
///
/// ```
/// use dbagent_testkit::model::{ScriptedModel, call};
///
/// let model = ScriptedModel::new()
///     .calls([call("list_objects", "{}")])
///     .reply_with(|request| {
///         // A closure sees the request, so the reply can depend on what the tools said.
///         assert_eq!(request.messages.len(), 3);
///         "There are two tables.".into()
///     });
/// // … give `model.clone()` to an agent, ask it, then:
/// assert_eq!(model.requests().len(), 0);
/// assert_eq!(model.left(), 2);
/// ```
#[derive(Clone)]
pub struct ScriptedModel {
    id: String,
    profile: ModelProfile,
    script: Arc<Mutex<Script>>,
}

#[derive(Default)]
struct Script {
    steps: VecDeque<Step>,
    ever_after: Option<Arc<Closure>>,
    requests: Vec<ModelRequest>,
}

type Closure = dyn Fn(&ModelRequest) -> Scripted + Send + Sync;

enum Step {
    Reply(Box<dyn FnOnce(&ModelRequest) -> Scripted + Send>),
    Events(Vec<Result<ModelEvent, ModelError>>),
    Fail(ModelError),
    Hang,
}

/// What a closure of a script answers with: a reply, made from a [`Reply`], a text or tool calls.
#[derive(Debug, Clone, PartialEq)]
pub struct Scripted(Reply);

impl From<Reply> for Scripted {
    fn from(reply: Reply) -> Self {
        Self(reply)
    }
}

impl From<&str> for Scripted {
    fn from(text: &str) -> Self {
        Self(Reply::text(text))
    }
}

impl From<String> for Scripted {
    fn from(text: String) -> Self {
        Self(Reply::text(text))
    }
}

impl From<Vec<ToolCall>> for Scripted {
    fn from(calls: Vec<ToolCall>) -> Self {
        Self(Reply::calls(calls))
    }
}

/// A tool call with these arguments, written as JSON: `call("query", r#"{"statement":"SELECT 1"}"#)` or
/// `call("query", serde_json::json!({"statement": "SELECT 1"}))`.
pub fn call(name: &str, arguments: impl fmt::Display) -> ToolCall {
    ToolCall::new(name, arguments.to_string())
}

impl Default for ScriptedModel {
    fn default() -> Self {
        Self::new()
    }
}

impl ScriptedModel {
    /// A model with an empty script: the first request is already one too many.
    pub fn new() -> Self {
        Self {
            id: "scripted".to_owned(),
            profile: ModelProfile::default(),
            script: Arc::new(Mutex::new(Script::default())),
        }
    }

    /// Sets the name under which it reports.
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// Sets what it claims to be able to do.
    pub fn with_profile(mut self, profile: ModelProfile) -> Self {
        self.profile = profile;
        self
    }

    /// Then: a reply of text.
    pub fn text(self, text: impl Into<String>) -> Self {
        self.reply(Reply::text(text))
    }

    /// Then: a reply that asks for these calls.
    pub fn calls(self, calls: impl IntoIterator<Item = ToolCall>) -> Self {
        self.reply(Reply::calls(calls.into_iter().collect()))
    }

    /// Then: this reply.
    pub fn reply(self, reply: Reply) -> Self {
        self.reply_with(move |_| Scripted(reply))
    }

    /// Then: the reply that the closure makes of the request. Assertions in it fail the test.
    pub fn reply_with(self, make: impl FnOnce(&ModelRequest) -> Scripted + Send + 'static) -> Self {
        self.step(Step::Reply(Box::new(make)))
    }

    /// Then: exactly these events. Without an `End` the reply is cut off.
    pub fn events(self, events: impl IntoIterator<Item = Result<ModelEvent, ModelError>>) -> Self {
        self.step(Step::Events(events.into_iter().collect()))
    }

    /// Then: this failure, before any event.
    pub fn fail(self, error: ModelError) -> Self {
        self.step(Step::Fail(error))
    }

    /// Then: a reply that never comes. It ends when the request is cancelled.
    pub fn hang(self) -> Self {
        self.step(Step::Hang)
    }

    /// Once the script is used up: the same closure for every further request.
    pub fn ever_after(self, make: impl Fn(&ModelRequest) -> Scripted + Send + Sync + 'static) -> Self {
        self.lock().ever_after = Some(Arc::new(make));
        self
    }

    /// The requests so far, in order.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.lock().requests.clone()
    }

    /// The last request so far.
    pub fn last_request(&self) -> Option<ModelRequest> {
        self.lock().requests.last().cloned()
    }

    /// How many steps of the script are left.
    pub fn left(&self) -> usize {
        self.lock().steps.len()
    }

    /// Asserts that every step of the script was used.
    ///
    /// # Panics
    /// When some are left.
    #[track_caller]
    pub fn assert_used_up(&self) {
        let script = self.lock();
        assert!(
            script.steps.is_empty(),
            "the script has {} steps left after {} requests",
            script.steps.len(),
            script.requests.len()
        );
    }

    fn step(self, step: Step) -> Self {
        self.lock().steps.push_back(step);
        self
    }

    fn lock(&self) -> MutexGuard<'_, Script> {
        // No closure runs under the lock, so a panic cannot leave it half changed.
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self, scripted: Scripted) -> ModelStream {
        let Scripted(mut reply) = scripted;
        if reply.model.is_empty() {
            reply.model.clone_from(&self.id);
        }
        in_pieces(reply)
    }
}

#[async_trait]
impl Model for ScriptedModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn profile(&self) -> ModelProfile {
        self.profile.clone()
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let (number, step, ever_after) = {
            let mut script = self.lock();
            script.requests.push(request.clone());
            (script.requests.len(), script.steps.pop_front(), script.ever_after.clone())
        };
        match step {
            Some(Step::Reply(make)) => Ok(self.finish(make(&request))),
            Some(Step::Events(events)) => Ok(stream::iter(events).boxed()),
            Some(Step::Fail(error)) => Err(error),
            Some(Step::Hang) => {
                request.cancel.cancelled().await;
                Err(ModelError::new(ModelErrorKind::Cancelled, "the request was cancelled"))
            }
            None => match ever_after {
                Some(make) => Ok(self.finish(make(&request))),
                None => Err(ModelError::new(
                    ModelErrorKind::InvalidRequest,
                    format!("the script has nothing for request {number}"),
                )
                .retryable(false)),
            },
        }
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let script = self.lock();
        f.debug_struct("ScriptedModel")
            .field("id", &self.id)
            .field("left", &script.steps.len())
            .field("requests", &script.requests.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use dbagent_core::model::{Finish, Message, drain};

    use super::*;

    async fn ask(model: &ScriptedModel) -> Result<(Reply, Vec<ModelEvent>), ModelError> {
        let mut events = Vec::new();
        let stream = model.stream(ModelRequest::new([Message::user("hi")])).await?;
        let reply = drain(stream, |event| events.push(event)).await?;
        Ok((reply, events))
    }

    #[tokio::test]
    async fn the_script_is_followed_in_order_and_then_ends() {
        let model = ScriptedModel::new().calls([call("count", "{}")]).text("done").with_id("m");
        let (first, _) = ask(&model).await.unwrap();
        assert_eq!((first.finish, first.calls.len(), first.model.as_str()), (Finish::ToolCalls, 1, "m"));
        assert_eq!(model.left(), 1);
        assert_eq!(ask(&model).await.unwrap().0.text, "done");
        model.assert_used_up();
        let error = ask(&model).await.unwrap_err();
        assert_eq!(error.message, "the script has nothing for request 3");
        assert!(!error.retryable, "a retry would use up the script of another step");
        assert_eq!(model.requests().len(), 3);
    }

    #[tokio::test]
    async fn replies_arrive_in_pieces() {
        let text = "a longer text with ümläuts";
        let model = ScriptedModel::new().text(text);
        let (reply, events) = ask(&model).await.unwrap();
        let pieces: Vec<_> = events
            .iter()
            .map(|e| match e {
                ModelEvent::TextDelta(t) => t.as_str(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert!(pieces.len() > 2);
        assert_eq!(pieces.concat(), text);
        assert_eq!(reply.text, text);
    }

    #[tokio::test]
    async fn a_stream_without_end_is_truncated() {
        let model = ScriptedModel::new().events([Ok(ModelEvent::TextDelta("half".into()))]);
        assert_eq!(ask(&model).await.unwrap_err().kind, ModelErrorKind::Truncated);
    }

    #[tokio::test]
    async fn closures_see_the_request_and_may_go_on_for_ever() {
        let model = ScriptedModel::new()
            .reply_with(|r| format!("{} message", r.messages.len()).into())
            .ever_after(|_| vec![call("again", "{}")].into());
        assert_eq!(ask(&model).await.unwrap().0.text, "1 message");
        for _ in 0..3 {
            assert_eq!(ask(&model).await.unwrap().0.calls[0].name, "again");
        }
    }

    #[tokio::test]
    #[should_panic(expected = "1 steps left after 0 requests")]
    async fn what_was_not_used_is_noticed() {
        ScriptedModel::new().text("never asked").assert_used_up();
    }

    #[tokio::test]
    async fn a_hanging_model_ends_with_the_request() {
        let model = ScriptedModel::new().hang();
        let request = ModelRequest::new([Message::user("hi")]);
        request.cancel.cancel();
        let error = model.stream(request).await.err().unwrap();
        assert_eq!(error.kind, ModelErrorKind::Cancelled);
    }
}
