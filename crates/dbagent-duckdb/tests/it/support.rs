//! Scratch databases, guarded sessions on them, and ways to run a statement.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dbagent_core::context::CallContext;
use dbagent_core::rows::{Cell, Rows};
use dbagent_core::session::Verdict;
use dbagent_core::{ConnUrl, Error, GuardedSession, Policy, Refusal, Request, Result, Target};
use dbagent_duckdb::DIALECT;

/// The tables that the corpus assumes.
pub(crate) const SETUP: &str = include_str!("../../../../tests/corpora/duckdb/setup.sql");

/// A database in a folder of its own.
pub(crate) struct Scratch {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) file: PathBuf,
}

impl Scratch {
    /// The tables of the corpus with a few rows.
    pub(crate) fn new() -> Self {
        let scratch = Self::with(SETUP);
        scratch.change(
            "INSERT INTO users (id, name, email, data, tags) VALUES (1, 'Ann', 'ann@x.org', '{\"a\":1}', 'a,b'),
               (2, 'Bob', 'bob@x.org', '{\"a\":2}', ''), (3, 'Cem', NULL, '[]', NULL);
             INSERT INTO orders (id, user_id, total, status, created_at) VALUES
               (1, 1, 10.5, 'paid', '2024-01-02 10:00:00'), (2, 1, 5, 'new', '2024-02-03 11:30:00'),
               (3, 2, 7.25, 'paid', '2024-02-10 09:15:00')",
        );
        scratch
    }

    /// A database made by this text.
    pub(crate) fn with(sql: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("scratch.db");
        dbagent_duckdb::testing::create_database(&file, sql).expect("a database");
        Self { folder, file }
    }

    /// Changes the database with every right.
    pub(crate) fn change(&self, sql: &str) {
        dbagent_duckdb::testing::create_database(&self.file, sql).expect("a change");
    }

    pub(crate) fn target(&self) -> Target {
        target(&self.file)
    }

    pub(crate) async fn session(&self) -> GuardedSession {
        open(self.target()).await.expect("a session")
    }

    pub(crate) async fn session_under(&self, policy: Policy) -> GuardedSession {
        open(Target { policy, ..self.target() }).await.expect("a session")
    }
}

pub(crate) fn target(file: &Path) -> Target {
    let url = ConnUrl::parse(&format!("duckdb:///{}", file.display())).expect("a URL");
    Target::new("scratch", url)
}

pub(crate) async fn open(target: Target) -> Result<GuardedSession> {
    GuardedSession::open(&DIALECT, target, &call()).await
}

/// A call that no test outlives.
pub(crate) fn call() -> CallContext {
    CallContext::within(Duration::from_secs(60))
}

pub(crate) fn within(limit: Duration) -> CallContext {
    CallContext::within(limit)
}

/// What came of a statement.
#[derive(Debug)]
pub(crate) enum Ran {
    /// Its rows as text, each value by the canonical form of the core.
    Rows(Vec<Vec<String>>),
    /// Refused, by the judge or by the engine's view.
    Refused(Refusal),
    Failed(Error),
}

impl Ran {
    pub(crate) fn rows(self) -> Vec<Vec<String>> {
        match self {
            Ran::Rows(rows) => rows,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn refusal(self) -> Refusal {
        match self {
            Ran::Refused(refusal) => refusal,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn error(self) -> Error {
        match self {
            Ran::Failed(e) => e,
            other => panic!("{other:?}"),
        }
    }
}

/// Judges a statement and runs it if it is cleared, with at most this many rows.
pub(crate) async fn run_up_to(
    session: &GuardedSession,
    request: impl Into<Request>,
    rows: Option<u64>,
    call: &CallContext,
) -> Ran {
    let cleared = match session.judge(request.into(), rows, call).await {
        Ok(Verdict::Cleared(cleared)) => cleared,
        Ok(Verdict::Refused(refusal)) => return Ran::Refused(refusal),
        Ok(Verdict::Proposed(p)) => panic!("proposed: {p:?}"),
        Err(e) => return Ran::Failed(e),
    };
    match session.read(cleared, call) {
        Ok(rows) => collect(rows).await,
        Err(e) => Ran::Failed(e),
    }
}

pub(crate) async fn collect(mut rows: Rows) -> Ran {
    let mut found = Vec::new();
    loop {
        match rows.next().await {
            Ok(Some(batch)) => {
                for row in 0..batch.num_rows() {
                    found
                        .push((0..batch.num_columns()).map(|c| Cell::at(&batch, c, row).to_text()).collect());
                }
            }
            Ok(None) => break,
            Err(e) => return Ran::Failed(e),
        }
    }
    match rows.refusal() {
        Some(refusal) => Ran::Refused(refusal.clone()),
        None => Ran::Rows(found),
    }
}

/// A request of plain text.
pub(crate) struct Sql<'a>(pub(crate) &'a str);

impl From<Sql<'_>> for Request {
    fn from(sql: Sql<'_>) -> Self {
        Request::text(sql.0)
    }
}

pub(crate) async fn run(session: &GuardedSession, sql: &str) -> Ran {
    run_up_to(session, Sql(sql), Some(10_000), &call()).await
}
