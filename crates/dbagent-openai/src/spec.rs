//! Model strings: one line that names a server and a model.

use std::fmt;
use std::str::FromStr;

use dbagent_core::model::{Actions, ModelProfile};
use dbagent_core::text::{near_misses, shorten};
use dbagent_core::{Error, ErrorKind, Result};
use reqwest::Url;

use crate::http::{base_url, is_loopback};
use crate::provider::{KeyNeed, LimitField, Provider, provider, providers};

/// What a model string means: server, model, key, profile.
///
/// | form | example |
/// |---|---|
/// | provider and model | `openai:gpt-5`, `ollama:qwen3:8b`, `openrouter:vendor/model` |
/// | base URL and model | `http://localhost:8080/v1#qwen3`, or with a space instead of `#` |
///
/// Both may end in options, `ollama:gemma3?actions=json&window=8192`:
///
/// | option | values | meaning |
/// |---|---|---|
/// | `actions` | `native`, `json` | how the model asks for tools |
/// | `window` | a number | tokens that fit into one request |
/// | `max_output` | a number | most tokens of one reply |
/// | `parallel_calls` | `true`, `false` | whether it may ask for several tools at once |
/// | `json_schema` | `true`, `false` | whether the server keeps to a schema |
/// | `schema_with_tools` | `true`, `false` | whether a schema and tools may be sent together |
/// | `replay_extras` | `true`, `false` | whether provider fields of earlier replies are sent back |
/// | `stream` | `true`, `false` | whether replies are asked for as a stream |
///
/// A base URL without a path gets `/v1`; one that ends in `/chat/completions` loses that. A URL of a known
/// cloud server gets that server's profile.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelSpec {
    /// The provider's id, or `custom` for a base URL that belongs to none of them.
    pub provider: String,
    /// Where the server's OpenAI-compatible interface is; no `/` at the end.
    pub base_url: String,
    /// The model's name on that server.
    pub model: String,
    /// The environment variable that usually holds the key. This crate never reads it.
    pub key_variable: Option<&'static str>,
    /// Whether the server wants a key.
    pub key: KeyNeed,
    /// Where the server reads the most tokens of a reply.
    pub limit_field: LimitField,
    /// What the model can do.
    pub profile: ModelProfile,
    /// Whether replies are asked for as a stream.
    pub stream: bool,
}

impl ModelSpec {
    /// Reads a model string. Pure: no network, no environment.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] with the nearest known name, or with what is missing.
    ///
    /// # Examples
    /// ```
    /// use dbagent_openai::ModelSpec;
    ///
    /// let spec = ModelSpec::parse("ollama:qwen3:8b")?;
    /// assert_eq!((spec.base_url.as_str(), spec.model.as_str()), ("http://localhost:11434/v1", "qwen3:8b"));
    /// # Ok::<(), dbagent_core::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        let (place, options) = split_options(text);
        let mut spec = if is_url(place) { Self::from_url(place)? } else { Self::from_name(place)? };
        for option in options {
            spec.set(option)?;
        }
        Ok(spec)
    }

    fn from_name(text: &str) -> Result<Self> {
        let Some((id, model)) = text.split_once(':') else {
            return Err(config(format!(
                "\"{}\" does not say which server has that model",
                shorten(text, 80)
            ))
            .hint(format!(
                "write provider:model, such as openai:{}; {}",
                example(text),
                known()
            )));
        };
        let Some(known_provider) = provider(&id.to_ascii_lowercase()) else {
            let near = near_misses(id, providers().iter().map(|p| p.id), 1);
            let advice = near.first().map(|name| format!("did you mean {name}? ")).unwrap_or_default();
            return Err(config(format!("there is no model provider \"{}\"", shorten(id, 80)))
                .hint(format!("{advice}{}", known())));
        };
        let model = model.trim();
        if model.is_empty() {
            return Err(config(format!("\"{id}:\" names no model")).hint(format!(
                "write the model's name after the colon; {} lists its models at {}/models",
                known_provider.name, known_provider.base_url
            )));
        }
        Ok(Self::of(known_provider, model))
    }

    fn from_url(text: &str) -> Result<Self> {
        let (url, model) = text
            .split_once('#')
            .or_else(|| text.split_once(char::is_whitespace))
            .map_or((text, ""), |(url, model)| (url, model.trim()));
        let url = base_url(url)?;
        if model.is_empty() {
            return Err(config(format!("the base URL {url} names no model")).hint(format!(
                "append # and the model's name, such as {url}#qwen3; {url}/models lists the names"
            )));
        }
        let parsed = Url::parse(&url).map_err(|e| config("the base URL cannot be read").source(e))?;
        let known_provider = providers().iter().filter(|p| !p.local).find(|p| same_server(p, &parsed));
        Ok(match known_provider {
            Some(p) => Self { base_url: url, ..Self::of(p, model) },
            None => Self {
                provider: "custom".to_owned(),
                base_url: url,
                model: model.to_owned(),
                key_variable: None,
                key: KeyNeed::Optional,
                limit_field: LimitField::MaxTokens,
                profile: ModelProfile::default(),
                stream: true,
            },
        })
    }

    /// A model of a known provider, with that provider's defaults.
    pub fn of(provider: &Provider, model: impl Into<String>) -> Self {
        Self {
            provider: provider.id.to_owned(),
            base_url: provider.base_url.to_owned(),
            model: model.into(),
            key_variable: provider.key_variable,
            key: provider.key,
            limit_field: provider.limit_field,
            profile: provider.profile(),
            stream: true,
        }
    }

    /// The name under which usage is reported: `openai:gpt-5`, or the base URL and the model.
    pub fn id(&self) -> String {
        if self.provider == "custom" {
            format!("{}#{}", self.base_url, self.model)
        } else {
            format!("{}:{}", self.provider, self.model)
        }
    }

    /// Whether the server is on this machine, so that nothing leaves it.
    pub fn is_local(&self) -> bool {
        Url::parse(&self.base_url).is_ok_and(|url| is_loopback(&url))
    }

    fn set(&mut self, option: &str) -> Result<()> {
        let (key, value) = option.split_once('=').unwrap_or((option, ""));
        let profile = &mut self.profile;
        match key {
            "actions" => {
                profile.actions = match value {
                    "native" => Actions::Native,
                    "json" => Actions::Json,
                    _ => return Err(not_a(key, value, "native or json")),
                }
            }
            "window" => profile.window = Some(number(key, value)?),
            "max_output" => profile.max_output = Some(number(key, value)?),
            "parallel_calls" => profile.parallel_calls = truth(key, value)?,
            "json_schema" => profile.json_schema = truth(key, value)?,
            "schema_with_tools" => profile.schema_with_tools = truth(key, value)?,
            "replay_extras" => profile.replay_extras = truth(key, value)?,
            "stream" => self.stream = truth(key, value)?,
            _ => {
                let near = near_misses(key, OPTIONS.iter().copied(), 1);
                let advice = near.first().map(|name| format!("did you mean {name}? ")).unwrap_or_default();
                return Err(config(format!("a model string has no option \"{}\"", shorten(key, 40)))
                    .hint(format!("{advice}known are {}", OPTIONS.join(", "))));
            }
        }
        Ok(())
    }
}

impl FromStr for ModelSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

impl fmt::Display for ModelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id())
    }
}

const OPTIONS: &[&str] = &[
    "actions",
    "window",
    "max_output",
    "parallel_calls",
    "json_schema",
    "schema_with_tools",
    "replay_extras",
    "stream",
];

/// Options follow the last `?`, and only where what follows looks like options: a URL may hold one too,
/// which is then refused with its own words.
fn split_options(text: &str) -> (&str, Vec<&str>) {
    match text.rsplit_once('?') {
        Some((place, tail))
            if !is_url(text) || place.contains('#') || place.contains(char::is_whitespace) =>
        {
            (place.trim_end(), tail.split('&').filter(|o| !o.is_empty()).collect())
        }
        _ => (text, Vec::new()),
    }
}

fn is_url(text: &str) -> bool {
    text.contains("://")
}

fn same_server(provider: &Provider, url: &Url) -> bool {
    Url::parse(provider.base_url).is_ok_and(|p| p.origin() == url.origin())
}

fn config(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Config, message).op("read the model string")
}

fn known() -> String {
    let ids: Vec<_> = providers().iter().map(|p| p.id).collect();
    format!(
        "known providers are {}; any other server is a base URL and a model, such as http://localhost:8080/v1#name",
        ids.join(", ")
    )
}

fn example(text: &str) -> String {
    if text.is_empty() { "gpt-5".to_owned() } else { shorten(text, 80) }
}

fn not_a(key: &str, value: &str, expected: &str) -> Error {
    config(format!("the option {key} must be {expected}, not \"{}\"", shorten(value, 40)))
}

fn number(key: &str, value: &str) -> Result<u64> {
    value.parse().ok().filter(|n| *n > 0).ok_or_else(|| not_a(key, value, "a number of tokens"))
}

fn truth(key: &str, value: &str) -> Result<bool> {
    value.parse().map_err(|_| not_a(key, value, "true or false"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> ModelSpec {
        ModelSpec::parse(text).unwrap()
    }

    fn refusal(text: &str) -> String {
        let e = ModelSpec::parse(text).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Config, "{text}");
        format!("{e} | {}", e.hint_text().unwrap_or_default())
    }

    #[test]
    fn providers_by_name() {
        let spec = parse(" openai:gpt-5 ");
        assert_eq!(spec.base_url, "https://api.openai.com/v1");
        assert_eq!((spec.key, spec.key_variable), (KeyNeed::Required, Some("OPENAI_API_KEY")));
        assert_eq!(spec.limit_field, LimitField::MaxCompletionTokens);
        assert!(!spec.is_local());
        assert_eq!(spec.to_string(), "openai:gpt-5");

        let spec = parse("Ollama:qwen3:8b");
        assert_eq!((spec.model.as_str(), spec.key), ("qwen3:8b", KeyNeed::None));
        assert!(spec.is_local());
        assert_eq!(parse("openrouter:vendor/model:free").model, "vendor/model:free");
        assert!(parse("gemini:gemini-2.5-pro").profile.replay_extras);
        assert!(!parse("anthropic:claude-sonnet-4-5").profile.json_schema);
        for p in providers() {
            assert_eq!(parse(&format!("{}:m", p.id)), ModelSpec::of(p, "m"));
        }
    }

    #[test]
    fn base_urls() {
        let spec = parse("http://10.0.0.7:8000/v1/#vendor/model");
        assert_eq!((spec.provider.as_str(), spec.base_url.as_str()), ("custom", "http://10.0.0.7:8000/v1"));
        assert_eq!((spec.model.as_str(), spec.key), ("vendor/model", KeyNeed::Optional));
        assert_eq!(spec.id(), "http://10.0.0.7:8000/v1#vendor/model");
        assert_eq!(parse("http://localhost:8080/v1 name of it").model, "name of it");
        assert_eq!(parse("http://localhost:8080#m").base_url, "http://localhost:8080/v1");
        assert_eq!(parse("http://[::1]:8080/v1/chat/completions#m").base_url, "http://[::1]:8080/v1");
        let known = parse("https://api.openai.com/v1#gpt-5");
        assert_eq!((known.provider.as_str(), known.limit_field), ("openai", LimitField::MaxCompletionTokens));
    }

    #[test]
    fn options() {
        let spec = parse("ollama:gemma3?actions=json&window=8192&stream=false&parallel_calls=false");
        assert_eq!(spec.model, "gemma3");
        assert_eq!(spec.profile.actions, Actions::Json);
        assert_eq!(
            (spec.profile.window, spec.stream, spec.profile.parallel_calls),
            (Some(8192), false, false)
        );
        assert_eq!(parse("http://h:1/v1#m?actions=json").profile.actions, Actions::Json);
        assert_eq!(parse("http://h:1/v1 m?json_schema=false&max_output=9").profile.max_output, Some(9));
        assert!(refusal("ollama:m?action=json").contains("did you mean actions?"));
        assert!(refusal("ollama:m?actions=xml").contains("native or json, not \"xml\""));
        assert!(refusal("ollama:m?window=-1").contains("a number of tokens"));
        assert!(refusal("ollama:m?stream=no").contains("true or false"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let text = refusal("opnai:gpt-5");
        assert!(text.contains("did you mean openai?") && text.contains("lmstudio"), "{text}");
        assert!(refusal("gpt-5").contains("openai:gpt-5"));
        assert!(refusal("").contains("openai:gpt-5"));
        assert!(refusal("openai: ").contains("names no model"));
        assert!(refusal("http://localhost:8080/v1").contains("#qwen3"));
        assert!(refusal("http://localhost:8080/v1#").contains("names no model"));
        assert!(refusal("http://#m").contains("URL"));
        assert!(refusal("ftp://host/v1#m").contains("http"));
        assert!(refusal("http://h/v1?key=1#m").contains("query"));
        let long = refusal(&"x".repeat(1 << 20));
        assert!(long.len() < 2_000);
    }

    #[test]
    fn a_password_in_the_url_is_refused_and_not_repeated() {
        let text = refusal("http://user:canary-7f3@host/v1#m");
        assert!(!text.contains("canary-7f3") && text.contains("key"), "{text}");
        let e = ModelSpec::parse("http://canary-7f3@host/v1#m").unwrap_err();
        assert!(!format!("{e:?}").contains("canary-7f3"));
    }
}
