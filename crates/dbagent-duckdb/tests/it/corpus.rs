//! Every row of the corpora is judged as it says, with and without a database; what is cleared runs.

use std::path::PathBuf;
use std::time::Duration;

use dbagent_core::guard::{Judgement, Policy, Resolution, judge};
use dbagent_core::guardrails::StatementLimits;
use dbagent_core::request::{Param, Params};
use dbagent_core::session::Verdict;
use dbagent_core::{ErrorKind, Request, Settings};
use dbagent_duckdb::DIALECT;

use crate::support::{Ran, Scratch, call, run_up_to, within};

pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) statement: String,
    pub(crate) allow: bool,
    pub(crate) kind: String,
}

/// The rows of the shared corpus and our own.
pub(crate) fn rows() -> Vec<Row> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpora/duckdb");
    let mut rows = Vec::new();
    for file in ["duckdb.jsonl", "own.jsonl"] {
        let text = std::fs::read_to_string(folder.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
        for line in text.lines().filter(|l| !l.trim().is_empty()) {
            let row: serde_json::Value =
                serde_json::from_str(line).unwrap_or_else(|e| panic!("{file}: {e}: {line}"));
            let text = |key: &str| row[key].as_str().unwrap_or_else(|| panic!("{key}: {line}")).to_owned();
            let verdict = text("verdict");
            assert!(["allow", "deny"].contains(&verdict.as_str()), "{line}");
            rows.push(Row {
                id: text("id"),
                statement: text("statement"),
                allow: verdict == "allow",
                kind: text("kind"),
            });
        }
    }
    let mut ids: Vec<_> = rows.iter().map(|r| r.id.clone()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), rows.len(), "an id stands twice");
    assert!(rows.len() > 300, "{}", rows.len());
    rows
}

/// A row as a request: its parameters are NULL.
pub(crate) fn request(statement: &str) -> Request {
    let context = DIALECT.parse_context(StatementLimits::default(), Settings::new());
    let request = Request::text(statement);
    let Ok(parsed) = DIALECT.parse(&request, &context) else { return request };
    let params = if parsed.parameters.named.is_empty() {
        Params::Positional(vec![Param::Null; parsed.parameters.positional])
    } else {
        Params::Named(parsed.parameters.named.into_iter().map(|name| (name, Param::Null)).collect())
    };
    if params.is_empty() { request } else { request.with_params(params) }
}

#[test]
fn every_row_is_judged_as_it_says_without_a_database() {
    let context = DIALECT.parse_context(StatementLimits::default(), Settings::new());
    let mut wrong = Vec::new();
    for row in rows() {
        let verdict = match DIALECT.parse(&Request::text(&row.statement), &context) {
            Ok(parsed) => judge(&parsed, &Resolution::offline(), &Policy::default(), DIALECT.case()),
            Err(e) if e.kind() == ErrorKind::Syntax && !row.allow => continue,
            Err(e) => panic!("{}: {e}", row.id),
        };
        if matches!(verdict, Judgement::Read) != row.allow {
            wrong.push(format!("{} {:?}: {verdict:?}", row.id, row.statement));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_row_is_judged_as_it_says_with_a_database() {
    let scratch = Scratch::new();
    let session = scratch.session().await;
    let mut wrong = Vec::new();
    for row in rows() {
        let verdict = session.judge(request(&row.statement), Some(10), &call()).await.unwrap();
        if matches!(verdict, Verdict::Cleared(_)) != row.allow {
            wrong.push(format!("{} {:?}: {verdict:?}", row.id, row.statement));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_cleared_runs() {
    let scratch = Scratch::new();
    let session = scratch.session().await;
    let mut ran = 0;
    for row in rows().into_iter().filter(|r| r.allow) {
        // These run for ever by design and must be stopped.
        let endless = row.kind == "dos_runtime";
        let limit = if endless { Duration::from_millis(300) } else { Duration::from_secs(60) };
        match run_up_to(&session, request(&row.statement), Some(1_000), &within(limit)).await {
            Ran::Rows(_) if !endless => ran += 1,
            Ran::Failed(e) if endless && e.kind() == ErrorKind::Timeout => {}
            other => panic!("{} {:?}: {other:?}", row.id, row.statement),
        }
    }
    assert!(ran > 20, "{ran}");
}
