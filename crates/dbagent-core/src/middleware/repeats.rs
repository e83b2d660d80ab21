//! Stops a model that makes the same call for ever.

use async_trait::async_trait;

use super::{CallDecision, Middleware};
use crate::error::Result;
use crate::model::{Message, ToolCall};
use crate::state::State;
use crate::tool::ToolHints;

/// How often the same call may be made in a row before it is skipped.
const SKIP_AFTER: usize = 3;
/// How often before the run stops.
const STOP_AFTER: usize = 6;

/// Skips a call that was made several times in a row with the same arguments, and stops the run if that
/// does not help. Required: without it a confused model burns its whole budget.
#[derive(Debug, Default)]
pub struct RepeatGuard;

#[async_trait]
impl Middleware for RepeatGuard {
    fn name(&self) -> &'static str {
        "repeat-guard"
    }

    fn is_required(&self) -> bool {
        true
    }

    async fn on_call(&self, state: &State, call: &ToolCall, _hints: &ToolHints) -> Result<CallDecision> {
        // The reply that asks for this call is the last message; repeats are the run of equal replies before it.
        let repeats = state
            .messages
            .iter()
            .rev()
            .filter_map(|m| match m {
                Message::Assistant(a) => Some(&a.calls),
                _ => None,
            })
            .take_while(|calls| calls.iter().any(|c| c.name == call.name && c.arguments == call.arguments))
            .count();
        Ok(if repeats > STOP_AFTER {
            CallDecision::Stop(format!(
                "the model made the same call of {} {repeats} times in a row",
                call.name
            ))
        } else if repeats > SKIP_AFTER {
            CallDecision::Skip(format!(
                "You made exactly this call {} times already and its result did not change. Use that result, \
                 change the call, or answer.",
                repeats - 1
            ))
        } else {
            CallDecision::Run
        })
    }
}
