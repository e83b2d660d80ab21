//! `list_objects`.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;

use super::{Database, call_context, feedback};
use crate::artifact::Artifact;
use crate::catalog::Page;
use crate::observe::list_table;
use crate::text::{counted, estimate_tokens, thousands};
use crate::tool::{Arguments, Tool, ToolContext, ToolError, ToolHints, ToolOutput, ToolSpec};

/// Objects on one page.
const PAGE: usize = 100;

pub(super) struct ListObjects {
    database: Database,
    spec: ToolSpec,
}

impl ListObjects {
    pub(super) fn new(database: Database) -> Self {
        let noun = database.dialect().nouns();
        let spec = ToolSpec {
            name: "list_objects".into(),
            description: format!(
                "Lists the {plural} (and views) of the database with their kind, name and number of {rows} (~ marks an \
                 estimate). Start here. Give a pattern to search by name; lists come in pages of {PAGE}.",
                plural = noun.plural,
                rows = noun.rows
            ),
            parameters: Arc::new(json!({
                "type": "object",
                "properties": {
                    "pattern": {"type": "string", "description": "Part of a name, or a pattern with * and ?. Leave out to list all."},
                    "page": {"type": "integer", "minimum": 1, "description": "Page, from 1."}
                },
                "additionalProperties": false
            })),
            hints: ToolHints::READ_ONLY,
        };
        Self { database, spec }
    }
}

#[async_trait]
impl Tool for ListObjects {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, context: &ToolContext, arguments: Arguments) -> Result<ToolOutput, ToolError> {
        let read = || {
            arguments.only(&["pattern", "page"])?;
            let page = arguments.optional_u64("page", 1..=100_000)?.unwrap_or(1);
            Ok((arguments.optional_text("pattern")?, page))
        };
        let (pattern, page) = match read() {
            Ok(read) => read,
            Err(e) => return Ok(feedback::arguments(&e)),
        };
        let call = call_context(context);
        let index = usize::try_from(page - 1).unwrap_or(usize::MAX);
        let page_asked = Page { offset: index.saturating_mul(PAGE), size: PAGE };
        let result = match self.database.session(&call).await {
            Ok(session) => session.objects(pattern, page_asked, &call).await,
            Err(e) => Err(e),
        };
        let mut objects = match result {
            Ok(objects) => objects,
            Err(e) => {
                context.metrics.error(e.kind());
                return Ok(feedback::error(&e, None));
            }
        };
        let noun = self.database.dialect().nouns();
        let total = objects.total;
        if objects.objects.is_empty() {
            let what = match pattern {
                Some(_) => format!(
                    "No {} match that pattern. Try a shorter part of a name, or no pattern.",
                    noun.plural
                ),
                None if page > 1 => format!(
                    "There is no page {page}; there are {} in all.",
                    counted(total as u64, "object", "objects")
                ),
                None => format!("The database has no {} that you may see.", noun.plural),
            };
            return Ok(ToolOutput::text(what));
        }
        // A page must fit the token limit; what does not fit is said and can be asked for.
        let limit = self.database.target().guardrails.max_result_tokens;
        let mut shown = objects.objects.len();
        let mut table = list_table(&objects.objects);
        while shown > 1 && estimate_tokens(&table, 4.0) + 100 > limit {
            shown /= 2;
            table = list_table(objects.objects.get(..shown).unwrap_or_default());
        }
        let tokens = estimate_tokens(&table, 4.0);
        if tokens > limit {
            return Ok(ToolOutput::feedback(format!(
                "REFUSED: the list has about {}, over the limit of {}. Give a pattern to narrow it.",
                counted(tokens, "token", "tokens"),
                thousands(limit)
            )));
        }
        let first = page_asked.offset + 1;
        let mut head = format!("{} in all", thousands(total as u64));
        if shown < total {
            head.push_str(&format!(", here {first} to {}", first + shown - 1));
        }
        if shown < objects.objects.len() {
            head.push_str(
                ". INCOMPLETE: the page is too large to show whole; give a pattern to narrow the list",
            );
        } else if first - 1 + shown < total {
            head.push_str(&format!(". More: page {}", page + 1));
        }
        objects.objects.truncate(shown);
        Ok(ToolOutput::text(format!("{head}\n{table}")).with_artifact(Artifact::Objects(objects)))
    }
}
