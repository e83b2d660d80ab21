//! Streams the engine's Arrow batches into the sink, and shows plans.

use dbagent_core::context::CallContext;
use dbagent_core::estimate::{Estimate, PlanWarning};
use dbagent_core::rows::{Flow, Sink};
use dbagent_core::{Params, Result};
use duckdb::params_from_iter;
use serde_json::Value;

use crate::bind;
use crate::convert::Converter;
use crate::error::{Phase, stopped, translate_under};
use crate::plan;
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

/// What the engine expects of a query, and what in its plan is worth a word.
///
/// # Errors
/// What the engine says.
pub(crate) fn planned(
    conn: &Conn,
    text: &str,
    params: &Params,
    call: &CallContext,
) -> Result<(Estimate, Vec<PlanWarning>)> {
    let plan = explained(conn, "EXPLAIN (FORMAT JSON)", text, params, call)?;
    let mut reader = serde_json::Deserializer::from_str(&plan);
    reader.disable_recursion_limit();
    let plan = <Value as serde::Deserialize>::deserialize(&mut reader).unwrap_or_default();
    Ok(plan.as_array().and_then(|steps| steps.first()).map(plan::read).unwrap_or_default())
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
