//! A database of a test's own on the server that the environment names.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use dbagent_core::context::CallContext;
use dbagent_core::session::Verdict;
use dbagent_core::{ConnUrl, GuardedSession, Policy, Request, Target};
use dbagent_mysql_common::sqlx::mysql::{MySqlConnectOptions, MySqlRow};
use dbagent_mysql_common::sqlx::{self, AssertSqlSafe, ConnectOptions as _, MySqlConnection, Row as _};
use dbagent_mysql_common::testing::Owner;

use crate::KIT;

/// The URL of an owner; a test without it says so and passes, unless the environment requires it.
pub(crate) fn url() -> Option<String> {
    let name = format!("DBAGENT_TEST_{}_URL", KIT.id.to_uppercase());
    if let Ok(url) = std::env::var(&name) {
        return Some(url);
    }
    required(&format!("{name} is not set"));
    None
}

/// Says that a test is skipped, and fails it where the environment requires the server.
pub(crate) fn required(why: &str) {
    let required = std::env::var("DBAGENT_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|id| id.trim() == KIT.id), "DBAGENT_REQUIRE names {}: {why}", KIT.id);
    println!("SKIPPED {}: {why}", KIT.id);
}

/// The statements of a file: each ends with a semicolon at the end of a line.
pub(crate) fn statements(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|l| !l.starts_with("-- "));
    let text = lines.collect::<Vec<_>>().join("\n");
    text.split(";\n").map(|s| s.trim().trim_end_matches(';').to_owned()).filter(|s| !s.is_empty()).collect()
}

/// What the rows of the corpora assume.
pub(crate) fn setup() -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpora").join(KIT.id);
    statements(&std::fs::read_to_string(folder.join("setup.sql")).unwrap())
}

/// A database that is dropped with this value.
pub(crate) struct Scratch {
    pub(crate) owner: Owner,
    pub(crate) name: String,
    pub(crate) server: String,
}

impl Scratch {
    /// With what the rows of the corpora assume in it.
    pub(crate) async fn new(server: &str) -> Self {
        let scratch = Self::empty(server).await;
        scratch.with(&setup()).await
    }

    /// With nothing in it.
    pub(crate) async fn empty(server: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("guard_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let mut owner = Owner::connect(KIT.flavor.server(), server).await.unwrap();
        owner.run(&format!("DROP DATABASE IF EXISTS {name}")).await.unwrap();
        owner.run(&format!("CREATE DATABASE {name}")).await.unwrap();
        owner.run(&format!("USE {name}")).await.unwrap();
        Self { owner, name, server: server.to_owned() }
    }

    pub(crate) async fn with(mut self, statements: &[impl AsRef<str>]) -> Self {
        for statement in statements {
            let statement = statement.as_ref();
            self.owner.run(statement).await.unwrap_or_else(|e| panic!("{statement}: {e}"));
        }
        self
    }

    /// One more connection of the owner.
    pub(crate) async fn owner_again(&self) -> Owner {
        Owner::connect(KIT.flavor.server(), &self.url()).await.unwrap()
    }

    pub(crate) fn url(&self) -> String {
        let (scheme, rest) = self.server.split_once("://").unwrap();
        let (rest, options) =
            rest.split_once('?').map_or((rest, String::new()), |(r, o)| (r, format!("?{o}")));
        let host = rest.split('/').next().unwrap();
        format!("{scheme}://{host}/{}{options}", self.name)
    }

    pub(crate) fn target(&self) -> Target {
        Target::new("guard", ConnUrl::parse(&self.url()).unwrap())
    }

    pub(crate) async fn session(&self) -> GuardedSession {
        GuardedSession::open(KIT.dialect, self.target(), &call()).await.unwrap()
    }

    pub(crate) async fn session_under(&self, policy: Policy) -> GuardedSession {
        GuardedSession::open(KIT.dialect, Target { policy, ..self.target() }, &call()).await.unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let (server, sql) = (self.server.clone(), format!("DROP DATABASE IF EXISTS {}", self.name));
        let dropped = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                if let Ok(mut owner) = Owner::connect(KIT.flavor.server(), &server).await {
                    drop(owner.run(&sql).await);
                }
            });
        });
        drop(dropped.join());
    }
}

pub(crate) fn call() -> CallContext {
    CallContext::within(Duration::from_secs(60))
}

/// The verdict of a live session in one word, and why.
pub(crate) async fn judged(session: &GuardedSession, text: &str) -> (bool, String) {
    match session.judge(Request::text(text), Some(10), &call()).await.unwrap() {
        Verdict::Cleared(_) => (true, "cleared".to_owned()),
        Verdict::Refused(refusal) => (false, refusal.to_string()),
        Verdict::Proposed(_) => (false, "proposed".to_owned()),
    }
}

/// A connection that speaks the text protocol, which takes one round trip and prepares nothing.
pub(crate) struct Side(MySqlConnection);

impl Side {
    pub(crate) async fn connect(url: &str) -> sqlx::Result<Self> {
        let (_, rest) = url.split_once("://").unwrap();
        let options: MySqlConnectOptions = format!("mysql://{rest}").parse()?;
        Ok(Self(options.pipes_as_concat(false).no_engine_substitution(false).connect().await?))
    }

    pub(crate) async fn run(&mut self, text: &str) -> sqlx::Result<()> {
        sqlx::raw_sql(AssertSqlSafe(text)).execute(&mut self.0).await.map(drop)
    }

    /// The rows, each value as text and all values in one line.
    pub(crate) async fn lines(&mut self, text: &str) -> sqlx::Result<Vec<String>> {
        let rows = sqlx::raw_sql(AssertSqlSafe(text)).fetch_all(&mut self.0).await?;
        let value = |row: &MySqlRow, i| {
            let bytes: Option<Vec<u8>> = row.try_get_unchecked(i).unwrap_or_default();
            bytes.map_or("NULL".to_owned(), |b| String::from_utf8_lossy(&b).into_owned())
        };
        Ok(rows
            .iter()
            .map(|row| (0..row.len()).map(|i| value(row, i)).collect::<Vec<_>>().join("|"))
            .collect())
    }
}
