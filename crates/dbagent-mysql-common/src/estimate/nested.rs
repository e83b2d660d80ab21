//! Plans whose operations nest: each says how many rows it gives.

use dbagent_core::estimate::{PlanWarning, ScanCost};
use dbagent_core::serde_json::Value;

use super::worth::{Table, Worth};
use super::{Amount, number};

/// How deep operations are followed.
const DEEPEST: usize = 200;

pub(super) fn amount(root: &Value) -> Option<Amount> {
    root.as_object()?;
    let (out, at_most) = rows(root, 0)?;
    Some(Amount { out, at_most, scanned: scanned(root, 1.0, 0), cost: number(root, "estimated_total_cost") })
}

/// The rows that an operation gives, each time it runs, and whether that is only a bound.
fn rows(node: &Value, depth: usize) -> Option<(f64, bool)> {
    let kind = kind(node);
    // Equal rows are counted as if they were different.
    let merges = node.get("deduplication") == Some(&Value::Bool(true));
    if let Some(rows) = number(node, "estimated_rows") {
        let passes = matches!(kind, "limit" | "sort" | "stream" | "materialize" | "table");
        let below = || inputs(node).first().and_then(|input| self::rows(input, depth + 1));
        let bound = merges || (passes && depth < DEEPEST && below().is_some_and(|(_, at_most)| at_most));
        return Some((rows, bound));
    }
    match kind {
        // One row, and so certain that it is not said.
        "count_rows" | "rows_fetched_before_execution" | "constant_row" | "zero_rows" => Some((1.0, false)),
        "aggregate" if !is_grouped(node) => Some((1.0, false)),
        _ if depth >= DEEPEST => None,
        _ => {
            let (rows, at_most) = inputs(node).first().and_then(|input| self::rows(input, depth + 1))?;
            let limit = if kind == "limit" { number(node, "limit") } else { None };
            // What passes every row on needs no figure of its own.
            let passes = matches!(kind, "limit" | "sort" | "stream" | "table");
            Some((limit.map_or(rows, |limit| rows.min(limit)), at_most || merges || !passes))
        }
    }
}

fn kind(node: &Value) -> &str {
    node.get("access_type").and_then(Value::as_str).unwrap_or_default()
}

fn is_grouped(node: &Value) -> bool {
    node.get("group_by") == Some(&Value::Bool(true))
}

/// What is worth a word in a plan.
pub(super) fn remarks(root: &Value, worth: &mut Worth) {
    worth.total = cost(root, 0).unwrap_or(f64::NAN);
    remark(root, None, Place { times: 1.0, share: 1.0, in_loop: false }, 0, worth);
}

/// How an operation runs within its plan.
#[derive(Clone, Copy)]
struct Place {
    /// How often it runs.
    times: f64,
    /// The share of its rows that anyone wants: less than all of them under a limit.
    share: f64,
    /// Whether a loop around it was spoken of.
    in_loop: bool,
}

fn remark(node: &Value, above: Option<&Value>, mut place: Place, depth: usize, worth: &mut Worth) {
    if depth >= DEEPEST {
        return;
    }
    let (kind, inputs) = (kind(node), inputs(node));
    if kind == "table" && inputs.is_empty() {
        scan(node, above, place, worth);
    }
    let loops = node.get("join_algorithm").and_then(Value::as_str) == Some("nested_loop");
    if loops && !place.in_loop {
        let cost = number(node, "estimated_total_cost").unwrap_or_default();
        place.in_loop = worth.warn(PlanWarning::nested_loop(cost * place.share * place.times));
    }
    match kind {
        "limit" => {
            let rows = inputs.first().and_then(|input| rows(input, depth));
            if let (Some(limit), Some((rows, _))) = (number(node, "limit"), rows) {
                let skipped = number(node, "limit_offset").unwrap_or_default();
                place.share *= ((limit + skipped) / rows.max(1.0)).min(1.0);
            }
        }
        // These see every row before they give the first.
        "sort" | "materialize" | "temp_table_aggregate" | "count_rows" => place.share = 1.0,
        "aggregate" if !is_grouped(node) => place.share = 1.0,
        _ => {}
    }
    match inputs {
        [outer, inner] if loops => {
            let runs = rows(outer, depth).map_or(1.0, |(rows, _)| rows) * place.share * place.times;
            remark(outer, Some(node), place, depth + 1, worth);
            remark(inner, Some(node), Place { times: runs, share: 1.0, ..place }, depth + 1, worth);
        }
        inputs => {
            for input in inputs {
                // A hash is filled before the first row is looked for in it.
                let is_hash = input.get("heading").and_then(Value::as_str) == Some("Hash");
                let share = if is_hash { 1.0 } else { place.share };
                remark(input, Some(node), Place { share, ..place }, depth + 1, worth);
            }
        }
    }
}

fn scan(node: &Value, above: Option<&Value>, place: Place, worth: &mut Worth) {
    let text = |key: &str| node.get(key).and_then(Value::as_str);
    // Tables of the statement itself are in no schema.
    let (Some(schema), Some(name), Some(rows)) =
        (text("schema_name"), text("table_name"), number(node, "estimated_rows"))
    else {
        return;
    };
    let filter = above.filter(|above| kind(above) == "filter");
    let kept = filter.and_then(|filter| number(filter, "estimated_rows"));
    let table = Table { schema: Some(schema), name, alias: text("alias").unwrap_or(name) };
    let condition = filter.and_then(|filter| filter.get("condition")).and_then(Value::as_str);
    let figures = ScanCost {
        total: worth.total,
        cost: number(node, "estimated_total_cost").unwrap_or(f64::NAN) * place.share * place.times,
        rows,
        kept: kept.unwrap_or(rows),
    };
    worth.scan(table, place.share, figures, condition);
}

/// The cost of the first operation from the top that says it.
fn cost(node: &Value, depth: usize) -> Option<f64> {
    let below = || inputs(node).first().filter(|_| depth < DEEPEST).and_then(|input| cost(input, depth + 1));
    number(node, "estimated_total_cost").or_else(below)
}

/// The rows that are read from tables for an operation that runs `times` times.
fn scanned(node: &Value, times: f64, depth: usize) -> f64 {
    if depth >= DEEPEST {
        return 0.0;
    }
    let inputs = inputs(node);
    let own = if inputs.is_empty() && node.get("table_name").is_some() {
        number(node, "estimated_rows").unwrap_or(0.0) * times
    } else {
        0.0
    };
    let nested_loop = node.get("join_algorithm").and_then(Value::as_str) == Some("nested_loop");
    match inputs {
        [outer, inner] if nested_loop => {
            let loops = rows(outer, depth).map_or(1.0, |(rows, _)| rows) * times;
            scanned(outer, times, depth + 1) + scanned(inner, loops, depth + 1)
        }
        inputs => own + inputs.iter().map(|input| scanned(input, times, depth + 1)).sum::<f64>(),
    }
}

fn inputs(node: &Value) -> &[Value] {
    node.get("inputs").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
