//! From descriptions of objects to the schema: words of names, classes of columns, declared links and
//! those that names suggest.

use std::collections::{BTreeMap, BTreeSet};

use dbagent_core::catalog::{ObjectDetail, ObjectKind};
use dbagent_core::name::ObjectName;

use super::{Class, Column, Edge, Schema, Table, TableId};
use crate::words::{Label, label, pieces, singular};

/// Builds the schema of these objects. Objects of the engine itself are left out.
pub(crate) fn build(objects: &[ObjectDetail]) -> Schema {
    let mut objects: Vec<&ObjectDetail> =
        objects.iter().filter(|o| o.summary.kind != ObjectKind::System && !o.columns.is_empty()).collect();
    objects.sort_by(|a, b| a.summary.name.cmp(&b.summary.name));
    objects.dedup_by(|a, b| a.summary.name == b.summary.name);
    let vocabulary = vocabulary(&objects);
    let tables: Vec<Table> = objects.iter().map(|o| table(o, &vocabulary)).collect();
    let mut schema = Schema {
        tables,
        edges: Vec::new(),
        nowhere: Table {
            name: ObjectName::new("?"),
            kind: ObjectKind::System,
            rows: None,
            label: Label::default(),
            columns: Vec::new(),
            key: Vec::new(),
        },
        no_column: Column {
            name: "?".into(),
            declared: String::new(),
            class: Class::Unknown,
            label: Label::default(),
            in_key: false,
            links: false,
            required: false,
        },
    };
    declared_links(&mut schema, &objects);
    assumed_links(&mut schema);
    for edge in schema.edges.clone() {
        for index in edge.columns {
            if let Some(column) = schema.tables.get_mut(edge.from.0).and_then(|t| t.columns.get_mut(index)) {
                column.links = true;
            }
        }
    }
    schema
}

/// Words that the writing of some identifier shows to be words.
fn vocabulary(objects: &[&ObjectDetail]) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    let names = objects
        .iter()
        .flat_map(|o| std::iter::once(&o.summary.name.name).chain(o.columns.iter().map(|c| &c.name)));
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for name in names {
        let parts = pieces(name);
        let several = parts.len() > 1;
        for part in parts {
            let word = singular(&part);
            if several && word.chars().count() >= 3 {
                out.insert(word);
            } else {
                *counts.entry(word).or_default() += 1;
            }
        }
    }
    // A table's name of one piece is a word, too, unless it can be cut with the others.
    for o in objects {
        if let [only] = pieces(&o.summary.name.name).as_slice() {
            let word = singular(only);
            if label(only, &out).words.len() == 1 {
                out.insert(word);
            }
        }
    }
    out
}

fn table(object: &ObjectDetail, vocabulary: &BTreeSet<String>) -> Table {
    let position = |name: &String| object.columns.iter().position(|c| c.name == *name);
    let key: Vec<usize> = object.primary_key.iter().filter_map(position).collect();
    let columns = object
        .columns
        .iter()
        .enumerate()
        .map(|(i, c)| {
            let label = label(&c.name, vocabulary);
            Column {
                class: class(&c.data_type, &label),
                declared: c.data_type.clone(),
                in_key: key.contains(&i),
                links: false,
                required: c.nullable == Some(false),
                name: c.name.clone(),
                label,
            }
        })
        .collect();
    Table {
        name: object.summary.name.clone(),
        kind: object.summary.kind,
        rows: object.summary.rows.number(),
        label: label(&object.summary.name.name, vocabulary),
        columns,
        key,
    }
}

fn class(declared: &str, label: &Label) -> Class {
    let declared = declared.to_ascii_uppercase();
    let has = |words: &[&str]| words.iter().any(|w| declared.contains(w));
    if has(&["BLOB", "BYTEA", "BINARY", "IMAGE"]) {
        Class::Blob
    } else if has(&["BOOL"]) || declared == "BIT" {
        Class::Bool
    } else if has(&["DATE", "TIME"]) {
        Class::Date
    } else if has(&["INT", "SERIAL", "YEAR"]) && !has(&["INTERVAL", "POINT"]) {
        // Seconds since 1970 are dates, too, where the name says when.
        let last = label.words.last().map(String::as_str);
        let dated = label.has_any(&["timestamp", "datetime", "date"])
            || (matches!(last, Some("at" | "on")) && label.words.len() > 1);
        if dated { Class::Date } else { Class::Int }
    } else if has(&["REAL", "FLOA", "DOUB", "NUMERIC", "DEC", "MONEY", "NUMBER"]) {
        Class::Real
    } else if has(&["CHAR", "CLOB", "TEXT", "STRING", "UUID", "ENUM"]) {
        // SQLite has no type for dates, so names tell.
        let last = label.words.last().map(String::as_str);
        let dated = label.has_any(&["date", "timestamp", "datetime"])
            || matches!(last, Some("hired" | "born" | "founded"))
            || (matches!(last, Some("at" | "on" | "created" | "updated")) && label.words.len() > 1);
        if dated { Class::Date } else { Class::Text }
    } else {
        Class::Unknown
    }
}

fn declared_links(schema: &mut Schema, objects: &[&ObjectDetail]) {
    let mut edges = Vec::new();
    for (i, object) in objects.iter().enumerate() {
        for key in &object.foreign_keys {
            let Some(to) = find(schema, &object.summary.name, &key.target) else { continue };
            let (Some(own), Some(other)) = (schema.tables.get(i), schema.tables.get(to.0)) else { continue };
            let columns = positions(own, &key.columns);
            let target_columns = if key.target_columns.is_empty() {
                other.key.clone()
            } else {
                positions(other, &key.target_columns)
            };
            if columns.len() == key.columns.len()
                && columns.len() == target_columns.len()
                && !columns.is_empty()
            {
                edges.push(edge(schema, TableId(i), columns, to, target_columns, false));
            }
        }
    }
    edges.dedup();
    schema.edges = edges;
}

fn find(schema: &Schema, from: &ObjectName, name: &ObjectName) -> Option<TableId> {
    let namespace = name.namespace.as_ref().or(from.namespace.as_ref());
    let same = |t: &Table| {
        t.name.name.eq_ignore_ascii_case(&name.name)
            && (namespace.is_none() || t.name.namespace.is_none() || t.name.namespace.as_ref() == namespace)
    };
    schema.tables().find(|(_, t)| same(t)).map(|(id, _)| id)
}

fn positions(table: &Table, names: &[String]) -> Vec<usize> {
    names.iter().filter_map(|n| table.columns.iter().position(|c| c.name.eq_ignore_ascii_case(n))).collect()
}

fn edge(
    schema: &Schema,
    from: TableId,
    columns: Vec<usize>,
    to: TableId,
    target_columns: Vec<usize>,
    assumed: bool,
) -> Edge {
    let source = schema.table(from);
    let target = schema.table(to);
    let mut role: Vec<String> = Vec::new();
    if let [only] = columns.as_slice()
        && let Some(column) = source.columns.get(*only)
    {
        let of_target =
            |w: &String| target.label.has(w) || ["id", "code", "key", "number", "fk"].contains(&w.as_str());
        role = column.label.words.iter().filter(|w| !of_target(w)).cloned().collect();
    }
    let mut sorted = columns.clone();
    sorted.sort_unstable();
    let mut key = source.key.clone();
    key.sort_unstable();
    Edge {
        from,
        unique: !key.is_empty() && key == sorted && from != to,
        columns,
        to,
        target_columns,
        role,
        assumed,
    }
}

/// Links that names suggest where a column has no declared one: `user_id` → `users.id`.
fn assumed_links(schema: &mut Schema) {
    let mut edges = Vec::new();
    for (from, table) in schema.tables() {
        if table.kind != ObjectKind::Table {
            continue;
        }
        for (index, column) in table.columns.iter().enumerate() {
            let declared = schema.edges.iter().any(|e| e.from == from && e.columns.contains(&index));
            if declared
                || table.key.as_slice() == [index]
                || matches!(column.class, Class::Blob | Class::Date)
            {
                continue;
            }
            let targets: Vec<(TableId, usize)> = schema
                .tables()
                .filter(|(id, t)| *id != from && t.kind == ObjectKind::Table)
                .filter_map(|(id, t)| target(column, t).map(|c| (id, c)))
                .collect();
            if let [(to, target_column)] = targets.as_slice() {
                edges.push(edge(schema, from, vec![index], *to, vec![*target_column], true));
            }
        }
    }
    schema.edges.extend(edges);
}

/// The column of `table` that a column of another table names.
fn target(column: &Column, table: &Table) -> Option<usize> {
    let (tail, head) = column.label.words.split_last()?;
    let names_key = ["id", "code", "key", "number"].contains(&tail.as_str());
    let key = match table.key.as_slice() {
        [only] => *only,
        [] => table.columns.iter().position(|c| c.label.words == ["id"] || c.label == column.label)?,
        _ => return None,
    };
    let key_column = table.columns.get(key)?;
    // The same name on both sides, if it says more than `id`.
    if names_key && !head.is_empty() && key_column.label == column.label {
        return Some(key);
    }
    let generic = key_column.label.words == ["id"] || key_column.label.words == [tail.clone()];
    let named = head == table.label.words
        || (!head.is_empty()
            && table.label.words.last() == head.last()
            && head.len() == 1
            && table.label.words.len() == 1);
    if names_key && named && generic {
        return Some(key);
    }
    // A table's bare name as the column: `department` → `departments.name` or `.id`.
    (column.label == table.label
        && generic
        && column.class == key_column.class
        && column.class != Class::Text)
        .then_some(key)
}
