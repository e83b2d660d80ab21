//! `dbagent config show`: every setting with its value and where that comes from.

use dbagent::{ConnUrl, Registry};
use serde_json::json;

use crate::app::App;
use crate::config::{self, Config, DatabaseSettings, ModelSettings};
use crate::exit::{Exit, Outcome};
use crate::format::{Column, Format, Grid, Layout, NO_ROWS, Text, only, safe_json};

/// How the settings are shown.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// How they are written
    #[arg(long, short, default_value = "table", value_parser = only(NO_ROWS))]
    format: Format,
}

/// One setting.
struct Row {
    path: Vec<String>,
    value: String,
    origin: String,
}

const MASK: &str = "****";

pub(super) fn run(app: &App, args: &Args) -> Outcome {
    let config = app.config()?;
    let rows = rows(config);
    let mut out = app.stdout();
    match args.format {
        Format::Json | Format::Jsonl => {
            for row in rows {
                let object = json!({"key": row.path.join("."), "value": row.value, "from": row.origin});
                out.line(safe_json(&object.to_string()))?;
            }
        }
        format => {
            let mut grid = Grid::new(vec![Column::left("key"), Column::left("value"), Column::left("from")]);
            for row in rows {
                grid.row([Text::of(row.path.join(".")), Text::of(row.value), Text::of(row.origin)]);
            }
            let layout = if format == Format::Markdown { Layout::Markdown } else { Layout::Table };
            grid.write(&mut out, layout)?;
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn rows(config: &Config) -> Vec<Row> {
    let mut rows = Rows { config, rows: Vec::new() };
    let settings = &config.settings;
    match (config::environment("DBAGENT_MODEL"), &settings.model) {
        (Some(model), _) => rows.push(&["model"], model, Some("environment variable DBAGENT_MODEL")),
        (None, Some(model)) => rows.push(&["model"], model.clone(), None),
        (None, None) => rows.push(&["model"], "offline".to_owned(), Some("default")),
    }
    if let Some(system) = &settings.system {
        rows.push(&["agent", "system"], system.clone(), None);
    }
    rows.fields(&["agent"], &settings.budgets);
    rows.fields(&["guardrails"], &settings.guardrails);
    for (name, model) in &settings.models {
        rows.model(name, model);
    }
    for (name, database) in &settings.databases {
        rows.database(name, database);
    }
    if let Some(password) = config::environment("DBAGENT_PASSWORD").filter(|p| !p.is_empty()) {
        // Only that there is one.
        drop(password);
        rows.push(&["password"], MASK.to_owned(), Some("environment variable DBAGENT_PASSWORD"));
    }
    rows.rows
}

struct Rows<'a> {
    config: &'a Config,
    rows: Vec<Row>,
}

impl Rows<'_> {
    fn push(&mut self, path: &[&str], value: String, origin: Option<&str>) {
        let path: Vec<String> = path.iter().map(|p| (*p).to_owned()).collect();
        // What comes from a variable is taken for a secret, whatever it is for.
        let from_variable = self.config.origins.get(&path).is_some_and(|o| !o.variables.is_empty());
        let value = if from_variable && origin.is_none() { MASK.to_owned() } else { value };
        let origin = origin.map_or_else(|| self.origin(&path), str::to_owned);
        self.rows.push(Row { path, value, origin });
    }

    /// Where a value of the file stands, and which variables it took.
    fn origin(&self, path: &[String]) -> String {
        let Some(origin) = self.config.origins.get(path) else { return "default".to_owned() };
        let mut text = format!("{}:{}", self.config.name(), origin.line);
        if !origin.variables.is_empty() {
            text.push_str(&format!(", environment variable {}", origin.variables.join(", ")));
        }
        text
    }

    /// Every field of a set of numbers.
    fn fields(&mut self, path: &[&str], value: &impl serde::Serialize) {
        let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(value) else { return };
        for (key, value) in fields {
            let value = match value {
                serde_json::Value::String(text) => text,
                serde_json::Value::Null => "none".to_owned(),
                other => other.to_string(),
            };
            let path: Vec<&str> = path.iter().copied().chain([key.as_str()]).collect();
            self.push(&path, value, None);
        }
    }

    fn model(&mut self, name: &str, model: &ModelSettings) {
        let mut push = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                self.push(&["models", name, key], value, None);
            }
        };
        push("base_url", model.base_url.as_deref().map(crate::mask::mask_user_info));
        push("model", Some(model.model.clone()));
        push("api_key", model.api_key.as_ref().map(|_| MASK.to_owned()));
        push(
            "actions",
            model.actions.map(|a| {
                serde_json::to_value(a).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
            }),
        );
        push("window", model.window.map(|n| n.to_string()));
        push("max_output", model.max_output.map(|n| n.to_string()));
        push("parallel_calls", model.parallel_calls.map(|b| b.to_string()));
        push("json_schema", model.json_schema.map(|b| b.to_string()));
        push("stream", model.stream.map(|b| b.to_string()));
        if let Some(price) = model.price {
            self.push(&["models", name, "price", "input"], price.input.to_string(), None);
            if let Some(cached) = price.cached_input {
                self.push(&["models", name, "price", "cached_input"], cached.to_string(), None);
            }
            self.push(&["models", name, "price", "output"], price.output.to_string(), None);
        }
    }

    fn database(&mut self, name: &str, database: &DatabaseSettings) {
        let url = ConnUrl::parse(database.url.expose());
        let shown = url.as_ref().map_or_else(|_| MASK.to_owned(), crate::mask::shown_url);
        self.push(&["databases", name, "url"], shown, None);
        // A value is shown only where the dialect knows the key and says that it is no secret.
        let dialect = url.ok().and_then(|url| Registry::collected().ok()?.for_url(&url).ok());
        for key in database.credential.keys() {
            let known = dialect.and_then(|d| {
                d.known_credentials().iter().find(|k| k.name == key || k.aliases.contains(&key))
            });
            let value = match (known, database.credential.get(key)) {
                (Some(known), Some(value)) if !known.secret => value.expose().to_owned(),
                _ => MASK.to_owned(),
            };
            self.push(&["databases", name, "credential", key], value, None);
        }
        for (key, list) in [
            ("allow", database.policy.allow.iter().map(ToString::to_string).collect::<Vec<_>>()),
            ("deny", database.policy.deny.iter().map(ToString::to_string).collect()),
            ("allow_functions", database.policy.allow_functions.iter().cloned().collect()),
            ("deny_functions", database.policy.deny_functions.iter().cloned().collect()),
            ("allow_choices", database.policy.allow_choices.iter().cloned().collect()),
        ] {
            if !list.is_empty() {
                self.push(&["databases", name, "policy", key], list.join(", "), None);
            }
        }
        let (own, general) = (
            serde_json::to_value(&database.guardrails),
            serde_json::to_value(&self.config.settings.guardrails),
        );
        if let (Ok(serde_json::Value::Object(own)), Ok(general)) = (own, general) {
            for (key, value) in own {
                if general.get(&key) != Some(&value) {
                    self.push(&["databases", name, "guardrails", &key], value.to_string(), None);
                }
            }
        }
    }
}
