//! Reads the engine's plan: rows that come out, rows that are read, tables that are read whole.
//!
//! DuckDB's plans have no costs and no sizes of hashes, and of a scan with a filter they do not say how many rows
//! the table has; none of these is guessed. Scans of files carry no name that anyone would know.

use dbagent_core::estimate::{Estimate, PlanWarning};
use serde_json::Value;

/// The estimate by the topmost step, and what is worth a word.
pub(crate) fn read(root: &Value) -> (Estimate, Vec<PlanWarning>) {
    let (rows_out, at_most) = rows_out(root).map_or((None, false), |(rows, at_most)| (Some(rows), at_most));
    let estimate =
        Estimate { rows_out, at_most, rows_scanned: Some(rows_scanned(root)), ..Estimate::UNKNOWN };
    let mut warnings = Vec::new();
    scans(root, false, &mut warnings);
    (estimate, warnings)
}

fn name(step: &Value) -> &str {
    step.get("name").and_then(Value::as_str).unwrap_or_default()
}

fn detail<'p>(step: &'p Value, key: &str) -> Option<&'p str> {
    step.get("extra_info")?.get(key)?.as_str()
}

/// A figure as the plan writes it, `~1000 rows` included.
fn figure(text: &str) -> Option<u64> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok()
}

fn cardinality(step: &Value) -> Option<u64> {
    detail(step, "Estimated Cardinality").and_then(figure)
}

fn children(step: &Value) -> &[Value] {
    step.get("children").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn is_limit(name: &str) -> bool {
    name.contains("LIMIT") || name.contains("TOP_N")
}

/// Rows of the result: those of the first step from the top that says so. A limit is never exceeded. Whether
/// that is only a bound, since a step above it may leave rows out.
fn rows_out(step: &Value) -> Option<(u64, bool)> {
    let name = name(step);
    let below = || match children(step) {
        [one] => rows_out(one),
        _ => None,
    };
    if is_limit(name) {
        let key = if name.contains("TOP_N") { "Top" } else { "Limit" };
        let limit = detail(step, key).and_then(|l| l.parse().ok());
        return match (limit, below()) {
            (Some(limit), Some((rows, at_most))) => Some((rows.min(limit), at_most)),
            (Some(limit), None) => Some((limit, true)),
            (None, rows) => rows,
        };
    }
    let passes = matches!(name, "PROJECTION" | "ORDER_BY");
    cardinality(step)
        .map(|rows| (rows, false))
        .or_else(|| below().map(|(rows, at_most)| (rows, at_most || !passes)))
}

/// Rows that the steps without steps below them read.
fn rows_scanned(step: &Value) -> u64 {
    match children(step) {
        [] => cardinality(step).unwrap_or(0),
        below => below.iter().map(rows_scanned).fold(0, u64::saturating_add),
    }
}

/// Tables that are scanned without a filter; `stops` where a limit may end the scan before its end.
fn scans(step: &Value, stops: bool, warnings: &mut Vec<PlanWarning>) {
    let name = name(step);
    if name == "SEQ_SCAN"
        && !stops
        && detail(step, "Type") == Some("Sequential Scan")
        && step.get("extra_info").is_some_and(|info| info.get("Filters").is_none())
        && let (Some(table), Some(rows)) = (detail(step, "Table"), cardinality(step))
    {
        // `database.schema.table`: the database is the file.
        let table = table.split_once('.').map_or(table, |(_, table)| table);
        let warning = PlanWarning::full_scan(table, rows as f64, None);
        warnings.extend(warning.filter(|w| !warnings.contains(w)));
    }
    // These see every row before they give the first.
    let sees_all = ["ORDER_BY", "TOP_N", "GROUP_BY", "AGGREGATE"].iter().any(|word| name.contains(word))
        || name == "WINDOW";
    let stops = (stops && !sees_all) || (is_limit(name) && !name.contains("TOP_N"));
    let is_join = name.contains("JOIN");
    for (index, child) in children(step).iter().enumerate() {
        // The second side of a join is read whole before the first row of the other one.
        scans(child, stops && !(is_join && index == 1), warnings);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn figures_of_a_plan() {
        let plan = plan(
            r#"{"name": "PROJECTION", "children": [{"name": "STREAMING_LIMIT", "extra_info": {"Limit": "5", "Estimated Cardinality": "0"},
              "children": [{"name": "HASH_JOIN", "extra_info": {"Estimated Cardinality": "~40 rows"}, "children": [
                {"name": "SEQ_SCAN", "children": [], "extra_info": {"Estimated Cardinality": "100"}},
                {"name": "SEQ_SCAN", "children": [], "extra_info": {"Estimated Cardinality": "20"}}]}]}]}"#,
        );
        assert_eq!((rows_out(&plan), rows_scanned(&plan)), (Some((5, false)), 120));
        assert_eq!(rows_out(&Value::Null), None);
    }

    #[test]
    fn a_figure_from_below_is_a_bound() {
        let over = |name: &str| {
            plan(&format!(
                r#"{{"name": "{name}", "extra_info": {{}}, "children": [
                    {{"name": "SEQ_SCAN", "children": [], "extra_info": {{"Estimated Cardinality": "100"}}}}]}}"#
            ))
        };
        assert_eq!(rows_out(&over("PROJECTION")), Some((100, false)));
        assert_eq!(rows_out(&over("FILTER")), Some((100, true)));
    }
}
