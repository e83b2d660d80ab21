//! What a statement did to its connection does not reach the next one, and what the session is like.

use dbagent_core::{GuardedSession, Params, Policy};
use dbagent_testkit::conformance::Value;

use super::support::{call, eventually, rows, scratch, scratch_with, session, session_under, start, target};
use crate::own;

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_what_the_documentation_says() {
    let Some(scratch) = scratch().await else { return };
    let session = session(&scratch).await;
    let found = rows(
        &session,
        "SELECT @@session.time_zone AS tz, @@session.character_set_results AS results, @@session.autocommit AS a, \
         DATABASE() AS d",
    )
    .await;
    assert_eq!(found[0][..3], ["+00:00".into(), "utf8mb4".into(), Value::from(1)]);
    assert_eq!(found[0][3], scratch.name().into());
    assert!(session.server(&call()).await.unwrap().contains(own::DIALECT.display_name()));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sql_mode_is_that_of_the_account() {
    let Some(scratch) = scratch().await else { return };
    let mut owner = scratch.owner().await.unwrap();
    let global = owner.rows("SELECT @@GLOBAL.sql_mode").await.unwrap()[0][0].clone().unwrap();
    let session = session(&scratch).await;
    assert_eq!(rows(&session, "SELECT @@session.sql_mode AS m").await, [[Value::text(global)]]);
    // `||` is what it is in the account's own client.
    assert_eq!(rows(&session, "SELECT 1 || 0 AS v").await, [[Value::from(1)]]);
}

/// What a hardened connection refuses by itself: above all what commits first and then runs.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_changed_past_the_guard() {
    let Some(scratch) = scratch_with(&["CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)"]).await else {
        return;
    };
    let mut raw = own::raw_hardened(&target(scratch.url()), &call()).await.unwrap();
    for sql in [
        "CREATE TABLE u (a INT)",
        "DROP TABLE t",
        "ALTER TABLE t ADD COLUMN b INT",
        "TRUNCATE TABLE t",
        "CREATE USER nobody_at_all@localhost",
        "INSERT INTO t VALUES (2)",
        "UPDATE t SET a = 3",
        "DELETE FROM t",
        "REPLACE INTO t VALUES (4)",
        "CREATE OR REPLACE VIEW v AS SELECT 1",
        "CREATE TEMPORARY TABLE u (a INT)",
    ] {
        let e = raw.run(sql, &Params::None).await.unwrap_err();
        assert_eq!(e.native_code(), Some("1792 (25006)"), "{sql}: {e}");
    }
    let mut owner = scratch.owner().await.unwrap();
    assert_eq!(owner.rows("SELECT a FROM t").await.unwrap(), [[Some("1".to_owned())]]);
    // One statement in one message, whatever the text says.
    assert!(raw.run("SELECT 1; SELECT 2", &Params::None).await.is_err());
    let e = raw.run("LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE t", &Params::None).await;
    assert!(e.is_err(), "a server may not ask for files of this machine");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_that_a_policy_allowed_is_let_go() {
    let Some(scratch) = scratch().await else { return };
    let policy = Policy { allow_functions: ["get_lock".to_owned()].into(), ..Policy::default() };
    let session = session_under(&scratch, policy).await;
    let name = scratch.name().to_owned();
    assert_eq!(rows(&session, format!("SELECT GET_LOCK('{name}', 0) AS l")).await, [[Value::from(1)]]);
    let mut owner = scratch.owner().await.unwrap();
    let free = format!("SELECT IS_FREE_LOCK('{name}')");
    eventually("the lock is free", async || owner.rows(&free).await.unwrap() == [[Some("1".to_owned())]])
        .await;
}

/// A connection whose session is not what it was is not used again, however that came about.
#[tokio::test(flavor = "multi_thread")]
async fn catalogue_and_reads_share_the_pool_without_traces() {
    let Some(scratch) = scratch_with(&["CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)"]).await else {
        return;
    };
    let session = session(&scratch).await;
    let mut owner = scratch.owner().await.unwrap();
    let ids =
        format!("SELECT ID FROM information_schema.PROCESSLIST WHERE DB = '{}' ORDER BY ID", scratch.name());
    let before = owner.rows(&ids).await.unwrap();
    for _ in 0..10 {
        assert_eq!(rows(&session, "SELECT a FROM t").await, [[Value::from(1)]]);
        session.objects(None, dbagent_core::catalog::Page::default(), &call()).await.unwrap();
        session.ping(&call()).await.unwrap();
    }
    // The owner's, and the one that the session was opened with: calls one after the other need no other.
    assert_eq!((owner.rows(&ids).await.unwrap(), before.len()), (before, 2));
    let sql = format!("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = '{}'", scratch.name());
    session.close().await;
    let e = session.ping(&call()).await.unwrap_err();
    assert!(e.to_string().contains("closed"), "{e}");
    eventually("the connections are closed", async || {
        owner.rows(&sql).await.unwrap() == [[Some("1".to_owned())]]
    })
    .await;
}

/// The columns of a result without rows come from what was prepared, and that may be of an earlier call.
#[tokio::test(flavor = "multi_thread")]
async fn the_columns_of_an_empty_result_are_those_of_now() {
    let Some(scratch) = scratch_with(&["CREATE TABLE t (a INT)"]).await else { return };
    let session = session(&scratch).await;
    let mut owner = scratch.owner().await.unwrap();
    for change in ["ALTER TABLE t ADD COLUMN b TEXT", "ALTER TABLE t DROP COLUMN a"] {
        columns(&session, "SELECT * FROM t").await;
        owner.run(change).await.unwrap();
    }
    assert_eq!(columns(&session, "SELECT * FROM t").await, ["b"]);
}

async fn columns(session: &GuardedSession, sql: &str) -> Vec<String> {
    let mut rows = start(session, sql, None, &call()).await.unwrap();
    assert!(rows.next().await.unwrap().is_none_or(|batch| batch.num_rows() == 0));
    rows.schema().unwrap().fields().iter().map(|f| f.name().clone()).collect()
}

/// What is compared before a connection is used again, and what the server does not tell. The second list can
/// only shrink.
#[tokio::test(flavor = "multi_thread")]
async fn traces_of_a_statement_are_seen_but_for_these() {
    let Some(scratch) = scratch_with(&["CREATE TABLE t (a INT)"]).await else { return };
    let (target, call) = (target(scratch.url()), call());
    let lock = format!("SELECT GET_LOCK('{}', 0)", scratch.name());
    for (sql, as_new) in [
        ("SELECT a FROM t", true),
        ("SET SESSION sql_mode = 'ANSI'", false),
        ("SET SESSION time_zone = '+05:00'", false),
        ("SET SESSION autocommit = 0", false),
        ("SET SESSION TRANSACTION READ WRITE", false),
        ("SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", false),
        ("SET NAMES latin1", false),
        ("SET SESSION sql_select_limit = 1", false),
        ("SET SESSION foreign_key_checks = 0", false),
        ("SET SESSION lc_time_names = 'de_DE'", false),
        (lock.as_str(), false),
        // Not told by the server.
        ("SELECT @trace := 1", true),
        ("SELECT LAST_INSERT_ID(7)", true),
    ] {
        let mut raw = own::raw_hardened(&target, &call).await.unwrap();
        assert!(raw.is_as_new().await.unwrap());
        raw.run(sql, &Params::None).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
        assert_eq!(raw.is_as_new().await.unwrap(), as_new, "{sql}");
    }
}
