//! What a dialect brings to the suite: a scratch database, and doors beside the guard.

use dbagent_core::{Dialect, ErrorKind, ObjectName, Request, Result, Target, async_trait};

use super::material::Material;

/// A scratch database, and everything the suite needs to know about it.
///
/// The suite makes one fixture for each scenario, so that no scenario sees what another did. A fixture
/// removes what it made when it is dropped.
#[async_trait]
pub trait Fixture: Send + Sync + 'static {
    /// The dialect that is tested.
    fn dialect(&self) -> &'static Dialect;

    /// Why the suite cannot run here at all, such as a server that is not there. **Default:** it can.
    ///
    /// It is printed as `SKIPPED`; with the dialect's id in `DBAGENT_REQUIRE` it is a failure.
    async fn unavailable(&self) -> Option<String> {
        None
    }

    /// A target on the scratch database. The first call prepares it; each further call gives a target on the
    /// same one. Limits, policy and access are the defaults; the scenarios set their own.
    async fn target(&self) -> Result<Target>;

    /// What the scenarios ask, in the dialect's own language.
    fn material(&self) -> Material;

    /// Runs a request on a connection that is hardened exactly like a session's, with the guard out of the
    /// way: the door that each dialect keeps behind its `testing` feature. The answer is what the engine
    /// said. **Default:** there is no such door.
    async fn raw_hardened(&self, request: &Request) -> Option<Result<()>> {
        let _ = request;
        None
    }

    /// Changes the database beside all sessions, as another program would. **Default:** it cannot.
    async fn beside(&self, change: Change) -> Option<Result<()>> {
        let _ = change;
        None
    }

    /// Targets that cannot be opened, and the kind of error that says so. **Default:** none.
    async fn wrong_targets(&self) -> Result<Vec<(Target, ErrorKind)>> {
        Ok(Vec::new())
    }

    /// Targets whose credentials hold [`CANARY`] and that open, so that the search for it goes on while
    /// the session works. **Default:** none; the suite makes targets that do not open by itself.
    async fn secret_targets(&self) -> Result<Vec<Target>> {
        Ok(Vec::new())
    }

    /// The corpora of the dialect's language.
    fn corpora(&self) -> Vec<Corpus>;

    /// Scenarios for which there is no material, with the reason. One that is listed and runs all the same
    /// is a failure, and so is one whose capability is declared. **Default:** none.
    fn lacks(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }
}

/// The secret that must never be seen.
pub const CANARY: &str = "c4n4ry-in-the-mine";

/// A change of the scratch database by somebody else.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// An object of that name, with at least one column, is there now.
    Create(ObjectName),
    /// The view of the material reads `orders` instead of `users`, and what `read_view` reads still works.
    ViewOverOrders,
}

/// A corpus of the dialect's language: rows with the verdict that the guard must give.
#[derive(Debug, Clone)]
pub struct Corpus {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) disputed: Option<String>,
}

impl Corpus {
    /// A corpus by its name (for messages) and its text, one JSON object a line.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), disputed: None }
    }

    /// Rows that a real server shows to be wrong: one `{"id": …, "why": …}` a line, with the server's
    /// version and the evidence. A disputed row that agrees after all is a failure.
    pub fn disputed(mut self, text: impl Into<String>) -> Self {
        self.disputed = Some(text.into());
        self
    }
}
