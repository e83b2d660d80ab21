//! What a policy hides is told by no catalogue and no definition.

use dbagent_core::catalog::Page;
use dbagent_core::guard::Rule;
use dbagent_core::session::Verdict;
use dbagent_core::{GuardedSession, ObjectName, Policy, Request};

use super::support::{call, rows, scratch_with, session, session_under};

const SHOP: &[&str] = &[
    "CREATE TABLE vault (id INT PRIMARY KEY, word VARCHAR(20))",
    "CREATE TABLE orders (id INT PRIMARY KEY, note VARCHAR(20), vault_id INT, KEY by_note (note), \
     FOREIGN KEY (vault_id) REFERENCES vault (id))",
    "CREATE VIEW open_orders AS SELECT id FROM orders",
    "CREATE VIEW words AS SELECT word FROM vault",
    "CREATE TRIGGER audit AFTER INSERT ON orders FOR EACH ROW SET @seen = (SELECT COUNT(*) FROM vault)",
];

/// Each tells of the hidden table where nothing is hidden.
const TELLING: &[&str] = &[
    "SELECT TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE()",
    "SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = DATABASE()",
    "SELECT TABLE_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()",
    "SELECT REFERENCED_TABLE_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = DATABASE()",
    "SELECT ACTION_STATEMENT FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()",
    "SHOW CREATE VIEW words",
    "SHOW CREATE TABLE orders",
    "SHOW CREATE TRIGGER audit",
    "SHOW TABLES",
    "SHOW FULL TABLES WHERE Table_type <> 'VIEW'",
    "SHOW TABLE STATUS",
    "SHOW TRIGGERS LIKE 'orders'",
];

/// These tell of one object or of the server, and go on.
const HONEST: &[&str] = &[
    "SHOW COLUMNS FROM orders",
    "SHOW INDEX FROM orders",
    "DESCRIBE orders",
    "EXPLAIN SELECT id FROM open_orders",
    "SHOW VARIABLES LIKE 'version'",
    "SELECT COUNT(*) FROM information_schema.COLLATIONS",
    "SELECT id FROM open_orders",
];

async fn refused(session: &GuardedSession, sql: &str) -> Rule {
    match session.judge(Request::text(sql), None, &call()).await {
        Ok(Verdict::Refused(refusal)) => refusal.rule,
        other => panic!("{sql}: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_catalogue_tells_of_a_hidden_table() {
    let Some(scratch) = scratch_with(SHOP).await else { return };
    let session = session(&scratch).await;
    for sql in TELLING {
        let found = format!("{:?}", rows(&session, *sql).await);
        assert!(found.contains("vault"), "{sql} tells nothing: {found}");
    }
    let hiding = Policy::default().deny("*.vault").unwrap();
    let session = session_under(&scratch, hiding.clone()).await;
    for sql in TELLING {
        assert_eq!(refused(&session, sql).await, Rule::SecretCatalogue, "{sql}");
    }
    for sql in ["SHOW COLUMNS FROM vault", "SHOW INDEX FROM vault", "DESC vault", "SELECT word FROM words"] {
        assert_eq!(refused(&session, sql).await, Rule::DeniedObject, "{sql}");
    }
    for sql in HONEST {
        let found = format!("{:?}", rows(&session, *sql).await);
        // The name of the column is not hidden.
        assert!(!found.replace("vault_id", "").contains("vault"), "{sql}: {found}");
    }
    let listed = session.objects(None, Page::default(), &call()).await.unwrap();
    let names: Vec<String> = listed.objects.iter().map(|o| o.name.to_string()).collect();
    assert!(!names.contains(&"vault".to_owned()) && names.contains(&"orders".to_owned()), "{names:?}");
    let names = ["orders", "open_orders", "words", "vault"].map(ObjectName::new);
    let described = session.describe(&names, &call()).await.unwrap();
    assert_eq!(described.found.len(), 3);
    let found = format!("{:?}", described.found).replace("vault_id", "");
    assert!(!found.contains("vault"), "{found}");

    // A rule with its name opens one of them.
    let open = hiding.allow("*").unwrap().allow("information_schema.views").unwrap();
    let session = session_under(&scratch, open).await;
    assert!(!rows(&session, TELLING[0]).await.is_empty());
    assert_eq!(refused(&session, TELLING[1]).await, Rule::SecretCatalogue);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_form_of_show_tells_of_a_hidden_column() {
    let Some(scratch) = scratch_with(SHOP).await else { return };
    let session = session_under(&scratch, Policy::default().deny("*.orders.note").unwrap()).await;
    for sql in [
        "SHOW COLUMNS FROM orders",
        "SHOW FULL FIELDS FROM orders LIKE 'n%'",
        "SHOW INDEX FROM orders",
        "DESCRIBE orders",
        "DESCRIBE orders note",
        "DESC orders 'n%'",
    ] {
        assert_eq!(refused(&session, sql).await, Rule::DeniedColumn, "{sql}");
    }
    assert_eq!(rows(&session, "DESCRIBE orders id").await.len(), 1);
    assert_eq!(rows(&session, "DESCRIBE vault").await.len(), 2);
}
