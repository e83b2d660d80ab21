//! How many rows a table has, as far as that is cheap to know.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use dbagent_core::catalog::RowCount;
use rusqlite::{Connection, Result};

use crate::ident::{Ident, Qualified};
use crate::schema::{Entry, EntryKind};

/// Rows at which counting stops.
const MAX_ROWS: u64 = 1_000_000;
/// Time that one table may take, and all tables of one call together.
const ONE: Duration = Duration::from_millis(50);
const ALL: Duration = Duration::from_millis(500);
/// Bytes of a database in which everything is counted: SQLite counts whole pages then.
const SMALL_DATABASE: i64 = 64 << 20;
/// Rows between two looks at the clock.
const STRIDE: u64 = 1_024;

/// Counts the rows of tables under a budget of time.
pub(crate) struct Counter<'c> {
    db: &'c Connection,
    statistics: HashMap<(String, String), u64>,
    small: HashMap<String, bool>,
    until: Instant,
}

impl<'c> Counter<'c> {
    pub(crate) fn new(db: &'c Connection) -> Self {
        Self { db, statistics: HashMap::new(), small: HashMap::new(), until: Instant::now() + ALL }
    }

    /// The rows of a table: from statistics if there are any, else counted up to a bound.
    pub(crate) fn rows(&mut self, entry: &Entry) -> Result<RowCount> {
        if !matches!(entry.kind, EntryKind::Table | EntryKind::Virtual) {
            return Ok(RowCount::Unknown);
        }
        if !self.small.contains_key(&entry.schema) {
            self.read_schema(&entry.schema)?;
        }
        let key = (entry.schema.clone(), entry.name.to_ascii_lowercase());
        if let Some(rows) = self.statistics.get(&key) {
            return Ok(RowCount::About(*rows));
        }
        let now = Instant::now();
        if now >= self.until {
            return Ok(RowCount::Unknown);
        }
        let table = dbagent_core::ObjectName::within(&*entry.schema, &*entry.name);
        if entry.kind == EntryKind::Table && self.small.get(&entry.schema) == Some(&true) {
            let sql = format!("SELECT count(*) FROM {}", Qualified(&table));
            let rows: i64 = self.db.query_row(&sql, [], |row| row.get(0))?;
            return Ok(RowCount::Exactly(rows.unsigned_abs()));
        }
        let sql = format!("SELECT 1 FROM {}", Qualified(&table));
        let mut statement = self.db.prepare(&sql)?;
        let mut rows = statement.raw_query();
        let until = self.until.min(now + ONE);
        let mut count = 0;
        while rows.next()?.is_some() {
            count += 1;
            if count >= MAX_ROWS || (count % STRIDE == 0 && Instant::now() >= until) {
                return Ok(RowCount::AtLeast(count));
            }
        }
        Ok(RowCount::Exactly(count))
    }

    /// Reads the statistics of a schema and its size.
    fn read_schema(&mut self, schema: &str) -> Result<()> {
        let schema_name = Ident(schema);
        let page = |name: &str| -> Result<i64> {
            self.db.query_row(&format!("PRAGMA {schema_name}.{name}"), [], |row| row.get(0))
        };
        let size = page("page_count")?.saturating_mul(page("page_size")?);
        self.small.insert(schema.to_owned(), size <= SMALL_DATABASE);
        let there = format!("SELECT count(*) FROM {schema_name}.sqlite_schema WHERE name = 'sqlite_stat1'");
        if self.db.query_row(&there, [], |row| row.get::<_, i64>(0))? == 0 {
            return Ok(());
        }
        // The first number of an entry is the rows of the table; a partial index has fewer.
        let sql = format!(
            "SELECT tbl, max(CAST(stat AS INTEGER)) FROM {schema_name}.sqlite_stat1 \
             WHERE tbl IS NOT NULL AND stat IS NOT NULL GROUP BY tbl"
        );
        let mut statement = self.db.prepare(&sql)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            let (table, count): (String, i64) = (row.get(0)?, row.get(1)?);
            self.statistics.insert((schema.to_owned(), table.to_ascii_lowercase()), count.unsigned_abs());
        }
        Ok(())
    }
}
