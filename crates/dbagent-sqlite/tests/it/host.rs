//! A connection that the host brings.

use dbagent_core::{ConnUrl, ErrorKind, GuardedSession, Policy, Rule, Target};
use dbagent_sqlite::rusqlite::functions::FunctionFlags;
use dbagent_sqlite::{DIALECT, from_connection, rusqlite::Connection};

use crate::support::{call, run};

fn guarded(connection: Connection, policy: Policy) -> GuardedSession {
    static SQLITE: dbagent_core::Dialect = DIALECT;
    let target = Target { policy, ..Target::new("memory", ConnUrl::parse("sqlite://:memory:").unwrap()) };
    let session = from_connection(connection, &target).unwrap();
    GuardedSession::over(&SQLITE, target, session).unwrap()
}

fn memory() -> Connection {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch(
        "CREATE TABLE t (x); INSERT INTO t VALUES (1), (2);
         CREATE TEMP TABLE scratch (y); INSERT INTO scratch VALUES (3);
         ATTACH ':memory:' AS other; CREATE TABLE other.t2 (z); INSERT INTO other.t2 VALUES (4);
         CREATE TABLE other.t (x); INSERT INTO other.t VALUES (5)",
    )
    .unwrap();
    db
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_temporary_and_attached_tables_are_read() {
    let session = guarded(memory(), Policy::default());
    assert_eq!(run(&session, "SELECT count(*) FROM t").await.rows(), [["2"]]);
    assert_eq!(run(&session, "SELECT y, z FROM scratch, other.t2").await.rows(), [["3", "4"]]);
    assert_eq!(run(&session, "SELECT x FROM other.t").await.rows(), [["5"]]);
    let listed = session.objects(None, dbagent_core::catalog::Page::default(), &call()).await.unwrap();
    let names: Vec<String> = listed.objects.iter().map(|o| o.name.to_string()).collect();
    assert_eq!(names, ["t", "other.t", "other.t2", "temp.scratch"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_cannot_write_any_more() {
    let session = guarded(memory(), Policy::default());
    for sql in ["DELETE FROM t", "CREATE TABLE u (a)", "PRAGMA query_only = OFF", "DETACH other"] {
        run(&session, sql).await.refusal();
    }
    let session = guarded(memory(), Policy::default().deny("other.*").unwrap());
    for sql in [
        "PRAGMA other.table_info(t2)",
        "PRAGMA table_info(t2)",
        "PRAGMA other.table_list",
        "SELECT * FROM pragma_table_info('t', 'other')",
        "SELECT * FROM other.sqlite_schema",
    ] {
        assert_eq!(run(&session, sql).await.refusal().rule, Rule::DeniedObject, "{sql}");
    }
    run(&session, "PRAGMA main.table_info(t)").await.rows();
    let policy = Policy::default().deny("other.*").unwrap().deny("*.scratch").unwrap();
    let session = guarded(memory(), policy);
    for sql in
        ["SELECT * FROM other.t2", "SELECT * FROM t2", "SELECT y FROM scratch", "SELECT x FROM other.t"]
    {
        assert_eq!(run(&session, sql).await.refusal().rule, Rule::DeniedObject, "{sql}");
    }
    assert_eq!(run(&session, "SELECT x FROM t LIMIT 1").await.rows(), [["1"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn functions_of_the_host_need_the_policy() {
    let with_function = || {
        let db = memory();
        db.create_scalar_function("shout", 1, FunctionFlags::SQLITE_UTF8, |c| {
            Ok(format!("{}!", c.get::<i64>(0)?))
        })
        .unwrap();
        db
    };
    let session = guarded(with_function(), Policy::default());
    assert_eq!(run(&session, "SELECT shout(x) FROM t").await.refusal().rule, Rule::UnknownFunction);
    let mut policy = Policy::default();
    policy.allow_functions.insert("Shout".to_owned());
    let session = guarded(with_function(), policy);
    assert_eq!(run(&session, "SELECT shout(x) FROM t").await.rows(), [["1!"], ["2!"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_in_memory_says_how() {
    static SQLITE: dbagent_core::Dialect = DIALECT;
    let target = Target::new("memory", ConnUrl::parse("sqlite://:memory:").unwrap());
    let e = GuardedSession::open(&SQLITE, target, &call()).await.map(|_| ()).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Config);
    assert!(e.hint_text().unwrap().contains("from_connection"), "{e:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_for_a_database_that_is_not_attached_is_an_error() {
    static SQLITE: dbagent_core::Dialect = DIALECT;
    let over = |rule: &str| {
        let policy = Policy::default().deny(rule).unwrap();
        let target = Target { policy, ..Target::new("memory", ConnUrl::parse("sqlite://:memory:").unwrap()) };
        let session = from_connection(memory(), &target).unwrap();
        GuardedSession::over(&SQLITE, target, session).map(|_| ())
    };
    for rule in ["main.t", "TEMP.scratch", "Other.t2", "oth*.t2", "*.t.x", "t"] {
        over(rule).unwrap();
    }
    let e = over("t.x").unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Config);
    assert!(e.to_string().contains("main, temp, other"), "{e}");
    let hint = e.hint_text().unwrap();
    assert!(hint.contains("`*.t.x`") && hint.contains("`main.t`"), "{hint}");
}
