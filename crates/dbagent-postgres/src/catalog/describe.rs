//! Everything about named objects: four statements, however many objects.

use std::collections::HashMap;

use dbagent_core::catalog::{Column, Described, ForeignKey, Index, ObjectDetail, ObjectKind};
use dbagent_core::context::CallContext;
use dbagent_core::{ObjectName, Result};
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use sqlx::postgres::types::Oid;

use super::{object_kind, row_count};
use crate::pool::Link;

/// Partitions and children that are named; of the rest only the number is told.
const NAMED: usize = 20;

/// The objects by the places at which they were asked for. A name without a schema is that of the first
/// schema in which names are looked up; those of the catalogue come first there.
const OBJECTS: &str = r"
SELECT w.place::int4 AS place, c.oid, c.schema, c.name, c.kind, obj_description(c.oid, 'pg_class') AS comment,
       CASE WHEN c.kind = 'v' THEN -1
            WHEN c.kind = 'p' THEN (
                SELECT CASE WHEN bool_or(l.reltuples < 0 OR l.reltuples = 0 AND l.relpages = 0 AND v.number < 140000)
                            THEN -1 ELSE sum(l.reltuples)::float8 END
                FROM pg_partition_tree(c.oid) AS tree JOIN pg_class l ON l.oid = tree.relid WHERE tree.isleaf)
            WHEN c.tuples = 0 AND c.pages = 0 AND v.number < 140000 THEN -1
            ELSE c.tuples END AS rows,
       CASE WHEN c.kind = 'p' THEN pg_get_partkeydef(c.oid) END AS partition_key,
       CASE WHEN c.is_partition THEN pg_get_expr(c.bound, c.oid) END AS partition_bound,
       CASE WHEN c.kind IN ('v', 'm') THEN pg_get_viewdef(c.oid, true) END AS definition,
       ARRAY(SELECT i.inhparent::regclass::text FROM pg_inherits i WHERE i.inhrelid = c.oid ORDER BY i.inhseqno) AS parents,
       ARRAY(SELECT i.inhrelid::regclass::text FROM pg_inherits i WHERE i.inhparent = c.oid ORDER BY 1 LIMIT $4) AS children,
       (SELECT count(*) FROM pg_inherits i WHERE i.inhparent = c.oid) AS child_count,
       (SELECT s.srvname::text FROM pg_foreign_table f JOIN pg_foreign_server s ON s.oid = f.ftserver
        WHERE f.ftrelid = c.oid) AS server,
       c.row_security, c.persistence, c.populated
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS w(schema, name, place)
CROSS JOIN (SELECT current_setting('server_version_num')::int4 AS number) AS v
JOIN LATERAL (
    SELECT c.oid, n.nspname::text AS schema, c.relname::text AS name, c.relkind::text AS kind,
           c.reltuples::float8 AS tuples, c.relpages AS pages, c.relispartition AS is_partition, c.relpartbound AS bound,
           c.relrowsecurity AS row_security, c.relpersistence::text AS persistence, c.relispopulated AS populated
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname::text = w.name AND c.relname = w.name::name AND c.relkind IN ('r', 'v', 'm', 'f', 'p')
      AND (n.nspname::text = w.schema OR w.schema IS NULL AND n.nspname::text = ANY ($3::text[]))
      AND has_schema_privilege(n.oid, 'USAGE')
      AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))
    ORDER BY array_position($3::text[], n.nspname::text) LIMIT 1
) AS c ON true
ORDER BY w.place
";

/// Columns in order, with the labels of enumerations, also behind a domain.
const COLUMNS: &str = r"
SELECT a.attrelid AS oid, a.attname::text AS name, format_type(a.atttypid, a.atttypmod) AS data_type,
       a.attnotnull AS not_null, pg_get_expr(d.adbin, d.adrelid) AS expression, a.attidentity::text AS identity,
       a.attgenerated::text AS generated, col_description(a.attrelid, a.attnum) AS comment,
       ARRAY(SELECT e.enumlabel::text FROM pg_enum e
             WHERE e.enumtypid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
             ORDER BY e.enumsortorder) AS labels,
       has_column_privilege(a.attrelid, a.attnum, 'SELECT') AS readable
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = ANY ($1) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attrelid, a.attnum
";

/// Keys, links, checks and exclusions. A link to a partitioned table is kept once more for each partition.
const CONSTRAINTS: &str = r"
SELECT k.conrelid AS oid, k.contype::text AS kind, pg_get_constraintdef(k.oid, true) AS definition,
       ARRAY(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY AS u(number, place)
             JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.number ORDER BY u.place) AS columns,
       n.nspname::text AS target_schema, c.relname::text AS target,
       ARRAY(SELECT a.attname::text FROM unnest(k.confkey) WITH ORDINALITY AS u(number, place)
             JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.number ORDER BY u.place) AS target_columns
FROM pg_constraint k JOIN pg_class o ON o.oid = k.conrelid
LEFT JOIN pg_class c ON c.oid = k.confrelid LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE k.conrelid = ANY ($1) AND k.contype IN ('p', 'f', 'c', 'x')
  AND (k.contype <> 'f' OR k.conparentid = 0 OR o.relispartition)
ORDER BY k.conrelid, k.contype, k.conname
";

/// Indexes with their key columns, expressions in the server's own words.
const INDEXES: &str = r"
SELECT i.indrelid AS oid, c.relname::text AS name, i.indisunique AS is_unique, i.indisvalid AS valid,
       m.amname::text AS method, pg_get_expr(i.indpred, i.indrelid, true) AS condition,
       ARRAY(SELECT coalesce(a.attname::text, pg_get_indexdef(i.indexrelid, k.place, true))
             FROM generate_series(1, i.indnkeyatts::int4) AS k(place)
             LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[k.place - 1]
                                     AND i.indkey[k.place - 1] <> 0
             ORDER BY k.place) AS columns
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
WHERE i.indrelid = ANY ($1)
ORDER BY i.indrelid, NOT i.indisprimary, c.relname
";

/// Describes objects in the order in which they were asked for.
///
/// # Errors
/// What the server says.
pub(crate) async fn describe(
    link: &mut Link,
    names: &[ObjectName],
    schemas: &[String],
    call: &CallContext,
) -> Result<Described> {
    let path: Vec<&str> = std::iter::once("pg_catalog").chain(schemas.iter().map(String::as_str)).collect();
    // A name beyond the longest that the server keeps would be cut to one that exists.
    let query = sqlx::query(OBJECTS)
        .bind(names.iter().map(|n| n.namespace.as_deref()).collect::<Vec<_>>())
        .bind(names.iter().map(|n| n.name.as_str()).collect::<Vec<_>>())
        .bind(path)
        .bind(i64::try_from(NAMED).unwrap_or(i64::MAX))
        .persistent(link.keeps_statements());
    let rows = call.bound("describe", query.fetch_all(link.start()?)).await?;
    let rows = link.done(rows, call, "describe")?;
    let objects: Vec<(usize, Oid, ObjectDetail)> =
        link.done(rows.iter().map(object).collect(), call, "describe")?;

    let mut oids: Vec<Oid> = objects.iter().map(|(_, oid, _)| *oid).collect();
    oids.sort_unstable_by_key(|oid| oid.0);
    oids.dedup();
    let columns = Parts::read(link, COLUMNS, &oids, call, column).await?;
    let constraints = Parts::read(link, CONSTRAINTS, &oids, call, constraint).await?;
    let indexes = Parts::read(link, INDEXES, &oids, call, index).await?;

    let mut described = Described::default();
    let mut found: HashMap<usize, ObjectDetail> = HashMap::new();
    for (place, oid, mut object) in objects {
        let hidden = columns.of(oid).filter(|(_, readable)| !readable).count();
        object.columns = columns.of(oid).filter(|(_, readable)| *readable).map(|(c, _)| c.clone()).collect();
        if hidden > 0 {
            object.notes.push(format!("{hidden} more columns that the account may not read"));
        }
        for constraint in constraints.of(oid) {
            match constraint {
                Constraint::Primary(columns) => object.primary_key.clone_from(columns),
                Constraint::Foreign(key) => object.foreign_keys.push(key.clone()),
                Constraint::Other(definition) => object.notes.push(definition.clone()),
            }
        }
        for (index, note) in indexes.of(oid) {
            object.indexes.push(index.clone());
            object.notes.extend(note.clone());
        }
        found.insert(place, object);
    }
    for (index, name) in names.iter().enumerate() {
        match found.remove(&(index + 1)) {
            Some(object) => described.found.push(object),
            None => described.missing.push(name.clone()),
        }
    }
    Ok(described)
}

/// What belongs to objects, by object.
struct Parts<T>(HashMap<u32, Vec<T>>);

impl<T> Parts<T> {
    async fn read(
        link: &mut Link,
        text: &'static str,
        oids: &[Oid],
        call: &CallContext,
        part: fn(&PgRow) -> sqlx::Result<T>,
    ) -> Result<Self> {
        let query = sqlx::query(text).bind(oids).persistent(link.keeps_statements());
        let rows = call.bound("describe", query.fetch_all(link.start()?)).await?;
        let rows = link.done(rows, call, "describe")?;
        let mut parts: HashMap<u32, Vec<T>> = HashMap::new();
        for row in &rows {
            let read = row.try_get::<Oid, _>("oid").and_then(|oid| Ok((oid.0, part(row)?)));
            let (oid, part) = link.done(read, call, "describe")?;
            parts.entry(oid).or_default().push(part);
        }
        Ok(Self(parts))
    }

    fn of(&self, oid: Oid) -> impl Iterator<Item = &T> {
        self.0.get(&oid.0).into_iter().flatten()
    }
}

fn object(row: &PgRow) -> sqlx::Result<(usize, Oid, ObjectDetail)> {
    let schema: String = row.try_get("schema")?;
    let kind: String = row.try_get("kind")?;
    let kind = object_kind(&kind, &schema);
    let mut object = ObjectDetail::new(ObjectName::within(schema, row.try_get::<String, _>("name")?), kind);
    object.summary.rows = row_count(row.try_get("rows")?);
    object.summary.comment = row.try_get("comment")?;
    object.definition = row.try_get("definition")?;
    object.notes = notes(row, kind)?;
    let place = usize::try_from(row.try_get::<i32, _>("place")?).unwrap_or_default();
    Ok((place, row.try_get("oid")?, object))
}

fn notes(row: &PgRow, kind: ObjectKind) -> sqlx::Result<Vec<String>> {
    let mut notes = Vec::new();
    let key: Option<String> = row.try_get("partition_key")?;
    let bound: Option<String> = row.try_get("partition_bound")?;
    let parents: Vec<String> = row.try_get("parents")?;
    let children: Vec<String> = row.try_get("children")?;
    let count = usize::try_from(row.try_get::<i64, _>("child_count")?).unwrap_or_default();
    if let Some(key) = &key {
        notes.push(format!("PARTITION BY {key}"));
    }
    if !children.is_empty() {
        let word = if key.is_some() { "partitions" } else { "inherited by" };
        let more = count.saturating_sub(children.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        notes.push(format!("{word}: {}{more}", children.join(", ")));
    }
    match bound {
        Some(bound) => notes.push(format!("partition of {} {bound}", parents.join(", "))),
        None if !parents.is_empty() => notes.push(format!("INHERITS ({})", parents.join(", "))),
        None => {}
    }
    if let Some(server) = row.try_get::<Option<String>, _>("server")? {
        notes.push(format!("on the foreign server {server}"));
    }
    if row.try_get("row_security")? {
        notes.push("row-level security: the account may not see every row".to_owned());
    }
    match row.try_get::<String, _>("persistence")?.as_str() {
        "u" => notes.push("UNLOGGED".to_owned()),
        "t" => notes.push("TEMPORARY".to_owned()),
        _ => {}
    }
    if kind == ObjectKind::MaterializedView && !row.try_get::<bool, _>("populated")? {
        notes.push("not filled yet: it cannot be read before REFRESH MATERIALIZED VIEW".to_owned());
    }
    Ok(notes)
}

/// A column, and whether the account may read it.
fn column(row: &PgRow) -> sqlx::Result<(Column, bool)> {
    let expression: Option<String> = row.try_get("expression")?;
    let generated: String = row.try_get("generated")?;
    let identity: String = row.try_get("identity")?;
    let (default, generated) = match (generated.as_str(), identity.as_str()) {
        ("s", _) => (None, expression),
        ("v", _) => (None, expression.map(|e| format!("{e} VIRTUAL"))),
        (_, "a") => (Some("GENERATED ALWAYS AS IDENTITY".to_owned()), None),
        (_, "d") => (Some("GENERATED BY DEFAULT AS IDENTITY".to_owned()), None),
        _ => (expression, None),
    };
    let column = Column {
        name: row.try_get("name")?,
        data_type: row.try_get("data_type")?,
        nullable: Some(!row.try_get::<bool, _>("not_null")?),
        default,
        generated,
        comment: row.try_get("comment")?,
        allowed_values: row.try_get("labels")?,
        hidden: false,
    };
    Ok((column, row.try_get("readable")?))
}

enum Constraint {
    Primary(Vec<String>),
    Foreign(ForeignKey),
    /// A check or an exclusion, in the server's own words.
    Other(String),
}

fn constraint(row: &PgRow) -> sqlx::Result<Constraint> {
    let columns: Vec<String> = row.try_get("columns")?;
    Ok(match row.try_get::<String, _>("kind")?.as_str() {
        "p" => Constraint::Primary(columns),
        "f" => Constraint::Foreign(ForeignKey {
            columns,
            target: ObjectName {
                namespace: row.try_get("target_schema")?,
                name: row.try_get::<Option<String>, _>("target")?.unwrap_or_default(),
            },
            target_columns: row.try_get("target_columns")?,
        }),
        _ => Constraint::Other(row.try_get("definition")?),
    })
}

/// An index, and what else matters about it.
fn index(row: &PgRow) -> sqlx::Result<(Index, Option<String>)> {
    let name: String = row.try_get("name")?;
    let method: String = row.try_get("method")?;
    let mut notes = Vec::new();
    if method != "btree" {
        notes.push(format!("the index {name} uses {method}"));
    }
    if !row.try_get::<bool, _>("valid")? {
        notes.push(format!("the index {name} is not valid and not used"));
    }
    let index = Index {
        columns: row.try_get("columns")?,
        unique: row.try_get("is_unique")?,
        condition: row.try_get("condition")?,
        name,
    };
    Ok((index, (!notes.is_empty()).then(|| notes.join("; "))))
}
