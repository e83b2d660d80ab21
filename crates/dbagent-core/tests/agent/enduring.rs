//! The loop keeps its lease, its budget and its log when something else goes wrong.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use crate::support::{Answerer, Script, asks, calls, database, observations, says, soon};
use dbagent_core::agent::OutputSchema;
use dbagent_core::budget::Budgets;
use dbagent_core::fact::{Fact, FactRecord, RunEnd};
use dbagent_core::middleware::{CallDecision, Middleware};
use dbagent_core::model::{
    Message, Model, ModelError, ModelProfile, ModelRequest, ModelStream, Reply, ToolCall, Usage,
};
use dbagent_core::state::State;
use dbagent_core::store::{Appended, Decision, Lease, MemoryStore, PendingApproval, Store};
use dbagent_core::tool::{Arguments, Tool, ToolContext, ToolError, ToolHints, ToolOutput, ToolSpec, tool};
use dbagent_core::{Agent, AgentBuilder, Error, ErrorKind, Guardrails, Result, async_trait, serde_json};
use serde_json::json;
use tokio::time::Instant;

fn agent(script: &Script) -> AgentBuilder {
    Agent::builder(Arc::new(script.clone())).database(database(Guardrails::default()))
}

/// A store whose leases run out by the clock of the test, and that can refuse to take one back.
#[derive(Default)]
struct Leases {
    inner: MemoryStore,
    until: std::sync::Mutex<Option<Instant>>,
    no_release: bool,
    stolen: AtomicBool,
}

#[async_trait]
impl Store for Leases {
    async fn load(&self, thread: &str, after: u64) -> Result<Vec<FactRecord>> {
        self.inner.load(thread, after).await
    }
    async fn append(&self, thread: &str, expected: u64, records: Vec<FactRecord>) -> Result<Appended> {
        self.inner.append(thread, expected, records).await
    }
    async fn decide(&self, thread: &str, decision: Decision) -> Result<bool> {
        self.inner.decide(thread, decision).await
    }
    async fn pending(&self) -> Result<Vec<PendingApproval>> {
        self.inner.pending().await
    }
    async fn lease(&self, thread: &str, owner: &str, ttl: Duration) -> Result<Option<Lease>> {
        *self.until.lock().unwrap() = Some(Instant::now() + ttl);
        Ok(Some(Lease { thread: thread.into(), owner: owner.into(), token: 1 }))
    }
    async fn renew(&self, _: &Lease, ttl: Duration) -> Result<bool> {
        let mut until = self.until.lock().unwrap();
        let held = until.is_some_and(|u| u > Instant::now()) && !self.stolen.load(Ordering::Relaxed);
        *until = held.then(|| Instant::now() + ttl);
        Ok(held)
    }
    async fn release(&self, _: &Lease) -> Result<()> {
        if self.no_release { Err(Error::new(ErrorKind::Io, "the store is away")) } else { Ok(()) }
    }
    async fn list(&self) -> Result<Vec<String>> {
        self.inner.list().await
    }
    async fn fork(&self, thread: &str, at: u64, name: &str) -> Result<()> {
        self.inner.fork(thread, at, name).await
    }
    async fn delete(&self, thread: &str) -> Result<bool> {
        self.inner.delete(thread).await
    }
}

/// A model that thinks for a while.
struct Slow(Script, Duration);

#[async_trait]
impl Model for Slow {
    fn id(&self) -> &'static str {
        "slow"
    }
    fn profile(&self) -> ModelProfile {
        self.0.profile()
    }
    async fn stream(&self, request: ModelRequest) -> std::result::Result<ModelStream, ModelError> {
        tokio::time::sleep(self.1).await;
        self.0.stream(request).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_thinks_longer_than_the_lease_keeps_its_thread() {
    let model = Slow(Script::new([asks("rows 1"), says("done")]), Duration::from_secs(200));
    let agent = Agent::builder(Arc::new(model))
        .database(database(Guardrails::default()))
        .store(Arc::new(Leases::default()))
        .build()
        .unwrap();
    assert_eq!(agent.ask("t", "q").await.unwrap().text, "done");
}

#[tokio::test(start_paused = true)]
async fn a_driver_that_lost_its_lease_stops_at_once_and_writes_nothing_more() {
    let store = Arc::new(Leases { stolen: AtomicBool::new(true), ..Leases::default() });
    let model = Slow(Script::new([says("too late")]), Duration::from_secs(200));
    let agent = Agent::builder(Arc::new(model)).store(store.clone()).build().unwrap();
    let e = agent.ask("t", "q").await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Conflict);
    assert_eq!(store.load("t", 0).await.unwrap().len(), 1, "only the start of the run");
}

#[tokio::test]
async fn a_lease_that_cannot_be_given_back_costs_no_answer() {
    let store = Leases { no_release: true, ..Leases::default() };
    let script = Script::new([says("done")]);
    let agent = agent(&script).store(Arc::new(store)).build().unwrap();
    assert_eq!(agent.ask("t", "q").await.unwrap().text, "done");
}

struct Hook(fn(&ToolCall) -> CallDecision, Result<()>);

#[async_trait]
impl Middleware for Hook {
    fn name(&self) -> &'static str {
        "hook"
    }
    async fn on_call(&self, _: &State, call: &ToolCall, _: &ToolHints) -> Result<CallDecision> {
        Ok((self.0)(call))
    }
    async fn after_run(&self, _: &State) -> Result<()> {
        match &self.1 {
            Ok(()) => Ok(()),
            Err(e) => Err(Error::new(e.kind(), e.message())),
        }
    }
}

#[tokio::test]
async fn a_hook_that_fails_after_the_run_costs_no_answer() {
    let script = Script::new([says("done")]);
    let hook = Hook(|_| CallDecision::Run, Err(Error::new(ErrorKind::Io, "no disk")));
    assert_eq!(
        agent(&script).middleware(Arc::new(hook)).build().unwrap().ask("t", "q").await.unwrap().text,
        "done"
    );
}

#[tokio::test]
async fn a_stopped_turn_answers_the_calls_before_the_one_that_stopped_it() {
    let script =
        Script::new([calls(&[("query", "{\"statement\":\"rows 1\"}"), ("count", "{\"name\":\"apples\"}")])]);
    let stop = |call: &ToolCall| {
        if call.name == "count" { CallDecision::Stop("enough".into()) } else { CallDecision::Run }
    };
    let agent = agent(&script).middleware(Arc::new(Hook(stop, Ok(())))).build().unwrap();
    let answer = agent.ask("t", "q").await.unwrap();
    assert_eq!(answer.end, RunEnd::Stopped("enough".into()));
    let state = State::fold(&agent.store().load("t", 0).await.unwrap()).unwrap();
    let answered: Vec<_> = state
        .messages
        .iter()
        .filter_map(|m| match m {
            Message::Tool(t) => Some((t.text.as_str(), t.is_error)),
            _ => None,
        })
        .collect();
    assert_eq!(answered.len(), 2);
    assert!(answered.iter().all(|(text, is_error)| text.starts_with("Not run") && *is_error), "{answered:?}");
}

struct Broken;

#[async_trait]
impl Model for Broken {
    fn id(&self) -> &'static str {
        "broken"
    }
    fn profile(&self) -> ModelProfile {
        ModelProfile::default()
    }
    async fn stream(&self, _: ModelRequest) -> std::result::Result<ModelStream, ModelError> {
        panic!("a model that fails inside")
    }
}

#[tokio::test]
async fn a_model_that_panics_leaves_a_thread_that_goes_on() {
    let store = Arc::new(MemoryStore::new());
    let agent_of = |model: Arc<dyn Model>| Agent::builder(model).store(store.clone()).build().unwrap();
    let e = agent_of(Arc::new(Broken)).ask("t", "q").await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Internal);
    let answer = agent_of(Arc::new(Script::new([says("fine")]))).ask("t", "again").await.unwrap();
    assert_eq!(answer.text, "fine");
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[tokio::test]
async fn a_conflict_inside_a_tool_is_not_one_of_the_log() {
    let clash = tool("clash", "d", ToolHints::READ_ONLY, async |_: Nothing| {
        Err(ToolError::Fatal(Error::new(ErrorKind::Conflict, "two transactions")))
    });
    let script = Script::new([calls(&[("clash", "{}")]), says("later")]);
    let agent = agent(&script).tool(Arc::new(clash)).build().unwrap();
    assert_eq!(agent.ask("t", "q").await.unwrap_err().message(), "two transactions");
    assert_eq!(agent.ask("t", "again").await.unwrap().text, "later");
}

/// Reserves rows of the budget and never comes back, or says what is used.
struct Greedy(ToolSpec);

#[async_trait]
impl Tool for Greedy {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }
    async fn call(
        &self,
        context: &ToolContext,
        arguments: Arguments,
    ) -> std::result::Result<ToolOutput, ToolError> {
        if arguments.raw().contains("hang") {
            context.budget.reserve_rows(60, 100).await.unwrap();
            std::future::pending::<()>().await;
        }
        Ok(ToolOutput::text(format!("{:?}", context.budget.rows())))
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_gives_its_reservation_back() {
    let script =
        Script::new([calls(&[("greedy", "{\"do\":\"hang\"}")]), calls(&[("greedy", "{}")]), says("ok")]);
    let hints = ToolHints { timeout: Some(Duration::from_secs(1)), ..ToolHints::READ_ONLY };
    let greedy = Greedy(ToolSpec {
        name: "greedy".into(),
        description: "d".into(),
        parameters: Arc::new(json!({"type": "object"})),
        hints,
    });
    let agent = agent(&script).tool(Arc::new(greedy)).build().unwrap();
    agent.ask("t", "q").await.unwrap();
    assert_eq!(observations(&script.requests()[2]), ["RowBudget { charged: 0, reserved: 0 }"]);
    let state = State::fold(&agent.store().load("t", 0).await.unwrap()).unwrap();
    assert_eq!((state.rows.reserved, state.reserved.len()), (0, 0));
}

#[tokio::test]
async fn a_read_that_runs_again_does_not_stand_in_its_own_way() {
    let guardrails = Guardrails { row_budget: 100, ..Guardrails::default() };
    let store = Arc::new(MemoryStore::new());
    let build = |script: &Script| {
        Agent::builder(Arc::new(script.clone()))
            .database(database(guardrails.clone()))
            .store(store.clone())
            .build()
            .unwrap()
    };
    build(&Script::new([asks("rows 2"), says("done")])).ask("whole", "q").await.unwrap();
    let log = store.load("whole", 0).await.unwrap();
    let at = log.iter().position(|r| matches!(r.fact, Fact::BudgetReserved { .. })).unwrap();
    store.append("t", 0, log[..=at].to_vec()).await.unwrap();
    let script = Script::new([says("done")]);
    soon(build(&script).resume("t").outcome()).await.unwrap();
    assert!(
        observations(&script.requests()[0])[0].starts_with("2 rows"),
        "{:?}",
        observations(&script.requests()[0])
    );
}

#[tokio::test]
async fn a_reply_cannot_run_more_calls_than_the_run_has_left() {
    let many = vec![("query", "{\"statement\":\"rows 1\"}"); 5];
    let script = Script::new([calls(&many), says("ok")]);
    let budgets = Budgets { tool_calls: 2, ..Budgets::default() };
    let agent = agent(&script).budgets(budgets).build().unwrap();
    agent.ask("t", "q").await.unwrap();
    assert_eq!(agent.metrics().summary().queries, 2);
    let seen = observations(&script.requests()[1]);
    assert!(seen[4].starts_with("Not run: "), "{}", seen[4]);
}

#[tokio::test]
async fn a_server_that_counts_beyond_all_numbers_ends_the_run_and_nothing_else() {
    let usage = Usage { input: u64::MAX, cached_input: u64::MAX, output: u64::MAX, ..Usage::default() };
    let huge = move |reply: Reply| -> Answerer { Box::new(move |_| Ok(Reply { usage, ..reply.clone() })) };
    let call = Reply::calls(vec![ToolCall::new("query", "{\"statement\":\"rows 1\"}")]);
    let script = Script::new([huge(call), huge(Reply::text("done"))]);
    let answer = agent(&script).build().unwrap().ask("t", "q").await.unwrap();
    assert_eq!(answer.end, RunEnd::BudgetExhausted("2,000,000 tokens".into()));
}

#[tokio::test]
async fn what_a_model_writes_may_be_of_any_size_and_shape() {
    let deep = format!("{{\"statement\":{}{}}}", "[".repeat(524_000), "]".repeat(524_000));
    let long = format!("{{\"statement\":\"{}\"}}", "x".repeat(5 << 20));
    let key = format!("{{\"{}\":1}}", "k\\n".repeat(100_000));
    let odd = "query\n--- end of data ---\nIgnore\u{202e}\u{1b}[2J".to_owned();
    let (deep2, long2) = (deep.clone(), long.clone());
    let first: Answerer = Box::new(move |_| {
        let id = "i".repeat(2_000);
        Ok(Reply::calls(vec![
            ToolCall { id: id.clone(), ..ToolCall::new("query", deep2.clone()) },
            ToolCall { id, ..ToolCall::new("query", long2.clone()) },
            ToolCall::new("query", key.clone()),
            ToolCall::new(odd.clone(), "{}"),
            ToolCall::new("q".repeat(1 << 20), "{}"),
            ToolCall::new("", "\u{0}"),
        ]))
    });
    let script = Script::new([first, says(&"x".repeat(10 << 20))]);
    let answer = soon(agent(&script).build().unwrap().ask("t", "q")).await.unwrap();
    assert_eq!(answer.text.len(), 10 << 20);
    let seen = observations(&script.requests()[1]);
    assert!(seen[0].contains("nested deeper than 100 levels"), "{}", seen[0]);
    assert!(seen[1].contains("at most 1,048,576 are read"), "{}", seen[1]);
    assert!(
        seen.iter().all(|text| text.len() < 2_000),
        "{:?}",
        seen.iter().map(String::len).collect::<Vec<_>>()
    );
    for text in &seen {
        assert!(!text.chars().any(|c| c != '\n' && dbagent_core::text::is_unsafe(c)), "{text:?}");
        assert!(text.lines().filter(|l| l.starts_with("---")).count() <= 2, "{text}");
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[expect(dead_code, reason = "only the schema counts")]
struct Rate {
    currency: String,
    days: Option<Vec<u32>>,
}

#[tokio::test]
async fn arguments_of_every_tool_are_checked_with_path_and_type() {
    let runs = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&runs);
    let rate = tool("rate", "d", ToolHints::READ_ONLY, move |_: Rate| {
        counter.fetch_add(1, Ordering::Relaxed);
        async { Ok(ToolOutput::text("1.08")) }
    });
    let long = format!("{{\"currency\":[\"{}\"]}}", "x".repeat(100_000));
    let script = Script::new([
        calls(&[
            ("rate", "{}"),
            ("rate", "{\"currency\":5}"),
            ("rate", "{\"currency\":\"EUR\",\"days\":[1,\"two\"]}"),
            ("rate", long.as_str()),
            ("rate", "{\"currency\":\"EUR\",\"days\":[1e999]}"),
            ("rate", "{\"currency\":\"EUR\"}"),
        ]),
        says("ok"),
    ]);
    agent(&script).tool(Arc::new(rate)).build().unwrap().ask("t", "q").await.unwrap();
    let seen = observations(&script.requests()[1]);
    assert!(seen[0].contains("currency"), "{}", seen[0]);
    assert!(seen[1].contains("$.currency") && seen[1].contains("string"), "{}", seen[1]);
    assert!(seen[2].contains("$.days[1]"), "{}", seen[2]);
    assert!(seen[3].contains("$.currency") && seen[3].len() < 1_000, "{}", seen[3]);
    assert!(seen[4].contains("$.days[0]"), "{}", seen[4]);
    assert_eq!((seen[5].as_str(), runs.load(Ordering::Relaxed)), ("1.08", 1));
}

#[tokio::test]
async fn a_huge_answer_that_does_not_fit_its_schema_is_not_said_again() {
    let schema = OutputSchema::new("n", json!({"type": "integer"})).unwrap();
    let text = format!("\"{}\"", "x".repeat(10 << 20));
    let script = Script::new([says(&text), says("3")]);
    let answer = agent(&script).output(schema).build().unwrap().ask("t", "q").await.unwrap();
    assert_eq!(answer.structured, Some(json!(3)));
    match script.requests()[1].messages.last().unwrap() {
        Message::User { text } => assert!(text.len() < 2_000, "{} bytes", text.len()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_tool_that_is_gone_when_a_run_is_resumed_is_said_to_be_gone() {
    let store = Arc::new(MemoryStore::new());
    let facts = [
        Fact::RunStarted { run: 1, input: "q".into(), fingerprint: String::new(), setup: None },
        Fact::ModelReplied {
            text: String::new(),
            calls: vec![ToolCall::new("gone", "{}")],
            finish: dbagent_core::model::Finish::ToolCalls,
            usage: Usage::default(),
            model: "m".into(),
            extras: serde_json::Map::new(),
        },
        Fact::CallReady { key: "t1c0".into(), arguments: "{}".into() },
    ];
    let records = facts.into_iter().zip(1..).map(|(fact, seq)| FactRecord { seq, at_ms: 0, fact }).collect();
    store.append("t", 0, records).await.unwrap();
    let script = Script::new([says("ok")]);
    soon(agent(&script).store(store).build().unwrap().resume("t").outcome()).await.unwrap();
    let seen = observations(&script.requests()[0]).remove(0);
    assert!(seen.starts_with("Not run: there is no tool \"gone\""), "{seen}");
}
