//! Reads plans: how many rows a statement will give, how many it reads for that, and what it costs.
//!
//! There are two shapes of plan. MySQL since 9 (and 8.3 where it is asked for) nests operations, each with the
//! rows that it gives; MariaDB and MySQL 8 list tables with what each contributes, and leave out what happens
//! to the rows afterwards. [`shape`] looks for that in the text.

mod listed;
mod nested;
mod shape;

use dbagent_core::estimate::Estimate;
use dbagent_core::serde_json::Value;

/// What a plan amounts to.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Amount {
    out: f64,
    scanned: f64,
    cost: Option<f64>,
}

/// The estimate by a plan in JSON and the text that it is of.
pub(crate) fn read(json: &str, text: &str) -> Estimate {
    let Ok(plan) = dbagent_core::serde_json::from_str::<Value>(json) else { return Estimate::UNKNOWN };
    let amount = match (plan.get("query_plan"), plan.get("query_block")) {
        (Some(root), _) => nested::amount(root),
        (None, Some(block)) => listed::amount(block).map(|amount| {
            let shape = shape::of(text);
            let most = if shape.one_row { Some(1.0) } else { None };
            let limit = shape.limit.map(|n| n as f64);
            let out = [most, limit].into_iter().flatten().fold(amount.out, f64::min);
            Amount { out, ..amount }
        }),
        (None, None) => None,
    };
    let Some(amount) = amount else { return Estimate::UNKNOWN };
    Estimate {
        // A statistic that says 0 is a guess, and a guess of nothing would let everything through.
        rows_out: count(amount.out.max(1.0)),
        rows_scanned: count(amount.scanned),
        bytes: None,
        cost: amount.cost,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
fn count(rows: f64) -> Option<u64> {
    const MOST: f64 = 9e18;
    rows.is_finite().then(|| rows.clamp(0.0, MOST).ceil() as u64)
}

/// The number of a member, which some versions write as a text.
fn number(value: &Value, key: &str) -> Option<f64> {
    match value.get(key)? {
        Value::Number(n) => n.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// Plans for people. One value is a tree that the server wrote; several are steps, one a line.
pub(crate) fn plan_text(rows: &[Vec<(String, Option<String>)>]) -> String {
    let mut lines = Vec::new();
    for row in rows {
        match row.as_slice() {
            [(_, Some(tree))] => lines.push(tree.trim_end().to_owned()),
            columns => {
                let known = columns.iter().filter_map(|(name, value)| {
                    let value = value.as_deref().filter(|v| !v.is_empty())?;
                    Some(format!("{name}={value}"))
                });
                lines.push(known.collect::<Vec<_>>().join(" "));
            }
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(json: &str, text: &str) -> (Option<u64>, Option<u64>) {
        let estimate = read(json, text);
        (estimate.rows_out, estimate.rows_scanned)
    }

    #[test]
    fn plans_that_nest() {
        let join = r#"{"query_plan": {"operation": "Limit: 5", "access_type": "limit", "estimated_rows": 5.0,
            "estimated_total_cost": 77.6, "inputs": [{"access_type": "join", "join_algorithm": "nested_loop",
            "estimated_rows": 99.0, "inputs": [
              {"access_type": "index", "table_name": "a", "estimated_rows": 99.0},
              {"access_type": "index", "table_name": "b", "estimated_rows": 2.0}]}]}}"#;
        assert_eq!(rows(join, ""), (Some(5), Some(297)));
        assert_eq!(read(join, "").cost, Some(77.6));
        let counted = r#"{"query_plan": {"access_type": "count_rows", "table_name": "n"}}"#;
        assert_eq!(rows(counted, ""), (Some(1), Some(0)));
    }

    #[test]
    fn plans_that_list() {
        let table = |rows: u32, filtered: u32| {
            format!(r#"{{"table": {{"table_name": "t", "rows": {rows}, "filtered": {filtered}}}}}"#)
        };
        let join =
            format!(r#"{{"query_block": {{"nested_loop": [{}, {}]}}}}"#, table(1_000, 50), table(3, 100));
        assert_eq!(rows(&join, "SELECT * FROM t a JOIN t b"), (Some(1_500), Some(2_500)));
        assert_eq!(rows(&join, "SELECT * FROM t a JOIN t b LIMIT 20, 10"), (Some(10), Some(2_500)));
        assert_eq!(rows(&join, "SELECT count(*) FROM t a JOIN t b"), (Some(1), Some(2_500)));
        assert_eq!(rows(&join, "SELECT count(*) FROM t a JOIN t b GROUP BY x"), (Some(1_500), Some(2_500)));
        let union = format!(
            r#"{{"query_block": {{"union_result": {{"query_specifications": [
                {{"query_block": {{"table": {{"message": "No tables used"}}}}}},
                {{"query_block": {{"filesort": {{"temporary_table": {{"nested_loop": [{}]}}}}}}}}]}}}}}}"#,
            table(7, 100)
        );
        assert_eq!(rows(&union, "SELECT 1 UNION SELECT i FROM t"), (Some(8), Some(7)));
    }

    #[test]
    fn what_is_no_plan_says_nothing() {
        for json in ["", "{}", "[]", "{\"query_block\": {}}", "{\"query_plan\": 1}"] {
            assert!(read(json, "SELECT 1").is_unknown(), "{json}");
        }
    }

    #[test]
    fn plans_are_text() {
        let cell = |name: &str, value: Option<&str>| (name.to_owned(), value.map(str::to_owned));
        assert_eq!(plan_text(&[vec![cell("EXPLAIN", Some("-> Rows\n"))]]), "-> Rows");
        let steps = [vec![cell("id", Some("1")), cell("key", None), cell("Extra", Some("Using where"))]];
        assert_eq!(plan_text(&steps), "id=1 Extra=Using where");
    }
}
