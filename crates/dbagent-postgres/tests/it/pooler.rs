//! PgBouncer in transaction mode before the server.

use std::str::FromStr as _;

use dbagent_core::catalog::Page;
use dbagent_core::{ErrorKind, Param, Params, Request};
use dbagent_postgres::sqlx::postgres::PgConnectOptions;
use dbagent_postgres::sqlx::{self, AssertSqlSafe, Connection as _, Executor as _, PgConnection};
use dbagent_testkit::conformance::Value;

use crate::support::{
    Scratch, call, collect, in_database, open, run, run_up_to, start, target, variable, with_parameter,
};

#[tokio::test(flavor = "multi_thread")]
async fn sessions_share_the_servers_behind_a_pooler() {
    let Some(url) = variable("PGBOUNCER_URL") else { return };
    let url = with_parameter(&url, "pooler=transaction");
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..4_i64 {
        let url = url.clone();
        tasks.spawn(async move {
            let session = open(target(&url)).await.unwrap();
            for i in 0..10_i64 {
                let request = Request::text("SELECT $1::int8 + 1 AS v, ARRAY[1.5, NULL] AS a")
                    .with_params(Params::Positional(vec![Param::I64(number * 100 + i)]));
                let rows = run_up_to(&session, request, Some(5), &call()).await.rows();
                assert_eq!(rows, [[Value::Int(number * 100 + i + 1), Value::json("[\"1.5\",null]")]]);
                assert_eq!(run(&session, "SELECT count(*) FROM artist").await.value(), Value::Int(275));
                let row =
                    run(&session, "SELECT int4range(1, 3) AS r, '{[1,3)}'::int4multirange AS m").await.rows();
                assert_eq!(row, [[Value::text("[1,3)"), Value::text("{[1,3)}")]]);
                let request = Request::text("SELECT point($1, 2) AS p")
                    .with_params(Params::Positional(vec![Param::F64(0.5)]));
                let row = run_up_to(&session, request, Some(5), &call()).await.rows();
                assert_eq!(row, [[Value::text("(0.5,2)")]]);
                assert!(session.objects(None, Page::default(), &call()).await.unwrap().total >= 11);
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_are_cancelled_through_a_pooler() {
    let Some(url) = variable("PGBOUNCER_URL") else { return };
    let session = open(target(&with_parameter(&url, "pooler=transaction"))).await.unwrap();
    let endless = "SELECT i FROM generate_series(1, 100000) AS a(i), generate_series(1, 100000) AS b, generate_series(1, 100000) AS c";
    for _ in 0..3 {
        let call = call();
        let mut rows = start(&session, Request::text(endless), None, &call).await.unwrap();
        assert!(rows.next().await.unwrap().is_some());
        call.cancel.cancel();
        assert_eq!(collect(rows).await.error().kind(), ErrorKind::Cancelled);
        assert_eq!(
            run_up_to(&session, Request::text(endless), Some(5), &crate::support::call()).await.rows().len(),
            5
        );
    }
    assert_eq!(run(&session, "SELECT 1 AS v").await.value(), Value::Int(1));
    assert_eq!(run(&session, "SHOW TimeZone").await.value(), Value::text("UTC"));
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_others_left_on_the_server_are_no_hindrance() {
    let (Some(db), Some(url)) = (Scratch::new().await, variable("PGBOUNCER_URL")) else { return };
    let url = in_database(&url, &db.name);
    // The pool of this database has the one server connection that is made now.
    let options = PgConnectOptions::from_str(&url).unwrap().extra_float_digits(None);
    let mut other = PgConnection::connect_with(&options).await.unwrap();
    for number in 1..=4 {
        let left = AssertSqlSafe(format!("PREPARE sqlx_s_{number} AS SELECT 1"));
        other.execute(sqlx::raw_sql(left)).await.unwrap();
    }
    let session = open(target(&with_parameter(&url, "pooler=transaction"))).await.unwrap();
    assert_eq!(run(&session, "SELECT 5 AS v").await.value(), Value::Int(5));
    assert_eq!(run(&session, "SELECT int4range(1, 3) AS r").await.value(), Value::text("[1,3)"));
}

/// A statement that stays prepared under a name on a server connection is in the way of whoever gets it next.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_stays_prepared_on_the_servers() {
    let (Some(db), Some(url)) = (Scratch::new().await, variable("PGBOUNCER_URL")) else { return };
    db.change(
        "CREATE TYPE mood AS ENUM ('good'); CREATE TABLE t (a int, m mood); INSERT INTO t VALUES (1, 'good'); \
         CREATE VIEW v AS SELECT a, m FROM t; CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS 'SELECT $1 + 1'",
    )
    .await;
    let url = in_database(&url, &db.name);
    let session = open(target(&with_parameter(&url, "pooler=transaction"))).await.unwrap();
    let left = async || {
        // Every server connection that the pooler has for this database, each held by one transaction.
        let options = PgConnectOptions::from_str(&url).unwrap().extra_float_digits(None);
        let (mut held, mut names) = (Vec::new(), Vec::<String>::new());
        for _ in 0..4 {
            let mut other = PgConnection::connect_with(&options).await.unwrap();
            other.execute(sqlx::raw_sql("BEGIN")).await.unwrap();
            let rows = other
                .fetch_all(sqlx::raw_sql(
                    "SELECT name || ': ' || left(statement, 60) FROM pg_prepared_statements",
                ))
                .await
                .unwrap();
            names.extend(rows.iter().map(|row| sqlx::Row::get::<String, _>(row, 0)));
            held.push(other);
        }
        names
    };
    for text in [
        "SELECT a, m FROM v",
        "SELECT f(a) AS b, m::text, a::text || 'x' FROM t",
        "SELECT point(a, 2), m FROM t",
        "SELECT a FROM t WHERE m = 'good' ORDER BY a",
        "SELECT no_such FROM t",
    ] {
        let ran = run_up_to(&session, Request::text(text), Some(5), &call()).await;
        assert!(!matches!(ran, crate::support::Ran::Refused(_)), "{text}: {ran:?}");
        assert_eq!(left().await, Vec::<String>::new(), "{text}");
    }
    let dbagent_core::session::Verdict::Cleared(cleared) =
        session.judge(Request::text("SELECT a FROM v"), Some(5), &call()).await.unwrap()
    else {
        panic!("not cleared")
    };
    session.estimate(&cleared, &call()).await.unwrap().unwrap();
    session.explain(&cleared, &call()).await.unwrap().unwrap();
    session.describe(&[dbagent_core::ObjectName::new("v")], &call()).await.unwrap();
    session.objects(None, Page::default(), &call()).await.unwrap();
    assert_eq!(left().await, Vec::<String>::new());
}
