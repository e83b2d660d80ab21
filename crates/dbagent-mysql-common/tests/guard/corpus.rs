//! Every row of the corpora is judged as it says.

use std::path::PathBuf;

use dbagent_core::guard::{Judgement, Policy, Resolution, judge};
use dbagent_core::guardrails::StatementLimits;
use dbagent_core::{ErrorKind, ParseContext, Parsed, Request, Result, Settings};
use dbagent_mysql_common::flavor::Flavor;
use dbagent_mysql_common::parse;

use crate::KIT;

#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) statement: String,
    pub(crate) allow: bool,
    pub(crate) kind: String,
}

/// The rows of the shared corpus and our own; those that the server shows to be wrong are told apart by
/// `disputed.jsonl`, which turns their verdict.
pub(crate) fn rows() -> Vec<Row> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpora").join(KIT.id);
    let read =
        |file: &str| std::fs::read_to_string(folder.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
    let lines = |text: &str| -> Vec<serde_json::Value> {
        let lines = text.lines().filter(|l| !l.trim().is_empty());
        lines.map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e}: {l}"))).collect()
    };
    let disputed = lines(&read("disputed.jsonl"));
    let mut rows = Vec::new();
    for file in [format!("{}.jsonl", KIT.id), "own.jsonl".to_owned()] {
        for row in lines(&read(&file)) {
            let text = |key: &str| row[key].as_str().unwrap_or_else(|| panic!("{key}: {row}")).to_owned();
            let dispute = disputed.iter().find(|d| d["id"] == row["id"]);
            let verdict =
                dispute.map_or_else(|| text("verdict"), |d| d["verdict"].as_str().unwrap().to_owned());
            assert!(["allow", "deny"].contains(&verdict.as_str()), "{row}");
            rows.push(Row {
                id: text("id"),
                statement: text("statement"),
                allow: verdict == "allow",
                kind: text("kind"),
            });
        }
    }
    assert!(disputed.len() <= 3, "few rows are disputed, not {}", disputed.len());
    for d in &disputed {
        assert!(d["evidence"].as_str().is_some_and(|e| e.len() > 20), "{d}");
        assert!(rows.iter().any(|r| d["id"] == r.id.as_str()), "{d}");
    }
    let mut ids: Vec<_> = rows.iter().map(|r| r.id.clone()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), rows.len(), "an id stands twice");
    rows
}

/// The settings of a session as the driver opens it.
pub(crate) fn settings() -> Settings {
    Settings::new()
}

pub(crate) fn context(settings: Settings) -> ParseContext {
    KIT.dialect.parse_context(StatementLimits::default(), settings)
}

pub(crate) fn read(text: &str, settings: Settings) -> Result<Parsed> {
    parse::parse(KIT.flavor, &Request::text(text), &context(settings))
}

pub(crate) fn offline(text: &str) -> Result<Judgement> {
    let parsed = read(text, settings())?;
    Ok(judge(&parsed, &Resolution::offline(), &Policy::default(), Flavor::NAME_CASE))
}

#[test]
fn every_row_is_judged_as_it_says_without_a_database() {
    let mut wrong = Vec::new();
    let rows = rows();
    for row in &rows {
        match offline(&row.statement) {
            Err(e) if e.kind() == ErrorKind::Syntax && !row.allow => {}
            Ok(verdict) if matches!(verdict, Judgement::Read) == row.allow => {}
            other => wrong.push(format!("{} {:?}: {other:?}", row.id, row.statement)),
        }
    }
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn there_are_enough_rows_of_our_own() {
    let own: Vec<_> = rows().into_iter().filter(|r| r.id.starts_with("own-")).collect();
    let honest = own.iter().filter(|r| r.allow).count();
    assert!(honest >= 200 && own.len() - honest >= 200, "{honest} of {}", own.len());
}
