//! Streams the engine's Arrow batches into the sink, and shows plans.

use dbagent_core::context::CallContext;
use dbagent_core::estimate::Estimate;
use dbagent_core::rows::{Flow, Sink};
use dbagent_core::{Params, Result};
use duckdb::params_from_iter;
use serde_json::Value;

use crate::bind;
use crate::convert::Converter;
use crate::error::{Phase, stopped, translate_under};
use crate::pool::Conn;

/// Runs the statement until its rows are done or the sink has enough. Memory holds one batch of the engine.
///
/// # Errors
/// What the engine says; [`TooLarge`](dbagent_core::ErrorKind::TooLarge) for a value over the cap.
pub(crate) fn stream(
    conn: &Conn,
    text: &str,
    params: &Params,
    mut sink: Sink,
    call: &CallContext,
) -> Result<()> {
    let mut statement = conn.db.prepare(text).map_err(|e| translate_under(e, Phase::Compile, call))?;
    let values = bind::values(&statement, params)?;
    let stream =
        statement.stream_arrow(params_from_iter(values)).map_err(|e| translate_under(e, Phase::Run, call))?;
    let converter = Converter::new(&stream.get_schema());
    sink.begin(converter.schema());
    for batch in stream {
        let batch = batch.map_err(|e| translate_under(e, Phase::Run, call))?;
        if sink.push_blocking(converter.convert(batch)?)? == Flow::Stop {
            return if call.is_over() { Err(stopped(call, "read")) } else { Ok(()) };
        }
    }
    Ok(())
}

/// The plan of a query as text, for people and models.
///
/// # Errors
/// What the engine says.
pub(crate) fn plan(conn: &Conn, text: &str, params: &Params, call: &CallContext) -> Result<String> {
    explained(conn, "EXPLAIN", text, params, call)
}

/// What the engine expects of a query.
///
/// # Errors
/// What the engine says.
pub(crate) fn estimate(conn: &Conn, text: &str, params: &Params, call: &CallContext) -> Result<Estimate> {
    let plan = explained(conn, "EXPLAIN (FORMAT JSON)", text, params, call)?;
    let mut reader = serde_json::Deserializer::from_str(&plan);
    reader.disable_recursion_limit();
    let plan = <Value as serde::Deserialize>::deserialize(&mut reader).unwrap_or_default();
    let root = plan.as_array().and_then(|steps| steps.first());
    Ok(root.map_or(Estimate::UNKNOWN, |root| Estimate {
        rows_out: rows_out(root),
        rows_scanned: Some(rows_scanned(root)),
        ..Estimate::UNKNOWN
    }))
}

/// The plan by the words that ask for it.
fn explained(conn: &Conn, how: &str, text: &str, params: &Params, call: &CallContext) -> Result<String> {
    // The judged text behind the words that ask for its plan.
    let sql = format!("{how} {text}");
    let mut statement =
        conn.db.prepare(&sql).map_err(|e| translate_under(e, Phase::Compile, call).op("explain"))?;
    let values = bind::values(&statement, params)?;
    let read = statement.query_map(params_from_iter(values), |row| row.get::<_, String>(1));
    let plans: duckdb::Result<Vec<String>> = read.and_then(Iterator::collect);
    let plans = plans.map_err(|e| translate_under(e, Phase::Run, call).op("explain"))?;
    Ok(plans.into_iter().next_back().unwrap_or_default())
}

fn detail<'p>(step: &'p Value, key: &str) -> Option<&'p str> {
    step.get("extra_info")?.get(key)?.as_str()
}

/// A figure as the plan writes it, `~1000 rows` included.
fn figure(text: &str) -> Option<u64> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok()
}

fn children(step: &Value) -> &[Value] {
    step.get("children").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Rows of the result: those of the first step from the top that says so. A limit is never exceeded.
fn rows_out(step: &Value) -> Option<u64> {
    let name = step.get("name").and_then(Value::as_str).unwrap_or_default();
    let below = || match children(step) {
        [one] => rows_out(one),
        _ => None,
    };
    if name.contains("LIMIT") || name.contains("TOP_N") {
        let key = if name.contains("TOP_N") { "Top" } else { "Limit" };
        let limit = detail(step, key).and_then(|l| l.parse().ok());
        return match (limit, below()) {
            (Some(limit), Some(rows)) => Some(rows.min(limit)),
            (limit, rows) => limit.or(rows),
        };
    }
    detail(step, "Estimated Cardinality").and_then(figure).or_else(below)
}

/// Rows that the steps without steps below them read.
fn rows_scanned(step: &Value) -> u64 {
    match children(step) {
        [] => detail(step, "Estimated Cardinality").and_then(figure).unwrap_or(0),
        below => below.iter().map(rows_scanned).fold(0, u64::saturating_add),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_plan() {
        let plan: Value = serde_json::from_str(
            r#"{"name": "PROJECTION", "children": [{"name": "STREAMING_LIMIT", "extra_info": {"Limit": "5", "Estimated Cardinality": "0"},
              "children": [{"name": "HASH_JOIN", "extra_info": {"Estimated Cardinality": "~40 rows"}, "children": [
                {"name": "SEQ_SCAN", "children": [], "extra_info": {"Estimated Cardinality": "100"}},
                {"name": "SEQ_SCAN", "children": [], "extra_info": {"Estimated Cardinality": "20"}}]}]}]}"#,
        )
        .unwrap();
        assert_eq!((rows_out(&plan), rows_scanned(&plan)), (Some(5), 120));
        assert_eq!(rows_out(&Value::Null), None);
    }
}
