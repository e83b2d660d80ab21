//! Scratch databases, guarded sessions on them, and ways to run a statement.

use std::time::Duration;

use dbagent_core::context::CallContext;
use dbagent_core::estimate::{Estimate, Plan};
use dbagent_core::rows::{Cell, Rows};
use dbagent_core::session::Verdict;
use dbagent_core::{Cleared, ConnUrl, Error, GuardedSession, Policy, Request, Result, Target};
use dbagent_testkit::conformance::Value;

use crate::own::{self, Scratch};

/// A scratch database, or none where there is no server; then the skip is printed and counted.
pub(crate) async fn scratch() -> Option<Scratch> {
    let url = variable("URL")?;
    Some(own::scratch(&url, Scratch::fresh_name()).await.expect("a scratch database"))
}

/// A variable about the server, or a skip.
pub(crate) fn variable(name: &str) -> Option<String> {
    match own::variable(name) {
        Ok(value) => Some(value),
        Err(why) => {
            skipped(&why);
            None
        }
    }
}

/// Prints that a test could not run. A failure where the server is required.
pub(crate) fn skipped(why: &str) {
    let id = own::DIALECT.id();
    let required = std::env::var("DBAGENT_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name.trim() == id), "DBAGENT_REQUIRE names {id}: {why}");
    println!("SKIPPED {id}: {why}");
}

/// A scratch database with these tables and rows.
pub(crate) async fn scratch_with(statements: &[&str]) -> Option<Scratch> {
    let scratch = scratch().await?;
    let mut owner = scratch.owner().await.expect("an owner");
    for statement in statements {
        owner.run(statement).await.unwrap_or_else(|e| panic!("{statement}: {e}"));
    }
    Some(scratch)
}

/// Statements that make 20,000 rows with a text each.
pub(crate) const NUMBERS: &[&str] = &[
    "CREATE TABLE numbers (i INTEGER PRIMARY KEY, t VARCHAR(100))",
    "INSERT INTO numbers WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) \
     SELECT a.i + 200 * (b.i - 1), REPEAT('x', 100) FROM n a JOIN n b ON b.i <= 100",
];

/// A scratch database with them.
pub(crate) async fn numbers() -> Option<Scratch> {
    scratch_with(NUMBERS).await
}

pub(crate) fn target(url: &str) -> Target {
    Target::new("scratch", ConnUrl::parse(url).expect("a URL"))
}

pub(crate) async fn open(target: Target) -> Result<GuardedSession> {
    GuardedSession::open(own::DIALECT, target, &call()).await
}

pub(crate) async fn session(scratch: &Scratch) -> GuardedSession {
    open(target(scratch.url())).await.expect("a session")
}

pub(crate) async fn session_under(scratch: &Scratch, policy: Policy) -> GuardedSession {
    open(Target { policy, ..target(scratch.url()) }).await.expect("a session")
}

/// A call that no test outlives.
pub(crate) fn call() -> CallContext {
    CallContext::within(Duration::from_secs(60))
}

/// Starts a read that must be cleared.
pub(crate) async fn start(
    session: &GuardedSession,
    sql: impl Into<String>,
    limit: Option<u64>,
    call: &CallContext,
) -> Result<Rows> {
    let sql = sql.into();
    match session.judge(Request::text(&sql), limit, call).await? {
        Verdict::Cleared(cleared) => session.read(cleared, call),
        other => panic!("{sql}: {other:?}"),
    }
}

/// A statement that must be cleared.
pub(crate) async fn cleared(session: &GuardedSession, sql: &str) -> Cleared {
    cleared_within(session, sql, &call()).await
}

/// The same in the time of a call.
pub(crate) async fn cleared_within(session: &GuardedSession, sql: &str, call: &CallContext) -> Cleared {
    match session.judge(Request::text(sql), None, call).await.unwrap_or_else(|e| panic!("{sql}: {e}")) {
        Verdict::Cleared(cleared) => cleared,
        other => panic!("{sql}: {other:?}"),
    }
}

/// The plan of a read.
pub(crate) async fn explain(session: &GuardedSession, sql: &str) -> Plan {
    let cleared = cleared(session, sql).await;
    session.explain(&cleared, &call()).await.unwrap_or_else(|e| panic!("{sql}: {e}")).expect("a plan")
}

/// The estimate of a read, which must not be too much.
pub(crate) async fn estimate(session: &GuardedSession, sql: &str) -> Estimate {
    let cleared = cleared(session, sql).await;
    match session.estimate(&cleared, &call()).await.unwrap_or_else(|e| panic!("{sql}: {e}")) {
        Ok(estimate) => estimate,
        Err(refusal) => panic!("{sql}: {refusal}"),
    }
}

pub(crate) async fn collect(mut rows: Rows) -> Result<Vec<Vec<Value>>> {
    let mut found = Vec::new();
    while let Some(batch) = rows.next().await? {
        for row in 0..batch.num_rows() {
            found.push((0..batch.num_columns()).map(|c| Value::from(Cell::at(&batch, c, row))).collect());
        }
    }
    Ok(found)
}

/// All rows of a read.
pub(crate) async fn rows(session: &GuardedSession, sql: impl Into<String>) -> Vec<Vec<Value>> {
    let sql = sql.into();
    let rows = start(session, &sql, None, &call()).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
    collect(rows).await.unwrap_or_else(|e| panic!("{sql}: {e}"))
}

/// The error of a read.
pub(crate) async fn fails(session: &GuardedSession, sql: &str) -> Error {
    let rows = match start(session, sql, None, &call()).await {
        Ok(rows) => rows,
        Err(e) => return e,
    };
    match collect(rows).await {
        Err(e) => e,
        Ok(rows) => panic!("{sql} gave {rows:?}"),
    }
}

/// Bytes as hexadecimal digits, each byte behind a prefix.
pub(crate) fn digits(bytes: &[u8], before_each: &str) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    for byte in bytes {
        write!(text, "{before_each}{byte:02x}").expect("a text takes everything");
    }
    text
}

/// Waits until something is so; a generous ceiling keeps a test from hanging.
pub(crate) async fn eventually(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let give_up = tokio::time::Instant::now() + Duration::from_secs(20);
    while !is_so().await {
        assert!(tokio::time::Instant::now() < give_up, "it never came about that {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The error of a target that does not open.
pub(crate) async fn refused(target: Target) -> Error {
    match open(target).await {
        Err(e) => e,
        Ok(_) => panic!("it opens"),
    }
}
