//! How long a verdict takes: 1 KB and 64 KB of SQL, and that it grows with the length.

use std::time::{Duration, Instant};

use dbagent::guard::{Judgement, Resolution, judge};
use dbagent::session::ParsePool;
use dbagent::{CallContext, Guardrails, Policy, Registry, Request, Settings};

use crate::{Figure, Floor, median};

/// An ordinary analyst's query of about `bytes` bytes.
fn statement(bytes: usize) -> String {
    let mut text = String::from(
        "SELECT u.id, u.name, count(*) AS n, sum(o.total) FROM users u JOIN orders o ON o.user_id = u.id WHERE o.status IN ('paid', 'open')",
    );
    let mut n = 0;
    while text.len() < bytes {
        n += 1;
        text.push_str(&format!(" AND (o.total > {n} OR lower(u.email) LIKE '%{n}@example.org')"));
    }
    text.push_str(" GROUP BY u.id, u.name ORDER BY n DESC LIMIT 10");
    text
}

async fn time(pool: &ParsePool, text: &str, times: usize) -> f64 {
    let dialect = Registry::collected().unwrap().get("sqlite").unwrap();
    let request = Request::text(text);
    let mut micros = Vec::new();
    for _ in 0..times {
        let call = CallContext::within(Duration::from_secs(60));
        let started = Instant::now();
        let parsed = pool.parse(&request, &call).await.unwrap();
        let judgement = judge(&parsed, &Resolution::offline(), &Policy::default(), dialect.case());
        micros.push(started.elapsed().as_secs_f64() * 1e6);
        assert_eq!(judgement, Judgement::Read);
    }
    median(micros)
}

pub(crate) async fn run() -> Vec<Figure> {
    let dialect = Registry::collected().unwrap().get("sqlite").unwrap();
    let mut limits = Guardrails::default().statement_limits();
    limits.bytes = 1 << 20;
    limits.tokens = 1 << 20;
    let pool = ParsePool::new(dialect, dialect.parse_context(limits, Settings::new()));
    let small = time(&pool, &statement(1_000), 301).await;
    let middle = time(&pool, &statement(32_000), 31).await;
    let large = time(&pool, &statement(64_000), 31).await;
    println!("judging: 1 KB {small:.0} µs, 32 KB {middle:.0} µs, 64 KB {large:.0} µs");
    vec![
        Figure { what: "judging 1 KB".to_owned(), value: small, unit: "µs", floor: Floor::Under(400.0) },
        Figure {
            what: "judging 64 KB".to_owned(),
            value: large / 1e3,
            unit: "ms",
            floor: Floor::Under(40.0),
        },
        Figure {
            what: "64 KB against 32 KB (linear is 2)".to_owned(),
            value: large / middle,
            unit: "x",
            floor: Floor::Under(3.0),
        },
    ]
}
