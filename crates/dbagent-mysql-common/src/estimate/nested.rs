//! Plans whose operations nest: each says how many rows it gives.

use dbagent_core::serde_json::Value;

use super::{Amount, number};

/// How deep operations are followed.
const DEEPEST: usize = 200;

pub(super) fn amount(root: &Value) -> Option<Amount> {
    root.as_object()?;
    let out = rows(root, 0)?;
    Some(Amount { out, scanned: scanned(root, 1.0, 0), cost: number(root, "estimated_total_cost") })
}

/// The rows that an operation gives, each time it runs.
fn rows(node: &Value, depth: usize) -> Option<f64> {
    if let Some(rows) = number(node, "estimated_rows") {
        return Some(rows);
    }
    match node.get("access_type").and_then(Value::as_str) {
        // One row, and so certain that it is not said.
        Some("count_rows" | "aggregate" | "rows_fetched_before_execution" | "constant_row" | "zero_rows") => {
            Some(1.0)
        }
        _ if depth >= DEEPEST => None,
        _ => inputs(node).first().and_then(|input| rows(input, depth + 1)),
    }
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
            let loops = rows(outer, depth).unwrap_or(1.0) * times;
            scanned(outer, times, depth + 1) + scanned(inner, loops, depth + 1)
        }
        inputs => own + inputs.iter().map(|input| scanned(input, times, depth + 1)).sum::<f64>(),
    }
}

fn inputs(node: &Value) -> &[Value] {
    node.get("inputs").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
