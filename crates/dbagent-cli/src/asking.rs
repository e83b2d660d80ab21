//! One question and what came of it.

use std::collections::HashMap;

use dbagent::agent::Answer;
use dbagent::artifact::{Artifact, RowsArtifact};
use dbagent::fact::{Fact, RunEnd};
use dbagent::model::Finish;
use dbagent::{Dialect, Error, GuardedSession, LightAgent};
use serde_json::{Value, json};

use crate::app::{App, interrupted};
use crate::exit::{Exit, Failure};
use crate::format::{json_columns, json_rows};
use crate::model::Chosen;
use crate::place::Place;
use crate::statement;
use crate::steps::Steps;

/// Opens the database and makes the agent that answers on it.
///
/// # Errors
/// What the dialect says when the database cannot be opened.
pub(crate) async fn agent(
    app: &App,
    place: Place,
    chosen: Chosen,
) -> Result<(LightAgent, GuardedSession), Error> {
    let settings = &app.config()?.settings;
    let session = {
        let _busy = app.ui.busy("opening the database");
        GuardedSession::open(place.dialect, place.target, &statement::call()).await?
    };
    let mut builder =
        LightAgent::builder().session(session.clone()).model(chosen.model).budgets(settings.budgets.clone());
    if let Some(system) = &settings.system {
        builder = builder.system(system);
    }
    if let Some(price) = chosen.price {
        builder = builder.price(price);
    }
    Ok((builder.build()?, session))
}

/// Asks on a thread and shows the steps. Ctrl-C cancels the run, in the database too; a second one ends the
/// program.
///
/// # Errors
/// What the model cannot mend, and the cancellation.
pub(crate) async fn ask(
    app: &App,
    agent: &LightAgent,
    dialect: &Dialect,
    thread: &str,
    question: &str,
) -> Result<Answer, Failure> {
    let run = agent.stream(thread, question);
    let mut events = run.events();
    let mut steps = Steps::new(&app.ui, dialect.nouns().rows);
    let mut cancelled = false;
    loop {
        tokio::select! {
            biased;
            event = events.next() => match event {
                Some(event) => steps.show(&event),
                None => break,
            },
            () = interrupted() => {
                if cancelled {
                    return Err(Failure::Said(Exit::Cancelled));
                }
                cancelled = true;
                run.cancel();
            }
        }
    }
    let outcome = run.outcome().await;
    drop(steps);
    Ok(outcome?)
}

/// How a question ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// With an answer.
    Answered,
    /// The offline planner was not sure what was meant, and says so.
    Unsure,
    /// A budget was used up; the answer is what was there.
    Incomplete,
    /// With an error.
    Error,
}

impl Status {
    /// The word in output for programs.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Unsure => "unsure",
            Self::Incomplete => "incomplete",
            Self::Error => "error",
        }
    }

    /// The exit code of a single question.
    pub(crate) const fn exit(self) -> Exit {
        match self {
            Self::Answered => Exit::Done,
            Self::Unsure | Self::Error => Exit::Negative,
            Self::Incomplete => Exit::Limit,
        }
    }
}

/// What a question left behind, for output.
pub(crate) struct Findings {
    /// How it ended.
    pub(crate) status: Status,
    /// The answer in words.
    pub(crate) text: String,
    /// The statements whose rows were shown to the model, in order.
    pub(crate) statements: Vec<String>,
    /// The rows of the last of them that was no mere sample.
    pub(crate) rows: Option<RowsArtifact>,
    usage: Value,
}

/// The tool whose rows show what values look like; they are no answer.
const SAMPLE: &str = "sample";

impl Findings {
    /// Reads them from an answer.
    pub(crate) fn of(answer: &Answer) -> Self {
        let mut tools: HashMap<&str, String> = HashMap::new();
        let mut failed: Vec<&str> = Vec::new();
        let mut asked: Vec<&str> = Vec::new();
        let mut unsure = false;
        for record in &answer.facts {
            match &record.fact {
                Fact::ModelReplied { calls, finish, .. } => {
                    asked = calls.iter().map(|c| c.name.as_str()).collect();
                    unsure = *finish == Finish::Other("unsure".to_owned());
                }
                Fact::CallFinished { key, is_error, .. } => {
                    let place = key.rsplit_once('c').and_then(|(_, place)| place.parse::<usize>().ok());
                    let tool = place.and_then(|place| asked.get(place)).copied().unwrap_or_default();
                    tools.insert(key, tool.to_owned());
                    if *is_error {
                        failed.push(key);
                    }
                }
                _ => {}
            }
        }
        let mut statements = Vec::new();
        let mut rows = None;
        for (key, artifact) in &answer.artifacts {
            let is_sample = tools.get(key.as_str()).is_some_and(|tool| tool == SAMPLE);
            if let Artifact::Rows(found) = artifact
                && !failed.contains(&key.as_str())
                && !is_sample
            {
                statements.push(found.statement.clone());
                rows = Some(found.clone());
            }
        }
        let status = match &answer.end {
            RunEnd::Answered if unsure => Status::Unsure,
            RunEnd::Answered => Status::Answered,
            _ => Status::Incomplete,
        };
        Self { status, text: answer.text.clone(), statements, rows, usage: json!(answer.usage) }
    }

    /// One object for programs. `id` is what the question was known by.
    pub(crate) fn to_json(&self, id: Option<&Value>) -> Value {
        let mut object = serde_json::Map::new();
        if let Some(id) = id {
            object.insert("id".into(), id.clone());
        }
        let (columns, rows, complete) = match &self.rows {
            Some(found) => (
                json_columns(&found.schema).into_iter().filter_map(|c| c.get("name").cloned()).collect(),
                json_rows(&found.batches),
                found.ending.is_complete(),
            ),
            None => (Vec::new(), Vec::new(), true),
        };
        object.insert("answer".into(), self.text.clone().into());
        object.insert("statements".into(), json!(self.statements));
        object.insert("columns".into(), Value::Array(columns));
        object.insert("rows".into(), Value::Array(rows));
        object.insert("complete".into(), complete.into());
        object.insert("status".into(), self.status.as_str().into());
        object.insert("usage".into(), self.usage.clone());
        Value::Object(object)
    }
}

/// The same object for a question that ended with an error.
pub(crate) fn error_json(id: &Value, e: &Error) -> Value {
    json!({
        "id": id,
        "answer": Value::Null,
        "statements": [],
        "columns": [],
        "rows": [],
        "complete": true,
        "status": Status::Error.as_str(),
        "usage": dbagent::model::Usage::default(),
        "error": {
            "kind": e.kind().as_str(),
            "message": crate::mask::mask_user_info(&e.to_string()),
            "hint": e.hint_text(),
        },
    })
}

/// One line about what it took.
pub(crate) fn summary(agent: &LightAgent, before: &dbagent::metrics::Summary) -> String {
    let now = agent.metrics().summary();
    let mut parts = vec![
        plural(now.queries - before.queries, "query", "queries"),
        plural(now.rows - before.rows, "row", "rows"),
    ];
    let refused = now.refused + now.blocked_by_estimate - before.refused - before.blocked_by_estimate;
    if refused > 0 {
        parts.push(format!("{refused} refused"));
    }
    let (read, written) = (now.input_tokens - before.input_tokens, now.output_tokens - before.output_tokens);
    if read + written > 0 {
        parts.push(format!(
            "{} tokens read, {} written",
            dbagent::text::thousands(read),
            dbagent::text::thousands(written)
        ));
    }
    let cost = now.cost_micros - before.cost_micros;
    if cost > 0 {
        parts.push(format!("cost {:.4}", cost as f64 / 1e6));
    }
    parts.join(", ")
}

fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", dbagent::text::thousands(n), if n == 1 { one } else { many })
}
