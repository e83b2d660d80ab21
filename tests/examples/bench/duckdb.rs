//! DuckDB beside its own Arrow stream.

use std::hint::black_box;

use arrow_array::RecordBatch;

use crate::Figure;
use crate::servers::{Bare, Floors, ROWS, Subject, long_query, measure};

const QUERY: &str = "SELECT id, name, amount, ratio, flag, moment, note FROM mixed";
/// What the engine may take by itself.
const MEMORY_MIB: f64 = 256.0;

pub(crate) async fn run() -> Vec<Figure> {
    println!("duckdb: filling {ROWS} rows …");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bench.duckdb");
    let owner = duckdb::Connection::open(&file).unwrap();
    owner
        .execute_batch(&format!(
            "CREATE TABLE mixed AS SELECT i AS id, 'name ' || i % 1000 AS name, (i * 0.25)::DECIMAL(14,2) AS amount, \
             i / 7.0::DOUBLE AS ratio, i % 2 = 0 AS flag, TIMESTAMP '2024-01-01 00:00:00' + to_seconds(i) AS moment, \
             CASE WHEN i % 3 = 0 THEN NULL ELSE 'a note of some length ' || i END AS note \
             FROM range(1, {ROWS} + 1) t(i)"
        ))
        .unwrap();
    drop(owner);
    let config = duckdb::Config::default().access_mode(duckdb::AccessMode::ReadOnly).unwrap();
    let config = config.with("memory_limit", format!("{MEMORY_MIB}MB")).unwrap();
    let bare = duckdb::Connection::open_with_flags(&file, config).unwrap();
    let subject = Subject {
        id: "duckdb",
        url: format!("duckdb:///{}?memory_limit={MEMORY_MIB}MB", file.display()),
        query: QUERY,
        long_query: long_query(),
        // Nothing goes over a network. The engine reads the text, plans it and runs it: a statement each.
        trips: 3,
        floors: Floors { streaming: 0.9, memory: MEMORY_MIB + 64.0, judging: None },
    };
    measure(&subject, &mut Driver(bare)).await
}

struct Driver(duckdb::Connection);

impl Driver {
    fn read(&self, query: &str) -> u64 {
        let mut statement = self.0.prepare(query).unwrap();
        let mut seen = 0;
        for batch in statement.stream_arrow([]).unwrap() {
            let batch: RecordBatch = batch.unwrap();
            seen += black_box(batch).num_rows() as u64;
        }
        seen
    }
}

impl Bare for Driver {
    async fn stream(&mut self) -> u64 {
        self.read(QUERY)
    }

    async fn one(&mut self) {
        assert_eq!(self.read("SELECT 1"), 1);
    }
}
