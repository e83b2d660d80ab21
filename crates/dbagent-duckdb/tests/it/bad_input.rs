//! What a database may hold that nobody would like to meet.

use dbagent_core::ErrorKind;
use dbagent_core::catalog::Page;

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
