//! Builds an agent and checks what it is built from.

mod setters;

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
use crate::tool::{ArgumentSchema, HostObjects, Tool};
use crate::tools::Database;

/// Builds an [`Agent`].
#[derive(Default)]
pub struct AgentBuilder {
    model: Option<Arc<dyn Model>>,
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
    /// Sets the model that is asked.
    pub fn model(mut self, model: Arc<dyn Model>) -> Self {
        self.model = Some(model);
        self
    }

    /// Whether a model was set.
    pub fn has_model(&self) -> bool {
        self.model.is_some()
    }

    /// Gives it the tools and the prompt of a database.
    pub fn database(mut self, database: Database) -> Self {
        self.databases.push(database);
        self
    }

    /// Checks everything and builds. Nothing is connected and no runtime is needed yet.
    ///
    /// # Errors
    /// [`ErrorKind::Config`]: no model, two tools of one name, a tool's name or schema that servers refuse, a required
    /// middleware replaced, budgets of zero, a price that is no number.
    pub fn build(self) -> Result<Agent> {
        let Some(model) = self.model else {
            return Err(Error::new(ErrorKind::Config, "no model is given")
                .op("build")
                .hint("call .model(…)"));
        };
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
        let price = self.price.or_else(|| model.profile().price);
        if !price.is_none_or(|p| p.is_valid()) {
            return Err(Error::new(ErrorKind::Config, "a price must be a number of at least 0").op("build"));
        }
        let mut system: Vec<String> = self.databases.iter().map(Database::prompt).collect();
        system.extend(middleware.iter().filter_map(|m| m.prompt()));
        system.extend(self.system);
        let setup = setup(&*model, &system, &tools, own, &self.databases);
        let model: Arc<dyn Model> = Arc::new(Retrying::new(model, self.retry));
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
