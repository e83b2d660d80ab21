//! Statements stop when their call does, and the session works on; readers and writers do not disturb each
//! other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dbagent_core::ErrorKind;
use dbagent_core::session::Verdict;

use crate::support::{Ran, Scratch, Sql, call, collect, open, run, run_up_to, within};

const ENDLESS: &str =
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";
const ENDLESS_ROWS: &str = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c";
/// Far beyond what a stop takes; only something that hangs gets here.
const CEILING: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_statement_is_stopped_at_its_deadline_and_the_session_works() {
    let scratch = Scratch::new();
    let session = scratch.session().await;
    for sql in [
        ENDLESS,
        ENDLESS_ROWS,
        // A sort over rows that never end, a cross product, a slow comparison.
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c ORDER BY random()",
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 100000) SELECT count(*) FROM c a, c b, c d",
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT sum(length(hex(randomblob(1000)))) FROM c",
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
    target.credential = target.credential.set("connect_timeout", "0.2");
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

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn readers_see_whole_transactions_of_a_busy_writer() {
    let scratch = Scratch::with(
        "PRAGMA journal_mode = WAL; CREATE TABLE a (n INTEGER); CREATE TABLE b (n INTEGER);
         INSERT INTO a VALUES (0); INSERT INTO b VALUES (0)",
    );
    let session = scratch.session().await;
    let stop = Arc::new(AtomicBool::new(false));
    let writing = {
        let (stop, writer) = (Arc::clone(&stop), scratch.writer());
        std::thread::spawn(move || {
            let mut commits = 0_u32;
            while !stop.load(Ordering::Relaxed) || commits < 50 {
                writer
                    .execute_batch("BEGIN; UPDATE a SET n = n + 1; UPDATE b SET n = n + 1; COMMIT")
                    .unwrap();
                commits += 1;
            }
            commits
        })
    };
    let mut readers = Vec::new();
    for _ in 0..8 {
        let session = session.clone();
        readers.push(tokio::spawn(async move {
            for _ in 0..50 {
                let rows = run(&session, "SELECT a.n = b.n FROM a, b").await.rows();
                assert_eq!(rows, [["1"]]);
            }
        }));
    }
    for reader in readers {
        reader.await.unwrap();
    }
    stop.store(true, Ordering::Relaxed);
    let commits = writing.join().unwrap();
    assert_eq!(run(&session, "SELECT n FROM a").await.rows(), [[commits.to_string()]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_is_waited_for_and_then_named() {
    let scratch = Scratch::new();
    let mut target = scratch.target();
    target.credential = target.credential.set("connect_timeout", "0.3");
    let session = open(target.clone()).await.unwrap();
    let patient = scratch.session().await;
    let writer = scratch.writer();
    writer.execute_batch("BEGIN EXCLUSIVE; INSERT INTO users (id) VALUES (99)").unwrap();
    let e = run(&session, "SELECT count(*) FROM users").await.error();
    assert_eq!(e.kind(), ErrorKind::Locked, "{e}");
    assert_eq!(e.retry_advice(), dbagent_core::Retry::Later);
    assert!(e.hint_text().unwrap().contains("another process"), "{e:?}");
    let e = open(target).await.map(|_| ()).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Locked, "{e}");
    // A lock that goes away in time is never noticed. Nothing tells from outside that the reader has begun
    // to wait; should it be late, there is no lock left to wait for.
    let waiting = tokio::spawn(async move { run(&patient, "SELECT count(*) FROM users").await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    writer.execute_batch("COMMIT").unwrap();
    assert_eq!(waiting.await.unwrap().rows(), [["4"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_session_says_so() {
    let scratch = Scratch::new();
    let session = scratch.session().await;
    session.close().await;
    let e = run(&session, "SELECT 1 FROM users").await.error();
    assert_eq!(e.kind(), ErrorKind::Connection, "{e}");
}
