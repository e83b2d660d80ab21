//! Answers as JSON under a schema of the caller: filled only from what was found, checked against the
//! schema, refused where something would have to be made up.

use dbagent_core::model::{ModelError, ModelErrorKind};
use dbagent_core::observe::ReadTable;
use serde_json::{Map, Value, json};

use crate::planner::Answer;

/// Fills a schema with an answer.
///
/// # Errors
/// `InvalidRequest`, where a required property is none that the planner knows how to fill, or the schema
/// does not accept what it would hold.
pub(crate) fn fill(schema: &Value, answer: &Answer) -> Result<String, ModelError> {
    let refuse = |why: String| {
        ModelError::new(
            ModelErrorKind::InvalidRequest,
            format!(
                "the offline planner cannot fill the schema of the answer honestly: {why}. It knows properties such as answer, \
                 value, count, rows, columns, statement and columns of the result. Its answer in words: {}",
                answer.text.lines().next().unwrap_or_default()
            ),
        )
    };
    let value = match schema.get("type").and_then(Value::as_str) {
        Some("object") | None => object(schema, answer).map_err(refuse)?,
        Some(kind) => {
            plain(kind, schema, answer).ok_or_else(|| refuse(format!("the result is no {kind}")))?
        }
    };
    let validator =
        jsonschema::validator_for(schema).map_err(|e| refuse(format!("the schema is not valid ({e})")))?;
    if let Some(error) = validator.iter_errors(&value).next() {
        return Err(refuse(format!("at {} {error}", error.instance_path())));
    }
    Ok(value.to_string())
}

fn object(schema: &Value, answer: &Answer) -> Result<Value, String> {
    let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut out = Map::new();
    for (name, property) in &properties {
        match member(name, property, answer) {
            Some(value) => _ = out.insert(name.clone(), value),
            None if required.contains(&name.as_str()) => {
                return Err(format!("“{name}” is nothing that it found"));
            }
            None => {}
        }
    }
    if let Some(missing) = required.iter().find(|r| !out.contains_key(**r)) {
        return Err(format!("“{missing}” is not described"));
    }
    Ok(Value::Object(out))
}

fn plainly(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn kind(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(s) => Some(s),
        Value::Array(list) => list.iter().filter_map(Value::as_str).find(|k| *k != "null"),
        _ => None,
    }
}

fn member(name: &str, schema: &Value, answer: &Answer) -> Option<Value> {
    let kind = kind(schema);
    match plainly(name).as_str() {
        "answer" | "text" | "summary" | "explanation" | "message" | "response"
            if kind.is_none_or(|k| k == "string") =>
        {
            Some(json!(answer.text))
        }
        "sql" | "statement" | "query" if kind.is_none_or(|k| k == "string") => {
            answer.statement.as_ref().map(|s| json!(s))
        }
        "statements" | "queries" => answer.statement.as_ref().map(|s| json!([s])),
        "columns" | "headers" | "fields" => {
            answer.table.as_ref().map(|t| json!(t.columns.iter().map(|(n, _)| n).collect::<Vec<_>>()))
        }
        "rows" | "data" | "results" | "records" | "items" => {
            answer.table.as_ref().and_then(|t| rows(schema, t))
        }
        "rowcount" | "numberofrows" | "nrows" => answer.table.as_ref().map(|t| json!(t.rows.len())),
        "complete" | "iscomplete" => answer.table.as_ref().map(|_| json!(answer.complete)),
        "sure" | "confident" | "understood" | "answered" if kind == Some("boolean") => {
            Some(json!(answer.table.is_some()))
        }
        "value" | "result" | "count" | "total" | "number" | "amount" | "figure" => {
            scalar(schema, answer.table.as_ref()?)
        }
        plain_name => {
            // A column of the only row.
            let table = answer.table.as_ref()?;
            let [row] = table.rows.as_slice() else { return None };
            let at = table.columns.iter().position(|(n, _)| plainly(n) == plain_name)?;
            typed(kind, row.get(at)?.as_deref(), &table.columns.get(at)?.1)
        }
    }
}

fn plain(kind: &str, schema: &Value, answer: &Answer) -> Option<Value> {
    let table = answer.table.as_ref()?;
    match kind {
        "array" => rows(schema, table),
        _ => scalar(schema, table),
    }
}

/// The only figure of a result.
fn scalar(schema: &Value, table: &ReadTable) -> Option<Value> {
    let ([row], [(_, declared)]) = (table.rows.as_slice(), table.columns.as_slice()) else { return None };
    typed(kind(schema), row.first()?.as_deref(), declared)
}

fn typed(kind: Option<&str>, cell: Option<&str>, declared: &str) -> Option<Value> {
    let Some(text) = cell else { return Some(Value::Null) };
    let number = || serde_json::from_str::<Value>(text).ok().filter(Value::is_number);
    match kind {
        Some("string") => Some(json!(text)),
        Some("integer") => number().filter(|n| n.is_i64() || n.is_u64()),
        Some("number") => number(),
        Some("boolean") => match text {
            "1" | "true" => Some(json!(true)),
            "0" | "false" => Some(json!(false)),
            _ => None,
        },
        Some(_) => None,
        None if declared == "text" => Some(json!(text)),
        None => Some(number().unwrap_or_else(|| json!(text))),
    }
}

fn rows(schema: &Value, table: &ReadTable) -> Option<Value> {
    let items = schema.get("items").cloned().unwrap_or(Value::Null);
    let one = |row: &Vec<Option<String>>| -> Option<Value> {
        let cells = row.iter().zip(&table.columns);
        match kind(&items) {
            Some("array") => cells
                .map(|(c, (_, declared))| typed(items.get("items").and_then(kind), c.as_deref(), declared))
                .collect::<Option<Vec<_>>>()
                .map(Value::Array),
            Some("object") | None => {
                let wanted = items.get("properties").and_then(Value::as_object);
                let mut out = Map::new();
                for (cell, (name, declared)) in cells {
                    let named = wanted.and_then(|w| w.iter().find(|(k, _)| plainly(k) == plainly(name)));
                    let key = named.map_or(name, |(k, _)| k);
                    out.insert(
                        key.clone(),
                        typed(named.and_then(|(_, s)| kind(s)), cell.as_deref(), declared)?,
                    );
                }
                Some(Value::Object(out))
            }
            // A list of plain values: the only column.
            Some(_) => match (row.as_slice(), table.columns.as_slice()) {
                ([only], [(_, declared)]) => typed(kind(&items), only.as_deref(), declared),
                _ => None,
            },
        }
    };
    table.rows.iter().map(one).collect::<Option<Vec<_>>>().map(Value::Array)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer() -> Answer {
        Answer {
            text: "Number of tracks: 1297.".into(),
            table: Some(ReadTable {
                columns: vec![("number_of_tracks".into(), "integer".into())],
                rows: vec![vec![Some("1297".into())]],
            }),
            statement: Some("SELECT 1".into()),
            complete: true,
        }
    }

    #[test]
    fn what_was_found_fills_the_schema() {
        let schema = json!({
            "type": "object",
            "properties": {
                "answer": {"type": "string"},
                "count": {"type": "integer"},
                "numberOfTracks": {"type": "number"},
                "rows": {"type": "array", "items": {"type": "object"}},
                "mood": {"type": "string"}
            },
            "required": ["answer", "count"]
        });
        let value: Value = serde_json::from_str(&fill(&schema, &answer()).unwrap()).unwrap();
        let expected = json!({
            "answer": "Number of tracks: 1297.", "count": 1297, "numberOfTracks": 1297,
            "rows": [{"number_of_tracks": 1297}]
        });
        assert_eq!(value, expected);
        assert_eq!(fill(&json!({"type": "integer"}), &answer()).unwrap(), "1297");
        assert_eq!(
            fill(&json!({"type": "array", "items": {"type": "integer"}}), &answer()).unwrap(),
            "[1297]"
        );
    }

    #[test]
    fn what_would_be_made_up_is_refused() {
        for schema in [
            json!({"type": "object", "properties": {"mood": {"type": "string"}}, "required": ["mood"]}),
            json!({"type": "object", "properties": {"count": {"type": "integer", "maximum": 10}}, "required": ["count"]}),
            json!({"type": "boolean"}),
            json!({"type": "object", "required": ["x"]}),
        ] {
            let error = fill(&schema, &answer()).unwrap_err();
            assert_eq!(error.kind, ModelErrorKind::InvalidRequest, "{schema}");
            assert!(error.message.contains("honestly"), "{error}");
        }
    }
}
