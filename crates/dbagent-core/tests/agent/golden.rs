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
    let mut newest: Vec<(&str, u32)> = Vec::new();
    for (file, expected) in [("facts-v1.jsonl", (2, 1, 6, 7)), ("facts-v2.jsonl", (1, 2, 5, 0))] {
        let text = std::fs::read_to_string(golden(file)).unwrap();
        let records: Vec<FactRecord> = text.lines().map(|l| FactRecord::from_json(l).unwrap()).collect();
        // Written again they say the same, in the version of today: nothing was lost in reading.
        for (record, line) in records.iter().zip(text.lines()) {
            let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            let (again, mut line) = (value(&record.to_json().unwrap()), value(line));
            if line["version"] == record.fact.version() {
                newest.push((record.fact.kind(), record.fact.version()));
            }
            line["version"] = record.fact.version().into();
            assert_eq!(again, line, "{file}");
        }
        let state = State::fold(&records).unwrap();
        let folded = (state.turn, state.run.number, state.messages.len(), state.rows.charged);
        assert_eq!((folded, state.rows.reserved), (expected, 0), "{file}");
    }
    // Every kind that this program knows is in the golden logs in its newest version.
    for kind in Fact::KINDS {
        assert!(newest.contains(kind), "no golden fact of {kind:?}");
    }
}

#[test]
fn what_old_logs_do_not_say_is_unknown() {
    let of = |file: &str| {
        let text = std::fs::read_to_string(golden(file)).unwrap();
        let records: Vec<FactRecord> = text.lines().map(|l| FactRecord::from_json(l).unwrap()).collect();
        State::fold(&records).unwrap()
    };
    let old = of("facts-v1.jsonl");
    assert_eq!((old.run.usage.input, old.run.usage.cost_micros, old.run.setup), (30, None, None));
    let new = of("facts-v2.jsonl");
    assert_eq!((new.run.usage.input, new.run.usage.cost_micros), (0, Some(0)));
    assert_eq!((new.usage.input, new.usage.cost_micros), (12, Some(34)));
    assert_eq!(new.run.setup.unwrap().model, "m-3");
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
