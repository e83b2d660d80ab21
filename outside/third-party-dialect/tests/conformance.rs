//! The whole suite by one line, and what the suite needs to know of ledgers.

use std::path::PathBuf;
use std::time::Duration;

use dbagent_core::session::Verdict;
use dbagent_core::{
    CallContext, ConnUrl, Dialect, Error, ErrorKind, GuardedSession, Request, Result, Target, async_trait,
};
use dbagent_testkit::conformance::sql::{quoted, setup};
use dbagent_testkit::conformance::{Change, Corpus, Expected, Fixture, Material, Value};
use rusqlite::Connection;
use tempfile::TempDir;

dbagent_testkit::dialect_conformance!(fixture = Scratch { folder: tempfile::tempdir().unwrap() });

static DIALECT: Dialect = dbagent_ledger::DIALECT;

struct Scratch {
    folder: TempDir,
}

impl Scratch {
    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn target_on(&self, name: &str) -> Result<Target> {
        Ok(Target::new(name, ConnUrl::parse(&format!("ledger://{}", self.file(name).display()))?))
    }

    fn run(&self, text: &str) -> Result<()> {
        let failed = |e: rusqlite::Error| Error::new(ErrorKind::Engine, e.to_string());
        Connection::open(self.file("scratch")).and_then(|db| db.execute_batch(text)).map_err(failed)
    }
}

#[async_trait]
impl Fixture for Scratch {
    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    async fn target(&self) -> Result<Target> {
        if !self.file("scratch").exists() {
            self.run(&setup().join(";\n"))?;
        }
        self.target_on("scratch")
    }

    fn material(&self) -> Material {
        let mut material = Material::sql();
        let values = "SELECT column1 AS v FROM (VALUES (1), ('one'), (x'01'), (NULL))";
        let mixed = vec![
            vec![Value::json("1")],
            vec![Value::json("\"one\"")],
            vec![Value::json("{\"$bytes\":\"AQ==\"}")],
            vec![Value::Null],
        ];
        material.mixed = vec![Expected::new(Request::text(values), &["v"], mixed)];
        material.errors =
            vec![(Request::text("SELECT abs(id - 9223372036854775807 - 2) FROM users"), ErrorKind::Data)];
        // What the engine cannot do, or this dialect disclaims.
        material.view = None;
        material.read_view = None;
        material.echo_positional = None;
        material
    }

    async fn raw_hardened(&self, request: &Request) -> Option<Result<()>> {
        let failed = |e: rusqlite::Error| match e.sqlite_error_code() {
            Some(rusqlite::ErrorCode::ReadOnly) => Error::new(ErrorKind::Permission, e.to_string()),
            _ => Error::new(ErrorKind::Engine, e.to_string()),
        };
        let call = CallContext::within(Duration::from_secs(30));
        let run = |db: Connection| db.prepare(request.as_str())?.raw_query().next().map(|_| ());
        let db = match self.target().await {
            Ok(_) => dbagent_ledger::connect(&self.file("scratch"), &call),
            Err(e) => Err(e),
        };
        Some(db.and_then(|db| run(db).map_err(failed)))
    }

    async fn beside(&self, change: Change) -> Option<Result<()>> {
        match change {
            Change::Create(name) => Some(self.run(&format!("CREATE TABLE {} (a)", quoted(&name.name)))),
            _ => None,
        }
    }

    async fn wrong_targets(&self) -> Result<Vec<(Target, ErrorKind)>> {
        std::fs::write(self.file("notes"), "no ledger".repeat(100)).expect("a file");
        Ok(vec![
            (self.target_on("missing")?, ErrorKind::DatabaseNotFound),
            (self.target_on("notes")?, ErrorKind::NotADatabase),
        ])
    }

    fn corpora(&self) -> Vec<Corpus> {
        vec![Corpus::new("ledger.jsonl", include_str!("ledger.jsonl"))]
    }

    fn lacks(&self) -> Vec<(&'static str, &'static str)> {
        vec![("policy_views", "only the tables of a ledger can be read")]
    }
}

/// A view may read anything, and this dialect does not look into views: so there are none.
#[tokio::test]
async fn a_view_is_not_there() {
    let scratch = Scratch { folder: tempfile::tempdir().unwrap() };
    let call = CallContext::within(Duration::from_secs(30));
    let session = GuardedSession::open(&DIALECT, scratch.target().await.unwrap(), &call).await.unwrap();
    let request = Request::text("SELECT contact FROM user_emails");
    let Ok(Verdict::Cleared(cleared)) = session.judge(request, None, &call).await else {
        panic!("a name that does not exist is no matter of the guard")
    };
    let error = session.read(cleared, &call).unwrap().next().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownObject);
}
