//! Stores: where facts live. The in-memory one is here; durable ones are crates of their own.

mod memory;

use std::time::Duration;

use async_trait::async_trait;

pub use memory::MemoryStore;
pub(crate) use memory::now_ms;

use crate::error::Result;
use crate::fact::FactRecord;

/// How long a driver may be silent before another one may take its thread.
pub(crate) const LEASE: Duration = Duration::from_secs(30);

/// What came of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// The facts are there; this is the number of the last.
    At(u64),
    /// Somebody else wrote meanwhile; this is the number of the last fact there is.
    Conflict(u64),
}

/// A decision about an open approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Id of the approval.
    pub approval: String,
    /// Digest of what was shown to whoever decides.
    pub shown_hash: String,
    /// Whether it may run.
    pub approved: bool,
    /// Words for the model.
    pub message: String,
    /// Who decided.
    pub by: String,
}

/// An approval that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingApproval {
    /// The thread.
    pub thread: String,
    /// Our key of the call.
    pub key: String,
    /// Id of the approval.
    pub approval: String,
    /// Why a person is asked.
    pub reason: String,
    /// The arguments shown.
    pub arguments: String,
    /// Digest of what is shown.
    pub shown_hash: String,
    /// When it expires, in milliseconds since 1970.
    pub expires_ms: Option<u64>,
}

/// A right to drive a thread, for a while. The token fences out an owner whose lease ran out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The thread.
    pub thread: String,
    /// Who drives.
    pub owner: String,
    /// Grows with each lease of the thread.
    pub token: u64,
}

/// Where facts live. Object safe.
///
/// **Contract.** (1) `append` is atomic and durable before it returns, and conflicts on a stale sequence.
/// (2) `decide` takes an approval once, atomically, and only with the digest of what was shown. (3) A lease
/// has one owner at a time.
#[async_trait]
pub trait Store: Send + Sync {
    /// The facts of a thread after a number, in order; empty for an unknown thread.
    async fn load(&self, thread: &str, after: u64) -> Result<Vec<FactRecord>>;

    /// Appends records, numbered on from `expected`, if the last one there has that number.
    async fn append(&self, thread: &str, expected: u64, records: Vec<FactRecord>) -> Result<Appended>;

    /// Decides an open approval. `false` when it is decided already, expired, unknown, or when something
    /// else was shown.
    async fn decide(&self, thread: &str, decision: Decision) -> Result<bool>;

    /// Open approvals of all threads.
    async fn pending(&self) -> Result<Vec<PendingApproval>>;

    /// Takes the right to drive a thread; `None` while somebody else holds it.
    async fn lease(&self, thread: &str, owner: &str, ttl: Duration) -> Result<Option<Lease>>;

    /// Keeps a lease; `false` when it was lost.
    async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<bool>;

    /// Gives a lease back.
    async fn release(&self, lease: &Lease) -> Result<()>;

    /// The threads, by name.
    async fn list(&self) -> Result<Vec<String>>;

    /// Copies a thread up to a number under a new name.
    async fn fork(&self, thread: &str, at: u64, name: &str) -> Result<()>;

    /// Forgets a thread; `false` when there is none.
    async fn delete(&self, thread: &str) -> Result<bool>;
}
