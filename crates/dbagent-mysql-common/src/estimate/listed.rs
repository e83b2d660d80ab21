//! Plans that list tables: MariaDB's, and MySQL's first form.

use dbagent_core::estimate::{PlanWarning, ScanCost};
use dbagent_core::serde_json::{Map, Value};

use super::shape::Shape;
use super::worth::{Table, Worth};
use super::{Amount, number};

/// How deep wrappers and derived tables are followed.
const DEEPEST: usize = 200;

/// The amount of a `query_block`.
pub(super) fn amount(block: &Value) -> Option<Amount> {
    let mut amount = of(block, 0)?;
    amount.cost = cost(block);
    Some(amount)
}

fn cost(block: &Value) -> Option<f64> {
    block.get("cost_info").and_then(|c| number(c, "query_cost")).or_else(|| number(block, "cost"))
}

/// Wrappers and members that leave out rows without saying how many.
const LESS: &[&str] = &["grouping_operation", "duplicates_removal", "temporary_table", "having_condition"];

/// What a block, or one of the many wrappers in it (sorting, grouping, buffering), amounts to.
fn of(value: &Value, depth: usize) -> Option<Amount> {
    let members = value.as_object().filter(|_| depth < DEEPEST)?;
    if let Some(parts) = members.get("query_specifications").and_then(Value::as_array) {
        let mut sum = Amount::default();
        for part in parts.iter().filter_map(|part| of(part, depth + 1)) {
            sum.out += part.out;
            sum.scanned += part.scanned;
        }
        // Equal rows of the parts are counted as if they were different.
        sum.at_most = true;
        return Some(sum);
    }
    let steps = members.get("nested_loop").and_then(Value::as_array).map(Vec::as_slice);
    let alone = members.get("table").filter(|table| table.is_object()).map(|_| std::slice::from_ref(value));
    if let Some(steps) = steps.or(alone) {
        let mut amount = joined(steps, depth);
        amount.at_most |= LESS.iter().any(|key| members.contains_key(*key));
        return Some(amount);
    }
    if members.contains_key("message") {
        return Some(Amount { out: 1.0, ..Amount::default() });
    }
    let mut amount = members.values().find_map(|inner| of(inner, depth + 1))?;
    amount.at_most |= LESS.iter().any(|key| members.contains_key(*key));
    Some(amount)
}

/// Tables that are joined one after the other.
fn joined(steps: &[Value], depth: usize) -> Amount {
    let mut sum = Amount { out: 1.0, ..Amount::default() };
    for table in steps.iter().filter_map(|step| table(step, depth)) {
        let rows = number_of(table, &["rows", "rows_examined_per_scan"]);
        let filtered = number_of(table, &["filtered"]).unwrap_or(100.0).clamp(0.0, 100.0);
        sum.scanned += sum.out * rows.unwrap_or(0.0);
        sum.out *= rows.unwrap_or(1.0) * filtered / 100.0;
        // A condition of which nothing is known is taken for one that keeps every row.
        sum.at_most |= filtered >= 100.0 && table.contains_key("attached_condition");
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

/// What is worth a word in a plan: in the block itself, the derived tables that it reads, and the parts of a
/// union. Sub-queries may stop after any row, which these plans do not tell, and neither do they tell of a limit
/// in a derived table.
pub(super) fn remarks(block: &Value, shape: Shape, worth: &mut Worth) {
    worth.total = cost(block).unwrap_or(f64::NAN);
    remark(block, shape, false, 0, worth);
}

fn remark(value: &Value, shape: Shape, mut sees_all: bool, depth: usize, worth: &mut Worth) {
    let Some(members) = value.as_object().filter(|_| depth < DEEPEST) else { return };
    if let Some(parts) = members.get("query_specifications").and_then(Value::as_array) {
        for part in parts {
            remark(part, shape, true, depth + 1, worth);
        }
        return;
    }
    let is_set = |key: &str| members.get(key) == Some(&Value::Bool(true));
    sees_all |= is_set("using_filesort") || is_set("using_temporary_table");
    sees_all |= members.contains_key("filesort") || members.contains_key("temporary_table");
    let steps = members.get("nested_loop").and_then(Value::as_array).map(Vec::as_slice);
    let alone = members.get("table").filter(|table| table.is_object()).map(|_| std::slice::from_ref(value));
    if let Some(steps) = steps.or(alone) {
        return tables(steps, shape, sees_all, depth, worth);
    }
    // One of the wrappers holds the tables; lists of sub-queries are none.
    let inner = members.values().find(|inner| inner.is_object() && of(inner, depth + 1).is_some());
    if let Some(inner) = inner {
        remark(inner, shape, sees_all, depth + 1, worth);
    }
}

fn tables(steps: &[Value], shape: Shape, sees_all: bool, depth: usize, worth: &mut Worth) {
    let sorts = steps.iter().any(|step| step.get("read_sorted_file").is_some());
    let share = match shape.limit {
        Some(limit) if !sees_all && !sorts && !shape.one_row => {
            (limit as f64 / joined(steps, depth).out.max(1.0)).min(1.0)
        }
        _ => 1.0,
    };
    // The cost of all tables up to the last one that is read again for each row before it.
    let (mut sum, mut of_loop) = (0.0, 0.0);
    for (index, step) in steps.iter().enumerate() {
        let Some(table) = table(step, depth) else { continue };
        let rows = number_of(table, &["rows", "rows_examined_per_scan"]).unwrap_or(0.0);
        let filtered = number_of(table, &["filtered"]).unwrap_or(100.0).clamp(0.0, 100.0) / 100.0;
        let cost_info = table.get("cost_info");
        let info = |key: &str| cost_info.and_then(|c| number(c, key));
        let own = number_of(table, &["cost"]);
        sum = info("prefix_cost").unwrap_or(sum + own.unwrap_or(0.0));
        if index > 0 && !is_hashed(step, table) {
            of_loop = sum;
        }
        let text = |key: &str| table.get(key).and_then(Value::as_str);
        if let (Some("ALL"), Some(alias)) = (text("access_type"), text("table_name"))
            && !alias.starts_with('<')
            && table.get("materialized_from_subquery").is_none()
        {
            let read = info("read_cost").zip(info("eval_cost")).map(|(read, eval)| read + eval);
            let figures = ScanCost {
                total: worth.total,
                cost: read.or(own).unwrap_or(f64::NAN) * share,
                rows,
                kept: rows * filtered,
            };
            let name = Table { schema: None, name: alias, alias };
            // The limit may stop the first table; the others are read again for each of its rows.
            let read = if index == 0 { share } else { 1.0 };
            worth.scan(name, read, figures, text("attached_condition"));
        }
        for key in ["materialized", "materialized_from_subquery"] {
            let inner = table.get(key).filter(|_| !shape.inner_limit);
            if let Some(inner) = inner {
                remark(inner, Shape::default(), true, depth + 1, worth);
            }
        }
    }
    worth.warn(PlanWarning::nested_loop(of_loop * share));
}

/// Whether a table is joined by a hash of it instead of by reading it again.
fn is_hashed(step: &Value, table: &Map<String, Value>) -> bool {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned).unwrap_or_default();
    let buffer = text(table.get("using_join_buffer"));
    let join = text(step.get("block-nl-join").and_then(|join| join.get("join_type")));
    buffer.contains("hash") || matches!(join.as_str(), "BNLH" | "BKAH")
}

fn number_of(table: &Map<String, Value>, keys: &[&str]) -> Option<f64> {
    keys.iter().find_map(|key| match table.get(*key)? {
        Value::Number(n) => n.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    })
}
