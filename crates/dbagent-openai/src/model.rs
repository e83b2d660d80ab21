//! The model: one request, one stream of events, one end.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_openai::Client;
use async_openai::error::OpenAIError;
use async_trait::async_trait;
use dbagent_core::model::{
    Model, ModelError, ModelErrorKind, ModelEvent, ModelProfile, ModelRequest, ModelStream, Reply,
};
use dbagent_core::text::estimate_tokens;
use dbagent_core::{Result, Secret};
use futures_util::{Stream, StreamExt as _, stream};
use serde_json::value::RawValue;

use crate::assemble::{Assembler, Form, Problem};
use crate::builder::OpenAiBuilder;
use crate::classify::Who;
use crate::client::{ServerConfig, gated};
use crate::limits::Limits;
use crate::listing::ListedModel;
use crate::provider::LimitField;
use crate::service::{Answer, Broken, Notes};
use crate::spec::ModelSpec;
use crate::wire::reply::Chunk;
use crate::wire::request::ChatRequest;

/// Longest wait for the usage once the server said that the reply is complete.
const GRACE: Duration = Duration::from_secs(2);

/// A language model behind a server that speaks OpenAI's chat completions. Cheap to clone.
///
/// An attempt is one attempt: wrap it in [`Retrying`](dbagent_core::model::Retrying) to ask again. A reply
/// ends only when its server said why it ended; a server that gives an empty reason is believed when its end
/// marker `[DONE]` follows a text or a call. Everything else that stops is
/// [`Truncated`](ModelErrorKind::Truncated).
///
/// # Examples
/// ```
/// use dbagent_openai::{ModelSpec, OpenAi};
///
/// let spec = ModelSpec::parse("ollama:qwen3:8b")?;
/// let model = OpenAi::from_spec(&spec, None)?; // a local server needs no key
/// # Ok::<(), dbagent_core::Error>(())
/// ```
#[derive(Clone)]
pub struct OpenAi {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) client: Client<ServerConfig>,
    pub(crate) who: Arc<Who>,
    pub(crate) model: String,
    pub(crate) limit_field: LimitField,
    pub(crate) profile: ModelProfile,
    pub(crate) stream: bool,
}

impl OpenAi {
    /// Begins a model.
    pub fn builder() -> OpenAiBuilder {
        OpenAiBuilder::default()
    }

    /// The model that a string names.
    ///
    /// # Errors
    /// [`ErrorKind::Config`](dbagent_core::ErrorKind::Config) when a key is needed and there is none, and as
    /// [`OpenAiBuilder::build`].
    pub fn from_spec(spec: &ModelSpec, key: Option<Secret>) -> Result<Self> {
        crate::builder::from_spec(spec, key)
    }

    /// The models that this model's server offers.
    ///
    /// # Errors
    /// As [`list_models`](crate::list_models).
    pub async fn models(&self) -> Result<Vec<ListedModel>, ModelError> {
        crate::listing::list(&self.inner.who, crate::listing::LIST_TIMEOUT).await
    }

    pub(crate) fn from_inner(inner: Inner) -> Self {
        Self { inner: Arc::new(inner) }
    }
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi")
            .field("id", &self.inner.who.id)
            .field("model", &self.inner.model)
            .field("endpoint", &self.inner.who.endpoint)
            .field("profile", &self.inner.profile)
            .field("stream", &self.inner.stream)
            .finish()
    }
}

#[async_trait]
impl Model for OpenAi {
    fn id(&self) -> &str {
        &self.inner.who.id
    }

    fn profile(&self) -> ModelProfile {
        self.inner.profile.clone()
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let inner = &*self.inner;
        let limits = Limits::of(&request);
        let notes = Notes::default();
        let body = ChatRequest::new(&inner.model, &request, &inner.profile, inner.limit_field, inner.stream)?;
        let client = gated(&inner.client, &inner.who.endpoint, inner.stream, &notes);
        let chat = client.chat();
        let input = input_estimate(&request, inner.profile.chars_per_token);
        let ending =
            Ending { who: Arc::clone(&inner.who), input, chars_per_token: inner.profile.chars_per_token };
        let stopped = |s: crate::limits::Stopped| s.error(&inner.who.id);
        tracing::debug!(model = %inner.who.id, stream = inner.stream, messages = request.messages.len(), "asking the model");
        if inner.stream {
            let started =
                limits.run(chat.create_stream_byot::<_, Box<RawValue>>(body)).await.map_err(stopped)?;
            match started {
                Ok(items) => Ok(Reading::new(items, notes, limits, ending).events()),
                Err(error) => match answer(&error) {
                    // A server that cannot stream answers with the whole reply.
                    Some(answer) if answer.status.is_success() => Ok(whole(&ending.whole_answer(answer)?)),
                    _ => Err(ending.error(&error)),
                },
            }
        } else {
            let reply = limits.run(chat.create_byot::<_, Box<RawValue>>(body)).await.map_err(stopped)?;
            let reply = reply.map_err(|e| match answer(&e) {
                Some(answer) if answer.status.is_success() => ending.not_a_reply(answer),
                _ => ending.error(&e),
            })?;
            Ok(whole(&ending.whole(reply.get())?))
        }
    }
}

/// The answer that the gate kept, if that is what failed.
fn answer(error: &OpenAIError) -> Option<&Answer> {
    match error {
        OpenAIError::Boxed(inner) => inner.downcast_ref::<Answer>(),
        _ => None,
    }
}

type Events = Vec<ModelEvent>;

/// The events of a reply that came at once.
fn whole(events: &Events) -> ModelStream {
    stream::iter(events.clone().into_iter().map(Ok)).boxed()
}

/// What is needed to end a reply or to say why it did not end.
struct Ending {
    who: Arc<Who>,
    input: u64,
    chars_per_token: f32,
}

impl Ending {
    fn whole_answer(&self, answer: &Answer) -> Result<Events, ModelError> {
        if answer.capped || serde_json::from_str::<&RawValue>(&answer.body).is_err() {
            return Err(self.not_a_reply(answer));
        }
        self.whole(&answer.body)
    }

    /// The events of a reply that came at once.
    fn whole(&self, body: &str) -> Result<Events, ModelError> {
        let mut assembler = Assembler::new(Form::Whole);
        let mut events = Vec::new();
        self.take(&mut assembler, body, &mut events)?;
        let reply = self.finish(assembler, false)?.ok_or_else(|| {
            self.who.not_a_reply("it holds no text, no call and no reason why it ended", body)
        })?;
        events.push(ModelEvent::End(reply));
        Ok(events)
    }

    fn take(
        &self,
        assembler: &mut Assembler,
        raw: &str,
        events: &mut impl Extend<ModelEvent>,
    ) -> Result<(), ModelError> {
        let chunk: Chunk = serde_json::from_str(raw)
            .map_err(|e| self.who.not_a_reply(&format!("it cannot be read: {e}"), raw))?;
        assembler.take(chunk, events).map_err(|_| self.who.failed(raw))
    }

    /// The reply, or nothing when it is not complete.
    fn finish(&self, assembler: Assembler, marker: bool) -> Result<Option<Reply>, ModelError> {
        match assembler.finish(marker, || self.input, self.chars_per_token) {
            Ok(reply) => Ok(Some(reply)),
            Err(Problem::Refused(words)) => Err(ModelError::new(
                ModelErrorKind::Refused,
                format!("{} refused to answer: {}", self.who.id, dbagent_core::text::shorten(&words, 300)),
            )
            .with_body(&words)),
            Err(Problem::Incomplete | Problem::Failed) => Ok(None),
        }
    }

    fn not_a_reply(&self, answer: &Answer) -> ModelError {
        let kind = if answer.content_type.is_empty() { "no content type" } else { &answer.content_type };
        let what = if answer.capped {
            format!("status {} and more than {} MiB", answer.status, crate::service::MAX_REPLY >> 20)
        } else {
            format!("status {} and {}", answer.status, dbagent_core::text::shorten(kind, 80))
        };
        self.who.not_a_reply(&what, &answer.body)
    }

    fn error(&self, error: &OpenAIError) -> ModelError {
        match error {
            OpenAIError::Reqwest(e) => self.who.unreachable(e),
            OpenAIError::Boxed(inner) => {
                match (inner.downcast_ref::<Answer>(), inner.downcast_ref::<reqwest::Error>()) {
                    (Some(answer), _) => self.who.refused(answer),
                    (_, Some(e)) => self.who.unreachable(e),
                    (None, None) => match inner.downcast_ref::<OpenAIError>() {
                        Some(OpenAIError::Reqwest(e)) => self.who.unreachable(e),
                        _ => self.who.not_a_reply("the request could not be made", ""),
                    },
                }
            }
            OpenAIError::JSONDeserialize(e, body) => {
                self.who.not_a_reply(&format!("it is not JSON: {e}"), body)
            }
            OpenAIError::StreamError(e) => self.who.not_a_reply(&e.to_string(), ""),
            OpenAIError::InvalidArgument(e) => {
                ModelError::new(ModelErrorKind::InvalidRequest, self.who.endpoint.hide(e))
            }
            _ => self.who.not_a_reply("the client could not read it", ""),
        }
    }

    fn truncated(&self, why: &str) -> ModelError {
        ModelError::new(
            ModelErrorKind::Truncated,
            format!(
                "the reply of {} stopped before it was complete: {}",
                self.who.id,
                self.who.endpoint.hide(why)
            ),
        )
    }
}

type Items = Pin<Box<dyn Stream<Item = Result<Box<RawValue>, OpenAIError>> + Send>>;

/// A stream that is being read.
struct Reading {
    items: Items,
    assembler: Option<Assembler>,
    ready: VecDeque<ModelEvent>,
    notes: Notes,
    limits: Limits,
    ending: Ending,
}

impl Reading {
    fn new(items: Items, notes: Notes, limits: Limits, ending: Ending) -> Self {
        let assembler = Some(Assembler::new(Form::Stream));
        Self { items, assembler, ready: VecDeque::new(), notes, limits, ending }
    }

    fn events(self) -> ModelStream {
        stream::unfold(self, |mut reading| async move {
            let event = reading.next().await?;
            if event.is_err() {
                reading.assembler = None;
                reading.ready.clear();
            }
            Some((event, reading))
        })
        .boxed()
    }

    /// The next event; nothing after the end or an error.
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            let finished = self.assembler.as_ref()?.is_finished();
            let item = match self.item(finished).await {
                Ok(item) => item,
                Err(error) => return Some(Err(error)),
            };
            match item {
                Some(Ok(raw)) => {
                    let assembler = self.assembler.as_mut()?;
                    if let Err(error) = self.ending.take(assembler, raw.get(), &mut self.ready) {
                        return Some(Err(error));
                    }
                }
                // What breaks after the reply was complete takes nothing from it.
                Some(Err(_)) if finished => return Some(self.end()),
                Some(Err(error)) => return Some(Err(self.broken(&error))),
                None => return Some(self.end()),
            }
        }
    }

    /// The next item. Once the reply is complete only its usage can follow, which is not waited for as long.
    async fn item(
        &mut self,
        finished: bool,
    ) -> Result<Option<Result<Box<RawValue>, OpenAIError>>, ModelError> {
        let next = self.items.next();
        if !finished {
            return self.limits.run(next).await.map_err(|s| s.error(&self.ending.who.id));
        }
        match self.limits.run(tokio::time::timeout(GRACE, next)).await {
            Ok(Ok(item)) => Ok(item),
            Ok(Err(_)) | Err(crate::limits::Stopped::Deadline) => Ok(None),
            Err(stopped) => Err(stopped.error(&self.ending.who.id)),
        }
    }

    fn end(&mut self) -> Result<ModelEvent, ModelError> {
        let assembler = self.assembler.take().ok_or_else(|| self.ending.truncated("it was read twice"))?;
        let finished = assembler.is_finished();
        if let Some(line) = self.notes.error_line().filter(|_| !finished) {
            return Err(self.ending.who.failed(&line));
        }
        match self.ending.finish(assembler, self.notes.done())? {
            Some(reply) => Ok(ModelEvent::End(reply)),
            None if self.notes.done() => Err(self.ending.truncated("the server gave no reason why it ended")),
            None => Err(self.ending.truncated("the server closed the stream")),
        }
    }

    fn broken(&self, error: &OpenAIError) -> ModelError {
        match self.notes.broken() {
            Some(Broken::Idle) => self.ending.who.idle(),
            Some(why @ Broken::Lost(_)) => self.ending.truncated(&why.to_string()),
            Some(why) => self.ending.who.not_a_reply(&why.to_string(), ""),
            None => self.ending.error(error),
        }
    }
}

/// Estimates what the server reads, for servers that do not count.
fn input_estimate(request: &ModelRequest, chars_per_token: f32) -> u64 {
    use dbagent_core::model::Message;
    let tokens = |text: &str| estimate_tokens(text, chars_per_token);
    let system: u64 = request.system.iter().map(|s| tokens(s)).sum();
    let tools: u64 = request
        .tools
        .iter()
        .map(|t| tokens(&t.name) + tokens(&t.description) + tokens(&t.parameters.to_string()))
        .sum();
    let message = |m: &Message| match m {
        Message::User { text } => tokens(text),
        Message::Assistant(reply) => {
            let calls = reply.calls.iter().map(|c| tokens(&c.name) + tokens(&c.arguments));
            tokens(&reply.text) + calls.sum::<u64>()
        }
        Message::Tool(answer) => tokens(&answer.text),
    };
    system + tools + request.messages.iter().map(message).sum::<u64>()
}
