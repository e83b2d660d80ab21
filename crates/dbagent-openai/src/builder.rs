//! Building a model: everything that can be wrong is found here, before the first request.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use dbagent_core::model::ModelProfile;
use dbagent_core::text::shorten;
use dbagent_core::{Error, ErrorKind, Result, Secret};

use crate::classify::Who;
use crate::http::{Endpoint, EndpointOptions};
use crate::model::{Inner, OpenAi};
use crate::provider::{KeyNeed, LimitField};
use crate::spec::ModelSpec;

/// Settings of an [`OpenAi`] model. Base URL and model are needed, the rest has defaults.
pub struct OpenAiBuilder {
    endpoint: EndpointOptions,
    model: String,
    id: Option<String>,
    key_variable: Option<&'static str>,
    limit_field: LimitField,
    profile: ModelProfile,
    stream: bool,
}

impl Default for OpenAiBuilder {
    fn default() -> Self {
        Self {
            endpoint: EndpointOptions::new(""),
            model: String::new(),
            id: None,
            key_variable: None,
            limit_field: LimitField::default(),
            profile: ModelProfile::default(),
            stream: true,
        }
    }
}

impl OpenAiBuilder {
    /// What a model string says. The key is separate, because the host decides where it comes from.
    pub fn spec(mut self, spec: &ModelSpec) -> Self {
        self.endpoint.base_url.clone_from(&spec.base_url);
        self.model.clone_from(&spec.model);
        self.id = Some(spec.id());
        self.key_variable = spec.key_variable;
        self.limit_field = spec.limit_field;
        self.profile = spec.profile.clone();
        self.stream = spec.stream;
        self
    }

    /// Where the server's OpenAI-compatible interface is, such as `http://localhost:8080/v1`.
    pub fn base_url(mut self, base_url: impl Into<String>) -> Self {
        self.endpoint.base_url = base_url.into();
        self
    }

    /// The model's name on that server.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }

    /// The name under which usage is reported; base URL and model by default.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The key, sent as a bearer token. An empty one is none: then no `Authorization` header is sent.
    pub fn api_key(mut self, key: impl Into<Secret>) -> Self {
        self.endpoint.key = Some(key.into());
        self
    }

    /// What the model can do.
    pub fn profile(mut self, profile: ModelProfile) -> Self {
        self.profile = profile;
        self
    }

    /// One more header of every request, such as `api-key` on Azure. Its value is treated as a secret; an
    /// `Authorization` here replaces the bearer token.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        self.endpoint.headers.push((name.into(), value.into()));
        self
    }

    /// One more query parameter of every request, such as `api-version` on Azure. Its value is treated as a
    /// secret.
    pub fn query(mut self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        self.endpoint.query.push((name.into(), value.into()));
        self
    }

    /// The field in which the server reads the most tokens of a reply.
    pub fn limit_field(mut self, field: LimitField) -> Self {
        self.limit_field = field;
        self
    }

    /// Whether replies are asked for as a stream (the default). Without, the same events come at once.
    pub fn streaming(mut self, stream: bool) -> Self {
        self.stream = stream;
        self
    }

    /// How long connecting may take; 10 s by default.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.endpoint.connect_timeout = timeout;
        self
    }

    /// How long the server may be silent, before its first byte and between any two; 120 s by default. A
    /// local server that loads a large model may need more.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.endpoint.idle_timeout = timeout;
        self
    }

    /// Whether the HTTP client may use the proxies that the environment names (the default). It never does
    /// for this machine.
    pub fn environment_proxies(mut self, allowed: bool) -> Self {
        self.endpoint.environment_proxies = allowed;
        self
    }

    /// Root certificates to trust beside the public ones, as PEM text.
    pub fn root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.endpoint.root_certificates.push(pem.into());
        self
    }

    /// Checks the settings and makes the model. Nothing is sent.
    ///
    /// # Errors
    /// [`ErrorKind::Config`]: no base URL or model, a URL that is not one, a key or header that HTTP cannot
    /// carry, a certificate that is none.
    pub fn build(self) -> Result<OpenAi> {
        if self.endpoint.base_url.is_empty() {
            return Err(config("the model has no base URL").hint("such as http://localhost:8080/v1"));
        }
        if self.model.trim().is_empty() {
            return Err(config("the model has no name").hint("the server lists its models at /models"));
        }
        let endpoint = Endpoint::new(&self.endpoint)?;
        let id = self.id.unwrap_or_else(|| format!("{}#{}", endpoint.base_url, self.model));
        let id = shorten(&id, 200);
        let who = Who { id, endpoint, key_variable: self.key_variable };
        Ok(OpenAi::from_inner(Inner {
            client: crate::client::client(&who.endpoint),
            who: Arc::new(who),
            model: self.model,
            limit_field: self.limit_field,
            profile: self.profile,
            stream: self.stream,
        }))
    }
}

impl fmt::Debug for OpenAiBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiBuilder")
            .field("endpoint", &self.endpoint)
            .field("model", &self.model)
            .field("id", &self.id)
            .field("limit_field", &self.limit_field)
            .field("profile", &self.profile)
            .field("stream", &self.stream)
            .finish_non_exhaustive()
    }
}

/// The model that a string names, with the key that it needs.
pub(crate) fn from_spec(spec: &ModelSpec, key: Option<Secret>) -> Result<OpenAi> {
    let key = key.filter(|key| !key.is_empty());
    if key.is_none() && spec.key == KeyNeed::Required {
        let hint = match spec.key_variable {
            Some(variable) => format!("put it into the environment variable {variable}, or configure it"),
            None => "configure it".to_owned(),
        };
        return Err(config(format!("{spec} needs an API key and there is none")).hint(hint));
    }
    let builder = OpenAi::builder().spec(spec);
    match key {
        Some(key) => builder.api_key(key).build(),
        None => builder.build(),
    }
}

fn config(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Config, message).op("configure the model")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(builder: OpenAiBuilder) -> String {
        let e = builder.build().unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Config);
        format!("{e} {e:?} {}", e.hint_text().unwrap_or_default())
    }

    #[test]
    fn what_is_missing_is_said() {
        assert!(refusal(OpenAi::builder()).contains("no base URL"));
        assert!(refusal(OpenAi::builder().base_url("http://localhost:1")).contains("no name"));
        let spec = ModelSpec::parse("openai:gpt-5").unwrap();
        for key in [None, Some(Secret::new(""))] {
            let e = OpenAi::from_spec(&spec, key).unwrap_err();
            assert!(e.hint_text().unwrap().contains("OPENAI_API_KEY"));
        }
        assert!(OpenAi::from_spec(&ModelSpec::parse("ollama:m").unwrap(), None).is_ok());
    }

    #[test]
    fn a_key_with_a_line_break_is_refused() {
        let builder = || OpenAi::builder().base_url("http://localhost:1").model("m");
        let text = refusal(builder().api_key("canary-7f3\n"));
        assert!(text.contains("line break") && !text.contains("canary"), "{text}");
        let text = refusal(builder().header("x-key", "canary-7f3\r\nx-evil: 1"));
        assert!(text.contains("x-key") && !text.contains("canary"), "{text}");
        assert!(refusal(builder().header("x key", "v")).contains("not the name of an HTTP header"));
    }

    #[test]
    fn debug_hides_every_secret() {
        let builder = OpenAi::builder()
            .base_url("http://localhost:1")
            .model("m")
            .api_key("canary-1")
            .header("x-key", "canary-2")
            .query("sig", "canary-3");
        let shown = [format!("{builder:?}"), format!("{:?}", builder.build().unwrap())].concat();
        assert!(!shown.contains("canary"), "{shown}");
    }
}
