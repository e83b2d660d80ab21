//! The light agent: one database, the common tools, no files, no planning, no sub-agents.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dbagent_core::agent::Run;
use dbagent_core::metrics::SessionMetrics;
use dbagent_core::model::Model;
use dbagent_core::{
    Agent, AgentBuilder, Answer, ConnUrl, Credential, Database, Dialect, Error, ErrorKind, GuardedSession,
    Guardrails, Policy, Registry, Result, Target,
};

/// A light agent on one database. Cheap to clone.
///
/// It has no files backend: large results are refused with their size instead of being written.
#[derive(Clone, Debug)]
pub struct LightAgent {
    agent: Agent,
    /// What tells its threads from those of other agents over the same store.
    mark: u64,
    threads: Arc<AtomicU64>,
}

impl LightAgent {
    /// Starts to build one.
    pub fn builder() -> LightAgentBuilder {
        LightAgentBuilder::default()
    }

    /// Asks on a new thread and waits for the answer. Dropping the future cancels the run.
    ///
    /// # Errors
    /// What the model cannot mend: the database out of reach, the model's server.
    pub async fn ask(&self, question: impl Into<String>) -> Result<Answer> {
        self.ask_on(&self.new_thread(), question).await
    }

    /// Asks on a thread, new or continued, and waits for the answer.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub async fn ask_on(&self, thread: &str, question: impl Into<String>) -> Result<Answer> {
        self.agent.ask(thread, question).await
    }

    /// Asks on a thread and gives the run back at once: its events can be watched, it can be cancelled, and
    /// it goes on when this is dropped.
    pub fn stream(&self, thread: &str, question: impl Into<String>) -> Run {
        self.agent.start(thread, question)
    }

    /// A thread name that no agent has used yet, whatever else uses the same store.
    pub fn new_thread(&self) -> String {
        format!("thread-{:016x}-{}", self.mark, self.threads.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Goes on with a thread whose run was interrupted.
    pub fn resume(&self, thread: &str) -> Run {
        self.agent.resume(thread)
    }

    /// Gives up an interrupted run, so that its thread takes the next question.
    ///
    /// # Errors
    /// As [`Agent::abandon`].
    pub async fn abandon(&self, thread: &str) -> Result<()> {
        self.agent.abandon(thread).await
    }

    /// Says something to the model between two turns of a thread.
    ///
    /// # Errors
    /// As [`Agent::inject`].
    pub async fn inject(&self, thread: &str, message: impl Into<String>) -> Result<()> {
        self.agent.inject(thread, message).await
    }

    /// Opens the database now instead of at the first question.
    ///
    /// # Errors
    /// What the dialect says.
    pub async fn connect(&self) -> Result<()> {
        self.agent.connect().await
    }

    /// The counters.
    pub fn metrics(&self) -> &SessionMetrics {
        self.agent.metrics()
    }

    /// The agent behind it.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }
}

/// Builds a [`LightAgent`].
#[derive(Default)]
pub struct LightAgentBuilder {
    url: Option<String>,
    session: Option<GuardedSession>,
    name: Option<String>,
    credential: Credential,
    policy: Policy,
    guardrails: Guardrails,
    dialects: Vec<&'static Dialect>,
    agent: AgentBuilder,
}

impl LightAgentBuilder {
    /// The database's URL. Its scheme picks the dialect.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// A session that is open already, instead of a URL. Name, credential, policy and guardrails are the
    /// session's own then; setting them here too is an error, since they would not hold.
    pub fn session(mut self, session: GuardedSession) -> Self {
        self.session = Some(session);
        self
    }

    /// The name by which prompts and facts know the database; `main` when not set.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Credentials apart from the URL.
    pub fn credential(mut self, credential: Credential) -> Self {
        self.credential = credential;
        self
    }

    /// Which objects, columns and functions may be used.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// The limits.
    pub fn guardrails(mut self, guardrails: Guardrails) -> Self {
        self.guardrails = guardrails;
        self
    }

    /// A dialect beyond the registered ones; replaces one of the same id.
    pub fn dialect(mut self, dialect: &'static Dialect) -> Self {
        self.dialects.push(dialect);
        self
    }

    /// The model. Without one the offline planner answers, where the build has it; a model is never picked
    /// because a key lies around.
    pub fn model(mut self, model: Arc<dyn Model>) -> Self {
        self.agent = self.agent.model(model);
        self
    }

    dbagent_core::__agent_setters!(agent);

    /// Checks everything and builds. Nothing is connected and no runtime is needed yet.
    ///
    /// # Errors
    /// [`ErrorKind::Config`]: neither a URL nor a session or both, settings beside a session that it would
    /// ignore, a URL that no dialect opens, an unknown credential key, no model, and what [`AgentBuilder::build`](dbagent_core::AgentBuilder::build) says.
    pub fn build(self) -> Result<LightAgent> {
        let database = match (self.url, self.session) {
            (None, Some(session)) => {
                for (what, given) in [
                    ("name", self.name.is_some()),
                    ("credential", !self.credential.is_empty()),
                    ("policy", self.policy != Policy::default()),
                    ("guardrails", self.guardrails != Guardrails::default()),
                ] {
                    if given {
                        return Err(config(
                            &format!("{what} is given beside a session, which has its own"),
                            "set it on the session's target before the session is opened",
                        ));
                    }
                }
                Database::open(session)
            }
            (Some(url), None) => {
                let url = ConnUrl::parse(&url)?;
                let mut registry = Registry::collected()?;
                for dialect in self.dialects {
                    registry = registry.with(dialect);
                }
                let dialect = registry.for_url(&url)?;
                self.credential.normalise(dialect.id(), dialect.known_credentials())?;
                let mut target = Target::new(self.name.unwrap_or_else(|| "main".into()), url);
                target.credential = self.credential;
                target.policy = self.policy;
                target.guardrails = self.guardrails;
                Database::new(dialect, target)
            }
            (Some(_), Some(_)) => {
                return Err(config("both a URL and a session are given", "give one of them"));
            }
            (None, None) => {
                return Err(config(
                    "no database is given",
                    "call .url(\"sqlite:///file.db\") or .session(…)",
                ));
            }
        };
        let agent = if self.agent.has_model() { self.agent } else { self.agent.model(default_model()?) };
        let mark = RandomState::new().hash_one(std::process::id());
        Ok(LightAgent {
            agent: agent.database(database).build()?,
            mark,
            threads: Arc::new(AtomicU64::new(0)),
        })
    }
}

fn config(message: &str, hint: &str) -> Error {
    Error::new(ErrorKind::Config, message).op("build").hint(hint)
}

#[cfg(feature = "offline")]
#[expect(clippy::unnecessary_wraps, reason = "without the feature there is no default")]
fn default_model() -> Result<Arc<dyn Model>> {
    Ok(Arc::new(dbagent_offline::Offline::new()))
}

#[cfg(not(feature = "offline"))]
fn default_model() -> Result<Arc<dyn Model>> {
    Err(config(
        "no model is given",
        "call .model(…), or build with the feature `offline` for the planner that needs none",
    ))
}
