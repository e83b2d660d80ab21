//! Looks for model servers on this machine and for keys in the environment. Nothing is sent elsewhere, and
//! keys are known by the names of their variables alone.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use dbagent::openai::{Probe, Provider, probe, providers};
use futures_util::future::join_all;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::config;

/// What was found.
pub(crate) struct Found {
    /// Servers on this machine.
    pub(crate) servers: Vec<Server>,
    /// Providers whose variable is set.
    pub(crate) keys: Vec<(&'static Provider, &'static str)>,
}

/// Something that listens where a model server usually does.
pub(crate) struct Server {
    /// Whose place it is.
    pub(crate) provider: &'static Provider,
    /// What answers there.
    pub(crate) state: ServerState,
}

/// What answers in a server's place.
pub(crate) enum ServerState {
    /// A model server with these models.
    Models(Vec<String>),
    /// A server that wants a key.
    Locked,
}

/// How long a look may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// In passing, before other work.
    Glance,
    /// Because a person asked.
    Thorough,
}

/// How long a port of this machine may take to answer.
const CONNECT: Duration = Duration::from_millis(100);
/// How long a server may take when looked at in passing.
const GLANCE: Duration = Duration::from_millis(250);

/// Looks at every known place at once.
pub(crate) async fn look(depth: Depth) -> Found {
    let local = providers().iter().filter(|p| p.local);
    let servers =
        join_all(local.map(|provider| look_at(provider, depth))).await.into_iter().flatten().collect();
    let keys = providers()
        .iter()
        .filter(|p| !p.local)
        .filter_map(|p| p.key_variable.map(|variable| (p, variable)))
        .filter(|(_, variable)| config::environment(variable).is_some_and(|key| !key.trim().is_empty()))
        .collect();
    Found { servers, keys }
}

async fn look_at(provider: &'static Provider, depth: Depth) -> Option<Server> {
    // Most ports are closed, and that is known long before an HTTP client is made.
    if !listens(port(provider.base_url)?).await {
        return None;
    }
    let answer = match depth {
        Depth::Glance => timeout(GLANCE, probe(provider.base_url)).await.ok()?,
        Depth::Thorough => probe(provider.base_url).await,
    };
    let state = match answer {
        Probe::Found(models) => ServerState::Models(models.into_iter().map(|m| m.id).collect()),
        Probe::Other { status: Some(401 | 403) } => ServerState::Locked,
        _ => return None,
    };
    Some(Server { provider, state })
}

fn port(base_url: &str) -> Option<u16> {
    let authority = base_url.split_once("://")?.1.split('/').next()?;
    authority.rsplit_once(':')?.1.parse().ok()
}

async fn listens(port: u16) -> bool {
    for ip in [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)] {
        if matches!(timeout(CONNECT, TcpStream::connect(SocketAddr::new(ip, port))).await, Ok(Ok(_))) {
            return true;
        }
    }
    false
}

impl Server {
    /// The model to ask when nobody named one: the first that writes text.
    pub(crate) fn first_model(&self) -> Option<&str> {
        const NOT_TEXT: &[&str] = &["embed", "rerank", "whisper", "tts", "stable-diffusion", "clip"];
        let ServerState::Models(models) = &self.state else { return None };
        models.iter().map(String::as_str).find(|m| {
            let name = m.to_lowercase();
            !NOT_TEXT.iter().any(|word| name.contains(word))
        })
    }
}

impl Found {
    /// What was found, in a few words each, in the order in which `auto` takes it.
    pub(crate) fn names(&self) -> Vec<String> {
        let servers = self.servers.iter().filter(|s| s.first_model().is_some());
        servers
            .map(|s| format!("{} on this machine", s.provider.name))
            .chain(self.keys.iter().map(|(_, variable)| (*variable).to_owned()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_local_provider_has_a_port() {
        assert!(providers().iter().filter(|p| p.local).all(|p| port(p.base_url).is_some()));
        assert_eq!(port("http://localhost:11434/v1"), Some(11434));
    }

    #[test]
    fn models_that_write_no_text_are_passed_over() {
        let server = |models: &[&str]| Server {
            provider: &providers()[0],
            state: ServerState::Models(models.iter().map(|m| (*m).to_owned()).collect()),
        };
        assert_eq!(server(&["nomic-embed-text", "qwen3:8b"]).first_model(), Some("qwen3:8b"));
        assert_eq!(server(&["nomic-embed-text"]).first_model(), None);
    }
}
