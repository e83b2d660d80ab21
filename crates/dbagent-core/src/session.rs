//! Sessions: the primitives that a dialect supplies, and the guarded handle that hosts hold.

mod guarded;
mod parse;
mod rules;
mod sealed;
mod write;

use async_trait::async_trait;

pub use guarded::{GuardedSession, Proposal, Verdict};
pub use parse::{PARSE_STACK_BYTES, ParsePool};
pub use sealed::{Approved, Caps, Cleared, Rehearsal};
pub use write::{Affected, CommitState, CommitToken, Step, Write, WriteTxn};

use crate::account::Probe;
use crate::catalog::{Described, ObjectPage, Page};
use crate::context::CallContext;
use crate::dialect::Settings;
use crate::error::{Error, ErrorKind, Result};
use crate::estimate::{Estimate, Plan};
use crate::guard::{Needs, Refusal, Resolution};
use crate::name::ObjectName;
use crate::rows::Sink;

/// An open handle to a target. Object safe, used by `&self` from many tasks at once.
///
/// **Contract.** A session is a handle over a pool (or one connection) keyed by target, credential and
/// access.
/// 1. It executes nothing but [`Cleared`], [`Rehearsal`] and [`Approved`] values and its own fixed
///    catalogue statements, one statement per protocol message, and exactly the judged bytes.
/// 2. A cleared read runs where the engine itself refuses writes, as far as the engine can
///    (`read_only_session`).
/// 3. Every method returns soon after its context's deadline or cancellation, and the statement stops on
///    the server; the session works afterwards.
/// 4. Errors are mapped to kinds; native codes are kept; no credential is in any text.
/// 5. What a statement did to the connection does not reach the next one.
#[async_trait]
pub trait Session: Send + Sync {
    /// The language settings that are pinned for the life of the session.
    fn settings(&self) -> Settings {
        Settings::default()
    }

    /// The namespaces that the session has. They are asked for where the dialect has none as a rule
    /// (capability `namespaces`): there a rule of a policy that names another one can only be a mistake.
    /// **Default:** the default namespace of the settings.
    fn namespaces(&self) -> Vec<String> {
        self.settings().get(Settings::DEFAULT_NAMESPACE).map(str::to_owned).into_iter().collect()
    }

    /// Says what names are: views to what they read, functions to what they do. Names that do not exist
    /// are left out.
    async fn resolve(&self, needs: &Needs, context: &CallContext) -> Result<Resolution>;

    /// Lists objects whose name contains `pattern` (or matches it, with `*` and `?`), ordered by namespace
    /// and name. Objects of the engine itself are left out.
    async fn objects(&self, pattern: Option<&str>, page: Page, context: &CallContext) -> Result<ObjectPage>;

    /// Describes objects.
    async fn describe(&self, names: &[ObjectName], context: &CallContext) -> Result<Described>;

    /// Estimates a read with its parameters bound. The engine's own view of the text may refuse it.
    async fn estimate(&self, cleared: &Cleared, context: &CallContext) -> Result<Outcome<Estimate>>;

    /// Streams a read into the sink and returns when everything was pushed or the sink said stop.
    async fn read(&self, cleared: Cleared, sink: Sink, context: &CallContext) -> Result<Outcome<()>>;

    /// Shows the plan of a read with its parameters bound. **Default:** unsupported.
    async fn explain(&self, cleared: &Cleared, context: &CallContext) -> Result<Outcome<Plan>> {
        let _ = (cleared, context);
        Err(Error::new(ErrorKind::Unsupported, "this database shows no plans").op("explain"))
    }

    /// Begins a write. **Default:** unsupported.
    async fn begin(&self, write: Write, context: &CallContext) -> Result<Box<dyn WriteTxn>> {
        let _ = (write, context);
        Err(Error::new(ErrorKind::Unsupported, "this dialect does not write").op("begin"))
    }

    /// Says whether a write committed. **Default:** unknown.
    async fn did_commit(&self, token: &CommitToken, context: &CallContext) -> Result<CommitState> {
        let _ = (token, context);
        Ok(CommitState::Unknown)
    }

    /// A word about the server for people: product and version. **Default:** none.
    async fn server(&self, context: &CallContext) -> Result<String> {
        let _ = context;
        Ok(String::new())
    }

    /// Tries what the account can do beyond reading, with the dialect's own fixed statements, on a connection
    /// of its own, in transactions that are rolled back. Nothing stays. Where there are no accounts, as for a
    /// file, it is the session that is tried. **Default:** unsupported.
    async fn probe(&self, context: &CallContext) -> Result<Probe> {
        let _ = context;
        Err(Error::new(ErrorKind::Unsupported, "this dialect does not probe its account").op("probe"))
    }

    /// Checks that the database answers. **Default:** lists one object.
    async fn ping(&self, context: &CallContext) -> Result<()> {
        self.objects(None, Page { offset: 0, size: 1 }, context).await.map(|_| ())
    }

    /// Closes connections. Calls after it fail. **Default:** nothing.
    async fn close(&self) {}
}

/// What came of a call that the engine itself may still refuse: done with a value, or refused.
pub type Outcome<T> = std::result::Result<T, Refusal>;
