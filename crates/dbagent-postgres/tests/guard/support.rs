//! A dialect of the guard alone, and the rows of the corpora.

use std::path::PathBuf;

use dbagent_core::guard::{Judgement, Policy, Resolution, judge};
use dbagent_core::guardrails::StatementLimits;
use dbagent_core::{Dialect, ErrorKind, NameCase, OpenContext, Request, Session, Settings, Target};
use futures_core::future::BoxFuture;

fn open<'a>(_: &'a Target, _: &'a OpenContext) -> BoxFuture<'a, dbagent_core::Result<Box<dyn Session>>> {
    Box::pin(async { Err(dbagent_core::Error::new(ErrorKind::Unsupported, "the guard alone opens nothing")) })
}

/// Only what reads a statement.
pub(crate) static GUARD: Dialect = Dialect::new("postgres", dbagent_postgres::guard::parse, open);

pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) statement: String,
    pub(crate) allow: bool,
    pub(crate) kind: String,
}

/// The rows of the shared corpus and our own, those that are disputed with the verdict of the real server.
pub(crate) fn rows() -> Vec<Row> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpora/postgres");
    let read = |file: &str| {
        let text = std::fs::read_to_string(folder.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
        let rows = text.lines().filter(|l| !l.trim().is_empty()).map(|line| {
            let row: serde_json::Value =
                serde_json::from_str(line).unwrap_or_else(|e| panic!("{file}: {e}: {line}"));
            let text = |key: &str| row[key].as_str().unwrap_or_else(|| panic!("{key}: {line}")).to_owned();
            let verdict = text("verdict");
            assert!(["allow", "deny"].contains(&verdict.as_str()), "{line}");
            Row {
                id: text("id"),
                statement: text("statement"),
                allow: verdict == "allow",
                kind: text("kind"),
            }
        });
        rows.collect::<Vec<_>>()
    };
    let disputed = read("disputed.jsonl");
    let mut rows = read("postgres.jsonl");
    rows.extend(read("own.jsonl"));
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
            Judgement::Refused(dbagent_core::Refusal::new(dbagent_core::guard::Rule::Syntax, e.to_string()))
        }
    }
}
