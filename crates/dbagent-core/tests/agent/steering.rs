//! A thread that goes on under another agent, and one that is spoken to between its turns.

use std::sync::{Arc, Mutex};

use crate::support::{Answerer, DIALECT, Script, asks, calls, database, observations, says, soon};
use dbagent_core::budget::Budgets;
use dbagent_core::event::EventKind;
use dbagent_core::fact::{Fact, FactRecord, RunEnd};
use dbagent_core::model::{Message, Model, ModelError, ModelProfile, ModelRequest, ModelStream, Reply};
use dbagent_core::setup::SetupChange;
use dbagent_core::state::State;
use dbagent_core::store::{MemoryStore, Store};
use dbagent_core::tool::{ToolHints, ToolOutput, tool};
use dbagent_core::{
    Agent, AgentBuilder, ConnUrl, Database, ErrorKind, Guardrails, Policy, Target, async_trait,
};
use tokio::sync::Notify;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[expect(dead_code, reason = "only the schema counts")]
struct Recipient {
    to: Option<String>,
}

/// A script under another name.
struct Named(&'static str, Script);

#[async_trait]
impl Model for Named {
    fn id(&self) -> &str {
        self.0
    }
    fn profile(&self) -> ModelProfile {
        self.1.profile()
    }
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        self.1.stream(request).await
    }
}

fn agent(name: &'static str, script: &Script, policy: Policy) -> AgentBuilder {
    let mut target = Target::new("main", ConnUrl::parse("words://here").unwrap());
    target.policy = policy;
    Agent::builder(Arc::new(Named(name, script.clone()))).database(Database::new(&DIALECT, target))
}

fn mail() -> Arc<dyn dbagent_core::tool::Tool> {
    Arc::new(tool("mail", "Sends.", ToolHints::READ_ONLY, async |_: Nothing| Ok(ToolOutput::text("sent"))))
}

fn mail_to() -> Arc<dyn dbagent_core::tool::Tool> {
    Arc::new(tool("mail", "Sends.", ToolHints::READ_ONLY, async |_: Recipient| Ok(ToolOutput::text("sent"))))
}

/// A store with a run that stopped before the calls of its first reply were looked at.
async fn interrupted(asked: &[(&str, &str)]) -> Arc<MemoryStore> {
    let whole = Arc::new(MemoryStore::new());
    let script = Script::new([calls(asked), says("done")]);
    let agent = agent("a", &script, Policy::default()).tool(mail()).store(whole.clone()).build().unwrap();
    agent.ask("t", "q").await.unwrap();
    let log = whole.load("t", 0).await.unwrap();
    let at = log.iter().position(|r| matches!(r.fact, Fact::ModelReplied { .. })).unwrap();
    let store = Arc::new(MemoryStore::new());
    store.append("t", 0, log[..=at].to_vec()).await.unwrap();
    store
}

const QUERY: (&str, &str) = ("query", "{\"statement\":\"rows 1\"}");

#[tokio::test]
async fn another_model_or_prompt_is_told_and_the_run_goes_on() {
    let store = interrupted(&[QUERY]).await;
    let script = Script::new([says("done")]);
    let other = agent("b", &script, Policy::default()).tool(mail()).system("Be brief.").store(store.clone());
    let run = other.build().unwrap().resume("t");
    let mut events = run.events();
    let told = soon(events.next()).await.unwrap();
    match told.kind {
        EventKind::SetupChanged { changes } => assert_eq!(
            changes,
            [SetupChange::Model { from: "a".into(), to: "b".into() }, SetupChange::Prompt]
        ),
        other => panic!("{other:?}"),
    }
    assert_eq!(soon(run.outcome()).await.unwrap().text, "done");
    // From here on the log speaks of the agent that goes on.
    let log = store.load("t", 0).await.unwrap();
    assert!(log.iter().any(|r| matches!(&r.fact, Fact::RunResumed { setup } if setup.model == "b")));
    assert_eq!(State::fold(&log).unwrap().run.setup.unwrap().model, "b");
}

#[tokio::test]
async fn nothing_is_told_of_an_agent_that_is_made_as_before() {
    let store = interrupted(&[QUERY]).await;
    let script = Script::new([says("done"), says("again")]);
    let same = agent("a", &script, Policy::default()).tool(mail()).store(store.clone()).build().unwrap();
    for run in [same.resume("t"), same.start("u", "q")] {
        let mut events = run.events();
        while let Some(event) = soon(events.next()).await {
            assert!(!matches!(event.kind, EventKind::SetupChanged { .. }), "{event:?}");
        }
        soon(run.outcome()).await.unwrap();
    }
    let log = store.load("t", 0).await.unwrap();
    assert!(!log.iter().any(|r| matches!(r.fact, Fact::RunResumed { .. })));
}

#[tokio::test]
async fn a_tool_or_a_policy_that_an_open_call_depends_on_stops_the_resumption() {
    let store = interrupted(&[QUERY, ("mail", "{}")]).await;
    let before = store.load("t", 0).await.unwrap();
    let deny = || Policy::default().deny("secrets").unwrap();
    let silent = || Script::new(Vec::<Answerer>::new());
    let with_mail = |policy| agent("a", &silent(), policy).store(store.clone());
    for (builder, what) in [
        (with_mail(deny()).tool(mail()), "the policy or the access of the database \"main\" is another one"),
        (with_mail(Policy::default()).tool(mail_to()), "the tool \"mail\" takes other arguments"),
        (with_mail(Policy::default()), "the tool \"mail\" is gone"),
    ] {
        let run = builder.build().unwrap().resume("t");
        let mut events = run.events();
        let e = soon(run.outcome()).await.unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Config);
        assert!(e.to_string().contains(what), "{e}");
        assert!(e.hint_text().unwrap().contains("abandon"), "{e}");
        let told = soon(events.next()).await.unwrap();
        assert!(matches!(told.kind, EventKind::Failed { kind: ErrorKind::Config, .. }), "{told:?}");
    }
    assert_eq!(store.load("t", 0).await.unwrap(), before, "nothing was written");
}

#[tokio::test]
async fn a_change_that_no_open_call_depends_on_is_told() {
    let store = interrupted(&[QUERY]).await;
    let script = Script::new([says("done")]);
    let run =
        agent("a", &script, Policy::default()).tool(mail_to()).store(store).build().unwrap().resume("t");
    let mut events = run.events();
    let told = soon(events.next()).await.unwrap();
    assert!(
        matches!(&told.kind, EventKind::SetupChanged { changes } if *changes == [SetupChange::Tool("mail".into())]),
        "{told:?}"
    );
    soon(run.outcome()).await.unwrap();
}

#[tokio::test]
async fn a_new_question_under_another_policy_is_told_too() {
    let store = Arc::new(MemoryStore::new());
    let (first, second) = (Script::new([says("one")]), Script::new([says("two")]));
    agent("a", &first, Policy::default()).store(store.clone()).build().unwrap().ask("t", "q").await.unwrap();
    let deny = Policy::default().deny("secrets").unwrap();
    let run = agent("a", &second, deny).store(store).build().unwrap().start("t", "and now?");
    let mut events = run.events();
    let told = soon(events.next()).await.unwrap();
    assert!(
        matches!(&told.kind, EventKind::SetupChanged { changes } if *changes == [SetupChange::Policy("main".into())]),
        "{told:?}"
    );
    assert_eq!(soon(run.outcome()).await.unwrap().text, "two");
}

#[tokio::test]
async fn an_interrupted_run_can_be_given_up() {
    let store = interrupted(&[QUERY, ("mail", "{}")]).await;
    let script = Script::new([says("fresh")]);
    let other = agent("a", &script, Policy::default()).store(store.clone()).build().unwrap();
    soon(other.abandon("t")).await.unwrap();
    let state = State::fold(&store.load("t", 0).await.unwrap()).unwrap();
    assert_eq!(state.run.ended, Some(RunEnd::Cancelled));
    assert_eq!(other.abandon("t").await.unwrap_err().kind(), ErrorKind::InvalidRequest);
    assert_eq!(other.ask("t", "again").await.unwrap().text, "fresh");
    let before = script.requests()[0].messages.to_vec();
    let answers = before.iter().filter(|m| matches!(m, Message::Tool(t) if t.is_error)).count();
    assert_eq!(answers, 2, "{before:?}");
}

/// Says what a script says once it is let, and tells when it was asked.
struct Held {
    script: Script,
    asked: Arc<Notify>,
    go: Arc<Notify>,
    /// Which requests are held, from 0.
    at: Vec<usize>,
    count: Mutex<usize>,
}

#[async_trait]
impl Model for Held {
    fn id(&self) -> &'static str {
        "held"
    }
    fn profile(&self) -> ModelProfile {
        self.script.profile()
    }
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let n = {
            let mut count = self.count.lock().unwrap();
            *count += 1;
            *count - 1
        };
        if self.at.contains(&n) {
            self.asked.notify_one();
            self.go.notified().await;
        }
        self.script.stream(request).await
    }
}

/// An agent whose model is held at these requests.
fn held(script: &Script, at: &[usize], budgets: Budgets) -> (Agent, Arc<Notify>, Arc<Notify>) {
    let (asked, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let model = Held {
        script: script.clone(),
        asked: asked.clone(),
        go: go.clone(),
        at: at.to_vec(),
        count: Mutex::new(0),
    };
    let agent = Agent::builder(Arc::new(model)).database(database(Guardrails::default())).budgets(budgets);
    (agent.build().unwrap(), asked, go)
}

/// What was said to the model, the answers of tools left out.
fn users(request: &ModelRequest) -> Vec<&str> {
    let said = request.messages.iter().filter_map(|m| match m {
        Message::User { text } => Some(text.as_str()),
        _ => None,
    });
    said.collect()
}

/// Speaks to the thread while the model is held, then lets it go on.
async fn say(agent: &Agent, asked: &Notify, go: &Notify, text: &str) {
    soon(asked.notified()).await;
    let (other, text) = (agent.clone(), text.to_owned());
    let said = tokio::spawn(async move { other.inject("t", text).await });
    // The message is on its way before the model answers.
    tokio::task::yield_now().await;
    go.notify_one();
    soon(said).await.unwrap().unwrap();
}

#[tokio::test]
async fn what_is_said_meanwhile_is_read_after_the_answers_of_the_turn() {
    let script = Script::new([asks("rows 1"), says("in euros")]);
    let (agent, asked, go) = held(&script, &[0], Budgets::default());
    let run = agent.start("t", "how much?");
    say(&agent, &asked, &go, "In euros, please.").await;
    let answer = soon(run.outcome()).await.unwrap();
    assert_eq!(answer.text, "in euros");
    let kinds: Vec<_> = script.requests()[1].messages.iter().map(|m| format!("{m:?}")).collect();
    assert!(kinds[2].starts_with("Tool") && kinds[3].contains("In euros, please."), "{kinds:?}");
    assert!(observations(&script.requests()[0]).is_empty());
    let injected = |r: &FactRecord| matches!(&r.fact, Fact::MessageInjected { text, by } if text == "In euros, please." && by == "host");
    assert_eq!(answer.facts.iter().filter(|r| injected(r)).count(), 1);
}

#[tokio::test]
async fn an_answer_that_was_written_without_it_is_not_the_last_word() {
    let script = Script::new([says("12 dollars"), says("11 euros")]);
    let (agent, asked, go) = held(&script, &[0], Budgets::default());
    let run = agent.start("t", "how much?");
    say(&agent, &asked, &go, "In euros, please.").await;
    assert_eq!(soon(run.outcome()).await.unwrap().text, "11 euros");
    assert_eq!(users(&script.requests()[1]), ["how much?", "In euros, please."]);
}

#[tokio::test]
async fn at_the_cap_the_run_ends_and_the_next_one_reads_it() {
    let script = Script::new([says("12 dollars"), says("11 euros")]);
    let (agent, asked, go) = held(&script, &[0], Budgets { turns: 1, ..Budgets::default() });
    let run = agent.start("t", "how much?");
    say(&agent, &asked, &go, "In euros, please.").await;
    assert_eq!(soon(run.outcome()).await.unwrap().text, "12 dollars");
    assert_eq!(soon(agent.ask("t", "well?")).await.unwrap().text, "11 euros");
    assert_eq!(users(&script.requests()[1]), ["how much?", "In euros, please.", "well?"]);
}

#[tokio::test]
async fn a_thread_that_rests_is_spoken_to_in_its_log() {
    let script = Script::new([says("one"), says("two")]);
    let (agent, ..) = held(&script, &[], Budgets::default());
    assert_eq!(agent.inject("t", "x").await.unwrap_err().kind(), ErrorKind::InvalidRequest);
    agent.ask("t", "q").await.unwrap();
    agent.inject("t", "Be brief.").await.unwrap();
    agent.ask("t", "and?").await.unwrap();
    assert_eq!(users(&script.requests()[1]), ["q", "Be brief.", "and?"]);
}

#[tokio::test]
async fn a_run_that_just_began_hears_and_one_of_another_agent_does_not() {
    let script = Script::new([says("one"), says("two")]);
    let (agent, asked, go) = held(&script, &[0], Budgets::default());
    let store = agent.store().clone();
    let run = agent.start("t", "q");
    // Nothing of the run has happened yet: it has not even been polled.
    let early = agent.clone();
    let said = tokio::spawn(async move { early.inject("t", "first").await });
    soon(asked.notified()).await;
    let stranger =
        Agent::builder(Arc::new(Script::new(Vec::<Answerer>::new()))).store(store).build().unwrap();
    let e = stranger.inject("t", "x").await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Conflict);
    go.notify_one();
    soon(said).await.unwrap().unwrap();
    soon(run.outcome()).await.unwrap();
    assert!(script.requests().iter().any(|r| users(r) == ["q", "first"]));
}

#[tokio::test]
async fn what_was_said_within_a_turn_survives_the_process() {
    let store = interrupted(&[QUERY]).await;
    let script = Script::new([says("done")]);
    let agent = agent("a", &script, Policy::default()).tool(mail()).store(store).build().unwrap();
    agent.inject("t", "Hurry.").await.unwrap();
    soon(agent.resume("t").outcome()).await.unwrap();
    let messages = &script.requests()[0].messages;
    assert!(matches!(&messages[2], Message::Tool(_)), "{messages:?}");
    assert!(matches!(&messages[3], Message::User { text } if text == "Hurry."), "{messages:?}");
}

#[test]
fn the_fold_keeps_what_is_said_until_the_calls_are_answered() {
    let mut state = State::default();
    let mut seq = 0;
    let mut add = |state: &mut State, fact: Fact| {
        seq += 1;
        state.apply(&FactRecord { seq, at_ms: 0, fact }).unwrap();
    };
    add(&mut state, Fact::RunStarted { run: 1, input: "q".into(), fingerprint: String::new(), setup: None });
    add(
        &mut state,
        Fact::ModelReplied {
            text: String::new(),
            calls: Reply::calls(vec![dbagent_core::model::ToolCall::new("query", "{}")]).calls,
            finish: dbagent_core::model::Finish::ToolCalls,
            usage: dbagent_core::model::Usage::default(),
            model: "m".into(),
            extras: dbagent_core::serde_json::Map::new(),
        },
    );
    for text in ["a", "b"] {
        add(&mut state, Fact::MessageInjected { text: text.into(), by: "host".into() });
    }
    assert_eq!((state.messages.len(), state.injected.len()), (2, 2));
    add(
        &mut state,
        Fact::CallFinished { key: "t1c0".into(), text: "1".into(), is_error: false, artifact: None },
    );
    add(&mut state, Fact::TurnClosed { turn: 1 });
    let last: Vec<String> = state.messages[2..].iter().map(|m| format!("{m:?}")).collect();
    assert!(
        last[0].starts_with("Tool") && last[1].contains("\"a\"") && last[2].contains("\"b\""),
        "{last:?}"
    );
    assert!(state.injected.is_empty());
}
