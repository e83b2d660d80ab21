//! For programs that let dbagent talk to a language model behind any server that speaks OpenAI's chat
//! completions: OpenAI itself and other clouds, and Ollama, LM Studio, vLLM or llama.cpp on this machine.
//!
//! [`ModelSpec::parse`] reads a model string, [`OpenAi::from_spec`] makes the model of it, which is a
//! [`Model`](dbagent_core::model::Model) like any other. [`list_models`] and [`probe`] look at servers.
//!
//! What is peculiar here, because compatible servers are so in many ways:
//!
//! - Replies are read with our own structs: every field may be absent, arguments are a text or an object,
//!   unknown fields are kept and sent back where the profile says so.
//! - A reply ends only when its server said so; what stops before is an error and never a shorter answer.
//! - One attempt is one attempt; retries belong to [`Retrying`](dbagent_core::model::Retrying).
//! - The environment is never read, nothing process-wide is set, redirects are not followed, proxies are off
//!   for this machine, and a key is in nothing that can be printed.
//!
//! Frames that are not JSON are logged by async-openai itself, whole and at level *error*, under the target
//! `async_openai`; a host that does not want model text in its logs filters that target.

mod assemble;
mod builder;
mod classify;
mod client;
mod http;
mod limits;
mod listing;
mod model;
mod provider;
mod retry_after;
mod service;
mod spec;
mod wire;

pub use builder::OpenAiBuilder;
pub use listing::{ListedModel, Probe, list_models, probe};
pub use model::OpenAi;
pub use provider::{KeyNeed, LimitField, Provider, provider, providers};
pub use spec::ModelSpec;
