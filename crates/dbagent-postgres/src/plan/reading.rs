//! Reads a plan in JSON: rows that are read, what is worth a word, where an index might help.

use dbagent_core::estimate::{Hint, LoopCost, PlanWarning, ScanCost};
use dbagent_core::serde_json::Value;

use super::condition::{self, Column};
use super::{children, number, relation};

/// Bytes that a row takes in a hash beside its columns.
const HASHED: f64 = 32.0;
/// The share of a core that the leader spends on each worker, and so not on its own part.
const LEADING: f64 = 0.3;

/// Rows by schema and table, and the memory of a hash.
#[derive(Debug, Default)]
pub(super) struct Statistics {
    pub(super) tables: Vec<(String, String, f64)>,
    pub(super) hash_memory: Option<f64>,
}

impl Statistics {
    fn rows(&self, node: &Value) -> Option<f64> {
        let (schema, table) = relation(node)?;
        self.tables
            .iter()
            .find(|(s, t, _)| s == schema && t == table)
            .map(|(_, _, rows)| *rows)
            .filter(|r| *r >= 0.0)
    }
}

/// An index that would help, if there is none yet.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) schema: String,
    pub(super) table: String,
    pub(super) columns: Vec<Column>,
    pub(super) hint: Hint,
}

/// What a plan tells.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// Rows that are read from tables.
    pub(super) scanned: f64,
    pub(super) warnings: Vec<PlanWarning>,
    pub(super) candidates: Vec<Candidate>,
    statistics: Statistics,
    total: f64,
}

/// How a node runs within its plan.
#[derive(Clone, Copy)]
struct Place {
    /// How often it runs.
    times: f64,
    /// How often it would run if no limit stopped anything: what is read is counted without limits, which stop
    /// where the planner only hopes.
    reads: f64,
    /// The share of its rows that anyone wants: less than all of them under a limit.
    share: f64,
    /// The part of a parallel plan that one process does is one of so many.
    parts: f64,
    /// Processes that run it.
    processes: f64,
    /// Whether a loop around it was spoken of.
    in_loop: bool,
}

impl Place {
    const TOP: Place =
        Place { times: 1.0, reads: 1.0, share: 1.0, parts: 1.0, processes: 1.0, in_loop: false };
}

impl Reading {
    /// Reads the topmost node and everything below it.
    pub(super) fn of(top: &Value, statistics: Statistics) -> Self {
        let total = number(top, "Total Cost").unwrap_or_default();
        let mut reading = Self { statistics, total, ..Self::default() };
        reading.node(top, Place::TOP);
        reading
    }

    fn warn(&mut self, warning: Option<PlanWarning>) {
        let warning = warning.filter(|w| !self.warnings.contains(w));
        self.warnings.extend(warning);
    }

    fn node(&mut self, node: &Value, mut place: Place) {
        let kind = kind(node);
        if kind.ends_with("Scan") && children(node).next().is_none() {
            self.scan(node, place);
        }
        if kind == "Nested Loop" && !place.in_loop {
            let warning = PlanWarning::nested_loop(cost(node, place.share) * place.times);
            place.in_loop = warning.is_some();
            if warning.is_some() {
                self.joined(node, place);
            }
            self.warn(warning);
        }
        self.hash(node, place);
        let workers = number(node, "Workers Planned").unwrap_or_default();
        if kind.starts_with("Gather") && workers > 0.0 {
            place.parts = workers + (1.0 - LEADING * workers).max(0.0);
            place.processes = workers + 1.0;
        }
        let (mut outer_rows, mut outer_reads) = (1.0, 1.0);
        for (index, child) in children(node).enumerate() {
            let share = if kind == "Limit" {
                limited(node, child, place.share)
            } else {
                wanted(node, child, place.share)
            };
            let mut below = Place { share, ..place };
            // The inner side of a nested loop runs once for each row of the outer one.
            if kind == "Nested Loop" && index == 0 {
                outer_rows = (rows(child) * share).max(1.0);
                outer_reads = rows(child).max(1.0);
            } else if kind == "Nested Loop" && index == 1 {
                let (times, reads) = (place.times * outer_rows, place.reads * outer_reads);
                below = Place { share: 1.0, times, reads, ..place };
            }
            self.node(child, below);
        }
    }

    fn scan(&mut self, node: &Value, place: Place) {
        let is_part = node.get("Parallel Aware") == Some(&Value::Bool(true));
        let kept = rows(node) * if is_part { place.parts } else { 1.0 };
        let is_sequential = kind(node) == "Seq Scan";
        let filter = node.get("Filter").and_then(Value::as_str);
        let known = if is_sequential { self.statistics.rows(node) } else { None };
        let whole = known.unwrap_or(kept).max(kept);
        let processes = if is_part { 1.0 } else { place.processes };
        self.scanned += whole * place.reads * processes;
        // A table that was never analysed has at least the rows that stay.
        let (true, Some((schema, table))) = (is_sequential, relation(node)) else { return };
        self.warn(PlanWarning::full_scan(
            format!("{schema}.{table}"),
            whole * place.share,
            Some(kept * place.share),
        ));
        let alias = node.get("Alias").and_then(Value::as_str).unwrap_or(table);
        let columns = filter.and_then(|filter| condition::columns(filter, alias));
        if let Some(columns) = columns
            && whole * place.share > PlanWarning::SCAN_ROWS
        {
            let figures = ScanCost {
                total: self.total,
                cost: cost(node, place.share) * place.times,
                rows: whole,
                kept,
            };
            self.candidate(schema, table, columns, |object, names| {
                Hint::index_for_scan(object, names, figures)
            });
        }
    }

    /// A nested loop that looks for partners by reading a table from one end to the other.
    fn joined(&mut self, node: &Value, place: Place) {
        let mut sides = children(node);
        let (Some(outer), Some(mut inner)) = (sides.next(), sides.next()) else { return };
        while kind(inner) == "Materialize" {
            let Some(below) = children(inner).next() else { return };
            inner = below;
        }
        let filter = node.get("Join Filter").and_then(Value::as_str);
        let (Some(filter), "Seq Scan", None) = (filter, kind(inner), inner.get("Filter")) else { return };
        let Some((schema, table)) = relation(inner) else { return };
        let alias = inner.get("Alias").and_then(Value::as_str).unwrap_or(table);
        let Some(column) = condition::joined_column(filter, alias) else { return };
        let share = wanted(node, outer, place.share);
        let figures = LoopCost {
            total: self.total,
            cost: cost(node, place.share) * place.times,
            outer: cost(outer, share) * place.times,
            outer_rows: rows(outer) * share * place.times,
            inner: number(inner, "Total Cost").unwrap_or(f64::NAN),
            inner_rows: self.statistics.rows(inner).unwrap_or_else(|| rows(inner)),
            rows: rows(node) * place.share * place.times,
        };
        self.candidate(schema, table, vec![column], |object, names| {
            Hint::index_for_loop(object, names, figures)
        });
    }

    fn candidate(
        &mut self,
        schema: &str,
        table: &str,
        columns: Vec<Column>,
        hint: impl FnOnce(String, Vec<String>) -> Option<Hint>,
    ) {
        let names = columns.iter().map(|c| c.name.clone()).collect();
        let Some(hint) = hint(format!("{schema}.{table}"), names) else { return };
        if !self.candidates.iter().any(|c| c.hint.advice() == hint.advice()) {
            self.candidates.push(Candidate {
                schema: schema.to_owned(),
                table: table.to_owned(),
                columns,
                hint,
            });
        }
    }

    /// A hash of a join, or of groups that the planner itself wants to divide.
    fn hash(&mut self, node: &Value, place: Place) {
        let is_divided = number(node, "Planned Partitions").is_some_and(|n| n > 0.0);
        let (Some(width), Some(memory)) = (number(node, "Plan Width"), self.statistics.hash_memory) else {
            return;
        };
        // What several processes build together may take the memory of each.
        let (parts, processes) = match node.get("Parallel Aware") {
            Some(Value::Bool(true)) => (place.parts, place.processes),
            _ => (1.0, 1.0),
        };
        if kind(node) == "Hash" || is_divided {
            let bytes = rows(node) * parts * (width + HASHED);
            self.warn(PlanWarning::hash_spill(bytes, memory * processes));
        }
    }
}

fn kind(node: &Value) -> &str {
    node.get("Node Type").and_then(Value::as_str).unwrap_or_default()
}

fn rows(node: &Value) -> f64 {
    number(node, "Plan Rows").unwrap_or_default()
}

/// The cost of a node until a share of its rows is there.
fn cost(node: &Value, share: f64) -> f64 {
    let (start, end) = costs(node);
    start + (end - start) * share
}

fn costs(node: &Value) -> (f64, f64) {
    (number(node, "Startup Cost").unwrap_or_default(), number(node, "Total Cost").unwrap_or_default())
}

/// The share of a child's rows that a limit takes: by cost, as the planner counts it itself.
fn limited(limit: &Value, child: &Value, share: f64) -> f64 {
    let ((start, end), (_, stop)) = (costs(child), costs(limit));
    let part = if end > start { (stop - start) / (end - start) } else { rows(limit) / rows(child).max(1.0) };
    part.clamp(0.0, 1.0) * share
}

/// The share of a child's rows that is read for a share of a node's rows: all of them where the node
/// has to see them all before its first row, as a sort and a hash do.
fn wanted(node: &Value, child: &Value, share: f64) -> f64 {
    let ((starts, _), (_, ends)) = (costs(node), costs(child));
    if ends > 0.0 && starts >= ends { 1.0 } else { share }
}

#[cfg(test)]
mod tests {
    use dbagent_core::serde_json::json;

    use super::*;

    fn read(tables: &[(&str, f64)], top: &Value) -> Reading {
        let tables = tables.iter().map(|(t, r)| ("public".to_owned(), (*t).to_owned(), *r)).collect();
        Reading::of(top, Statistics { tables, hash_memory: Some(1_000.0) })
    }

    fn scan(table: &str, rows: u64, cost: f64) -> Value {
        json!({"Node Type": "Seq Scan", "Schema": "public", "Relation Name": table, "Alias": table,
               "Plan Rows": rows, "Startup Cost": 0.0, "Total Cost": cost})
    }

    fn over(kind: &str, startup: f64, total: f64, rows: u64, below: Vec<Value>) -> Value {
        json!({"Node Type": kind, "Startup Cost": startup, "Total Cost": total, "Plan Rows": rows, "Plans": below})
    }

    const BIG: &[(&str, f64)] = &[("big", 1_000_000.0)];

    #[test]
    fn a_scan_reads_the_whole_table_whatever_it_keeps() {
        let r = read(BIG, &over("Aggregate", 9.0, 9.1, 1, vec![scan("big", 1_000_000, 9.0)]));
        assert!((r.scanned - 1e6).abs() < 1.0, "{r:?}");
        assert_eq!(r.warnings, [PlanWarning::full_scan("public.big", 1e6, None).unwrap()]);
        let r = read(BIG, &scan("big", 10, 9.0));
        assert!((r.scanned - 1e6).abs() < 1.0 && r.warnings.is_empty(), "{r:?}");
    }

    #[test]
    fn a_limit_stops_what_streams_and_not_what_sorts() {
        let r = read(BIG, &over("Limit", 0.0, 0.05, 5, vec![scan("big", 1_000_000, 10_000.0)]));
        assert!((r.scanned - 1e6).abs() < 1.0 && r.warnings.is_empty(), "{r:?}");
        let sort = over("Sort", 12_000.0, 12_500.0, 1_000_000, vec![scan("big", 1_000_000, 10_000.0)]);
        let r = read(BIG, &over("Limit", 12_000.0, 12_000.1, 5, vec![sort]));
        assert!((r.scanned - 1e6).abs() < 1.0 && r.warnings.len() == 1, "{r:?}");
    }

    #[test]
    fn what_several_processes_read_is_one_table() {
        // Two workers and 0.4 of the leader: 2.4 parts of 416,667.
        let mut part = scan("big", 416_667, 5_000.0);
        part["Parallel Aware"] = true.into();
        let mut gather = over("Gather", 1_000.0, 6_000.0, 1_000_000, vec![part]);
        gather["Workers Planned"] = 2.into();
        let r = read(BIG, &gather);
        assert!((r.scanned - 1e6).abs() < 10.0 && r.warnings.len() == 1, "{r:?}");
    }

    #[test]
    fn loops_and_hashes_are_weighed() {
        let inner = json!({"Node Type": "Index Scan", "Plan Rows": 2});
        let nested =
            |cost: f64| over("Nested Loop", 0.0, cost, 200, vec![scan("a", 100, 1.0), inner.clone()]);
        let r = read(&[], &nested(20_000.0));
        assert!((r.scanned - 300.0).abs() < 1e-6, "{r:?}");
        assert_eq!(r.warnings, [PlanWarning::NestedLoop { cost: 20_000.0 }]);
        // A loop in a loop is part of it.
        let outer = over("Nested Loop", 0.0, 50_000.0, 9, vec![nested(20_000.0), scan("b", 1, 1.0)]);
        assert_eq!(read(&[], &outer).warnings, [PlanWarning::NestedLoop { cost: 50_000.0 }]);
        assert_eq!(read(&[], &nested(10_000.0)).warnings, []);
        let hash = |kind: &str, width: u64| {
            let mut hash = over(kind, 1.0, 1.0, 10, vec![scan("a", 10, 1.0)]);
            hash["Plan Width"] = width.into();
            hash
        };
        assert_eq!(
            read(&[], &hash("Hash", 69)).warnings,
            [PlanWarning::HashSpill { bytes: 1_010, memory: 1_000 }]
        );
        assert_eq!(read(&[], &hash("Hash", 68)).warnings, []);
        let mut groups = hash("Aggregate", 69);
        assert_eq!(read(&[], &groups).warnings, []);
        groups["Planned Partitions"] = 4.into();
        assert_eq!(read(&[], &groups).warnings.len(), 1);
    }

    #[test]
    fn an_index_is_worth_a_word_where_few_rows_stay() {
        let mut few = scan("big", 10, 9_000.0);
        few["Filter"] = "(big.name = 'x'::text)".into();
        let r = read(BIG, &few);
        assert_eq!(r.candidates.len(), 1, "{r:?}");
        assert!(r.candidates[0].hint.gain() > 0.99, "{r:?}");
        // 2,000 of a million rows by an index cost half of reading them all.
        for (rows, hints) in [(1_999, 1), (2_000, 0)] {
            few["Plan Rows"] = rows.into();
            assert_eq!(read(BIG, &few).candidates.len(), hints);
        }
        few["Filter"] = "(lower(big.name) = 'x'::text)".into();
        assert!(read(BIG, &few).candidates.is_empty());
    }
}
