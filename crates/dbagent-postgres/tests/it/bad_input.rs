//! Databases and results that are meant to break something.

use dbagent_core::catalog::Page;
use dbagent_core::session::Verdict;
use dbagent_core::{ErrorKind, ObjectName, Param, Params, Policy, Request, Rule, Target};
use dbagent_postgres::sqlx::{self, Executor as _};
use dbagent_services::Server;
use dbagent_testkit::conformance::Value;

use crate::support::{Ran, Scratch, call, collect, open, run, run_up_to, skipped, start, until, variable};

#[tokio::test(flavor = "multi_thread")]
async fn text_that_is_no_utf_8_comes_as_binary() {
    let Some(url) = variable("URL") else { return };
    let db = Scratch::on(&url, "ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'").await;
    db.change("CREATE TABLE t (a text); INSERT INTO t VALUES ('plain'), (E'bad \\xff byte'), ('ü')").await;
    let session = db.session().await;
    let rows = run(&session, "SELECT a FROM t").await.rows();
    let texts: Vec<String> = rows.iter().map(|r| format!("{:?}", r[0])).collect();
    assert!(texts.iter().any(|t| t.contains("$bytes")), "{texts:?}");
    assert!(texts.iter().any(|t| t.contains("plain")), "{texts:?}");
    // Through a cursor as well, and in an error's words.
    let rows = run(&session, "SELECT a, point(1, 2) FROM t").await.rows();
    assert_eq!(rows.len(), 3);
    assert_eq!(run(&session, "SELECT a::int FROM t").await.error().kind(), ErrorKind::Data);
    assert_eq!(run(&session, "SELECT 1 AS v").await.value(), Value::Int(1));
}

/// The server folds and cuts names by its own encoding and locale, the grammar of the guard by UTF-8: a name beyond
/// ASCII may be another table there than the one that was judged.
#[tokio::test(flavor = "multi_thread")]
async fn names_beyond_ascii_are_refused_where_the_database_is_not_in_utf_8() {
    let Some(url) = variable("URL") else { return };
    for encoding in ["SQL_ASCII", "LATIN1"] {
        let how = format!("ENCODING '{encoding}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
        let db = Scratch::on(&url, &how).await;
        db.change(
            "CREATE TABLE \"straße\" (\"größe\" text, a int); INSERT INTO \"straße\" VALUES ('Köln', 1); \
             CREATE VIEW streets AS SELECT \"größe\" AS size, a FROM \"straße\"",
        )
        .await;
        let session = db.session().await;
        for text in [
            "SELECT * FROM \"straße\"",
            "SELECT * FROM straße",
            "SELECT * FROM U&\"stra\\00dfe\"",
            "SELECT a AS größe FROM streets",
            "WITH straße AS (SELECT 1 AS a) SELECT a FROM straße",
        ] {
            let refusal = run(&session, text).await.refusal();
            assert_eq!(refusal.rule, Rule::UnknownSyntax, "{encoding} {text}: {refusal:?}");
        }
        // Texts are data, whatever is in them, and come back as they are.
        let rows = run(&session, "SELECT size, size = 'Köln' AS same FROM streets").await.rows();
        assert_eq!(rows, [[Value::text("Köln"), Value::Bool(true)]], "{encoding}");
        let request = Request::text("SELECT a FROM streets WHERE size = $1")
            .with_params(Params::Positional(vec![Param::Text("Köln".into())]));
        assert_eq!(run_up_to(&session, request, Some(5), &call()).await.value(), Value::Int(1));
        let listed = session.objects(None, Page::default(), &call()).await.unwrap();
        assert_eq!(listed.total, 2, "{encoding}");
        let described = session.describe(&[ObjectName::new("straße")], &call()).await.unwrap();
        assert_eq!(described.found[0].columns[0].name, "größe");
    }
    // Cut at 63 bytes: 40 letters are fewer than that in LATIN1, and more in UTF-8.
    let long = "ß".repeat(40);
    let how = "ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'";
    let db = Scratch::on(&url, how).await;
    db.change(&format!("CREATE TABLE \"{long}\" (a int); INSERT INTO \"{long}\" VALUES (7)")).await;
    db.change(&format!("CREATE VIEW short AS SELECT a FROM \"{long}\"")).await;
    let policy = Policy::default().deny(&format!("*.{long}")).unwrap();
    let session = open(Target { policy, ..db.target() }).await.unwrap();
    for name in [format!("\"{long}\""), format!("U&\"{}\"", "\\00df".repeat(40)), "short".to_owned()] {
        let ran = run(&session, &format!("SELECT a FROM {name}")).await;
        assert!(matches!(ran, Ran::Refused(_)), "{name}: {ran:?}");
    }
    // In UTF-8 they are names like any other.
    let db = Scratch::with("CREATE TABLE straße (a int); INSERT INTO straße VALUES (1)").await.unwrap();
    assert_eq!(run(&db.session().await, "SELECT a FROM Straße").await.value(), Value::Int(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn as_many_columns_as_a_table_may_have() {
    let columns: Vec<String> = (0..1_600).map(|i| format!("c{i} int")).collect();
    let setup = format!("CREATE TABLE wide ({}); INSERT INTO wide DEFAULT VALUES", columns.join(", "));
    let Some(db) = Scratch::with(&setup).await else { return };
    let session = db.session().await;
    let rows = run(&session, "SELECT * FROM wide").await.rows();
    assert_eq!(rows[0].len(), 1_600);
    let described = session.describe(&[ObjectName::new("wide")], &call()).await.unwrap();
    assert_eq!(described.found[0].columns.len(), 1_600);
    assert_eq!(run(&session, "SELECT 1 AS a, 2 AS a, 3 AS \"A\"").await.rows()[0].len(), 3);
    // No column at all.
    assert_eq!(run(&session, "SELECT FROM wide").await.rows(), [Vec::<Value>::new()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_of_two_hundred_megabytes_is_an_error_and_the_session_lives() {
    let Some(db) =
        Scratch::with("CREATE TABLE t (a text); INSERT INTO t SELECT repeat('x', 200 << 20)").await
    else {
        return;
    };
    let session = db.session().await;
    for text in ["SELECT a FROM t", "SELECT a, point(1, 2) FROM t"] {
        let e = run(&session, text).await.error();
        assert_eq!(e.kind(), ErrorKind::TooLarge, "{e}");
        assert!(e.message().contains("209,715,200"), "{e}");
    }
    assert_eq!(run(&session, "SELECT length(a) FROM t").await.value(), Value::Int(200 << 20));
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_every_kind_are_names() {
    let Some(db) = Scratch::new().await else { return };
    let names = ["Users", "ORDER", "select", "🦀 crab", "a\"b", "é́", "x.y", "tab\tname", " lead"];
    for name in names {
        let quoted = name.replace('"', "\"\"");
        db.change(&format!(
            "CREATE TABLE \"{quoted}\" (\"{quoted}\" int); INSERT INTO \"{quoted}\" VALUES (1)"
        ))
        .await;
    }
    let session = db.session().await;
    let listed = session.objects(None, Page::default(), &call()).await.unwrap();
    assert_eq!(listed.total, names.len());
    for object in listed.objects {
        let described = session.describe(std::slice::from_ref(&object.name), &call()).await.unwrap();
        assert_eq!(described.found[0].columns[0].name, object.name.name);
        let count = crate::support::DIALECT.count_request(&object.name).unwrap();
        assert_eq!(run_up_to(&session, count, Some(5), &call()).await.value(), Value::Int(1));
    }
    // A name that is too long is cut by the server in statements, and by nobody here.
    let long = ObjectName::new("u".repeat(500));
    assert_eq!(session.describe(std::slice::from_ref(&long), &call()).await.unwrap().missing, [long]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_is_gone_is_an_unknown_object() {
    let Some(db) = Scratch::with("CREATE TABLE t (a int)").await else { return };
    let session = db.session().await;
    session.describe(&[ObjectName::new("t")], &call()).await.unwrap();
    db.change("DROP TABLE t").await;
    let e = run(&session, "SELECT a FROM t").await.error();
    assert_eq!((e.kind(), e.native_code()), (ErrorKind::UnknownObject, Some("42P01")));
    assert!(e.hint_text().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_is_not_waited_for_to_the_end() {
    let Some(db) = Scratch::with("CREATE TABLE t (a int)").await else { return };
    let session = db.session().await;
    let mut owner = db.owner().await;
    owner.execute(sqlx::raw_sql("BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE")).await.unwrap();
    let e = run(&session, "SELECT a FROM t").await.error();
    assert_eq!((e.kind(), e.native_code()), (ErrorKind::Locked, Some("55P03")), "{e}");
    owner.execute(sqlx::raw_sql("ROLLBACK")).await.unwrap();
    assert!(run(&session, "SELECT a FROM t").await.rows().is_empty());
}

/// A read locks its tables against changes of their shape: it can wait in a circle, and be the one that must give
/// way.
#[tokio::test(flavor = "multi_thread")]
async fn a_read_that_is_the_victim_of_a_deadlock_is_a_conflict() {
    const WAITING: &str = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'relation' \
                           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    let Some(db) = Scratch::with("CREATE TABLE a (x int); CREATE TABLE b (x int)").await else { return };
    // The session looks for a circle once, after this time; the owner never does.
    db.change(&format!("ALTER DATABASE {} SET deadlock_timeout = '3s'", db.name)).await;
    let session = db.session().await;
    let mut owner = db.owner().await;
    owner.execute(sqlx::raw_sql("BEGIN; SET LOCAL deadlock_timeout = '60s'")).await.unwrap();
    let both = Request::text("SELECT (SELECT count(*) FROM b), (SELECT count(*) FROM a)");
    let call = call();
    let Ok(Verdict::Cleared(cleared)) = session.judge(both, None, &call).await else { panic!("a read") };
    owner.execute(sqlx::raw_sql("LOCK TABLE a IN ACCESS EXCLUSIVE MODE")).await.unwrap();
    let rows = session.read(cleared, &call).unwrap();
    let read = tokio::spawn(collect(rows));
    until("the read waits for the table a", async || db.value(WAITING).await == "1").await;
    owner.execute(sqlx::raw_sql("LOCK TABLE b IN ACCESS EXCLUSIVE MODE")).await.unwrap();
    let e = read.await.unwrap().error();
    assert_eq!((e.kind(), e.native_code()), (ErrorKind::Conflict, Some("40P01")), "{e}");
    owner.execute(sqlx::raw_sql("ROLLBACK")).await.unwrap();
    assert_eq!(run(&session, "SELECT count(*) FROM a, b").await.value(), Value::Int(0));
}

/// The anomaly of a report: under SERIALIZABLE a transaction that only reads can be the one that must not go on.
#[tokio::test(flavor = "multi_thread")]
async fn a_read_that_cannot_be_put_in_any_order_is_a_conflict() {
    let Some(db) = Scratch::with(
        "CREATE TABLE control (batch int); INSERT INTO control VALUES (1); \
         CREATE TABLE receipt (batch int, amount text); INSERT INTO receipt VALUES (1, '10')",
    )
    .await
    else {
        return;
    };
    db.change(&format!("ALTER DATABASE {} SET default_transaction_isolation = 'serializable'", db.name))
        .await;
    let session = db.session().await;
    let report = "SELECT repeat('x', 1000) AS a FROM generate_series(1, 100000) \
                  UNION ALL SELECT amount FROM receipt WHERE batch = 1";
    for conflict in [true, false] {
        let (mut clerk, mut manager) = (db.owner().await, db.owner().await);
        // A clerk who has looked which batch is open, and the end of the day, which is committed first.
        clerk.execute(sqlx::raw_sql("BEGIN; SELECT batch FROM control")).await.unwrap();
        clerk.execute(sqlx::raw_sql("INSERT INTO receipt VALUES (1, '20')")).await.unwrap();
        manager.execute(sqlx::raw_sql("BEGIN; UPDATE control SET batch = batch + 1; COMMIT")).await.unwrap();
        if !conflict {
            clerk.execute(sqlx::raw_sql("ROLLBACK")).await.unwrap();
        }
        // The report sees the end of the day and not the clerk's receipt, which is committed meanwhile.
        let call = call();
        let mut rows = start(&session, Request::text(report), None, &call).await.unwrap();
        assert!(rows.next().await.unwrap().is_some());
        if conflict {
            clerk.execute(sqlx::raw_sql("COMMIT")).await.unwrap();
        }
        let end = loop {
            match rows.next().await {
                Ok(Some(_)) => {}
                Ok(None) => break None,
                Err(e) => break Some(e),
            }
        };
        match end {
            Some(e) => {
                assert!(conflict, "{e}");
                assert_eq!((e.kind(), e.native_code()), (ErrorKind::Conflict, Some("40001")), "{e}");
                assert_eq!(e.retry_advice(), dbagent_core::Retry::Later, "{e:?}");
            }
            None => assert!(!conflict, "a report that never was so is taken for one"),
        }
    }
    assert_eq!(run(&session, "SELECT count(*) FROM receipt").await.value(), Value::Int(2));
}

/// A server that has room for few locks, and a table of more parts than that.
#[tokio::test(flavor = "multi_thread")]
async fn locks_that_the_server_has_no_room_for() {
    if variable("URL").is_none() {
        return;
    }
    let few = &["-c", "max_locks_per_transaction=10", "-c", "max_connections=20"];
    let server = tokio::task::spawn_blocking(|| Server::throwaway_with("postgres", few)).await.unwrap();
    let server = match server {
        Ok(server) => server,
        Err(why) => return skipped(&why.to_string()),
    };
    let db = Scratch::on(server.url(), "").await;
    // Each part in a transaction of its own: all at once would need the locks as well.
    db.change(
        "CREATE TABLE many (a int) PARTITION BY LIST (a); \
         CREATE TABLE one (a int); INSERT INTO one VALUES (1)",
    )
    .await;
    db.change(
        "DO $$ BEGIN FOR i IN 1..3000 LOOP \
         EXECUTE format('CREATE TABLE part_%s PARTITION OF many FOR VALUES IN (%s)', i, i); COMMIT; \
         END LOOP; END $$",
    )
    .await;
    let session = db.session().await;
    let e = run(&session, "SELECT count(*) FROM many").await.error();
    assert_eq!((e.kind(), e.native_code()), (ErrorKind::Exhausted, Some("53200")), "{e}");
    assert!(e.hint_text().is_some_and(|hint| hint.contains("max_locks_per_transaction")), "{e:?}");
    // One part is one lock, and the session goes on.
    assert_eq!(run(&session, "SELECT count(*) FROM many WHERE a = 7").await.value(), Value::Int(0));
    assert_eq!(run(&session, "SELECT a FROM one").await.value(), Value::Int(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn values_with_nothing_in_them_and_rows_without_end() {
    let Some(db) = Scratch::new().await else { return };
    let session = db.session().await;
    let rows = run_up_to(
        &session,
        Request::text("SELECT NULL AS n, ''::text AS e, '{}'::jsonb AS o, ARRAY[]::int[] AS a"),
        Some(1),
        &call(),
    )
    .await
    .rows();
    assert_eq!(rows, [[Value::Null, Value::text(""), Value::json("{}"), Value::json("[]")]]);
    // One row fewer than a part of a cursor, exactly one part, and one more.
    for n in [499, 500, 501, 1_000, 1_001] {
        let text = format!("SELECT point(i, 0) FROM generate_series(1, {n}) AS g(i)");
        assert_eq!(run(&session, &text).await.rows().len(), n);
    }
}
