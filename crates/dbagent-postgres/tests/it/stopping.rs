//! Whoever gives up is obeyed on the server too, and whatever happens to a connection, the next call works.

use std::time::Duration;

use dbagent_core::rows::GRACE_KEY;
use dbagent_core::{CallContext, Error, ErrorKind, GuardedSession, Request};
use dbagent_services::Server;
use dbagent_testkit::conformance::Value;

use crate::proxy::{Mode, Proxy};
use crate::support::{Scratch, call, collect, open, run, run_up_to, skipped, start, target, until};

const SERIES: &str = "generate_series(1, 100000) AS a(i), generate_series(1, 100000) AS b(j), generate_series(1, 100000) AS c(k)";

fn endless() -> Request {
    Request::text(format!("SELECT count(*) FROM {SERIES}"))
}

fn endless_rows() -> Request {
    Request::text(format!("SELECT i, 'a text of some length' AS t FROM {SERIES}"))
}

/// How many statements run in the database, beside the one that asks.
async fn active(db: &Scratch) -> String {
    db.value(
        "SELECT count(*) FROM pg_stat_activity \
         WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()",
    )
    .await
}

async fn works(session: &GuardedSession) {
    until("the session works again", || async {
        matches!(run(session, "SELECT 42 AS v").await, crate::support::Ran::Rows(r) if r == [[Value::Int(42)]])
    })
    .await;
}

fn stopped_by_itself(e: &Error) -> bool {
    !e.context().iter().any(|(key, _)| *key == GRACE_KEY)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_statement_is_gone_from_the_server() {
    let Some(db) = Scratch::new().await else { return };
    let session = db.session().await;
    let call = call();
    let mut rows = start(&session, endless(), None, &call).await.unwrap();
    tokio::select! {
        _ = rows.next() => panic!("it never ends"),
        () = until("it runs", || async { active(&db).await == "1" }) => {}
    }
    call.cancel.cancel();
    assert_eq!(collect(rows).await.error().kind(), ErrorKind::Cancelled);
    until("it is gone", || async { active(&db).await == "0" }).await;
    works(&session).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn enough_rows_and_dropped_rows_end_the_statement() {
    let Some(db) = Scratch::new().await else { return };
    let session = db.session().await;
    let got = run_up_to(&session, endless_rows(), Some(10), &call()).await.rows();
    assert_eq!(got.len(), 10);
    until("enough is enough", || async { active(&db).await == "0" }).await;
    let mut rows = start(&session, endless_rows(), None, &call()).await.unwrap();
    assert!(rows.next().await.unwrap().is_some());
    assert_eq!(active(&db).await, "1");
    drop(rows);
    until("nobody reads it", || async { active(&db).await == "0" }).await;
    // The road through a cursor ends as well.
    let text = format!("SELECT point(1, 2) AS p FROM {SERIES}");
    assert_eq!(run_up_to(&session, Request::text(text), Some(700), &call()).await.rows().len(), 700);
    until("the cursor is closed", || async { active(&db).await == "0" }).await;
    // One connection served all of it: each came back.
    works(&session).await;
    let connections =
        db.value("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()").await;
    assert!(connections.parse::<u32>().unwrap() <= 4, "{connections}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_reader_slows_the_server() {
    let Some(db) = Scratch::new().await else { return };
    let session = db.session().await;
    let mut rows = start(&session, endless_rows(), None, &call()).await.unwrap();
    assert!(rows.next().await.unwrap().is_some());
    // Nobody polls the driver any more: the socket fills, and the server waits.
    let waits = "SELECT count(*) FROM pg_stat_activity \
                 WHERE datname = current_database() AND wait_event = 'ClientWrite' AND pid <> pg_backend_pid()";
    until("the server waits for the reader", || async { db.value(waits).await == "1" }).await;
    assert!(rows.next().await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_deadline_ends_the_statement() {
    let Some(db) = Scratch::new().await else { return };
    let session = db.session().await;
    for request in [endless(), Request::text(format!("SELECT point(1, 2), count(*) FROM {SERIES}"))] {
        let call = CallContext::within(Duration::from_millis(400));
        let e = run_up_to(&session, request, None, &call).await.error();
        assert_eq!(e.kind(), ErrorKind::Timeout, "{e}");
        assert!(stopped_by_itself(&e) && e.hint_text().is_some(), "{e}");
        until("it is gone", || async { active(&db).await == "0" }).await;
    }
    works(&session).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_server_does_not_hold_the_call() {
    let server = match Server::throwaway("postgres") {
        Ok(server) => server,
        Err(why) => return skipped(&why.to_string()),
    };
    let session = open(target(server.url())).await.unwrap();
    works(&session).await;
    server.freeze().unwrap();
    let e =
        run_up_to(&session, Request::text("SELECT 1"), None, &CallContext::within(Duration::from_secs(1)))
            .await;
    let e = e.error();
    assert_eq!(e.kind(), ErrorKind::Timeout, "{e}");
    assert!(stopped_by_itself(&e), "{e}");
    let e =
        open(target(&crate::support::with_parameter(server.url(), "connect_timeout=1"))).await.err().unwrap();
    assert_eq!(e.kind(), ErrorKind::Connection, "{e}");
    assert!(e.to_string().contains("did not answer"), "{e}");
    server.thaw().unwrap();
    works(&session).await;

    // Frozen in the middle of a stream.
    let call = CallContext::within(Duration::from_secs(2));
    let mut rows = start(&session, endless_rows(), None, &call).await.unwrap();
    assert!(rows.next().await.unwrap().is_some());
    server.freeze().unwrap();
    let e = collect(rows).await.error();
    assert_eq!(e.kind(), ErrorKind::Timeout, "{e}");
    assert!(stopped_by_itself(&e), "{e}");
    server.thaw().unwrap();
    works(&session).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_ends_the_stream_with_an_error() {
    let mut server = match Server::throwaway("postgres") {
        Ok(server) => server,
        Err(why) => return skipped(&why.to_string()),
    };
    let session = open(target(server.url())).await.unwrap();
    let mut rows = start(&session, endless_rows(), None, &call()).await.unwrap();
    assert!(rows.next().await.unwrap().is_some());
    server.kill().unwrap();
    let e = collect(rows).await.error();
    assert_eq!(e.kind(), ErrorKind::Connection, "{e}");
    assert_eq!(run(&session, "SELECT 1").await.error().kind(), ErrorKind::Connection);
    server.restart().unwrap();
    works(&session).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_breaks_or_hangs_is_replaced() {
    let Some(db) = Scratch::new().await else { return };
    let proxy = Proxy::before(&db.url, "127.0.0.1").await;
    let session = open(target(&proxy.url)).await.unwrap();

    let mut rows = start(&session, endless_rows(), None, &call()).await.unwrap();
    assert!(rows.next().await.unwrap().is_some());
    proxy.set(Mode::Cut);
    let e = collect(rows).await.error();
    assert_eq!(e.kind(), ErrorKind::Connection, "{e}");
    assert_eq!(e.retry_advice(), dbagent_core::Retry::Later);
    proxy.set(Mode::Forward);
    works(&session).await;
    until("the server noticed", || async { active(&db).await == "0" }).await;

    // Nothing arrives any more and nobody says so: the deadline is all there is.
    let call = CallContext::within(Duration::from_millis(700));
    let mut rows = start(&session, endless_rows(), None, &call).await.unwrap();
    assert!(rows.next().await.unwrap().is_some());
    proxy.set(Mode::Hole);
    let e = collect(rows).await.error();
    assert_eq!(e.kind(), ErrorKind::Timeout, "{e}");
    assert!(stopped_by_itself(&e), "{e}");
    proxy.set(Mode::Forward);
    works(&session).await;
    until("the server stopped by itself", || async { active(&db).await == "0" }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_the_server_cut_while_idle_are_replaced() {
    let Some(db) = Scratch::new().await else { return };
    let session = db.session().await;
    works(&session).await;
    for _ in 0..2 {
        // The reserve goes too; the next one to be cancelled needs a new one.
        let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                   WHERE datname = current_database() AND pid <> pg_backend_pid()";
        assert_ne!(db.value(cut).await, "0");
        assert_eq!(run(&session, "SELECT 7 AS v").await.value(), Value::Int(7));
        assert_eq!(run_up_to(&session, endless_rows(), Some(3), &call()).await.rows().len(), 3);
        until("it is gone", || async { active(&db).await == "0" }).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_the_server_ends_in_the_middle_says_so() {
    let Some(db) = Scratch::new().await else { return };
    let session = db.session().await;
    let mut rows = start(&session, endless(), None, &call()).await.unwrap();
    tokio::select! {
        _ = rows.next() => panic!("it never ends"),
        () = until("it runs", || async { active(&db).await == "1" }) => {}
    }
    db.value(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
         WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()",
    )
    .await;
    let e = collect(rows).await.error();
    assert_eq!((e.kind(), e.native_code()), (ErrorKind::Connection, Some("57P01")), "{e}");
    works(&session).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_else_who_cancels_is_no_deadline() {
    let Some(db) = Scratch::new().await else { return };
    let session = db.session().await;
    let mut rows = start(&session, endless(), None, &call()).await.unwrap();
    tokio::select! {
        _ = rows.next() => panic!("it never ends"),
        () = until("it runs", || async { active(&db).await == "1" }) => {}
    }
    db.value(
        "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity \
         WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()",
    )
    .await;
    let e = collect(rows).await.error();
    assert_eq!(e.native_code(), Some("57014"));
    assert!(e.hint_text().unwrap().contains("somebody"), "{e:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_changes_between_two_reads_is_read_as_it_is() {
    let Some(db) = Scratch::with("CREATE TABLE t (a int); INSERT INTO t VALUES (1)").await else { return };
    let session = db.session().await;
    let read = "SELECT * FROM t";
    assert_eq!(run(&session, read).await.rows(), [[Value::Int(1)]]);
    db.change("ALTER TABLE t ADD COLUMN b text DEFAULT 'x'; ALTER TABLE t ALTER a TYPE numeric").await;
    assert_eq!(run(&session, read).await.rows(), [[Value::text("1"), Value::text("x")]]);
    db.change("DROP TABLE t").await;
    assert_eq!(run(&session, read).await.error().kind(), ErrorKind::UnknownObject);
    db.change("CREATE TABLE t (c bool); INSERT INTO t VALUES (true)").await;
    assert_eq!(run(&session, read).await.rows(), [[Value::Bool(true)]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_session_says_so_and_leaves_nothing_open() {
    let Some(db) = Scratch::new().await else { return };
    let session = db.session().await;
    works(&session).await;
    session.close().await;
    let e = run(&session, "SELECT 1").await.error();
    assert_eq!(e.kind(), ErrorKind::Connection);
    until("all connections are closed", || async {
        db.value("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()").await == "1"
    })
    .await;
}
