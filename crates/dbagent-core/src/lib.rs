//! The thin core of dbagent.
//!
//! For three kinds of people. **Hosts** usually take the umbrella crate `dbagent`, whose factories put
//! everything here together. **Authors of a dialect** need [`Dialect`], [`Session`], [`guard::Parsed`] and
//! [`rows::Sink`]; the guide is `docs/dialect-authors.md`. **Authors of models, tools, stores and
//! middleware** implement [`model::Model`], [`tool::Tool`], [`store::Store`], [`middleware::Middleware`].
//!
//! There is one road to a database, and it is here: size limits → parse → resolve → judge → estimate →
//! reserve → read → shape. The core holds no driver, no HTTP client, no parser of query languages and no
//! file format.

// The setters of agents are read here and in crates that offer them again.
extern crate self as dbagent_core;

pub mod account;
pub mod agent;
pub mod artifact;
pub mod budget;
pub mod catalog;
pub mod context;
pub mod dialect;
pub mod effects;
pub mod error;
pub mod estimate;
pub mod event;
pub mod fact;
pub mod guard;
pub mod guardrails;
pub mod json;
pub mod metrics;
pub mod middleware;
pub mod model;
pub mod name;
pub mod observe;
pub mod permits;
pub mod request;
pub mod rows;
pub mod secret;
pub mod session;
pub mod setup;
pub mod state;
pub mod store;
pub mod target;
pub mod text;
pub mod tool;
pub mod tools;
pub mod workers;

pub use arrow_array;
pub use arrow_schema;
pub use async_trait::async_trait;
pub use inventory;
pub use schemars;
pub use serde_json;

pub use agent::{Agent, AgentBuilder, Answer, OutputSchema};
pub use context::CallContext;
pub use dialect::{
    Capabilities, Dialect, Magic, Noun, OpenContext, ParseContext, Registry, Settings, Support, Verb,
};
pub use effects::Effects;
pub use error::{Error, ErrorKind, Result, Retry};
pub use guard::{Parsed, Policy, Refusal, Rule};
pub use guardrails::Guardrails;
pub use name::{NameCase, ObjectName};
pub use request::{Param, Params, Request};
pub use secret::Secret;
pub use session::{Cleared, GuardedSession, Session};
pub use target::{Access, ConnUrl, Credential, CredentialKey, Target};
pub use tools::Database;
