//! `describe_objects`.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;

use super::{Database, call_context, feedback};
use crate::artifact::Artifact;
use crate::catalog::Page;
use crate::name::ObjectName;
use crate::observe::{Frame, text_cell, write_descriptions};
use crate::text::{counted, estimate_tokens, near_misses, shorten, thousands};
use crate::tool::{ArgumentError, Arguments, Tool, ToolContext, ToolError, ToolHints, ToolOutput, ToolSpec};

/// Objects of one call.
const MOST: usize = 20;
/// Most characters of a name that means nothing here.
const MAX_NAME: usize = 100;

pub(super) struct DescribeObjects {
    database: Database,
    spec: ToolSpec,
}

impl DescribeObjects {
    pub(super) fn new(database: Database) -> Self {
        let noun = database.dialect().nouns();
        let spec = ToolSpec {
            name: "describe_objects".into(),
            description: format!(
                "Describes one or more {plural}: columns with types, which may be null, keys, links to other {plural}, \
                 indexes, number of {rows}. Describe every {singular} before you use it; up to {MOST} in one call.",
                plural = noun.plural,
                singular = noun.singular,
                rows = noun.rows
            ),
            parameters: Arc::new(json!({
                "type": "object",
                "properties": {
                    "names": {
                        "type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": MOST,
                        "description": "Names as list_objects shows them."
                    }
                },
                "required": ["names"],
                "additionalProperties": false
            })),
            hints: ToolHints::READ_ONLY,
        };
        Self { database, spec }
    }
}

/// Reads object names; a name that cannot be split is taken whole, so that odd names can be asked for.
pub(super) fn object_name(text: &str) -> ObjectName {
    ObjectName::parse(text).unwrap_or_else(|| ObjectName::new(text))
}

#[async_trait]
impl Tool for DescribeObjects {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, context: &ToolContext, arguments: Arguments) -> Result<ToolOutput, ToolError> {
        let read = || {
            arguments.only(&["names"])?;
            let names = arguments.texts("names")?;
            if names.is_empty() || names.len() > MOST {
                return Err(ArgumentError(format!(
                    "$.names must hold 1 to {MOST} names, not {}",
                    names.len()
                )));
            }
            Ok(names.into_iter().map(object_name).collect::<Vec<_>>())
        };
        let names = match read() {
            Ok(names) => names,
            Err(e) => return Ok(feedback::arguments(&e)),
        };
        let call = call_context(context);
        let result = async {
            let session = self.database.session(&call).await?;
            let described = session.describe(&names, &call).await?;
            // What is missing gets the nearest names there are.
            let known = if described.missing.is_empty() {
                Vec::new()
            } else {
                let page = session.objects(None, Page { offset: 0, size: 10_000 }, &call).await?;
                page.objects.into_iter().map(|o| o.name.to_string()).collect()
            };
            Ok::<_, crate::Error>((described, known))
        };
        let (mut described, known) = match result.await {
            Ok(found) => found,
            Err(e) => {
                context.metrics.error(e.kind());
                return Ok(feedback::error(&e, None));
            }
        };
        let limit = self.database.target().guardrails.max_result_tokens;
        let mut text = String::new();
        if !described.missing.is_empty() {
            let mut frame = Frame::new();
            for name in &described.missing {
                let name = shorten(&name.to_string(), MAX_NAME);
                let near = near_misses(&name, known.iter().map(String::as_str), 3);
                let near =
                    if near.is_empty() { String::new() } else { format!("; near: {}", near.join(", ")) };
                frame.cells([text_cell(&format!("no such object: {name}{near}"))]);
            }
            text = frame.close();
        }
        if !described.found.is_empty() {
            let mut shown = described.found.len();
            let mut blocks = write_descriptions(&described.found);
            while shown > 1 && estimate_tokens(&blocks, 4.0) + 100 > limit {
                shown -= 1;
                blocks = write_descriptions(described.found.get(..shown).unwrap_or_default());
            }
            let tokens = estimate_tokens(&blocks, 4.0);
            if tokens > limit {
                return Ok(ToolOutput::feedback(format!(
                    "REFUSED: the description has about {}, over the limit of {}. Nothing of it is shown. Query the \
                     columns that you need by name.",
                    counted(tokens, "token", "tokens"),
                    thousands(limit)
                )));
            }
            if !text.is_empty() {
                text.push('\n');
            }
            if shown < described.found.len() {
                let rest: Vec<String> = described
                    .found
                    .iter()
                    .skip(shown)
                    .map(|o| text_cell(&o.summary.name.to_string()))
                    .collect();
                text.push_str(&format!(
                    "INCOMPLETE: {shown} of {} described, the rest does not fit. Ask for these in another call:\n",
                    described.found.len()
                ));
                let mut frame = Frame::new();
                frame.cells(rest);
                text.push_str(&frame.close());
                text.push('\n');
            }
            text.push_str(&blocks);
            described.found.truncate(shown);
        }
        let is_error = described.found.is_empty();
        Ok(ToolOutput { text, is_error, artifact: Some(Artifact::Descriptions(described)) })
    }
}
