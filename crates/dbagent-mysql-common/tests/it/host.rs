//! A pool that the host brings.

use std::time::Duration;

use dbagent_core::{CallContext, ConnUrl, ErrorKind, GuardedSession, Policy, Target};
use dbagent_mysql_common::sqlx::mysql::{MySqlConnectOptions, MySqlPoolOptions};
use dbagent_mysql_common::sqlx::{self, AssertSqlSafe, Executor as _, MySqlPool, Row as _};
use dbagent_mysql_common::testing::Scratch;
use dbagent_testkit::conformance::Value;

use super::support::{call, collect, eventually, rows, scratch_with, start};
use crate::own;

const TABLE: &[&str] =
    &["CREATE TABLE t (a INT, n VARCHAR(20))", "INSERT INTO t VALUES (1, 'Zoë'), (2, '日本')"];

/// Every setting of a session that the server tells.
const EVERYTHING: &str = "SHOW SESSION VARIABLES";

fn options(url: &str) -> MySqlConnectOptions {
    // The driver's own reading of a URL: that is what a host has.
    url.split('?').next().unwrap().replace("mariadb://", "mysql://").parse().unwrap()
}

pub(crate) async fn pool_of(scratch: &Scratch, size: u32) -> MySqlPool {
    MySqlPoolOptions::new().max_connections(size).connect_with(options(scratch.url())).await.unwrap()
}

/// A pool by a URL with no parameters but the mode of encryption.
pub(crate) async fn pool_at(url: &str, size: u32) -> MySqlPool {
    let url = url.replace("mariadb://", "mysql://");
    MySqlPoolOptions::new().max_connections(size).connect(&url).await.unwrap()
}

pub(crate) fn named(policy: Policy) -> Target {
    let url = format!("{}://of-the-host", own::DIALECT.id());
    Target { policy, ..Target::new("host", ConnUrl::parse(&url).unwrap()) }
}

/// A session over a pool, under no rules.
pub(crate) async fn over(pool: &MySqlPool) -> GuardedSession {
    let target = named(Policy::default());
    let session = own::from_pool(pool.clone(), &target).await.unwrap();
    GuardedSession::over(own::DIALECT, target, session).unwrap()
}

/// What the one connection of a pool is set to, but for what counts and for the time.
pub(crate) async fn settings(pool: &MySqlPool) -> Vec<(String, String)> {
    const MOVING: &[&str] = &[
        "timestamp",
        "rand_seed1",
        "rand_seed2",
        "last_insert_id",
        "identity",
        "warning_count",
        "error_count",
        "pseudo_thread_id",
        "gtid_executed",
        "last_gtid",
        "statement_id",
        "debug_sync",
        "in_transaction",
    ];
    let rows = sqlx::query(EVERYTHING).persistent(false).fetch_all(pool).await.unwrap();
    let text = |row: &sqlx::mysql::MySqlRow, index: usize| {
        String::from_utf8_lossy(row.try_get_unchecked::<&[u8], _>(index).unwrap()).into_owned()
    };
    let all = rows.iter().map(|row| (text(row, 0), text(row, 1)));
    // The server's own counters and sizes of tables move by themselves.
    all.filter(|(name, _)| !MOVING.contains(&name.as_str())).collect()
}

pub(crate) fn changed(before: &[(String, String)], after: &[(String, String)]) -> Vec<(String, String)> {
    assert!(before.len() > 100, "a server has many settings");
    after.iter().filter(|setting| !before.contains(setting)).cloned().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pool_of_the_host_is_used_and_given_back_as_it_was() {
    let Some(scratch) = scratch_with(TABLE).await else { return };
    let pool = pool_of(&scratch, 1).await;
    // A host with habits of its own, on the one connection of its pool.
    for habit in [
        "SET SESSION sql_mode = 'ANSI,PIPES_AS_CONCAT,STRICT_ALL_TABLES'",
        "SET SESSION time_zone = '+05:30', group_concat_max_len = 77",
        "SET SESSION transaction_isolation = 'READ-UNCOMMITTED'",
        "SET NAMES latin1 COLLATE latin1_german1_ci",
        "SET autocommit = 0",
    ] {
        let habit = habit.replace("transaction_isolation", own::ISOLATION);
        pool.execute(AssertSqlSafe(habit)).await.unwrap();
    }
    let before = settings(&pool).await;
    let session = over(&pool).await;
    // As on a connection of our own: whole results, UTC, UTF-8, read-only.
    let sql = "SELECT n, a || 1 AS v, @@session.time_zone AS z, @@session.autocommit AS c FROM t ORDER BY a";
    assert_eq!(
        rows(&session, sql).await,
        [
            ["Zoë".into(), "11".into(), "+00:00".into(), Value::from(1)],
            ["日本".into(), "21".into(), "+00:00".into(), Value::from(1)],
        ]
    );
    let listed = session.objects(None, dbagent_core::catalog::Page::default(), &call()).await.unwrap();
    assert_eq!(listed.total, 1);
    assert_eq!(changed(&before, &settings(&pool).await), []);
    // It writes, on the same connection.
    pool.execute("INSERT INTO t VALUES (3, 'x')").await.unwrap();
    pool.execute("COMMIT").await.unwrap();
    assert_eq!(rows(&session, "SELECT 1 FROM t").await.len(), 3);

    session.close().await;
    assert!(!pool.is_closed(), "the pool is the host's");
    assert_eq!(changed(&before, &settings(&pool).await), []);
    // A host that wants one row of everything: ours are whole.
    pool.execute("SET SESSION sql_select_limit = 1").await.unwrap();
    let session = over(&pool).await;
    assert_eq!(rows(&session, "SELECT 1 FROM t").await.len(), 3);
    assert_eq!(pool.fetch_all("SELECT 1 FROM t").await.unwrap().len(), 1);
    pool.close().await;
    let e = session.ping(&call()).await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Connection, "{e}");
}

/// Dropped and cancelled reads cost the pool nothing that stays.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_stopped_is_stopped_on_the_server_and_the_pool_goes_on() {
    let Some(scratch) = super::support::numbers().await else { return };
    let pool = pool_of(&scratch, 2).await;
    let session = over(&pool).await;
    let endless = "SELECT a.t FROM numbers a, numbers b";
    for _ in 0..3 {
        let call = call();
        let mut stream = start(&session, endless, None, &call).await.unwrap();
        assert!(stream.next().await.unwrap().is_some());
        call.cancel.cancel();
        assert_eq!(collect(stream).await.unwrap_err().kind(), ErrorKind::Cancelled);
        let mut stream = start(&session, endless, Some(5), &super::support::call()).await.unwrap();
        assert_eq!(stream.next().await.unwrap().unwrap().num_rows(), 5);
        drop(stream);
    }
    let mut owner = scratch.owner().await.unwrap();
    let running = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT a.t FROM%'";
    eventually("nothing runs any more", async || {
        owner.rows(running).await.unwrap() == [[Some("0".to_owned())]]
    })
    .await;
    // What the host gets writes, and has no time limit of ours.
    for _ in 0..4 {
        let mut held = pool.acquire().await.unwrap();
        held.execute("INSERT INTO numbers SELECT MAX(i) + 1, 'x' FROM numbers").await.unwrap();
        let row = held.fetch_one(own::TIME_LIMIT).await.unwrap();
        assert_eq!(row.try_get_unchecked::<&[u8], _>(0).unwrap(), b"0");
    }
    assert_eq!(rows(&session, "SELECT COUNT(*) FROM numbers").await, [[Value::from(20_004)]]);
}

/// A prepared text means what it meant where it was prepared, and the driver takes a prepared one for the same text.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_host_has_prepared_is_not_what_runs() {
    const TEXT: &str = "SELECT a FROM t WHERE a > 0";
    let Some(scratch) = scratch_with(TABLE).await else { return };
    let other = scratch_with(&["CREATE TABLE t (a INT)", "INSERT INTO t VALUES (7)"]).await.unwrap();
    let pool = pool_of(&scratch, 1).await;
    let session = over(&pool).await;
    // Asked before: what its names mean is remembered, and the next read is all that is sent.
    assert_eq!(rows(&session, TEXT).await.len(), 2);
    // The host reads its other database by the same text, and comes back to the one of the session.
    pool.execute(AssertSqlSafe(format!("USE {}", other.name()))).await.unwrap();
    assert_eq!(sqlx::query(TEXT).fetch_all(&pool).await.unwrap().len(), 1);
    pool.execute(AssertSqlSafe(format!("USE {}", scratch.name()))).await.unwrap();
    assert_eq!(rows(&session, TEXT).await, [[Value::from(1)], [Value::from(2)]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_connection_that_is_borrowed_is_hardened() {
    let Some(scratch) = scratch_with(TABLE).await else { return };
    let pool = pool_of(&scratch, 2).await;
    let other = scratch_with(&["CREATE TABLE t (a INT)"]).await.unwrap();
    let session = over(&pool).await;
    // The guard is out of the way for what a policy lets through; the server is not.
    let mut first = pool.acquire().await.unwrap();
    let mut second = pool.acquire().await.unwrap();
    for held in [&mut first, &mut second] {
        // Somebody left it in another database, in a transaction, and writing.
        held.execute(AssertSqlSafe(format!("USE {}", other.name()))).await.unwrap();
        held.execute("START TRANSACTION READ WRITE").await.unwrap();
        held.execute("INSERT INTO t VALUES (7)").await.unwrap();
    }
    drop((first, second));
    for _ in 0..4 {
        let call = call();
        // As a text: MariaDB gives 0 for every switch beside an aggregate.
        let (setting, on) = own::READ_ONLY;
        let sql = format!("SELECT COUNT(*) AS n, CONCAT({setting}) AS r, DATABASE() AS d FROM t");
        let both = [
            start(&session, &sql, None, &call).await.unwrap(),
            start(&session, &sql, None, &call).await.unwrap(),
        ];
        for stream in both {
            let found = collect(stream).await.unwrap();
            assert_eq!(found, [[Value::from(2), on.into(), scratch.name().into()]]);
        }
    }
    // They are where the host had them.
    for _ in 0..2 {
        let held = pool.acquire().await.unwrap();
        let mut held = held;
        let row = held.fetch_one("SELECT DATABASE(), (SELECT COUNT(*) FROM t)").await.unwrap();
        assert_eq!(row.try_get_unchecked::<&[u8], _>(0).unwrap(), other.name().as_bytes());
        assert_eq!(row.try_get_unchecked::<&[u8], _>(1).unwrap(), b"0", "what was left open was rolled back");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pool_without_a_free_connection_and_one_of_another_server() {
    let Some(scratch) = scratch_with(TABLE).await else { return };
    let pool = MySqlPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(Duration::from_millis(200))
        .connect_with(options(scratch.url()))
        .await
        .unwrap();
    let session = over(&pool).await;
    let held = pool.acquire().await.unwrap();
    let e = super::support::fails(&session, "SELECT 1 AS a").await;
    assert_eq!(e.kind(), ErrorKind::TooManyConnections, "{e}");
    drop(held);
    assert_eq!(rows(&session, "SELECT 1 AS a").await, [[Value::from(1)]]);
    // The caller's time is shorter than the pool's.
    let held = pool.acquire().await.unwrap();
    let e = session.ping(&CallContext::within(Duration::from_millis(50))).await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Timeout, "{e}");
    drop(held);

    let Ok(url) = std::env::var(own::OTHER) else {
        super::support::skipped(&format!("{} is not set", own::OTHER));
        return;
    };
    let pool = MySqlPoolOptions::new().connect_lazy_with(options(&url));
    let Err(e) = own::from_pool(pool, &named(Policy::default())).await else { panic!("it opens") };
    assert_eq!(e.kind(), ErrorKind::NotADatabase, "{e}");
}
