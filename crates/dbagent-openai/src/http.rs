//! The HTTP client: its own TLS, its own time limits, no redirects, no proxy for this machine.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use dbagent_core::text::shorten;
use dbagent_core::{Error, ErrorKind, Result, Secret};
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

/// A server and how it is talked to. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Endpoint {
    /// Where the interface is; no `/` at the end.
    pub(crate) base_url: String,
    /// Headers of every request; values that may be secret are marked so.
    pub(crate) headers: HeaderMap,
    /// Query parameters of every request.
    pub(crate) query: Vec<(String, String)>,
    /// The client.
    pub(crate) client: reqwest::Client,
    /// How long a silent server is waited for.
    pub(crate) idle_timeout: Duration,
    /// Texts that must not appear in anything that is shown.
    secrets: Arc<[Secret]>,
}

/// What an endpoint is made of.
#[derive(Clone)]
pub(crate) struct EndpointOptions {
    pub(crate) base_url: String,
    pub(crate) key: Option<Secret>,
    pub(crate) headers: Vec<(String, Secret)>,
    pub(crate) query: Vec<(String, Secret)>,
    pub(crate) connect_timeout: Duration,
    pub(crate) idle_timeout: Duration,
    pub(crate) environment_proxies: bool,
    pub(crate) root_certificates: Vec<Vec<u8>>,
}

impl EndpointOptions {
    /// Connect 10 s, idle read 120 s.
    pub(crate) fn new(base_url: &str) -> Self {
        Self {
            base_url: base_url.to_owned(),
            key: None,
            headers: Vec::new(),
            query: Vec::new(),
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_mins(2),
            environment_proxies: true,
            root_certificates: Vec::new(),
        }
    }
}

impl fmt::Debug for EndpointOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndpointOptions")
            .field("base_url", &without_secrets(&self.base_url))
            .field("key", &self.key)
            .field("headers", &self.headers)
            .field("query", &self.query)
            .field("connect_timeout", &self.connect_timeout)
            .field("idle_timeout", &self.idle_timeout)
            .field("environment_proxies", &self.environment_proxies)
            .field("root_certificates", &self.root_certificates.len())
            .finish()
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("base_url", &self.base_url)
            .field("headers", &self.headers.keys().map(HeaderName::as_str).collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl Endpoint {
    /// Checks everything that can be checked before the first request.
    pub(crate) fn new(options: &EndpointOptions) -> Result<Self> {
        let base_url = base_url(&options.base_url)?;
        let mut headers = HeaderMap::new();
        let mut secrets = Vec::new();
        for (name, value) in &options.headers {
            let name = HeaderName::try_from(name.as_str()).map_err(|_| {
                config(format!("\"{}\" is not the name of an HTTP header", shorten(name, 60)))
            })?;
            let value = header_value(value, &format!("the header {name}"))?;
            headers.insert(name, value);
        }
        secrets.extend(options.headers.iter().chain(&options.query).map(|(_, value)| value.clone()));
        // A header of the host's wins, so that gateways with their own scheme work.
        if let Some(key) = options.key.as_ref().filter(|key| !key.is_empty()) {
            let bearer = Secret::new(format!("Bearer {}", key.expose()));
            let bearer = header_value(&bearer, "the API key")?;
            headers.entry(AUTHORIZATION).or_insert(bearer);
            secrets.push(key.clone());
        }
        if base_url.starts_with("http://") && !secrets.is_empty() && !is_local(&base_url) {
            tracing::warn!(base_url, "the key of this model server travels unencrypted; use https");
        }
        let client = client(options, is_local(&base_url))?;
        let query = options.query.iter().map(|(k, v)| (k.clone(), v.expose().to_owned())).collect();
        let idle_timeout = options.idle_timeout;
        Ok(Self { base_url, headers, query, client, idle_timeout, secrets: secrets.into() })
    }

    /// The text without any of this endpoint's secrets: some servers repeat the key in their errors.
    pub(crate) fn hide(&self, text: &str) -> String {
        let mut out = text.to_owned();
        // Shorter ones than four characters would turn every text into stars and protect nothing.
        for secret in self.secrets.iter().filter(|s| s.expose().len() >= 4) {
            out = out.replace(secret.expose(), "****");
        }
        out
    }
}

fn client(options: &EndpointOptions, local: bool) -> Result<reqwest::Client> {
    let mut builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls(&options.root_certificates)?)
        .connect_timeout(options.connect_timeout)
        .read_timeout(options.idle_timeout)
        .user_agent(concat!("dbagent/", env!("CARGO_PKG_VERSION")))
        // A redirect would carry a conversation to a place that nobody configured.
        .redirect(reqwest::redirect::Policy::none());
    if local || !options.environment_proxies {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|e| config("the HTTP client cannot be made").source(e.without_url()))
}

/// One TLS provider for the whole program, passed by value: a library installs nothing process-wide.
fn tls(root_certificates: &[Vec<u8>]) -> Result<rustls::ClientConfig> {
    let mut roots = rustls::RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for pem in root_certificates {
        let before = roots.len();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate =
                certificate.map_err(|e| config("a root certificate is not in PEM form").source(e))?;
            roots.add(certificate).map_err(|e| config("a root certificate cannot be used").source(e))?;
        }
        if roots.len() == before {
            return Err(config("a root certificate file holds no certificate")
                .hint("it must be PEM text with BEGIN CERTIFICATE"));
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| config("TLS cannot be set up").source(e))?
        .with_root_certificates(roots)
        .with_no_client_auth())
}

fn header_value(value: &Secret, what: &str) -> Result<HeaderValue> {
    let refused = || {
        config(format!("{what} holds a character that cannot be sent in an HTTP header"))
            .hint("a line break at its end is usual when it was read from a file; remove it")
    };
    // HTTP would carry other scripts as bytes; in a key they are a slip of copying.
    let mut header = HeaderValue::from_str(value.expose())
        .ok()
        .filter(|_| value.expose().is_ascii())
        .ok_or_else(refused)?;
    header.set_sensitive(true);
    Ok(header)
}

/// The base URL in its normal form: `http` or `https`, a host, no `/` at the end, no credentials, no query.
/// Without a path it gets `/v1`; `/chat/completions` at its end is dropped.
pub(crate) fn base_url(text: &str) -> Result<String> {
    let shown = shorten(&without_secrets(text), 120);
    let mut url = Url::parse(text.trim()).map_err(|e| {
        config(format!("the base URL \"{shown}\" cannot be read: {e}"))
            .hint("it looks like http://localhost:8080/v1")
    })?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(config(format!("the base URL \"{shown}\" is not one of HTTP"))
            .hint("it starts with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(
            config("the base URL holds credentials").hint("give the key as a key, never inside the URL")
        );
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(config("the base URL holds a query or a fragment")
            .hint("end it at its path; query parameters are a setting of their own"));
    }
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/chat/completions").unwrap_or(path);
    let path = if path.is_empty() { "/v1".to_owned() } else { path.to_owned() };
    url.set_path(&path);
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// Whether the host is this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    match address {
        Ok(ip) => ip.is_loopback() || ip.is_unspecified(),
        Err(_) => host.eq_ignore_ascii_case("localhost") || host.to_ascii_lowercase().ends_with(".localhost"),
    }
}

pub(crate) fn is_local(base_url: &str) -> bool {
    Url::parse(base_url).is_ok_and(|url| is_loopback(&url))
}

/// The text without what stands before an `@` or behind a `?`, whether or not it is a URL. Without an `@`
/// what stands in the place of a port and is none may be a password that was cut off.
fn without_secrets(text: &str) -> String {
    let (scheme, rest) = text.split_once("://").map_or(("", text), |(scheme, rest)| (scheme, rest));
    let mark = if scheme.is_empty() { "" } else { "://" };
    let (hidden, rest) = rest.rsplit_once('@').map_or(("", rest), |(_, rest)| ("****@", rest));
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let authority = match authority.rsplit_once(':') {
        Some((host, port)) if !authority.ends_with(']') && !port.bytes().all(|b| b.is_ascii_digit()) => {
            format!("{host}:****")
        }
        _ => authority.to_owned(),
    };
    format!("{scheme}{mark}{hidden}{authority}{path}")
}

fn config(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Config, message).op("configure the model")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_told_from_others() {
        let local = [
            "http://localhost:1/v1",
            "http://127.8.0.1",
            "http://[::1]:9/x",
            "http://a.localhost",
            "http://0.0.0.0:1",
        ];
        let remote = [
            "http://10.0.0.1",
            "https://localhost.example.com",
            "http://[2001:db8::1]",
            "http://127.0.0.1.nip.io",
        ];
        for text in local {
            assert!(is_local(text), "{text}");
        }
        for text in remote {
            assert!(!is_local(text), "{text}");
        }
    }

    #[test]
    fn nothing_before_an_at_sign_is_repeated() {
        assert_eq!(without_secrets("http://u:canary@h/p?key=canary"), "http://****@h/p");
        assert_eq!(without_secrets("u:canary@h"), "****@h");
        // Before an @, a ? or a # may belong to the password; without one, what is no port may be one.
        for text in [
            "http://u:canary@:port@/",
            "http://u:canary?x@h/v1",
            "http://u:canary#x@h/v1",
            "http://u:canary",
            "http://u:canary/v1",
            "ftp://u:canary",
        ] {
            let e = base_url(text).unwrap_err();
            assert!(!format!("{e} {e:?} {:?}", e.hint_text()).contains("canary"), "{e}");
        }
        assert_eq!(without_secrets("ftp://h:80/p"), "ftp://h:80/p");
        assert_eq!(without_secrets("ftp://[::1]/p"), "ftp://[::1]/p");
    }

    #[test]
    fn secrets_are_hidden_in_any_text() {
        let mut options = EndpointOptions::new("http://localhost:1");
        options.key = Some(Secret::new("canary-1"));
        options.headers = vec![("x-gateway".to_owned(), Secret::new("canary-2"))];
        options.query = vec![("sig".to_owned(), Secret::new("canary-3"))];
        let endpoint = Endpoint::new(&options).unwrap();
        assert_eq!(endpoint.hide("a canary-1 b canary-2 c canary-3"), "a **** b **** c ****");
        let shown = format!("{endpoint:?} {options:?}");
        assert!(!shown.contains("canary") && shown.contains("x-gateway"), "{shown}");
    }

    #[test]
    fn a_key_that_no_header_can_hold_is_refused() {
        for key in ["canary-7f3\n", "canary-7f3\r\nx: y", "canary-7f3\0", "canary-7f3é"] {
            let mut options = EndpointOptions::new("http://localhost:1");
            options.key = Some(Secret::new(key));
            let e = Endpoint::new(&options).unwrap_err();
            assert_eq!(e.kind(), ErrorKind::Config);
            assert!(!format!("{e} {e:?}").contains("canary-7f3"));
        }
    }

    #[test]
    fn a_hosts_own_authorization_wins_and_an_empty_key_is_none() {
        let mut options = EndpointOptions::new("http://localhost:1");
        options.key = Some(Secret::new(""));
        assert!(Endpoint::new(&options).unwrap().headers.is_empty());
        options.key = Some(Secret::new("k"));
        options.headers = vec![("Authorization".to_owned(), Secret::new("Basic abcd"))];
        let endpoint = Endpoint::new(&options).unwrap();
        assert_eq!(endpoint.headers.get_all(AUTHORIZATION).iter().count(), 1);
        assert_eq!(endpoint.headers.get(AUTHORIZATION).unwrap(), "Basic abcd");
    }

    #[test]
    fn broken_root_certificates_are_refused() {
        let mut options = EndpointOptions::new("https://localhost:1");
        for pem in ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            options.root_certificates = vec![pem.as_bytes().to_vec()];
            assert_eq!(Endpoint::new(&options).unwrap_err().kind(), ErrorKind::Config, "{pem}");
        }
    }
}
