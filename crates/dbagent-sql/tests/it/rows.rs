//! Statements and what the walk must say of them, one row a line in `data/walk.jsonl`.
//!
//! `cargo xtask bless` writes the expectations anew; read the difference before you commit it.

use std::fmt::Write as _;

use dbagent_core::guard::Parsed;
use serde::{Deserialize, Serialize};

use crate::grammars;

/// One row. Absent means empty.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    dialect: String,
    sql: String,
    #[serde(flatten)]
    expected: Expected,
}

/// What is said of a statement, in short forms.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
struct Expected {
    /// The byte at which the text stops being SQL.
    #[serde(skip_serializing_if = "Option::is_none")]
    syntax: Option<usize>,
    #[serde(skip_serializing_if = "String::is_empty")]
    class: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    effects: String,
    /// `name` read, `name!` written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    objects: Vec<String>,
    /// `column@object,object`; `*` is every column, no object a derived one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<String>,
    /// `name` reads, `name=effects` does something else.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    functions: Vec<String>,
    /// Rule codes, with the choice that flips them after a colon.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<String>,
    /// `?2` for two by position, and names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parameters: Vec<String>,
    /// Set where columns are not told in full.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    columns_unknown: bool,
}

fn word<T: Serialize>(value: T) -> String {
    serde_json::to_value(value).unwrap().as_str().unwrap().to_owned()
}

fn describe(parsed: &Parsed) -> Expected {
    let objects: Vec<_> = parsed.objects.iter().map(|o| o.name.to_string()).collect();
    let mut parameters = parsed.parameters.named.clone();
    if parsed.parameters.positional > 0 {
        parameters.insert(0, format!("?{}", parsed.parameters.positional));
    }
    Expected {
        syntax: None,
        class: word(parsed.class),
        effects: parsed.effects.to_string(),
        objects: parsed
            .objects
            .iter()
            .map(|o| format!("{}{}", o.name, if o.written { "!" } else { "" }))
            .collect(),
        columns: parsed
            .columns
            .iter()
            .map(|c| {
                let of: Vec<_> = c.candidates.iter().map(|i| objects[*i].as_str()).collect();
                format!("{}@{}", c.column.as_deref().unwrap_or("*"), of.join(","))
            })
            .collect(),
        functions: parsed
            .functions
            .iter()
            .map(|f| {
                let mut text = f.name.clone();
                if f.effects != dbagent_core::Effects::READ {
                    write!(text, "={}", f.effects).unwrap();
                }
                text
            })
            .collect(),
        findings: parsed
            .findings
            .iter()
            .map(|f| {
                let mut text = f.rule.code().to_owned();
                if let Some(choice) = &f.choice {
                    write!(text, ":{choice}").unwrap();
                }
                text
            })
            .collect(),
        parameters,
        columns_unknown: !parsed.columns_known,
    }
}

fn actual(row: &Row) -> Expected {
    match grammars::parse(&grammars::grammar(&row.dialect), &row.sql) {
        Ok(parsed) => describe(&parsed),
        Err(error) => {
            assert_eq!(error.kind(), dbagent_core::ErrorKind::Syntax, "{}: {error}", row.sql);
            Expected {
                syntax: Some(error.position().expect("a syntax error has a place")),
                ..Expected::default()
            }
        }
    }
}

#[test]
fn every_row_is_read_as_it_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/walk.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<Row> = text.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert!(rows.len() >= 250, "{} rows", rows.len());
    if std::env::var_os("DBAGENT_BLESS").is_some() {
        let lines: Vec<_> = rows
            .iter()
            .map(|row| serde_json::to_string(&Row { expected: actual(row), ..row.clone() }).unwrap())
            .collect();
        std::fs::write(path, lines.join("\n") + "\n").unwrap();
        return;
    }
    let mut wrong = String::new();
    for (index, row) in rows.iter().enumerate() {
        let actual = actual(row);
        if actual != row.expected {
            let (want, have) =
                (serde_json::to_string(&row.expected).unwrap(), serde_json::to_string(&actual).unwrap());
            writeln!(wrong, "line {}: {}\n  want {want}\n  have {have}", index + 1, row.sql).unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn places_point_at_what_they_name() {
    let text = "SELECT u.name, größe, upper(x)\nFROM \"users\" u JOIN main.orders o ON u.id = o.user_id";
    let parsed = grammars::parse(&grammars::grammar("generic"), text).unwrap();
    let at = |span: Option<dbagent_core::guard::Span>| span.map(|s| text.get(s.start..s.end).unwrap());
    let objects: Vec<_> = parsed.objects.iter().map(|o| at(o.span).unwrap()).collect();
    assert_eq!(objects, ["\"users\"", "main.orders"]);
    let columns: Vec<_> = parsed.columns.iter().map(|c| at(c.span).unwrap()).collect();
    assert_eq!(columns, ["u.name", "größe", "x", "u.id", "o.user_id"]);
    assert_eq!(at(parsed.functions[0].span), Some("upper"));
}
