//! Lists and describes what is in a database, in a constant number of round trips.

mod describe;

use dbagent_core::catalog::{ObjectKind, ObjectPage, ObjectSummary, Page, RowCount};
use dbagent_core::context::CallContext;
use dbagent_core::{ObjectName, Result};
use sqlx::Row as _;
use sqlx::postgres::PgRow;

pub(crate) use describe::describe;

use crate::pool::Link;

/// A page of the objects that the account may read, with the count of all. Partitions are part of their
/// table, whose rows are the sum of theirs; a table that was never analysed has an unknown number of rows
/// (before version 14 that cannot be told from an empty one).
const LIST: &str = r#"
WITH o AS (
    SELECT c.oid, n.nspname::text COLLATE "C" AS schema, c.relname::text COLLATE "C" AS name, c.relkind::text AS kind,
           c.reltuples::float8 AS tuples, c.relpages AS pages
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND NOT c.relispartition
      AND n.nspname <> 'information_schema' AND left(n.nspname::text, 3) <> 'pg_'
      AND has_schema_privilege(n.oid, 'USAGE')
      AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))
      AND ($1::text IS NULL OR c.relname::text ILIKE $1)
)
SELECT t.total, p.schema, p.name, p.kind, obj_description(p.oid, 'pg_class') AS comment,
       CASE WHEN p.kind = 'v' THEN -1
            WHEN p.kind = 'p' THEN (
                SELECT CASE WHEN bool_or(l.reltuples < 0 OR l.reltuples = 0 AND l.relpages = 0 AND v.number < 140000)
                            THEN -1 ELSE sum(l.reltuples)::float8 END
                FROM pg_partition_tree(p.oid) AS tree JOIN pg_class l ON l.oid = tree.relid WHERE tree.isleaf)
            WHEN p.tuples = 0 AND p.pages = 0 AND v.number < 140000 THEN -1
            ELSE p.tuples END AS rows
FROM (SELECT count(*) AS total FROM o) AS t
CROSS JOIN (SELECT current_setting('server_version_num')::int4 AS number) AS v
LEFT JOIN (SELECT * FROM o ORDER BY schema, name LIMIT $2 OFFSET $3) AS p ON true
ORDER BY p.schema, p.name
"#;

/// Lists tables, views, materialised views and foreign tables that the account may read.
///
/// # Errors
/// What the server says.
pub(crate) async fn objects(
    link: &mut Link,
    pattern: Option<&str>,
    page: Page,
    call: &CallContext,
) -> Result<ObjectPage> {
    let query = sqlx::query(LIST)
        .bind(pattern.map(like))
        .bind(i64::try_from(page.size).unwrap_or(i64::MAX))
        .bind(i64::try_from(page.offset).unwrap_or(i64::MAX))
        .persistent(link.keeps_statements());
    let rows = call.bound("list", query.fetch_all(link.start()?)).await?;
    let rows = link.done(rows, call, "list")?;
    let mut list = ObjectPage::default();
    for row in &rows {
        let total = row.try_get::<i64, _>("total").unwrap_or_default();
        list.total = usize::try_from(total).unwrap_or_default();
        let summary = link.done(summary(row), call, "list")?;
        list.objects.extend(summary);
    }
    Ok(list)
}

/// The object of a row; none where the page is beyond the end.
fn summary(row: &PgRow) -> sqlx::Result<Option<ObjectSummary>> {
    let Some(schema) = row.try_get::<Option<String>, _>("schema")? else { return Ok(None) };
    let kind: String = row.try_get("kind")?;
    Ok(Some(ObjectSummary {
        kind: object_kind(&kind, &schema),
        name: ObjectName::within(schema, row.try_get::<String, _>("name")?),
        rows: row_count(row.try_get("rows")?),
        comment: row.try_get("comment")?,
    }))
}

fn object_kind(relkind: &str, schema: &str) -> ObjectKind {
    if matches!(schema, "pg_catalog" | "information_schema") {
        return ObjectKind::System;
    }
    match relkind {
        "v" => ObjectKind::View,
        "m" => ObjectKind::MaterializedView,
        "f" => ObjectKind::ForeignTable,
        _ => ObjectKind::Table,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a statistic; negative means unknown"
)]
fn row_count(tuples: Option<f64>) -> RowCount {
    match tuples {
        Some(n) if n >= 0.0 => RowCount::About(n.round() as u64),
        _ => RowCount::Unknown,
    }
}

/// A pattern of LIKE for a part of a name, or for a whole one where `*` and `?` stand in it.
fn like(pattern: &str) -> String {
    let whole = pattern.contains(['*', '?']);
    let mut out = String::from(if whole { "" } else { "%" });
    for c in pattern.chars() {
        match c {
            '*' => out.push('%'),
            '?' => out.push('_'),
            '%' | '_' | '\\' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    if !whole {
        out.push('%');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_become_those_of_like() {
        assert_eq!(like("ser"), "%ser%");
        assert_eq!(like("u*s?"), "u%s_");
        assert_eq!(like("100%_\\"), "%100\\%\\_\\\\%");
    }

    #[test]
    fn a_negative_count_is_unknown() {
        assert_eq!(row_count(Some(-1.0)), RowCount::Unknown);
        assert_eq!(row_count(None), RowCount::Unknown);
        assert_eq!(row_count(Some(5.0)), RowCount::About(5));
    }
}
