//! Statements stop when their call does, and the session works on.

use std::time::{Duration, Instant};

use dbagent_core::ErrorKind;
use dbagent_core::session::Verdict;

use crate::support::{Ran, Scratch, Sql, call, collect, open, run, run_up_to, within};

const ENDLESS: &str =
    "SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE a.range + b.range < 0";
const ENDLESS_ROWS: &str = "SELECT i FROM range(1000000000000) t(i)";
/// Far beyond what a stop takes; only something that hangs gets here.
const CEILING: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_statement_is_stopped_at_its_deadline_and_the_session_works() {
    let scratch = Scratch::new();
    let session = scratch.session().await;
    for sql in [
        ENDLESS,
        ENDLESS_ROWS,
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
        "SELECT * FROM range(100000000000) t(i) ORDER BY hash(i) LIMIT 3",
        "PIVOT (FROM range(100000000000) t(i) SELECT i % 7 AS g) ON g USING count(*)",
    ] {
        let begun = Instant::now();
        let e = run_up_to(&session, Sql(sql), None, &within(Duration::from_millis(200))).await.error();
        assert_eq!(e.kind(), ErrorKind::Timeout, "{sql}: {e}");
        assert!(begun.elapsed() < CEILING, "{sql}");
        assert_eq!(run(&session, "SELECT count(*) FROM users").await.rows(), [["3"]]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_statement_says_so_and_the_session_works() {
    let scratch = Scratch::new();
    let session = scratch.session().await;
    // More often than there are connections: one that did not come back would be missed.
    for _ in 0..8 {
        let call = call();
        let Ok(Verdict::Cleared(cleared)) = session.judge(Sql(ENDLESS).into(), None, &call).await else {
            panic!("not cleared");
        };
        let rows = session.read(cleared, &call).unwrap();
        let reading = tokio::spawn(collect(rows));
        call.cancel.cancel();
        let e = reading.await.unwrap().error();
        assert_eq!(e.kind(), ErrorKind::Cancelled, "{e}");
    }
    assert_eq!(run(&session, "SELECT count(*) FROM users").await.rows(), [["3"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_are_dropped_give_their_connection_back() {
    let scratch = Scratch::new();
    let session = scratch.session().await;
    for _ in 0..12 {
        let Ok(Verdict::Cleared(cleared)) = session.judge(Sql(ENDLESS_ROWS).into(), None, &call()).await
        else {
            panic!("not cleared");
        };
        let mut rows = session.read(cleared, &call()).unwrap();
        assert!(rows.next().await.unwrap().is_some());
    }
    assert_eq!(run(&session, "SELECT count(*) FROM users").await.rows(), [["3"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_capped_read_stops_the_statement() {
    let scratch = Scratch::new();
    let session = scratch.session().await;
    let rows = run_up_to(&session, Sql(ENDLESS_ROWS), Some(10), &call()).await.rows();
    assert_eq!(rows.len(), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn when_every_connection_is_busy_the_error_says_so() {
    let scratch = Scratch::new();
    let mut target = scratch.target();
    target.guardrails.connect_timeout_s = 1;
    let session = open(target).await.unwrap();
    let mut busy = Vec::new();
    for _ in 0..4 {
        let Ok(Verdict::Cleared(cleared)) = session.judge(Sql(ENDLESS_ROWS).into(), None, &call()).await
        else {
            panic!("not cleared");
        };
        let mut rows = session.read(cleared, &call()).unwrap();
        // It runs once its first batch is here, and waits for its reader from then on.
        assert!(rows.next().await.unwrap().is_some());
        busy.push(rows);
    }
    let e = run(&session, "SELECT 1 FROM users").await.error();
    assert_eq!(e.kind(), ErrorKind::TooManyConnections, "{e}");
    assert!(e.to_string().contains("all 4 connections") && e.hint_text().is_some());
    busy.pop();
    // The connection of the dropped one comes back.
    let begun = Instant::now();
    loop {
        match run(&session, "SELECT count(*) FROM users").await {
            Ran::Rows(rows) => {
                assert_eq!(rows, [["3"]]);
                break;
            }
            Ran::Failed(e) => assert_eq!(e.kind(), ErrorKind::TooManyConnections),
            Ran::Refused(refusal) => panic!("{refusal:?}"),
        }
        assert!(begun.elapsed() < CEILING);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_session_says_so() {
    let scratch = Scratch::new();
    let session = scratch.session().await;
    session.close().await;
    let e = run(&session, "SELECT 1 FROM users").await.error();
    assert_eq!(e.kind(), ErrorKind::Connection, "{e}");
}
