//! Postgres beside sqlx's own loop.

use std::hint::black_box;
use std::time::Instant;

use chrono::{DateTime, Utc};
use dbagent::catalog::Page;
use futures_util::TryStreamExt as _;
use rust_decimal::Decimal;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};

use super::{Bare, Floors, ROWS, Subject, long_call, long_query, measure, open};
use crate::{Figure, Floor};

const QUERY: &str = "SELECT id, name, amount, ratio, flag, at, note FROM mixed";
const DATABASE: &str = "dbagent_bench";
const TABLES: usize = 1_000;

pub(crate) async fn run(url: &str) -> Vec<Figure> {
    println!("postgres: filling {ROWS} rows …");
    let mut owner = PgConnection::connect(url).await.unwrap();
    statement(&mut owner, &format!("DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")).await;
    statement(&mut owner, &format!("CREATE DATABASE {DATABASE}")).await;
    let url = at(url);
    let mut db = PgConnection::connect(&url).await.unwrap();
    statement(
        &mut db,
        &format!(
            "CREATE TABLE mixed AS SELECT i AS id, 'name ' || i % 1000 AS name, (i * 0.25)::numeric(14,2) AS amount, \
             i / 7.0::float8 AS ratio, i % 2 = 0 AS flag, timestamptz '2024-01-01 00:00:00Z' + i * interval '1 second' AS at, \
             CASE WHEN i % 3 = 0 THEN NULL ELSE 'a note of some length ' || i END AS note FROM generate_series(1, {ROWS}::int8) i"
        ),
    )
    .await;
    for n in 0..TABLES {
        statement(
            &mut db,
            &format!("CREATE TABLE many_{n} (id int PRIMARY KEY, a text NOT NULL, b numeric)"),
        )
        .await;
    }
    statement(&mut db, "ANALYZE").await;
    let subject = Subject {
        id: "postgres",
        url: url.clone(),
        query: QUERY,
        long_query: long_query(),
        // Begin, settle, prepare, plan, look up statistics and put back for the estimate; the read finds its text
        // prepared and takes four.
        trips: 10,
        floors: Floors { streaming: 0.8, memory: 64.0, judging: Some(500.0) },
    };
    let mut figures = measure(&subject, &mut Driver(db)).await;
    figures.push(describing(&url).await);
    statement(&mut owner, &format!("DROP DATABASE {DATABASE} WITH (FORCE)")).await;
    figures
}

async fn statement(connection: &mut PgConnection, sql: &str) {
    sqlx::query(AssertSqlSafe(sql)).execute(connection).await.unwrap();
}

/// The same server, another database.
fn at(url: &str) -> String {
    let (address, parameters) = url.split_once('?').unwrap_or((url, ""));
    let (server, _) = address.rsplit_once('/').unwrap();
    format!("{server}/{DATABASE}?{parameters}").trim_end_matches('?').to_owned()
}

struct Driver(PgConnection);

impl Bare for Driver {
    async fn stream(&mut self) -> u64 {
        let mut rows = sqlx::query(QUERY).fetch(&mut self.0);
        let mut seen = 0;
        while let Some(row) = rows.try_next().await.unwrap() {
            black_box(row.get::<i64, _>(0));
            black_box(row.get::<String, _>(1));
            black_box(row.get::<Decimal, _>(2));
            black_box(row.get::<f64, _>(3));
            black_box(row.get::<bool, _>(4));
            black_box(row.get::<DateTime<Utc>, _>(5));
            black_box(row.get::<Option<String>, _>(6));
            seen += 1;
        }
        seen
    }

    async fn one(&mut self) {
        let row = sqlx::query("SELECT 1").fetch_one(&mut self.0).await.unwrap();
        black_box(row.get::<i32, _>(0));
    }
}

async fn describing(url: &str) -> Figure {
    let session = open(url).await;
    let page = session.objects(Some("many_*"), Page { offset: 0, size: TABLES }, &long_call()).await.unwrap();
    let names: Vec<_> = page.objects.into_iter().map(|object| object.name).collect();
    assert_eq!(names.len(), TABLES);
    let started = Instant::now();
    let described = session.describe(&names, &long_call()).await.unwrap();
    let took = started.elapsed().as_secs_f64();
    assert_eq!(described.found.len(), TABLES);
    session.close().await;
    Figure {
        what: format!("postgres: describing {TABLES} tables"),
        value: took,
        unit: "s",
        floor: Floor::Under(2.0),
    }
}
