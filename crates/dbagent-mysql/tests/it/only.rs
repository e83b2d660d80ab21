//! What only MySQL has.

use dbagent_core::ErrorKind;
use dbagent_testkit::conformance::Value;

use crate::it::support::{fails, open, refused, rows, scratch, scratch_with, session, target};

/// The driver does not know the type: the error names the columns and what to write, and the session goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_vector_is_read_through_its_function() {
    let Some(scratch) = scratch_with(&[
        "CREATE TABLE t (id INT, near VECTOR(2), `Far` VECTOR(3))",
        "INSERT INTO t VALUES (1, STRING_TO_VECTOR('[1,0.1]'), NULL)",
    ])
    .await
    else {
        return;
    };
    let session = session(&scratch).await;
    for (sql, named, not_named) in [
        ("SELECT near FROM t", "VECTOR_TO_STRING(near) of t", Some("Far")),
        ("SELECT far AS f FROM t", "VECTOR_TO_STRING(Far) of t", Some("near")),
        ("SELECT * FROM t", "VECTOR_TO_STRING(near) of t, VECTOR_TO_STRING(Far) of t", None),
        ("SELECT STRING_TO_VECTOR('[1]') AS v", "VECTOR_TO_STRING(column)", None),
    ] {
        let e = fails(&session, sql).await;
        assert_eq!(e.kind(), ErrorKind::Unsupported, "{sql}: {e}");
        let hint = e.hint_text().unwrap_or_default();
        assert!(hint.contains(named) && not_named.is_none_or(|n| !hint.contains(n)), "{sql}: {hint}");
    }
    // Every digit that a float has.
    let found = rows(&session, "SELECT VECTOR_TO_STRING(near) AS v, VECTOR_DIM(near) AS d FROM t").await;
    assert_eq!(found, [[Value::text("[1.00000e+00,1.00000e-01]"), Value::from(2)]]);
    let found = rows(&session, "SELECT HEX(near) AS v FROM t").await;
    assert_eq!(found, [[Value::text("0000803FCDCCCC3D")]]);
    assert_eq!(rows(&session, "SELECT id FROM t WHERE near IS NOT NULL").await, [[Value::from(1)]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_of_its_own_grammar_have_plans() {
    let Some(scratch) = scratch_with(&["CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1), (2)"]).await
    else {
        return;
    };
    let session = session(&scratch).await;
    assert_eq!(rows(&session, "TABLE t ORDER BY a").await, [[Value::from(1)], [Value::from(2)]]);
    assert_eq!(rows(&session, "VALUES ROW(1, 'a'), ROW(2, 'b')").await.len(), 2);
    assert!(!rows(&session, "SHOW TABLES").await.is_empty());
    assert!(!rows(&session, "DESCRIBE t").await.is_empty());
    assert!(!rows(&session, "EXPLAIN SELECT * FROM t").await.is_empty());
}

/// Statements stay prepared, since to close one costs a wait; a connection that comes back with many forgets them.
#[tokio::test(flavor = "multi_thread")]
async fn prepared_statements_do_not_gather() {
    let Some(scratch) = scratch().await else { return };
    let session = session(&scratch).await;
    for n in 0..100 {
        assert_eq!(rows(&session, format!("SELECT {n} AS n")).await, [[Value::from(n)]]);
    }
    let mut owner = scratch.owner().await.unwrap();
    let gathered = format!(
        "SELECT COUNT(*) FROM performance_schema.prepared_statements_instances p \
         JOIN performance_schema.threads t ON t.THREAD_ID = p.OWNER_THREAD_ID \
         WHERE t.PROCESSLIST_DB = '{}'",
        scratch.name()
    );
    let count: u32 = owner.rows(&gathered).await.unwrap()[0][0].clone().unwrap().parse().unwrap();
    assert!(0 < count && count < 70, "{count}");
}

/// The password of such an account goes over an encrypted connection only.
#[tokio::test(flavor = "multi_thread")]
async fn a_password_is_not_sent_in_the_clear() {
    let Some(scratch) = scratch().await else { return };
    let name = scratch.reader("IDENTIFIED WITH caching_sha2_password BY 'secret'").await.unwrap();
    let url = scratch.url_of(&name, "secret");
    let bare = url.split('?').next().unwrap();
    // The server has not seen this account yet, so it wants the whole password.
    let e = refused(target(&format!("{bare}?ssl-mode=DISABLED"))).await;
    assert_eq!(e.kind(), ErrorKind::Tls, "{e}");
    let session = open(target(&format!("{bare}?ssl-mode=REQUIRED"))).await;
    assert!(session.is_ok(), "it does not open encrypted");
}
