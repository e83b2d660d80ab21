//! Checks a TOML document against the published JSON schema, so that every message names key and line.
//!
//! It knows the part of JSON Schema that our own schema is written in; a test holds that there is no more.
//! Values are never part of a message: a secret may stand in the wrong place.

use serde_json::Value as Json;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Problem;

/// A document with the places of its keys.
pub(super) struct Document<'a> {
    text: &'a str,
    table: Spanned<DeTable<'a>>,
}

impl<'a> Document<'a> {
    pub(super) fn table(&self) -> &DeTable<'a> {
        self.table.get_ref()
    }

    /// The line of a byte, from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        self.text.bytes().take(at).filter(|b| *b == b'\n').count() + 1
    }
}

/// Reads a document.
pub(super) fn document(text: &str) -> Result<Document<'_>, Problem> {
    match DeTable::parse(text) {
        Ok(table) => Ok(Document { text, table }),
        Err(e) => Err(Problem::of_toml(&e, text)),
    }
}

/// What does not fit the schema, in the order of the keys.
pub(super) fn problems(document: &Document<'_>, schema: &Json) -> Vec<Problem> {
    let mut checker = Checker { document, root: schema, problems: Vec::new() };
    checker.table(document.table(), schema, "", 0);
    checker.problems.sort_by_key(|p| p.line);
    checker.problems
}

struct Checker<'a> {
    document: &'a Document<'a>,
    root: &'a Json,
    problems: Vec<Problem>,
}

impl<'a> Checker<'a> {
    /// Follows references to where the schema is written down.
    fn resolve(&self, schema: &'a Json) -> &'a Json {
        let mut schema = schema;
        for _ in 0..16 {
            let Some(pointer) = schema.get("$ref").and_then(Json::as_str) else { break };
            let Some(target) = pointer.strip_prefix('#').and_then(|p| self.root.pointer(p)) else { break };
            schema = target;
        }
        schema
    }

    fn problem(&mut self, at: usize, message: String, hint: Option<String>) {
        self.problems.push(Problem { message, line: Some(self.document.line(at)), hint });
    }

    fn table(&mut self, table: &DeTable<'_>, schema: &'a Json, path: &str, at: usize) {
        let schema = self.resolve(schema);
        let known = schema.get("properties").and_then(Json::as_object);
        let names = || known.into_iter().flat_map(|k| k.keys()).map(String::as_str);
        let others = schema.get("additionalProperties").filter(|s| s.is_object());
        for (key, value) in table {
            let (name, place) = (key.get_ref().as_ref(), key.span().start);
            let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            if let Some(schema) = known.and_then(|k| k.get(name)).or(others) {
                self.value(value.get_ref(), schema, &path, place);
                continue;
            }
            let near = dbagent::text::near_misses(name, names(), 1);
            let hint = match near.first() {
                Some(near) => format!("did you mean {near}?"),
                None => format!("known keys: {}", names().collect::<Vec<_>>().join(", ")),
            };
            self.problem(place, format!("unknown key {}", shown(&path)), Some(hint));
        }
        for needed in schema.get("required").and_then(Json::as_array).into_iter().flatten() {
            if let Some(needed) = needed.as_str()
                && !table.keys().any(|key| key.get_ref() == needed)
            {
                self.problem(at, format!("{} needs the key {needed}", shown(path)), None);
            }
        }
    }

    fn value(&mut self, value: &DeValue<'_>, schema: &'a Json, path: &str, at: usize) {
        let schema = self.resolve(schema);
        if let Some(choices) = schema.get("anyOf").and_then(Json::as_array) {
            let of_type = choices.iter().map(|c| self.resolve(c)).filter(|c| !is_null(c));
            let mut of_type: Vec<&'a Json> = of_type.collect();
            if let Some(fitting) = of_type.iter().find(|c| types(c).iter().any(|t| is_type(value, t))) {
                return self.value(value, fitting, path, at);
            }
            if let Some(first) = of_type.pop() {
                return self.value(value, first, path, at);
            }
        }
        if let Some(words) = words(schema) {
            if !value.as_str().is_some_and(|text| words.contains(&text)) {
                let words: Vec<String> = words.iter().map(|w| format!("\"{w}\"")).collect();
                self.problem(at, format!("{} must be {}", shown(path), words.join(" or ")), None);
            }
            return;
        }
        let types = types(schema);
        if !types.is_empty() && !types.iter().any(|t| is_type(value, t)) {
            let wanted: Vec<&str> = types.iter().filter(|t| **t != "null").map(|t| word(t)).collect();
            self.problem(
                at,
                format!("{} must be {}, not {}", shown(path), wanted.join(" or "), word_of(value)),
                None,
            );
            return;
        }
        match value {
            DeValue::Table(table) => self.table(table, schema, path, at),
            DeValue::Array(items) => {
                if let Some(schema) = schema.get("items") {
                    for (i, item) in items.iter().enumerate() {
                        self.value(item.get_ref(), schema, &format!("{path}[{i}]"), item.span().start);
                    }
                }
            }
            DeValue::Integer(number) => {
                let minimum = schema.get("minimum").and_then(Json::as_i64);
                let number = i64::from_str_radix(number.as_str(), number.radix()).ok();
                match (number, minimum) {
                    (None, _) => self.problem(at, format!("{} is beyond 64 bits", shown(path)), None),
                    (Some(number), Some(minimum)) if number < minimum => {
                        self.problem(at, format!("{} must be at least {minimum}", shown(path)), None);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

/// A path of the file, which may hold anything.
fn shown(path: &str) -> String {
    dbagent::text::shorten(&dbagent::text::printable(path), 200)
}

fn is_null(schema: &Json) -> bool {
    schema.get("type").and_then(Json::as_str) == Some("null")
}

fn types(schema: &Json) -> Vec<&str> {
    match schema.get("type") {
        Some(Json::String(one)) => vec![one],
        Some(Json::Array(several)) => several.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The words of an enumeration, in whichever way it is written.
fn words(schema: &Json) -> Option<Vec<&str>> {
    if let Some(words) = schema.get("enum").and_then(Json::as_array) {
        return Some(words.iter().filter_map(Json::as_str).collect());
    }
    let choices = schema.get("oneOf").and_then(Json::as_array)?;
    let mut found = Vec::new();
    for choice in choices {
        match (choice.get("const").and_then(Json::as_str), choice.get("enum").and_then(Json::as_array)) {
            (Some(word), _) => found.push(word),
            (None, Some(words)) => found.extend(words.iter().filter_map(Json::as_str)),
            _ => return None,
        }
    }
    Some(found)
}

fn is_type(value: &DeValue<'_>, name: &str) -> bool {
    match name {
        "string" => value.is_str(),
        "integer" => value.is_integer(),
        "number" => value.is_integer() || value.is_float(),
        "boolean" => value.is_bool(),
        "array" => value.is_array(),
        "object" => value.is_table(),
        _ => false,
    }
}

fn word(name: &str) -> &str {
    match name {
        "string" => "a text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "a table",
        other => other,
    }
}

fn word_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every keyword of our schema is one that the checker knows or that checks nothing.
    #[test]
    fn the_schema_uses_only_what_the_checker_knows() {
        const KNOWN: &[&str] = &[
            "$schema",
            "$defs",
            "$ref",
            "title",
            "description",
            "default",
            "format",
            "examples",
            "type",
            "properties",
            "additionalProperties",
            "required",
            "items",
            "enum",
            "const",
            "oneOf",
            "anyOf",
            "minimum",
            "uniqueItems",
        ];
        fn visit(schema: &Json, names: bool, unknown: &mut Vec<String>) {
            match schema {
                Json::Object(map) => {
                    for (key, value) in map {
                        if !names && !KNOWN.contains(&key.as_str()) {
                            unknown.push(key.clone());
                        }
                        if !matches!(key.as_str(), "default" | "const" | "enum" | "examples") || names {
                            visit(value, !names && matches!(key.as_str(), "properties" | "$defs"), unknown);
                        }
                    }
                }
                Json::Array(items) => items.iter().for_each(|item| visit(item, false, unknown)),
                _ => {}
            }
        }
        let mut unknown = Vec::new();
        visit(&super::super::schema(), false, &mut unknown);
        assert_eq!(unknown, Vec::<String>::new());
    }
}
