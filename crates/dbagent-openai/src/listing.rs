//! Which models a server has, and whether a server is there at all.

use std::time::Duration;

use dbagent_core::Secret;
use dbagent_core::model::{ModelError, ModelErrorKind};
use serde_json::Value;

use crate::classify::Who;
use crate::http::{Endpoint, EndpointOptions, is_local};
use crate::limits::Limits;
use crate::service::{Answer, MAX_ERROR_BODY, MAX_REPLY};

/// How long a list may take.
pub(crate) const LIST_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a server on this machine may take to show itself.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);

/// A model that a server offers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedModel {
    /// The name to ask for.
    pub id: String,
    /// Tokens that fit into one request, where the server says so.
    pub window: Option<u64>,
}

/// What is found where a model server may be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Probe {
    /// A model server, with these models.
    Found(Vec<ListedModel>),
    /// Something answers, but not with a list of models: another program, or a server that wants a key
    /// (then the status is 401 or 403).
    Other {
        /// The status of its answer, where it was HTTP.
        status: Option<u16>,
    },
    /// Nothing answers.
    Nothing,
    /// The address is not on this machine, so nothing was sent.
    NotLocal,
}

/// Asks a server for its models.
///
/// # Errors
/// As a request to a model: unreachable, refused, or an answer that is no list. A base URL or key that
/// cannot be used is [`ModelErrorKind::InvalidRequest`].
pub async fn list_models(base_url: &str, key: Option<&Secret>) -> Result<Vec<ListedModel>, ModelError> {
    list(&who(base_url, key)?, LIST_TIMEOUT).await
}

/// Looks whether a model server answers on this machine, within a second. Nothing is ever sent elsewhere, and
/// never a key.
pub async fn probe(base_url: &str) -> Probe {
    if !is_local(base_url) {
        return Probe::NotLocal;
    }
    let Ok(who) = who(base_url, None) else { return Probe::Nothing };
    match list(&who, PROBE_TIMEOUT).await {
        Ok(models) => Probe::Found(models),
        Err(error) => match error.kind {
            ModelErrorKind::Transport | ModelErrorKind::Timeout => Probe::Nothing,
            _ => Probe::Other { status: error.status },
        },
    }
}

fn who(base_url: &str, key: Option<&Secret>) -> Result<Who, ModelError> {
    let mut options = EndpointOptions::new(base_url);
    options.key = key.cloned();
    let endpoint = Endpoint::new(&options).map_err(|e| {
        let hint = e.hint_text().map(|h| format!("; {h}")).unwrap_or_default();
        ModelError::new(ModelErrorKind::InvalidRequest, format!("{e}{hint}"))
    })?;
    Ok(Who { id: endpoint.base_url.clone(), endpoint, key_variable: None })
}

pub(crate) async fn list(who: &Who, timeout: Duration) -> Result<Vec<ListedModel>, ModelError> {
    let endpoint = &who.endpoint;
    let url = format!("{}/models", endpoint.base_url);
    let request = endpoint.client.get(url).headers(endpoint.headers.clone()).query(&endpoint.query);
    let work = async {
        let response = request.send().await?;
        let cap = if response.status().is_success() { MAX_REPLY } else { MAX_ERROR_BODY };
        Answer::read(response, cap).await
    };
    let answer = Limits::within(timeout).run(work).await.map_err(|s| s.error(&who.id))?;
    let answer = answer.map_err(|e| who.unreachable(&e))?;
    if !answer.status.is_success() {
        return Err(who.refused(&answer));
    }
    let value: Option<Value> = serde_json::from_str(&answer.body).ok();
    let models = value.as_ref().and_then(read).ok_or_else(|| {
        let mut error = ModelError::new(
            ModelErrorKind::Decode,
            format!("{}/models answers with something that is not a list of models", endpoint.base_url),
        );
        error.status = Some(answer.status.as_u16());
        error
    })?;
    Ok(models)
}

/// The list in any of its forms: `data` or `models` in an object, or a list alone; items are objects with an
/// `id` or `name`, or names.
fn read(value: &Value) -> Option<Vec<ListedModel>> {
    let list = value
        .as_array()
        .or_else(|| value.get("data")?.as_array())
        .or_else(|| value.get("models")?.as_array());
    // Ollama says null when it has no model.
    let empty = value.get("data").is_some_and(Value::is_null);
    let list = list.map(Vec::as_slice).or_else(|| empty.then_some(&[]))?;
    Some(list.iter().filter_map(read_one).collect())
}

fn read_one(item: &Value) -> Option<ListedModel> {
    const WINDOWS: [&str; 6] = [
        "/context_length",
        "/context_window",
        "/max_model_len",
        "/max_context_length",
        "/max_context_window_tokens",
        "/meta/n_ctx",
    ];
    let id =
        item.as_str().or_else(|| ["id", "name", "model"].iter().find_map(|key| item.get(*key)?.as_str()))?;
    let window = WINDOWS.iter().find_map(|path| item.pointer(path)?.as_u64()).filter(|n| *n > 0);
    Some(ListedModel { id: id.to_owned(), window })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_every_form() {
        let ids = |text: &str| {
            let list = read(&serde_json::from_str(text).unwrap());
            list.map(|l| l.into_iter().map(|m| (m.id, m.window)).collect::<Vec<_>>())
        };
        let a = |window| Some(vec![("a".to_owned(), window)]);
        assert_eq!(ids(r#"{"object":"list","data":[{"id":"a","object":"model","owned_by":"x"}]}"#), a(None));
        assert_eq!(ids(r#"{"data":[{"id":"a","max_model_len":4096}]}"#), a(Some(4096)));
        assert_eq!(ids(r#"[{"id":"a","context_length":0}]"#), a(None));
        assert_eq!(ids(r#"{"models":[{"name":"a"}]}"#), a(None));
        assert_eq!(ids(r#"["a"]"#), a(None));
        assert_eq!(ids(r#"{"data":[{"id":null},{},7,{"id":"a"}]}"#), a(None));
        assert_eq!(ids(r#"{"object":"list","data":null}"#), Some(Vec::new()));
        assert_eq!(ids(r#"{"error":"no"}"#), None);
        assert_eq!(ids("7"), None);
    }
}
