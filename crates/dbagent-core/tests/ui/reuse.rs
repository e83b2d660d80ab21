//! A session consumes what it executes.

use dbagent_core::context::CallContext;
use dbagent_core::session::{Cleared, GuardedSession};

fn twice(session: &GuardedSession, cleared: Cleared, call: &CallContext) {
    let _ = session.read(cleared, call);
    let _ = session.read(cleared, call);
}

fn main() {}
