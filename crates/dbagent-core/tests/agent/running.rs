//! The agent loop under models, tools and middleware that misbehave.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::support::{Answerer, Script, asks, calls, database, fails, observations, says, soon};
use dbagent_core::agent::OutputSchema;
use dbagent_core::budget::Budgets;
use dbagent_core::event::EventKind;
use dbagent_core::fact::{Fact, RunEnd};
use dbagent_core::middleware::{CallDecision, Middleware};
use dbagent_core::model::{
    Actions, Finish, Message, ModelErrorKind, ModelProfile, Reply, RetryPolicy, ToolCall,
};
use dbagent_core::state::State;
use dbagent_core::store::{MemoryStore, Store};
use dbagent_core::tool::{Arguments, Tool, ToolContext, ToolError, ToolHints, ToolOutput, ToolSpec, tool};
use dbagent_core::{Agent, AgentBuilder, ErrorKind, Guardrails, Result, async_trait, serde_json};
use serde_json::json;

fn agent(script: &Script) -> AgentBuilder {
    Agent::builder(Arc::new(script.clone())).database(database(Guardrails::default())).retry(RetryPolicy {
        retries: 2,
        base: Duration::from_millis(1),
        max: Duration::from_millis(1),
        jitter: 0.0,
    })
}

/// Every call of every reply has exactly one answer, in call order, before the next request.
fn assert_paired(messages: &[Message]) {
    let mut waiting: Vec<String> = Vec::new();
    for message in messages {
        match message {
            Message::Tool(t) => {
                assert!(!waiting.is_empty(), "an answer without a call");
                assert_eq!(waiting.remove(0), t.name);
            }
            Message::Assistant(a) => {
                assert!(waiting.is_empty(), "unanswered: {waiting:?}");
                waiting = a.calls.iter().map(|c| c.name.clone()).collect();
            }
            Message::User { .. } => assert!(waiting.is_empty(), "unanswered: {waiting:?}"),
        }
    }
}

#[tokio::test]
async fn a_question_becomes_facts_artifacts_usage_and_an_answer() {
    let script = Script::new([calls(&[("list_objects", "{}")]), asks("rows 3"), says("three")]);
    let agent = agent(&script).build().unwrap();
    let answer = agent.ask("t", "how many?").await.unwrap();
    assert_eq!((answer.text.as_str(), &answer.end), ("three", &RunEnd::Answered));
    assert_eq!((answer.usage.input, answer.usage.output), (30, 15));
    let kinds: Vec<_> = answer.facts.iter().map(|r| r.fact.kind()).collect();
    assert_eq!(
        kinds,
        [
            "run_started",
            "model_replied",
            "call_ready",
            "call_begun",
            "call_finished",
            "turn_closed",
            "model_replied",
            "call_ready",
            "call_begun",
            "budget_reserved",
            "budget_charged",
            "call_finished",
            "turn_closed",
            "model_replied",
            "run_ended"
        ]
    );
    let keys: Vec<_> = answer.artifacts.iter().map(|(k, _)| k.as_str()).collect();
    assert_eq!(keys, ["t1c0", "t2c0"]);
    let m = agent.metrics().summary();
    assert_eq!((m.queries, m.rows, m.model_calls, m.input_tokens), (1, 3, 3, 30));
}

#[tokio::test]
async fn the_prompt_is_the_dialects_then_the_hosts() {
    let script = Script::new([says("hi")]);
    agent(&script).system("Speak like a pirate.").build().unwrap().ask("t", "q").await.unwrap();
    let request = &script.requests()[0];
    assert!(request.system[0].starts_with("You answer questions about a Words database"));
    assert_eq!(request.system.last().unwrap(), "Speak like a pirate.");
    assert_eq!(
        request.tools.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(),
        ["list_objects", "describe_objects", "count", "sample", "query"]
    );
}

#[tokio::test]
async fn a_thread_goes_on() {
    let script = Script::new([says("one"), says("two")]);
    let agent = agent(&script).build().unwrap();
    agent.ask("t", "first").await.unwrap();
    agent.ask("t", "second").await.unwrap();
    assert_eq!(script.requests()[1].messages.len(), 3);
    agent.ask("other", "x").await.unwrap_err(); // The script has ended: a panic of a model is an error, not ours.
}

#[tokio::test]
async fn bad_calls_are_feedback() {
    let script = Script::new([
        calls(&[
            ("querry", "{}"),
            ("query", "{\"statement\":"),
            ("query", "{\"statement\":\"rows 1\",\"statement\":\"rows 2\"}"),
        ]),
        says("ok"),
    ]);
    agent(&script).build().unwrap().ask("t", "q").await.unwrap();
    let seen = observations(&script.requests()[1]);
    assert!(seen[0].contains("There is no tool \"querry\". Did you mean query?"), "{}", seen[0]);
    assert!(seen[1].contains("the JSON cannot be read"), "{}", seen[1]);
    assert!(seen[2].contains("the key appears twice"), "{}", seen[2]);
}

#[tokio::test]
async fn a_thousand_calls_in_a_reply_are_all_answered_and_few_run() {
    let many = vec![("query", "{\"statement\":\"rows 1\"}"); 1_000];
    let script = Script::new([calls(&many), says("ok")]);
    let agent = agent(&script).build().unwrap();
    agent.ask("t", "q").await.unwrap();
    assert_eq!(observations(&script.requests()[1]).len(), 1_000);
    assert_eq!(agent.metrics().summary().queries, 32);
    assert_paired(&script.requests()[1].messages);
}

#[tokio::test]
async fn the_same_call_for_ever_is_skipped_then_stopped() {
    let script = Script::new((0..20).map(|_| asks("rows 1")));
    let agent = agent(&script).build().unwrap();
    let answer = agent.ask("t", "q").await.unwrap();
    assert!(matches!(answer.end, RunEnd::Stopped(_)), "{:?}", answer.end);
    assert_eq!(agent.metrics().summary().queries, 3);
    assert_eq!(script.left(), 13);
}

#[tokio::test]
async fn an_empty_reply_is_asked_again_and_then_an_error() {
    let script = Script::new([says(" "), says("answer")]);
    assert_eq!(agent(&script).build().unwrap().ask("t", "q").await.unwrap().text, "answer");
    let script = Script::new([says(""), says(""), says("")]);
    let e = agent(&script).build().unwrap().ask("t", "q").await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Model);
}

#[tokio::test]
async fn a_cut_stream_is_retried_and_then_an_error() {
    let script = Script::new([fails(ModelErrorKind::Truncated), says("ok")]);
    assert_eq!(agent(&script).build().unwrap().ask("t", "q").await.unwrap().text, "ok");
    let script = Script::new((0..3).map(|_| fails(ModelErrorKind::Truncated)));
    let agent = agent(&script).build().unwrap();
    let e = agent.ask("t", "q").await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Model);
    // The failed run has ended: the thread can go on.
    let log = agent.store().load("t", 0).await.unwrap();
    assert!(matches!(log.last().unwrap().fact, Fact::RunEnded { why: RunEnd::Failed { .. }, .. }));
}

#[tokio::test]
async fn an_authentication_error_is_not_retried() {
    let script = Script::new([fails(ModelErrorKind::Auth), says("never")]);
    agent(&script).build().unwrap().ask("t", "q").await.unwrap_err();
    assert_eq!(script.left(), 1);
}

/// Answers in the reverse order of its calls: each waits for the one after it.
struct Reversed {
    spec: ToolSpec,
    turn: tokio::sync::watch::Sender<u32>,
}

#[async_trait]
impl Tool for Reversed {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(
        &self,
        _: &ToolContext,
        arguments: Arguments,
    ) -> std::result::Result<ToolOutput, ToolError> {
        let n = u32::try_from(arguments.json().get("n").unwrap().as_u64().unwrap()).unwrap();
        let mut turn = self.turn.subscribe();
        turn.wait_for(|t| *t == n).await.unwrap();
        self.turn.send_replace(n.wrapping_sub(1));
        Ok(ToolOutput::text(n.to_string()))
    }
}

fn spec(name: &str, hints: ToolHints) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: "d".into(),
        parameters: Arc::new(json!({"type": "object"})),
        hints,
    }
}

#[tokio::test]
async fn calls_of_a_turn_run_together_and_are_answered_in_order() {
    let script =
        Script::new([calls(&[("r", "{\"n\":0}"), ("r", "{\"n\":1}"), ("r", "{\"n\":2}")]), says("ok")]);
    let reversed = Reversed { spec: spec("r", ToolHints::READ_ONLY), turn: tokio::sync::watch::channel(2).0 };
    let agent = agent(&script).tool(Arc::new(reversed)).build().unwrap();
    let answer = soon(agent.ask("t", "q")).await.unwrap();
    assert_eq!(observations(&script.requests()[1]), ["0", "1", "2"]);
    let finished: Vec<_> = answer
        .facts
        .iter()
        .filter_map(|r| match &r.fact {
            Fact::CallFinished { key, .. } => Some(key.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(finished, ["t1c2", "t1c1", "t1c0"]);
}

#[tokio::test]
async fn provider_ids_are_never_keys() {
    let same: Answerer = Box::new(|_| {
        let call =
            |id: &str| ToolCall { id: id.into(), ..ToolCall::new("query", "{\"statement\":\"rows 1\"}") };
        Ok(Reply::calls(vec![call(""), call("a"), call("a"), call(&"x".repeat(2_000))]))
    });
    let script = Script::new([same, says("ok")]);
    agent(&script).build().unwrap().ask("t", "q").await.unwrap();
    let request = &script.requests()[1];
    assert_eq!(observations(request).len(), 4);
    assert_paired(&request.messages);
}

#[tokio::test]
async fn at_the_cap_the_tools_go_away_and_the_model_answers() {
    let script = Script::new([asks("rows 1"), asks("rows 2"), says("with what I have")]);
    let budgets = Budgets { turns: 3, ..Budgets::default() };
    let answer = agent(&script).budgets(budgets.clone()).build().unwrap().ask("t", "q").await.unwrap();
    let requests = script.requests();
    assert!(!requests[1].tools.is_empty());
    assert!(requests[2].tools.is_empty());
    assert!(requests[2].system.last().unwrap().starts_with("No tool calls are left"));
    assert_eq!(answer.text, "with what I have");
    assert!(matches!(answer.end, RunEnd::BudgetExhausted(_)));
    // A model that goes on calling is answered and stopped.
    let script = Script::new([asks("rows 1"), asks("rows 2"), asks("rows 3")]);
    let answer = agent(&script).budgets(budgets).build().unwrap().ask("t", "q").await.unwrap();
    assert!(matches!(answer.end, RunEnd::BudgetExhausted(_)));
    assert!(answer.text.contains("used up"), "{}", answer.text);
}

#[tokio::test]
async fn structured_answers_are_checked_and_repaired() {
    let schema = || {
        OutputSchema::new(
            "n",
            json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}),
        )
        .unwrap()
    };
    let script = Script::new([asks("rows 1"), says("It is three."), says("{\"n\": 3}")]);
    let answer = agent(&script).output(schema()).build().unwrap().ask("t", "q").await.unwrap();
    assert_eq!(answer.structured, Some(json!({"n": 3})));
    assert!(script.requests()[2].tools.is_empty());
    let script = Script::new([says("no"), says("{\"n\": \"x\"}"), says("{}")]);
    let e = agent(&script).output(schema()).build().unwrap().ask("t", "q").await.unwrap_err();
    assert!(e.to_string().contains("no usable answer"), "{e}");
}

#[tokio::test]
async fn a_model_without_tool_calls_goes_the_same_road() {
    let mut script = Script::new([
        says("I will look.\n{\"tool\": \"query\", \"args\": {\"statement\": \"rows 2\"}}"),
        says("it is two"),
        says("{\"answer\": \"two\"}"),
    ]);
    script.profile = ModelProfile { actions: Actions::Json, ..ModelProfile::default() };
    let agent = agent(&script).build().unwrap();
    let answer = agent.ask("t", "q").await.unwrap();
    assert_eq!(answer.text, "two");
    assert_eq!(agent.metrics().summary().queries, 1);
    let first = &script.requests()[0];
    assert!(first.tools.is_empty() && first.system.last().unwrap().contains("- query: "));
    // The third request repairs the second reply.
    assert!(
        matches!(script.requests()[2].messages.last().unwrap(), Message::User { text } if text.contains("not one JSON object"))
    );
}

#[tokio::test]
async fn a_cancelled_run_is_closed_and_the_thread_goes_on() {
    let script = Script::new([asks("endless"), says("later")]);
    let agent = agent(&script).build().unwrap();
    let run = agent.start("t", "q");
    let mut events = run.events();
    while let Some(event) = soon(events.next()).await {
        if matches!(event.kind, EventKind::Judged { .. }) {
            run.cancel();
        }
    }
    let e = soon(run.outcome()).await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Cancelled);
    assert_eq!(soon(agent.ask("t", "again")).await.unwrap().text, "later");
    assert_paired(&script.requests()[1].messages);
}

#[tokio::test]
async fn dropping_ask_cancels_and_dropping_events_does_not() {
    let store = Arc::new(MemoryStore::new());
    let script = Script::new([asks("endless"), asks("rows 1"), says("done")]);
    let agent = agent(&script).store(store.clone()).build().unwrap();
    let run = agent.start("t", "q");
    let mut events = run.events();
    let ask = agent.ask("dropped", "q");
    drop(ask); // Never polled: nothing began.
    while let Some(event) = soon(events.next()).await {
        if matches!(event.kind, EventKind::Judged { .. }) {
            break;
        }
    }
    run.cancel();
    soon(run.outcome()).await.unwrap_err();
    let run = agent.start("u", "q");
    drop(run.events());
    assert_eq!(soon(run.outcome()).await.unwrap().text, "done");
    assert_eq!(store.list().await.unwrap(), ["t", "u"]);
}

#[tokio::test]
async fn a_slow_watcher_reads_the_facts_it_missed_from_the_store() {
    let many: Answerer =
        Box::new(|_| Ok(Reply::calls((0..32).map(|_| ToolCall::new("nope", "{}")).collect())));
    let steps = (0..45).map(|_| -> Answerer {
        Box::new(|_| Ok(Reply::calls((0..32).map(|_| ToolCall::new("nope", "{}")).collect())))
    });
    let script = Script::new(std::iter::once(many).chain(steps).chain([says("done")]));
    let budgets = Budgets { tool_calls: 10_000, ..Budgets::default() };
    let agent = agent(&script).budgets(budgets).build().unwrap();
    let run = agent.start("t", "q");
    let mut events = run.events();
    assert_eq!(soon(run.outcome()).await.unwrap().text, "done");
    let mut seen = Vec::new();
    while let Some(event) = soon(events.next()).await {
        seen.extend(event.seq);
    }
    let log = agent.store().load("t", 0).await.unwrap();
    assert_eq!(seen, log.iter().map(|r| r.seq).collect::<Vec<_>>());
}

#[tokio::test]
async fn two_drivers_of_one_thread_do_not_mix() {
    let script = Script::new([asks("endless"), says("x")]);
    let agent = agent(&script).build().unwrap();
    let run = agent.start("t", "q");
    let mut events = run.events();
    soon(events.next()).await.unwrap();
    let second = agent.start("t", "me too");
    let mut none = second.events();
    let last = soon(none.next()).await.unwrap();
    assert!(matches!(last.kind, EventKind::Failed { kind: ErrorKind::Conflict, .. }), "{last:?}");
    assert!(soon(none.next()).await.is_none(), "the events of a run that cannot begin end");
    let e = soon(second.outcome()).await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Conflict);
    run.cancel();
    soon(run.outcome()).await.unwrap_err();
}

struct Hook(&'static str, fn() -> Result<CallDecision>);

#[async_trait]
impl Middleware for Hook {
    fn name(&self) -> &str {
        self.0
    }

    async fn on_call(&self, _: &State, _: &ToolCall, _: &ToolHints) -> Result<CallDecision> {
        (self.1)()
    }
}

fn broken() -> dbagent_core::Error {
    dbagent_core::Error::new(ErrorKind::Internal, "hook")
}

#[tokio::test]
async fn middleware_rewrites_skips_stops_and_fails_closed() {
    let run = async |decision: fn() -> Result<CallDecision>| {
        let script = Script::new([asks("rows 1"), says("ok")]);
        let agent = agent(&script).middleware(Arc::new(Hook("mine", decision))).build().unwrap();
        let answer = agent.ask("t", "q").await.unwrap();
        let seen = script.requests().get(1).map(|r| observations(r).remove(0)).unwrap_or_default();
        (seen, answer.end, agent.metrics().summary().queries)
    };
    let (seen, _, _) = run(|| Ok(CallDecision::Rewrite("{\"statement\":\"rows 2\"}".into()))).await;
    assert!(seen.starts_with("2 rows"), "{seen}");
    assert_eq!(run(|| Ok(CallDecision::Skip("no".into()))).await, ("no".into(), RunEnd::Answered, 0));
    assert_eq!(run(|| Ok(CallDecision::Stop("enough".into()))).await.1, RunEnd::Stopped("enough".into()));
    let (seen, _, queries) = run(|| Err(broken())).await;
    assert!(seen.contains("a check of this program (mine) failed"), "{seen}");
    assert_eq!(queries, 0);
    let (seen, _, queries) = run(|| Ok(CallDecision::Ask("it writes".into()))).await;
    assert!(seen.contains("needs a person's approval"), "{seen}");
    assert_eq!(queries, 0);
}

#[tokio::test]
async fn builders_refuse_what_cannot_work() {
    let script = Script::new([]);
    let replaced =
        agent(&script).middleware(Arc::new(Hook("repeat-guard", || Ok(CallDecision::Run)))).build();
    assert!(replaced.unwrap_err().to_string().contains("required"));
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Nothing {}
    let named = |name: &str| {
        Arc::new(tool(name, "d", ToolHints::READ_ONLY, async |_: Nothing| Ok(ToolOutput::text(""))))
    };
    assert!(agent(&script).tool(named("query")).build().unwrap_err().to_string().contains("two tools"));
    assert!(
        agent(&script)
            .tool(named("bad name"))
            .build()
            .unwrap_err()
            .to_string()
            .contains("no name for a tool")
    );
    let none = Budgets { turns: 0, ..Budgets::default() };
    assert!(agent(&script).budgets(none).build().unwrap_err().to_string().contains("turns"));
}

struct Odd {
    spec: ToolSpec,
    attempts: AtomicU32,
}

#[async_trait]
impl Tool for Odd {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(
        &self,
        _: &ToolContext,
        arguments: Arguments,
    ) -> std::result::Result<ToolOutput, ToolError> {
        match arguments.raw() {
            "{\"do\":\"panic\"}" => panic!("inside"),
            "{\"do\":\"hang\"}" => std::future::pending().await,
            "{\"do\":\"fatal\"}" => {
                Err(ToolError::Fatal(dbagent_core::Error::new(ErrorKind::Io, "disk gone")))
            }
            "{\"do\":\"long\"}" => Ok(ToolOutput::text("x".repeat(100_000))),
            _ => match self.attempts.fetch_add(1, Ordering::Relaxed) {
                0 => Err(ToolError::Retry { message: "busy".into(), after: Duration::from_millis(1) }),
                _ => Ok(ToolOutput::text("second time")),
            },
        }
    }
}

#[tokio::test(start_paused = true)]
async fn odd_tools_cannot_hang_or_break_a_run() {
    let observed = async |argument: &str| {
        let script = Script::new([calls(&[("odd", argument)]), says("ok")]);
        let hints = ToolHints { timeout: Some(Duration::from_secs(5)), ..ToolHints::READ_ONLY };
        let odd = Odd { spec: spec("odd", hints), attempts: AtomicU32::new(0) };
        let agent = agent(&script).tool(Arc::new(odd)).build().unwrap();
        agent.ask("t", "q").await.map(|_| observations(&script.requests()[1]).remove(0))
    };
    assert!(observed("{\"do\":\"panic\"}").await.unwrap().contains("failed inside"));
    assert!(observed("{\"do\":\"hang\"}").await.unwrap().contains("past its time limit"));
    assert!(
        observed("{\"do\":\"long\"}")
            .await
            .unwrap()
            .starts_with("REFUSED: the output has about 33,334 tokens")
    );
    assert_eq!(observed("{}").await.unwrap(), "second time");
    let e = observed("{\"do\":\"fatal\"}").await.unwrap_err();
    assert_eq!((e.kind(), e.message()), (ErrorKind::Io, "disk gone"));
}

#[tokio::test]
async fn a_reply_that_was_cut_at_its_length_says_so() {
    let cut: Answerer = Box::new(|_| Ok(Reply { finish: Finish::Length, ..Reply::text("half an ans") }));
    let script = Script::new([cut]);
    let answer = agent(&script).build().unwrap().ask("t", "q").await.unwrap();
    assert!(matches!(answer.end, RunEnd::BudgetExhausted(_)));
}
