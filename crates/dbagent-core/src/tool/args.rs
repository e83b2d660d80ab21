//! The arguments of a call: read strictly, errors name the path and the expected type.

use super::ToolSpec;
use crate::error::{Error, ErrorKind};
use crate::json::{Json, JsonLimits};
use crate::text::{near_misses, shorten, thousands};

/// Arguments that were read from what the model wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct Arguments {
    raw: String,
    json: Json,
}

/// Why arguments were refused; the text is for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid arguments: {0}")]
pub struct ArgumentError(pub String);

impl ArgumentError {
    /// The value at `path` is not what was expected.
    pub fn expected(path: &str, expected: &str, found: &Json) -> Self {
        Self(format!("{path} must be {expected}, not {}", article(found.type_name())))
    }
}

fn article(noun: &str) -> String {
    match noun {
        "null" => "null".to_owned(),
        "array" | "object" => format!("an {noun}"),
        _ => format!("a {noun}"),
    }
}

impl Arguments {
    /// Reads the text of a call's arguments. An empty text means no arguments.
    ///
    /// # Errors
    /// When the text is not one JSON object, or a key appears twice.
    pub fn parse(raw: &str) -> Result<Self, ArgumentError> {
        let text = if raw.trim().is_empty() { "{}" } else { raw };
        let json = Json::parse(text, JsonLimits::default()).map_err(|e| {
            ArgumentError(format!("the JSON cannot be read: {} at byte {} ({})", e.message, e.at, e.path))
        })?;
        match json {
            Json::Object(_) => Ok(Self { raw: text.to_owned(), json }),
            other => Err(ArgumentError::expected("$", "an object", &other)),
        }
    }

    /// The text as the model wrote it.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The whole value.
    pub fn json(&self) -> &Json {
        &self.json
    }

    /// Refuses members that are not in `known`, with the nearest name.
    pub fn only(&self, known: &[&str]) -> Result<(), ArgumentError> {
        for (key, _) in self.json.as_object().unwrap_or_default() {
            if !known.contains(&key.as_str()) {
                let key = shorten(key, 64);
                let near = near_misses(&key, known.iter().copied(), 1);
                let advice = match near.first() {
                    Some(name) => format!("; did you mean {name}?"),
                    None => format!("; known are {}", known.join(", ")),
                };
                return Err(ArgumentError(format!("$.{key} is not an argument{advice}")));
            }
        }
        Ok(())
    }

    fn present(&self, key: &str) -> Option<&Json> {
        self.json.get(key).filter(|v| **v != Json::Null)
    }

    /// A text that must be there.
    pub fn text(&self, key: &str) -> Result<&str, ArgumentError> {
        match self.present(key) {
            Some(Json::String(s)) => Ok(s),
            Some(other) => Err(ArgumentError::expected(&format!("$.{key}"), "a string", other)),
            None => Err(ArgumentError(format!("$.{key} is missing; it must be a string"))),
        }
    }

    /// A text that may be absent.
    pub fn optional_text(&self, key: &str) -> Result<Option<&str>, ArgumentError> {
        match self.present(key) {
            None => Ok(None),
            Some(_) => self.text(key).map(Some),
        }
    }

    /// A whole number within a range, that may be absent.
    pub fn optional_u64(
        &self,
        key: &str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<Option<u64>, ArgumentError> {
        let Some(value) = self.present(key) else { return Ok(None) };
        let wanted =
            format!("a whole number from {} to {}", thousands(*range.start()), thousands(*range.end()));
        match value.as_u64() {
            Some(n) if range.contains(&n) => Ok(Some(n)),
            _ => match value {
                Json::Number(n) => {
                    Err(ArgumentError(format!("$.{key} must be {wanted}, not {}", shorten(n, 40))))
                }
                other => Err(ArgumentError::expected(&format!("$.{key}"), &wanted, other)),
            },
        }
    }

    /// Texts: an array of strings, or one string.
    pub fn texts(&self, key: &str) -> Result<Vec<&str>, ArgumentError> {
        match self.present(key) {
            None => Ok(Vec::new()),
            Some(Json::String(s)) => Ok(vec![s]),
            Some(Json::Array(items)) => items
                .iter()
                .enumerate()
                .map(|(i, item)| {
                    item.as_str()
                        .ok_or_else(|| ArgumentError::expected(&format!("$.{key}[{i}]"), "a string", item))
                })
                .collect(),
            Some(other) => Err(ArgumentError::expected(&format!("$.{key}"), "an array of strings", other)),
        }
    }
}

/// The JSON schema of a tool's arguments, ready to check with.
pub(crate) struct ArgumentSchema(jsonschema::Validator);

impl ArgumentSchema {
    /// Most problems that are told at once, and most characters of each.
    const TOLD: (usize, usize) = (3, 200);

    pub(crate) fn of(spec: &ToolSpec) -> crate::Result<Self> {
        jsonschema::validator_for(&spec.parameters).map(Self).map_err(|e| {
            Error::new(
                ErrorKind::Config,
                format!("the schema of the tool {:?} cannot be used: {e}", spec.name),
            )
            .op("build")
        })
    }

    pub(crate) fn check(&self, arguments: &Arguments) -> Result<(), ArgumentError> {
        let value = arguments.json().to_value();
        let problems: Vec<String> = self
            .0
            .iter_errors(&value)
            .take(Self::TOLD.0)
            .map(|e| {
                format!("{}: {}", path(e.instance_path().as_str()), shorten(&e.to_string(), Self::TOLD.1))
            })
            .collect();
        if problems.is_empty() { Ok(()) } else { Err(ArgumentError(problems.join("\n"))) }
    }
}

/// A JSON pointer as people write a path: `/days/1` is `$.days[1]`.
pub(crate) fn path(pointer: &str) -> String {
    let mut path = "$".to_owned();
    for part in pointer.split('/').skip(1) {
        if !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()) {
            path.push_str(&format!("[{part}]"));
        } else {
            path.push('.');
            path.push_str(&shorten(&part.replace("~1", "/").replace("~0", "~"), 64));
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_path_and_type() {
        let args = Arguments::parse(r#"{"limit":"ten","names":["a",1]}"#).unwrap();
        assert_eq!(
            args.optional_u64("limit", 1..=1000).unwrap_err().0,
            "$.limit must be a whole number from 1 to 1,000, not a string"
        );
        assert_eq!(args.texts("names").unwrap_err().0, "$.names[1] must be a string, not a number");
        assert_eq!(
            args.only(&["limits", "names"]).unwrap_err().0,
            "$.limit is not an argument; did you mean limits?"
        );
        assert_eq!(args.text("statement").unwrap_err().0, "$.statement is missing; it must be a string");
    }

    #[test]
    fn only_one_object_is_read() {
        assert!(Arguments::parse("").unwrap().json().as_object().unwrap().is_empty());
        for text in ["[]", "{} {}", "{\"a\":1,\"a\":2}", "'x'"] {
            assert!(Arguments::parse(text).is_err(), "{text}");
        }
    }
}
