//! Reads plans: how many rows a statement will give, how many it reads for that, and what it costs.
//!
//! There are two shapes of plan. MySQL since 9 (and 8.3 where it is asked for) nests operations, each with the
//! rows that it gives; MariaDB and MySQL 8 list tables with what each contributes, and leave out what happens
//! to the rows afterwards. [`shape`] looks for that in the text.

mod condition;
mod listed;
mod nested;
mod shape;
mod worth;

use dbagent_core::estimate::Estimate;
use dbagent_core::serde_json::Value;

/// What a plan amounts to.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Amount {
    out: f64,
    /// Whether that is only a bound from above.
    at_most: bool,
    scanned: f64,
    cost: Option<f64>,
}

pub(crate) use worth::{Candidate, Worth, would_help};

/// The estimate by a plan in JSON and the text that it is of.
pub(crate) fn read(json: &str, text: &str) -> Estimate {
    match parse(json) {
        Some(plan) => estimate(&plan, text),
        None => Estimate::UNKNOWN,
    }
}

/// The estimate, and what is worth a word in the plan. `tables` are those that the text names.
pub(crate) fn read_closely(json: &str, text: &str, tables: Vec<String>) -> (Estimate, Worth) {
    let mut worth = Worth::among(tables);
    let Some(plan) = parse(json) else { return (Estimate::UNKNOWN, worth) };
    match (plan.get("query_plan"), plan.get("query_block")) {
        (Some(root), _) => nested::remarks(root, &mut worth),
        (None, Some(block)) => listed::remarks(block, shape::of(text), &mut worth),
        (None, None) => {}
    }
    (estimate(&plan, text), worth)
}

fn parse(json: &str) -> Option<Value> {
    dbagent_core::serde_json::from_str(json).ok()
}

fn estimate(plan: &Value, text: &str) -> Estimate {
    let amount = match (plan.get("query_plan"), plan.get("query_block")) {
        (Some(root), _) => nested::amount(root),
        (None, Some(block)) => listed::amount(block).map(|amount| {
            let shape = shape::of(text);
            let most = if shape.one_row { Some(1.0) } else { None };
            let limit = shape.limit.map(|n| n as f64);
            let out = [most, limit].into_iter().flatten().fold(amount.out, f64::min);
            Amount { out, at_most: amount.at_most && !shape.one_row, ..amount }
        }),
        (None, None) => None,
    };
    let Some(amount) = amount else { return Estimate::UNKNOWN };
    Estimate {
        // A statistic that says 0 is a guess, and a guess of nothing would let everything through.
        rows_out: count(amount.out.max(1.0)),
        at_most: amount.at_most,
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

    /// Warnings as the first form of MySQL's plans and MariaDB's give them.
    fn worth(block: &str, text: &str) -> Vec<String> {
        let json = format!(r#"{{"query_block": {block}}}"#);
        let (_, worth) = read_closely(&json, text, vec!["big".to_owned()]);
        let hints = worth.candidates.iter().map(|c| c.hint.to_string());
        worth.warnings.iter().map(ToString::to_string).chain(hints).collect()
    }

    #[test]
    fn the_first_form_of_plans_names_tables_that_are_read_whole() {
        let table = |rows: u32, filtered: &str, condition: &str| {
            format!(
                r#""table": {{"table_name": "b", "access_type": "ALL", "rows_examined_per_scan": {rows},
                "rows_produced_per_join": 1, "filtered": "{filtered}", {condition}
                "cost_info": {{"read_cost": "440.75", "eval_cost": "22372.20", "prefix_cost": "22812.95"}}}}"#
            )
        };
        let cost = r#""cost_info": {"query_cost": "22812.95"}"#;
        let read =
            "big is read whole, about 223,722 rows, and no condition is known to leave most of them out";
        let whole = table(223_722, "100.00", "");
        assert_eq!(worth(&format!("{{{cost}, {whole}}}"), "SELECT * FROM big b"), [read]);
        assert!(worth(&format!("{{{cost}, {whole}}}"), "SELECT * FROM big b LIMIT 5").is_empty());
        let sorted = format!(r#"{{{cost}, "ordering_operation": {{"using_filesort": true, {whole}}}}}"#);
        assert_eq!(worth(&sorted, "SELECT * FROM big b ORDER BY name LIMIT 5"), [read]);
        let in_order = format!(r#"{{{cost}, "ordering_operation": {{"using_filesort": false, {whole}}}}}"#);
        assert!(worth(&in_order, "SELECT * FROM big b ORDER BY name LIMIT 5").is_empty());
        let just_under = table(100_000, "100.00", "");
        assert!(worth(&format!("{{{cost}, {just_under}}}"), "SELECT * FROM big b").is_empty());
        let half = table(223_722, "50.00", "");
        assert!(worth(&format!("{{{cost}, {half}}}"), "SELECT * FROM big b").is_empty());
        let few = table(223_722, "0.01", r#""attached_condition": "(`shop`.`b`.`name` = 'x')","#);
        assert_eq!(
            worth(&format!("{{{cost}, {few}}}"), "SELECT * FROM big b WHERE name = 'x'"),
            [
                "an index on big (name) would lower the cost from about 22,813 to about 570, by the plan's own figures"
            ]
        );
    }

    #[test]
    fn a_join_by_a_hash_is_no_loop() {
        let join = |more: &str, cost: &str| {
            format!(
                r#"{{"cost_info": {{"query_cost": "99000.00"}}, "nested_loop": [
                {{"table": {{"table_name": "a", "access_type": "ref", "rows_examined_per_scan": 10, "filtered": "100.00",
                  "cost_info": {{"read_cost": "1", "eval_cost": "1", "prefix_cost": "2"}}}}}},
                {{"table": {{"table_name": "c", "access_type": "ref", "rows_examined_per_scan": 10, "filtered": "100.00", {more}
                  "cost_info": {{"read_cost": "1", "eval_cost": "1", "prefix_cost": "{cost}"}}}}}}]}}"#
            )
        };
        assert_eq!(
            worth(&join("", "10000.10"), "SELECT 1"),
            ["a nested loop costs about 10,000 in the planner's unit; over 10,000 is much"]
        );
        assert!(worth(&join("", "10000.00"), "SELECT 1").is_empty());
        assert!(worth(&join(r#""using_join_buffer": "hash join","#, "20000.00"), "SELECT 1").is_empty());
    }

    #[test]
    fn a_plan_says_where_its_rows_are_only_a_bound() {
        let table =
            r#"{"table": {"table_name": "t", "rows": 100, "filtered": 50, "attached_condition": "t.a = 1"}}"#;
        let at_most = |block: &str, text: &str| {
            let json = format!(r#"{{"query_block": {block}}}"#);
            read(&json, text).at_most
        };
        let listed = format!(r#"{{"nested_loop": [{table}]}}"#);
        assert!(!at_most(&listed, "SELECT * FROM t"));
        assert!(at_most(&listed.replace("50", "100"), "SELECT * FROM t"));
        assert!(!at_most(&listed.replace("50", "100"), "SELECT count(*) FROM t"));
        let grouped = format!(r#"{{"filesort": {{"temporary_table": {listed}}}}}"#);
        assert!(at_most(&grouped, "SELECT a FROM t GROUP BY a"));
        let nested = |rows: &str| {
            format!(
                r#"{{"query_plan": {{"access_type": "sort", "inputs": [{{"access_type": "temp_table_aggregate"{rows},
                "inputs": [{{"access_type": "table", "table_name": "t", "estimated_rows": 100.0}}]}}]}}}}"#
            )
        };
        assert!(read(&nested(""), "").at_most);
        assert!(!read(&nested(r#", "estimated_rows": 9.0"#), "").at_most);
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
