//! Whoever gives up is obeyed on the server: seen from the side, in its list of processes.

use std::time::Duration;

use dbagent_core::ErrorKind;
use dbagent_core::context::CallContext;
use dbagent_testkit::conformance::Value;

use super::support::{call, collect, eventually, numbers, rows, session, start};
use crate::own::Scratch;

/// A statement without end, with a mark by which it is found.
fn endless(mark: &str) -> String {
    format!("SELECT /* {mark} */ sum(a.i * b.i + c.i) FROM numbers a, numbers b, numbers c")
}

/// Rows without end.
fn endless_rows(mark: &str) -> String {
    format!("SELECT /* {mark} */ a.i, a.t FROM numbers a, numbers b")
}

/// How many statements with that mark run.
async fn running(scratch: &Scratch, mark: &str) -> usize {
    let mut owner = scratch.owner().await.expect("an owner");
    let found = owner
        .rows("SELECT INFO FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND INFO IS NOT NULL")
        .await
        .expect("the list of processes");
    found.iter().flatten().flatten().filter(|info| info.contains(mark)).count()
}

async fn runs(scratch: &Scratch, mark: &str) {
    eventually("the statement runs", async || running(scratch, mark).await == 1).await;
}

async fn is_gone(scratch: &Scratch, mark: &str) {
    eventually("the statement is gone from the server", async || running(scratch, mark).await == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_statement_is_gone_from_the_server() {
    let Some(scratch) = numbers().await else { return };
    let session = session(&scratch).await;
    let call = call();
    let mut rows_of = start(&session, endless("cancelled"), None, &call).await.unwrap();
    let next = tokio::spawn(async move { rows_of.next().await.map(drop) });
    runs(&scratch, "cancelled").await;
    call.cancel.cancel();
    assert_eq!(next.await.unwrap().unwrap_err().kind(), ErrorKind::Cancelled);
    is_gone(&scratch, "cancelled").await;
    assert_eq!(rows(&session, "SELECT 1 AS a").await, [[Value::from(1)]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_past_its_time_is_gone_from_the_server() {
    let Some(scratch) = numbers().await else { return };
    let session = session(&scratch).await;
    let call = CallContext::within(Duration::from_millis(400));
    let e = collect(start(&session, endless("too long"), None, &call).await.unwrap()).await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Timeout, "{e}");
    is_gone(&scratch, "too long").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_read_is_gone_from_the_server() {
    let Some(scratch) = numbers().await else { return };
    let session = session(&scratch).await;
    let mut rows_of = start(&session, endless_rows("dropped"), None, &call()).await.unwrap();
    assert!(rows_of.next().await.unwrap().is_some());
    runs(&scratch, "dropped").await;
    drop(rows_of);
    is_gone(&scratch, "dropped").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_capped_read_stops_on_the_server_and_its_connection_is_used_again() {
    let Some(scratch) = numbers().await else { return };
    let session = session(&scratch).await;
    let number = rows(&session, "SELECT CONNECTION_ID() AS id").await;
    for round in 0..20 {
        let found = collect(start(&session, endless_rows("capped"), Some(10), &call()).await.unwrap()).await;
        assert_eq!(found.unwrap().len(), 10, "round {round}");
        is_gone(&scratch, "capped").await;
    }
    // Four may be open; no more than one was ever needed, unless the next call came before the last was
    // cleaned up.
    let mut owner = scratch.owner().await.unwrap();
    let sql = format!(
        "SELECT ID FROM information_schema.PROCESSLIST WHERE DB = '{}' AND ID <> CONNECTION_ID()",
        scratch.name()
    );
    let ids: Vec<String> = owner.rows(&sql).await.unwrap().into_iter().flatten().flatten().collect();
    let Some(Value::Int(number)) = number[0].first() else { panic!("{number:?}") };
    assert!(ids.contains(&number.to_string()), "the connection {number} is not used again: {ids:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_stops_by_itself_what_nobody_can_reach() {
    let Some(scratch) = numbers().await else { return };
    let mut raw = crate::own::raw_hardened(&super::support::target(scratch.url()), &call()).await.unwrap();
    let set = if crate::own::JSON_IS_TEXT {
        "SET SESSION max_statement_time = 1"
    } else {
        "SET SESSION max_execution_time = 1000"
    };
    raw.run(set, &dbagent_core::Params::None).await.unwrap();
    let e = raw.run(&endless("alone"), &dbagent_core::Params::None).await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Timeout, "{e}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_waits_for_bytes_gives_up() {
    let Some(scratch) = numbers().await else { return };
    let mut target = super::support::target(scratch.url());
    target.credential = target.credential.set("read_timeout", "0.3");
    let session = super::support::open(target).await.unwrap();
    let e = collect(start(&session, endless("silent"), None, &call()).await.unwrap()).await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Timeout);
    assert!(e.to_string().contains("read_timeout"), "{e}");
    is_gone(&scratch, "silent").await;
}
