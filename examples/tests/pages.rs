//! The TOML in the documents is what the types read: limits, policies, budgets.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a page that cannot be read fails the test")]

use std::fs;
use std::path::Path;

use dbagent::budget::Budgets;
use dbagent::{Guardrails, Policy};
use toml::{Table, Value};

const PAGES: &[&str] = &["README.md", "docs/guardrails.md"];

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    fs::read_to_string(root.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Reads a table as a type whose unknown keys are errors.
fn reads<T: serde::de::DeserializeOwned>(page: &str, name: &str, value: &Value) {
    value.clone().try_into::<T>().unwrap_or_else(|e| panic!("{page}: [{name}] {e}"));
}

#[test]
fn the_configurations_in_the_documents_are_read() {
    let mut tables = 0;
    for page in PAGES {
        let text = read(page);
        for block in text.split("\n```toml\n").skip(1).filter_map(|rest| rest.split("```").next()) {
            let configuration: Table = block.parse().unwrap_or_else(|e| panic!("{page}: {e}"));
            for (key, value) in &configuration {
                match key.as_str() {
                    "model" | "models" => {}
                    "guardrails" => reads::<Guardrails>(page, key, value),
                    "agent" => {
                        let mut budgets = value.as_table().unwrap().clone();
                        budgets.remove("system");
                        reads::<Budgets>(page, key, &Value::Table(budgets));
                    }
                    "databases" => {
                        for (name, database) in value.as_table().unwrap() {
                            let of =
                                |key: &str| database.get(key).cloned().unwrap_or(Value::Table(Table::new()));
                            reads::<Policy>(page, &format!("databases.{name}.policy"), &of("policy"));
                            reads::<Guardrails>(
                                page,
                                &format!("databases.{name}.guardrails"),
                                &of("guardrails"),
                            );
                        }
                    }
                    other => panic!("{page}: a configuration has no [{other}]"),
                }
                tables += 1;
            }
        }
    }
    assert!(tables >= 4, "only {tables} tables were read");
}
