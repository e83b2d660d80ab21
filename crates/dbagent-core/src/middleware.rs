//! Middleware: hooks around the model and around each call.
//!
//! Order: the core's own first, then the host's in the order given. Middleware of the same name replaces
//! in place; the required ones cannot be replaced. An error of a hook fails closed: the call is refused,
//! or the run stops.

mod repeats;

use std::sync::Arc;

use async_trait::async_trait;

pub use repeats::RepeatGuard;

use crate::error::Result;
use crate::model::{ModelRequest, ToolCall};
use crate::state::State;
use crate::tool::{Tool, ToolHints, ToolOutput};

/// What happens to a call.
#[derive(Debug, Clone, PartialEq)]
pub enum CallDecision {
    /// It runs as it is.
    Run,
    /// It runs with other arguments (JSON text).
    Rewrite(String),
    /// It does not run; the model reads this instead.
    Skip(String),
    /// A person is asked first, for this reason.
    Ask(String),
    /// The run stops, for this reason.
    Stop(String),
}

/// Hooks of a run. All methods have defaults that change nothing.
#[async_trait]
pub trait Middleware: Send + Sync {
    /// The name; one of each is used.
    fn name(&self) -> &str;

    /// Whether nobody may replace it.
    fn is_required(&self) -> bool {
        false
    }

    /// Before a run begins.
    async fn before_run(&self, state: &State) -> Result<()> {
        let _ = state;
        Ok(())
    }

    /// Before each request to the model; may change it.
    async fn before_model(&self, state: &State, request: &mut ModelRequest) -> Result<()> {
        let _ = (state, request);
        Ok(())
    }

    /// Before each call.
    async fn on_call(&self, state: &State, call: &ToolCall, hints: &ToolHints) -> Result<CallDecision> {
        let _ = (state, call, hints);
        Ok(CallDecision::Run)
    }

    /// After each call; may change what the model reads.
    async fn after_call(&self, call: &ToolCall, output: ToolOutput) -> Result<ToolOutput> {
        let _ = call;
        Ok(output)
    }

    /// After a run ended.
    async fn after_run(&self, state: &State) -> Result<()> {
        let _ = state;
        Ok(())
    }

    /// Tools that it adds.
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        Vec::new()
    }

    /// A block that it adds to the system text.
    fn prompt(&self) -> Option<String> {
        None
    }
}

/// Puts middleware in order: the core's, then the host's; same name replaces in place.
///
/// # Errors
/// [`ErrorKind::Config`](crate::ErrorKind::Config) when a required one would be replaced.
pub(crate) fn ordered(
    own: Vec<Arc<dyn Middleware>>,
    host: Vec<Arc<dyn Middleware>>,
) -> Result<Vec<Arc<dyn Middleware>>> {
    let mut all = own;
    for middleware in host {
        match all.iter_mut().find(|m| m.name() == middleware.name()) {
            Some(known) if known.is_required() => {
                return Err(crate::Error::new(
                    crate::ErrorKind::Config,
                    format!("the middleware {:?} is required and cannot be replaced", middleware.name()),
                )
                .hint("give yours another name"));
            }
            Some(known) => *known = middleware,
            None => all.push(middleware),
        }
    }
    Ok(all)
}
