//! The model: a pure step from the messages of a thread to calls or an answer.

use async_trait::async_trait;
use dbagent_core::model::{
    Finish, Message, Model, ModelError, ModelErrorKind, ModelEvent, ModelProfile, ModelRequest, ModelStream,
    OutputMode, Reply, Usage,
};
use dbagent_core::observe::ReadTable;
use dbagent_core::text::estimate_tokens;
use futures_util::stream::{self, StreamExt as _};

use crate::answer::{self, Outcome};
use crate::compile::{Taken, compile, links_taken};
use crate::intent::Chunks;
use crate::knowledge::{Call, Knowledge};
use crate::meaning::{Intent, Unsure};
use crate::schema::{Schema, TableId};
use crate::sql::print;
use crate::structured;
use crate::survey::{Survey, Surveyed, survey};
use crate::talk::{self, Talk};
use crate::tools::{Tools, query};
use crate::understand::{Understood, understand};

/// The planner that needs no network and no key.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Offline;

impl Offline {
    /// The name under which it reports itself.
    pub const ID: &'static str = "offline";

    /// A planner. It keeps nothing between calls, so one serves any number of threads.
    pub const fn new() -> Self {
        Self
    }
}

const CHARS_PER_TOKEN: f32 = 4.0;

#[async_trait]
impl Model for Offline {
    fn id(&self) -> &str {
        Self::ID
    }

    fn profile(&self) -> ModelProfile {
        ModelProfile {
            schema_with_tools: true,
            chars_per_token: CHARS_PER_TOKEN,
            // It reads the schema and its look-ups back from what the tools said.
            whole_history: true,
            ..ModelProfile::default()
        }
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let cancelled = || ModelError::new(ModelErrorKind::Cancelled, "the run was cancelled");
        if request.cancel.is_cancelled() {
            return Err(cancelled());
        }
        if request.deadline.is_some_and(|d| d <= tokio::time::Instant::now()) {
            return Err(ModelError::new(
                ModelErrorKind::Timeout,
                "the deadline passed before the planner began",
            ));
        }
        let mut reply = match decide(&request) {
            Decision::Calls(calls) => Reply::calls(calls.iter().map(Call::to_tool_call).collect()),
            Decision::Answer(answer) => reply(&request, &answer, Finish::Stop)?,
            // Programs that read answers can tell this one from an answer.
            Decision::NotSure(answer) => reply(&request, &answer, Finish::Other("unsure".to_owned()))?,
            Decision::Failed(answer) => reply(&request, &answer, Finish::Other("failed".to_owned()))?,
        };
        Self::ID.clone_into(&mut reply.model);
        reply.usage = usage(&request, &reply);
        let mut events: Vec<ModelEvent> =
            pieces(&reply.text).into_iter().map(ModelEvent::TextDelta).collect();
        events.push(ModelEvent::End(reply));
        let cancel = request.cancel.clone();
        let events = stream::iter(events)
            .map(move |event| if cancel.is_cancelled() { Err(cancelled()) } else { Ok(event) });
        Ok(events.boxed())
    }
}

/// The text in lines, as it is shown while it arrives.
fn pieces(text: &str) -> Vec<String> {
    text.split_inclusive('\n').map(str::to_owned).collect()
}

fn usage(request: &ModelRequest, reply: &Reply) -> Usage {
    let tokens = |text: &str| estimate_tokens(text, CHARS_PER_TOKEN);
    let messages: u64 = request
        .messages
        .iter()
        .map(|m| match m {
            Message::User { text } => tokens(text),
            Message::Assistant(a) => {
                tokens(&a.text) + a.calls.iter().map(|c| tokens(&c.arguments)).sum::<u64>()
            }
            Message::Tool(t) => tokens(&t.text),
        })
        .sum();
    let system: u64 = request.system.iter().map(|s| tokens(s)).sum();
    let output = tokens(&reply.text) + reply.calls.iter().map(|c| tokens(&c.arguments)).sum::<u64>();
    Usage { input: messages + system, output, estimated: true, ..Usage::default() }
}

enum Decision {
    Calls(Vec<Call>),
    Answer(Answer),
    /// What is said instead of a guess.
    NotSure(Answer),
    /// What is said where the database did not answer.
    Failed(Answer),
}

/// An answer with what a structured one is filled from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) table: Option<ReadTable>,
    pub(crate) statement: Option<String>,
    /// Whether the rows are all there are.
    pub(crate) complete: bool,
}

impl Answer {
    fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// Longest question that is read.
const MAX_QUESTION: usize = 2_000;

fn decide(request: &ModelRequest) -> Decision {
    let questions: Vec<String> = request
        .messages
        .iter()
        .filter_map(|m| match m {
            Message::User { text } => Some(text.trim().to_owned()),
            _ => None,
        })
        .collect();
    let question = questions.last().cloned().unwrap_or_default();
    let say = |text: String| Decision::Answer(Answer::text(text));
    if question.chars().count() > MAX_QUESTION {
        let why = Unsure::new(format!("the question has more than {MAX_QUESTION} characters"));
        return not_sure(answer::unsure(None, &[], &why, &[]));
    }
    match talk::read(&question) {
        Talk::About => return say(answer::about()),
        Talk::Write(verb) => return say(answer::only_reads(&verb)),
        Talk::Question => {}
    }
    let tools = Tools::of(request);
    let known = Knowledge::new(&request.messages);
    let surveyed = match survey(&questions, &known) {
        Survey::Known(surveyed) => surveyed,
        Survey::Ask(calls) if tools.list && tools.describe => return Decision::Calls(calls),
        Survey::Ask(_) => {
            let why = Unsure::new("the tools that tell what the database holds are not available (any more)");
            return not_sure(answer::unsure(None, &[], &why, &[]));
        }
        Survey::Failed(text) => {
            let text =
                format!("The list of tables could not be read, so the question is not answered.\n\n{text}");
            return Decision::Failed(Answer::text(text));
        }
    };
    if let Some(text) = talk::schema_question(&question, &surveyed) {
        return say(text);
    }
    if !tools.query && tools.any {
        let why = Unsure::new("this planner writes SQL, and the database offers no tool that takes it");
        return not_sure(answer::unsure(Some(&surveyed.schema), &surveyed.objects, &why, &[]));
    }
    answer_question(&questions, &surveyed, &tools, &known)
}

fn not_sure(text: String) -> Decision {
    Decision::NotSure(Answer::text(text))
}

/// The reply of a text, in the form that was asked for.
fn reply(request: &ModelRequest, answer: &Answer, finish: Finish) -> Result<Reply, ModelError> {
    let text = match &request.output {
        OutputMode::Text => answer.text.clone(),
        OutputMode::JsonSchema { schema, .. } => structured::fill(schema, answer)?,
    };
    Ok(Reply { finish, ..Reply::text(text) })
}

fn answer_question(questions: &[String], surveyed: &Surveyed, tools: &Tools, known: &Knowledge) -> Decision {
    let schema = &surveyed.schema;
    let named = |question: &str| named_tables(schema, question);
    let question = questions.last().cloned().unwrap_or_default();
    let intent = match understand(schema, questions, tools.dialect, known) {
        Understood::Intent(intent) => intent,
        Understood::Ask(calls) if tools.query => return Decision::Calls(calls),
        Understood::Ask(_) => {
            let why =
                Unsure::new("no more queries may be run, and values of the question were not looked up yet");
            return not_sure(answer::unsure(Some(schema), &surveyed.objects, &why, &named(&question)));
        }
        Understood::Unsure(why) => {
            return not_sure(answer::unsure(Some(schema), &surveyed.objects, &why, &named(&question)));
        }
    };
    let select = match compile(schema, &intent) {
        Ok(select) => select,
        Err(why) => {
            return not_sure(answer::unsure(Some(schema), &surveyed.objects, &why, &named(&question)));
        }
    };
    let statement = print(&select, tools.dialect);
    for limit in tools.limits() {
        let call = query(&statement, Some(limit));
        let Some(observation) = known.get(&call) else {
            if tools.query {
                return Decision::Calls(vec![call]);
            }
            break;
        };
        let first_line = observation.text.lines().next().unwrap_or_default();
        if observation.is_error {
            // A result that is too large to be shown is asked for in part.
            if first_line.contains("REFUSED") && first_line.contains("Size:") {
                continue;
            }
            return failed(&observation.text, &statement.text, schema, &intent);
        }
        let Some(table) = ReadTable::from_observation(&observation.text) else {
            return failed(&observation.text, &statement.text, schema, &intent);
        };
        let incomplete = first_line.starts_with("INCOMPLETE").then(|| short_incomplete(first_line));
        let outcome = Outcome { table: table.clone(), incomplete };
        let taken = links_taken(schema, &intent);
        return Decision::Answer(Answer {
            text: answer::write(schema, &intent, &outcome, &taken),
            complete: outcome.incomplete.is_none(),
            table: Some(table),
            statement: Some(statement.text),
        });
    }
    let why = if tools.query {
        Unsure::new("even a few rows of the result are too large to be shown")
    } else {
        Unsure::new("the query could not be run, because no more tools may be used")
    };
    not_sure(answer::unsure(Some(schema), &surveyed.objects, &why, &named(&question)))
}

/// `more than 100 rows exist`.
fn short_incomplete(line: &str) -> String {
    let text = line.trim_start_matches("INCOMPLETE:").trim();
    text.split([';', '.']).next().unwrap_or(text).to_owned()
}

fn failed(observation: &str, statement: &str, schema: &Schema, intent: &Intent) -> Decision {
    Decision::Failed(Answer::text(format!(
        "The query that I built for this question did not run, so I have no answer.\n\nStatement:\n{statement}\n\nWhat came \
         back:\n{observation}\n\n{}",
        answer::understood(schema, intent, &Taken::default())
    )))
}

/// The tables that a question names, for those who must ask again.
fn named_tables(schema: &Schema, question: &str) -> Vec<TableId> {
    let chunks = Chunks::new(question, schema, &crate::intent::Hits::new());
    let mut out: Vec<TableId> = Vec::new();
    for chunk in &chunks.list {
        let best = chunk.link.score();
        let tables = chunk.link.tables.iter().filter(|(_, s)| *s == best).map(|(t, _)| *t);
        let columns = chunk.link.columns.iter().filter(|(_, s)| *s == best).map(|(c, _)| c.table);
        for t in tables.chain(columns.take(3)) {
            if !out.contains(&t) {
                out.push(t);
            }
        }
    }
    out
}
