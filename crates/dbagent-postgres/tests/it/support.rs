//! Scratch databases on the server of the tests, guarded sessions on them, and ways to run a statement.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use dbagent_core::context::CallContext;
use dbagent_core::rows::{Cell, Rows};
use dbagent_core::session::Verdict;
use dbagent_core::{ConnUrl, Dialect, Error, GuardedSession, Refusal, Request, Result, Target};
use dbagent_postgres::sqlx::{self, AssertSqlSafe, Connection as _, Executor as _, PgConnection};
use dbagent_testkit::conformance::Value;

pub(crate) static DIALECT: Dialect = dbagent_postgres::DIALECT;

/// The value of `DBAGENT_TEST_POSTGRES_…`. Without it the test is skipped, which is printed and counted.
pub(crate) fn variable(end: &str) -> Option<String> {
    let name = format!("DBAGENT_TEST_POSTGRES_{end}");
    let value = std::env::var(&name).ok().filter(|v| !v.is_empty());
    if value.is_none() {
        let service = if end.starts_with("EXTENSIONS_") { "postgres-extensions" } else { "postgres" };
        skipped_as(service, &format!("{name} is not set"));
    }
    value
}

pub(crate) fn skipped(why: &str) {
    skipped_as("postgres", why);
}

/// Says that a test is skipped, and fails it where the environment requires that service.
pub(crate) fn skipped_as(service: &str, why: &str) {
    let required = std::env::var("DBAGENT_REQUIRE").unwrap_or_default();
    assert!(
        !required.split(',').any(|name| name.trim() == service),
        "DBAGENT_REQUIRE names {service}: {why}"
    );
    println!("SKIPPED {service}: {why}");
}

/// A database of a test's own; dropped with this.
pub(crate) struct Scratch {
    owner: String,
    pub(crate) name: String,
    /// The owner's URL of the database.
    pub(crate) url: String,
}

static NUMBER: AtomicU32 = AtomicU32::new(0);

impl Scratch {
    /// An empty database on the newest server.
    pub(crate) async fn new() -> Option<Self> {
        Some(Self::on(&variable("URL")?, "").await)
    }

    /// An empty database on the old server.
    pub(crate) async fn old() -> Option<Self> {
        Some(Self::on(&variable("OLD_URL")?, "").await)
    }

    /// An empty database on the oldest server.
    pub(crate) async fn oldest() -> Option<Self> {
        Some(Self::on(&variable("OLDEST_URL")?, "").await)
    }

    /// A database with these statements run, on the server with PostGIS and pgvector.
    pub(crate) async fn with_extensions(statements: &str) -> Option<Self> {
        let scratch = Self::on(&variable("EXTENSIONS_URL")?, "").await;
        scratch.change(statements).await;
        Some(scratch)
    }

    /// A database with these statements run.
    pub(crate) async fn with(statements: &str) -> Option<Self> {
        let scratch = Self::new().await?;
        scratch.change(statements).await;
        Some(scratch)
    }

    /// An empty database on a server, with more words of CREATE DATABASE.
    pub(crate) async fn on(owner: &str, more: &str) -> Self {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("dbagent_it_{}_{number}", std::process::id());
        let mut conn = PgConnection::connect(owner).await.expect("the owner's connection");
        conn.execute(AssertSqlSafe(format!("CREATE DATABASE {name} {more}"))).await.expect("a database");
        let url = in_database(owner, &name);
        Self { owner: owner.to_owned(), name, url }
    }

    /// A connection with every right.
    pub(crate) async fn owner(&self) -> PgConnection {
        PgConnection::connect(&self.url).await.expect("the owner's connection")
    }

    /// Changes the database with every right.
    pub(crate) async fn change(&self, statements: &str) {
        let mut conn = self.owner().await;
        conn.execute(sqlx::raw_sql(AssertSqlSafe(statements.to_owned()))).await.expect("a change");
    }

    /// The one value of a query of the owner, as text.
    pub(crate) async fn value(&self, query: &str) -> String {
        let mut conn = self.owner().await;
        let query = sqlx::query_scalar(AssertSqlSafe(format!("SELECT ({query})::text")));
        query.fetch_one(&mut conn).await.expect("a value")
    }

    pub(crate) fn target(&self) -> Target {
        target(&self.url)
    }

    pub(crate) async fn session(&self) -> GuardedSession {
        open(self.target()).await.expect("a session")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let (owner, name) = (self.owner.clone(), self.name.clone());
        let drop = async move {
            let mut conn = PgConnection::connect(&owner).await?;
            conn.execute(AssertSqlSafe(format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))).await?;
            // Accounts that tests made are called after their database.
            let roles = "SELECT rolname::text FROM pg_roles WHERE starts_with(rolname, $1 || '_')";
            let roles: Vec<String> = sqlx::query_scalar(roles).bind(&name).fetch_all(&mut conn).await?;
            for role in roles {
                conn.execute(AssertSqlSafe(format!("DROP ROLE {role}"))).await?;
            }
            Ok::<_, sqlx::Error>(())
        };
        let thread = std::thread::spawn(|| {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            // A server that a test killed takes its databases along.
            _ = runtime.block_on(async { tokio::time::timeout(Duration::from_secs(20), drop).await });
        });
        _ = thread.join();
    }
}

/// The same URL with another database.
pub(crate) fn in_database(url: &str, name: &str) -> String {
    let (before, query) = url.split_once('?').map_or((url, None), |(b, q)| (b, Some(q)));
    let (scheme, rest) = before.split_once("://").expect("a scheme");
    let host = rest.split('/').next().expect("a host");
    let query = query.map(|q| format!("?{q}")).unwrap_or_default();
    format!("{scheme}://{host}/{name}{query}")
}

/// The same URL with one more parameter.
pub(crate) fn with_parameter(url: &str, parameter: &str) -> String {
    format!("{url}{}{parameter}", if url.contains('?') { '&' } else { '?' })
}

pub(crate) fn target(url: &str) -> Target {
    Target::new("scratch", ConnUrl::parse(url).expect("a URL"))
}

pub(crate) async fn open(target: Target) -> Result<GuardedSession> {
    GuardedSession::open(&DIALECT, target, &call()).await
}

/// A call that no test outlives.
pub(crate) fn call() -> CallContext {
    CallContext::within(Duration::from_secs(60))
}

/// What came of a statement.
#[derive(Debug)]
pub(crate) enum Ran {
    Rows(Vec<Vec<Value>>),
    Refused(Refusal),
    Failed(Error),
}

impl Ran {
    #[track_caller]
    pub(crate) fn rows(self) -> Vec<Vec<Value>> {
        match self {
            Ran::Rows(rows) => rows,
            other => panic!("{other:?}"),
        }
    }

    /// The one value of the one row.
    #[track_caller]
    pub(crate) fn value(self) -> Value {
        let mut rows = self.rows();
        assert!(rows.len() == 1 && rows[0].len() == 1, "{rows:?}");
        rows.remove(0).remove(0)
    }

    #[track_caller]
    pub(crate) fn refusal(self) -> Refusal {
        match self {
            Ran::Refused(refusal) => refusal,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
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
    request: Request,
    rows: Option<u64>,
    call: &CallContext,
) -> Ran {
    match start(session, request, rows, call).await {
        Ok(rows) => collect(rows).await,
        Err(ran) => ran,
    }
}

/// Judges a statement and starts it.
pub(crate) async fn start(
    session: &GuardedSession,
    request: Request,
    rows: Option<u64>,
    call: &CallContext,
) -> std::result::Result<Rows, Ran> {
    let cleared = match session.judge(request, rows, call).await {
        Ok(Verdict::Cleared(cleared)) => cleared,
        Ok(Verdict::Refused(refusal)) => return Err(Ran::Refused(refusal)),
        Ok(Verdict::Proposed(p)) => panic!("proposed: {p:?}"),
        Err(e) => return Err(Ran::Failed(e)),
    };
    session.read(cleared, call).map_err(Ran::Failed)
}

pub(crate) async fn collect(mut rows: Rows) -> Ran {
    let mut found = Vec::new();
    loop {
        match rows.next().await {
            Ok(Some(batch)) => {
                for row in 0..batch.num_rows() {
                    let cell = |column| Value::from(Cell::at(&batch, column, row));
                    found.push((0..batch.num_columns()).map(cell).collect());
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

pub(crate) async fn run(session: &GuardedSession, sql: &str) -> Ran {
    run_up_to(session, Request::text(sql), Some(10_000), &call()).await
}

/// Waits until something holds, under a generous ceiling.
pub(crate) async fn until<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    let end = tokio::time::Instant::now() + Duration::from_secs(30);
    while !holds().await {
        assert!(tokio::time::Instant::now() < end, "never: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
