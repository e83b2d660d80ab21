//! A canary in every place that can hold a credential, and a search for it in everything that prints.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{DIALECT, Script, WORDS, asks, calls, database, says, soon};
use dbagent_core::context::CallContext;
use dbagent_core::session::Verdict;
use dbagent_core::{
    Access, Agent, ConnUrl, Credential, CredentialKey, Database, Dialect, Error, ErrorKind, GuardedSession,
    Guardrails, OpenContext, Param, Params, Registry, Request, Result, Secret, Session, Target,
};
use futures_core::future::BoxFuture;

const CANARY: &str = "c4n4ry";

fn assert_silent(what: &str, text: &str) {
    assert!(!text.contains(CANARY), "{what} shows a secret: {text}");
}

fn silent(what: &str, value: &impl Debug) {
    assert_silent(what, &format!("{value:?}"));
    assert_silent(what, &format!("{value:#?}"));
}

/// Everything of an error that anyone prints.
fn silent_error(what: &str, e: &Error) {
    silent(what, e);
    assert_silent(what, &e.to_string());
    assert_silent(what, e.hint_text().unwrap_or_default());
    assert_silent(what, &format!("{:?}", e.context()));
    let mut source = std::error::Error::source(e);
    while let Some(inner) = source {
        silent(what, &inner);
        assert_silent(what, &inner.to_string());
        source = inner.source();
    }
}

static KEYS: &[CredentialKey] = &[
    CredentialKey::new("user", "account"),
    CredentialKey::new("password", "password").aliases(&["pass"]).secret(),
    CredentialKey::new("connect_timeout", "seconds"),
];
static LOCKED: Dialect = Dialect::new("locked", |r, c| DIALECT.parse(r, c), refuse).credential_keys(KEYS);

static OPEN: Dialect = WORDS.credential_keys(KEYS);

fn refuse<'a>(_: &'a Target, _: &'a OpenContext) -> BoxFuture<'a, Result<Box<dyn Session>>> {
    Box::pin(async { Err(Error::new(ErrorKind::Authentication, "the login was refused")) })
}

fn target(dialect: &str) -> Target {
    let url = format!("{dialect}://h/db?api_key={CANARY}&sslmode=require");
    let mut target = Target::new("main", ConnUrl::parse(&url).unwrap());
    target.credential = Credential::new().set("user", "bob").set("pass", CANARY);
    target
}

#[test]
fn nothing_that_holds_a_credential_prints_it() {
    let url = ConnUrl::parse(&format!("words://bob:{CANARY}@h/x?token={CANARY}")).unwrap();
    silent("ConnUrl", &url);
    assert_silent("ConnUrl", &url.to_string());
    silent("Secret", &Secret::new(CANARY));
    silent("Credential", &Credential::new().set("password", CANARY));
    silent("Target", &target("words"));
    let call = CallContext::within(Duration::from_secs(60));
    let open = OpenContext { call, access: Access::Read, guardrails: Guardrails::default() };
    silent("OpenContext", &open);
    let request = Request::text("rows 1").with_params(Params::Positional(vec![
        Param::Text(CANARY.into()),
        Param::Bytes(CANARY.into()),
        Param::Decimal(CANARY.into()),
    ]));
    silent("Request", &request);
    let agent = Agent::builder(Arc::new(Script::new([]))).database(Database::new(&DIALECT, target("words")));
    silent("Agent", &agent.build().unwrap());
}

#[tokio::test]
async fn nothing_that_fails_on_a_credential_prints_it() {
    let call = CallContext::within(Duration::from_secs(60));
    for text in [
        format!("words://bob:{CANARY}%zz@h"),
        format!("words://bob:%ff{CANARY}@h"),
        format!("bob:{CANARY}@h"),
        format!("wo rds://bob:{CANARY}@h"),
        format!("words://bob:{CANARY}\n@h"),
        format!("words://h?password={CANARY}%"),
    ] {
        let e = ConnUrl::parse(&text).unwrap_err();
        silent("UrlError", &e);
        assert_silent("UrlError", &e.to_string());
        silent_error("URL", &e.into());
    }
    let url = ConnUrl::parse(&format!("unknown://bob:{CANARY}@h")).unwrap();
    silent_error("scheme", &Registry::empty().for_url(&url).unwrap_err());
    silent_error("scheme", &Registry::empty().with(&DIALECT).for_url(&url).unwrap_err());
    for (what, credential) in [
        ("unknown key", Credential::new().set("pasword", CANARY)),
        ("twice", Credential::new().set("pass", CANARY).set("password", CANARY)),
        ("number", Credential::new().set("connect_timeout", CANARY)),
        ("refused", Credential::new().set("pass", CANARY)),
    ] {
        let target = Target { credential, ..target("locked") };
        let e = GuardedSession::open(&LOCKED, target, &call).await.err().unwrap();
        silent_error(what, &e);
    }
    let both =
        Target { url: ConnUrl::parse(&format!("locked://bob:{CANARY}@h")).unwrap(), ..target("locked") };
    let e = GuardedSession::open(&LOCKED, both, &call).await.err().unwrap();
    assert!(e.kind() == ErrorKind::Config && e.to_string().contains("given twice"), "{e}");
    silent_error("both", &e);
}

#[tokio::test]
async fn a_user_in_the_url_and_a_password_beside_it_are_not_given_twice() {
    let call = CallContext::within(Duration::from_secs(60));
    let user = || Credential::new().set("user", "bob");
    let pass = || Credential::new().set("pass", CANARY);
    for (url, credential, kind, said) in [
        ("locked://bob@h", pass(), ErrorKind::Authentication, "the login was refused"),
        ("locked://:x@h", user(), ErrorKind::Authentication, "the login was refused"),
        ("locked://bob@h", user(), ErrorKind::Config, "the user of \"main\" is given twice"),
        ("locked://bob:x@h", pass(), ErrorKind::Config, "the password of \"main\" is given twice"),
        ("locked://bob:x@h", user(), ErrorKind::Config, "the user of \"main\" is given twice"),
    ] {
        let target = Target { url: ConnUrl::parse(url).unwrap(), credential, ..target("locked") };
        let e = GuardedSession::open(&LOCKED, target, &call).await.err().unwrap();
        assert!(e.kind() == kind && e.to_string().contains(said), "{url}: {e}");
        silent_error(url, &e);
    }
}

#[tokio::test]
async fn no_prompt_fact_or_event_of_a_run_holds_a_credential() {
    let url = format!("words://h/db?api_key={CANARY}");
    let in_credential = Credential::new().set("user", "bob").set("pass", CANARY);
    for (url, credential) in [(url, in_credential), (format!("words://bob:{CANARY}@h/db"), Credential::new())]
    {
        let target = Target { credential, ..Target::new("main", ConnUrl::parse(&url).unwrap()) };
        let all = ["rows 2", "fail", "gone", "write", "nonsense"];
        let all = all.map(|statement| format!("{{\"statement\":\"{statement}\"}}"));
        let mut asked: Vec<(&str, &str)> = all.iter().map(|a| ("query", a.as_str())).collect();
        asked.push(("list_objects", "{}"));
        let script = Script::new([calls(&asked), says("ok")]);
        let agent = Agent::builder(Arc::new(script.clone())).database(Database::new(&OPEN, target));
        let run = agent.build().unwrap().start("t", "q");
        let mut events = run.events();
        let mut kinds = 0;
        while let Some(event) = soon(events.next()).await {
            silent("an event", &event);
            kinds += 1;
        }
        let answer = soon(run.outcome()).await.unwrap();
        assert!(kinds > 10 && answer.facts.len() > 10, "{kinds} events");
        for fact in &answer.facts {
            assert_silent("a fact", &fact.to_json().unwrap());
        }
        silent("an answer", &answer);
        assert_eq!(script.requests().len(), 2);
        silent("a request to the model", &script.requests());
    }
}

#[tokio::test]
async fn what_was_judged_prints_no_bound_value() {
    let call = CallContext::within(Duration::from_secs(60));
    let session = database(Guardrails::default()).session(&call).await.unwrap().clone();
    let named = Params::Named(vec![("p".into(), Param::Text(CANARY.into()))]);
    for (text, params) in [("rows 1", Params::None), ("rows 1", named), ("write", Params::None)] {
        let verdict = session.judge(Request::text(text).with_params(params), None, &call).await.unwrap();
        silent("Verdict", &verdict);
        if let Verdict::Cleared(cleared) = &verdict {
            silent("Cleared", cleared);
        }
    }
}

/// Keeps every field of every span and event, as a log with everything on would.
#[derive(Clone, Default)]
struct Everything(Arc<Mutex<String>>);

impl tracing::field::Visit for Everything {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn Debug) {
        self.0.lock().unwrap().push_str(&format!(" {field}={value:?}"));
    }
}

impl tracing::Subscriber for Everything {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, span: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        self.0.lock().unwrap().push_str(&format!("\n[{}]", span.metadata().name()));
        span.record(&mut self.clone());
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, values: &tracing::span::Record<'_>) {
        values.record(&mut self.clone());
    }
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        self.0.lock().unwrap().push_str(&format!("\n({})", event.metadata().name()));
        event.record(&mut self.clone());
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test]
async fn statements_stand_in_traces_only_when_the_host_says_so() {
    for content in [false, true] {
        let seen = Everything::default();
        let guard = tracing::subscriber::set_default(seen.clone());
        let script = Script::new([asks("rows 1"), says("ok")]);
        let builder = Agent::builder(Arc::new(script)).database(database(Guardrails::default()));
        let builder = if content { builder.trace_content() } else { builder };
        soon(builder.build().unwrap().ask("t", "q")).await.unwrap();
        drop(guard);
        assert_eq!(seen.0.lock().unwrap().contains("db.query.text=\"rows 1\""), content);
    }
}

#[tokio::test]
async fn traces_name_what_runs_and_hold_neither_statements_nor_values() {
    let seen = Everything::default();
    let guard = tracing::subscriber::set_default(seen.clone());
    let query = format!("{{\"statement\":\"rows 2 {CANARY}\"}}");
    let wrong = format!("{{\"statement\":\"rows 1\",\"params\":[\"{CANARY}\"]}}");
    let script = Script::new([
        calls(&[("query", query.as_str()), ("query", wrong.as_str()), (CANARY, "{}")]),
        says(CANARY),
    ]);
    let agent = Agent::builder(Arc::new(script)).database(Database::new(&DIALECT, {
        let mut target = target("words");
        target.credential = Credential::new();
        target
    }));
    soon(agent.build().unwrap().ask("t", CANARY)).await.unwrap();
    drop(guard);
    let text = seen.0.lock().unwrap().clone();
    assert_silent("a trace", &text);
    for part in [
        "[invoke_agent]",
        "gen_ai.operation.name=\"invoke_agent\"",
        "gen_ai.conversation.id=\"t\"",
        "[chat]",
        "gen_ai.request.model=\"script\"",
        "gen_ai.usage.input_tokens=10",
        "gen_ai.usage.output_tokens=5",
        "[execute_tool]",
        "gen_ai.tool.name=\"query\"",
        "gen_ai.tool.call.id=\"t1c0\"",
        "[db_query]",
        "db.system.name=\"words\"",
        "db.response.returned_rows=2",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
}
