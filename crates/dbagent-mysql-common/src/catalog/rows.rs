//! Rows of the catalogue, each value as text, and questions about several tables at once.

use sqlx::mysql::{MySql, MySqlArguments, MySqlRow};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, MySqlConnection, Result, Row as _};

use crate::types;

/// How many tables are asked for at once: two parameters each, of 65,535 that a statement may have.
pub(super) const AT_ONCE: usize = 2_000;

/// A row, each value as text.
#[derive(Debug, Clone)]
pub(crate) struct Row(Vec<Option<String>>);

impl Row {
    fn read(row: &MySqlRow) -> Result<Self> {
        let specs = types::specs(row.columns());
        let value = |(index, spec): (usize, &types::Spec)| {
            let bytes = types::bytes(row, index, spec.code).map_err(|e| sqlx::Error::Decode(Box::new(e)))?;
            Ok(bytes.map(|b| types::shown(b, spec.code)))
        };
        specs.iter().enumerate().map(value).collect::<Result<_>>().map(Self)
    }

    /// The value of a column; none where it is NULL.
    pub(crate) fn get(&self, column: usize) -> Option<&str> {
        self.0.get(column)?.as_deref()
    }

    /// The value of a column; empty where it is NULL.
    pub(crate) fn text(&self, column: usize) -> &str {
        self.get(column).unwrap_or_default()
    }
}

/// All rows of a statement.
pub(crate) async fn fetch(
    query: Query<'_, MySql, MySqlArguments>,
    connection: &mut MySqlConnection,
) -> Result<Vec<Row>> {
    query.fetch_all(connection).await?.iter().map(Row::read).collect()
}

/// A fixed question about the tables that are named by its parameters.
pub(super) struct Names {
    before: &'static str,
    columns: (&'static str, &'static str),
    after: &'static str,
}

impl Names {
    /// `before` ends where a condition may stand; the `columns` hold database and table.
    pub(super) const fn new(
        before: &'static str,
        columns: (&'static str, &'static str),
        after: &'static str,
    ) -> Self {
        Self { before, columns, after }
    }

    /// The rows for these tables. The text says only how many there are; the names are bound.
    pub(super) async fn fetch(
        &self,
        tables: &[(&str, &str)],
        connection: &mut MySqlConnection,
    ) -> Result<Vec<Row>> {
        let sql = naming(self.before, self.columns, tables.len()) + self.after;
        fetch_named(sql, &[tables], connection).await
    }
}

/// A fixed text, and behind it the condition that a table is one of so many.
pub(super) fn naming(before: &str, (database, table): (&str, &str), tables: usize) -> String {
    format!("{before}({database}, {table}) IN ({})", vec!["(?, ?)"; tables].join(", "))
}

/// The rows of a text that names tables, as often as lists of them are given.
pub(super) async fn fetch_named(
    sql: String,
    tables: &[&[(&str, &str)]],
    connection: &mut MySqlConnection,
) -> Result<Vec<Row>> {
    if tables.iter().any(|list| list.is_empty()) {
        return Ok(Vec::new());
    }
    let mut query = sqlx::query(AssertSqlSafe(sql));
    for (database, table) in tables.iter().copied().flatten() {
        query = query.bind((*database).to_owned()).bind((*table).to_owned());
    }
    fetch(query, connection).await
}
