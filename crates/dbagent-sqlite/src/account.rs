//! Tries what a session could do beyond reading, with the guard out of the way.
//!
//! A file has no accounts: what holds a session to reading is how its connection was opened. Each try is
//! compiled and never stepped, and what SQLite would do already while compiling is harmless by itself.

use dbagent_core::account::{Power, PowerKind, Probe, Transport};
use rusqlite::{Connection, OptionalExtension as _};

use crate::connect::Conn;
use crate::error::words;
use crate::ident::Ident;

/// What is tried beside a change of rows, which needs a table.
const TRIES: &[(PowerKind, &str, &str)] = &[
    (PowerKind::ChangeSchema, "CREATE TABLE", "CREATE TABLE main.dbagent_probe (a)"),
    (PowerKind::TemporaryTables, "CREATE TEMP TABLE", "CREATE TEMP TABLE dbagent_probe (a)"),
    (PowerKind::Functions, "load_extension", "SELECT load_extension('dbagent_probe')"),
    (PowerKind::ServerFiles, "ATTACH", "ATTACH ':memory:' AS dbagent_probe"),
    (PowerKind::Administer, "PRAGMA", "PRAGMA main.cache_size = -2000"),
];

/// What the connection of a session could do.
///
/// # Errors
/// What SQLite says of the question for a table; a refused try is an answer.
pub(crate) fn probe(conn: &Conn) -> rusqlite::Result<Probe> {
    let mut powers = Vec::new();
    if let Some(table) = table(conn)? {
        let sql = format!("DELETE FROM main.{}", Ident(&table));
        powers.push(Power::tried(PowerKind::WriteRows, "DELETE", compiles(&conn.db, &sql)));
    }
    powers.extend(TRIES.iter().map(|(kind, what, sql)| Power::tried(*kind, what, compiles(&conn.db, sql))));
    Ok(Probe { account: None, transport: Transport::Local, powers })
}

/// A table of the file, to try a change on.
fn table(conn: &Conn) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
               AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name LIMIT 1";
    conn.watch.set_catalogue(true);
    let found = conn.db.query_row(sql, [], |row| row.get(0)).optional();
    conn.watch.set_catalogue(false);
    found
}

fn compiles(db: &Connection, sql: &str) -> Result<(), String> {
    db.prepare(sql).map(drop).map_err(|e| words(&e))
}
