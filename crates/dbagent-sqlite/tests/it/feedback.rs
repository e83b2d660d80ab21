//! What a model reads when its statement is wrong: the kind, SQLite's words, the place, what to do.

use dbagent_core::ErrorKind;

use crate::reads::SHOP;
use crate::support::{Scratch, run};

#[tokio::test(flavor = "multi_thread")]
async fn near_misses_are_told() {
    let scratch = Scratch::with(SHOP);
    let session = scratch.session().await;
    for (sql, kind, words, hint, place) in [
        (
            "SELECT * FROM custommers",
            ErrorKind::UnknownObject,
            "no such table: custommers",
            "did you mean customers?",
            Some("custommers"),
        ),
        (
            "SELECT * FROM lines_by_sku",
            ErrorKind::UnknownObject,
            "no such table: lines_by_sku",
            "there are",
            Some("lines_by_sku"),
        ),
        (
            "SELECT Title FROM tree",
            ErrorKind::UnknownColumn,
            "no such column: Title",
            "no such column tree.Title; it has id, parent, name",
            Some("Title"),
        ),
        (
            "SELECT t.title FROM tree t",
            ErrorKind::UnknownColumn,
            "no such column: t.title",
            "no such column tree.title; it has id, parent, name",
            Some("t.title"),
        ),
        (
            "SELECT custmer_id FROM orders o JOIN customers c ON c.id = o.customer_id",
            ErrorKind::UnknownColumn,
            "no such column: custmer_id",
            "did you mean orders.customer_id?",
            Some("custmer_id"),
        ),
        (
            "SELECT nope FROM (SELECT name FROM tree)",
            ErrorKind::UnknownColumn,
            "no such column: nope",
            "no table in sight has a column nope",
            Some("nope"),
        ),
        (
            "SELECT median(price) FROM products",
            ErrorKind::UnknownFunction,
            "no such function: median",
            "this SQLite has no function median",
            Some("median"),
        ),
        (
            "SELECT x.name FROM tree t",
            ErrorKind::UnknownColumn,
            "no such column: x.name",
            "nothing that the statement reads is called x",
            Some("x.name"),
        ),
    ] {
        let e = run(&session, sql).await.error();
        assert_eq!(e.kind(), kind, "{sql}: {e}");
        assert!(e.message().contains(words), "{sql}: {e}");
        assert!(e.hint_text().unwrap_or_default().contains(hint), "{sql}: {:?}", e.hint_text());
        let at = place.map(|p| sql.find(p).unwrap());
        assert_eq!(e.position(), at, "{sql}: {e:?}");
        assert!(e.native_code().unwrap().starts_with("SQLITE_ERROR"), "{e}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_mistakes_keep_the_words_of_the_engine() {
    let scratch = Scratch::with(SHOP);
    let session = scratch.session().await;
    for (sql, kind, words) in [
        ("SELECT name FROM tree a, tree b", ErrorKind::Syntax, "ambiguous column name: name"),
        ("SELECT abs(1, 2)", ErrorKind::Syntax, "wrong number of arguments to function abs()"),
        ("SELECT count(*) FROM tree WHERE count(*) > 1", ErrorKind::Syntax, "misuse of aggregate"),
        ("SELECT 1 UNION SELECT 1, 2", ErrorKind::Syntax, "do not have the same number of result columns"),
        ("SELECT * FROM tree ORDER BY 9", ErrorKind::Syntax, "ORDER BY term out of range"),
        ("SELECT json('{')", ErrorKind::Data, "malformed JSON"),
        ("SELECT sum(9223372036854775807) FROM (VALUES (1), (2))", ErrorKind::Data, "integer overflow"),
        ("SELECT length(zeroblob(id * 100000000)) FROM tree", ErrorKind::TooLarge, "string or blob too big"),
        ("SELECT * FROM docs WHERE docs MATCH '\"'", ErrorKind::Data, "unterminated string"),
        ("SELECT name FROM tree WHERE name MATCH 'x'", ErrorKind::Data, "unable to use function match"),
        ("SELECT bm25(name) FROM tree", ErrorKind::Data, "unable to use function bm25"),
    ] {
        let e = run(&session, sql).await.error();
        assert_eq!(e.kind(), kind, "{sql}: {e}");
        assert!(e.message().contains(words), "{sql}: {e}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_names_the_rule_the_place_and_the_way_out() {
    let scratch = Scratch::with(SHOP);
    let session = scratch.session().await;
    for (sql, code, place) in [
        ("SELECT 1; DROP TABLE tree", "G005", "DROP"),
        ("DELETE FROM tree", "G010", "tree"),
        ("SELECT name, load_extension('x') FROM tree", "G021", "load_extension"),
        ("SELECT name FROM tree WHERE my_function(name)", "G020", "my_function"),
        ("PRAGMA journal_mode = OFF", "G013", "journal_mode"),
        ("SELECT * FROM dbstat", "G033", "dbstat"),
        ("SELEC 1", "G006", "SELEC"),
        ("SELECT name FORM tree WHERE 1", "G006", "tree"),
    ] {
        let refusal = run(&session, sql).await.refusal();
        assert_eq!(refusal.rule.code(), code, "{sql}: {refusal}");
        assert_eq!(refusal.span.map(|s| s.start), sql.find(place), "{sql}: {refusal:?}");
        assert!(!refusal.advice.is_empty());
    }
    let refusal = run(&session, "SELECT name FORM tree WHERE 1").await.refusal();
    assert!(refusal.message.contains("near \"tree\": syntax error"), "{refusal}");
}
