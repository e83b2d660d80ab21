//! MySQL and MariaDB beside sqlx's own loop.

use std::hint::black_box;

use chrono::NaiveDateTime;
use futures_util::TryStreamExt as _;
use rust_decimal::Decimal;
use sqlx::{AssertSqlSafe, Connection as _, MySqlConnection, Row as _};

use super::{Bare, Floors, ROWS, Subject, long_query, measure};
use crate::Figure;

const QUERY: &str = "SELECT id, name, amount, ratio, flag, at, note FROM mixed";
const DATABASE: &str = "dbagent_bench";

pub(crate) async fn run(id: &'static str, url: &str) -> Vec<Figure> {
    println!("{id}: filling {ROWS} rows …");
    let driver_url = url.replacen("mariadb://", "mysql://", 1);
    let mut db = MySqlConnection::connect(&driver_url).await.unwrap();
    for sql in [
        format!("DROP DATABASE IF EXISTS {DATABASE}"),
        format!("CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4"),
        format!("USE {DATABASE}"),
        "CREATE TABLE mixed (id BIGINT PRIMARY KEY, name VARCHAR(40) NOT NULL, amount DECIMAL(14,2) NOT NULL, \
         ratio DOUBLE NOT NULL, flag TINYINT NOT NULL, at DATETIME NOT NULL, note VARCHAR(80))"
            .to_owned(),
    ] {
        statement(&mut db, &sql).await;
    }
    // A thousand rows joined with themselves: recursion in these servers has limits of its own.
    statement(
        &mut db,
        &format!(
            "INSERT INTO mixed WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999), \
             m(i) AS (SELECT a.i * 1000 + b.i + 1 FROM n a JOIN n b), \
             all_of_it(i) AS (SELECT i FROM m UNION ALL SELECT i + 1000000 FROM m) \
             SELECT i, CONCAT('name ', i % 1000), i * 0.25, i / 7e0, i % 2, \
             TIMESTAMPADD(SECOND, i, '2024-01-01 00:00:00'), \
             CASE WHEN i % 3 = 0 THEN NULL ELSE CONCAT('a note of some length ', i) END FROM all_of_it WHERE i <= {ROWS}"
        ),
    )
    .await;
    statement(&mut db, "ANALYZE TABLE mixed").await;
    let subject = Subject {
        id,
        url: at(url),
        query: QUERY,
        long_query: long_query(),
        // Begin, run, roll back and compare, for the estimate and for the read: texts stay prepared.
        trips: 8,
        floors: Floors { streaming: 0.8, memory: 64.0, judging: Some(400.0) },
    };
    let mut driver = Driver(db);
    let figures = measure(&subject, &mut driver).await;
    statement(&mut driver.0, &format!("DROP DATABASE {DATABASE}")).await;
    figures
}

async fn statement(connection: &mut MySqlConnection, sql: &str) {
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(connection).await.unwrap();
}

/// The same server, another database.
fn at(url: &str) -> String {
    let (address, parameters) = url.split_once('?').unwrap_or((url, ""));
    let (scheme, rest) = address.split_once("://").unwrap();
    let server = rest.split('/').next().unwrap();
    format!("{scheme}://{server}/{DATABASE}?{parameters}").trim_end_matches('?').to_owned()
}

struct Driver(MySqlConnection);

impl Bare for Driver {
    async fn stream(&mut self) -> u64 {
        let mut rows = sqlx::query(QUERY).fetch(&mut self.0);
        let mut seen = 0;
        while let Some(row) = rows.try_next().await.unwrap() {
            black_box(row.get::<i64, _>(0));
            black_box(row.get::<String, _>(1));
            black_box(row.get::<Decimal, _>(2));
            black_box(row.get::<f64, _>(3));
            black_box(row.get::<i8, _>(4));
            black_box(row.get::<NaiveDateTime, _>(5));
            black_box(row.get::<Option<String>, _>(6));
            seen += 1;
        }
        seen
    }

    async fn one(&mut self) {
        let row = sqlx::query("SELECT 1").fetch_one(&mut self.0).await.unwrap();
        black_box(row.get::<i64, _>(0));
    }
}
