//! What the planner says before anything runs.

use dbagent_core::estimate::{Estimate, Plan};
use dbagent_core::session::Verdict;
use dbagent_core::{Cleared, GuardedSession, Param, Params, Request, Rule, Target};

use crate::support::{Scratch, call, open};

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

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_warns_of_what_costs_most() {
    let Some(db) = Scratch::with(BIG).await else { return };
    let name = db.value("current_database()").await;
    db.change(&format!("ALTER DATABASE {name} SET work_mem = '1MB'")).await;
    let session = db.session().await;
    let whole = explain(&session, "SELECT name FROM big WHERE id > 1000").await;
    assert!(
        whole.text.contains("Scan on big") && whole.text.contains("Note: public.big is read whole"),
        "{}",
        whole.text
    );
    let few = explain(&session, "SELECT name FROM big WHERE name = 'name 7'").await;
    assert!(!few.text.contains("Note:"), "{}", few.text);
    let few = explain(&session, "SELECT name FROM big WHERE id = 7").await;
    assert!(few.text.contains("Index") && !few.text.contains("Note:"), "{}", few.text);
    let product =
        explain(&session, "SELECT count(*) FROM small a, small b, small c WHERE a.id + b.id < c.id").await;
    assert!(product.text.contains("Note: a nested loop of cost"), "{}", product.text);
    let hash = explain(&session, "SELECT count(*) FROM big a JOIN big b ON a.name = b.name").await;
    assert!(hash.text.contains("Note: a hash of about"), "{}", hash.text);
    assert!(hash.estimate.rows_out == Some(1), "{:?}", hash.estimate);
}
