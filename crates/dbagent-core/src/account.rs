//! The account behind a session: what it can really do, and how one is set up that can only read.
//!
//! The database account is the boundary; the guard is the second lock. So the account is *tried*, in
//! transactions that are rolled back, and not asked about: rights come by roles, by ownership, by defaults of
//! a product, and a list of grants does not show them all. What sets up an account is written by the dialect
//! and shown to a person, who runs it or asks for it to be run. No model and no tool reaches any of this.
//!
//! A file has no accounts. There the boundary is the session, as the dialect holds it, so that is what is
//! tried, with the guard out of the way ([`Power::tried`]).

use std::fmt;

use futures_core::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::dialect::OpenContext;
use crate::error::Result;
use crate::secret::Secret;
use crate::target::Target;

/// What was found out about a server and an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// The account as the database names it; `None` where there are no accounts, as for a file.
    pub account: Option<String>,
    /// How the connection gets there.
    pub transport: Transport,
    /// What was tried, in the order of [`PowerKind`].
    pub powers: Vec<Power>,
}

/// How a connection gets to its database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// A file of this machine, or a socket in its file system.
    Local,
    /// Encrypted; protocol and cipher where the server tells, such as `TLSv1.3`.
    Encrypted(String),
    /// A network connection that anybody on the way can read.
    Plain,
}

/// A thing that an account may be able to do, beyond reading.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PowerKind {
    /// Change rows.
    WriteRows,
    /// Create or change tables, views, functions.
    ChangeSchema,
    /// Create temporary tables.
    TemporaryTables,
    /// Call functions that do more than read.
    Functions,
    /// Read or write files of the server, or start programs there.
    ServerFiles,
    /// Manage accounts, settings or other sessions.
    Administer,
}

impl PowerKind {
    /// What it is, to follow "can" or "cannot".
    pub const fn describe(self) -> &'static str {
        match self {
            Self::WriteRows => "change rows",
            Self::ChangeSchema => "create or change tables",
            Self::TemporaryTables => "create temporary tables",
            Self::Functions => "call functions that do more than read",
            Self::ServerFiles => "reach files or programs of the server",
            Self::Administer => "manage accounts, settings or other sessions",
        }
    }
}

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Power {
    /// What.
    pub kind: PowerKind,
    /// What came of it.
    pub found: Found,
    /// How it was found out, in one sentence: what was tried, what the database said.
    pub evidence: String,
    /// Statements, for whoever administers the database, that take it away. Empty where nothing needs to be
    /// taken away, or where no statement does it; the evidence says so then.
    pub remedy: Vec<String>,
}

/// Whether an account can do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// It was tried and worked.
    Can,
    /// It was tried and refused.
    Cannot,
    /// It could not be tried.
    Unknown,
}

impl Power {
    /// What came of a try on a session that the dialect itself holds to reading: it worked, or the engine's
    /// words against it. `what` names the try, such as `CREATE TABLE`.
    pub fn tried(kind: PowerKind, what: &str, outcome: std::result::Result<(), String>) -> Self {
        let (found, evidence) = match outcome {
            Ok(()) => (Found::Can, format!("{what} worked")),
            Err(words) => (Found::Cannot, format!("{what}: {words}")),
        };
        Self { kind, found, evidence, remedy: Vec::new() }
    }
}

impl Probe {
    /// Whether the account can do nothing but read, as far as that was found out.
    pub fn only_reads(&self) -> bool {
        self.powers.iter().all(|power| power.found == Found::Cannot)
    }
}

/// What an account shall be like that is set up for dbagent.
#[derive(Debug, Clone)]
pub struct RoleRequest {
    /// The name of the account.
    pub role: String,
    /// Its password. Without one the statements hold a placeholder, and are for reading only.
    pub password: Option<Secret>,
    /// The namespaces that it may read; none means all that there are by default.
    pub namespaces: Vec<String>,
}

/// One statement of a set-up.
pub struct SetupStep {
    about: String,
    statement: Secret,
}

impl SetupStep {
    /// What for, in one sentence, and the statement. It may hold a password.
    pub fn new(about: impl Into<String>, statement: impl Into<String>) -> Self {
        Self { about: about.into(), statement: Secret::new(statement) }
    }

    /// What it is for.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// The statement itself. Shown only where it was made without a password.
    pub fn statement(&self) -> &Secret {
        &self.statement
    }
}

impl fmt::Debug for SetupStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetupStep").field("about", &self.about).finish_non_exhaustive()
    }
}

/// Writes the statements of a set-up, for the database that the target names. Pure.
pub type SetupStatementsFn = fn(&Target, &RoleRequest) -> Result<Vec<SetupStep>>;

/// Runs the statements of a set-up as the target's account, all or none where the engine can.
pub type ApplySetupFn = for<'a> fn(&'a Target, &'a [SetupStep], &'a OpenContext) -> BoxFuture<'a, Result<()>>;

/// How a dialect sets up an account that can only read.
#[derive(Debug, Clone, Copy)]
pub struct RoleSetup {
    statements: SetupStatementsFn,
    apply: ApplySetupFn,
}

impl RoleSetup {
    /// By these two functions.
    pub const fn new(statements: SetupStatementsFn, apply: ApplySetupFn) -> Self {
        Self { statements, apply }
    }

    /// The statements, in the order in which they run.
    ///
    /// # Errors
    /// [`Config`](crate::ErrorKind::Config) for a name that the engine does not take.
    pub fn statements(&self, target: &Target, request: &RoleRequest) -> Result<Vec<SetupStep>> {
        (self.statements)(target, request)
    }

    /// Runs them on the target, as its account, which must be one that may.
    ///
    /// # Errors
    /// What the engine says of the first that fails; those before it are undone where the engine can.
    pub async fn apply(&self, target: &Target, steps: &[SetupStep], context: &OpenContext) -> Result<()> {
        (self.apply)(target, steps, context).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_only_reads_when_everything_else_was_tried_and_refused() {
        let power = |found| Power {
            kind: PowerKind::WriteRows,
            found,
            evidence: "tried".to_owned(),
            remedy: Vec::new(),
        };
        let probe = |powers| Probe { account: None, transport: Transport::Local, powers };
        assert!(probe(vec![power(Found::Cannot)]).only_reads());
        assert!(!probe(vec![power(Found::Cannot), power(Found::Can)]).only_reads());
        assert!(!probe(vec![power(Found::Unknown)]).only_reads());
    }

    #[test]
    fn a_try_says_what_came_of_it() {
        let kind = PowerKind::ChangeSchema;
        let refused = Power::tried(kind, "CREATE TABLE", Err("not authorized".to_owned()));
        assert_eq!((refused.found, &*refused.evidence), (Found::Cannot, "CREATE TABLE: not authorized"));
        let worked = Power::tried(kind, "CREATE TABLE", Ok(()));
        assert_eq!((worked.found, &*worked.evidence), (Found::Can, "CREATE TABLE worked"));
    }

    #[test]
    fn a_step_does_not_print_its_statement() {
        let step = SetupStep::new("the account", "CREATE ROLE r PASSWORD 'canary'");
        assert!(!format!("{step:?}").contains("canary"));
        assert!(step.statement().expose().contains("canary"));
    }
}
