//! What a database may hold that nobody would like to meet.

use dbagent_core::catalog::Page;
use dbagent_core::session::Verdict;
use dbagent_core::{ErrorKind, GuardedSession, ObjectName, Request};
use dbagent_duckdb::DIALECT;
use dbagent_duckdb::duckdb::Connection;

use crate::lake::Folder;
use crate::support::{Scratch, call, run};

#[tokio::test(flavor = "multi_thread")]
async fn names_in_capitals_quotes_emoji_and_keywords() {
    let names =
        ["ORDERS", "a \"quoted\" name", "🍕 \u{1f9d1}\u{200d}\u{1f33e}", "select", "group by", "Ünïcödé"];
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let tables = names
        .map(|name| format!("CREATE TABLE {0} ({0} INTEGER); INSERT INTO {0} VALUES (7);", quoted(name)));
    let scratch = Scratch::with(&tables.concat());
    let session = scratch.session().await;
    let page = session.objects(None, Page::default(), &call()).await.unwrap();
    for name in names {
        let object = page.objects.iter().find(|object| object.name.name == name).unwrap();
        let described = session.describe(std::slice::from_ref(&object.name), &call()).await.unwrap();
        assert_eq!(described.found[0].columns[0].name, name);
        let found = run(&session, &format!("SELECT {0} FROM {0} WHERE {0} = 7", quoted(name))).await.rows();
        assert_eq!(found, [["7"]], "{name}");
    }
}

/// The engine holds it, and the error names its size; the session goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_cell_of_two_hundred_megabytes() {
    let scratch = Scratch::with("CREATE TABLE big AS SELECT repeat('x', 200_000_000) AS cell");
    let session = scratch.session().await;
    let e = run(&session, "SELECT cell FROM big").await.error();
    assert_eq!(e.kind(), ErrorKind::TooLarge, "{e}");
    assert!(e.to_string().contains("200,000,000 bytes"), "{e}");
    assert_eq!(run(&session, "SELECT length(cell) FROM big").await.rows(), [["200000000"]]);
}

/// The names of the columns of a result, in its order.
async fn columns(session: &GuardedSession, sql: &str) -> Vec<String> {
    let verdict = session.judge(Request::text(sql), Some(1), &call()).await.unwrap();
    let Verdict::Cleared(cleared) = verdict else { panic!("{sql} is not cleared") };
    let mut rows = session.read(cleared, &call()).unwrap();
    let batch = rows.next().await.unwrap().expect("a row");
    batch.schema().fields().iter().map(|field| field.name().clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn results_with_columns_of_one_name_keep_them_all() {
    let scratch = Scratch::with("CREATE TABLE t AS SELECT 1 AS a, 2 AS b");
    let session = scratch.session().await;
    assert_eq!(columns(&session, "SELECT a, b AS a, a AS a FROM t").await, ["a", "a", "a"]);
    assert_eq!(run(&session, "SELECT a, b AS a, a AS a FROM t").await.rows(), [["1", "2", "1"]]);
    // By name, the engine has two of it.
    assert_eq!(run(&session, "SELECT x.a, y.a FROM t x, t y").await.rows(), [["1", "1"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_of_1600_columns() {
    const WIDTH: usize = 1_600;
    let wide: Vec<String> = (0..WIDTH).map(|i| format!("{i} AS c{i}")).collect();
    let scratch = Scratch::with(&format!("CREATE TABLE wide AS SELECT {}", wide.join(", ")));
    let session = scratch.session().await;
    let described = session.describe(&[ObjectName::new("wide")], &call()).await.unwrap();
    assert_eq!(described.found[0].columns.len(), WIDTH);
    let names = columns(&session, "FROM wide").await;
    assert_eq!((names.len(), names[WIDTH - 1].as_str()), (WIDTH, "c1599"));
    let found = run(&session, "FROM wide").await.rows();
    assert_eq!((found[0].len(), found[0][WIDTH - 1].as_str()), (WIDTH, "1599"));
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_are_no_text_are_shown_or_named() {
    let scratch = Scratch::with("CREATE TABLE t AS SELECT 'a\\xFF\\xC3('::BLOB AS b");
    let session = scratch.session().await;
    // A cast writes such bytes out; to read them as text is an error of the data.
    assert_eq!(run(&session, "SELECT b, b::VARCHAR FROM t").await.rows(), [["x'61ffc328'", "a\\xFF\\xC3("]]);
    let e = run(&session, "SELECT decode(b) FROM t").await.error();
    assert_eq!(e.kind(), ErrorKind::Data, "{e}");

    let folder = Folder::new();
    folder.put("good.csv", "SELECT 1 AS a");
    let lines = |last: &[u8]| [b"a,b\n".as_slice(), &b"1,x\n".repeat(60_000), last].concat();
    std::fs::write(folder.path("late.csv"), lines(b"2,\xFF\xFE\n")).unwrap();
    std::fs::write(folder.path("lines.jsonl"), b"{\"a\": \"\xFF\xFE\"}\n").unwrap();
    let session = folder.session().await;
    for (table, file) in [("late", "late.csv"), ("lines", "lines.jsonl")] {
        let e = run(&session, &format!("SELECT * FROM {table}")).await.error();
        assert_eq!(e.kind(), ErrorKind::Data, "{e}");
        assert!(e.to_string().contains(file), "{e}");
    }
    assert_eq!(run(&session, "SELECT a FROM good").await.rows(), [["1"]]);
}

/// The error names the table, and says what to do.
async fn is_gone(session: &GuardedSession, table: &str) {
    let e = run(session, &format!("SELECT a FROM {table}")).await.error();
    assert_eq!(e.kind(), ErrorKind::UnknownObject, "{e}");
    assert!(e.message().contains(table), "{e}");
    assert!(e.hint_text().is_some_and(|hint| hint.contains("look at the schema again")), "{e:?}");
}

/// The engine's lock lets nobody change a file that is open for reading. Another file can take its place, a
/// host can change its own database, and files of a lake can go.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_is_dropped_between_describe_and_query_is_named() {
    let described = async |session: &GuardedSession, table: &str| {
        session.describe(&[ObjectName::new(table)], &call()).await.unwrap().found.len()
    };
    let scratch = Scratch::with("CREATE TABLE short_lived AS SELECT 1 AS a; CREATE TABLE b AS SELECT 2 AS a");
    let session = scratch.session().await;
    assert_eq!(described(&session, "short_lived").await, 1);
    let other = scratch.folder.path().join("other.db");
    dbagent_duckdb::testing::create_database(&other, "CREATE TABLE b AS SELECT 3 AS a").unwrap();
    std::fs::rename(&other, &scratch.file).unwrap();
    is_gone(&session, "short_lived").await;
    assert_eq!(described(&session, "short_lived").await, 0);
    assert_eq!(run(&session, "SELECT a FROM b").await.rows(), [["3"]]);

    let host = Connection::open_in_memory().unwrap();
    host.execute_batch("CREATE TABLE short_lived AS SELECT 1 AS a").unwrap();
    let target = scratch.target();
    let session = dbagent_duckdb::from_connection(host.try_clone().unwrap(), &target).unwrap();
    let session = GuardedSession::over(&DIALECT, target, session).unwrap();
    assert_eq!(described(&session, "short_lived").await, 1);
    host.execute_batch("DROP TABLE short_lived").unwrap();
    is_gone(&session, "short_lived").await;

    let folder = Folder::new();
    folder.put("short_lived.csv", "SELECT 1 AS a");
    folder.put("b.csv", "SELECT 2 AS a");
    let session = folder.session().await;
    assert_eq!(described(&session, "short_lived").await, 1);
    std::fs::remove_file(folder.path("short_lived.csv")).unwrap();
    is_gone(&session, "short_lived").await;
    assert_eq!(run(&session, "SELECT a FROM b").await.rows(), [["2"]]);
}

/// A column that the other file does not have is named as well.
#[tokio::test(flavor = "multi_thread")]
async fn a_column_that_is_gone_is_named() {
    let scratch = Scratch::with("CREATE TABLE t AS SELECT 1 AS a, 2 AS old_one");
    let session = scratch.session().await;
    let other = scratch.folder.path().join("other.db");
    dbagent_duckdb::testing::create_database(&other, "CREATE TABLE t AS SELECT 1 AS a").unwrap();
    std::fs::rename(&other, &scratch.file).unwrap();
    let e = run(&session, "SELECT old_one FROM t").await.error();
    assert_eq!(e.kind(), ErrorKind::UnknownColumn, "{e}");
    assert!(e.message().contains("old_one"), "{e}");
    assert!(e.hint_text().is_some_and(|hint| hint.contains("look at the schema again")), "{e:?}");
}
