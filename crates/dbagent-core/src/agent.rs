//! The agent: a model, tools, middleware and budgets over a thread of facts.
//!
//! The loop is small: [`next`](crate::state::next) says what may happen, the driver makes it happen and
//! appends facts. Spans named `invoke_agent`, `chat`, `execute_tool` and `db_query` carry the standard
//! `gen_ai.*` and `db.*` fields; statements stand in them only after
//! [`trace_content`](AgentBuilder::trace_content). The factories of the umbrella crate put databases, prompts and defaults together.

mod builder;
mod driver;
mod inject;
mod output;
mod run;

use std::collections::HashMap;
use std::sync::Arc;

pub use builder::AgentBuilder;
pub use output::OutputSchema;
pub use run::{Answer, EventStream, Run};

use driver::Begin;
use inject::Running;

use crate::budget::Budgets;
use crate::error::Result;
use crate::event::EventSender;
use crate::metrics::{Price, SessionMetrics};
use crate::middleware::Middleware;
use crate::model::Model;
use crate::setup::Setup;
use crate::store::Store;
use crate::tool::{ArgumentSchema, HostObjects, Tool};
use crate::tools::Database;

/// An agent. Cheap to clone, no generics.
#[derive(Clone)]
pub struct Agent {
    inner: Arc<Inner>,
}

struct Inner {
    model: Arc<dyn Model>,
    databases: Vec<Database>,
    tools: Vec<Arc<dyn Tool>>,
    /// Schemas of the tools that are not the core's own, by name: those check their arguments themselves.
    schemas: HashMap<String, ArgumentSchema>,
    middleware: Vec<Arc<dyn Middleware>>,
    system: Arc<[String]>,
    budgets: Budgets,
    metrics: SessionMetrics,
    price: Option<Price>,
    store: Arc<dyn Store>,
    output: Option<OutputSchema>,
    host: HostObjects,
    setup: Setup,
    /// The runs that are being driven here, to be spoken to.
    running: Running,
    temperature: Option<f32>,
}

impl Agent {
    /// Starts to build an agent that asks this model.
    pub fn builder(model: Arc<dyn Model>) -> AgentBuilder {
        AgentBuilder::default().model(model)
    }

    /// The model that is asked.
    pub fn model(&self) -> &dyn Model {
        &*self.inner.model
    }

    /// The counters.
    pub fn metrics(&self) -> &SessionMetrics {
        &self.inner.metrics
    }

    /// The store of its threads.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    /// Opens its databases now instead of at the first question.
    ///
    /// # Errors
    /// What the dialect says.
    pub async fn connect(&self) -> Result<()> {
        let call = crate::context::CallContext::within(self.inner.budgets.wall_clock());
        for database in &self.inner.databases {
            database.session(&call).await?;
        }
        Ok(())
    }

    /// Starts a run on a thread, new or continued. It goes on by itself on the caller's runtime; dropping
    /// the [`Run`] does not stop it.
    pub fn start(&self, thread: &str, input: impl Into<String>) -> Run {
        let events = EventSender::new(thread);
        driver::spawn(Arc::clone(&self.inner), thread, Begin::Ask(input.into()), events)
    }

    /// Goes on with a thread whose run was interrupted.
    ///
    /// The agent may be made of something else than the one that began. Another model or prompt is told by
    /// an event ([`SetupChanged`](crate::event::EventKind::SetupChanged)); another tool or policy that an
    /// open call depends on ends the attempt with [`ErrorKind::Config`](crate::ErrorKind::Config) and leaves
    /// the thread as it was.
    pub fn resume(&self, thread: &str) -> Run {
        let events = EventSender::new(thread);
        driver::spawn(Arc::clone(&self.inner), thread, Begin::Resume, events)
    }

    /// Gives up an interrupted run: its open calls are answered as not run, and the thread takes the next
    /// question.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`](crate::ErrorKind::InvalidRequest) when no run is interrupted there,
    /// [`ErrorKind::Conflict`](crate::ErrorKind::Conflict) while somebody drives it.
    pub async fn abandon(&self, thread: &str) -> Result<()> {
        let events = EventSender::new(thread);
        driver::spawn(Arc::clone(&self.inner), thread, Begin::Abandon, events).outcome().await.map(drop)
    }

    /// Says something to the model between two turns of a thread, to steer it. It returns once that is
    /// written down. A run that is going on reads it before its next request, and does not end with an
    /// answer that was written without it, unless its budget is used up; on a thread that rests, the next
    /// run reads it.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`](crate::ErrorKind::InvalidRequest) for a thread that does not exist,
    /// [`ErrorKind::Conflict`](crate::ErrorKind::Conflict) while another agent drives it, and what the store
    /// says.
    pub async fn inject(&self, thread: &str, message: impl Into<String>) -> Result<()> {
        inject::inject(&self.inner, thread, message.into()).await
    }

    /// Asks on a thread, new or continued, and waits for the answer. Dropping the future cancels the run.
    ///
    /// # Errors
    /// What the model cannot mend: the database out of reach, the model's server, a broken log.
    pub async fn ask(&self, thread: &str, input: impl Into<String>) -> Result<Answer> {
        let run = self.start(thread, input);
        let guard = run.cancel_token().drop_guard();
        let answer = run.outcome().await;
        guard.disarm();
        answer
    }
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent")
            .field("model", &self.inner.model.id())
            .field("tools", &self.inner.tools.iter().map(|t| t.spec().name.as_str()).collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
