//! The sample as a DuckDB file, filled from the SQLite file: the same tables, keys and rows.

use std::path::Path;

use rusqlite::types::ValueRef;

/// Writes the file.
pub(crate) fn fill(sqlite: &Path, file: &Path) {
    let from =
        rusqlite::Connection::open_with_flags(sqlite, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let to = duckdb::Connection::open(file).unwrap();
    let mut tables: Vec<(String, String)> = {
        let question = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY name";
        let mut statement = from.prepare(question).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    };
    // What a table refers to must be there before it.
    while !tables.is_empty() {
        let left = tables.len();
        tables.retain(|(name, sql)| {
            let made = to.execute_batch(&sql.replace(['[', ']'], "\""));
            if made.is_ok() {
                copy(&from, &to, name, sql.contains(&format!("REFERENCES [{name}]")));
            }
            made.is_err()
        });
        assert!(tables.len() < left, "DuckDB takes none of these tables: {tables:?}");
    }
}

/// Copies the rows. Of a table that refers to itself each row must be there for the next.
fn copy(from: &rusqlite::Connection, to: &duckdb::Connection, table: &str, one_by_one: bool) {
    let mut rows = from.prepare(&format!("SELECT * FROM \"{table}\" ORDER BY 1")).unwrap();
    let width = rows.column_count();
    let mut rows = rows.query([]).unwrap();
    let mut appender = to.appender(table).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let values = (0..width).map(|index| match row.get_ref(index).unwrap() {
            ValueRef::Null => duckdb::types::Value::Null,
            ValueRef::Integer(n) => duckdb::types::Value::BigInt(n),
            ValueRef::Real(n) => duckdb::types::Value::Double(n),
            ValueRef::Text(text) => duckdb::types::Value::Text(String::from_utf8(text.to_vec()).unwrap()),
            ValueRef::Blob(bytes) => duckdb::types::Value::Blob(bytes.to_vec()),
        });
        appender.append_row(duckdb::appender_params_from_iter(values)).unwrap();
        if one_by_one {
            appender.flush().unwrap();
        }
    }
    appender.flush().unwrap();
}
