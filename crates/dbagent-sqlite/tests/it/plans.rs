//! What is worth a word in a plan: tables of more than 100,000 rows that are read from end to end.

use dbagent_core::estimate::Plan;
use dbagent_core::session::Verdict;
use dbagent_core::{GuardedSession, Param, Params, Request};

use crate::support::{Scratch, call};

const TABLES: &str = "
    CREATE TABLE big (id INTEGER PRIMARY KEY, kind INT, name TEXT);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100001)
      INSERT INTO big SELECT i, i % 10, 'name ' || i FROM n;
    CREATE INDEX by_kind ON big (kind);
    CREATE TABLE under AS SELECT * FROM big WHERE id <= 100000;
    CREATE TABLE keyed (id INT PRIMARY KEY, name TEXT) WITHOUT ROWID;
    INSERT INTO keyed SELECT id, name FROM big;
    CREATE TABLE small (x TEXT);
    INSERT INTO small VALUES ('a'), ('b');
    CREATE VIEW seen AS SELECT name AS n FROM big;";

async fn explain(session: &GuardedSession, request: Request) -> Plan {
    match session.judge(request, Some(100), &call()).await.unwrap() {
        Verdict::Cleared(cleared) => session.explain(&cleared, &call()).await.unwrap().unwrap(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_large_table_that_is_read_whole_is_named() {
    let scratch = Scratch::with(TABLES);
    let session = scratch.session().await;
    let whole = |name: &str| {
        format!(
            "{name} is read whole, about 100,001 rows, and no condition is known to leave most of them out"
        )
    };
    for (statement, expected) in [
        ("SELECT name FROM big AS b WHERE name = 'x'", vec![whole("big")]),
        ("SELECT max(n) FROM seen", vec![whole("big")]),
        ("SELECT * FROM big ORDER BY id DESC", vec![whole("big")]),
        ("SELECT name FROM big ORDER BY name LIMIT 5", vec![whole("big")]),
        ("SELECT * FROM keyed WHERE name > 'x'", vec![whole("keyed")]),
        ("SELECT * FROM small WHERE x IN (SELECT name FROM big)", vec![whole("big")]),
        ("SELECT * FROM small, big WHERE name = x", vec![whole("big")]),
        ("SELECT count(*) FROM big a, big b WHERE a.name < b.name", vec![whole("big")]),
        (
            "SELECT (SELECT max(name) FROM big), (SELECT max(name) FROM keyed)",
            vec![whole("big"), whole("keyed")],
        ),
        // One row less.
        ("SELECT max(name) FROM under", vec![]),
        // An index, the key, an end of it.
        ("SELECT name FROM big WHERE kind = 3", vec![]),
        ("SELECT kind FROM big", vec![]),
        ("SELECT name FROM big WHERE id > 5", vec![]),
        ("SELECT max(id) FROM big", vec![]),
        ("SELECT min(id) FROM big", vec![]),
        ("SELECT count(*) FROM keyed WHERE id = 3", vec![]),
        // Something stops before the end.
        ("SELECT name FROM big LIMIT 5", vec![]),
        ("SELECT id FROM big GROUP BY id LIMIT 2", vec![]),
        ("SELECT EXISTS (SELECT 1 FROM big WHERE name > 'x')", vec![]),
        ("SELECT * FROM (SELECT name FROM big LIMIT 3), small", vec![]),
    ] {
        let plan = explain(&session, Request::text(statement)).await;
        let said: Vec<String> = plan.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(said, expected, "{statement}: {}", plan.text);
        assert!(plan.hints.is_empty() && !plan.text.contains("read whole"), "{plan:?}");
    }
    let bound = Request::text("SELECT * FROM big WHERE name = ?")
        .with_params(Params::Positional(vec![Param::I64(7)]));
    assert_eq!(explain(&session, bound).await.warnings.len(), 1);
}
