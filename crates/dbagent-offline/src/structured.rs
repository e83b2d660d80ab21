//! Answers as JSON under a schema.

use dbagent_core::model::{ModelError, ModelErrorKind};

use crate::planner::Answer;

/// Fills a schema with an answer.
pub(crate) fn fill(_schema: &serde_json::Value, _answer: &Answer) -> Result<String, ModelError> {
    Err(ModelError::new(ModelErrorKind::InvalidRequest, "not yet"))
}
