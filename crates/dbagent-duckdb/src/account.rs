//! Tries what a session could do beyond reading, with the guard out of the way.
//!
//! A file has no accounts: what holds a session to reading is how the database was opened, and for a folder of
//! data files, who may write there. Each try runs in a transaction that is rolled back.

use std::path::Path;

use dbagent_core::Result;
use dbagent_core::account::{Found, Power, PowerKind, Probe, Transport};
use duckdb::Connection;

use crate::error::{Phase, exception, translate};
use crate::ident::Ident;
use crate::lake::Lake;
use crate::pool::Conn;
use crate::schema::EntryKind;

const CREATE: &str = "CREATE TABLE dbagent_probe (a INTEGER)";
const CREATE_TEMPORARY: &str = "CREATE TEMP TABLE dbagent_probe (a INTEGER)";
const LIST: &str = "SELECT count(*) FROM glob('/*')";
const SET: &str = "SET GLOBAL threads = 1";

/// What the connection of a session could do.
///
/// # Errors
/// When a transaction can neither begin nor be rolled back; a refused try is an answer.
pub(crate) fn probe(conn: &Conn) -> Result<Probe> {
    let (db, snapshot) = (&conn.db, conn.database.snapshot());
    let folder = snapshot.lake().map(Lake::folder);
    let mut powers = Vec::new();
    if let Some(table) = snapshot.entries().iter().min_by_key(|e| e.kind != EntryKind::Table) {
        let sql = format!("DELETE FROM {}.{} WHERE false", Ident(&table.schema), Ident(&table.name));
        powers.push(Power::tried(PowerKind::WriteRows, "DELETE", attempt(db, &sql)?));
    }
    powers.push(match (folder, attempt(db, CREATE)?) {
        // The views of a folder's files are in a database that is nowhere but in memory.
        (Some(_), Ok(())) => Power {
            kind: PowerKind::ChangeSchema,
            found: Found::Cannot,
            evidence: "CREATE TABLE makes one in the session's memory, and nothing in the folder".to_owned(),
            remedy: Vec::new(),
        },
        (_, outcome) => Power::tried(PowerKind::ChangeSchema, "CREATE TABLE", outcome),
    });
    powers.push(match attempt(db, CREATE_TEMPORARY)? {
        Ok(()) => Power {
            kind: PowerKind::TemporaryTables,
            found: Found::Can,
            evidence: "in memory, and gone with the call that made them".to_owned(),
            remedy: Vec::new(),
        },
        refused => Power::tried(PowerKind::TemporaryTables, "CREATE TEMP TABLE", refused),
    });
    let outside = Power::tried(PowerKind::ServerFiles, "glob of the root folder", attempt(db, LIST)?);
    powers.push(match folder {
        Some(folder) if outside.found == Found::Cannot => inside(folder, outside),
        _ => outside,
    });
    powers.push(Power::tried(PowerKind::Administer, "SET", attempt(db, SET)?));
    Ok(Probe { account: None, transport: Transport::Local, powers })
}

/// Whether files could be written in the folder. The engine writes wherever it may read, so it is asked of the
/// file system: a file without a name is made there, where the system can, and is gone at once.
fn inside(folder: &Path, outside: Power) -> Power {
    match tempfile::tempfile_in(folder) {
        Err(e) => Power {
            evidence: format!("none can be made in the folder: {e}; outside it, {}", outside.evidence),
            ..outside
        },
        Ok(_) => Power {
            found: Found::Can,
            evidence:
                "this process may make files in the folder, and inside it the guard alone refuses COPY … TO; \
                       mount the folder read-only, or run dbagent as a user who may only read it"
                    .to_owned(),
            ..outside
        },
    }
}

/// Runs a statement and takes it back; the engine's words where it is refused.
fn attempt(db: &Connection, sql: &str) -> Result<std::result::Result<(), String>> {
    let run = |sql: &str| db.execute_batch(sql);
    run("BEGIN TRANSACTION").map_err(|e| translate(e, Phase::Run))?;
    let outcome = run(sql).map_err(|e| exception(&e).message.lines().next().unwrap_or_default().to_owned());
    run("ROLLBACK").map_err(|e| translate(e, Phase::Run))?;
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of which nobody may make files, here since it is gone, leaves nothing to take away.
    #[test]
    fn a_folder_that_takes_no_file_is_no_danger() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        let outside = Power::tried(PowerKind::ServerFiles, "glob", Err("disabled".to_owned()));
        assert_eq!(inside(&path, outside.clone()).found, Found::Can);
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 0, "nothing stays of the try");
        drop(folder);
        let power = inside(&path, outside);
        assert_eq!(power.found, Found::Cannot);
        assert!(power.evidence.contains("none can be made in the folder"), "{}", power.evidence);
    }
}
