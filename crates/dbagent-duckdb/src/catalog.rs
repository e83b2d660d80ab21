//! Lists and describes what is in a database.

use dbagent_core::catalog::{
    Column, Described, ForeignKey, Index, ObjectDetail, ObjectKind, ObjectPage, ObjectSummary, Page, RowCount,
};
use dbagent_core::{NameCase, ObjectName};

use crate::parse::ddl;
use crate::schema::{ColumnRow, ConstraintRow, Entry, EntryKind, Found, MAIN, Snapshot};

/// Lists tables and views, those of the engine left out.
pub(crate) fn objects(snapshot: &Snapshot, pattern: Option<&str>, page: Page) -> ObjectPage {
    let matching = || snapshot.entries().iter().filter(|e| pattern.is_none_or(|p| matches(p, &e.name)));
    let objects = matching().skip(page.offset).take(page.size).map(summary).collect();
    ObjectPage { objects, total: matching().count() }
}

/// Describes objects.
pub(crate) fn describe(snapshot: &Snapshot, names: &[ObjectName]) -> Described {
    let mut described = Described::default();
    for name in names {
        match snapshot.find(name, &[MAIN]) {
            Some(Found::Entry(entry)) => described.found.push(detail(entry)),
            Some(Found::Engine) | None => described.missing.push(name.clone()),
        }
    }
    described
}

/// A name as it is shown: objects of the default schema need no namespace.
fn named(schema: &str, name: &str) -> ObjectName {
    if schema.eq_ignore_ascii_case(MAIN) { ObjectName::new(name) } else { ObjectName::within(schema, name) }
}

fn kind(entry: &Entry) -> ObjectKind {
    match entry.kind {
        EntryKind::Table => ObjectKind::Table,
        EntryKind::View => ObjectKind::View,
    }
}

fn summary(entry: &Entry) -> ObjectSummary {
    let rows = match (entry.rows, &entry.files) {
        // The footers of files count rows; the engine's figure of a table counts removed ones too.
        (Some(n), Some(_)) => RowCount::Exactly(n),
        (Some(n), None) => RowCount::About(n),
        (None, _) => RowCount::Unknown,
    };
    ObjectSummary {
        name: named(&entry.schema, &entry.name),
        kind: kind(entry),
        rows,
        comment: entry.comment.clone(),
    }
}

/// Whether a name contains a pattern, or matches it where the pattern has `*` or `?`. ASCII letters compare
/// without case.
fn matches(pattern: &str, name: &str) -> bool {
    if pattern.contains(['*', '?']) {
        return NameCase::AsciiInsensitive.matches(pattern, name);
    }
    name.to_ascii_lowercase().contains(&pattern.to_ascii_lowercase())
}

fn detail(entry: &Entry) -> ObjectDetail {
    let is_table = entry.kind == EntryKind::Table && entry.files.is_none();
    let mut detail = ObjectDetail::new(named(&entry.schema, &entry.name), kind(entry));
    detail.summary = summary(entry);
    detail.columns = entry.columns.iter().map(|c| column(c, is_table)).collect();
    detail.definition.clone_from(&entry.sql);
    for constraint in &entry.constraints {
        match constraint.kind.as_str() {
            "PRIMARY KEY" => detail.primary_key = key_columns(constraint),
            "FOREIGN KEY" => detail.foreign_keys.extend(foreign_key(entry, constraint)),
            "UNIQUE" => detail.indexes.push(Index {
                name: String::new(),
                columns: key_columns(constraint),
                unique: true,
                condition: None,
            }),
            "CHECK" => detail.notes.push(constraint.text.clone()),
            _ => {}
        }
    }
    detail.indexes.extend(entry.indexes.iter().map(|index| Index {
        name: index.name.clone(),
        columns: index.sql.as_deref().map(ddl::index_columns).unwrap_or_default(),
        unique: index.unique,
        condition: None,
    }));
    if let Some(files) = &entry.files {
        detail.notes.extend(files.notes());
    }
    detail
}

fn key_columns(constraint: &ConstraintRow) -> Vec<String> {
    constraint.columns.clone()
}

/// The engine keeps foreign keys within one schema.
fn foreign_key(entry: &Entry, constraint: &ConstraintRow) -> Option<ForeignKey> {
    Some(ForeignKey {
        columns: constraint.columns.clone(),
        target: named(&entry.schema, constraint.target.as_deref()?),
        target_columns: constraint.target_columns.clone(),
    })
}

fn column(row: &ColumnRow, is_table: bool) -> Column {
    let text = row.default.clone();
    let (default, generated) = if row.generated { (None, text) } else { (text, None) };
    Column {
        name: row.name.clone(),
        data_type: row.data_type.clone(),
        nullable: is_table.then_some(row.nullable),
        default,
        generated,
        comment: row.comment.clone(),
        allowed_values: ddl::enum_labels(&row.data_type),
        hidden: false,
    }
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
