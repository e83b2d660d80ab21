//! The thin core of dbagent.
pub mod catalog;
pub mod context;
pub mod dialect;
pub mod effects;
pub mod error;
pub mod estimate;
pub mod guard;
pub mod guardrails;
pub mod json;
pub mod name;
pub mod observe;
pub mod request;
pub mod rows;
pub mod secret;
pub mod session;
pub mod target;
pub mod text;

pub use async_trait::async_trait;
pub use dialect::{
    Capabilities, Dialect, Noun, OpenContext, ParseContext, Registry, Settings, Support, Verb,
};
pub use effects::Effects;
pub use error::{Error, ErrorKind, Result, Retry};
pub use guard::{Parsed, Policy, Refusal, Rule};
pub use guardrails::Guardrails;
pub use inventory;
pub use name::{NameCase, ObjectName};
pub use request::{Param, Params, Request};
pub use secret::Secret;
pub use serde_json;
pub use session::{Cleared, GuardedSession, Session};
pub use target::{Access, ConnUrl, Credential, CredentialKey, Target};
