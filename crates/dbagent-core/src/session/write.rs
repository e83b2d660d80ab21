//! The contract of writes: a proposal's steps, a transaction that runs each at most once, a commit that
//! can be asked about afterwards.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::sealed::{Approved, Rehearsal};
use crate::error::Result;
use crate::request::Request;

/// One step of a proposal: a judged write.
#[derive(Debug)]
pub struct Step {
    request: Request,
}

impl Step {
    /// The judged request.
    pub fn request(&self) -> &Request {
        &self.request
    }
}

/// What a write transaction is begun with; it owns it from then on.
#[derive(Debug)]
pub enum Write {
    /// Tried and always rolled back.
    Rehearsal(Rehearsal),
    /// Approved by a person.
    Approved(Approved),
}

/// What one step changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Affected {
    /// Rows changed (on engines that count matches: matched).
    pub rows: u64,
}

/// What a dialect needs to ask later whether a transaction committed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitToken(pub String);

/// Whether a transaction committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommitState {
    /// It did.
    Committed,
    /// It did not.
    RolledBack,
    /// The database cannot tell.
    Unknown,
}

/// A transaction over the steps it was begun with. Dropping it rolls back.
#[async_trait]
pub trait WriteTxn: Send {
    /// Runs the step of that index. Each step at most once, in order.
    async fn execute(&mut self, index: usize) -> Result<Affected>;

    /// What to ask about later, once there is something to ask about.
    fn token(&self) -> Option<CommitToken>;

    /// Commits.
    ///
    /// # Errors
    /// Always on a rehearsal; else when the engine refuses or the outcome is unknown.
    async fn commit(self: Box<Self>) -> Result<()>;

    /// Rolls back.
    async fn rollback(self: Box<Self>) -> Result<()>;
}
