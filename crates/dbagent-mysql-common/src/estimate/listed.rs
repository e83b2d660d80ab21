//! Plans that list tables: MariaDB's, and MySQL's first form.

use dbagent_core::serde_json::{Map, Value};

use super::{Amount, number};

/// How deep wrappers and derived tables are followed.
const DEEPEST: usize = 200;

/// The amount of a `query_block`.
pub(super) fn amount(block: &Value) -> Option<Amount> {
    let mut amount = of(block, 0)?;
    amount.cost =
        block.get("cost_info").and_then(|c| number(c, "query_cost")).or_else(|| number(block, "cost"));
    Some(amount)
}

/// What a block, or one of the many wrappers in it (sorting, grouping, buffering), amounts to.
fn of(value: &Value, depth: usize) -> Option<Amount> {
    let members = value.as_object().filter(|_| depth < DEEPEST)?;
    if let Some(parts) = members.get("query_specifications").and_then(Value::as_array) {
        let mut sum = Amount::default();
        for part in parts.iter().filter_map(|part| of(part, depth + 1)) {
            sum.out += part.out;
            sum.scanned += part.scanned;
        }
        return Some(sum);
    }
    if let Some(steps) = members.get("nested_loop").and_then(Value::as_array) {
        return Some(joined(steps, depth));
    }
    if members.get("table").is_some_and(Value::is_object) {
        return Some(joined(std::slice::from_ref(value), depth));
    }
    if members.contains_key("message") {
        return Some(Amount { out: 1.0, ..Amount::default() });
    }
    members.values().find_map(|inner| of(inner, depth + 1))
}

/// Tables that are joined one after the other.
fn joined(steps: &[Value], depth: usize) -> Amount {
    let mut sum = Amount { out: 1.0, ..Amount::default() };
    for table in steps.iter().filter_map(|step| table(step, depth)) {
        let rows = number_of(table, &["rows", "rows_examined_per_scan"]);
        let filtered = number_of(table, &["filtered"]).unwrap_or(100.0).clamp(0.0, 100.0);
        sum.scanned += sum.out * rows.unwrap_or(0.0);
        sum.out *= rows.unwrap_or(1.0) * filtered / 100.0;
        // A derived table was read before.
        for key in ["materialized", "materialized_from_subquery"] {
            if let Some(inner) = table.get(key).and_then(|inner| of(inner, depth + 1)) {
                sum.scanned += inner.scanned;
            }
        }
    }
    sum
}

/// The table of a step, behind what may be wrapped around it.
fn table(step: &Value, depth: usize) -> Option<&Map<String, Value>> {
    let members = step.as_object().filter(|_| depth < DEEPEST)?;
    match members.get("table") {
        Some(table) => table.as_object(),
        None => members.values().find_map(|inner| table(inner, depth + 1)),
    }
}

fn number_of(table: &Map<String, Value>, keys: &[&str]) -> Option<f64> {
    keys.iter().find_map(|key| match table.get(*key)? {
        Value::Number(n) => n.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    })
}
