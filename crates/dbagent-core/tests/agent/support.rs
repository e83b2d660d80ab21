//! A tiny dialect and a tiny scripted model for the tests of the agent loop.
//!
//! Statements are words: `rows N [W]` returns N rows (with a text of W characters each), `endless` returns
//! rows until it is stopped, `frozen` never answers and ignores every stop, `torn N` fails and `doubted N` is
//! refused after N rows, `fail`, `gone`, `write`, `estimate N`, `wide N` a value of N bytes. `expect N W M` returns
//! N rows where M were expected, `slow N W M` does so after 2,001 ms by the clock of the tests, `late N W M`
//! after 1,000. `explain N` prints N.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dbagent_core::catalog::{Described, ObjectDetail, ObjectKind, ObjectPage, Page, RowCount};
use dbagent_core::context::CallContext;
use dbagent_core::estimate::{Estimate, Hint, Plan, PlanWarning, ScanCost};
use dbagent_core::guard::{Needs, Parsed, Refusal, Resolution, StatementClass};
use dbagent_core::model::{
    Model, ModelError, ModelErrorKind, ModelEvent, ModelProfile, ModelRequest, ModelStream, Reply, ToolCall,
    Usage,
};
use dbagent_core::rows::{ColumnSpec, Flow, Sink};
use dbagent_core::session::{Cleared, Outcome};
use dbagent_core::{
    Capabilities, ConnUrl, Database, Dialect, Effects, Error, ErrorKind, Guardrails, ObjectName, OpenContext,
    ParseContext, Request, Result, Rule, Session, Support, Target, async_trait,
};
use futures_core::future::BoxFuture;
use futures_util::{StreamExt as _, stream};

pub(crate) const WORDS: Dialect = Dialect::new("words", parse, open)
    .name("Words")
    .language("word")
    .count(|_| Request::text("rows 1"))
    .plan_reader(|printed| {
        PlanWarning::estimate_off(1, printed.trim().parse().unwrap_or_default(), true).into_iter().collect()
    })
    .sample(|_| Request::text("rows 50"))
    .capabilities(Capabilities { positional_parameters: Support::Yes, ..Capabilities::NONE });

pub(crate) static DIALECT: Dialect = WORDS;

fn parse(request: &Request, _: &ParseContext) -> Result<Parsed> {
    let word = request.as_str().split(' ').next().unwrap_or_default();
    assert!(word != "panic", "a parser that fails inside");
    Ok(match word {
        "rows" | "endless" | "frozen" | "torn" | "doubted" | "fail" | "gone" | "estimate" | "wide"
        | "expect" | "slow" | "late" => Parsed::new(StatementClass::Read, Effects::READ),
        "explain" => Parsed::new(StatementClass::Explain, Effects::READ),
        "write" => Parsed::new(StatementClass::Delete, Effects::READ | Effects::WRITE),
        other => return Err(Error::new(ErrorKind::Syntax, format!("near {other:?}: syntax error")).at(0)),
    })
}

fn open<'a>(_: &'a Target, _: &'a OpenContext) -> BoxFuture<'a, Result<Box<dyn Session>>> {
    Box::pin(async { Ok(Box::new(Words) as Box<dyn Session>) })
}

struct Words;

/// Lets time pass without waiting for it.
async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

fn number(text: &str, at: usize) -> usize {
    text.split(' ').nth(at).and_then(|n| n.parse().ok()).unwrap_or_default()
}

#[async_trait]
impl Session for Words {
    async fn resolve(&self, _: &Needs, _: &CallContext) -> Result<Resolution> {
        Ok(Resolution::live())
    }

    async fn objects(&self, pattern: Option<&str>, page: Page, _: &CallContext) -> Result<ObjectPage> {
        let all: Vec<_> = ["apples", "pears"]
            .iter()
            .filter(|n| pattern.is_none_or(|p| n.contains(p)))
            .map(|n| {
                let mut o = ObjectDetail::new(ObjectName::new(*n), ObjectKind::Table).summary;
                o.rows = RowCount::Exactly(3);
                o
            })
            .collect();
        let total = all.len();
        Ok(ObjectPage { objects: all.into_iter().skip(page.offset).take(page.size).collect(), total })
    }

    async fn describe(&self, names: &[ObjectName], _: &CallContext) -> Result<Described> {
        let (found, missing) = names.iter().cloned().partition::<Vec<_>, _>(|n| n.name == "apples");
        Ok(Described {
            found: found.into_iter().map(|n| ObjectDetail::new(n, ObjectKind::Table)).collect(),
            missing,
        })
    }

    async fn estimate(&self, cleared: &Cleared, _: &CallContext) -> Result<Outcome<Estimate>> {
        let rows = number(cleared.text(), 1) as u64;
        let expected = match cleared.text().split(' ').next() {
            Some("estimate") => Some(rows),
            Some("expect" | "slow" | "late") => Some(number(cleared.text(), 3) as u64),
            _ => None,
        };
        Ok(Ok(Estimate { rows_out: expected, ..Estimate::UNKNOWN }))
    }

    async fn explain(&self, cleared: &Cleared, _: &CallContext) -> Result<Outcome<Plan>> {
        let rows = number(cleared.text(), 1) as f64;
        let scan = ScanCost { total: 5_000.0, cost: 5_000.0, rows, kept: 1.0 };
        Ok(Ok(Plan {
            text: "SCAN apples".to_owned(),
            estimate: Estimate::UNKNOWN,
            warnings: PlanWarning::full_scan("ap|ples", rows, None).into_iter().collect(),
            hints: Hint::index_for_scan("apples", vec!["size".to_owned()], scan).into_iter().collect(),
        }))
    }

    async fn read(&self, cleared: Cleared, sink: Sink, call: &CallContext) -> Result<Outcome<()>> {
        let text = cleared.text().to_owned();
        let word = text.split(' ').next().unwrap_or_default();
        match word {
            "fail" => {
                return Err(
                    Error::new(ErrorKind::UnknownColumn, "no such column: colour").hint("it has size")
                );
            }
            "gone" => return Err(Error::new(ErrorKind::Connection, "the server went away")),
            "frozen" => std::future::pending::<()>().await,
            "slow" => pass(Duration::from_millis(2_001)).await,
            "late" => pass(Duration::from_millis(1_000)).await,
            _ => {}
        }
        let mut writer = sink.into_writer(vec![
            ColumnSpec { name: "n".into(), declared: None },
            ColumnSpec { name: "text".into(), declared: None },
        ]);
        let rows = if word == "endless" { usize::MAX } else { number(&text, 1) };
        let width = if word == "wide" { number(&text, 1) } else { number(&text, 2).max(1) };
        for n in 0..if word == "wide" || word == "explain" { 1 } else { rows } {
            if call.is_over() {
                return Err(call.over("read"));
            }
            if writer.begin_row() == Flow::Stop {
                break;
            }
            match word {
                "explain" => writer.text(&number(&text, 1).to_string())?,
                _ => writer.int(i64::try_from(n).unwrap_or_default())?,
            }
            writer.text(&"x".repeat(width))?;
            if writer.end_row().await? == Flow::Stop {
                break;
            }
            if word == "endless" {
                tokio::task::yield_now().await;
            }
        }
        if call.is_over() {
            return Err(call.over("read"));
        }
        writer.finish().await?;
        match word {
            "torn" => Err(Error::new(ErrorKind::Engine, "the page is damaged")),
            "doubted" => Ok(Err(Refusal::new(Rule::EngineDisagrees, "the engine read something else"))),
            _ => Ok(Ok(())),
        }
    }
}

pub(crate) fn database(guardrails: Guardrails) -> Database {
    let mut target = Target::new("main", ConnUrl::parse("words://here").unwrap());
    target.guardrails = guardrails;
    Database::new(&DIALECT, target)
}

pub(crate) type Answerer = Box<dyn Fn(&ModelRequest) -> Result<Reply, ModelError> + Send + Sync>;

/// Says what the test wrote down, in order, and remembers what it was asked.
#[derive(Clone)]
pub(crate) struct Script {
    steps: Arc<Mutex<VecDeque<Answerer>>>,
    pub(crate) asked: Arc<Mutex<Vec<ModelRequest>>>,
    pub(crate) profile: ModelProfile,
}

impl Script {
    pub(crate) fn new(steps: impl IntoIterator<Item = Answerer>) -> Self {
        Self {
            steps: Arc::new(Mutex::new(steps.into_iter().collect())),
            asked: Arc::default(),
            profile: ModelProfile { schema_with_tools: false, ..ModelProfile::default() },
        }
    }

    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<ModelRequest> {
        self.asked.lock().unwrap().clone()
    }

    /// Steps that were not used.
    pub(crate) fn left(&self) -> usize {
        self.steps.lock().unwrap().len()
    }
}

#[async_trait]
impl Model for Script {
    fn id(&self) -> &'static str {
        "script"
    }

    fn profile(&self) -> ModelProfile {
        self.profile.clone()
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        self.asked.lock().unwrap().push(request.clone());
        let step = self.steps.lock().unwrap().pop_front();
        let reply = step.unwrap_or_else(|| panic!("the script has ended"))(&request)?;
        Ok(stream::iter([Ok(ModelEvent::TextDelta(reply.text.clone())), Ok(ModelEvent::End(reply))]).boxed())
    }
}

pub(crate) fn says(text: &str) -> Answerer {
    let text = text.to_owned();
    Box::new(move |_| {
        Ok(Reply { usage: Usage { input: 10, output: 5, ..Usage::default() }, ..Reply::text(text.clone()) })
    })
}

pub(crate) fn calls(calls: &[(&str, &str)]) -> Answerer {
    let calls: Vec<ToolCall> = calls.iter().map(|(n, a)| ToolCall::new(*n, *a)).collect();
    Box::new(move |_| {
        Ok(Reply { usage: Usage { input: 10, output: 5, ..Usage::default() }, ..Reply::calls(calls.clone()) })
    })
}

/// One call of `query`.
pub(crate) fn asks(statement: &str) -> Answerer {
    let arguments = format!("{{\"statement\":{statement:?}}}");
    calls(&[("query", arguments.as_str())])
}

pub(crate) fn fails(kind: ModelErrorKind) -> Answerer {
    Box::new(move |_| Err(ModelError::new(kind, "on purpose")))
}

/// What the model read about the calls of its last reply.
pub(crate) fn observations(request: &ModelRequest) -> Vec<String> {
    use dbagent_core::model::Message;
    let mut texts: Vec<String> = request
        .messages
        .iter()
        .rev()
        .map_while(|m| match m {
            Message::Tool(t) => Some(t.text.clone()),
            _ => None,
        })
        .collect();
    texts.reverse();
    texts
}

/// Waits generously: the ceiling of tests that must end.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future).await.unwrap_or_else(|_| panic!("it hangs"))
}
