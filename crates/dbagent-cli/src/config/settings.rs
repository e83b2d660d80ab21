//! What a configuration says, as types. Their documentation is the published schema's.

use std::collections::{BTreeMap, BTreeSet};

use dbagent::budget::Budgets;
use dbagent::metrics::Price;
use dbagent::model::Actions;
use dbagent::{Credential, Guardrails, Policy, Secret};
use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use toml::Value;

/// What a configuration says.
#[derive(Default)]
pub(crate) struct Settings {
    /// The model: `offline`, `auto`, a model string, or a name among `models`.
    pub(crate) model: Option<String>,
    /// Text of the host's own in the system role.
    pub(crate) system: Option<String>,
    /// What a run may use.
    pub(crate) budgets: Budgets,
    /// The limits of every database that sets none of its own.
    pub(crate) guardrails: Guardrails,
    /// Models by name.
    pub(crate) models: BTreeMap<String, ModelSettings>,
    /// Databases by name.
    pub(crate) databases: BTreeMap<String, DatabaseSettings>,
}

/// One named model.
pub(crate) struct ModelSettings {
    pub(crate) base_url: Option<String>,
    pub(crate) model: String,
    pub(crate) api_key: Option<Secret>,
    pub(crate) actions: Option<Actions>,
    pub(crate) window: Option<u64>,
    pub(crate) max_output: Option<u64>,
    pub(crate) parallel_calls: Option<bool>,
    pub(crate) json_schema: Option<bool>,
    pub(crate) stream: Option<bool>,
    pub(crate) price: Option<Price>,
}

/// One named database.
pub(crate) struct DatabaseSettings {
    /// The text of the URL; it may hold a password.
    pub(crate) url: Secret,
    pub(crate) credential: Credential,
    pub(crate) policy: Policy,
    pub(crate) guardrails: Guardrails,
}

/// The JSON schema of a configuration file.
pub(crate) fn schema() -> serde_json::Value {
    let mut schema = schema_for!(File).to_value();
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("title".into(), "dbagent.toml".into());
    }
    schema
}

/// Models, databases and limits of dbagent. A text may hold ${VAR}, which is the environment variable, or
/// ${VAR:-default}; $${ is a plain ${.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
struct File {
    /// The model that answers: "offline" (a planner that needs no network), "auto" (the first that is found,
    /// servers on this machine before keys), a model string such as "ollama:qwen3:8b", or a name under
    /// [models]. Without it the offline planner answers.
    model: Option<String>,
    /// How the agent works: its own instructions, and what one run may use.
    #[schemars(with = "AgentTable")]
    agent: toml::Table,
    /// The limits of every database; a database may set its own.
    #[schemars(with = "Guardrails")]
    guardrails: toml::Table,
    /// Models by name, for `model = "NAME"` and `--model NAME`.
    models: BTreeMap<String, ModelTable>,
    /// Databases by name, for `dbagent ask NAME …`.
    databases: BTreeMap<String, DatabaseTable>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used; the values are read as Budgets and a text")]
#[schemars(deny_unknown_fields)]
struct AgentTable {
    /// Instructions of your own, after dbagent's.
    system: Option<String>,
    #[schemars(flatten)]
    budgets: Budgets,
}

/// One model.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ModelTable {
    /// Where the server's OpenAI-compatible interface is, such as "http://localhost:8080/v1". Without it
    /// `model` is a model string with its provider, such as "openai:gpt-5".
    #[serde(default)]
    base_url: Option<String>,
    /// The model's name on that server, or a model string.
    model: String,
    /// The key, best as "${VAR}". Without it the provider's usual environment variable is read.
    #[serde(default)]
    api_key: Option<String>,
    /// How the model asks for tools: "native", or "json" for models that cannot call tools.
    #[serde(default)]
    actions: Option<ActionsWord>,
    /// Tokens that fit into one request.
    #[serde(default)]
    window: Option<u64>,
    /// Most tokens of one reply.
    #[serde(default)]
    max_output: Option<u64>,
    /// Whether it may ask for several tools at once.
    #[serde(default)]
    parallel_calls: Option<bool>,
    /// Whether its server keeps to a JSON schema.
    #[serde(default)]
    json_schema: Option<bool>,
    /// Whether replies are asked for as a stream.
    #[serde(default)]
    stream: Option<bool>,
    /// What a million tokens cost, so that the cost is counted.
    #[serde(default)]
    price: Option<PriceTable>,
}

/// How a model asks for tools.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum ActionsWord {
    Native,
    Json,
}

/// What a million tokens cost, in your own currency.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PriceTable {
    /// A million tokens read.
    input: f64,
    /// A million of these that came from the server's cache; as much as others when left out.
    #[serde(default)]
    cached_input: Option<f64>,
    /// A million tokens written.
    output: f64,
}

/// One database.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DatabaseTable {
    /// Its URL, such as "sqlite:///shop.db" or "postgres://reader@db/shop".
    url: String,
    /// Credentials apart from the URL, by key: user, password and what else the kind of database knows.
    #[serde(default)]
    credential: BTreeMap<String, Scalar>,
    /// Which objects, columns and functions may be used.
    #[serde(default)]
    policy: PolicyTable,
    /// Limits of its own, over those of [guardrails].
    #[serde(default)]
    #[schemars(with = "Guardrails")]
    guardrails: toml::Table,
}

/// A text, a number or a truth value.
#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Text(String),
    Whole(i64),
    Number(f64),
    Truth(bool),
}

impl JsonSchema for Scalar {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Scalar".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": ["string", "integer", "number", "boolean"]})
    }
}

/// Which objects, columns and functions may be used. A pattern is object, namespace.object or
/// namespace.object.column, with * and ? as wild cards.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default, deny_unknown_fields)]
struct PolicyTable {
    /// When there are any: only what one of these matches may be used.
    allow: Vec<String>,
    /// Never to be used, whatever `allow` says.
    deny: Vec<String>,
    /// Functions beyond the engine's own harmless ones that may be called.
    allow_functions: BTreeSet<String>,
    /// Functions that may not be called.
    deny_functions: BTreeSet<String>,
    /// Choices flipped to allowed, by the name that a refusal gave.
    allow_choices: BTreeSet<String>,
}

/// A path in the file and what is wrong there.
type Wrong = (Vec<String>, String);

impl Settings {
    /// Reads a table that was checked against the schema.
    pub(super) fn from_table(table: toml::Table) -> Result<Self, Wrong> {
        // Messages of serde may quote values; what reaches it here passed the schema already.
        let wrong = |path: &[&str], what: &str| -> Wrong {
            (path.iter().map(|p| (*p).to_owned()).collect(), what.to_owned())
        };
        let file: File = Value::Table(table).try_into().map_err(|_| {
            wrong(&[], "the configuration does not fit its schema; see `dbagent config schema`")
        })?;
        let mut agent = file.agent;
        let system = agent.remove("system").and_then(|v| v.as_str().map(str::to_owned));
        let budgets: Budgets = Value::Table(agent)
            .try_into()
            .map_err(|_| wrong(&["agent"], "a value of agent is too large or too small"))?;
        let too_large = "a value of guardrails is too large or too small";
        let limits = |table: toml::Table| Value::Table(table).try_into::<Guardrails>().ok();
        let guardrails = limits(file.guardrails.clone()).ok_or_else(|| wrong(&["guardrails"], too_large))?;
        let mut databases = BTreeMap::new();
        for (name, database) in file.databases {
            let mut merged = file.guardrails.clone();
            merged.extend(database.guardrails);
            let limits =
                limits(merged).ok_or_else(|| wrong(&["databases", &name, "guardrails"], too_large))?;
            let policy = database.policy.read(&name)?;
            let credential = database
                .credential
                .into_iter()
                .fold(Credential::new(), |credential, (key, value)| credential.set(key, value.into_text()));
            let url = Secret::new(database.url);
            databases.insert(name, DatabaseSettings { url, credential, policy, guardrails: limits });
        }
        let models = file.models.into_iter().map(|(name, model)| (name, model.into())).collect();
        Ok(Self { model: file.model, system, budgets, guardrails, models, databases })
    }
}

impl Scalar {
    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Whole(n) => n.to_string(),
            Self::Number(x) => x.to_string(),
            Self::Truth(b) => b.to_string(),
        }
    }
}

impl PolicyTable {
    fn read(self, database: &str) -> Result<Policy, Wrong> {
        let patterns = |key: &str, texts: Vec<String>| {
            texts
                .iter()
                .enumerate()
                .map(|(i, text)| {
                    text.parse().map_err(|e: dbagent::guard::PatternError| {
                        let path = ["databases", database, "policy", key, &i.to_string()];
                        (path.iter().map(|p| (*p).to_owned()).collect(), e.to_string())
                    })
                })
                .collect::<Result<Vec<_>, Wrong>>()
        };
        Ok(Policy {
            allow: patterns("allow", self.allow)?,
            deny: patterns("deny", self.deny)?,
            allow_functions: self.allow_functions,
            deny_functions: self.deny_functions,
            allow_choices: self.allow_choices,
        })
    }
}

impl From<ModelTable> for ModelSettings {
    fn from(table: ModelTable) -> Self {
        Self {
            base_url: table.base_url,
            model: table.model,
            api_key: table.api_key.map(Secret::new),
            actions: table.actions.map(|a| match a {
                ActionsWord::Native => Actions::Native,
                ActionsWord::Json => Actions::Json,
            }),
            window: table.window,
            max_output: table.max_output,
            parallel_calls: table.parallel_calls,
            json_schema: table.json_schema,
            stream: table.stream,
            price: table.price.map(|p| Price {
                input: p.input,
                cached_input: p.cached_input,
                output: p.output,
            }),
        }
    }
}
