//! The light agent as a host builds it.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;

use dbagent::catalog::{Described, ObjectPage, Page};
use dbagent::context::CallContext;
use dbagent::estimate::Estimate;
use dbagent::guard::{Needs, Resolution, StatementClass};
use dbagent::metrics::Price;
use dbagent::model::{Model, ModelError, ModelEvent, ModelProfile, ModelRequest, ModelStream, Reply, Usage};
use dbagent::rows::Sink;
use dbagent::session::{Cleared, Outcome};
use dbagent::store::{MemoryStore, Store as _};
use dbagent::{
    ConnUrl, Credential, Dialect, Effects, Error, ErrorKind, GuardedSession, Guardrails, LightAgent,
    LightAgentBuilder, OpenContext, ParseContext, Parsed, Policy, Request, Result, Session, Target,
    async_trait,
};
use futures_core::future::BoxFuture;
use futures_util::{StreamExt as _, stream};

static EMPTY: Dialect = Dialect::new("empty", parse, open);

#[expect(clippy::unnecessary_wraps, reason = "the form of every parser")]
fn parse(_: &Request, _: &ParseContext) -> Result<Parsed> {
    Ok(Parsed::new(StatementClass::Read, Effects::READ))
}

fn open<'a>(_: &'a Target, _: &'a OpenContext) -> BoxFuture<'a, Result<Box<dyn Session>>> {
    Box::pin(async { Ok(Box::new(Empty) as Box<dyn Session>) })
}

struct Empty;

#[async_trait]
impl Session for Empty {
    async fn resolve(&self, _: &Needs, _: &CallContext) -> Result<Resolution> {
        Ok(Resolution::live())
    }
    async fn objects(&self, _: Option<&str>, _: Page, _: &CallContext) -> Result<ObjectPage> {
        Ok(ObjectPage::default())
    }
    async fn describe(&self, _: &[dbagent::ObjectName], _: &CallContext) -> Result<Described> {
        Ok(Described::default())
    }
    async fn estimate(&self, _: &Cleared, _: &CallContext) -> Result<Outcome<Estimate>> {
        Ok(Ok(Estimate::UNKNOWN))
    }
    async fn read(&self, _: Cleared, _: Sink, _: &CallContext) -> Result<Outcome<()>> {
        Err(Error::new(ErrorKind::Unsupported, "empty"))
    }
}

/// Says how many messages it was sent.
struct Counting;

#[async_trait]
impl Model for Counting {
    fn id(&self) -> &'static str {
        "counting"
    }
    fn profile(&self) -> ModelProfile {
        ModelProfile::default()
    }
    async fn stream(&self, request: ModelRequest) -> std::result::Result<ModelStream, ModelError> {
        let reply = Reply::text(request.messages.len().to_string());
        Ok(stream::iter([Ok(ModelEvent::End(reply))]).boxed())
    }
}

fn session() -> GuardedSession {
    GuardedSession::over(
        &EMPTY,
        Target::new("main", ConnUrl::parse("empty://here").unwrap()),
        Box::new(Empty),
    )
}

fn over_session() -> LightAgentBuilder {
    LightAgent::builder().session(session()).model(Arc::new(Counting))
}

#[test]
fn what_a_session_would_ignore_is_an_error() {
    over_session().build().unwrap();
    for (what, builder) in [
        ("policy", over_session().policy(Policy::default().deny("secret").unwrap())),
        ("guardrails", over_session().guardrails(Guardrails { default_rows: 5, ..Guardrails::default() })),
        ("credential", over_session().credential(Credential::new().set("user", "bob"))),
        ("name", over_session().name("other")),
    ] {
        let e = builder.build().unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Config, "{what}");
        assert!(e.to_string().contains(what), "{e}");
    }
}

#[tokio::test]
async fn agents_that_share_a_store_do_not_share_their_threads() {
    let store = MemoryStore::new();
    let agent = || over_session().store(Arc::new(store.clone())).build().unwrap();
    for agent in [agent(), agent()] {
        for _ in 0..2 {
            assert_eq!(agent.ask("q").await.unwrap().text, "1", "a new thread begins with the question");
        }
    }
    assert_eq!(store.list().await.unwrap().len(), 4);
}

#[tokio::test]
async fn a_thread_goes_on_and_its_run_can_be_watched() {
    let agent = over_session().build().unwrap();
    let thread = agent.new_thread();
    assert_eq!(agent.ask_on(&thread, "q").await.unwrap().text, "1");
    let run = agent.stream(&thread, "q");
    let mut events = run.events();
    let mut facts = 0;
    while let Some(event) = events.next().await {
        facts += usize::from(event.seq.is_some());
    }
    assert_eq!((facts, run.outcome().await.unwrap().text.as_str()), (3, "3"));
}

#[test]
fn what_is_missing_or_wrong_says_what_to_do() {
    let model = || LightAgent::builder().model(Arc::new(Counting));
    for (builder, expected) in [
        (model(), "no database is given"),
        (model().url("empty://x").session(session()), "both a URL and a session"),
        (model().url("nonsense"), "has no scheme"),
        (
            model().url("empty://x").dialect(&EMPTY).credential(Credential::new().set("usr", "x")),
            "unknown credential key",
        ),
    ] {
        let e = builder.build().unwrap_err();
        assert!(e.to_string().contains(expected), "{e}");
        assert!(e.hint_text().is_some() || e.to_string().contains("known keys"), "{e}");
    }
}

#[tokio::test]
async fn a_light_agent_takes_what_every_agent_takes() {
    struct Answerer;
    #[async_trait]
    impl Model for Answerer {
        fn id(&self) -> &'static str {
            "answerer"
        }
        fn profile(&self) -> ModelProfile {
            ModelProfile::default()
        }
        async fn stream(&self, request: ModelRequest) -> std::result::Result<ModelStream, ModelError> {
            let usage = Usage { input: 3, output: 2, ..Usage::default() };
            let text = format!(
                "{} {:?}",
                request.system.last().map(String::as_str).unwrap_or_default(),
                request.temperature,
            );
            Ok(stream::iter([Ok(ModelEvent::End(Reply { usage, ..Reply::text(text) }))]).boxed())
        }
    }
    let agent = LightAgent::builder()
        .session(session())
        .model(Arc::new(Answerer))
        .system("Be brief.")
        .temperature(0.5)
        .price(Price::new(1.0, 10.0))
        .host_object(Arc::new(7_u8))
        .trace_content()
        .build()
        .unwrap();
    let answer = agent.ask("q").await.unwrap();
    assert_eq!((answer.text.as_str(), answer.usage.cost_micros), ("Be brief. Some(0.5)", Some(23)));
}
