//! `explain`.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;

use super::{Database, call_context, feedback};
use crate::artifact::Artifact;
use crate::estimate::Plan;
use crate::json::Json;
use crate::observe::Frame;
use crate::request::{Params, Request};
use crate::session::Verdict;
use crate::text::{counted, estimate_tokens, thousands};
use crate::tool::{Arguments, Tool, ToolContext, ToolError, ToolHints, ToolOutput, ToolSpec};

pub(super) struct Explain {
    database: Database,
    spec: ToolSpec,
}

impl Explain {
    pub(super) fn new(database: Database) -> Self {
        let d = database.dialect();
        let spec = ToolSpec {
            name: "explain".into(),
            description: format!(
                "Shows how {} would run a statement that only reads, without running it: use it when a query is slow or \
                 was refused for its estimate. Give the statement itself, without EXPLAIN.",
                d.display_name()
            ),
            parameters: Arc::new(json!({
                "type": "object",
                "properties": {
                    "statement": {"type": "string", "description": "The statement to explain."},
                    "params": {"description": "Values for its parameters, as for query."}
                },
                "required": ["statement"],
                "additionalProperties": false
            })),
            hints: ToolHints::READ_ONLY,
        };
        Self { database, spec }
    }
}

#[async_trait]
impl Tool for Explain {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, context: &ToolContext, arguments: Arguments) -> Result<ToolOutput, ToolError> {
        if let Err(e) = arguments.only(&["statement", "params"]) {
            return Ok(feedback::arguments(&e));
        }
        let statement = match arguments.text("statement") {
            Ok(statement) => statement.to_owned(),
            Err(e) => return Ok(feedback::arguments(&e)),
        };
        let params = match Params::from_json(arguments.json().get("params").unwrap_or(&Json::Null)) {
            Ok(params) => params,
            Err(e) => return Ok(feedback::error(&e, None)),
        };
        let call = call_context(context);
        let refused = |r: &crate::Refusal| {
            context.progress.judged(&statement, Some(r));
            context.metrics.refused();
            feedback::refusal(r, &statement)
        };
        let result = async {
            let session = self.database.session(&call).await?;
            let request = Request::text(statement.as_str()).with_params(params);
            match session.judge(request, None, &call).await? {
                Verdict::Cleared(cleared) => {
                    context.progress.judged(&statement, None);
                    Ok(session.explain(&cleared, &call).await?.map_err(|r| refused(&r)))
                }
                Verdict::Refused(r) => Ok(Err(refused(&r))),
                Verdict::Proposed(_) => {
                    Ok(Err(refused(&crate::Refusal::new(crate::Rule::Write, "the statement changes data"))))
                }
            }
        };
        let plan = match result.await {
            Ok(Ok(plan)) => plan,
            Ok(Err(output)) => return Ok(output),
            Err(e) => {
                let e: crate::Error = e;
                context.metrics.error(e.kind());
                return Ok(feedback::error(&e, Some(&statement)));
            }
        };
        let limit = self.database.target().guardrails.max_result_tokens;
        let mut frame = Frame::new();
        frame.prose(&plan.text);
        let text = format!("{}{}", frame.close(), remarks(&plan));
        let tokens = estimate_tokens(&text, 4.0);
        if tokens > limit {
            return Ok(ToolOutput::feedback(format!(
                "REFUSED: the plan has about {} tokens, over the limit of {}. Explain a simpler statement.",
                thousands(tokens),
                thousands(limit)
            )));
        }
        let e = plan.estimate;
        let mut head = String::new();
        if let Some(rows) = e.rows_out {
            head.push_str(&format!("about {} returned. ", counted(rows, "row", "rows")));
        }
        if let Some(rows) = e.rows_scanned {
            head.push_str(&format!("about {} read. ", counted(rows, "row", "rows")));
        }
        let head = if head.is_empty() {
            "Plan (this database gives no estimate of rows):".to_owned()
        } else {
            head.trim_end().to_owned()
        };
        Ok(ToolOutput::text(format!("{head}\n{text}")).with_artifact(Artifact::Plan { statement, plan }))
    }
}

/// What is worth a word about a plan. Names of tables and columns are in it, so it is framed too.
fn remarks(plan: &Plan) -> String {
    if plan.warnings.is_empty() && plan.hints.is_empty() {
        return String::new();
    }
    let mut frame = Frame::new();
    for warning in &plan.warnings {
        frame.prose(&warning.to_string());
    }
    for hint in &plan.hints {
        frame.prose(&hint.to_string());
    }
    format!("\nWorth knowing about this plan:\n{}", frame.close())
}
