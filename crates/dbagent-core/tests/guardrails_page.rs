//! `docs/guardrails.md` says of every limit and every rule exactly what the code says.
//!
//! What stands between the page's markers is made from `Guardrails`, `Budgets` and `Rule::ALL`.
//! `DBAGENT_BLESS=1` (`cargo xtask bless core -- guardrails_page`) writes those parts anew.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use dbagent_core::budget::Budgets;
use dbagent_core::json::{Json, JsonLimits};
use dbagent_core::schemars::{JsonSchema, schema_for};
use dbagent_core::{Guardrails, Rule};
use serde::Serialize;

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/guardrails.md")
}

/// A row for each field in the order of declaration: name, default, and what its documentation says.
fn table<T: Default + Serialize + JsonSchema>() -> String {
    let defaults = serde_json::to_string(&T::default()).unwrap();
    let defaults = Json::parse(&defaults, JsonLimits::default()).unwrap();
    let schema = schema_for!(T).to_value();
    let mut text = "| limit | default | meaning |\n|---|---|---|\n".to_owned();
    for (name, value) in defaults.as_object().unwrap() {
        let meaning = schema["properties"][name]["description"].as_str().unwrap().replace('\n', " ");
        let value = match value {
            Json::Null => "off".to_owned(),
            Json::String(word) => format!("`{word}`"),
            value => value.to_string(),
        };
        writeln!(text, "| `{name}` | {value} | {meaning} |").unwrap();
    }
    text
}

fn rules() -> String {
    Rule::ALL
        .iter()
        .map(|rule| format!("## {rule}\n\n{}\n\n*Instead:* {}\n", rule.explanation().trim(), rule.advice()))
        .collect::<Vec<_>>()
        .join("\n")
}

fn parts() -> [(&'static str, String); 3] {
    [("guardrails", table::<Guardrails>()), ("budgets", table::<Budgets>()), ("rules", rules())]
}

/// What stands between the markers of a part, and where.
fn find<'a>(page: &'a str, name: &str) -> Result<&'a str, String> {
    let (open, close) = (format!("<!-- from code: {name} -->\n"), format!("<!-- end: {name} -->"));
    page.split_once(&open)
        .and_then(|(_, rest)| rest.split_once(&close))
        .map(|(inside, _)| inside)
        .ok_or_else(|| format!("docs/guardrails.md needs the lines `{}` and `{close}`", open.trim_end()))
}

#[test]
fn the_guardrails_page_says_what_the_code_says() {
    let mut text = fs::read_to_string(page()).unwrap();
    if std::env::var_os("DBAGENT_BLESS").is_some() {
        for (name, made) in parts() {
            let inside = find(&text, name).unwrap();
            let open = format!("<!-- from code: {name} -->\n");
            text = text.replacen(&format!("{open}{inside}"), &format!("{open}\n{made}\n"), 1);
        }
        fs::write(page(), &text).unwrap();
    }
    for (name, made) in parts() {
        let inside = find(&text, name).unwrap();
        for (is, should) in inside.trim().lines().zip(made.trim().lines()) {
            assert_eq!(is, should, "part {name}; run `cargo xtask bless core -- guardrails_page`");
        }
        assert_eq!(
            inside.trim(),
            made.trim(),
            "part {name}; run `cargo xtask bless core -- guardrails_page`"
        );
    }
    every_rule_has_one_section(&text);
}

/// Also true of what is written by hand outside the markers.
fn every_rule_has_one_section(text: &str) {
    for rule in Rule::ALL {
        let heading = format!("## {} {}\n", rule.code(), rule.name());
        let sections = text.matches(&heading).count();
        assert_eq!(sections, 1, "{heading:?} stands {sections} times in docs/guardrails.md");
        let section = text.split_once(&heading).unwrap().1;
        let section = section.split_once("\n## ").map_or(section, |(section, _)| section);
        assert!(section.contains(rule.explanation().trim()), "{rule}: the explanation is not on the page");
        assert!(section.contains(rule.advice()), "{rule}: the advice is not on the page");
    }
}
