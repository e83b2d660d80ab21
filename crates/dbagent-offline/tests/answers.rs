//! Questions over nine databases with the rows that a right plan gives, computed by a statement written by
//! hand beside each; and questions that must be answered with "not sure". The data is in `tests/data`, one
//! case a line:
//!
//! - `sql`: the rows that the last query must give, whole and column by column; `ordered` where their order
//!   counts, `first` where only so many leading columns are compared (the rest only shows more of a row);
//! - `unsure`: a part of the reason that must be given, without any final query;
//! - `text`: parts that the answer must hold;
//! - `statements`: how many statements are run, the looking up of values among them;
//! - `thread`: questions on one thread, of which the last is compared.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::path::{Path, PathBuf};

use serde_json::Value;
use support::{Asked, Bench, Rows};

fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// Numbers that differ only in the last digits of their binary form are equal.
fn plain(cell: Option<&str>) -> String {
    match cell {
        None => "NULL".to_owned(),
        Some(text) => match text.parse::<f64>() {
            Ok(x) => format!("{x:.6}"),
            Err(_) => format!("“{text}”"),
        },
    }
}

fn comparable(rows: &Rows, first: Option<usize>, ordered: bool) -> Vec<Vec<String>> {
    let mut out: Vec<Vec<String>> = rows
        .iter()
        .map(|r| r.iter().take(first.unwrap_or(usize::MAX)).map(|c| plain(c.as_deref())).collect())
        .collect();
    if !ordered {
        out.sort();
    }
    out
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().map(|a| a.iter().map(|v| v.as_str().unwrap().to_owned()).collect()).unwrap_or_default()
}

/// What is wrong with an answer, if anything is.
fn wrong(case: &Value, asked: &Asked, bench: &Bench) -> Option<String> {
    if let Some(reason) = case["unsure"].as_str() {
        let says = asked.text.starts_with("I am not sure") && asked.text.contains(reason);
        let connects = asked.text.contains("--model ollama:qwen3");
        return (!says || !connects)
            .then(|| format!("expected to be not sure because of “{reason}”, got:\n{}", asked.text));
    }
    if case["text"].is_array() {
        let missing: Vec<String> =
            texts(&case["text"]).into_iter().filter(|part| !asked.text.contains(part.as_str())).collect();
        return (!missing.is_empty()).then(|| format!("{missing:?} missing in:\n{}", asked.text));
    }
    if !asked.text.contains("Understood as: ") {
        return Some(format!("no line says how it was understood:\n{}", asked.text));
    }
    if let Some(n) = case["statements"].as_u64()
        && asked.statements.len() != usize::try_from(n).unwrap()
    {
        return Some(format!("{n} statements expected, these ran:\n{}", asked.statements.join("\n")));
    }
    let first = case["first"].as_u64().map(|n| usize::try_from(n).unwrap());
    let ordered = case["ordered"].as_bool().unwrap_or_default();
    // A column too many is as wrong as a row too many.
    let mut expected = bench.expected(case["sql"].as_str().unwrap());
    if let Some(n) = first {
        for row in &mut expected {
            row.truncate(n);
        }
    }
    let (want, got) = (comparable(&expected, None, ordered), comparable(&asked.rows, first, ordered));
    (want != got).then(|| {
        let some = |rows: &[Vec<String>]| {
            rows.iter().take(5).map(|r| r.join(", ")).collect::<Vec<_>>().join("\n    ")
        };
        format!(
            "{} rows expected, {} came\n  expected:\n    {}\n  came:\n    {}\n  statement: {}\n  {}",
            want.len(),
            got.len(),
            some(&want),
            some(&got),
            asked.statements.last().cloned().unwrap_or_default(),
            asked.text.lines().last().unwrap_or_default()
        )
    })
}

async fn run(bench: &Bench, file: &str, at_least: usize) {
    let text = std::fs::read_to_string(data(file)).unwrap();
    let mut failures = Vec::new();
    let mut count = 0;
    for (i, line) in text.lines().enumerate() {
        let case: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{file}:{}: {e}", i + 1));
        let questions = match case["question"].as_str() {
            Some(question) => vec![question.to_owned()],
            None => texts(&case["thread"]),
        };
        let asked = bench.ask(&format!("t{i}"), &questions).await;
        count += 1;
        if let Some(what) = wrong(&case, &asked, bench) {
            failures.push(format!("{file}:{}: {}\n  {what}", i + 1, questions.join(" / ")));
        }
    }
    assert!(count >= at_least, "only {count} cases were read");
    assert!(failures.is_empty(), "{} of {count} failed\n\n{}", failures.len(), failures.join("\n\n"));
}

#[tokio::test]
async fn chinook() {
    let bench = Bench::open(&data("../../tests/data/chinook/chinook.sqlite"));
    run(&bench, "tests/data/chinook.jsonl", 110).await;
}

#[tokio::test]
async fn northwind() {
    let bench = Bench::open(&data("../../tests/data/northwind/northwind.sqlite"));
    run(&bench, "tests/data/northwind.jsonl", 60).await;
}

/// A database made by a script.
async fn scripted(name: &str, at_least: usize) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("made.db");
    let script = std::fs::read_to_string(data(&format!("tests/data/{name}.sql"))).unwrap();
    rusqlite::Connection::open(&file).unwrap().execute_batch(&script).unwrap();
    run(&Bench::open(&file), &format!("tests/data/{name}.jsonl"), at_least).await;
}

#[tokio::test]
async fn league() {
    scripted("league", 40).await;
}

#[tokio::test]
async fn clinic() {
    scripted("clinic", 10).await;
}

/// Values with several owners and links, counts beside numbers, denials in the middle.
#[tokio::test]
async fn trade() {
    scripted("trade", 30).await;
}

/// Months and quarters as columns.
#[tokio::test]
async fn ledger() {
    scripted("ledger", 12).await;
}

/// Years and weekdays as columns.
#[tokio::test]
async fn census() {
    scripted("census", 8).await;
}

/// What is out and not back, columns of neighbours, parts of a table, sums of rows.
#[tokio::test]
async fn lending() {
    scripted("lending", 25).await;
}

/// Verbs that are joined, totals, texts that are joined.
#[tokio::test]
async fn academy() {
    scripted("academy", 20).await;
}
