//! Which large tables a statement reads from one end to the other.
//!
//! `EXPLAIN QUERY PLAN` calls tables by their aliases and does not tell where a limit stops a scan. The program
//! that SQLite compiles does: a scan is a loop that begins at the first row (or the last) of a table's own tree
//! and goes on to the next, and one that may end early has a jump out of it. How much a condition leaves of the
//! rows is not in it.

use std::collections::HashMap;

use dbagent_core::catalog::RowCount;
use dbagent_core::estimate::PlanWarning;
use rusqlite::{Connection, OptionalExtension as _, Result};

use crate::catalog;
use crate::count::Counter;
use crate::ident::Ident;
use crate::schema;

/// A step of a program that matters here.
struct Step {
    at: i64,
    what: What,
}

enum What {
    /// A cursor opens the tree that begins on a page of a database.
    Open { cursor: i64, page: i64, database: i64 },
    /// A cursor goes to one of the ends.
    Begin { cursor: i64 },
    /// A cursor goes on.
    Next { cursor: i64 },
    /// The program may go on there.
    Jump { to: i64 },
}

/// The warnings about a statement, each table once. The catalogue is read, so that it must be open to the
/// connection.
pub(crate) fn warnings(db: &Connection, statement: &str) -> Result<Vec<PlanWarning>> {
    let steps = steps(db, statement)?;
    let mut counter = Counter::new(db);
    let mut warnings: Vec<PlanWarning> = Vec::new();
    for (page, database) in scanned(&steps) {
        let schema = db
            .query_row("SELECT name FROM pragma_database_list WHERE seq = ?1", [database], |row| {
                row.get::<_, String>(0)
            })
            .optional()?;
        let Some(schema) = schema else { continue };
        // Indexes have trees of their own, and so have tables of the statement itself.
        let sql = format!(
            "SELECT name FROM {}.sqlite_schema WHERE rootpage = ?1 AND type = 'table'",
            Ident(&schema)
        );
        let name = db.query_row(&sql, [page], |row| row.get::<_, String>(0)).optional()?;
        let Some(name) = name else { continue };
        let Some(entry) = schema::find_in(db, &schema, &name)? else { continue };
        // A policy may keep the functions from us that count.
        let rows = match counter.rows(&entry).unwrap_or_default() {
            RowCount::Exactly(rows) | RowCount::About(rows) | RowCount::AtLeast(rows) => rows,
            RowCount::Unknown => continue,
        };
        let warning = PlanWarning::full_scan(catalog::shown(&entry).to_string(), rows as f64, None);
        warnings.extend(warning.filter(|w| !warnings.contains(w)));
    }
    Ok(warnings)
}

fn steps(db: &Connection, statement: &str) -> Result<Vec<Step>> {
    let mut explained = db.prepare(&format!("EXPLAIN {statement}"))?;
    let mut rows = explained.raw_query();
    let mut steps = Vec::new();
    while let Some(row) = rows.next()? {
        let number = |column: usize| row.get::<_, i64>(column);
        let opcode: String = row.get(1)?;
        let what = match opcode.as_str() {
            "OpenRead" => What::Open { cursor: number(2)?, page: number(3)?, database: number(4)? },
            "Rewind" | "Last" => What::Begin { cursor: number(2)? },
            "Next" | "Prev" => What::Next { cursor: number(2)? },
            "Goto" | "If" | "IfNot" | "IfPos" | "DecrJumpZero" => What::Jump { to: number(3)? },
            _ => continue,
        };
        steps.push(Step { at: number(0)?, what });
    }
    Ok(steps)
}

/// Page and database of each tree that is read from one end to the other.
fn scanned(steps: &[Step]) -> Vec<(i64, i64)> {
    let mut open = HashMap::new();
    let mut begun = HashMap::new();
    let mut scanned = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        match step.what {
            What::Open { cursor, page, database } => _ = open.insert(cursor, (page, database)),
            What::Begin { cursor } => _ = begun.insert(cursor, index),
            What::Next { cursor } => {
                let (Some(begin), Some(tree)) = (begun.remove(&cursor), open.get(&cursor)) else { continue };
                let mut inside = steps.iter().take(index).skip(begin);
                if !inside.any(|inner| matches!(inner.what, What::Jump { to } if to > step.at)) {
                    scanned.push(*tree);
                }
            }
            What::Jump { .. } => {}
        }
    }
    scanned
}
