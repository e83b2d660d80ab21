//! A database to work on: name, URL, credentials, policy, access.

mod credential;
mod url;

pub use credential::{Credential, CredentialKey};
pub use url::{ConnUrl, UrlError};

use crate::guard::Policy;
use crate::guardrails::Guardrails;

/// What may be done on a target at most, whatever the account could.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Reads only.
    #[default]
    Read,
    /// Reads, and writes that a person approved.
    Propose,
}

/// One database to work on.
#[derive(Debug, Clone)]
pub struct Target {
    /// The name under which prompts, facts and people know it. Never the URL.
    pub name: String,
    /// Where it is.
    pub url: ConnUrl,
    /// Credentials apart from the URL.
    pub credential: Credential,
    /// Which objects, columns and functions may be used.
    pub policy: Policy,
    /// Reads only, or proposals of writes too.
    pub access: Access,
    /// The limits.
    pub guardrails: Guardrails,
}

impl Target {
    /// A target with everything else at its default.
    pub fn new(name: impl Into<String>, url: ConnUrl) -> Self {
        Self {
            name: name.into(),
            url,
            credential: Credential::default(),
            policy: Policy::default(),
            access: Access::Read,
            guardrails: Guardrails::default(),
        }
    }
}
