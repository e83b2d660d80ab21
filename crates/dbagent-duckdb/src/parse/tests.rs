//! The walk fails closed: a part of a tree that it does not know is never passed over.

use std::path::PathBuf;

use dbagent_core::guard::{Judgement, Parsed, Policy, Resolution, Rule, StatementClass, judge};
use dbagent_core::{NameCase, Settings};
use serde_json::{Value, json};

use super::engine::{Engine, Read};
use super::walk::Walk;
use super::{Names, command, lex};

/// A word that the engine has for nothing.
const INVENTED: &str = "INVENTED";

/// The engine's tree of a query that it serializes.
fn tree(engine: &Engine, text: &str) -> Option<Value> {
    let tokens = lex::Tokens::read(text, usize::MAX).ok()?;
    if command::command(&tokens, text) != command::Command::Plain {
        return None;
    }
    match engine.read(text).unwrap() {
        Read::Query(tree) => Some(Value::Object(tree)),
        _ => None,
    }
}

fn walked(tree: &Value) -> Parsed {
    let names = Names::of(&Settings::new());
    let mut walk = Walk::new(StatementClass::Read, &names, None);
    walk.statement(tree.as_object().unwrap());
    walk.parsed
}

fn judged(tree: &Value) -> Judgement {
    judge(&walked(tree), &Resolution::offline(), &Policy::default(), NameCase::AsciiInsensitive)
}

/// Refused, because of the tree alone: the catalogue could not change that.
fn is_unknown(tree: &Value) -> bool {
    let parsed = walked(tree);
    parsed.findings.iter().any(|finding| finding.rule == Rule::UnknownSyntax)
        && matches!(judged(tree), Judgement::Refused(_))
}

#[test]
fn a_kind_that_nobody_has_judged_is_refused_at_every_level() {
    let engine = Engine::new();
    let text = "WITH c AS (SELECT 1 AS x) SELECT t.a + 1, count(*) FILTER (b > 2) OVER (ORDER BY b) \
                FROM t JOIN u USING (a) WHERE a IN (SELECT x FROM c) ORDER BY 1 LIMIT 3";
    let honest = tree(&engine, text).unwrap();
    assert!(walked(&honest).findings.is_empty(), "{:?}", walked(&honest).findings);
    for (level, place) in [
        ("the statement", "/node/type"),
        ("a common table expression", "/node/cte_map/map/0/value/query_node/type"),
        ("an expression", "/node/select_list/0/class"),
        ("an expression inside another", "/node/select_list/0/arguments/0/expression/class"),
        ("an operator", "/node/where_clause/type"),
        ("a window", "/node/select_list/1/class"),
        ("the filter of a window", "/node/select_list/1/filter_expr/class"),
        ("what stands in FROM", "/node/from_table/type"),
        ("a side of a join", "/node/from_table/right/type"),
        ("the query of a sub-select", "/node/where_clause/subquery/node/type"),
        ("what stands in FROM of a sub-select", "/node/where_clause/subquery/node/from_table/type"),
        ("a clause", "/node/modifiers/1/type"),
    ] {
        let mut invented = honest.clone();
        let kind = invented.pointer_mut(place).unwrap_or_else(|| panic!("{level}: {place} in {honest:#}"));
        assert!(kind.is_string(), "{level}: {kind}");
        *kind = Value::from(INVENTED);
        assert!(is_unknown(&invented), "{level}");
    }
    let mut more = honest.clone();
    more["node"]["invented_clause"] = json!([]);
    assert!(is_unknown(&more));
}

/// Members that hold nothing that could run: names of columns that are left out or renamed, the numbers of
/// GROUPING SETS and of TABLESAMPLE, the names of parameters.
const LEAVES: &[&str] = &[
    "named_param_map",
    "exclude_list",
    "qualified_exclude_list",
    "rename_list",
    "group_sets",
    "groups",
    "sample_size",
    "aliases",
    "column_name_alias",
    "unpivot_names",
];

/// Every object and list of a tree, as JSON pointers, that is no leaf, nor the value of a constant.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    let constant = value["class"] == "CONSTANT";
    match value {
        Value::Object(members) => {
            found.push(at.to_owned());
            for (key, member) in
                members.iter().filter(|(key, _)| !constant && !LEAVES.contains(&key.as_str()))
            {
                places(member, &format!("{at}/{key}"), found);
            }
        }
        Value::Array(items) => {
            found.push(at.to_owned());
            for (index, item) in items.iter().enumerate() {
                places(item, &format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
}

/// Each change of a node that makes it one that nobody has judged.
fn inventions(node: &Value) -> Vec<Value> {
    let with = |key: &str, value: Value| {
        let mut changed = node.clone();
        changed[key] = value;
        changed
    };
    let mut changed = vec![Value::from(INVENTED)];
    if node.is_object() {
        changed.push(with("invented", Value::from(true)));
        for key in ["type", "class"].iter().filter(|key| node.get(**key).is_some_and(Value::is_string)) {
            changed.push(with(key, Value::from(INVENTED)));
        }
    }
    changed
}

/// The statements of the corpora that are allowed.
fn allowed() -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpora/duckdb");
    ["duckdb.jsonl", "own.jsonl"]
        .iter()
        .flat_map(|file| {
            let text = std::fs::read_to_string(folder.join(file)).unwrap();
            text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect::<Vec<_>>()
        })
        .filter(|row| row["verdict"] == "allow")
        .map(|row| row["statement"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn every_part_of_every_allowed_statement_is_looked_at() {
    let engine = Engine::new();
    let (mut passed, mut tried) = (Vec::new(), 0);
    for text in allowed() {
        let Some(honest) = tree(&engine, &text) else { continue };
        let mut all = Vec::new();
        places(&honest, "", &mut all);
        for place in all.iter().filter(|place| !place.is_empty()) {
            for changed in inventions(honest.pointer(place).unwrap()) {
                let mut invented = honest.clone();
                *invented.pointer_mut(place).unwrap() = changed.clone();
                tried += 1;
                if !is_unknown(&invented) {
                    passed.push(format!("{place} as {changed}: {text}"));
                }
            }
        }
    }
    assert!(tried > 5_000, "{tried}");
    assert!(passed.is_empty(), "{} of {tried} passed:\n{}", passed.len(), passed.join("\n"));
}
