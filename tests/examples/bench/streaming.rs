//! Five million SQLite rows into Arrow through the whole road, against a bare loop that reads owned values.

use std::path::Path;
use std::time::Instant;

use dbagent::session::Verdict;
use dbagent::{CallContext, ConnUrl, GuardedSession, Registry, Request, Target};
use rusqlite::types::Value;

use crate::memory::{peak, reset_peak, resident};
use crate::{Figure, Floor, median};

const ROWS: u64 = 5_000_000;
const PAIRS: usize = 5;
const QUERY: &str = "SELECT id, amount, name, note FROM t";

pub(crate) async fn run() -> Vec<Figure> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bench.db");
    println!("streaming: filling {ROWS} rows …");
    fill(&path);
    let session = open(&path).await;
    let mut ratios = Vec::new();
    let mut memory = Vec::new();
    let before = resident();
    for pair in 0..PAIRS {
        reset_peak();
        let started = Instant::now();
        let rows = road(&session).await;
        let own = started.elapsed();
        memory.push((peak() - before) as f64 / 1024.0);
        assert_eq!(rows, ROWS);
        let started = Instant::now();
        assert_eq!(bare(&path), ROWS);
        let bare = started.elapsed();
        println!(
            "streaming: pair {}: road {:.2} s, bare loop {:.2} s",
            pair + 1,
            own.as_secs_f64(),
            bare.as_secs_f64()
        );
        ratios.push(bare.as_secs_f64() / own.as_secs_f64());
    }
    vec![
        Figure {
            what: "5 million SQLite rows into Arrow, against a bare loop".to_owned(),
            value: median(ratios),
            unit: "x",
            floor: Floor::AtLeast(0.75),
        },
        Figure {
            what: "memory above start-up meanwhile".to_owned(),
            value: memory.iter().copied().fold(0.0, f64::max),
            unit: "MiB",
            floor: Floor::Under(64.0),
        },
    ]
}

fn fill(path: &Path) {
    let db = rusqlite::Connection::open(path).unwrap();
    db.execute_batch("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; CREATE TABLE t (id INTEGER PRIMARY KEY, amount REAL, name TEXT, note TEXT)")
        .unwrap();
    db.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
         INSERT INTO t SELECT i, i * 0.25, 'name ' || (i % 1000), CASE WHEN i % 3 = 0 THEN NULL ELSE 'a note of some length ' || i END FROM n",
        [i64::try_from(ROWS).unwrap()],
    )
    .unwrap();
}

async fn open(path: &Path) -> GuardedSession {
    let url = ConnUrl::parse(&format!("sqlite:///{}", path.display())).unwrap();
    let dialect = Registry::collected().unwrap().for_url(&url).unwrap();
    let mut target = Target::new("bench", url);
    target.guardrails.query_timeout_s = 600;
    GuardedSession::open(dialect, target, &CallContext::within(std::time::Duration::from_secs(600)))
        .await
        .unwrap()
}

async fn road(session: &GuardedSession) -> u64 {
    let call = CallContext::within(std::time::Duration::from_secs(600));
    let Verdict::Cleared(cleared) = session.judge(Request::text(QUERY), None, &call).await.unwrap() else {
        unreachable!("a plain read is cleared")
    };
    let mut rows = session.read(cleared, &call).unwrap();
    let mut seen = 0;
    while let Some(batch) = rows.next().await.unwrap() {
        seen += batch.num_rows() as u64;
    }
    seen
}

fn bare(path: &Path) -> u64 {
    let db = rusqlite::Connection::open(path).unwrap();
    let mut statement = db.prepare(QUERY).unwrap();
    let mut rows = statement.query([]).unwrap();
    let mut seen = 0;
    while let Some(row) = rows.next().unwrap() {
        for column in 0..4 {
            std::hint::black_box(row.get::<_, Value>(column).unwrap());
        }
        seen += 1;
    }
    seen
}
