//! Honest reads of many kinds: each is cleared, and each runs.

use dbagent_core::GuardedSession;

use crate::support::{Ran, Scratch, run};

/// A small shop with one of everything that SQLite tables can be.
pub(crate) const SHOP: &str = include_str!("shop.sql");

/// One statement a line; `\n` stands for the end of a line in a statement.
const READS: &str = include_str!("reads.sql");

pub(crate) fn reads() -> impl Iterator<Item = String> {
    READS.lines().filter(|l| !l.is_empty()).map(|l| l.replace("\\n", "\n"))
}

async fn shop() -> (Scratch, GuardedSession) {
    let scratch = Scratch::with(SHOP);
    let session = scratch.session().await;
    (scratch, session)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_is_cleared_and_runs() {
    let (_scratch, session) = shop().await;
    let mut wrong = Vec::new();
    let mut count = 0;
    for sql in reads() {
        count += 1;
        match run(&session, &sql).await {
            Ran::Rows(_) => {}
            other => wrong.push(format!("{sql}\n    {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {count}\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 150, "{count}");
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_those_of_the_engine() {
    let (scratch, session) = shop().await;
    let plain = scratch.writer();
    for (sql, expected) in [
        ("SELECT count(*) FROM customers", "4"),
        ("SELECT total FROM revenue WHERE customer = 'Ann'", "32.25"),
        ("SELECT name FROM best ORDER BY money DESC LIMIT 1", "Ann"),
        ("SELECT count(*) FROM docs WHERE docs MATCH 'hello'", "2"),
        ("SELECT label FROM products WHERE sku = 'A1'", "A1: Apple"),
        ("SELECT sum(i) FROM numbers", "55"),
    ] {
        assert_eq!(run(&session, sql).await.rows(), [[expected]], "{sql}");
        let own: String =
            plain.query_row(&format!("SELECT CAST(({sql}) AS TEXT)"), [], |r| r.get(0)).unwrap();
        assert_eq!(own, expected, "{sql}");
    }
}
