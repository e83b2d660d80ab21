//! A program's own tool, middleware and counters beside the database's tools.
//!
//! `cargo run --package dbagent-examples --example host_tool`
//!
//! The model here is scripted, so that the example needs no network: it asks the database for a sum, then
//! calls the program's own tool with that sum. A real model is put in its place with `.model(…)`.
#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::sync::Arc;

use dbagent::metrics::SessionMetrics;
use dbagent::middleware::{CallDecision, Middleware};
use dbagent::model::{Message, ModelRequest, ToolCall};
use dbagent::observe::ReadTable;
use dbagent::state::State;
use dbagent::text::counted;
use dbagent::tool::{ToolError, ToolHints, ToolOutput, tool};
use dbagent::{LightAgent, async_trait, serde_json};
use dbagent_testkit::model::{ScriptedModel, call};

/// What the model may pass. The documentation of the fields is what it reads about them.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Convert {
    /// Amount in US dollars.
    dollars: f64,
    /// Currency to convert to, such as EUR.
    currency: String,
}

async fn convert(wanted: Convert) -> Result<ToolOutput, ToolError> {
    let rate = match wanted.currency.as_str() {
        "EUR" => 0.92,
        "JPY" => 148.0,
        // The model reads this and can mend its call; it does not end the run.
        other => return Ok(ToolOutput::feedback(format!("No rate for {other}; known are EUR and JPY."))),
    };
    Ok(ToolOutput::text(format!("{:.2} {}", wanted.dollars * rate, wanted.currency)))
}

/// Sees every call before it runs. It may also rewrite, skip or stop; an error refuses the call.
struct Audit;

#[async_trait]
impl Middleware for Audit {
    fn name(&self) -> &'static str {
        "audit"
    }

    async fn on_call(&self, _: &State, call: &ToolCall, hints: &ToolHints) -> dbagent::Result<CallDecision> {
        println!("audit: {} {} (read only: {})", call.name, call.arguments, hints.read_only);
        Ok(CallDecision::Run)
    }
}

#[tokio::main]
async fn main() -> dbagent::Result<()> {
    let metrics = SessionMetrics::new();
    let agent = LightAgent::builder()
        .url("sqlite:///tests/data/chinook/chinook.sqlite")
        .model(Arc::new(script()))
        .tool(Arc::new(tool(
            "convert",
            "Converts an amount of US dollars at today's rate.",
            ToolHints::READ_ONLY,
            convert,
        )))
        .middleware(Arc::new(Audit))
        .metrics(metrics.clone())
        .build()?;

    let answer = agent.ask("What is our revenue in yen?").await?;

    println!("\n{}\n", answer.text);
    for (key, artifact) in &answer.artifacts {
        // What a call leaves for the program: rows as Arrow batches, plans, lists. No model sees it.
        println!("{key} left {}", describe(artifact));
    }
    println!("{}", metrics.summary());
    Ok(())
}

fn describe(artifact: &dbagent::artifact::Artifact) -> String {
    match artifact {
        dbagent::artifact::Artifact::Rows(rows) => {
            let count = counted(rows.ending.rows, "row", "rows");
            format!("{count} of `{}` in {:?}", rows.statement, rows.elapsed)
        }
        other => format!("{other:?}"),
    }
}

/// Three replies, each made from what the tools said before.
fn script() -> ScriptedModel {
    ScriptedModel::new()
        .calls([call("query", serde_json::json!({"statement": "SELECT sum(Total) AS revenue FROM Invoice"}))])
        .reply_with(|request| {
            let revenue = ReadTable::from_observation(&last_observation(request))
                .and_then(|table| table.rows.first()?.first()?.as_ref()?.parse::<f64>().ok());
            match revenue {
                Some(dollars) => {
                    vec![call("convert", serde_json::json!({"dollars": dollars, "currency": "JPY"}))].into()
                }
                None => "The database gave no revenue.".into(),
            }
        })
        .reply_with(|request| format!("Our revenue is {}.", last_observation(request)).into())
}

fn last_observation(request: &ModelRequest) -> String {
    match request.messages.last() {
        Some(Message::Tool(result)) => result.text.clone(),
        _ => String::new(),
    }
}
