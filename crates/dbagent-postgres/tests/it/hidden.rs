//! What a policy hides is told by no catalogue and no definition.

use dbagent_core::catalog::Page;
use dbagent_core::{ObjectName, Policy, Rule, Target};

use crate::support::{Scratch, call, open, run};

const SHOP: &str = "CREATE TABLE vault (id int PRIMARY KEY, word text); \
     CREATE TABLE orders (id int PRIMARY KEY, vault_id int REFERENCES vault, CHECK (id > 0)); \
     CREATE TABLE kept () INHERITS (vault); \
     CREATE VIEW words AS SELECT word FROM vault; CREATE VIEW open_orders AS SELECT id FROM orders; \
     CREATE VIEW told AS SELECT viewname, definition FROM pg_catalog.pg_views WHERE schemaname = 'public'; \
     CREATE FUNCTION counted() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT count(*) FROM vault'";

/// Each tells of the hidden table where nothing is hidden.
const TELLING: &[&str] = &[
    "SELECT definition FROM pg_views WHERE schemaname = 'public'",
    "SELECT * FROM told",
    "SELECT pg_get_viewdef('words'::regclass)",
    "SELECT pg_catalog.pg_get_viewdef('words'::regclass, true)",
    "SELECT view_definition FROM information_schema.views WHERE table_schema = 'public'",
    "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'",
    "SELECT relname FROM pg_class WHERE relkind = 'r'",
    "SELECT relname FROM pg_catalog.pg_stat_user_tables",
    "SELECT prosrc FROM pg_proc WHERE proname = 'counted'",
    "SELECT pg_get_functiondef('counted'::regproc)",
    "SELECT c.t FROM (SELECT typname AS t FROM pg_type) c WHERE c.t = 'vault'",
];

const HONEST: &[&str] = &[
    "SELECT id FROM open_orders",
    "SELECT name FROM pg_settings WHERE name = 'TimeZone'",
    "SELECT count(*) FROM pg_catalog.pg_timezone_names",
    "SELECT id::text || 'x', upper('a') FROM orders",
    "SHOW server_version",
];

#[tokio::test(flavor = "multi_thread")]
async fn no_catalogue_tells_of_a_hidden_table() {
    let Some(db) = Scratch::with(SHOP).await else { return };
    let session = db.session().await;
    for text in TELLING {
        let found = format!("{:?}", run(&session, text).await.rows());
        assert!(found.contains("vault"), "{text} tells nothing: {found}");
    }
    let hiding = Policy::default().deny("*.vault").unwrap();
    let session = open(Target { policy: hiding.clone(), ..db.target() }).await.unwrap();
    for text in TELLING {
        let refusal = run(&session, text).await.refusal();
        assert_eq!(refusal.rule, Rule::SecretCatalogue, "{text}: {refusal:?}");
    }
    assert_eq!(run(&session, "SELECT word FROM words").await.refusal().rule, Rule::DeniedObject);
    for text in HONEST {
        let found = format!("{:?}", run(&session, text).await.rows());
        assert!(!found.contains("vault"), "{text}: {found}");
    }
    let listed = session.objects(None, Page::default(), &call()).await.unwrap();
    assert!(!format!("{listed:?}").contains("vault"), "{listed:?}");
    let names = ["orders", "kept", "open_orders", "words", "vault"].map(ObjectName::new);
    let described = session.describe(&names, &call()).await.unwrap();
    assert_eq!(described.found.len(), 4);
    let found = format!("{:?}", described.found).replace("vault_id", "");
    assert!(!found.contains("vault"), "{found}");

    // A rule with its name opens one of them.
    let policy = hiding.allow("*").unwrap().allow("pg_catalog.pg_views").unwrap();
    let session = open(Target { policy, ..db.target() }).await.unwrap();
    assert!(!run(&session, TELLING[0]).await.rows().is_empty());
    assert_eq!(run(&session, TELLING[2]).await.refusal().rule, Rule::SecretCatalogue);
}
