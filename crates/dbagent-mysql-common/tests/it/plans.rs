//! What is worth a word in the plans of the real servers. MyISAM counts its rows exactly, so that the thresholds
//! can be met to the row.

use std::time::Duration;

use dbagent_core::estimate::PlanWarning;
use dbagent_core::{CallContext, GuardedSession};

use super::proxy::{Counter, plain};
use super::support::{cleared_within, estimate, explain, open, rows, scratch_with, session, target};
use crate::own;

const TABLES: &[&str] = &[
    "CREATE TABLE numbers (i INT PRIMARY KEY) ENGINE=MyISAM",
    "INSERT INTO numbers WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) \
     SELECT (a.i - 1) * 500 + b.i FROM n a JOIN n b",
    "CREATE TABLE over_it (id INT PRIMARY KEY, kind INT, name VARCHAR(40)) ENGINE=MyISAM \
     AS SELECT i AS id, i % 10 AS kind, concat('name ', i) AS name FROM numbers WHERE i <= 100001",
    "CREATE TABLE under_it (id INT PRIMARY KEY, kind INT) ENGINE=MyISAM \
     AS SELECT i AS id, i % 10 AS kind FROM numbers WHERE i <= 100000",
    "ANALYZE TABLE over_it, under_it",
];

fn is_mysql() -> bool {
    own::DIALECT.id() == "mysql"
}

/// Lets the server find out what is in the columns.
fn know() -> &'static str {
    if is_mysql() {
        "ANALYZE TABLE over_it UPDATE HISTOGRAM ON name, kind WITH 1024 BUCKETS"
    } else {
        "ANALYZE TABLE over_it PERSISTENT FOR ALL"
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_is_read_whole_is_named() {
    let Some(scratch) = scratch_with(TABLES).await else { return };
    let session = session(&scratch).await;
    let plan = explain(&session, "SELECT sum(o.kind) FROM over_it o").await;
    let said: Vec<String> = plan.warnings.iter().map(ToString::to_string).collect();
    // MariaDB's plans do not say which database a table is in.
    let name = if is_mysql() { format!("{}.over_it", scratch.name()) } else { "over_it".to_owned() };
    assert_eq!(
        said,
        [format!(
            "{name} is read whole, about 100,001 rows, and no condition is known to leave most of them out"
        )]
    );
    assert!(!plan.text.contains("read whole") && plan.hints.is_empty(), "{plan:?}");
    for (statement, warnings) in [
        ("SELECT sum(kind) FROM under_it", 0),
        ("SELECT name FROM over_it ORDER BY name LIMIT 5", 1),
        ("SELECT name, count(*) FROM over_it GROUP BY name", 1),
        ("SELECT name FROM over_it UNION SELECT 'x'", 1),
        ("SELECT sum(id) FROM (SELECT DISTINCT name, id FROM over_it) x", 1),
        ("SELECT * FROM over_it LIMIT 5", 0),
        ("SELECT * FROM (SELECT * FROM over_it LIMIT 5) x", 0),
        ("SELECT * FROM over_it WHERE id = 7", 0),
        ("SELECT * FROM over_it WHERE id < 7", 0),
        // Where nothing is known of a column, MySQL guesses that one row of ten stays, and MariaDB that all do.
        ("SELECT * FROM over_it WHERE name = 'x'", usize::from(!is_mysql())),
    ] {
        let plan = explain(&session, statement).await;
        assert_eq!(plan.warnings.len(), warnings, "{statement}: {plan:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_costly_loop_is_said() {
    let Some(scratch) = scratch_with(TABLES).await else { return };
    let session = session(&scratch).await;
    let mut owner = scratch.owner().await.unwrap();
    // MySQL counts in reads of rows, MariaDB in milliseconds: the same threshold is further off there.
    let (join, below, above) = if is_mysql() {
        ("SELECT count(*) FROM part a JOIN over_it b ON b.id = a.id", 22_000, 22_400)
    } else {
        ("SELECT count(*) FROM part a JOIN over_it b ON a.id + b.id < 7", 1_000, 1_150)
    };
    for (size, loops) in [(below, 0), (above, 1)] {
        owner.run("DROP TABLE IF EXISTS part").await.unwrap();
        owner
            .run(&format!(
                "CREATE TABLE part (id INT) ENGINE=MyISAM AS SELECT i AS id FROM numbers WHERE i <= {size}"
            ))
            .await
            .unwrap();
        let plan = explain(&session, join).await;
        let found = plan.warnings.iter().filter(|w| matches!(w, PlanWarning::NestedLoop { .. })).count();
        assert_eq!(found, loops, "{size}: {plan:?}");
        let cost = estimate(&session, join).await.cost.unwrap();
        assert!(if loops == 0 { cost > 8_000.0 } else { cost < 20_000.0 }, "{cost}: not near the threshold");
    }
    // A hash reads its table once, whatever that costs.
    if is_mysql() {
        let plan = explain(&session, "SELECT count(*) FROM part a JOIN over_it b ON a.id + b.id < 7").await;
        assert!(plan.text.contains("hash join"), "{}", plan.text);
        assert!(!plan.warnings.iter().any(|w| matches!(w, PlanWarning::NestedLoop { .. })), "{plan:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_is_proposed_only_where_it_would_save_more_than_half() {
    let Some(scratch) = scratch_with(TABLES).await else { return };
    let session = session(&scratch).await;
    let hints = async |statement: &str| -> Vec<String> {
        explain(&session, statement).await.hints.iter().map(ToString::to_string).collect()
    };
    let by_name = "SELECT * FROM over_it WHERE name = 'name 7'";
    assert_eq!(hints(by_name).await, Vec::<String>::new(), "nothing is known of the column yet");
    let mut owner = scratch.owner().await.unwrap();
    owner.run(know()).await.unwrap();
    let few = hints(by_name).await;
    let name = if is_mysql() { format!("{}.over_it", scratch.name()) } else { "over_it".to_owned() };
    assert!(
        few.len() == 1
            && few[0].starts_with(&format!("an index on {name} (name) would lower the cost from about ")),
        "{few:?}"
    );
    for statement in [
        // One row of ten stays, and most of the cost with it.
        "SELECT * FROM over_it WHERE kind = 3",
        "SELECT * FROM over_it WHERE lower(name) = 'name 7'",
        // A text that is compared as a number.
        "SELECT * FROM over_it WHERE name = 7",
        "SELECT * FROM over_it WHERE id = 7",
        "SELECT * FROM over_it",
    ] {
        assert_eq!(hints(statement).await, Vec::<String>::new(), "{statement}");
    }
    owner.run("CREATE INDEX by_name ON over_it (name)").await.unwrap();
    owner.run(know()).await.unwrap();
    let plan = explain(&session, "SELECT * FROM over_it IGNORE INDEX (by_name) WHERE name = 'name 7'").await;
    assert!(plan.hints.is_empty(), "{plan:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_read_is_compared_with_what_the_planner_expected() {
    let Some(scratch) = scratch_with(TABLES).await else { return };
    let mut owner = scratch.owner().await.unwrap();
    // What the index knew of the column is no longer so.
    for statement in [
        "CREATE TABLE skew (id INT PRIMARY KEY, kind INT, KEY (kind)) ENGINE=MyISAM \
         AS SELECT i AS id, i AS kind FROM numbers WHERE i <= 10001",
        "CREATE TABLE few (kind INT) ENGINE=MyISAM AS SELECT 3 AS kind UNION SELECT 0",
        "ANALYZE TABLE skew, few",
        "UPDATE skew SET kind = 3",
    ] {
        owner.run(statement).await.unwrap();
    }
    let session = session(&scratch).await;
    let join = "SELECT s.id FROM few f STRAIGHT_JOIN skew s FORCE INDEX (kind) ON s.kind = f.kind";
    let expected = estimate(&session, join).await;
    let seen = rows(&session, join).await.len() as u64;
    assert_eq!(seen, 10_001);
    let off = expected.review(seen, true, Duration::ZERO);
    assert!(
        matches!(off, Some(PlanWarning::EstimateOff { expected, seen: 10_001, exact: true }) if expected < 1_000),
        "{expected:?} {off:?}"
    );
    assert_eq!(expected.review(10_000, true, Duration::ZERO), None);
    let whole = estimate(&session, "SELECT id FROM skew").await;
    assert_eq!(whole.review(seen, true, Duration::ZERO), None, "{whole:?}");
    // Fewer rows than a plan only bounds from above contradict nothing.
    let grouped = estimate(&session, "SELECT kind + 1, count(*) FROM skew GROUP BY kind + 1").await;
    assert!(grouped.at_most, "{grouped:?}");
    assert_eq!(grouped.review(1, true, Duration::from_secs(3)), None);
    let plain = estimate(&session, "SELECT id FROM skew").await;
    assert!(!plain.at_most && plain.review(1, true, Duration::from_secs(3)).is_some(), "{plain:?}");
}

/// Which columns have an index is told by one question, and by none where no index would help.
#[tokio::test(flavor = "multi_thread")]
async fn a_hint_takes_one_question() {
    let Some(scratch) = scratch_with(TABLES).await else { return };
    scratch.owner().await.unwrap().run(know()).await.unwrap();
    let counter = Counter::before(scratch.url()).await;
    let session = open(target(&plain(scratch.url(), counter.port))).await.unwrap();
    // A call with less time than the limits of a target allow: it is the same limit each time.
    let call = || CallContext::within(Duration::from_secs(20));
    let plan = ["START TRANSACTION", "prepare", "execute", "ROLLBACK", "execute"];
    let question = ["prepare", "execute", "ROLLBACK", "execute"];
    for (sql, hints, asked) in [
        ("SELECT * FROM over_it WHERE name = 'name 7'", 1, [&plan[..], &plan, &question].concat()),
        ("SELECT * FROM over_it WHERE kind = 3", 0, [&plan[..], &plan].concat()),
    ] {
        let cleared = cleared_within(&session, sql, &call()).await;
        idle(&session, &counter, &call()).await;
        let plan = session.explain(&cleared, &call()).await.unwrap().unwrap();
        assert_eq!(plan.hints.len(), hints, "{plan:?}");
        counter.asked(sql, &asked).await;
    }
}

/// Waits until what went before is at its end, and forgets it.
async fn idle(session: &GuardedSession, counter: &Counter, call: &CallContext) {
    session.ping(call).await.unwrap();
    let ended = |asked: &[String]| asked.ends_with(&["ping", "ROLLBACK", "execute"].map(str::to_owned));
    counter.forget_when(ended).await;
}
