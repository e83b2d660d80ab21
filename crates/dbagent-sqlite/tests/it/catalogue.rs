//! What is in a database, as the engine and the definitions say.

use dbagent_core::catalog::{Column, ObjectDetail, ObjectKind, Page, RowCount};
use dbagent_core::{GuardedSession, ObjectName};

use crate::reads::SHOP;
use crate::support::{Scratch, call, run};

async fn describe(session: &GuardedSession, name: &str) -> ObjectDetail {
    let described = session.describe(&[ObjectName::new(name)], &call()).await.unwrap();
    described.found.into_iter().next().unwrap_or_else(|| panic!("{name} is missing"))
}

fn column<'a>(object: &'a ObjectDetail, name: &str) -> &'a Column {
    object.columns.iter().find(|c| c.name == name).unwrap_or_else(|| panic!("no column {name}: {object:?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_are_listed_without_storage_and_internals() {
    let scratch = Scratch::with(SHOP);
    let session = scratch.session().await;
    let page = session.objects(None, Page::default(), &call()).await.unwrap();
    let listed: Vec<(String, ObjectKind)> =
        page.objects.iter().map(|o| (o.name.to_string(), o.kind)).collect();
    let kinds = |kind| listed.iter().filter(|(_, k)| *k == kind).map(|(n, _)| n.as_str()).collect::<Vec<_>>();
    assert_eq!(
        kinds(ObjectKind::Table),
        [
            "customers",
            "measurements",
            "order details",
            "order_lines",
            "orders",
            "products",
            "returns",
            "tree"
        ]
    );
    assert_eq!(
        kinds(ObjectKind::View),
        ["best", "found", "inside", "numbers", "quoted", "ranked", "revenue", "roots", "sizes"]
    );
    assert_eq!(kinds(ObjectKind::VirtualTable), ["areas", "docs", "notes", "words"]);
    assert_eq!(page.total, listed.len());
    assert!(page.objects.iter().all(|o| o.name.namespace.is_none()));
    assert_eq!(page.objects[0].name, ObjectName::new("areas"));
    let customers = page.objects.iter().find(|o| o.name.name == "customers").unwrap();
    assert_eq!(customers.comment.as_deref(), Some("people who buy"));

    let page = session.objects(Some("ORDER"), Page { offset: 1, size: 1 }, &call()).await.unwrap();
    assert_eq!((page.total, page.objects[0].name.name.as_str()), (3, "order_lines"));
    let page = session.objects(Some("o*s"), Page::default(), &call()).await.unwrap();
    assert_eq!(page.total, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_counted_or_estimated_and_say_which() {
    let scratch = Scratch::with(SHOP);
    let session = scratch.session().await;
    let rows = |name: &'static str| {
        let session = session.clone();
        async move { describe(&session, name).await.summary.rows }
    };
    // ANALYZE left statistics of tables with indexes; the others are counted.
    assert_eq!(rows("customers").await, RowCount::About(4));
    assert_eq!(rows("docs").await, RowCount::Exactly(2));
    assert_eq!(rows("revenue").await, RowCount::Unknown);
    let plain = Scratch::new();
    let session = plain.session().await;
    assert_eq!(describe(&session, "users").await.summary.rows, RowCount::Exactly(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_keys_checks_and_comments_are_described() {
    let scratch = Scratch::with(SHOP);
    let session = scratch.session().await;

    let customers = describe(&session, "Customers").await;
    assert_eq!(customers.summary.name, ObjectName::new("customers"));
    assert_eq!(customers.primary_key, ["id"]);
    assert_eq!(column(&customers, "id").comment.as_deref(), Some("the customer's number"));
    assert_eq!(column(&customers, "id").nullable, Some(false));
    assert_eq!(column(&customers, "name").nullable, Some(false));
    assert_eq!(column(&customers, "email").comment.as_deref(), Some("lower case, unique"));
    assert_eq!(column(&customers, "email").nullable, Some(true));
    assert_eq!(column(&customers, "country").allowed_values, ["DE", "FR", "IT"]);
    assert_eq!(column(&customers, "country").default.as_deref(), Some("'DE'"));
    let indexes: Vec<_> =
        customers.indexes.iter().map(|i| (i.columns.join(","), i.unique, i.condition.as_deref())).collect();
    assert_eq!(
        indexes,
        [("email".to_owned(), true, None), ("lower(name)".to_owned(), false, Some("country = 'DE'"))]
    );

    let products = describe(&session, "products").await;
    assert_eq!(products.notes, ["WITHOUT ROWID"]);
    assert_eq!(products.primary_key, ["sku"]);
    assert_eq!(column(&products, "sku").nullable, Some(false));
    assert_eq!(column(&products, "price_with_tax").generated.as_deref(), Some("round(price * 1.19, 2)"));
    assert_eq!(column(&products, "label").generated.as_deref(), Some("sku || ': ' || title"));
    assert_eq!(column(&products, "price").generated, None);

    let orders = describe(&session, "orders").await;
    assert_eq!(orders.notes, ["STRICT", "AUTOINCREMENT"]);
    assert_eq!(column(&orders, "status").allowed_values, ["new", "paid", "sent"]);
    // It names no column: the primary key is meant.
    assert_eq!(orders.foreign_keys[0].target, ObjectName::new("customers"));
    assert_eq!(orders.foreign_keys[0].target_columns, ["id"]);
    assert_eq!(orders.indexes[0].columns, ["customer_id", "placed"]);
    assert!(orders.indexes[0].unique);

    let lines = describe(&session, "order_lines").await;
    assert_eq!(lines.primary_key, ["order_id", "line"]);
    let targets: Vec<_> = lines.foreign_keys.iter().map(|k| k.target.name.as_str()).collect();
    assert_eq!(targets, ["orders", "products"], "in the order of the definition");
    let returns = describe(&session, "returns").await;
    assert_eq!(returns.foreign_keys[0].columns, ["order_id", "line"]);
    assert_eq!(returns.foreign_keys[0].target_columns, ["order_id", "line"]);

    let odd = describe(&session, "order details").await;
    let names: Vec<_> = odd.columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["line no", "quo\"te", "größe", "日本", "select"]);
    let measurements = describe(&session, "measurements").await;
    assert_eq!(column(&measurements, "value").data_type, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn views_and_virtual_tables_are_described() {
    let scratch = Scratch::with(SHOP);
    scratch.change("CREATE TABLE gone (x); CREATE VIEW broken AS SELECT x FROM gone; DROP TABLE gone");
    let session = scratch.session().await;
    let best = describe(&session, "best").await;
    assert_eq!(best.summary.kind, ObjectKind::View);
    assert_eq!(best.columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["name", "money"]);
    assert!(best.definition.unwrap().starts_with("CREATE VIEW best"));
    let docs = describe(&session, "docs").await;
    assert_eq!(docs.notes, ["full-text index (fts5), searched by MATCH"]);
    assert!(!column(&docs, "title").hidden && column(&docs, "docs").hidden && column(&docs, "rank").hidden);
    let broken = describe(&session, "broken").await;
    assert!(broken.columns.is_empty() && broken.notes[0].contains("no such table"), "{:?}", broken.notes);
    let asked =
        [ObjectName::new("nothing"), ObjectName::within("main", "docs"), ObjectName::within("no", "docs")];
    let described = session.describe(&asked, &call()).await.unwrap();
    assert_eq!(described.missing, [asked[0].clone(), asked[2].clone()]);
    assert_eq!(described.found.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn count_and_sample_quote_what_they_name() {
    let scratch = Scratch::with(SHOP);
    let session = scratch.session().await;
    let dialect = session.dialect();
    for name in ["order details", "customers"] {
        for name in [ObjectName::new(name), ObjectName::within("main", name)] {
            let count = dialect.count_request(&name).unwrap();
            assert_eq!(run(&session, count.as_str()).await.rows().len(), 1);
            let sample = dialect.sample_request(&name).unwrap();
            assert!(!run(&session, sample.as_str()).await.rows().is_empty());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn plans_are_indented_trees() {
    use dbagent_core::Request;
    use dbagent_core::session::Verdict;
    let scratch = Scratch::with(SHOP);
    let session = scratch.session().await;
    let sql = ";-- a comment\nSELECT c.name FROM customers c WHERE id IN (SELECT customer_id FROM orders WHERE placed > ?)";
    let request = Request::text(sql).with_params(dbagent_core::Params::Positional(vec!["2024".into_param()]));
    let Ok(Verdict::Cleared(cleared)) = session.judge(request, None, &call()).await else {
        panic!("not cleared")
    };
    let plan = session.explain(&cleared, &call()).await.unwrap().unwrap();
    let lines: Vec<&str> = plan.text.lines().collect();
    assert!(lines[0].starts_with("SCAN c"), "{}", plan.text);
    assert!(lines.iter().any(|l| l.starts_with("  ")), "{}", plan.text);
    assert!(plan.estimate.is_unknown());
    let Ok(Verdict::Cleared(cleared)) = session.judge(Request::text("EXPLAIN SELECT 1"), None, &call()).await
    else {
        panic!("not cleared")
    };
    let e = session.explain(&cleared, &call()).await.unwrap_err();
    assert_eq!(e.kind(), dbagent_core::ErrorKind::Unsupported);
}

trait IntoParam {
    fn into_param(self) -> dbagent_core::Param;
}

impl IntoParam for &str {
    fn into_param(self) -> dbagent_core::Param {
        dbagent_core::Param::Text(self.to_owned())
    }
}
