//! A dialect of the guard alone, and the rows of the corpora.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use dbagent_core::context::CallContext;
use dbagent_core::guard::{Judgement, Policy, Resolution, Rule, judge};
use dbagent_core::guardrails::StatementLimits;
use dbagent_core::{ConnUrl, Dialect, ErrorKind, NameCase, Refusal, Request, Settings, Target};
use dbagent_services::Server;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};

/// The tables that the corpus assumes, with a few rows.
pub(crate) const SETUP: &str = include_str!("../../../../tests/corpora/postgres/setup.sql");

pub(crate) static GUARD: Dialect = dbagent_postgres::DIALECT;

pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) statement: String,
    pub(crate) allow: bool,
    pub(crate) kind: String,
}

/// The rows of one file.
pub(crate) fn rows_of(file: &str) -> Vec<Row> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpora/postgres");
    let text = std::fs::read_to_string(folder.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
    let rows = text.lines().filter(|l| !l.trim().is_empty()).map(|line| {
        let row: serde_json::Value =
            serde_json::from_str(line).unwrap_or_else(|e| panic!("{file}: {e}: {line}"));
        let text = |key: &str| row[key].as_str().unwrap_or_else(|| panic!("{key}: {line}")).to_owned();
        let verdict = text("verdict");
        assert!(["allow", "deny"].contains(&verdict.as_str()), "{line}");
        Row { id: text("id"), statement: text("statement"), allow: verdict == "allow", kind: text("kind") }
    });
    rows.collect()
}

/// The rows of the shared corpus and our own, those that are disputed with the verdict of the real server.
pub(crate) fn rows() -> Vec<Row> {
    let disputed = rows_of("disputed.jsonl");
    let mut rows = rows_of("postgres.jsonl");
    rows.extend(rows_of("own.jsonl"));
    for row in &mut rows {
        if let Some(other) = disputed.iter().find(|d| d.id == row.id) {
            row.allow = other.allow;
        }
    }
    let mut ids: Vec<_> = rows.iter().map(|r| r.id.clone()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), rows.len(), "an id stands twice");
    rows
}

/// What the guard makes of a text without a database.
pub(crate) fn offline(text: &str, policy: &Policy) -> Judgement {
    let context = GUARD.parse_context(StatementLimits::default(), Settings::new());
    match GUARD.parse(&Request::text(text), &context) {
        Ok(parsed) => judge(&parsed, &Resolution::offline(), policy, NameCase::Sensitive),
        Err(e) => {
            assert_eq!(e.kind(), ErrorKind::Syntax, "{text:?}: {e}");
            Judgement::Refused(Refusal::new(Rule::Syntax, e.to_string()))
        }
    }
}

/// What came of judging a statement in a live catalogue.
#[derive(Debug)]
pub(crate) enum Judged {
    Read,
    Proposed,
    Refused(Refusal),
}

/// A database of its own on the server that the environment names, dropped at the end.
pub(crate) struct Scratch {
    pub(crate) owner: PgConnection,
    connection: PgConnection,
    admin: PgConnectOptions,
    url: String,
    name: String,
    roles: Vec<String>,
    /// Its server, where nobody else is; it goes last.
    server: Option<Server>,
}

/// The variables that name a new server, one in wide use, and the oldest.
pub(crate) const SERVERS: [&str; 3] = ["DBAGENT_TEST_POSTGRES_URL", "DBAGENT_TEST_POSTGRES_OLD_URL", OLDEST];

/// The variable of the oldest.
pub(crate) const OLDEST: &str = "DBAGENT_TEST_POSTGRES_OLDEST_URL";

/// The variable of the server with PostGIS and pgvector.
pub(crate) const WITH_EXTENSIONS: &str = "DBAGENT_TEST_POSTGRES_EXTENSIONS_URL";

static NEXT: AtomicU32 = AtomicU32::new(0);

/// What a session sets beside that for the guard's own questions.
const RESOLVE: &[&str] =
    &["SET LOCAL search_path = pg_catalog, pg_temp", "SET LOCAL dbagent.schemas = '{pg_catalog,public}'"];

/// The statements by which a connection is hardened, as a session hardens it.
pub(crate) const HARDEN: &[&str] = &[
    "BEGIN READ ONLY",
    "SET LOCAL search_path = pg_catalog, public",
    "SET LOCAL standard_conforming_strings = on",
    "SET LOCAL statement_timeout = '5s'",
    "SET LOCAL lock_timeout = '1s'",
];

pub(crate) async fn execute(connection: &mut PgConnection, sql: &str) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(connection).await.map(|_| ())
}

/// Says that a test is skipped, and fails it where the environment requires that service.
pub(crate) fn skipped(service: &str, why: &str) {
    let required = std::env::var("DBAGENT_REQUIRE").unwrap_or_default();
    assert!(
        !required.split(',').any(|name| name.trim() == service),
        "DBAGENT_REQUIRE names {service}: {why}"
    );
    println!("SKIPPED {service}: {why}");
}

/// What such a test is called where it is skipped.
fn service_of(variable: &str) -> &'static str {
    if variable == WITH_EXTENSIONS { "postgres-extensions" } else { "postgres" }
}

impl Scratch {
    /// The tables of the corpus and what else these texts make; `None` without a server.
    pub(crate) async fn with(fixtures: &[&str]) -> Option<Self> {
        Self::on("DBAGENT_TEST_POSTGRES_URL", fixtures).await
    }

    /// The same on the server that this variable names.
    pub(crate) async fn on(variable: &str, fixtures: &[&str]) -> Option<Self> {
        if let Ok(url) = std::env::var(variable) {
            return Some(Self::at(&url, fixtures).await);
        }
        skipped(service_of(variable), &format!("{variable} is not set"));
        None
    }

    /// The same on a server where nobody else changes what all databases share.
    pub(crate) async fn alone(service: &str, fixtures: &[&str]) -> Option<Self> {
        match Server::throwaway(service) {
            Ok(server) => {
                let mut scratch = Self::at(server.url(), fixtures).await;
                scratch.server = Some(server);
                Some(scratch)
            }
            Err(why) => {
                skipped(service, &why.to_string());
                None
            }
        }
    }

    pub(crate) async fn at(url: &str, fixtures: &[&str]) -> Self {
        let options: PgConnectOptions = url.parse().expect("a URL");
        let mut connection = PgConnection::connect_with(&options).await.expect("a server");
        let name = format!("guard_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        execute(&mut connection, &format!("CREATE DATABASE {name} TEMPLATE template0"))
            .await
            .expect("a database");
        let admin = options.clone();
        let options = options.database(&name);
        let mut owner = PgConnection::connect_with(&options).await.expect("a database");
        for text in [SETUP].iter().chain(fixtures) {
            execute(&mut owner, text).await.expect("a fixture");
        }
        let connection = PgConnection::connect_with(&options).await.expect("a database");
        let url = in_database(url, &name);
        Self { owner, connection, admin, url, name, roles: Vec::new(), server: None }
    }

    /// A role that may read and does not own anything.
    pub(crate) async fn role(&mut self) -> String {
        let role = format!("{}_reader", self.name);
        execute(
            &mut self.owner,
            &format!("CREATE ROLE {role}; GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}"),
        )
        .await
        .expect("a role");
        self.roles.push(role.clone());
        role
    }

    pub(crate) async fn become_role(&mut self, role: &str) {
        execute(&mut self.connection, &format!("SET ROLE {role}")).await.expect("a role");
    }

    /// Judges a statement in a hardened transaction.
    pub(crate) async fn judge(&mut self, text: &str, policy: &Policy) -> Judged {
        let context = GUARD.parse_context(StatementLimits::default(), Settings::new());
        let parsed = match GUARD.parse(&Request::text(text), &context) {
            Ok(parsed) => parsed,
            Err(e) => return Judged::Refused(Refusal::new(Rule::Syntax, e.to_string())),
        };
        for sql in HARDEN.iter().chain(RESOLVE) {
            execute(&mut self.connection, sql).await.expect("a hardened transaction");
        }
        let resolution = dbagent_postgres::guard::resolve(
            &mut self.connection,
            &parsed.needs(),
            StatementLimits::default(),
        )
        .await;
        execute(&mut self.connection, "ROLLBACK").await.expect("the end");
        let resolution = resolution.unwrap_or_else(|e| panic!("{text:?}: {e:?}"));
        match judge(&parsed, &resolution, policy, NameCase::Sensitive) {
            Judgement::Read => Judged::Read,
            Judgement::Write => Judged::Proposed,
            Judgement::Refused(refusal) => Judged::Refused(refusal),
        }
    }

    /// Runs a statement in a hardened transaction and throws away what it returns, of whatever types.
    pub(crate) async fn read(&mut self, text: &str) -> Result<(), sqlx::Error> {
        for sql in HARDEN {
            execute(&mut self.connection, sql).await?;
        }
        let ran = execute(&mut self.connection, text).await;
        execute(&mut self.connection, "COMMIT").await?;
        ran
    }

    /// How often a function of the fixture ran.
    pub(crate) async fn touched(&mut self) -> i64 {
        let row = sqlx::query("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM public.touched")
            .fetch_one(&mut self.owner)
            .await
            .expect("a sequence");
        row.get(0)
    }

    /// A connection beside the owner's.
    pub(crate) fn other(&mut self) -> &mut PgConnection {
        &mut self.connection
    }

    /// The database as a target of its owner, who is a superuser.
    pub(crate) fn target(&self) -> Target {
        Target::new("scratch", ConnUrl::parse(&self.url).expect("a URL"))
    }

    /// Gives the database, its schema and these tables of it to an account that is no superuser, and returns
    /// its target.
    pub(crate) async fn as_plain_owner(&mut self, tables: &[&str]) -> Target {
        let role = format!("{}_owner", self.name);
        let name = &self.name;
        let tables: Vec<String> =
            tables.iter().map(|table| format!("ALTER TABLE {table} OWNER TO {role};")).collect();
        let tables = tables.concat();
        let change = format!(
            "CREATE ROLE {role} LOGIN PASSWORD 'guard'; ALTER DATABASE {name} OWNER TO {role};
             {tables} ALTER SCHEMA public OWNER TO {role}"
        );
        execute(&mut self.owner, &change).await.expect("an owner");
        let (scheme, rest) = self.url.split_once("://").expect("a scheme");
        let rest = rest.split_once('@').map_or(rest, |(_, host)| host);
        let url = format!("{scheme}://{role}:guard@{rest}");
        self.roles.push(role);
        Target::new("scratch", ConnUrl::parse(&url).expect("a URL"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let (admin, name, roles) = (self.admin.clone(), self.name.clone(), self.roles.clone());
        let work = async move {
            let mut admin = PgConnection::connect_with(&admin).await?;
            execute(&mut admin, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await?;
            for role in roles {
                execute(&mut admin, &format!("DROP ROLE IF EXISTS {role}")).await?;
            }
            Ok::<(), sqlx::Error>(())
        };
        let thread = std::thread::spawn(|| {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            _ = runtime.block_on(async { tokio::time::timeout(Duration::from_secs(20), work).await });
        });
        _ = thread.join();
    }
}

/// The same URL with another database.
fn in_database(url: &str, name: &str) -> String {
    let (before, query) = url.split_once('?').map_or((url, String::new()), |(b, q)| (b, format!("?{q}")));
    let (scheme, rest) = before.split_once("://").expect("a scheme");
    let host = rest.split('/').next().unwrap_or_default();
    format!("{scheme}://{host}/{name}{query}")
}

/// A call that no test outlives.
pub(crate) fn call() -> CallContext {
    CallContext::within(Duration::from_secs(60))
}

/// Judges statements on every server over a fixture; what is cleared really runs.
pub(crate) async fn judged_as(fixture: &str, rows: &[(&str, bool)]) {
    for server in SERVERS {
        let Some(mut scratch) = Scratch::on(server, &[fixture]).await else { continue };
        let mut wrong = Vec::new();
        for (statement, allow) in rows {
            let judged = scratch.judge(statement, &Policy::default()).await;
            if matches!(judged, Judged::Read) != *allow {
                wrong.push(format!("{statement}: {judged:?}"));
            }
            if *allow && let Err(e) = scratch.read(statement).await {
                wrong.push(format!("{statement}: {e}"));
            }
        }
        drop(scratch);
        assert!(wrong.is_empty(), "{server}: {}", wrong.join("\n"));
    }
}
