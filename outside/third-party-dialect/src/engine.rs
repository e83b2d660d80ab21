//! The engine: hardened connections, the tables in a file, and what its errors mean.

use std::path::Path;

use dbagent_core::catalog::{Column, ObjectDetail, ObjectKind};
use dbagent_core::{CallContext, Error, ErrorKind, ObjectName, Result};
use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig, limits::Limit};

/// A connection that cannot write, attaches nothing, and stops when the call is over.
pub fn connect(path: &Path, call: &CallContext) -> Result<Connection> {
    let open = || {
        let mut db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        db.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        let call = call.clone();
        db.progress_handler(1_000, Some(move || call.is_over()))?;
        db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(db)
    };
    open().map_err(|e| told(e, ErrorKind::Engine))
}

/// An error by the engine's code; `other` is what its one code for everything else means here.
pub(crate) fn told(e: rusqlite::Error, other: ErrorKind) -> Error {
    let kind = match e.sqlite_error_code() {
        Some(ErrorCode::CannotOpen) => ErrorKind::DatabaseNotFound,
        Some(ErrorCode::NotADatabase) => ErrorKind::NotADatabase,
        Some(ErrorCode::ReadOnly) => ErrorKind::Permission,
        Some(ErrorCode::OperationInterrupted) => ErrorKind::Cancelled,
        _ => other,
    };
    Error::new(kind, e.to_string()).source(e)
}

/// The tables whose names fit a LIKE pattern with `\` before what is meant literally, in order.
pub(crate) fn tables(db: &Connection, like: &str) -> Result<Vec<ObjectDetail>> {
    let names =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE ?1 ESCAPE '\\' ORDER BY name";
    let columns = "SELECT name, type, \"notnull\" = 0 FROM pragma_table_info(?1)";
    let read = || {
        let (mut names, mut columns, mut tables) = (db.prepare(names)?, db.prepare(columns)?, Vec::new());
        for name in names.query_map([like], |row| row.get::<_, String>(0))? {
            let mut table = ObjectDetail::new(ObjectName::new(name?), ObjectKind::Table);
            let mut rows = columns.query([&table.summary.name.name])?;
            while let Some(row) = rows.next()? {
                let (name, data_type, nullable) = (row.get(0)?, row.get(1)?, row.get(2)?);
                table.columns.push(Column { name, data_type, nullable, ..Column::default() });
            }
            tables.push(table);
        }
        Ok(tables)
    };
    read().map_err(|e| told(e, ErrorKind::Engine))
}
