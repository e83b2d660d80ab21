//! What the planner says: estimates, and what in a plan is worth a warning.

use dbagent_core::context::CallContext;
use dbagent_core::estimate::{Estimate, Plan};
use dbagent_core::serde_json::Value;
use dbagent_core::text::thousands;
use dbagent_core::{Error, ErrorKind, Params, Result};
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row as _};

use crate::bind;
use crate::error::stopped;
use crate::pool::Link;
use crate::read::{failed, parameters, prepare};

const AS_JSON: &str = "EXPLAIN (VERBOSE, FORMAT JSON) ";
const AS_TEXT: &str = "EXPLAIN ";

/// Rows that a table has by its statistics, and the memory that one hash may take.
const STATISTICS: &str = "SELECT n.nspname::text, c.relname::text, c.reltuples::float8, \
     pg_size_bytes(current_setting('work_mem'))::float8 \
       * coalesce(current_setting('hash_mem_multiplier', true)::float8, 1) \
     FROM unnest($1::text[], $2::text[]) AS w(s, t) \
     JOIN pg_namespace n ON n.nspname = w.s JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = w.t";

/// A scan of more rows than this is worth a look.
const MANY_ROWS: f64 = 100_000.0;
/// A condition that keeps more than this share of the rows is no filter.
const SELECTIVE: f64 = 0.5;
/// Bytes that a row takes in a hash beside its columns.
const HASHED: f64 = 32.0;
/// A nested loop of more than this cost is worth a look.
const COSTLY: f64 = 10_000.0;

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
    Ok(read(link, text, params, call).await?.0)
}

/// The plan in the server's own words, and below it what is worth a warning.
///
/// # Errors
/// What the server says of the text.
pub(crate) async fn explain(
    link: &mut Link,
    text: &str,
    params: &Params,
    call: &CallContext,
) -> Result<Plan> {
    let (estimate, warnings) = read(link, text, params, call).await?;
    let lines = run(link, AS_TEXT, text, params, call).await?;
    let read: sqlx::Result<Vec<String>> = lines.iter().map(|row| row.try_get(0)).collect();
    let mut lines = link.done(read, call, "explain")?;
    lines.extend(warnings.into_iter().map(|w| format!("Note: {w}")));
    Ok(Plan { text: lines.join("\n"), estimate })
}

async fn read(
    link: &mut Link,
    text: &str,
    params: &Params,
    call: &CallContext,
) -> Result<(Estimate, Vec<String>)> {
    let rows = run(link, AS_JSON, text, params, call).await?;
    let json = rows
        .first()
        .and_then(|row| row.try_get_raw(0).ok())
        .and_then(|v| v.as_bytes().ok().map(<[u8]>::to_vec));
    let plan: Value = json.and_then(|b| dbagent_core::serde_json::from_slice(&b).ok()).ok_or_else(|| {
        Error::new(ErrorKind::Internal, "the server showed a plan that is no JSON").op("explain")
    })?;
    let top = plan.get(0).and_then(|p| p.get("Plan")).cloned().unwrap_or_default();
    let statistics = statistics(link, &top, call).await?;
    let mut reading = Reading { statistics, scanned: 0.0, warnings: Vec::new() };
    reading.node(&top, 1.0);
    let (rows, width) = (number(&top, "Plan Rows"), number(&top, "Plan Width"));
    let estimate = Estimate {
        rows_out: rows.map(count),
        rows_scanned: Some(count(reading.scanned)),
        bytes: rows.zip(width).map(|(r, w)| count(r * w)),
        cost: number(&top, "Total Cost"),
    };
    Ok((estimate, reading.warnings))
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

/// Rows by schema and table, and the memory of a hash.
#[derive(Default)]
struct Statistics {
    tables: Vec<(String, String, f64)>,
    hash_memory: Option<f64>,
}

impl Statistics {
    fn rows(&self, node: &Value) -> Option<f64> {
        let (schema, table) = relation(node)?;
        self.tables
            .iter()
            .find(|(s, t, _)| s == schema && t == table)
            .map(|(_, _, rows)| *rows)
            .filter(|r| *r >= 0.0)
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

struct Reading {
    statistics: Statistics,
    scanned: f64,
    warnings: Vec<String>,
}

impl Reading {
    /// Reads a node that runs this many times.
    fn node(&mut self, node: &Value, times: f64) {
        let kind = node.get("Node Type").and_then(Value::as_str).unwrap_or_default();
        let rows = number(node, "Plan Rows").unwrap_or_default();
        if kind.ends_with("Scan") && children(node).next().is_none() {
            let whole = if kind == "Seq Scan" { self.statistics.rows(node) } else { None };
            self.scanned += whole.unwrap_or(rows).max(rows) * times;
            self.scan(node, rows, whole);
        }
        if kind == "Nested Loop"
            && let Some(cost) = number(node, "Total Cost")
            && cost > COSTLY
        {
            self.warnings.push(format!(
                "a nested loop of cost {}: an index on the column of the join would save most of it",
                thousands(count(cost))
            ));
        }
        if kind == "Hash"
            && let (Some(width), Some(memory)) = (number(node, "Plan Width"), self.statistics.hash_memory)
            && rows * (width + HASHED) > memory
        {
            self.warnings.push(format!(
                "a hash of about {} bytes is over its memory of {} and goes to disk: join fewer rows or columns",
                thousands(count(rows * (width + HASHED))),
                thousands(count(memory))
            ));
        }
        // The inner side of a nested loop runs once for each row of the outer one.
        let mut inner = times;
        for (index, child) in children(node).enumerate() {
            let of_loop = kind == "Nested Loop" && index == 1;
            self.node(child, if of_loop { inner } else { times });
            if kind == "Nested Loop" && index == 0 {
                inner = times * number(child, "Plan Rows").unwrap_or(1.0).max(1.0);
            }
        }
    }

    fn scan(&mut self, node: &Value, rows: f64, whole: Option<f64>) {
        let (Some(whole), Some((schema, table))) = (whole, relation(node)) else { return };
        if whole > MANY_ROWS && rows > whole * SELECTIVE {
            self.warnings.push(format!(
                "{schema}.{table} is read whole, about {} rows, without a condition that leaves most of them out",
                thousands(count(whole))
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use dbagent_core::serde_json::json;

    use super::*;

    fn reading(tables: &[(&str, f64)]) -> Reading {
        let tables = tables.iter().map(|(t, r)| ("public".to_owned(), (*t).to_owned(), *r)).collect();
        Reading {
            statistics: Statistics { tables, hash_memory: Some(1_000.0) },
            scanned: 0.0,
            warnings: Vec::new(),
        }
    }

    fn scan(table: &str, rows: u64) -> Value {
        json!({"Node Type": "Seq Scan", "Schema": "public", "Relation Name": table, "Plan Rows": rows})
    }

    #[test]
    fn a_scan_reads_the_whole_table_whatever_it_keeps() {
        let mut r = reading(&[("big", 1_000_000.0)]);
        r.node(&json!({"Node Type": "Aggregate", "Plan Rows": 1, "Plans": [scan("big", 1_000_000)]}), 1.0);
        assert_eq!(count(r.scanned), 1_000_000);
        assert_eq!(r.warnings.len(), 1, "{:?}", r.warnings);
        let mut r = reading(&[("big", 1_000_000.0)]);
        r.node(&scan("big", 10), 1.0);
        assert_eq!((count(r.scanned), r.warnings.len()), (1_000_000, 0));
    }

    #[test]
    fn loops_and_hashes_are_weighed() {
        let mut r = reading(&[]);
        let inner = json!({"Node Type": "Index Scan", "Plan Rows": 2});
        r.node(
            &json!({"Node Type": "Nested Loop", "Total Cost": 20_000.0, "Plans": [scan("a", 100), inner]}),
            1.0,
        );
        assert_eq!((count(r.scanned), r.warnings.len()), (300, 1));
        let mut r = reading(&[]);
        r.node(
            &json!({"Node Type": "Hash", "Plan Rows": 1_000, "Plan Width": 8, "Plans": [scan("a", 1_000)]}),
            1.0,
        );
        assert_eq!(r.warnings.len(), 1);
    }
}
