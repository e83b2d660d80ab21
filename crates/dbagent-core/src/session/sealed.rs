//! The only three values that a session executes. Only the core makes them.
//!
//! Fields are private, there is no public constructor, nothing is `Clone` or (de)serializable, and a
//! session consumes them. `tests/ui` shows that another crate cannot forge one. This keeps an honest
//! dialect from forgetting the guard; a malicious crate in the same process is outside the threat model.

use std::sync::Arc;
use std::time::Duration;

use crate::guard::Parsed;
use crate::request::{Params, Request, RequestBody};
use crate::target::Access;

/// Where a judged value belongs: another session, another policy or another access must not run it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seal {
    pub(crate) nonce: u64,
    pub(crate) digest: [u8; 32],
    pub(crate) access: Access,
}

/// The caps of one execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// Most rows; the sink says stop when one more exists.
    pub rows: Option<u64>,
    /// Most bytes of all values together.
    pub bytes: Option<u64>,
    /// Most bytes of one value.
    pub cell_bytes: u64,
    /// Most time.
    pub timeout: Duration,
}

/// A request that was judged a pure read.
#[derive(Debug)]
pub struct Cleared {
    request: Request,
    parsed: Arc<Parsed>,
    caps: Caps,
    seal: Seal,
}

impl Cleared {
    pub(crate) fn new(request: Request, parsed: Arc<Parsed>, caps: Caps, seal: Seal) -> Self {
        Self { request, parsed, caps, seal }
    }

    pub(crate) fn seal(&self) -> Seal {
        self.seal
    }

    /// The judged text: what runs is exactly these bytes.
    pub fn text(&self) -> &str {
        self.request.as_str()
    }

    /// The judged body.
    pub fn body(&self) -> &RequestBody {
        &self.request.body
    }

    /// The values to bind.
    pub fn params(&self) -> &Params {
        &self.request.params
    }

    /// What the grammar said of it.
    pub fn parsed(&self) -> &Parsed {
        &self.parsed
    }

    /// The caps to run under.
    pub fn caps(&self) -> Caps {
        self.caps
    }
}

/// The steps of a write that may be tried and are always rolled back.
#[derive(Debug)]
pub struct Rehearsal {
    steps: Vec<super::Step>,
    caps: Caps,
}

/// The steps of a write that a person approved, exactly as shown.
#[derive(Debug)]
pub struct Approved {
    steps: Vec<super::Step>,
    atomic: bool,
    caps: Caps,
}

impl Rehearsal {
    /// The steps, in order.
    pub fn steps(&self) -> &[super::Step] {
        &self.steps
    }

    /// The caps to run under.
    pub fn caps(&self) -> Caps {
        self.caps
    }
}

impl Approved {
    /// The steps, in order.
    pub fn steps(&self) -> &[super::Step] {
        &self.steps
    }

    /// Whether all steps are one transaction.
    pub fn is_atomic(&self) -> bool {
        self.atomic
    }

    /// The caps to run under.
    pub fn caps(&self) -> Caps {
        self.caps
    }
}
