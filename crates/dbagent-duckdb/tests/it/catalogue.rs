//! What is listed and described, with keys, comments, constraints and estimates.

use dbagent_core::catalog::{Index, ObjectKind, Page, RowCount};
use dbagent_core::session::Verdict;
use dbagent_core::{ObjectName, Request, Rule, Target};

use crate::support::{Scratch, call, open, run};

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_is_declared_is_described() {
    let scratch = Scratch::with(
        "CREATE SCHEMA shop;
         CREATE TYPE mood AS ENUM ('good', 'it''s bad');
         CREATE TABLE shop.place (country VARCHAR, city VARCHAR, PRIMARY KEY (country, city));
         CREATE TABLE shop.person (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL DEFAULT 'nobody', email VARCHAR UNIQUE,
           m mood, age INTEGER CHECK (age > 0), double_age INTEGER GENERATED ALWAYS AS (age * 2),
           country VARCHAR, city VARCHAR, FOREIGN KEY (country, city) REFERENCES shop.place (country, city));
         COMMENT ON TABLE shop.person IS 'who buys';
         COMMENT ON COLUMN shop.person.name IS 'as on the card';
         CREATE INDEX by_name ON shop.person (name, (lower(email)));
         CREATE VIEW shop.adults AS SELECT id FROM shop.person WHERE age >= 18;
         INSERT INTO shop.place VALUES ('DE', 'Ulm'), ('FR', 'Metz');
         CREATE TABLE plain AS SELECT i FROM range(1000) t(i)",
    );
    let session = scratch.session().await;
    let name = ObjectName::within("shop", "person");
    let described = session.describe(std::slice::from_ref(&name), &call()).await.unwrap();
    let person = described.found.first().unwrap();
    assert_eq!(person.summary.name, name);
    assert_eq!(person.summary.comment.as_deref(), Some("who buys"));
    assert_eq!(person.primary_key, ["id"]);
    let key = person.foreign_keys.first().unwrap();
    assert_eq!(
        (key.columns.as_slice(), &key.target),
        (&["country".to_owned(), "city".to_owned()][..], &ObjectName::within("shop", "place"))
    );
    assert_eq!(key.target_columns, ["country", "city"]);
    let index = |name: &str| person.indexes.iter().find(|i| i.name == name).unwrap();
    assert_eq!(
        index("by_name"),
        &Index {
            name: "by_name".into(),
            columns: vec!["name".into(), "(lower(email))".into()],
            unique: false,
            condition: None
        }
    );
    assert!(person.indexes.iter().any(|i| i.unique && i.columns == ["email"]), "{:?}", person.indexes);
    assert!(person.notes.iter().any(|n| n.contains("age > 0")), "{:?}", person.notes);
    let column = |name: &str| person.columns.iter().find(|c| c.name == name).unwrap();
    assert_eq!(column("name").comment.as_deref(), Some("as on the card"));
    assert_eq!((column("name").nullable, column("name").default.as_deref()), (Some(false), Some("'nobody'")));
    assert_eq!(column("m").allowed_values, ["good", "it's bad"]);
    assert!(column("double_age").generated.as_deref().unwrap().contains("age"), "{:?}", column("double_age"));
    assert_eq!(column("double_age").default, None);
    assert!(person.definition.as_deref().unwrap().starts_with("CREATE TABLE shop.person"));

    let listed = session.objects(None, Page::default(), &call()).await.unwrap();
    let names: Vec<String> = listed.objects.iter().map(|o| o.name.to_string()).collect();
    assert_eq!(names, ["plain", "shop.adults", "shop.person", "shop.place"]);
    assert_eq!(listed.objects[0].rows, RowCount::About(1_000));
    assert_eq!((listed.objects[1].kind, listed.objects[1].rows), (ObjectKind::View, RowCount::Unknown));
    assert_eq!(session.server(&call()).await.unwrap(), "DuckDB 2.0.0");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_estimate_over_the_threshold_is_refused_and_an_aggregate_passes() {
    let scratch = Scratch::with("CREATE TABLE t AS SELECT i, i % 7 AS g FROM range(100000) t(i)");
    let mut target: Target = scratch.target();
    target.guardrails.explain_row_threshold = 10_000;
    let session = open(target).await.unwrap();
    let estimate = async |sql: &str| {
        let Ok(Verdict::Cleared(cleared)) = session.judge(Request::text(sql), None, &call()).await else {
            panic!("{sql} is not cleared");
        };
        session.estimate(&cleared, &call()).await.unwrap()
    };
    for sql in ["SELECT * FROM t", "FROM t ORDER BY i", "SELECT a.i FROM t a CROSS JOIN t b"] {
        assert_eq!(estimate(sql).await.unwrap_err().rule, Rule::EstimateOverThreshold, "{sql}");
    }
    for (sql, most) in [
        ("SELECT count(*) FROM t", 1),
        ("SELECT * FROM t LIMIT 5", 5),
        ("SELECT i FROM t ORDER BY i LIMIT 7", 7),
        ("SELECT g, sum(i) FROM t GROUP BY g", 1_000),
    ] {
        let told = estimate(sql).await.unwrap();
        assert!(told.rows_out.is_some_and(|n| n <= most), "{sql}: {told:?}");
        assert!(told.rows_scanned.is_some_and(|n| n > 0), "{sql}: {told:?}");
    }
    for sql in ["DESCRIBE t", "PIVOT t ON g USING count(*)", "EXPLAIN FROM t", "PRAGMA table_info('t')"] {
        assert!(estimate(sql).await.unwrap().is_unknown(), "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_shown() {
    let scratch = Scratch::new();
    let session = scratch.session().await;
    let Ok(Verdict::Cleared(cleared)) = session
        .judge(Request::text("SELECT * FROM users JOIN orders ON users.id = user_id"), None, &call())
        .await
    else {
        panic!("not cleared");
    };
    let plan = session.explain(&cleared, &call()).await.unwrap().unwrap();
    assert!(plan.text.to_lowercase().contains("join") && plan.text.contains("users"), "{}", plan.text);
    assert!(plan.estimate.rows_out.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_tables_are_listed_and_described_in_pages() {
    const TABLES: usize = 5_000;
    let tables: Vec<String> =
        (0..TABLES).map(|i| format!("CREATE TABLE t{i:04} (id INTEGER, n{i} VARCHAR);")).collect();
    let scratch = Scratch::with(&format!("BEGIN; {} COMMIT", tables.concat()));
    let session = scratch.session().await;
    let mut seen = Vec::new();
    while seen.len() < TABLES {
        let page = session.objects(None, Page { offset: seen.len(), size: 1_000 }, &call()).await.unwrap();
        assert_eq!((page.total, page.objects.len()), (TABLES, 1_000));
        seen.extend(page.objects.into_iter().map(|object| object.name));
    }
    let page = session.objects(Some("t12??"), Page::default(), &call()).await.unwrap();
    assert_eq!(page.total, 100);
    let described = session.describe(&seen, &call()).await.unwrap();
    assert_eq!((described.found.len(), described.missing.len()), (TABLES, 0));
    let last = described.found.iter().find(|object| object.summary.name.name == "t4999").unwrap();
    assert_eq!(last.columns[1].name, "n4999");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_database_and_odd_results_are_fine() {
    let scratch = Scratch::with("");
    let session = scratch.session().await;
    assert_eq!(session.objects(None, Page::default(), &call()).await.unwrap().total, 0);
    assert_eq!(run(&session, "SELECT 1 AS a, 2 AS a").await.rows(), [["1", "2"]]);
    let wide: Vec<String> = (0..1_600).map(|i| format!("{i} AS c{i}")).collect();
    assert_eq!(run(&session, &format!("SELECT {}", wide.join(", "))).await.rows()[0].len(), 1_600);
}

/// The list of functions is the engine's: what it brings, somebody has judged.
#[tokio::test(flavor = "multi_thread")]
async fn every_function_of_the_engine_is_on_a_list() {
    let scratch = Scratch::with("");
    let session = scratch.session().await;
    let sql =
        "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type <> 'pragma' ORDER BY 1";
    let names = run(&session, sql).await.rows();
    assert!(names.len() > 900, "{}", names.len());
    let unknown: Vec<&String> = names
        .iter()
        .flatten()
        .filter(|n| {
            dbagent_duckdb::functions::effects(n).contains(dbagent_core::Effects::UNKNOWN)
                && !dbagent_duckdb::functions::is_left_out(n)
        })
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
