//! Reads what EXPLAIN ANALYZE printed, as text or as JSON: rows that were expected at a step beside those that
//! came. YAML and XML are not read.

use dbagent_core::estimate::PlanWarning;
use dbagent_core::serde_json::{self, Value};

use super::{children, count, number};

/// Steps that may stop what is below them before its last row.
const STOPPING: &[&str] = &["Limit", "Merge", "Semi", "Anti", "SubPlan", "InitPlan"];

/// The step whose rows are the furthest from what was expected, if by more than the threshold.
pub(crate) fn read(printed: &str) -> Vec<PlanWarning> {
    let mut steps = Vec::new();
    if printed.trim_start().starts_with('[') {
        let plan: Value = serde_json::from_str(printed).unwrap_or_default();
        if let Some(top) = plan.get(0).and_then(|p| p.get("Plan")) {
            of_json(top, true, &mut steps);
        }
    } else {
        of_text(printed, &mut steps);
    }
    let off = steps.into_iter().filter_map(|(expected, seen, exact)| {
        let (expected, seen) = (count(expected), count(seen));
        let times = expected.max(seen) / expected.min(seen).max(1);
        Some((times, PlanWarning::estimate_off(expected, seen, exact)?))
    });
    off.max_by_key(|(times, _)| *times).map(|(_, warning)| warning).into_iter().collect()
}

type Step = (f64, f64, bool);

fn of_json(node: &Value, exact: bool, steps: &mut Vec<Step>) {
    let text = |key: &str| node.get(key).and_then(Value::as_str).unwrap_or_default();
    let exact = exact && !stops(text("Parent Relationship"));
    if let (Some(expected), Some(seen)) = (number(node, "Plan Rows"), number(node, "Actual Rows"))
        && number(node, "Actual Loops").is_some_and(|loops| loops > 0.0)
    {
        steps.push((expected, seen, exact));
    }
    let exact = exact && !stops(text("Node Type")) && !stops(text("Join Type"));
    children(node).for_each(|child| of_json(child, exact, steps));
}

fn stops(words: &str) -> bool {
    STOPPING.iter().any(|word| words.contains(word))
}

/// A step is a line; what is indented deeper is below it.
fn of_text(printed: &str, steps: &mut Vec<Step>) {
    let mut stopping: Option<usize> = None;
    for line in printed.lines() {
        let depth = line.len() - line.trim_start().len();
        if stopping.is_some_and(|at| depth <= at) {
            stopping = None;
        }
        let name = line.split("  (").next().unwrap_or_default();
        let exact = stopping.is_none();
        if let Some((planned, actual)) = line.split_once("(actual ")
            && let (Some(expected), Some(seen)) = (rows(planned), rows(actual))
        {
            steps.push((expected, seen, exact));
        }
        let is_step = line.contains("(cost=") || line.contains("SubPlan") || line.contains("InitPlan");
        if exact && is_step && stops(name) {
            stopping = Some(depth);
        }
    }
}

/// The figure behind `rows=`.
fn rows(text: &str) -> Option<f64> {
    let (_, figure) = text.split_once("rows=")?;
    figure.split([' ', ')']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
Finalize Aggregate  (cost=5570.48..5570.49 rows=1 width=8) (actual rows=1.00 loops=1)
  ->  Gather  (cost=5570.26..5570.47 rows=2 width=8) (actual rows=2.00 loops=1)
        Workers Planned: 1
        ->  Parallel Seq Scan on big  (cost=0.00..4568.06 rows=882 width=0) (actual rows=15000.00 loops=2)
              Filter: ((kind * 2) = 6)
        ->  Seq Scan on small  (cost=0.00..1.06 rows=882 width=0) (never executed)
";

    #[test]
    fn the_step_that_is_off_most_is_named_by_its_figures() {
        assert_eq!(read(TEXT), [PlanWarning::EstimateOff { expected: 882, seen: 15_000, exact: true }]);
        assert_eq!(read(&TEXT.replace("15000.00", "8820.00")), [], "just 10 times");
        assert_eq!(read("Seq Scan on t  (cost=0.00..1.00 rows=1 width=4)"), []);
        assert_eq!(read(""), []);
        assert_eq!(read("[]"), []);
    }

    #[test]
    fn what_a_limit_stopped_is_not_off() {
        let text = "\
Limit  (cost=0.00..0.08 rows=5 width=4) (actual time=0.0..0.1 rows=5 loops=1)
  ->  Seq Scan on big  (cost=0.00..4921.00 rows=300000 width=4) (actual time=0.0..0.1 rows=5 loops=1)
";
        assert_eq!(read(text), []);
        let json = |kind: &str| {
            format!(
                r#"[{{"Plan": {{"Node Type": "{kind}", "Plan Rows": 5, "Actual Rows": 5, "Actual Loops": 1, "Plans": [
                    {{"Node Type": "Seq Scan", "Plan Rows": 300000, "Actual Rows": 5, "Actual Loops": 1}}]}}}}]"#
            )
        };
        assert_eq!(read(&json("Limit")), []);
        assert_eq!(
            read(&json("Sort")),
            [PlanWarning::EstimateOff { expected: 300_000, seen: 5, exact: true }]
        );
        assert_eq!(read(&json("Sort").replace("Loops\": 1}]", "Loops\": 0}]")), []);
    }
}
