//! Builds an agent and checks what it is built from.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::inject::Running;
use super::{Agent, Inner, OutputSchema};
use crate::budget::Budgets;
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::{Price, SessionMetrics};
use crate::middleware::{Middleware, RepeatGuard, ordered};
use crate::model::{Actions, JsonActions, Model, RetryPolicy, Retrying};
use crate::setup::{Setup, digest};
use crate::store::{MemoryStore, Store};
use crate::tool::{ArgumentSchema, HostObjects, Tool, TraceContent};
use crate::tools::Database;

/// Builds an [`Agent`].
pub struct AgentBuilder {
    model: Arc<dyn Model>,
    retry: RetryPolicy,
    databases: Vec<Database>,
    tools: Vec<Arc<dyn Tool>>,
    middleware: Vec<Arc<dyn Middleware>>,
    system: Vec<String>,
    budgets: Budgets,
    metrics: SessionMetrics,
    price: Option<Price>,
    store: Option<Arc<dyn Store>>,
    output: Option<OutputSchema>,
    host: HostObjects,
    temperature: Option<f32>,
}

impl AgentBuilder {
    pub(super) fn new(model: Arc<dyn Model>) -> Self {
        Self {
            model,
            retry: RetryPolicy::default(),
            databases: Vec::new(),
            tools: Vec::new(),
            middleware: Vec::new(),
            system: Vec::new(),
            budgets: Budgets::default(),
            metrics: SessionMetrics::new(),
            price: None,
            store: None,
            output: None,
            host: HostObjects::default(),
            temperature: None,
        }
    }

    /// Gives it the tools and the prompt of a database.
    pub fn database(mut self, database: Database) -> Self {
        self.databases.push(database);
        self
    }

    /// Adds text to the system role, after the databases' own.
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system.push(text.into());
        self
    }

    /// Adds a tool of the host.
    pub fn tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds middleware.
    pub fn middleware(mut self, middleware: Arc<dyn Middleware>) -> Self {
        self.middleware.push(middleware);
        self
    }

    /// Sets the budgets of each run.
    pub fn budgets(mut self, budgets: Budgets) -> Self {
        self.budgets = budgets;
        self
    }

    /// Counts into these counters.
    pub fn metrics(mut self, metrics: SessionMetrics) -> Self {
        self.metrics = metrics;
        self
    }

    /// Sets what a million tokens cost, instead of what the model's profile says. Without either the cost of
    /// a call is unknown, unless its server says it.
    pub fn price(mut self, price: Price) -> Self {
        self.price = Some(price);
        self
    }

    /// Keeps threads there; in memory when not set.
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = Some(store);
        self
    }

    /// Asks for answers that fit a JSON schema.
    pub fn output(mut self, output: OutputSchema) -> Self {
        self.output = Some(output);
        self
    }

    /// Gives tools of the host an object by type.
    pub fn host_object<T: std::any::Any + Send + Sync>(mut self, object: Arc<T>) -> Self {
        self.host = self.host.with(object);
        self
    }

    /// Lets traces hold the text of statements. Off by default: it may hold personal data. Rows, bound
    /// values and what people and models say never stand in traces.
    pub fn trace_content(mut self) -> Self {
        self.host = self.host.with(Arc::new(TraceContent));
        self
    }

    /// Sets how often and how patiently the model is asked again after failures that may pass.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = policy;
        self
    }

    /// Sets the sampling temperature.
    pub fn temperature(mut self, temperature: f32) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Checks everything and builds. Nothing is connected and no runtime is needed yet.
    ///
    /// # Errors
    /// [`ErrorKind::Config`]: two tools of one name, a tool's name or schema that servers refuse, a required
    /// middleware replaced, budgets of zero, a price that is no number.
    pub fn build(self) -> Result<Agent> {
        let middleware = ordered(vec![Arc::new(RepeatGuard)], self.middleware)?;
        let mut tools: Vec<Arc<dyn Tool>> = self.databases.iter().flat_map(Database::tools).collect();
        let own = tools.len();
        tools.extend(self.tools);
        tools.extend(middleware.iter().flat_map(|m| m.tools()));
        check_tools(&tools)?;
        let schemas =
            tools.iter().skip(own).map(|t| Ok((t.spec().name.clone(), ArgumentSchema::of(t.spec())?)));
        let schemas = schemas.collect::<Result<HashMap<_, _>>>()?;
        check_budgets(&self.budgets)?;
        let price = self.price.or_else(|| self.model.profile().price);
        if !price.is_none_or(|p| p.is_valid()) {
            return Err(Error::new(ErrorKind::Config, "a price must be a number of at least 0").op("build"));
        }
        let mut system: Vec<String> = self.databases.iter().map(Database::prompt).collect();
        system.extend(middleware.iter().filter_map(|m| m.prompt()));
        system.extend(self.system);
        let setup = setup(&*self.model, &system, &tools, own, &self.databases);
        let model: Arc<dyn Model> = Arc::new(Retrying::new(self.model, self.retry));
        let model: Arc<dyn Model> =
            if model.profile().actions == Actions::Json { Arc::new(JsonActions::new(model)) } else { model };
        Ok(Agent {
            inner: Arc::new(Inner {
                model,
                databases: self.databases,
                tools,
                schemas,
                middleware,
                system: system.into(),
                budgets: self.budgets,
                metrics: self.metrics,
                price,
                store: self.store.unwrap_or_else(|| Arc::new(MemoryStore::new())),
                output: self.output,
                host: self.host,
                setup,
                running: Running::default(),
                temperature: self.temperature,
            }),
        })
    }
}

fn check_tools(tools: &[Arc<dyn Tool>]) -> Result<()> {
    let config = |m: String| Error::new(ErrorKind::Config, m).op("build");
    for (i, tool) in tools.iter().enumerate() {
        let spec = tool.spec();
        let name = &spec.name;
        let good = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || name.len() > 64 || !name.chars().all(good) {
            return Err(config(format!("{name:?} is no name for a tool: 1 to 64 letters, digits, _ or -")));
        }
        if tools.iter().skip(i + 1).any(|t| t.spec().name == *name) {
            return Err(config(format!("two tools have the name {name:?}")).hint("rename the host's tool"));
        }
        if spec.parameters.get("type").and_then(|t| t.as_str()) != Some("object") {
            return Err(config(format!("the schema of the tool {name:?} must have \"type\": \"object\"")));
        }
    }
    Ok(())
}

fn check_budgets(b: &Budgets) -> Result<()> {
    for (name, value) in [
        ("turns", u64::from(b.turns)),
        ("tool_calls", u64::from(b.tool_calls)),
        ("tokens", b.tokens),
        ("wall_clock_s", b.wall_clock_s),
        ("parallel_calls", b.parallel_calls as u64),
        ("calls_per_turn", b.calls_per_turn as u64),
    ] {
        if value == 0 {
            return Err(Error::new(ErrorKind::Config, format!("the budget {name} must not be 0")).op("build"));
        }
    }
    Ok(())
}

/// What the agent is made of; the first `own` tools are the databases'.
fn setup(
    model: &dyn Model,
    system: &[String],
    tools: &[Arc<dyn Tool>],
    own: usize,
    databases: &[Database],
) -> Setup {
    let specs = || tools.iter().map(|t| t.spec());
    let words = specs().flat_map(|s| [s.name.as_str(), s.description.as_str()]);
    let prompt = digest(system.iter().map(String::as_str).chain(words));
    let tools = specs()
        .map(|s| (s.name.clone(), digest([s.parameters.to_string(), format!("{:?}", s.hints)])))
        .collect::<BTreeMap<_, _>>();
    let policies = databases.iter().map(|d| {
        let target = d.target();
        let access = format!("{:?}", target.access);
        (target.name.clone(), digest([&target.policy.digest()[..], access.as_bytes()]))
    });
    Setup {
        model: model.id().to_owned(),
        prompt,
        policies: policies.collect(),
        guarded: specs().take(own).map(|s| s.name.clone()).collect(),
        tools,
    }
}
