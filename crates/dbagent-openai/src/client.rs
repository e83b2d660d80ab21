//! async-openai's client, configured without its defaults: those read the environment, always send an
//! `Authorization` header, and panic on a key that no header can hold.

use async_openai::Client;
use async_openai::config::Config;
use reqwest::header::HeaderMap;
use secrecy::SecretString;

use crate::http::Endpoint;
use crate::service::{Gate, Notes};

/// Where requests go and with which headers.
#[derive(Clone)]
pub(crate) struct ServerConfig {
    endpoint: Endpoint,
    /// What the trait asks for and no request uses; the key is in a header.
    no_key: SecretString,
}

impl Config for ServerConfig {
    fn headers(&self) -> HeaderMap {
        self.endpoint.headers.clone()
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.endpoint.base_url)
    }

    fn query(&self) -> Vec<(&str, &str)> {
        self.endpoint.query.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect()
    }

    fn api_base(&self) -> &str {
        &self.endpoint.base_url
    }

    fn api_key(&self) -> &SecretString {
        &self.no_key
    }
}

pub(crate) fn client(endpoint: &Endpoint) -> Client<ServerConfig> {
    let config = ServerConfig { endpoint: endpoint.clone(), no_key: SecretString::default() };
    Client::build(endpoint.client.clone(), config)
}

/// The same client for one request, with a service whose notes only that request sees.
pub(crate) fn gated(
    client: &Client<ServerConfig>,
    endpoint: &Endpoint,
    wants_stream: bool,
    notes: &Notes,
) -> Client<ServerConfig> {
    client.clone().with_http_service(Gate {
        client: endpoint.client.clone(),
        wants_stream,
        notes: notes.clone(),
    })
}
