//! Lists and describes what is in a database.

mod describe;
pub(crate) mod rows;

use std::collections::HashMap;

use dbagent_core::catalog::{ObjectKind, ObjectPage, ObjectSummary, Page, RowCount};
use dbagent_core::{NameCase, ObjectName};
use sqlx::{MySqlConnection, Result};

pub(crate) use describe::describe;
use rows::{Names, Row};

use crate::flavor::Server;
use crate::ident::is_possible;

/// Which database names without one are in, and how names compare.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    pub(crate) server: Server,
    pub(crate) database: Option<String>,
    /// Whether names of tables are told apart by case.
    pub(crate) exact: bool,
}

impl Scope {
    /// A name as it is shown: objects of the session's own database need no namespace.
    fn shown(&self, database: &str, name: &str) -> ObjectName {
        match &self.database {
            Some(own) if self.same(own, database) => ObjectName::new(name),
            _ => ObjectName::within(database, name),
        }
    }

    /// Database and table of a name; none where it names no database and the session has none, and for a name
    /// that there cannot be.
    fn full<'a>(&'a self, name: &'a ObjectName) -> Option<(&'a str, &'a str)> {
        let database = name.namespace.as_deref().or(self.database.as_deref())?;
        (is_possible(database) && is_possible(&name.name)).then_some((database, &name.name))
    }

    fn same(&self, a: &str, b: &str) -> bool {
        a == b || (!self.exact && NameCase::Insensitive.same(a, b))
    }
}

/// The objects of the session's database; of every database but the server's own where it has none.
const OWN: &str = "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, TABLE_COMMENT FROM information_schema.TABLES \
                   WHERE TABLE_SCHEMA = ?";
const ALL: &str = "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, TABLE_COMMENT FROM information_schema.TABLES \
                   WHERE TABLE_SCHEMA NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys')";

/// The columns of a type that the driver cannot read.
const VECTORS: Names = Names::new(
    "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME FROM information_schema.COLUMNS WHERE DATA_TYPE = 'vector' AND ",
    ("TABLE_SCHEMA", "TABLE_NAME"),
    " ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION",
);

/// The VECTOR columns of these objects, each with the object that it is in.
pub(crate) async fn vectors(
    connection: &mut MySqlConnection,
    scope: &Scope,
    objects: &[ObjectName],
) -> Result<Vec<(ObjectName, String)>> {
    let named: Vec<(&str, &str)> = objects.iter().filter_map(|name| scope.full(name)).collect();
    let rows = VECTORS.fetch(&named, connection).await?;
    Ok(rows.iter().map(|row| (scope.shown(row.text(0), row.text(1)), row.text(2).to_owned())).collect())
}

/// The columns of tables with their types, and behind them the columns with which indexes begin, in one statement.
const COLUMNS: &str =
    "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, COLUMN_TYPE FROM information_schema.COLUMNS WHERE ";
const BEGINS: &str = " UNION ALL SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, NULL FROM information_schema.STATISTICS \
                      WHERE SEQ_IN_INDEX = 1 AND COLUMN_NAME IS NOT NULL AND SUB_PART IS NULL AND ";

/// What matters of a column where an index on it is thought of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexedColumn {
    pub(crate) name: String,
    pub(crate) data_type: String,
    /// Whether an index, or the primary key, begins with it.
    pub(crate) begins: bool,
}

/// The columns of each of these tables, in their order; none for a table that is not there. One statement, however
/// many there are: a statement names fewer tables than parameters fit.
pub(crate) async fn indexed(
    connection: &mut MySqlConnection,
    scope: &Scope,
    tables: &[ObjectName],
) -> Result<Vec<Vec<IndexedColumn>>> {
    let full: Vec<Option<(&str, &str)>> = tables.iter().map(|name| scope.full(name)).collect();
    let mut wanted: Vec<(&str, &str)> = full.iter().copied().flatten().collect();
    wanted.sort_unstable();
    wanted.dedup();
    let named = |before| rows::naming(before, ("TABLE_SCHEMA", "TABLE_NAME"), wanted.len());
    let rows = rows::fetch_named(named(COLUMNS) + &named(BEGINS), &[&wanted, &wanted], connection).await?;
    let columns = |(database, table): (&str, &str)| {
        let of: Vec<&Row> = rows
            .iter()
            .filter(|row| scope.same(row.text(0), database) && scope.same(row.text(1), table))
            .collect();
        let begins = |name: &str| of.iter().any(|row| row.get(3).is_none() && row.text(2) == name);
        let typed = of.iter().filter_map(|row| Some((row.text(2), row.get(3)?)));
        typed
            .map(|(name, data_type)| IndexedColumn {
                name: name.to_owned(),
                data_type: data_type.to_owned(),
                begins: begins(name),
            })
            .collect()
    };
    Ok(full.into_iter().map(|name| name.map(columns).unwrap_or_default()).collect())
}

/// Lists tables, views and sequences. Those of the server itself are left out.
///
/// Two round trips: the names of all, and the sizes of those on the page. The servers compare names in their
/// own ways, so patterns and order are ours.
pub(crate) async fn objects(
    connection: &mut MySqlConnection,
    scope: &Scope,
    pattern: Option<&str>,
    page: Page,
) -> Result<ObjectPage> {
    let rows = match &scope.database {
        Some(database) => rows::fetch(sqlx::query(OWN).bind(database), connection).await?,
        None => rows::fetch(sqlx::query(ALL), connection).await?,
    };
    let mut matching: Vec<(ObjectName, Row)> = rows
        .into_iter()
        .filter(|row| is_listed(row.text(2)) && pattern.is_none_or(|p| matches(p, row.text(1))))
        .map(|row| (scope.shown(row.text(0), row.text(1)), row))
        .collect();
    matching.sort_by(|(a, _), (b, _)| a.cmp(b));
    let total = matching.len();
    let on_page: Vec<(ObjectName, Row)> = matching.into_iter().skip(page.offset).take(page.size).collect();
    let sizes = sizes(connection, &on_page).await?;
    let objects = on_page
        .into_iter()
        .map(|(name, row)| {
            let full = (row.text(0).to_owned(), row.text(1).to_owned());
            ObjectSummary {
                name,
                kind: kind(row.text(2)),
                rows: sizes.get(&full).copied().unwrap_or_default(),
                comment: comment(row.text(2), row.get(3)),
            }
        })
        .collect();
    Ok(ObjectPage { objects, total })
}

/// How many rows the tables have, by the server's statistics.
async fn sizes(
    connection: &mut MySqlConnection,
    page: &[(ObjectName, Row)],
) -> Result<HashMap<(String, String), RowCount>> {
    let tables: Vec<(&str, &str)> = page
        .iter()
        .filter(|(_, row)| kind(row.text(2)) == ObjectKind::Table)
        .map(|(_, row)| (row.text(0), row.text(1)))
        .collect();
    let mut sizes = HashMap::new();
    for chunk in tables.chunks(rows::AT_ONCE) {
        let names = Names::new(
            "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_ROWS FROM information_schema.TABLES WHERE ",
            ("TABLE_SCHEMA", "TABLE_NAME"),
            "",
        );
        for row in names.fetch(chunk, connection).await? {
            sizes.insert((row.text(0).to_owned(), row.text(1).to_owned()), size(row.get(2)));
        }
    }
    Ok(sizes)
}

/// A size by the server's statistics. Where it never took any they say 0, as they do of an empty table.
fn size(rows: Option<&str>) -> RowCount {
    match rows.and_then(|n| n.parse().ok()) {
        None | Some(0) => RowCount::Unknown,
        Some(n) => RowCount::About(n),
    }
}

/// Temporary tables belong to one session and vanish with it.
fn is_listed(table_type: &str) -> bool {
    !matches!(table_type, "SYSTEM VIEW" | "TEMPORARY" | "TEMPORARY SEQUENCE")
}

fn kind(table_type: &str) -> ObjectKind {
    match table_type {
        "VIEW" => ObjectKind::View,
        "SYSTEM VIEW" => ObjectKind::System,
        // BASE TABLE, SYSTEM VERSIONED, SEQUENCE
        _ => ObjectKind::Table,
    }
}

/// The comment that somebody wrote. A view has the comment VIEW.
fn comment(table_type: &str, comment: Option<&str>) -> Option<String> {
    comment.filter(|c| !c.is_empty() && !table_type.ends_with("VIEW")).map(str::to_owned)
}

/// Whether a name contains a pattern, or matches it where the pattern has `*` or `?`.
fn matches(pattern: &str, name: &str) -> bool {
    if pattern.contains(['*', '?']) {
        return NameCase::Insensitive.matches(pattern, name);
    }
    name.to_lowercase().contains(&pattern.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_parts_of_names_or_wild() {
        assert!(matches("rack", "Track") && matches("TRACK", "track") && matches("ß", "straße"));
        assert!(!matches("tracks", "Track") && !matches("%", "Track"));
        assert!(matches("t*k", "Track") && !matches("r*k", "Track") && matches("?rack", "Track"));
    }

    #[test]
    fn names_of_the_own_database_are_short() {
        let scope = Scope { server: Server::MySql, database: Some("shop".into()), exact: false };
        assert_eq!(scope.shown("SHOP", "t"), ObjectName::new("t"));
        assert_eq!(scope.shown("other", "t"), ObjectName::within("other", "t"));
        let exact = Scope { exact: true, ..scope };
        assert_eq!(exact.shown("SHOP", "t"), ObjectName::within("SHOP", "t"));
    }
}
