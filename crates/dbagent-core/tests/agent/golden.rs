//! Golden files: old logs stay readable, and what the model is told changes only on purpose.
//!
//! `DBAGENT_BLESS=1` (that is `cargo xtask bless`) rewrites what may change. Old logs never change: a new
//! version of a fact gets a new file beside them.

use std::path::{Path, PathBuf};

use crate::support::database;
use dbagent_core::fact::{Fact, FactRecord};
use dbagent_core::state::State;
use dbagent_core::{Guardrails, serde_json};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn blessing() -> bool {
    std::env::var_os("DBAGENT_BLESS").is_some()
}

fn compare(name: &str, actual: &str) {
    let path = golden(name);
    if blessing() {
        std::fs::write(&path, actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    assert_eq!(actual, expected, "{} differs; if that is meant, run `cargo xtask bless`", path.display());
}

#[test]
fn old_logs_stay_readable() {
    let text = std::fs::read_to_string(golden("facts-v1.jsonl")).unwrap();
    let records: Vec<FactRecord> = text.lines().map(|l| FactRecord::from_json(l).unwrap()).collect();
    // Written again they say the same: nothing was lost in reading.
    for (record, line) in records.iter().zip(text.lines()) {
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(&record.to_json().unwrap()), value(line));
    }
    // Every kind that this version knows is in the golden logs.
    for (kind, _) in Fact::KINDS {
        assert!(records.iter().any(|r| r.fact.kind() == *kind), "no golden fact of kind {kind}");
    }
    let state = State::fold(&records).unwrap();
    assert_eq!((state.turn, state.run.number, state.messages.len()), (2, 1, 6));
    assert_eq!((state.rows.charged, state.rows.reserved), (7, 0));
}

#[test]
fn what_the_model_is_told_changes_only_on_purpose() {
    let database = database(Guardrails::default());
    let mut text = format!("# system\n{}\n", database.prompt());
    for tool in database.tools() {
        let spec = tool.spec();
        text.push_str(&format!("\n# {}\n{}\n{:#}\n", spec.name, spec.description, spec.parameters));
    }
    compare("tools.txt", &text);
}
