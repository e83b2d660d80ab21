//! What only MariaDB has.

use dbagent_core::catalog::ObjectKind;
use dbagent_core::session::Verdict;
use dbagent_core::{ObjectName, Policy, Request, Target};
use dbagent_testkit::conformance::Value;

use crate::it::support::{call, open, rows, scratch_with, session, target};

#[tokio::test(flavor = "multi_thread")]
async fn sequences_and_versions_are_described() {
    let Some(scratch) = scratch_with(&[
        "CREATE SEQUENCE counter START WITH 5",
        "CREATE TABLE price (id INT PRIMARY KEY, amount INT) WITH SYSTEM VERSIONING",
        "INSERT INTO price VALUES (1, 10)",
        "UPDATE price SET amount = 20",
    ])
    .await
    else {
        return;
    };
    let session = session(&scratch).await;
    let names = [ObjectName::new("counter"), ObjectName::new("price")];
    let described = session.describe(&names, &call()).await.unwrap();
    let [counter, price] = described.found.as_slice() else { panic!("{described:?}") };
    assert_eq!(counter.summary.kind, ObjectKind::Table);
    assert!(counter.notes.iter().any(|n| n.contains("sequence")), "{counter:?}");
    assert!(price.notes.iter().any(|n| n.contains("FOR SYSTEM_TIME")), "{price:?}");
    assert_eq!(rows(&session, "SELECT amount FROM price").await, [[Value::from(20)]]);
    assert_eq!(rows(&session, "SELECT amount FROM price FOR SYSTEM_TIME ALL ORDER BY amount").await.len(), 2);
    assert_eq!(rows(&session, "SELECT next_not_cached_value FROM counter").await, [[Value::from(5)]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn types_of_its_own_are_texts() {
    let uuid = "123e4567-e89b-12d3-a456-426655440000";
    let insert = format!("INSERT INTO t VALUES ('{uuid}', '2001:db8::ff00:42:8329')");
    let Some(scratch) = scratch_with(&["CREATE TABLE t (u UUID, a INET6)", &insert]).await else { return };
    let session = session(&scratch).await;
    assert_eq!(
        rows(&session, "SELECT u, a FROM t").await,
        [[Value::text(uuid), Value::text("2001:db8::ff00:42:8329")]]
    );
}

/// The server sends a vector as the bytes of its floats; its function writes them as a text.
#[tokio::test(flavor = "multi_thread")]
async fn a_vector_is_its_floats() {
    let Some(scratch) = scratch_with(&[
        "CREATE TABLE t (id INT PRIMARY KEY, v VECTOR(2))",
        "INSERT INTO t VALUES (1, VEC_FromText('[1,0.1]')), (2, NULL)",
    ])
    .await
    else {
        return;
    };
    let session = session(&scratch).await;
    let floats = [1_f32.to_le_bytes(), 0.1_f32.to_le_bytes()].concat();
    let found = rows(&session, "SELECT v, VEC_ToText(v) AS t FROM t ORDER BY id").await;
    assert_eq!(found, [[Value::Bytes(floats), Value::text("[1,0.1]")], [Value::Null, Value::Null]]);
    let near = "SELECT id FROM t WHERE v IS NOT NULL ORDER BY VEC_DISTANCE_EUCLIDEAN(v, VEC_FromText('[1,0]')) LIMIT 1";
    assert_eq!(rows(&session, near).await, [[Value::from(1)]]);
    let described = session.describe(&[ObjectName::new("t")], &call()).await.unwrap();
    assert_eq!(described.found[0].columns[1].data_type, "vector(2)");
}

/// Where names of tables are not told apart by case, neither are they by rules.
#[tokio::test(flavor = "multi_thread")]
async fn names_without_case() {
    let Some(server) = crate::it::modes::server_with(&["--lower-case-table-names=1"]).await else { return };
    let scratch = crate::own::scratch(server.url(), crate::own::Scratch::fresh_name()).await.unwrap();
    let mut owner = scratch.owner().await.unwrap();
    owner.run("CREATE TABLE Users (Id INT)").await.unwrap();
    let session = open(target(scratch.url())).await.unwrap();
    let described = session.describe(&[ObjectName::new("USERS")], &call()).await.unwrap();
    assert_eq!(described.found[0].summary.name, ObjectName::new("users"));
    assert_eq!(rows(&session, "SELECT ID FROM uSERS").await.len(), 0);
    let policy = Policy::default().deny("*.Users").unwrap();
    let session = open(Target { policy, ..target(scratch.url()) }).await.unwrap();
    let verdict = session.judge(Request::text("SELECT 1 FROM uSERS"), None, &call()).await.unwrap();
    assert!(matches!(verdict, Verdict::Refused(_)), "{verdict:?}");
}
