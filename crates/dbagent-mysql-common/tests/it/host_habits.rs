//! A host that leaves its connection as badly as it can: what was judged is what runs, it writes nothing, and the
//! host finds everything as it left it.

use std::time::Duration;

use dbagent_core::{CallContext, ErrorKind, GuardedSession, Policy, Target};
use dbagent_mysql_common::sqlx::{self, AssertSqlSafe, Executor as _, MySqlPool, Row as _};
use dbagent_testkit::conformance::Value;

use super::host::{changed, named, over, pool_at, pool_of, settings};
use super::proxy::{Counter, plain};
use super::support::{call, eventually, fails, rows, scratch_with, start};
use crate::own;

const TABLE: &[&str] = &[
    "CREATE TABLE t (a INT, n VARCHAR(20))",
    "INSERT INTO t VALUES (1, 'Zoë'), (2, '日本')",
    // What a policy lets through, and no session may run.
    "CREATE FUNCTION adds() RETURNS INT DETERMINISTIC MODIFIES SQL DATA \
     BEGIN INSERT INTO t VALUES (9, 'added'); RETURN 1; END",
];

/// A session whose policy trusts the function that writes.
async fn trusting(pool: &MySqlPool) -> GuardedSession {
    let policy = Policy { allow_functions: ["adds".to_owned()].into(), ..Policy::default() };
    let target: Target = named(policy);
    let session = own::from_pool(pool.clone(), &target).await.unwrap();
    GuardedSession::over(own::DIALECT, target, session).unwrap()
}

async fn run(pool: &MySqlPool, sql: &str) {
    pool.execute(AssertSqlSafe(sql.to_owned())).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
}

/// Waits until the pool has a connection back.
async fn idle(pool: &MySqlPool) {
    eventually("a connection is the pool's", async || pool.num_idle() == 1).await;
}

/// The first values of what the host asks by a prepared text.
async fn host_asks(pool: &MySqlPool, sql: &'static str) -> Vec<i32> {
    let rows = sqlx::query(sql).fetch_all(pool).await.unwrap();
    rows.iter().map(|row| row.get::<i32, _>(0)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_habit_of_a_host_lets_a_read_write_or_mean_something_else() {
    let Some(scratch) = scratch_with(TABLE).await else { return };
    let other = scratch_with(&["CREATE TABLE t (a INT, n VARCHAR(20))", "INSERT INTO t VALUES (7, 'other')"]);
    let other = other.await.unwrap();
    let pool = pool_of(&scratch, 1).await;
    let session = trusting(&pool).await;
    // Means something else in each of these modes, and needs its characters.
    let telling = r#"SELECT CONCAT('a\'b', "c"), 1 || 0, n FROM t WHERE n = '日本'"#;
    let expected = rows(&session, telling).await;
    assert_eq!(expected.len(), 1);
    let elsewhere = format!("USE {}", other.name());
    let isolation = format!("SET SESSION {} = 'SERIALIZABLE'", own::ISOLATION);
    let mut habits = vec![
        "SET SESSION sql_mode = 'ANSI_QUOTES'",
        "SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,HIGH_NOT_PRECEDENCE,IGNORE_SPACE'",
        "SET SESSION sql_mode = ''",
        "SET NAMES latin1",
        // A backslash is the second half of a character there.
        "SET NAMES sjis",
        "SET SESSION character_set_results = NULL",
        "SET SESSION autocommit = 0",
        "SET SESSION TRANSACTION READ WRITE",
        // For the next transaction only, and seen in no setting.
        "SET TRANSACTION READ WRITE",
        "SET SESSION time_zone = '-11:00'",
        "SET SESSION sql_select_limit = 5000, group_concat_max_len = 4",
        "SET SESSION foreign_key_checks = 0, lc_time_names = 'de_DE'",
        &isolation,
        &elsewhere,
    ];
    if own::DIALECT.id() == "mariadb" {
        habits.extend([
            "SET SESSION sql_mode = 'ORACLE'",
            "SET SESSION sql_mode = 'MSSQL,EMPTY_STRING_IS_NULL'",
        ]);
    }
    for habit in habits {
        run(&pool, habit).await;
        let before = settings(&pool).await;
        assert_eq!(rows(&session, telling).await, expected, "{habit}");
        assert_eq!(rows(&session, "SELECT a FROM t ORDER BY a").await, [[Value::from(1)], [Value::from(2)]]);
        assert_eq!(changed(&before, &settings(&pool).await), [], "{habit}");
        // What may have left something behind is closed, and the habit with it.
        let e = fails(&session, "SELECT adds() AS x").await;
        assert_eq!(e.native_code(), Some("1792 (25006)"), "{habit}: {e}");
    }
    // The next transaction is the one of the judged statement.
    run(&pool, "SET TRANSACTION READ WRITE").await;
    let e = fails(&session, "SELECT adds() AS x").await;
    assert_eq!(e.native_code(), Some("1792 (25006)"), "{e}");
    let mut owner = scratch.owner().await.unwrap();
    assert_eq!(owner.rows("SELECT COUNT(*) FROM t").await.unwrap(), [[Some("2".to_owned())]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn prepared_texts_of_both_sides_mean_what_they_meant() {
    const OF_THE_HOST: &str = "SELECT a FROM t WHERE a > 0";
    const OF_BOTH: &str = "SELECT a FROM t WHERE a > 1";
    const EMPTY: &str = "SELECT a FROM t WHERE a > 100";
    let Some(scratch) = scratch_with(TABLE).await else { return };
    let other =
        scratch_with(&["CREATE TABLE t (b INT, a INT)", "INSERT INTO t VALUES (0, 7)"]).await.unwrap();
    let counter = Counter::before(scratch.url()).await;
    let pool = pool_at(&plain(scratch.url(), counter.port), 1).await;
    let session = over(&pool).await;
    // Known before the host has anything prepared: after that, nothing is asked of the catalogue.
    for sql in [OF_THE_HOST, OF_BOTH, EMPTY] {
        rows(&session, sql).await;
    }
    let home = format!("USE {}", scratch.name());
    for habit in ["USE", "ANSI_QUOTES"] {
        run(&pool, &format!("USE {}", other.name())).await;
        assert_eq!(host_asks(&pool, OF_THE_HOST).await, [7]);
        // There and back, or still there.
        if habit == "USE" {
            run(&pool, &home).await;
        }
        assert_eq!(rows(&session, OF_THE_HOST).await, [[Value::from(1)], [Value::from(2)]]);
        // What the host has prepared is still there, where it was prepared.
        idle(&pool).await;
        counter.forget();
        assert_eq!(host_asks(&pool, OF_THE_HOST).await, [7]);
        counter.asked("the host's own", &["ping", "execute", "ping"]).await;
        // What was run by a session is not what the host gets for the same text.
        assert_eq!(rows(&session, OF_BOTH).await, [[Value::from(2)]]);
        run(&pool, &format!("USE {}", other.name())).await;
        assert_eq!(host_asks(&pool, OF_BOTH).await, [7]);
        // Nor are the columns of a result without rows those of what the host has prepared.
        assert_eq!(host_asks(&pool, EMPTY).await, [0_i32; 0]);
        let mut empty = start(&session, EMPTY, None, &call()).await.unwrap();
        assert!(empty.next().await.unwrap().is_none_or(|batch| batch.num_rows() == 0));
        assert_eq!(host_asks(&pool, EMPTY).await, [0_i32; 0]);
        run(&pool, &home).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_host_has_open_is_ended_before_a_read() {
    let Some(scratch) = scratch_with(TABLE).await else { return };
    let pool = pool_of(&scratch, 1).await;
    let session = trusting(&pool).await;
    let mut owner = scratch.owner().await.unwrap();
    let mut count = async || owner.rows("SELECT COUNT(*) FROM t").await.unwrap()[0][0].clone().unwrap();
    for (begin, then) in [
        ("START TRANSACTION", "INSERT INTO t VALUES (8, 'open')"),
        ("SET SESSION autocommit = 0", "INSERT INTO t VALUES (8, 'open')"),
        ("START TRANSACTION READ WRITE", "SELECT GET_LOCK('of the host', 0)"),
        ("LOCK TABLES t WRITE", "INSERT INTO t VALUES (8, 'locked')"),
    ] {
        let before = count().await;
        run(&pool, begin).await;
        run(&pool, then).await;
        let found = rows(&session, "SELECT a FROM t ORDER BY a").await.len();
        // Under a lock of its own every statement of the host is a transaction.
        let kept = usize::from(begin.starts_with("LOCK"));
        assert_eq!(found, before.parse::<usize>().unwrap() + kept, "{begin}");
        // Nobody waits for the host's locks any more.
        assert_eq!(count().await, found.to_string(), "{begin}");
        let e = fails(&session, "SELECT adds() AS x").await;
        assert_eq!(e.native_code(), Some("1792 (25006)"), "{begin}: {e}");
    }
    // Nothing but its end takes a connection out of that: the pool makes another.
    run(&pool, "XA START 'of the host'").await;
    let e = fails(&session, "SELECT a FROM t").await;
    assert!(e.native_code().is_some_and(|code| code.starts_with("1399")), "{e}");
    assert_eq!(rows(&session, "SELECT COUNT(*) FROM t").await, [[Value::from(3)]]);
}

/// What [`from_pool`](own::from_pool) says is lost. The list can only shrink.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_host_leaves_that_is_not_undone() {
    let Some(scratch) = scratch_with(TABLE).await else { return };
    let pool = pool_of(&scratch, 1).await;
    let session = over(&pool).await;
    for habit in [
        "CREATE TEMPORARY TABLE t (a INT, n VARCHAR(20))",
        "INSERT INTO t VALUES (100, 'of the host')",
        "SET @left = 5",
        "SET SESSION lc_time_names = 'de_DE'",
    ] {
        run(&pool, habit).await;
    }
    // A temporary table hides the one that was judged.
    assert_eq!(rows(&session, "SELECT a FROM t").await, [[Value::from(100)]]);
    assert_eq!(rows(&session, "SELECT MONTHNAME('2024-05-01') AS m").await, [[Value::text("Mai")]]);
    assert_eq!(host_asks(&pool, "SELECT CAST(@left AS SIGNED) + a FROM t").await.len(), 1);
}

/// Who stops waiting for a connection does not leave it half made: it is finished and goes to the pool.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_given_up_while_the_pool_connects() {
    let Some(scratch) = scratch_with(TABLE).await else { return };
    let counter = Counter::before(scratch.url()).await;
    let pool = pool_at(&plain(scratch.url(), counter.port), 2).await;
    let session = over(&pool).await;
    idle(&pool).await;
    let first = pool.acquire().await.unwrap();
    assert_eq!(counter.connections(), (1, 0));
    // The server answers no more: the greeting of the second connection does not come.
    counter.hold(true);
    let e = session.ping(&CallContext::within(Duration::from_millis(200))).await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Timeout, "{e}");
    assert_eq!((counter.connections(), pool.num_idle()), ((2, 0), 0));
    counter.hold(false);
    idle(&pool).await;
    session.ping(&call()).await.unwrap();
    assert_eq!((counter.connections(), pool.size()), ((2, 0), 2));
    drop(first);

    // The one beside the pool that looks at the account: finished too, and closed as one should.
    counter.hold(true);
    let e = session.probe(&CallContext::within(Duration::from_millis(200))).await.unwrap_err();
    assert!(matches!(e.kind(), ErrorKind::Timeout | ErrorKind::Connection), "{e}");
    assert_eq!(counter.connections(), (3, 0));
    counter.hold(false);
    eventually("it leaves", async || counter.connections() == (3, 1)).await;
    // The driver's own settings: the login was over.
    assert_eq!(counter.forget().into_iter().filter(|asked| asked.starts_with("SET sql_mode=")).count(), 3);
}
