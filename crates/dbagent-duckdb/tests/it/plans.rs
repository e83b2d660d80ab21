//! What is worth a word in a plan: tables of more than 100,000 rows that are read whole, without a filter.

use std::time::Duration;

use dbagent_core::estimate::{Plan, PlanWarning};
use dbagent_core::session::Verdict;
use dbagent_core::{Cleared, GuardedSession, Request};

use crate::support::{Scratch, call, run_up_to};

const TABLES: &str = "
    CREATE TABLE big AS SELECT i AS id, i % 10 AS kind, 'name ' || i AS name FROM range(100001) AS t(i);
    CREATE TABLE under AS SELECT * FROM big WHERE id < 100000;
    CREATE TABLE small AS SELECT i AS id FROM range(1000) AS t(i);";

async fn cleared(session: &GuardedSession, statement: &str) -> Cleared {
    match session.judge(Request::text(statement), None, &call()).await.unwrap() {
        Verdict::Cleared(cleared) => cleared,
        other => panic!("{statement}: {other:?}"),
    }
}

async fn explain(session: &GuardedSession, statement: &str) -> Plan {
    let cleared = cleared(session, statement).await;
    session.explain(&cleared, &call()).await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_table_that_is_read_whole_is_named() {
    let scratch = Scratch::with(TABLES);
    let session = scratch.session().await;
    for (statement, warnings) in [
        ("SELECT name FROM big", 1),
        ("SELECT kind, count(*) FROM big AS b GROUP BY kind", 1),
        ("SELECT kind, count(*) FROM big GROUP BY kind LIMIT 2", 1),
        ("SELECT a.name FROM big AS a JOIN big AS b ON a.name = b.name || 'x'", 1),
        // One row less.
        ("SELECT name FROM under", 0),
        // A filter, and something that stops before the end.
        ("SELECT name FROM big WHERE name = 'name 7'", 0),
        ("SELECT name FROM big LIMIT 5", 0),
        ("SELECT * FROM (SELECT id FROM big LIMIT 5) JOIN small USING (id)", 0),
        // Counted without reading anything.
        ("SELECT count(*) FROM big", 0),
    ] {
        let plan = explain(&session, statement).await;
        let said: Vec<String> = plan.warnings.iter().map(ToString::to_string).collect();
        let whole =
            "main.big is read whole, about 100,001 rows, and no condition is known to leave most of them out";
        assert_eq!(said, vec![whole; warnings], "{statement}: {}", plan.text);
        assert!(plan.hints.is_empty() && !plan.text.contains("read whole"), "{plan:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_read_is_compared_with_what_the_engine_expected() {
    let scratch = Scratch::with(TABLES);
    let session = scratch.session().await;
    let reviewed = async |statement: &str| {
        let estimate = session.estimate(&cleared(&session, statement).await, &call()).await.unwrap().unwrap();
        let rows = run_up_to(&session, Request::text(statement), None, &call()).await.rows().len() as u64;
        (rows, estimate.review(rows, true, Duration::ZERO))
    };
    // How many partners a row has is not known: a few are expected, and each has every one of its kind.
    let (rows, off) =
        reviewed("SELECT a.id FROM small AS a JOIN big AS b ON a.id % 2 = b.id % 2 AND b.id < 100").await;
    assert!(
        matches!(off, Some(PlanWarning::EstimateOff { seen, .. }) if seen == rows && rows > 10_000),
        "{rows} {off:?}"
    );
    let (rows, off) = reviewed("SELECT id FROM big").await;
    assert_eq!((rows, off), (100_001, None));
}
