//! What the server says, by kind, number and place.

use dbagent_core::session::Verdict;
use dbagent_core::{ErrorKind, ObjectName, Request, Rule};
use dbagent_testkit::conformance::Value;

use super::support::{call, fails, rows, scratch_with, session};
use dbagent_mysql_common::sqlx;

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_have_a_kind_a_number_and_a_place() {
    let Some(scratch) = scratch_with(&[
        "CREATE TABLE users (id INT, name TEXT)",
        "INSERT INTO users VALUES (1, 'a'), (2, 'b')",
    ])
    .await
    else {
        return;
    };
    let session = session(&scratch).await;
    for (sql, kind, number, place) in [
        ("SELECT id FROM no_such_table", ErrorKind::UnknownObject, "1146", Some("no_such_table")),
        ("SELECT id, no_such FROM users", ErrorKind::UnknownColumn, "1054", Some("no_such")),
        ("SELECT (SELECT id FROM users)", ErrorKind::Data, "1242", None),
        ("SELECT 9223372036854775807 + id FROM users", ErrorKind::Data, "1690", None),
        ("SELECT id FROM users UNION SELECT id, name FROM users", ErrorKind::Syntax, "1222", None),
        ("SELECT u.id FROM users u, users v WHERE name = 'a'", ErrorKind::Syntax, "1052", Some("name")),
    ] {
        let e = fails(&session, sql).await;
        assert_eq!(e.kind(), kind, "{sql}: {e}");
        assert!(e.native_code().is_some_and(|code| code.starts_with(number)), "{sql}: {e}");
        assert_eq!(e.position(), place.map(|word| sql.rfind(word).unwrap()), "{sql}: {e}");
        assert!(e.downcast_source::<sqlx::Error>().is_some(), "{sql}: the source is whole");
        // None of them ends more than its own call.
        assert_eq!(rows(&session, "SELECT id FROM users WHERE id = 1").await.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_are_data_like_everything_else() {
    let names = ["MiXeD", "with space", "quo\"te", "it's", "日本", "select", "a.b"];
    let creates: Vec<String> =
        names.iter().map(|n| format!("CREATE TABLE `{n}` (`{n}` INT, `group` INT)")).collect();
    let creates: Vec<&str> = creates.iter().map(String::as_str).collect();
    let Some(scratch) = scratch_with(&creates).await else { return };
    let session = session(&scratch).await;
    for name in names {
        let described = session.describe(&[ObjectName::new(name)], &call()).await.unwrap();
        assert_eq!(described.found.len(), 1, "{name}");
        assert_eq!(described.found[0].columns[0].name, name);
        assert_eq!(rows(&session, format!("SELECT `{name}`, `group` FROM `{name}`")).await.len(), 0);
    }
}

/// Neither server has names of emoji. MySQL takes them and makes question marks of them: what is asked for is
/// another table.
#[tokio::test(flavor = "multi_thread")]
async fn names_that_the_servers_cannot_have() {
    let Some(scratch) = scratch_with(&["CREATE TABLE `?` (`?` INT)"]).await else { return };
    let session = session(&scratch).await;
    for sql in ["SELECT * FROM `🍕`", "SELECT `🍕` FROM `?`", "SELECT t.`🍕` FROM `?` t"] {
        match session.judge(Request::text(sql), None, &call()).await.unwrap() {
            Verdict::Refused(refusal) => assert_eq!(refusal.rule, Rule::EngineDisagrees, "{sql}: {refusal}"),
            other => panic!("{sql}: {other:?}"),
        }
    }
    let e = session.describe(&[ObjectName::new("🍕")], &call()).await.unwrap();
    assert_eq!((e.found.len(), e.missing.len()), (0, 1));
    // As a text it is like all others.
    assert_eq!(rows(&session, "SELECT '🍕' AS e FROM (SELECT 1) t").await, [[Value::text("🍕")]]);
    assert_eq!(rows(&session, "SELECT `?` FROM `?`").await.len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_goes_between_description_and_question() {
    let Some(scratch) = scratch_with(&["CREATE TABLE t (a INT)"]).await else { return };
    let session = session(&scratch).await;
    assert_eq!(session.describe(&[ObjectName::new("t")], &call()).await.unwrap().found.len(), 1);
    scratch.owner().await.unwrap().run("DROP TABLE t").await.unwrap();
    assert_eq!(fails(&session, "SELECT a FROM t").await.kind(), ErrorKind::UnknownObject);
}

#[tokio::test(flavor = "multi_thread")]
async fn wide_results_equal_names_and_huge_cells() {
    let columns: Vec<String> = (0..1_000).map(|n| format!("c{n} INT")).collect();
    let create = format!("CREATE TABLE wide ({})", columns.join(", "));
    let Some(scratch) = scratch_with(&[
        &create,
        "INSERT INTO wide (c999) VALUES (7)",
        "CREATE TABLE big (b LONGTEXT)",
        "INSERT INTO big VALUES (REPEAT('x', 3000000))",
    ])
    .await
    else {
        return;
    };
    let session = session(&scratch).await;
    let wide = rows(&session, "SELECT * FROM wide").await;
    assert_eq!((wide[0].len(), &wide[0][999]), (1_000, &7.into()));
    let many: Vec<String> = (0..1_600).map(|n| n.to_string()).collect();
    let many = rows(&session, format!("SELECT {}", many.join(", "))).await;
    assert_eq!((many[0].len(), &many[0][1_599]), (1_600, &1_599.into()));
    assert_eq!(rows(&session, "SELECT 1 AS a, 2 AS a, 3 AS a").await, [[1.into(), 2.into(), 3.into()]]);
    let e = fails(&session, "SELECT b FROM big").await;
    assert_eq!(e.kind(), ErrorKind::TooLarge, "{e}");
    assert!(e.message().contains("3,000,000") && e.message().contains("\"b\""), "{e}");
    assert_eq!(rows(&session, "SELECT LENGTH(b) FROM big").await, [[3_000_000.into()]]);
}

/// A reader under a lock waits for it, says so in time, and is no trouble afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_somebody_locks() {
    let Some(scratch) = scratch_with(&["CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)"]).await else {
        return;
    };
    let session = session(&scratch).await;
    let mut owner = scratch.owner().await.unwrap();
    owner.run("LOCK TABLES t WRITE").await.unwrap();
    let limit = dbagent_core::CallContext::within(std::time::Duration::from_millis(500));
    let e = match super::support::start(&session, "SELECT a FROM t", None, &limit).await {
        Ok(rows) => super::support::collect(rows).await.unwrap_err(),
        Err(e) => e,
    };
    assert_eq!(e.kind(), ErrorKind::Timeout, "{e}");
    owner.run("UNLOCK TABLES").await.unwrap();
    assert_eq!(rows(&session, "SELECT a FROM t").await, [[1.into()]]);
}

/// The servers cut a GROUP_CONCAT without an error, MySQL after 1,024 bytes.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_put_together_is_whole_or_an_error() {
    let Some(scratch) = super::support::numbers().await else { return };
    let session = session(&scratch).await;
    // 100 characters and a comma, but for the last.
    let found = rows(&session, "SELECT LENGTH(GROUP_CONCAT(t)) FROM numbers WHERE i <= 5000").await;
    assert_eq!(found, [[(5_000 * 101 - 1).into()]]);
    let e = fails(&session, "SELECT GROUP_CONCAT(t) FROM numbers").await;
    assert_eq!(e.kind(), ErrorKind::TooLarge, "{e}");
}
