//! A pool that the host brings.

use dbagent_core::{ConnUrl, ErrorKind, GuardedSession, Target};
use dbagent_postgres::from_pool;
use dbagent_postgres::sqlx::postgres::PgPoolOptions;
use dbagent_testkit::conformance::Value;

use crate::support::{DIALECT, Scratch, call, run, run_up_to};

#[tokio::test(flavor = "multi_thread")]
async fn a_pool_of_the_host_is_used_and_given_back_clean() {
    let Some(db) = Scratch::with("CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2)").await else {
        return;
    };
    let pool = PgPoolOptions::new().max_connections(2).connect(&db.url).await.unwrap();
    let target = Target::new("host", ConnUrl::parse("postgres://of-the-host").unwrap());
    let session = from_pool(pool.clone(), &target).await.unwrap();
    let session = GuardedSession::over(&DIALECT, target, session).unwrap();
    assert_eq!(run(&session, "SELECT sum(a) FROM t").await.value(), Value::Int(3));
    let endless = "SELECT i FROM generate_series(1, 100000) AS a(i), generate_series(1, 100000) AS b, generate_series(1, 100000) AS c";
    for _ in 0..4 {
        let request = dbagent_core::Request::text(endless);
        assert_eq!(run_up_to(&session, request, Some(5), &call()).await.rows().len(), 5);
    }
    // The host goes on with it: it writes, and finds no setting of ours.
    for _ in 0..4 {
        let (n, zone): (i64, String) = dbagent_postgres::sqlx::query_as(
            "WITH i AS (INSERT INTO t VALUES (3) RETURNING a) SELECT count(*), current_setting('search_path') FROM i",
        )
        .fetch_one(&pool)
        .await
        .unwrap();
        assert_eq!((n, zone.contains("pg_temp")), (1, false));
    }
    session.close().await;
    assert!(!pool.is_closed(), "the pool is the host's");
    pool.close().await;
    assert_eq!(run(&session, "SELECT 1").await.error().kind(), ErrorKind::Connection);
}
