//! A film rental on Postgres: enums, domains, arrays, full text, inheritance, views over user functions. It
//! is loaded through the driver's COPY, and asked through the guard; the answers were recorded with psql on
//! PostgreSQL 18.6.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use dbagent::LightAgent;
use dbagent_testkit::model::{ScriptedModel, call};
use flate2::read::GzDecoder;
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::engine::{Engine, address, rows};

const VARIABLE: &str = "DBAGENT_TEST_POSTGRES_URL";

/// Statements with the rows they give.
const RECORDED: &[(&str, &[&[&str]])] = &[
    ("SELECT count(*) FROM film", &[&["1000"]]),
    (
        "SELECT rating, count(*) FROM film GROUP BY rating ORDER BY rating::text",
        &[&["G", "178"], &["NC-17", "210"], &["PG", "194"], &["PG-13", "223"], &["R", "195"]],
    ),
    (
        "SELECT category, total_sales FROM sales_by_film_category ORDER BY total_sales DESC LIMIT 3",
        &[&["Sports", "5314.21"], &["Sci-Fi", "4756.98"], &["Animation", "4656.30"]],
    ),
    (
        "SELECT c.first_name || ' ' || c.last_name, count(*) FROM customer c JOIN rental r USING (customer_id) \
         GROUP BY c.customer_id ORDER BY 2 DESC LIMIT 3",
        &[&["ELEANOR HUNT", "46"], &["KARL SEAL", "45"], &["CLARA SHAW", "42"]],
    ),
    (
        "SELECT store, manager, total_sales FROM sales_by_store ORDER BY 1",
        &[
            &["Lethbridge,Canada", "Mike Hillyer", "33689.74"],
            &["Woodridge,Australia", "Jon Stephens", "33726.77"],
        ],
    ),
    (
        "SELECT count(*), sum(amount), min(payment_date), max(payment_date) FROM payment",
        &[&["16049", "67416.51", "2005-05-24 22:53:30", "2006-02-14 15:16:03"]],
    ),
    (
        "SELECT title FROM film WHERE fulltext @@ to_tsquery('astronaut & shark') ORDER BY title LIMIT 3",
        &[&["AMERICAN CIRCUS"], &["ANONYMOUS HUMAN"], &["CELEBRITY HORN"]],
    ),
    (
        "SELECT country, count(*) FROM customer_list GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 3",
        &[&["India", "60"], &["China", "53"], &["United States", "36"]],
    ),
    (
        "SELECT title, special_features[1], array_length(special_features, 1) FROM film WHERE film_id IN (1, 2) ORDER BY 1",
        &[&["ACADEMY DINOSAUR", "Deleted Scenes", "2"], &["ACE GOLDFINGER", "Trailers", "2"]],
    ),
    ("SELECT release_year, rental_rate FROM film WHERE film_id = 1", &[&["2006", "0.99"]]),
    ("SELECT first_name, picture FROM staff ORDER BY 1", &[&["Jon", "NULL"], &["Mike", "NULL"]]),
];

/// What must be refused: these functions of the sample write, or may.
const REFUSED: &[&str] = &[
    "SELECT rewards_report(7, 20.00)",
    "SELECT last_day(now()), nextval('film_film_id_seq')",
    "SELECT * FROM film FOR UPDATE",
];

fn unpacked(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sakila").join(name);
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text
}

/// Loads a script as psql would: statements, and data between `COPY … FROM stdin;` and `\.`.
async fn load(connection: &mut PgConnection, script: &str) {
    let mut statements = String::new();
    let mut lines = script.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("COPY ") {
            sqlx::raw_sql(AssertSqlSafe(std::mem::take(&mut statements)))
                .execute(&mut *connection)
                .await
                .unwrap();
            let copy = line.trim_end_matches(';').to_owned();
            let mut sink = connection.copy_in_raw(&copy).await.unwrap();
            for row in lines.by_ref().take_while(|row| *row != "\\.") {
                sink.send(format!("{row}\n").into_bytes()).await.unwrap();
            }
            sink.finish().await.unwrap();
        } else if line != "SET default_with_oids = false;" {
            // Postgres 12 and newer do not know that setting.
            statements.push_str(line);
            statements.push('\n');
        }
    }
    sqlx::raw_sql(AssertSqlSafe(statements)).execute(connection).await.unwrap();
}

async fn answer(engine: &Engine, statement: &str) -> (Vec<Vec<String>>, String) {
    let model = ScriptedModel::new()
        .calls([call("query", json!({ "statement": statement }).to_string())])
        .text("done");
    let agent = LightAgent::builder().url(&engine.url).model(Arc::new(model.clone())).build().unwrap();
    let answer = agent.ask("q").await.unwrap();
    let seen = model.requests().last().unwrap().messages.last().unwrap().clone();
    (rows(&answer), format!("{seen:?}"))
}

#[tokio::test]
async fn sakila_is_loaded_by_copy_and_gives_the_recorded_answers() {
    let Some(url) = address("postgres", VARIABLE) else { return };
    let database = format!("dbagent_sakila_{}", std::process::id());
    let mut owner = PgConnection::connect(&url).await.unwrap();
    sqlx::query(AssertSqlSafe(format!("CREATE DATABASE {database}"))).execute(&mut owner).await.unwrap();
    let (server, _) = url.split_once('?').map_or((url.as_str(), ""), |(a, b)| (a, b));
    let engine = Engine::at("postgres", format!("{}/{database}", server.rsplit_once('/').unwrap().0));
    let mut db = PgConnection::connect(&engine.url).await.unwrap();
    load(&mut db, &unpacked("schema.sql.gz")).await;
    load(&mut db, &unpacked("data.sql.gz")).await;
    sqlx::raw_sql("ANALYZE").execute(&mut db).await.unwrap();

    for (statement, expected) in RECORDED {
        let (found, seen) = answer(&engine, statement).await;
        let expected: Vec<Vec<String>> = expected
            .iter()
            .map(|row| row.iter().map(|value| crate::engine::plain_text(value)).collect())
            .collect();
        assert_eq!(found, expected, "{statement}\n{seen}");
    }
    for statement in REFUSED {
        let (_, seen) = answer(&engine, statement).await;
        assert!(seen.contains("REFUSED (G0"), "{statement}: {seen}");
    }
    drop(db);
    sqlx::query(AssertSqlSafe(format!("DROP DATABASE {database} WITH (FORCE)")))
        .execute(&mut owner)
        .await
        .unwrap();
}
