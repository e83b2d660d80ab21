//! One judgement is one execution: nothing is cloned.

use dbagent_core::session::{Approved, Cleared, Rehearsal};

fn copy(cleared: Cleared, rehearsal: Rehearsal, approved: Approved) -> (Cleared, Rehearsal, Approved) {
    (cleared.clone(), rehearsal.clone(), approved.clone())
}

fn main() {}
