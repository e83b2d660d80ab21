//! Lists and describes what is in a database.

use std::collections::HashMap;

use dbagent_core::catalog::{
    Column, Described, ForeignKey, Index, ObjectDetail, ObjectKind, ObjectPage, ObjectSummary, Page,
};
use dbagent_core::{NameCase, ObjectName};
use rusqlite::{Connection, Result, params};

use crate::count::Counter;
use crate::error::is_mistake;
use crate::modules;
use crate::parse::ddl::{self, ColumnText, Definition, TableDefinition};
use crate::schema::{self, ColumnRow, Entry, EntryKind, Hidden, MAIN};

/// Lists tables and views. Those of the engine and the storage of virtual tables are left out.
pub(crate) fn objects(db: &Connection, pattern: Option<&str>, page: Page) -> Result<ObjectPage> {
    let mut matching = Vec::new();
    for schema in listed_schemas(db)? {
        let entries = schema::all_in(db, &schema)?;
        let modules = modules_of(&entries);
        matching.extend(entries.into_iter().filter(|e| {
            e.kind != EntryKind::System
                && !is_storage(e, &modules)
                && pattern.is_none_or(|p| matches(p, &e.name))
        }));
    }
    let total = matching.len();
    let mut counter = Counter::new(db);
    let mut objects = Vec::new();
    for entry in matching.into_iter().skip(page.offset).take(page.size) {
        let comment = match entry.sql.as_deref().and_then(ddl::definition) {
            Some(Definition::Table(table)) => table.comment,
            _ => None,
        };
        // A table that cannot be counted is still there: describing or reading it says what is wrong.
        let rows = counter.rows(&entry).unwrap_or_default();
        objects.push(ObjectSummary { name: shown(&entry), kind: entry.kind.object_kind(), rows, comment });
    }
    Ok(ObjectPage { objects, total })
}

/// The schemas whose objects are listed: all that hold any.
fn listed_schemas(db: &Connection) -> Result<Vec<String>> {
    let mut names = schema::schemas(db)?;
    // Those of the file first, the temporary ones of a host's connection last.
    names.rotate_left(1);
    Ok(names)
}

/// A name as it is shown: objects of the file itself need no namespace.
pub(crate) fn shown(entry: &Entry) -> ObjectName {
    named(&entry.schema, &entry.name)
}

fn named(schema: &str, name: &str) -> ObjectName {
    if schema.eq_ignore_ascii_case(MAIN) { ObjectName::new(name) } else { ObjectName::within(schema, name) }
}

fn modules_of(entries: &[Entry]) -> HashMap<String, String> {
    let tables = entries.iter().filter(|e| e.kind == EntryKind::Virtual);
    tables.filter_map(|e| schema::module_of(e).map(|(m, _)| (e.name.to_ascii_lowercase(), m))).collect()
}

fn is_storage(entry: &Entry, modules: &HashMap<String, String>) -> bool {
    entry.kind == EntryKind::Table
        && entry.name.rsplit_once('_').is_some_and(|(owner, ending)| {
            modules.get(&owner.to_ascii_lowercase()).is_some_and(|m| modules::is_storage(m, ending))
        })
}

/// Whether a name contains a pattern, or matches it where the pattern has `*` or `?`. ASCII letters compare
/// without case.
fn matches(pattern: &str, name: &str) -> bool {
    if pattern.contains(['*', '?']) {
        return NameCase::AsciiInsensitive.matches(pattern, name);
    }
    name.to_ascii_lowercase().contains(&pattern.to_ascii_lowercase())
}

/// Describes objects.
pub(crate) fn describe(db: &Connection, names: &[ObjectName]) -> Result<Described> {
    let mut described = Described::default();
    let mut counter = Counter::new(db);
    for name in names {
        match schema::find(db, name)?.filter(|e| e.kind != EntryKind::Index) {
            Some(entry) => described.found.push(detail(db, &entry, &mut counter)?),
            None => described.missing.push(name.clone()),
        }
    }
    Ok(described)
}

fn detail(db: &Connection, entry: &Entry, counter: &mut Counter<'_>) -> Result<ObjectDetail> {
    let mut detail = ObjectDetail::new(shown(entry), entry.kind.object_kind());
    detail.definition.clone_from(&entry.sql);
    detail.summary.rows = counter.rows(entry).unwrap_or_default();
    let rows = match schema::columns(db, &entry.schema, &entry.name) {
        Ok(rows) => rows,
        // A view over a table that is gone stays in the schema, and so does a table without its module.
        Err(e) if entry.kind != EntryKind::Table && is_mistake(&e) => {
            detail.notes.push(format!("cannot be read: {e}"));
            return Ok(detail);
        }
        Err(e) => return Err(e),
    };
    let definition = entry.sql.as_deref().and_then(ddl::definition);
    let table = match definition {
        Some(Definition::Table(table)) => table,
        Some(Definition::Virtual { module, .. }) => {
            detail.notes.push(if modules::is_full_text(&module) {
                format!("full-text index ({module}), searched by MATCH")
            } else {
                format!("virtual table of the module {module}")
            });
            TableDefinition::default()
        }
        _ => TableDefinition::default(),
    };
    note(&mut detail, &table);
    let is_table = detail.summary.kind == ObjectKind::Table;
    let key = schema::integer_key(&rows, table.without_rowid).map(|c| c.name.clone());
    detail.columns = rows.iter().map(|row| column(row, &table.columns, is_table, key.as_deref())).collect();
    detail.primary_key = primary_key(&rows);
    if is_table {
        detail.foreign_keys = foreign_keys(db, entry)?;
        detail.indexes = indexes(db, entry)?;
    }
    Ok(detail)
}

fn note(detail: &mut ObjectDetail, table: &TableDefinition) {
    detail.summary.comment.clone_from(&table.comment);
    for (is, word) in [
        (table.without_rowid, "WITHOUT ROWID"),
        (table.strict, "STRICT"),
        (table.autoincrement, "AUTOINCREMENT"),
    ] {
        if is {
            detail.notes.push(word.to_owned());
        }
    }
}

fn column(row: &ColumnRow, texts: &[ColumnText], is_table: bool, integer_key: Option<&str>) -> Column {
    let text = texts.iter().find(|t| t.name.eq_ignore_ascii_case(&row.name));
    let not_null = row.not_null || integer_key == Some(row.name.as_str());
    Column {
        name: row.name.clone(),
        data_type: row.declared.clone(),
        nullable: is_table.then_some(!not_null),
        default: row.default.clone(),
        generated: (row.hidden == Hidden::Generated)
            .then(|| text.and_then(|t| t.generated.clone()).unwrap_or_default()),
        comment: text.and_then(|t| t.comment.clone()),
        allowed_values: text.map(|t| t.allowed_values.clone()).unwrap_or_default(),
        hidden: row.hidden == Hidden::Yes,
    }
}

fn primary_key(rows: &[ColumnRow]) -> Vec<String> {
    let mut keys: Vec<&ColumnRow> = rows.iter().filter(|c| c.key > 0).collect();
    keys.sort_by_key(|c| c.key);
    keys.into_iter().map(|c| c.name.clone()).collect()
}

/// Foreign keys in the order of the definition. One that names no columns points to the primary key.
fn foreign_keys(db: &Connection, entry: &Entry) -> Result<Vec<ForeignKey>> {
    let mut statement = db.prepare(
        "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?1, ?2) ORDER BY id DESC, seq",
    )?;
    let mut rows = statement.query(params![entry.name, entry.schema])?;
    let mut keys: Vec<(i64, ForeignKey)> = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, table): (i64, String) = (row.get(0)?, row.get(1)?);
        let (from, to): (String, Option<String>) = (row.get(2)?, row.get(3)?);
        match keys.last_mut() {
            Some((last, key)) if *last == id => {
                key.columns.push(from);
                key.target_columns.extend(to);
            }
            _ => keys.push((
                id,
                ForeignKey {
                    columns: vec![from],
                    target: named(&entry.schema, &table),
                    target_columns: to.into_iter().collect(),
                },
            )),
        }
    }
    for (_, key) in &mut keys {
        if key.target_columns.is_empty() {
            key.target_columns = primary_key(&schema::columns(db, &entry.schema, &key.target.name)?);
        }
    }
    Ok(keys.into_iter().map(|(_, key)| key).collect())
}

/// Indexes in the order in which they were made; the one behind the primary key is left out.
fn indexes(db: &Connection, entry: &Entry) -> Result<Vec<Index>> {
    let mut statement = db.prepare(
        "SELECT name, \"unique\" FROM pragma_index_list(?1, ?2) WHERE origin <> 'pk' ORDER BY seq DESC",
    )?;
    let names: Vec<(String, bool)> = statement
        .query_map(params![entry.name, entry.schema], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? != 0)))?
        .collect::<Result<_>>()?;
    let mut columns_of =
        db.prepare("SELECT name FROM pragma_index_xinfo(?1, ?2) WHERE key = 1 ORDER BY seqno")?;
    let mut indexes = Vec::with_capacity(names.len());
    for (name, unique) in names {
        let found: Vec<Option<String>> =
            columns_of.query_map(params![name, entry.schema], |row| row.get(0))?.collect::<Result<_>>()?;
        let sql = schema::find_in(db, &entry.schema, &name)?.and_then(|e| e.sql);
        let (texts, condition) = match sql.as_deref().and_then(ddl::definition) {
            Some(Definition::Index { columns, condition }) => (columns, condition),
            _ => (Vec::new(), None),
        };
        let columns = found
            .into_iter()
            .enumerate()
            .map(|(i, column)| column.or_else(|| texts.get(i).cloned()).unwrap_or_default())
            .collect();
        indexes.push(Index { name, columns, unique, condition });
    }
    Ok(indexes)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_are_parts_of_names_or_wild() {
        assert!(matches("rack", "Track") && matches("TRACK", "track"));
        assert!(!matches("tracks", "Track"));
        assert!(matches("t*k", "Track") && !matches("r*k", "Track") && matches("?rack", "Track"));
        assert!(matches("*", "") && matches("", "x"));
    }
}
