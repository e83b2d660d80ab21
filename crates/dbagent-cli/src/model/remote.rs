//! Models behind servers: from the configuration, by a model string, or the first that is found.

use std::sync::Arc;

use dbagent::openai::{ModelSpec, OpenAi};
use dbagent::text::near_misses;
use dbagent::{Error, Secret};

use super::discover::{self, Depth, Found};
use super::{Chosen, usage};
use crate::config::{self, ModelSettings, Settings};

/// The variable that holds a key for a server that has no usual one.
const KEY_VARIABLE: &str = "DBAGENT_API_KEY";

/// The models that `auto` asks of a provider of which only the key is known. Names of models come and go:
/// a server that no longer has one says so, and the message names `--model`.
const USUAL: &[(&str, &str)] = &[
    ("openai", "gpt-5-mini"),
    ("anthropic", "claude-sonnet-4-5"),
    ("gemini", "gemini-2.5-flash"),
    ("openrouter", "openrouter/auto"),
    ("groq", "openai/gpt-oss-120b"),
    ("mistral", "mistral-medium-latest"),
    ("deepseek", "deepseek-chat"),
    ("xai", "grok-4"),
];

type Selected = (Chosen, ModelSpec, String);

/// What the configuration of a model means.
///
/// # Errors
/// [`ErrorKind::Config`](dbagent::ErrorKind::Config) with the key. A base URL may come from a variable, so it
/// is not shown where it is none.
pub(crate) fn spec_of(settings: &ModelSettings, name: &str) -> Result<ModelSpec, Error> {
    let text = match &settings.base_url {
        Some(base_url) if !base_url.contains("://") => {
            return Err(usage(format!("models.{name}.base_url is no URL"))
                .hint("write the whole of it, such as http://localhost:8080/v1"));
        }
        Some(base_url) => format!("{base_url}#{}", settings.model),
        None => settings.model.clone(),
    };
    ModelSpec::parse(&text).map_err(|e| e.with("key", format!("models.{name}")))
}

/// A model of the configuration.
pub(super) fn configured(settings: &ModelSettings, name: &str) -> Result<Selected, Error> {
    let mut spec = spec_of(settings, name)?;
    let profile = &mut spec.profile;
    profile.actions = settings.actions.unwrap_or(profile.actions);
    profile.window = settings.window.or(profile.window);
    profile.max_output = settings.max_output.or(profile.max_output);
    profile.parallel_calls = settings.parallel_calls.unwrap_or(profile.parallel_calls);
    profile.json_schema = settings.json_schema.unwrap_or(profile.json_schema);
    spec.stream = settings.stream.unwrap_or(spec.stream);
    let key = settings.api_key.clone().filter(|key| !key.is_empty()).or_else(|| key_of(&spec));
    let mut chosen = model(&spec, key)?;
    chosen.price = settings.price;
    Ok((chosen, spec, format!("[models.{name}]")))
}

/// A model by its string.
pub(super) fn named(text: &str, settings: &Settings) -> Result<Selected, Error> {
    let spec = ModelSpec::parse(text).map_err(|e| {
        let names = settings.models.keys().map(String::as_str).chain(["offline", "auto"]);
        match near_misses(text, names, 1).first() {
            Some(near) if !text.contains([':', '/']) => e.hint(format!("did you mean --model {near}?")),
            _ => e,
        }
    })?;
    Ok((model(&spec, key_of(&spec))?, spec, "by name".to_owned()))
}

/// The first that is found: servers on this machine, then keys.
pub(super) async fn automatic() -> Result<Selected, Error> {
    let found = discover::look(Depth::Thorough).await;
    let (spec, how) = first(&found)?;
    Ok((model(&spec, key_of(&spec))?, spec, how))
}

fn first(found: &Found) -> Result<(ModelSpec, String), Error> {
    for server in &found.servers {
        if let Some(model) = server.first_model() {
            return Ok((ModelSpec::of(server.provider, model), "auto: found on this machine".to_owned()));
        }
    }
    for (provider, variable) in &found.keys {
        if let Some((_, model)) = USUAL.iter().find(|(id, _)| *id == provider.id) {
            return Ok((ModelSpec::of(provider, *model), format!("auto: {variable} is set")));
        }
    }
    let hint = match found.keys.first() {
        Some((provider, variable)) => {
            format!("{variable} is set; name a model: --model {}:NAME", provider.id)
        }
        None => {
            "start a model server such as Ollama, set a key such as OPENAI_API_KEY, or use --model offline; \
                 `dbagent models` shows where was looked"
                .to_owned()
        }
    };
    Err(usage("--model auto found no model").hint(hint))
}

fn key_of(spec: &ModelSpec) -> Option<Secret> {
    let variable = spec.key_variable.or_else(|| (spec.provider == "custom").then_some(KEY_VARIABLE))?;
    config::environment(variable).filter(|key| !key.trim().is_empty()).map(|key| Secret::new(key.trim()))
}

fn model(spec: &ModelSpec, key: Option<Secret>) -> Result<Chosen, Error> {
    Ok(Chosen { model: Arc::new(OpenAi::from_spec(spec, key)?), price: None, offline: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::discover::{Server, ServerState};
    use dbagent::openai::provider;

    fn key(id: &str) -> (&'static dbagent::openai::Provider, &'static str) {
        let provider = provider(id).unwrap();
        (provider, provider.key_variable.unwrap())
    }

    #[test]
    fn servers_on_this_machine_come_before_keys() {
        let server = Server {
            provider: provider("ollama").unwrap(),
            state: ServerState::Models(vec!["qwen3:8b".to_owned()]),
        };
        let found = Found { servers: vec![server], keys: vec![key("openai")] };
        assert_eq!(first(&found).unwrap().0.id(), "ollama:qwen3:8b");
        assert_eq!(found.names(), ["Ollama on this machine", "OPENAI_API_KEY"]);
        let found = Found { servers: Vec::new(), keys: vec![key("openai")] };
        let (spec, how) = first(&found).unwrap();
        assert_eq!((spec.provider.as_str(), how.as_str()), ("openai", "auto: OPENAI_API_KEY is set"));
    }

    #[test]
    fn nothing_found_is_an_error_that_says_what_to_do() {
        let e = first(&Found { servers: Vec::new(), keys: Vec::new() }).unwrap_err();
        assert!(e.hint_text().unwrap().contains("--model offline"));
        let e = first(&Found { servers: Vec::new(), keys: vec![key("huggingface")] }).unwrap_err();
        assert!(e.hint_text().unwrap().contains("--model huggingface:NAME"));
    }

    #[test]
    fn every_usual_model_is_of_a_known_provider() {
        assert!(USUAL.iter().all(|(id, _)| provider(id).is_some()));
    }

    #[test]
    fn a_configured_model_keeps_its_settings() {
        let settings = ModelSettings {
            base_url: Some("http://localhost:8080/v1".into()),
            model: "qwen3".into(),
            api_key: None,
            actions: Some(dbagent::model::Actions::Json),
            window: Some(10),
            max_output: None,
            parallel_calls: Some(false),
            json_schema: None,
            stream: Some(false),
            price: None,
        };
        let (chosen, spec, _) = configured(&settings, "fast").unwrap();
        assert_eq!(chosen.model.profile().actions, dbagent::model::Actions::Json);
        assert_eq!((spec.profile.window, spec.stream, spec.profile.parallel_calls), (Some(10), false, false));
    }
}
