//! Values come back as they are, whatever a column says of itself.

use dbagent_core::arrow_schema::DataType;
use dbagent_core::rows::{TYPE_KEY, TYPE_MIXED};
use dbagent_core::session::Verdict;
use dbagent_core::{GuardedSession, Request};

use crate::support::{Scratch, call, collect, run};

/// The batches' columns: name, type and whether it is mixed, of the first and the last batch.
async fn columns(session: &GuardedSession, sql: &str) -> Vec<(String, DataType, bool)> {
    let Ok(Verdict::Cleared(cleared)) = session.judge(Request::text(sql), None, &call()).await else {
        panic!("{sql} is not cleared");
    };
    let mut rows = session.read(cleared, &call()).unwrap();
    while rows.next().await.unwrap().is_some() {}
    let schema = rows.schema().unwrap();
    let mixed =
        |f: &dbagent_core::arrow_schema::Field| f.metadata().get(TYPE_KEY).is_some_and(|t| t == TYPE_MIXED);
    schema.fields().iter().map(|f| (f.name().clone(), f.data_type().clone(), mixed(f))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_result_announces_declared_types() {
    let scratch = Scratch::with(
        "CREATE TABLE t (i INTEGER, b BIGINT, r REAL, x TEXT, v VARCHAR(9), z BLOB, d DATETIME, n NUMERIC, none)",
    );
    let session = scratch.session().await;
    let found = columns(&session, "SELECT *, i + 1 AS e, i AS i FROM t").await;
    let expected = [
        ("i", DataType::Int64),
        ("b", DataType::Int64),
        ("r", DataType::Float64),
        ("x", DataType::Utf8),
        ("v", DataType::Utf8),
        ("z", DataType::Binary),
        ("d", DataType::Null),
        ("n", DataType::Null),
        ("none", DataType::Null),
        ("e", DataType::Null),
        ("i", DataType::Int64),
    ];
    assert_eq!(found, expected.map(|(n, t)| (n.to_owned(), t, false)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_column_that_turns_mixed_late_keeps_every_value() {
    let scratch = Scratch::with(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) INSERT INTO t SELECT i, i FROM n;
         INSERT INTO t VALUES (10001, 'ten thousand and one'), (10002, NULL), (10003, 2.5), (10004, 9007199254740993), (10005, x'ff')",
    );
    let session = scratch.session().await;
    assert_eq!(
        columns(&session, "SELECT v FROM t ORDER BY id").await,
        [("v".to_owned(), DataType::Utf8, true)]
    );
    let Ok(Verdict::Cleared(cleared)) =
        session.judge(Request::text("SELECT v FROM t ORDER BY id"), None, &call()).await
    else {
        panic!("not cleared");
    };
    let rows = collect(session.read(cleared, &call()).unwrap()).await.rows();
    assert_eq!(rows.len(), 10_005);
    for (index, row) in rows.iter().take(10_000).enumerate() {
        assert_eq!(row, &[(index + 1).to_string()]);
    }
    let last: Vec<&str> = rows[10_000..].iter().map(|r| r[0].as_str()).collect();
    assert_eq!(
        last,
        ["\"ten thousand and one\"", "NULL", "2.5", "9007199254740993", "{\"$bytes\":\"/w==\"}"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_texts_and_bytes_survive() {
    let scratch = Scratch::with(
        "CREATE TABLE t (v);
         INSERT INTO t VALUES (9007199254740993), (-9223372036854775808), (0.1), (1e999), (-1e999), ('12.50'),
           ('2024-02-29'), ('ünï 表'), (''), (x''), (CAST(x'ff41' AS TEXT)), ('a' || char(0) || 'b'), (NULL), (1e300)",
    );
    let session = scratch.session().await;
    let rows = run(&session, "SELECT typeof(v), v FROM t ORDER BY rowid").await.rows();
    let found: Vec<(&str, &str)> = rows.iter().map(|r| (r[0].as_str(), r[1].as_str())).collect();
    assert_eq!(
        found,
        [
            ("integer", "9007199254740993"),
            ("integer", "-9223372036854775808"),
            ("real", "0.1"),
            ("real", "{\"$double\":\"Infinity\"}"),
            ("real", "{\"$double\":\"-Infinity\"}"),
            ("text", "\"12.50\""),
            ("text", "\"2024-02-29\""),
            ("text", "\"ünï 表\""),
            ("text", "\"\""),
            ("blob", "{\"$bytes\":\"\"}"),
            // SQLite keeps any bytes as text; what is no text comes as the bytes it is.
            ("text", "{\"$bytes\":\"/0E=\"}"),
            ("text", "\"a\\u0000b\""),
            ("null", "NULL"),
            ("real", "1e300"),
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_in_utf_16_reads_the_same() {
    let scratch = Scratch::with(
        "PRAGMA encoding = 'UTF-16'; CREATE TABLE \"tä\" (x TEXT); INSERT INTO \"tä\" VALUES ('ünï 表 😀')",
    );
    let session = scratch.session().await;
    assert_eq!(run(&session, "SELECT x FROM \"tä\" WHERE x LIKE 'ün%'").await.rows(), [["ünï 表 😀"]]);
}
