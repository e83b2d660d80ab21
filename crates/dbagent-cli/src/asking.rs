//! One question and what came of it.

use std::collections::HashMap;

use dbagent::agent::Answer;
use dbagent::artifact::{Artifact, NotKept, RowsArtifact};
use dbagent::fact::{Fact, RunEnd};
use dbagent::model::{Finish, Usage};
use dbagent::{Dialect, Error, ErrorKind, GuardedSession, LightAgent};
use serde::Serialize;
use serde_json::Value;

use crate::app::{App, interrupted};
use crate::exit::{Exit, Failure};
use crate::format::{json_rows, safe_json};
use crate::model::Chosen;
use crate::place::Place;
use crate::statement;
use crate::steps::{SAMPLE, Steps};
use crate::width::counted;

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
    /// The database did not answer what the offline planner asked it; the answer says why.
    Failed,
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
            Self::Failed => "failed",
            Self::Incomplete => "incomplete",
            Self::Error => "error",
        }
    }

    /// The exit code of a single question.
    pub(crate) const fn exit(self) -> Exit {
        match self {
            Self::Answered => Exit::Done,
            Self::Unsure | Self::Failed | Self::Error => Exit::Negative,
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
    /// What is left of these rows where the run did not keep them.
    pub(crate) not_kept: Option<NotKept>,
    usage: Usage,
}

impl Findings {
    /// Reads them from an answer.
    pub(crate) fn of(answer: &Answer) -> Self {
        let mut tools: HashMap<&str, String> = HashMap::new();
        let mut failed: Vec<&str> = Vec::new();
        let mut asked: Vec<&str> = Vec::new();
        let mut last = Finish::Stop;
        for record in &answer.facts {
            match &record.fact {
                Fact::ModelReplied { calls, finish, .. } => {
                    asked = calls.iter().map(|c| c.name.as_str()).collect();
                    last.clone_from(finish);
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
        let mut not_kept = None;
        for (key, artifact) in &answer.artifacts {
            let is_sample = tools.get(key.as_str()).is_some_and(|tool| tool == SAMPLE);
            if failed.contains(&key.as_str()) || is_sample {
                continue;
            }
            match artifact {
                Artifact::Rows(found) => {
                    statements.push(found.statement.clone());
                    (rows, not_kept) = (Some(found.clone()), None);
                }
                Artifact::NotKept(gone) if gone.rows.is_some() => {
                    statements.extend(gone.statement.clone());
                    (rows, not_kept) = (None, Some(gone.clone()));
                }
                _ => {}
            }
        }
        let status = match (&answer.end, last) {
            (RunEnd::Answered, Finish::Other(word)) if word == "unsure" => Status::Unsure,
            (RunEnd::Answered, Finish::Other(word)) if word == "failed" => Status::Failed,
            (RunEnd::Answered, _) => Status::Answered,
            _ => Status::Incomplete,
        };
        if matches!(status, Status::Unsure | Status::Failed) {
            // What was looked up to understand the question is no answer to it.
            (rows, not_kept) = (None, None);
        }
        Self { status, text: answer.text.clone(), statements, rows, not_kept, usage: answer.usage }
    }

    /// One JSON object for programs. `id` is what the question was known by.
    pub(crate) fn to_json(&self, id: Option<&Value>) -> Result<String, Error> {
        let (columns, rows) = match &self.rows {
            Some(found) => {
                let names = found.schema.fields().iter().map(|f| f.name().as_str()).collect();
                (names, json_rows(&found.batches))
            }
            None => (Vec::new(), Vec::new()),
        };
        Line {
            id,
            answer: Some(&self.text),
            statements: &self.statements,
            columns,
            rows,
            complete: self.not_kept.is_none()
                && self.rows.as_ref().is_none_or(|found| found.ending.is_complete()),
            status: self.status.as_str(),
            usage: self.usage,
            error: None,
        }
        .to_json()
    }
}

/// The same object for a question that ended with an error.
pub(crate) fn error_json(id: &Value, e: &Error) -> Result<String, Error> {
    Line {
        id: Some(id),
        answer: None,
        statements: &[],
        columns: Vec::new(),
        rows: Vec::new(),
        complete: true,
        status: Status::Error.as_str(),
        usage: Usage::default(),
        error: Some(ErrorLine {
            kind: e.kind().as_str(),
            message: crate::mask::mask_user_info(&e.to_string()),
            hint: e.hint_text(),
        }),
    }
    .to_json()
}

/// What programs get of a question; the fields stand in this order.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Value>,
    answer: Option<&'a str>,
    statements: &'a [String],
    columns: Vec<&'a str>,
    rows: Vec<Value>,
    complete: bool,
    status: &'static str,
    usage: Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorLine<'a>>,
}

#[derive(Serialize)]
struct ErrorLine<'a> {
    kind: &'static str,
    message: String,
    hint: Option<&'a str>,
}

impl Line<'_> {
    fn to_json(&self) -> Result<String, Error> {
        let text = serde_json::to_string(self)
            .map_err(|e| Error::new(ErrorKind::Internal, "an answer cannot be written as JSON").source(e))?;
        Ok(safe_json(&text))
    }
}

/// The name of the planner that needs no network.
const OFFLINE: &str = "offline";

/// One line about what it took.
pub(crate) fn summary(agent: &LightAgent, before: &dbagent::metrics::Summary) -> String {
    let now = agent.metrics().summary();
    let mut parts = vec![
        counted(now.queries - before.queries, "query", "queries"),
        counted(now.rows - before.rows, "row", "rows"),
    ];
    let refused = now.refused + now.blocked_by_estimate - before.refused - before.blocked_by_estimate;
    if refused > 0 {
        parts.push(format!("{refused} refused"));
    }
    let (read, written) = (now.input_tokens - before.input_tokens, now.output_tokens - before.output_tokens);
    // The planner that needs no network has no tokens; its figures are estimates for budgets.
    let offline = agent.agent().model().id() == OFFLINE;
    if read + written > 0 && !offline {
        parts.push(format!(
            "{} tokens read, {} written",
            dbagent::text::thousands(read),
            dbagent::text::thousands(written)
        ));
    }
    let cost = now.cost_micros - before.cost_micros;
    if cost > 0 {
        // A part whose price nobody knows is not free.
        let more = if now.unpriced_calls > before.unpriced_calls { "at least " } else { "" };
        parts.push(format!("cost {more}{:.4}", cost as f64 / 1e6));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dbagent::fact::FactRecord;
    use dbagent::model::ToolCall;
    use dbagent::rows::Ending;

    use super::*;
    use crate::format::tests::nasty;

    fn rows(statement: &str) -> Artifact {
        let batch = nasty();
        Artifact::Rows(RowsArtifact {
            statement: statement.to_owned(),
            schema: batch.schema(),
            ending: Ending { rows: 3, ..Ending::default() },
            batches: vec![batch],
            estimate: dbagent::estimate::Estimate::UNKNOWN,
            elapsed: std::time::Duration::ZERO,
            warnings: Vec::new(),
        })
    }

    /// An answer after one reply with these tools, of which some failed, and a last reply.
    fn answer(tools: &[(&str, bool)], finish: Finish, end: RunEnd) -> Answer {
        let replied = |calls: Vec<ToolCall>, finish: Finish| Fact::ModelReplied {
            text: String::new(),
            calls,
            finish,
            usage: Usage::default(),
            model: "m".to_owned(),
            extras: serde_json::Map::new(),
        };
        let calls = tools.iter().map(|(name, _)| ToolCall::new(*name, "{}")).collect();
        let mut facts = vec![replied(calls, Finish::ToolCalls)];
        let key = |i: usize| format!("t7c{i}");
        for (i, (_, is_error)) in tools.iter().enumerate() {
            facts.push(Fact::CallFinished {
                key: key(i),
                text: String::new(),
                is_error: *is_error,
                artifact: None,
            });
        }
        facts.push(replied(Vec::new(), finish));
        Answer {
            thread: "t".to_owned(),
            text: "said".to_owned(),
            structured: None,
            artifacts: (0..tools.len()).map(|i| (key(i), rows(&format!("statement {i}")))).collect(),
            usage: Usage::default(),
            facts: facts
                .into_iter()
                .zip(1..)
                .map(|(fact, seq)| Arc::new(FactRecord { seq, at_ms: 0, fact }))
                .collect(),
            end,
        }
    }

    #[test]
    fn rows_of_samples_and_of_failures_are_no_answer() {
        let tools = [("query", false), ("sample", false), ("query", true)];
        let findings = Findings::of(&answer(&tools, Finish::Stop, RunEnd::Answered));
        assert_eq!(findings.status, Status::Answered);
        assert_eq!(findings.statements, ["statement 0"]);
        assert_eq!(findings.rows.unwrap().statement, "statement 0");
    }

    #[test]
    fn rows_that_the_run_did_not_keep_are_no_complete_answer() {
        let gone = |statement: &str| {
            Artifact::NotKept(NotKept {
                kind: "rows",
                statement: Some(statement.to_owned()),
                rows: Some(9),
                bytes: 2_000,
                limit: 1_000,
            })
        };
        let mut answer = answer(&[("query", false), ("query", false)], Finish::Stop, RunEnd::Answered);
        answer.artifacts[0].1 = gone("first");
        let findings = Findings::of(&answer);
        assert_eq!(findings.statements, ["first", "statement 1"]);
        assert!(findings.not_kept.is_none() && findings.to_json(None).unwrap().contains("\"complete\":true"));
        answer.artifacts[1].1 = gone("second");
        let findings = Findings::of(&answer);
        assert_eq!(findings.statements, ["first", "second"]);
        assert!(findings.rows.is_none() && findings.not_kept.is_some());
        assert!(findings.to_json(None).unwrap().contains("\"complete\":false"));
    }

    #[test]
    fn a_planner_that_is_not_sure_and_a_budget_are_told_apart() {
        let unsure = answer(&[("query", false)], Finish::Other("unsure".into()), RunEnd::Answered);
        let findings = Findings::of(&unsure);
        assert_eq!((findings.status, findings.status.exit()), (Status::Unsure, Exit::Negative));
        assert!(findings.rows.is_none());
        let failed = answer(&[("query", false)], Finish::Other("failed".into()), RunEnd::Answered);
        let findings = Findings::of(&failed);
        assert_eq!((findings.status, findings.status.exit()), (Status::Failed, Exit::Negative));
        assert!(findings.rows.is_none());
        let over = answer(&[("query", false)], Finish::Stop, RunEnd::BudgetExhausted("turns".into()));
        assert_eq!(Findings::of(&over).status, Status::Incomplete);
    }

    #[test]
    fn what_programs_get_is_in_the_documented_order() {
        let findings = Findings::of(&answer(&[], Finish::Stop, RunEnd::Answered));
        let text = findings.to_json(Some(&"a".into())).unwrap();
        assert!(
            text.starts_with(
                "{\"id\":\"a\",\"answer\":\"said\",\"statements\":[],\"columns\":[],\"rows\":[],\"complete\":true,\
                 \"status\":\"answered\",\"usage\":{"
            ),
            "{text}"
        );
        let e = Error::new(ErrorKind::Timeout, "slow://bob:canary@h/x took too long");
        let text = error_json(&Value::Null, &e).unwrap();
        assert!(text.contains("\"kind\":\"timeout\"") && !text.contains("canary"), "{text}");
    }
}
