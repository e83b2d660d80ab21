//! Says what a text that SQLite refused got wrong.
//!
//! SQLite has one code for every mistake in a text. What kind of mistake it is, is told by the catalogue
//! and the place: a table that does not exist, or a column at the place of the error that none of the
//! tables in sight has. The words of the engine are shown and decide nothing.

use dbagent_core::guard::{ColumnUse, ObjectUse, Parsed, Resolution, ResolvedObject};
use dbagent_core::text::near_misses;
use dbagent_core::{Error, ErrorKind};
use rusqlite::Connection;

use crate::compile::CASE;
use crate::{functions, parse, schema};

/// Names that a hint shows at most.
const MAX_NAMES: usize = 20;
const ROW_NUMBER: &[&str] = &["rowid", "oid", "_rowid_"];

/// The same error with its real kind and a hint, where the catalogue tells.
pub(crate) fn refine(
    error: Error,
    text: &str,
    parsed: &Parsed,
    resolution: &Resolution,
    db: &Connection,
) -> Error {
    if error.kind() != ErrorKind::Syntax {
        return error;
    }
    if let Some(refined) = unknown_object(&error, parsed, resolution, db) {
        return refined;
    }
    if let Some(used) = error.position().and_then(|at| column_at(parsed, at))
        && let Some(hint) = unknown_column(used, text, parsed, resolution)
    {
        return again(&error, ErrorKind::UnknownColumn, hint);
    }
    if let Some(name) = unknown_function(&error, parsed, db) {
        let hint = format!("this SQLite has no function {name}; use another one");
        return again(&error, ErrorKind::UnknownFunction, hint);
    }
    error
}

fn again(error: &Error, kind: ErrorKind, hint: String) -> Error {
    let mut refined = Error::new(kind, error.message()).op("compile").hint(hint);
    if let Some(code) = error.native_code() {
        refined = refined.code(code);
    }
    match error.position() {
        Some(at) => refined.at(at),
        None => refined,
    }
}

fn unknown_object(error: &Error, parsed: &Parsed, resolution: &Resolution, db: &Connection) -> Option<Error> {
    let is_there = |o: &ObjectUse| match resolution.object(&o.name) {
        None => functions::is_table_function(&o.name.name) || parse::is_engine_table(&o.name.name),
        // The name of an index is resolved too, to its table, and cannot be read.
        Some(found) => CASE.same(&found.name.name, &o.name.name) || schema::is_internal(&o.name.name),
    };
    let missing = parsed.objects.iter().find(|o| !is_there(o))?;
    let names = object_names(db);
    let near = near_misses(&missing.name.name, names.iter().map(String::as_str), 3);
    let hint = if !near.is_empty() {
        format!("did you mean {}?", near.join(" or "))
    } else if names.is_empty() {
        "the database has no tables".to_owned()
    } else {
        format!("there are {}", listed(&names))
    };
    let refined = again(error, ErrorKind::UnknownObject, hint);
    Some(match (error.position(), missing.span) {
        (None, Some(span)) => refined.at(span.start),
        _ => refined,
    })
}

fn object_names(db: &Connection) -> Vec<String> {
    // A hint is worth no error of its own.
    let entries = schema::all_in(db, schema::MAIN).unwrap_or_default();
    entries.into_iter().map(|e| e.name).filter(|n| !schema::is_internal(n)).collect()
}

fn column_at(parsed: &Parsed, at: usize) -> Option<&ColumnUse> {
    parsed.columns.iter().find(|c| c.span.is_some_and(|s| s.start <= at && at < s.end) && c.column.is_some())
}

/// What to say when none of the objects that a name may belong to has it.
fn unknown_column(used: &ColumnUse, text: &str, parsed: &Parsed, resolution: &Resolution) -> Option<String> {
    let name = used.column.as_deref()?;
    let candidates: Vec<&ResolvedObject> = used
        .candidates
        .iter()
        .filter_map(|i| parsed.objects.get(*i))
        .filter_map(|o| resolution.object(&o.name))
        .collect();
    let has = |o: &&ResolvedObject| {
        let row_number = ROW_NUMBER.iter().any(|r| r.eq_ignore_ascii_case(name));
        row_number
            || o.columns.iter().any(|c| CASE.same(c, name))
            || o.column_aliases.iter().any(|(alias, _)| CASE.same(alias, name))
    };
    if candidates.iter().any(has) {
        // A table in sight has it, and still the name behind this qualifier is none.
        let written = used.span.and_then(|s| text.get(s.start..s.end))?;
        let (table, _) = written.rsplit_once('.')?;
        return Some(format!("nothing that the statement reads is called {table}"));
    }
    let shown: Vec<String> = match candidates.as_slice() {
        [] => {
            return Some(format!(
                "no table in sight has a column {name}; a text is written in single quotes"
            ));
        }
        [one] => vec![format!("no such column {}.{name}; it has {}", one.name.name, listed(&one.columns))],
        several => {
            let all: Vec<String> = several
                .iter()
                .flat_map(|o| o.columns.iter().map(|c| format!("{}.{c}", o.name.name)))
                .collect();
            let bare = several.iter().flat_map(|o| o.columns.iter().map(String::as_str));
            let near = near_misses(name, bare, 3);
            match near.as_slice() {
                [] => vec![format!("no such column {name}; there are {}", listed(&all))],
                near => {
                    let owners =
                        all.iter().filter(|full| near.iter().any(|n| full.ends_with(&format!(".{n}"))));
                    vec![format!("did you mean {}?", owners.cloned().collect::<Vec<_>>().join(" or "))]
                }
            }
        }
    };
    shown.into_iter().next()
}

fn unknown_function(error: &Error, parsed: &Parsed, db: &Connection) -> Option<String> {
    let at = error.position()?;
    let call = parsed.functions.iter().find(|f| f.span.is_some_and(|s| s.start <= at && at < s.end))?;
    let known = "SELECT count(*) FROM pragma_function_list WHERE name = ?1 COLLATE NOCASE";
    let count: i64 = db.query_row(known, [&call.name], |row| row.get(0)).ok()?;
    (count == 0).then(|| call.name.clone())
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(MAX_NAMES).cloned().collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(MAX_NAMES) {
        Some(more) if more > 0 => format!("{shown} and {more} more"),
        _ => shown,
    }
}
