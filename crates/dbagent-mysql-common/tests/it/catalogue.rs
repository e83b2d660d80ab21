//! What the catalogue says of a database, as an owner made it.

use dbagent_core::catalog::{ObjectDetail, ObjectKind, Page, RowCount};
use dbagent_core::{GuardedSession, ObjectName};

use super::support::{call, cleared, estimate, numbers, open, scratch, scratch_with, session, target};

const SHOP: &[&str] = &[
    "CREATE TABLE customer (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(50) NOT NULL COMMENT 'as on the card', \
     state ENUM('new','it''s') NOT NULL DEFAULT 'new', born DATE, \
     loud VARCHAR(50) GENERATED ALWAYS AS (UPPER(name)) VIRTUAL, \
     changed TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, \
     secret INT DEFAULT 3 INVISIBLE, UNIQUE KEY by_name (name, born), KEY prefix (name(5)), \
     FULLTEXT KEY words (name), CHECK (born > '1900-01-01')) COMMENT 'who buys'",
    "CREATE TABLE purchase (customer_id INT, nr INT, at_day DATE NOT NULL, note TEXT, PRIMARY KEY (customer_id, nr), \
     CONSTRAINT buyer FOREIGN KEY (customer_id) REFERENCES customer (id))",
    "CREATE TABLE item (customer_id INT, nr INT, what VARCHAR(20), \
     CONSTRAINT of_purchase FOREIGN KEY (customer_id, nr) REFERENCES purchase (customer_id, nr))",
    "CREATE TABLE log_entry (id INT, y INT) PARTITION BY RANGE (y) (PARTITION old VALUES LESS THAN (2000), \
     PARTITION now VALUES LESS THAN MAXVALUE)",
    "CREATE VIEW names AS SELECT id, name FROM customer",
    "INSERT INTO customer (name, born) VALUES ('Ann', '2000-01-01'), ('Bob', NULL)",
    "ANALYZE TABLE customer",
];

async fn describe(session: &GuardedSession, name: &str) -> ObjectDetail {
    let described = session.describe(&[ObjectName::new(name)], &call()).await.unwrap();
    described.found.into_iter().next().unwrap_or_else(|| panic!("{name} is not described"))
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_are_described() {
    let Some(scratch) = scratch_with(SHOP).await else { return };
    let session = session(&scratch).await;
    let customer = describe(&session, "customer").await;
    assert_eq!(customer.summary.kind, ObjectKind::Table);
    assert_eq!(customer.summary.comment.as_deref(), Some("who buys"));
    assert_eq!(customer.summary.rows, RowCount::About(2), "an estimate is marked as one");
    assert_eq!(customer.primary_key, ["id"]);
    let column = |name: &str| customer.columns.iter().find(|c| c.name == name).unwrap();
    let names: Vec<&str> = customer.columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["id", "name", "state", "born", "loud", "changed", "secret"]);
    assert_eq!(column("id").default.as_deref(), Some("AUTO_INCREMENT"));
    assert_eq!((column("name").nullable, column("name").data_type.as_str()), (Some(false), "varchar(50)"));
    assert_eq!(column("name").comment.as_deref(), Some("as on the card"));
    assert_eq!(column("state").allowed_values, ["new", "it's"]);
    assert!(column("state").default.as_deref().is_some_and(|d| d.contains("new")));
    assert_eq!((column("born").nullable, column("born").default.as_deref()), (Some(true), None));
    assert!(column("loud").generated.as_deref().is_some_and(|g| g.contains("name")));
    let changed = column("changed").default.clone().unwrap().to_lowercase();
    assert!(changed.contains("current_timestamp") && changed.contains("on update"), "{changed}");
    assert!(column("secret").hidden && !column("name").hidden);

    let index = |name: &str| customer.indexes.iter().find(|i| i.name == name).unwrap();
    assert_eq!((index("by_name").unique, index("by_name").columns.join(",")), (true, "name,born".into()));
    assert_eq!((index("prefix").unique, index("prefix").columns.join(",")), (false, "name(5)".into()));
    let notes = customer.notes.join("\n");
    assert!(notes.contains("full-text index words") && notes.contains("CHECK"), "{notes}");

    let purchase = describe(&session, "purchase").await;
    assert_eq!(purchase.primary_key, ["customer_id", "nr"]);
    let item = describe(&session, "item").await;
    let key = &item.foreign_keys[0];
    assert_eq!((&key.target, key.columns.join(",")), (&ObjectName::new("purchase"), "customer_id,nr".into()));
    assert_eq!(key.target_columns, ["customer_id", "nr"]);

    let log = describe(&session, "log_entry").await;
    let notes = log.notes.join("\n");
    assert!(notes.contains("partitioned by RANGE") && notes.contains("into 2: old, now"), "{notes}");
    let view = describe(&session, "names").await;
    assert_eq!(view.summary.kind, ObjectKind::View);
    assert!(view.definition.as_deref().is_some_and(|d| d.contains("customer")), "{view:?}");
    assert!(view.notes.iter().any(|n| n.starts_with("runs with the rights of")), "{view:?}");
    assert_eq!(view.summary.rows, RowCount::Unknown);

    // A view over what is gone stays, and says so.
    let mut owner = scratch.owner().await.unwrap();
    owner.run("CREATE VIEW broken AS SELECT what FROM item").await.unwrap();
    owner.run("ALTER TABLE item DROP COLUMN what").await.unwrap();
    let broken = describe(&session, "broken").await;
    assert!(broken.notes.iter().any(|n| n.starts_with("cannot be read")), "{broken:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_leave_out_what_is_the_servers() {
    let Some(scratch) = scratch_with(SHOP).await else { return };
    let page = session(&scratch).await.objects(None, Page::default(), &call()).await.unwrap();
    let names: Vec<String> = page.objects.iter().map(|o| o.name.to_string()).collect();
    assert_eq!(names, ["customer", "item", "log_entry", "names", "purchase"]);

    // Without a database every one but the server's own is listed, with its name.
    let whole = scratch.url().replace(&format!("/{}", scratch.name()), "");
    let session = open(target(&whole)).await.unwrap();
    let page = session.objects(Some("customer"), Page { offset: 0, size: 10_000 }, &call()).await.unwrap();
    let full = ObjectName::within(scratch.name(), "customer");
    assert!(page.objects.iter().any(|o| o.name == full), "{:?}", page.objects);
    let system = ["mysql", "sys", "performance_schema", "information_schema"];
    let all = session.objects(None, Page { offset: 0, size: 10_000 }, &call()).await.unwrap();
    assert!(!all.objects.iter().any(|o| o.name.namespace.as_deref().is_some_and(|n| system.contains(&n))));
    assert_eq!(session.describe(&[full], &call()).await.unwrap().found.len(), 1);
    let bare = session.describe(&[ObjectName::new("customer")], &call()).await.unwrap();
    assert_eq!(bare.missing.len(), 1, "a name is in no database here");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_database_and_one_of_many_tables() {
    const TABLES: usize = 1_200;
    let Some(scratch) = scratch().await else { return };
    let session = session(&scratch).await;
    let page = session.objects(None, Page::default(), &call()).await.unwrap();
    assert_eq!((page.total, page.objects.len()), (0, 0));

    let mut owner = scratch.owner().await.unwrap();
    for n in 0..TABLES {
        owner.run(&format!("CREATE TABLE t{n:05} (id INT PRIMARY KEY) ENGINE = MEMORY")).await.unwrap();
    }
    let call = dbagent_core::CallContext::within(std::time::Duration::from_secs(120));
    let mut seen = Vec::new();
    while seen.len() < TABLES {
        let page = Page { offset: seen.len(), size: 500 };
        let listed = session.objects(None, page, &call).await.unwrap();
        assert_eq!(listed.total, TABLES);
        seen.extend(listed.objects.into_iter().map(|o| o.name));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn estimates_tell_what_comes_from_what_is_read() {
    let Some(scratch) = numbers().await else { return };
    scratch.owner().await.unwrap().run("ANALYZE TABLE numbers").await.unwrap();
    let session = session(&scratch).await;
    let about = |rows: Option<u64>, expected: u64| {
        rows.is_some_and(|n| n >= expected / 3 && n <= expected.saturating_mul(3))
    };
    let all = estimate(&session, "SELECT * FROM numbers").await;
    assert!(about(all.rows_out, 20_000) && about(all.rows_scanned, 20_000), "{all:?}");
    let one = estimate(&session, "SELECT * FROM numbers WHERE i = 7").await;
    assert_eq!(one.rows_out, Some(1), "{one:?}");
    let counted = estimate(&session, "SELECT sum(i) FROM numbers").await;
    assert!(counted.rows_out == Some(1) && about(counted.rows_scanned, 20_000), "{counted:?}");
    let limited = estimate(&session, "SELECT * FROM numbers ORDER BY t LIMIT 5").await;
    assert_eq!(limited.rows_out, Some(5), "{limited:?}");
    let join = estimate(&session, "SELECT a.i FROM numbers a JOIN numbers b ON b.i = a.i").await;
    assert!(about(join.rows_out, 20_000) && about(join.rows_scanned, 40_000), "{join:?}");

    // Too many rows are refused before they are read; an aggregate over them is not.
    let sql = "SELECT a.i FROM numbers a, numbers b, numbers c";
    let cleared = cleared(&session, sql).await;
    let refusal = session.estimate(&cleared, &call()).await.unwrap().unwrap_err();
    assert!(refusal.to_string().contains("explain_row_threshold"), "{refusal}");
    let plan = session.explain(&cleared, &call()).await.unwrap().unwrap();
    assert!(plan.text.contains('a') && plan.estimate.rows_out > Some(1_000_000), "{plan:?}");
}
