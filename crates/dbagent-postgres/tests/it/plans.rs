//! What the planner says before anything runs.

use dbagent_core::estimate::{Estimate, Plan, PlanWarning};
use dbagent_core::session::Verdict;
use dbagent_core::{Cleared, GuardedSession, Param, Params, Request, Rule, Target};

use dbagent_testkit::conformance::Value;

use crate::support::{self, Scratch, call, open};

const BIG: &str = "CREATE TABLE big AS SELECT i AS id, i % 10 AS kind, 'name ' || i AS name FROM generate_series(1, 300000) AS g(i);
                   CREATE TABLE small AS SELECT i AS id FROM generate_series(1, 1000) AS g(i);
                   CREATE INDEX ON big (id); ANALYZE";

async fn cleared(session: &GuardedSession, request: Request) -> Cleared {
    match session.judge(request, Some(100), &call()).await.unwrap() {
        Verdict::Cleared(cleared) => cleared,
        other => panic!("{other:?}"),
    }
}

async fn estimate(session: &GuardedSession, text: &str) -> Estimate {
    let cleared = cleared(session, Request::text(text)).await;
    session.estimate(&cleared, &call()).await.unwrap().unwrap()
}

async fn explain(session: &GuardedSession, text: &str) -> Plan {
    let cleared = cleared(session, Request::text(text)).await;
    session.explain(&cleared, &call()).await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_out_and_rows_read_are_told_apart() {
    let Some(db) = Scratch::with(BIG).await else { return };
    let session = db.session().await;
    let near = |value: Option<u64>, expected: u64| {
        value.is_some_and(|v| v >= expected * 9 / 10 && v <= expected * 11 / 10 + 1)
    };
    let all = estimate(&session, "SELECT * FROM big").await;
    assert!(near(all.rows_out, 300_000) && near(all.rows_scanned, 300_000), "{all:?}");
    assert!(all.bytes.unwrap() > 1_000_000 && all.cost.unwrap() > 1_000.0, "{all:?}");
    let sum = estimate(&session, "SELECT sum(id) FROM big").await;
    assert!(sum.rows_out == Some(1) && near(sum.rows_scanned, 300_000), "{sum:?}");
    let few = estimate(&session, "SELECT * FROM big WHERE name = 'name 7'").await;
    assert!(few.rows_out.unwrap() < 100 && near(few.rows_scanned, 300_000), "{few:?}");
    let one = estimate(&session, "SELECT * FROM big WHERE id = 7").await;
    assert!(one.rows_out == Some(1) && one.rows_scanned.unwrap() < 100, "{one:?}");
    let limited = estimate(&session, "SELECT * FROM big LIMIT 5").await;
    assert_eq!(limited.rows_out, Some(5));
    assert_eq!(estimate(&session, "EXPLAIN SELECT 1").await, Estimate::UNKNOWN);
    let bound =
        Request::text("SELECT * FROM big WHERE id = $1").with_params(Params::Positional(vec![Param::I64(7)]));
    let bound = cleared(&session, bound).await;
    assert_eq!(session.estimate(&bound, &call()).await.unwrap().unwrap().rows_out, Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn over_the_threshold_is_refused_with_the_number_and_an_aggregate_passes() {
    let Some(db) = Scratch::with(BIG).await else { return };
    let mut target: Target = db.target();
    target.guardrails.explain_row_threshold = 10_000;
    let session = open(target).await.unwrap();
    let all = cleared(&session, Request::text("SELECT * FROM big")).await;
    let refusal = session.estimate(&all, &call()).await.unwrap().unwrap_err();
    assert_eq!(refusal.rule, Rule::EstimateOverThreshold);
    assert!(refusal.to_string().contains("300,000"), "{refusal}");
    estimate(&session, "SELECT kind, count(*), avg(id) FROM big GROUP BY kind").await;
}

fn said(plan: &Plan) -> Vec<String> {
    plan.warnings.iter().map(ToString::to_string).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_is_read_whole_is_named() {
    let Some(db) = Scratch::with(BIG).await else { return };
    db.change(
        "CREATE TABLE under AS SELECT i AS id FROM generate_series(1, 100000) AS g(i);
         CREATE TABLE over AS SELECT i AS id FROM generate_series(1, 100100) AS g(i); ANALYZE",
    )
    .await;
    let session = db.session().await;
    let whole = explain(&session, "SELECT name FROM big WHERE id > 1000").await;
    assert_eq!(
        said(&whole),
        ["public.big is read whole, about 300,000 rows, and no condition is known to leave most of them out"]
    );
    // The text is the server's own, and what is worth a word is beside it.
    assert!(whole.text.starts_with("Seq Scan on big  (cost="), "{}", whole.text);
    assert!(!whole.text.contains("read whole") && whole.hints.is_empty(), "{whole:?}");
    for (statement, warnings) in [
        ("SELECT count(*) FROM over", 1),
        ("SELECT count(*) FROM under", 0),
        ("SELECT kind, count(*) FROM big GROUP BY kind", 1),
        ("SELECT name FROM big WHERE id > 200000", 0),
        ("SELECT name FROM big WHERE id = 7", 0),
        ("SELECT name FROM big LIMIT 5", 0),
        ("SELECT name FROM big ORDER BY name LIMIT 5", 1),
    ] {
        let plan = explain(&session, statement).await;
        assert_eq!(plan.warnings.len(), warnings, "{statement}: {plan:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_of_a_parallel_scan_are_one_table() {
    let Some(db) = Scratch::with(BIG).await else { return };
    let name = db.value("current_database()").await;
    db.change(&format!(
        "ALTER TABLE big SET (parallel_workers = 4); ALTER DATABASE {name} SET max_parallel_workers_per_gather = 4;
         ALTER DATABASE {name} SET parallel_setup_cost = 0"
    ))
    .await;
    let session = db.session().await;
    let plan = explain(&session, "SELECT kind, count(*) FROM big GROUP BY kind").await;
    assert!(
        plan.text.contains("Parallel Seq Scan") && plan.text.contains("Workers Planned: 4"),
        "{}",
        plan.text
    );
    assert_eq!(plan.warnings.len(), 1, "{plan:?}");
    assert_eq!(plan.estimate.rows_scanned, Some(300_000), "{plan:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_costly_loop_is_said_once() {
    let Some(db) = Scratch::with(BIG).await else { return };
    let session = db.session().await;
    let product =
        explain(&session, "SELECT count(*) FROM small a, small b, small c WHERE a.id + b.id < c.id").await;
    assert!(product.text.matches("Nested Loop").count() > 1, "{}", product.text);
    assert_eq!(product.warnings.len(), 1, "{product:?}");
    assert!(said(&product)[0].starts_with("a nested loop costs about "), "{product:?}");
    assert!(product.hints.is_empty(), "no index helps a sum: {product:?}");
    // A loop of 560,000 pairs costs just under the threshold, one of 580,000 just over it.
    for (rows, warnings) in [(560, 0), (580, 1)] {
        db.change(&format!("DROP TABLE IF EXISTS part; CREATE TABLE part AS SELECT * FROM small WHERE id <= {rows}; ANALYZE part")).await;
        let plan = explain(&session, "SELECT count(*) FROM part a, small b WHERE a.id + b.id < 5").await;
        assert!(plan.text.contains("Nested Loop"), "{}", plan.text);
        assert_eq!(plan.warnings.len(), warnings, "{plan:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hash_beyond_its_memory_goes_to_disk() {
    let Some(db) = Scratch::with(BIG).await else { return };
    let name = db.value("current_database()").await;
    db.change(&format!(
        "ALTER DATABASE {name} SET work_mem = '1MB'; ALTER DATABASE {name} SET max_parallel_workers_per_gather = 0"
    ))
    .await;
    let session = db.session().await;
    let hash = explain(&session, "SELECT count(*) FROM big a JOIN big b ON a.name = b.name").await;
    let spill = |said: &[String]| said.iter().filter(|s| s.starts_with("a hash of about")).count();
    assert_eq!(spill(&said(&hash)), 1, "{hash:?}");
    assert!(said(&hash).iter().any(|s| s.contains("over its memory of 2,097,152 and")), "{hash:?}");
    assert_eq!(hash.estimate.rows_out, Some(1), "{:?}", hash.estimate);
    let groups = explain(&session, "SELECT name, count(*) FROM big GROUP BY name").await;
    assert_eq!(spill(&said(&groups)), 1, "{groups:?}");
    // 4 bytes and 32 for each row: 2,097,152 bytes are 58,254 rows.
    for (rows, spills) in [(58_000, 0), (58_500, 1)] {
        db.change(&format!("DROP TABLE IF EXISTS part; CREATE TABLE part AS SELECT id FROM big WHERE id <= {rows}; ANALYZE part")).await;
        let plan = explain(&session, "SELECT count(*) FROM big a JOIN part b ON a.kind = b.id").await;
        assert!(plan.text.contains("Seq Scan on part") && plan.text.contains("Hash Join"), "{}", plan.text);
        assert_eq!(spill(&said(&plan)), spills, "{rows}: {plan:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_is_proposed_only_where_it_would_save_more_than_half() {
    let Some(db) = Scratch::with(BIG).await else { return };
    db.change(
        "DROP TABLE big; CREATE TABLE big AS SELECT i AS id, i % 10 AS kind, 'name ' || i AS name, ('c' || i)::varchar(20) AS code
           FROM generate_series(1, 300000) AS g(i); CREATE INDEX ON big (id); ANALYZE",
    )
    .await;
    let session = db.session().await;
    let hints = async |statement: &str| -> Vec<String> {
        explain(&session, statement).await.hints.iter().map(ToString::to_string).collect()
    };
    let few = hints("SELECT * FROM big WHERE name = 'name 7'").await;
    assert!(
        few.len() == 1
            && few[0].starts_with("an index on public.big (name) would lower the cost from about "),
        "{few:?}"
    );
    let few = hints("SELECT * FROM big WHERE code = 'c7' AND kind = 3").await;
    assert!(few[0].starts_with("an index on public.big (code, kind) would"), "{few:?}");
    for statement in [
        // One row of ten stays, and most of the cost with it.
        "SELECT * FROM big WHERE kind = 3",
        "SELECT * FROM big WHERE lower(name) = 'name 7'",
        "SELECT * FROM big WHERE id::text = '7'",
        "SELECT * FROM big WHERE name LIKE '%7'",
        "SELECT * FROM big WHERE id = 7",
        "SELECT * FROM big",
    ] {
        assert_eq!(hints(statement).await, Vec::<String>::new(), "{statement}");
    }
    // With the index in place nothing is proposed, also where the server may not use it.
    let name = db.value("current_database()").await;
    db.change(&format!(
        "CREATE INDEX ON big (name); ALTER DATABASE {name} SET enable_indexscan = off; ALTER DATABASE {name} SET enable_bitmapscan = off"
    ))
    .await;
    let session = db.session().await;
    let plan = explain(&session, "SELECT * FROM big WHERE name = 'name 7'").await;
    assert!(plan.text.contains("Seq Scan") && plan.hints.is_empty(), "{plan:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_over_scans_proposes_an_index_for_its_inner_side() {
    let Some(db) = Scratch::with(BIG).await else { return };
    let name = db.value("current_database()").await;
    db.change(&format!(
        "ALTER DATABASE {name} SET enable_hashjoin = off; ALTER DATABASE {name} SET enable_mergejoin = off;
         ALTER DATABASE {name} SET max_parallel_workers_per_gather = 0"
    ))
    .await;
    let session = db.session().await;
    let plan = explain(&session, "SELECT count(*) FROM small a LEFT JOIN big b ON a.id = b.kind").await;
    assert!(
        plan.text.contains("Nested Loop Left Join") && plan.text.contains("Seq Scan on big b"),
        "{}",
        plan.text
    );
    let hints: Vec<String> = plan.hints.iter().map(ToString::to_string).collect();
    assert!(
        hints.len() == 1 && hints[0].starts_with("an index on public.big (kind) would lower"),
        "{plan:?}"
    );
    let plan = explain(&session, "SELECT count(*) FROM small a LEFT JOIN big b ON a.id < b.kind").await;
    assert!(plan.text.contains("Nested Loop Left Join") && plan.hints.is_empty(), "{plan:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_printed_plan_tells_how_far_off_it_was() {
    let Some(db) = Scratch::with(BIG).await else { return };
    let session = db.session().await;
    let printed = async |statement: &str| {
        let rows = support::run(&session, statement).await.rows();
        let lines = rows.iter().map(|row| match &row[0] {
            Value::Text(line) | Value::Json(line) => line.clone(),
            other => panic!("{other:?}"),
        });
        support::DIALECT.read_plan(&lines.collect::<Vec<_>>().join("\n"))
    };
    // Nothing is known of what an expression leaves: one row of 200 is assumed.
    for how in ["ANALYZE", "ANALYZE, FORMAT JSON"] {
        let off = printed(&format!("EXPLAIN ({how}) SELECT * FROM big WHERE kind * 2 = 6")).await;
        assert!(
            matches!(off[..], [PlanWarning::EstimateOff { seen, expected, .. }] if seen > 10 * expected),
            "{how}: {off:?}"
        );
        for calm in ["SELECT * FROM big WHERE kind = 3", "SELECT * FROM big LIMIT 5"] {
            assert_eq!(printed(&format!("EXPLAIN ({how}) {calm}")).await, [], "{how}: {calm}");
        }
    }
    assert_eq!(printed("EXPLAIN SELECT * FROM big WHERE kind * 2 = 6").await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_read_is_compared_with_what_the_planner_expected() {
    let Some(db) = Scratch::new().await else { return };
    let session = db.session().await;
    let reviewed = async |statement: &str| {
        let estimate = estimate(&session, statement).await;
        let rows = support::run_up_to(&session, Request::text(statement), None, &call()).await.rows().len();
        estimate.review(rows as u64, true, std::time::Duration::ZERO)
    };
    // Of an equality with an expression one row of 200 is expected.
    let off = reviewed("SELECT i FROM generate_series(1, 10001) AS g(i) WHERE (i * 2) % 2 = 0").await;
    assert_eq!(off, Some(PlanWarning::EstimateOff { expected: 50, seen: 10_001, exact: true }));
    for calm in [
        "SELECT i FROM generate_series(1, 10000) AS g(i) WHERE (i * 2) % 2 = 0",
        "SELECT i FROM generate_series(1, 10001) AS g(i)",
    ] {
        assert_eq!(reviewed(calm).await, None, "{calm}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_server_says_the_same() {
    let Some(db) = Scratch::old().await else { return };
    db.change(BIG).await;
    let session = db.session().await;
    let whole = explain(&session, "SELECT name FROM big WHERE id > 1000").await;
    assert!(said(&whole)[0].starts_with("public.big is read whole, about 300,000 rows"), "{whole:?}");
    let few = explain(&session, "SELECT name FROM big WHERE name = 'name 7'").await;
    assert!(few.warnings.is_empty() && few.hints.len() == 1, "{few:?}");
    let printed = support::run(&session, "EXPLAIN ANALYZE SELECT * FROM big WHERE kind * 2 = 6").await.rows();
    let lines: Vec<String> = printed.iter().map(|row| format!("{:?}", row[0])).collect();
    assert_eq!(support::DIALECT.read_plan(&lines.join("\n")).len(), 1, "{lines:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_too_deep_to_be_read_is_no_defect() {
    let Some(db) = Scratch::with("CREATE TABLE one (id integer)").await else { return };
    let session = db.session().await;
    let tables: Vec<String> = (0..90).map(|i| format!("one AS a{i}")).collect();
    let request = Request::text(format!("SELECT 1 FROM {}", tables.join(", ")));
    let cleared = cleared(&session, request).await;
    let error = session.explain(&cleared, &call()).await.unwrap_err();
    assert_eq!(error.kind(), dbagent_core::ErrorKind::TooLarge, "{error}");
    assert!(error.hint_text().is_some_and(|hint| hint.contains("fewer tables")), "{error}");
}
