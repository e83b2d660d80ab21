//! What the planner says: estimates, and what in a plan is worth a word.

mod condition;
mod printed;
mod reading;

use dbagent_core::context::CallContext;
use dbagent_core::estimate::{Estimate, Hint, Plan};
use dbagent_core::serde_json::Value;
use dbagent_core::{Error, ErrorKind, Params, Result};
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row as _};

use crate::bind;
use crate::error::stopped;
use crate::pool::Link;
use crate::read::{failed, parameters, prepare};

pub(crate) use printed::read as read_printed;
use reading::{Candidate, Reading, Statistics};

const AS_JSON: &str = "EXPLAIN (VERBOSE, FORMAT JSON) ";
const AS_TEXT: &str = "EXPLAIN ";

/// Rows that a table has by its statistics, and the memory that one hash may take.
const STATISTICS: &str = "SELECT n.nspname::text, c.relname::text, c.reltuples::float8, \
     pg_catalog.pg_size_bytes(pg_catalog.current_setting('work_mem'))::float8 OPERATOR(pg_catalog.*) \
       coalesce(pg_catalog.current_setting('hash_mem_multiplier', true)::float8, 1) \
     FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) AS w(s, t) \
     JOIN pg_catalog.pg_namespace n ON n.nspname OPERATOR(pg_catalog.=) w.s \
     JOIN pg_catalog.pg_class c ON c.relnamespace OPERATOR(pg_catalog.=) n.oid \
       AND c.relname OPERATOR(pg_catalog.=) w.t";

/// What stands against an index on a column: its type, where it is compared as text, or that there is one.
const COLUMNS: &str = "SELECT w.s, w.t, w.a, t.typname OPERATOR(pg_catalog.=) 'varchar'::name, \
     EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid OPERATOR(pg_catalog.=) c.oid AND i.indisvalid \
       AND i.indpred IS NULL AND i.indkey[0] OPERATOR(pg_catalog.=) a.attnum) \
     FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[]), \
       pg_catalog.unnest($3::text[])) AS w(s, t, a) \
     JOIN pg_catalog.pg_namespace n ON n.nspname OPERATOR(pg_catalog.=) w.s \
     JOIN pg_catalog.pg_class c ON c.relnamespace OPERATOR(pg_catalog.=) n.oid \
       AND c.relname OPERATOR(pg_catalog.=) w.t \
     JOIN pg_catalog.pg_attribute a ON a.attrelid OPERATOR(pg_catalog.=) c.oid \
       AND a.attname OPERATOR(pg_catalog.=) w.a \
     JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) a.atttypid";

/// Estimates a query: rows that come out, rows that are read for it, bytes, cost.
///
/// # Errors
/// What the server says of the text.
pub(crate) async fn estimate(
    link: &mut Link,
    text: &str,
    params: &Params,
    call: &CallContext,
) -> Result<Estimate> {
    Ok(planned(link, text, params, call).await?.0)
}

/// The plan in the server's own words, and what in it is worth a word.
///
/// # Errors
/// What the server says of the text.
pub(crate) async fn explain(
    link: &mut Link,
    text: &str,
    params: &Params,
    call: &CallContext,
) -> Result<Plan> {
    let (estimate, reading) = planned(link, text, params, call).await?;
    let lines = run(link, AS_TEXT, text, params, call).await?;
    let read: sqlx::Result<Vec<String>> = lines.iter().map(|row| row.try_get(0)).collect();
    let text = link.done(read, call, "explain")?.join("\n");
    let hints = hints(link, reading.candidates, call).await?;
    Ok(Plan { text, estimate, warnings: reading.warnings, hints })
}

async fn planned(
    link: &mut Link,
    text: &str,
    params: &Params,
    call: &CallContext,
) -> Result<(Estimate, Reading)> {
    let rows = run(link, AS_JSON, text, params, call).await?;
    let json = rows
        .first()
        .and_then(|row| row.try_get_raw(0).ok())
        .and_then(|v| v.as_bytes().ok().map(<[u8]>::to_vec));
    let plan: Value =
        dbagent_core::serde_json::from_slice(&json.unwrap_or_default()).map_err(|e| unreadable(&e))?;
    let top = plan.get(0).and_then(|p| p.get("Plan")).cloned().unwrap_or_default();
    let reading = Reading::of(&top, statistics(link, &top, call).await?);
    let (rows, width) = (number(&top, "Plan Rows"), number(&top, "Plan Width"));
    let estimate = Estimate {
        rows_out: rows.map(count),
        rows_scanned: Some(count(reading.scanned)),
        bytes: rows.zip(width).map(|(r, w)| count(r * w)),
        cost: number(&top, "Total Cost"),
        ..Estimate::UNKNOWN
    };
    Ok((estimate, reading))
}

/// A plan that cannot be read. Each join is two levels of it, and those are counted before they are built.
fn unreadable(e: &dbagent_core::serde_json::Error) -> Error {
    if e.to_string().contains("recursion limit") {
        return Error::new(ErrorKind::TooLarge, "the plan of the statement is nested too deep to be read")
            .op("explain")
            .hint("join fewer tables in one statement");
    }
    Error::new(ErrorKind::Internal, "the server showed a plan that is no JSON")
        .op("explain")
        .with("reader", e)
}

/// Runs words of ours before a judged text, with its parameters bound.
async fn run(
    link: &mut Link,
    words: &str,
    text: &str,
    params: &Params,
    call: &CallContext,
) -> Result<Vec<PgRow>> {
    let sql = format!("{words}{text}");
    let over = |_| stopped(call, "explain");
    let outcome = if params.is_empty() {
        let query = sqlx::query(AssertSqlSafe(sql)).persistent(false);
        call.bound("explain", query.fetch_all(link.start()?)).await.map_err(over)?
    } else {
        match prepare(link, &sql, call).await? {
            Ok(statement) => {
                let query =
                    sqlx::query_with(AssertSqlSafe(sql), bind::arguments(params, parameters(&statement))?);
                call.bound("explain", query.fetch_all(link.start()?)).await.map_err(over)?
            }
            Err(e) => Err(e),
        }
    };
    match outcome {
        Ok(rows) => link.done(Ok(rows), call, "explain"),
        Err(e) => Err(failed(link, e, text, words.len(), call)),
    }
}

async fn statistics(link: &mut Link, top: &Value, call: &CallContext) -> Result<Statistics> {
    let mut wanted = Vec::new();
    relations(top, &mut wanted);
    if wanted.is_empty() {
        return Ok(Statistics::default());
    }
    let (schemas, tables): (Vec<String>, Vec<String>) = wanted.into_iter().unzip();
    let query = sqlx::query_as::<_, (String, String, f64, f64)>(STATISTICS)
        .bind(schemas)
        .bind(tables)
        .persistent(link.keeps_statements());
    let rows =
        call.bound("explain", query.fetch_all(link.start()?)).await.map_err(|_| stopped(call, "explain"))?;
    let rows = link.done(rows, call, "explain")?;
    Ok(Statistics {
        hash_memory: rows.first().map(|(_, _, _, memory)| *memory),
        tables: rows.into_iter().map(|(s, t, rows, _)| (s, t, rows)).collect(),
    })
}

/// The hints among the candidates: those whose columns have no index yet. Asks only if there are any.
async fn hints(link: &mut Link, candidates: Vec<Candidate>, call: &CallContext) -> Result<Vec<Hint>> {
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    let (mut schemas, mut tables, mut columns) = (Vec::new(), Vec::new(), Vec::new());
    for candidate in &candidates {
        for column in &candidate.columns {
            schemas.push(candidate.schema.clone());
            tables.push(candidate.table.clone());
            columns.push(column.name.clone());
        }
    }
    let query = sqlx::query_as::<_, (String, String, String, bool, bool)>(COLUMNS)
        .bind(schemas)
        .bind(tables)
        .bind(columns)
        .persistent(link.keeps_statements());
    let rows =
        call.bound("explain", query.fetch_all(link.start()?)).await.map_err(|_| stopped(call, "explain"))?;
    let known = link.done(rows, call, "explain")?;
    let helps = |candidate: &Candidate| {
        candidate.columns.iter().all(|column| {
            known.iter().any(|(schema, table, name, is_varchar, has_index)| {
                (schema, table, name) == (&candidate.schema, &candidate.table, &column.name)
                    && !has_index
                    && (*is_varchar || !column.as_text)
            })
        })
    };
    Ok(candidates.into_iter().filter(helps).map(|candidate| candidate.hint).collect())
}

fn children(node: &Value) -> impl Iterator<Item = &Value> {
    node.get("Plans").and_then(Value::as_array).into_iter().flatten()
}

fn relation(node: &Value) -> Option<(&str, &str)> {
    Some((node.get("Schema")?.as_str()?, node.get("Relation Name")?.as_str()?))
}

fn relations(node: &Value, out: &mut Vec<(String, String)>) {
    if let Some((schema, table)) = relation(node) {
        let pair = (schema.to_owned(), table.to_owned());
        if !out.contains(&pair) {
            out.push(pair);
        }
    }
    children(node).for_each(|child| relations(child, out));
}

fn number(node: &Value, key: &str) -> Option<f64> {
    node.get(key).and_then(Value::as_f64)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate beyond u64 is as good as its end"
)]
fn count(x: f64) -> u64 {
    x.max(0.0).round() as u64
}
