//! Answers that fit a JSON schema: asked for, checked, repaired.

use std::sync::Arc;

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::text::shorten;
use crate::tool::path;

/// A JSON schema for answers.
#[derive(Debug, Clone)]
pub struct OutputSchema {
    name: String,
    schema: Arc<Value>,
    validator: Arc<jsonschema::Validator>,
}

impl OutputSchema {
    /// A schema under a short name.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] when it is no usable JSON schema.
    pub fn new(name: impl Into<String>, schema: Value) -> Result<Self> {
        let validator = jsonschema::validator_for(&schema).map_err(|e| {
            Error::new(ErrorKind::Config, format!("the output schema cannot be used: {e}")).op("build")
        })?;
        Ok(Self { name: name.into(), schema: Arc::new(schema), validator: Arc::new(validator) })
    }

    /// The schema of a type.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of<T: schemars::JsonSchema>() -> Result<Self> {
        let name: String = T::schema_name()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .take(64)
            .collect();
        Self::new(name, schemars::schema_for!(T).to_value())
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn schema(&self) -> &Arc<Value> {
        &self.schema
    }

    /// Reads an answer: the whole text, or the JSON in a fenced block, must fit the schema. Else what is
    /// wrong with it, for the model.
    pub(super) fn read(&self, text: &str) -> std::result::Result<Value, String> {
        let text = text.trim();
        let inner = text
            .strip_prefix("```json")
            .or_else(|| text.strip_prefix("```"))
            .and_then(|t| t.strip_suffix("```"));
        let value: Value =
            serde_json::from_str(inner.unwrap_or(text).trim()).map_err(|e| format!("it is not JSON: {e}"))?;
        let problems: Vec<String> = self
            .validator
            .iter_errors(&value)
            .take(5)
            .map(|e| format!("{}: {}", path(e.instance_path().as_str()), shorten(&e.to_string(), 200)))
            .collect();
        if problems.is_empty() { Ok(value) } else { Err(problems.join("; ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn answers_are_checked() {
        let schema = OutputSchema::new(
            "n",
            json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}),
        )
        .unwrap();
        assert_eq!(schema.read("```json\n{\"n\": 3}\n```").unwrap(), json!({"n": 3}));
        assert!(schema.read("{\"n\": \"3\"}").unwrap_err().contains("$.n: "));
        assert!(schema.read("three").unwrap_err().contains("not JSON"));
        assert!(OutputSchema::new("x", json!({"type": 5})).is_err());
    }
}
