//! Describes tables: seven questions, however many tables there are.

use std::collections::HashMap;

use dbagent_core::ObjectName;
use dbagent_core::catalog::{Column, Described, ForeignKey, Index, ObjectDetail, ObjectKind};
use sqlx::{MySqlConnection, Result};

use super::rows::{AT_ONCE, Names, Row};
use super::{Scope, comment, kind, size};
use crate::flavor::Server;

const OWN: (&str, &str) = ("TABLE_SCHEMA", "TABLE_NAME");

const TABLES: Names = Names::new(
    "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, TABLE_COMMENT, TABLE_ROWS, ENGINE \
     FROM information_schema.TABLES WHERE ",
    OWN,
    "",
);
const COLUMNS: Names = Names::new(
    "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, \
     GENERATION_EXPRESSION, COLUMN_COMMENT FROM information_schema.COLUMNS WHERE ",
    OWN,
    " ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION",
);
/// MySQL indexes expressions; MariaDB has no column for them.
const INDEXES_MYSQL: Names = Names::new(
    "SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, NON_UNIQUE, COLUMN_NAME, SUB_PART, INDEX_TYPE, EXPRESSION \
     FROM information_schema.STATISTICS WHERE ",
    OWN,
    " ORDER BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX",
);
const INDEXES_MARIADB: Names = Names::new(
    "SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, NON_UNIQUE, COLUMN_NAME, SUB_PART, INDEX_TYPE, NULL \
     FROM information_schema.STATISTICS WHERE ",
    OWN,
    " ORDER BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX",
);
const FOREIGN_KEYS: Names = Names::new(
    "SELECT TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_SCHEMA, \
     REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE \
     WHERE REFERENCED_TABLE_NAME IS NOT NULL AND ",
    OWN,
    " ORDER BY TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION",
);
const VIEWS: Names = Names::new(
    "SELECT TABLE_SCHEMA, TABLE_NAME, VIEW_DEFINITION, SECURITY_TYPE, DEFINER FROM information_schema.VIEWS WHERE ",
    OWN,
    "",
);
const PARTITIONS: Names = Names::new(
    "SELECT TABLE_SCHEMA, TABLE_NAME, PARTITION_NAME, PARTITION_METHOD, PARTITION_EXPRESSION, \
     SUBPARTITION_METHOD, SUBPARTITION_EXPRESSION FROM information_schema.PARTITIONS \
     WHERE PARTITION_NAME IS NOT NULL AND ",
    OWN,
    " ORDER BY TABLE_SCHEMA, TABLE_NAME, PARTITION_ORDINAL_POSITION",
);
const CHECKS_MYSQL: Names = Names::new(
    "SELECT t.TABLE_SCHEMA, t.TABLE_NAME, c.CHECK_CLAUSE FROM information_schema.TABLE_CONSTRAINTS t \
     JOIN information_schema.CHECK_CONSTRAINTS c ON c.CONSTRAINT_SCHEMA = t.CONSTRAINT_SCHEMA \
     AND c.CONSTRAINT_NAME = t.CONSTRAINT_NAME WHERE t.CONSTRAINT_TYPE = 'CHECK' AND ",
    ("t.TABLE_SCHEMA", "t.TABLE_NAME"),
    " ORDER BY c.CONSTRAINT_NAME",
);
const CHECKS_MARIADB: Names = Names::new(
    "SELECT CONSTRAINT_SCHEMA, TABLE_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS WHERE ",
    ("CONSTRAINT_SCHEMA", "TABLE_NAME"),
    " ORDER BY CONSTRAINT_NAME",
);

/// A table by database and name, as the catalogue spells them.
type Key = (String, String);

/// Describes objects, in the order asked.
pub(crate) async fn describe(
    connection: &mut MySqlConnection,
    scope: &Scope,
    names: &[ObjectName],
) -> Result<Described> {
    let wanted: Vec<(&str, &str)> = names.iter().filter_map(|name| scope.full(name)).collect();
    let mut details: Vec<(Key, ObjectDetail)> = Vec::new();
    for chunk in wanted.chunks(AT_ONCE) {
        details.extend(described(connection, scope, chunk).await?);
    }
    let mut answer = Described::default();
    for name in names {
        let full = scope.full(name);
        let found = full.and_then(|(database, table)| {
            let same = |(d, t): &Key| scope.same(d, database) && scope.same(t, table);
            details.iter().find(|(key, _)| same(key))
        });
        match found {
            Some((_, detail)) => answer.found.push(detail.clone()),
            None => answer.missing.push(name.clone()),
        }
    }
    Ok(answer)
}

async fn described(
    connection: &mut MySqlConnection,
    scope: &Scope,
    wanted: &[(&str, &str)],
) -> Result<Vec<(Key, ObjectDetail)>> {
    let tables = TABLES.fetch(wanted, connection).await?;
    // The other questions are asked by the catalogue's own spelling.
    let found: Vec<(&str, &str)> = tables.iter().map(|row| (row.text(0), row.text(1))).collect();
    let mariadb = scope.server == Server::MariaDb;
    let mut columns = grouped(COLUMNS.fetch(&found, connection).await?);
    let indexes = if mariadb { INDEXES_MARIADB } else { INDEXES_MYSQL };
    let mut indexes = grouped(indexes.fetch(&found, connection).await?);
    let mut foreign_keys = grouped(FOREIGN_KEYS.fetch(&found, connection).await?);
    let mut views = grouped(VIEWS.fetch(&found, connection).await?);
    let mut partitions = grouped(PARTITIONS.fetch(&found, connection).await?);
    let checks = if mariadb { CHECKS_MARIADB } else { CHECKS_MYSQL };
    let mut checks = grouped(checks.fetch(&found, connection).await?);

    let mut details = Vec::with_capacity(tables.len());
    for row in &tables {
        let key = (row.text(0).to_owned(), row.text(1).to_owned());
        let of = |rows: &mut HashMap<Key, Vec<Row>>| rows.remove(&key).unwrap_or_default();
        let mut detail = table(scope, row);
        detail.columns = of(&mut columns).iter().map(|row| column(row, scope.server)).collect();
        keys(&mut detail, &of(&mut indexes));
        detail.foreign_keys = links(scope, &of(&mut foreign_keys));
        if let Some(view) = of(&mut views).first() {
            detail.definition = view.get(2).filter(|d| !d.is_empty()).map(str::to_owned);
            if view.get(3) == Some("DEFINER") {
                detail.notes.push(format!("runs with the rights of {}", view.text(4)));
            }
        }
        detail.notes.extend(partitioning(&of(&mut partitions)));
        detail.notes.extend(of(&mut checks).iter().map(|row| format!("CHECK ({})", row.text(2))));
        details.push((key, detail));
    }
    Ok(details)
}

/// Rows by the table that they are of, in their order.
fn grouped(rows: Vec<Row>) -> HashMap<Key, Vec<Row>> {
    let mut groups: HashMap<Key, Vec<Row>> = HashMap::new();
    for row in rows {
        groups.entry((row.text(0).to_owned(), row.text(1).to_owned())).or_default().push(row);
    }
    groups
}

fn table(scope: &Scope, row: &Row) -> ObjectDetail {
    let table_type = row.text(2);
    let mut detail = ObjectDetail::new(scope.shown(row.text(0), row.text(1)), kind(table_type));
    detail.summary.comment = comment(table_type, row.get(3));
    if detail.summary.kind == ObjectKind::Table {
        detail.summary.rows = size(row.get(4));
    }
    match table_type {
        // Where a view works, its comment says that it is one.
        "VIEW" => {
            let why = row.get(3).filter(|c| !c.is_empty() && !c.eq_ignore_ascii_case("VIEW"));
            detail.notes.extend(why.map(|why| format!("cannot be read: {why}")));
        }
        "SEQUENCE" => {
            detail.notes.push("a sequence: a SELECT shows its state and does not advance it".to_owned());
        }
        "SYSTEM VERSIONED" => {
            detail
                .notes
                .push("system-versioned: FOR SYSTEM_TIME AS OF, BETWEEN or ALL reads older rows".to_owned());
        }
        _ => {}
    }
    if let Some(engine) = row.get(5).filter(|e| !e.eq_ignore_ascii_case("InnoDB")) {
        detail.notes.push(format!("engine {engine}"));
    }
    detail
}

fn column(row: &Row, server: Server) -> Column {
    let (data_type, extra) = (row.text(3), row.text(6).to_ascii_lowercase());
    let generated = extra.contains("virtual generated") || extra.contains("stored generated");
    let mut default = row.get(5).map(str::to_owned);
    // MariaDB writes the NULL that is the default of a column that has none.
    if server == Server::MariaDb && default.as_deref() == Some("NULL") {
        default = None;
    }
    if extra.contains("auto_increment") {
        default = Some("AUTO_INCREMENT".to_owned());
    }
    if let Some(at) = extra.find("on update ") {
        let update = row.text(6).get(at..).unwrap_or_default();
        default = Some(format!("{} {update}", default.unwrap_or_default()).trim().to_owned());
    }
    Column {
        name: row.text(2).to_owned(),
        data_type: data_type.to_owned(),
        nullable: Some(row.text(4).eq_ignore_ascii_case("YES")),
        default: default.filter(|_| !generated),
        generated: generated.then(|| row.text(7).to_owned()),
        comment: row.get(8).filter(|c| !c.is_empty()).map(str::to_owned),
        allowed_values: labels(data_type),
        hidden: extra.contains("invisible"),
    }
}

/// The labels of `enum('a','it''s')`, as the catalogue writes them.
fn labels(data_type: &str) -> Vec<String> {
    let list = data_type.strip_prefix("enum(").and_then(|rest| rest.strip_suffix(')'));
    let Some(list) = list else { return Vec::new() };
    let mut labels = Vec::new();
    let mut chars = list.chars().peekable();
    while chars.next() == Some('\'') {
        let mut label = String::new();
        while let Some(c) = chars.next() {
            match c {
                '\'' if chars.peek() == Some(&'\'') => {
                    chars.next();
                    label.push('\'');
                }
                '\'' => break,
                c => label.push(c),
            }
        }
        labels.push(label);
        chars.next_if_eq(&',');
    }
    labels
}

/// The primary key and the indexes, from one row for each column of an index.
fn keys(detail: &mut ObjectDetail, rows: &[Row]) {
    for row in rows {
        let column = match (row.get(4), row.get(7)) {
            (Some(column), _) => match row.get(5) {
                // The index holds the beginning of each value only.
                Some(length) if !matches!(row.text(6), "FULLTEXT" | "SPATIAL") => {
                    format!("{column}({length})")
                }
                _ => column.to_owned(),
            },
            (None, Some(expression)) => format!("({expression})"),
            (None, None) => continue,
        };
        let name = row.text(2);
        if name == "PRIMARY" {
            detail.primary_key.push(row.get(4).unwrap_or(&column).to_owned());
            continue;
        }
        match detail.indexes.last_mut() {
            Some(index) if index.name == name => index.columns.push(column),
            _ => {
                match row.text(6) {
                    "FULLTEXT" => {
                        detail.notes.push(format!("full-text index {name}: MATCH (…) AGAINST ('word')"));
                    }
                    "SPATIAL" => detail.notes.push(format!("spatial index {name}")),
                    _ => {}
                }
                detail.indexes.push(Index {
                    name: name.to_owned(),
                    columns: vec![column],
                    unique: row.text(3) == "0",
                    condition: None,
                });
            }
        }
    }
}

/// Foreign keys, from one row for each column of one.
fn links(scope: &Scope, rows: &[Row]) -> Vec<ForeignKey> {
    let mut keys: Vec<(&str, ForeignKey)> = Vec::new();
    for row in rows {
        let (name, column, target) = (row.text(2), row.text(3).to_owned(), row.text(6).to_owned());
        match keys.last_mut() {
            Some((last, key)) if *last == name => {
                key.columns.push(column);
                key.target_columns.push(target);
            }
            _ => keys.push((
                name,
                ForeignKey {
                    columns: vec![column],
                    target: scope.shown(row.text(4), row.text(5)),
                    target_columns: vec![target],
                },
            )),
        }
    }
    keys.into_iter().map(|(_, key)| key).collect()
}

/// How a table is partitioned, in one phrase.
fn partitioning(rows: &[Row]) -> Option<String> {
    /// Partitions that are named.
    const NAMED: usize = 20;
    let first = rows.first()?;
    let mut names: Vec<&str> = rows.iter().map(|row| row.text(2)).collect();
    // One row for each subpartition.
    names.dedup();
    let by = |method: usize, expression: usize| match first.get(expression) {
        Some(expression) => format!("{} ({expression})", first.text(method)),
        None => first.text(method).to_owned(),
    };
    let sub = first.get(5).map(|_| format!(", subpartitioned by {}", by(5, 6))).unwrap_or_default();
    let shown = names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    let more = if names.len() > NAMED { ", …" } else { "" };
    Some(format!("partitioned by {}{sub} into {}: {shown}{more}", by(3, 4), names.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_as_they_are_written() {
        assert_eq!(labels("enum('a','it''s','x,y','')"), ["a", "it's", "x,y", ""]);
        assert!(labels("varchar(10)").is_empty() && labels("set('a')").is_empty());
    }
}
