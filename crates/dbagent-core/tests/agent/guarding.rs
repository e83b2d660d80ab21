//! The guarded session: what the judge is asked is complete, and nothing goes around it.

use std::time::Duration;

use dbagent_core::catalog::{Column, Described, ForeignKey, ObjectDetail, ObjectKind, ObjectPage, Page};
use dbagent_core::context::CallContext;
use dbagent_core::estimate::Estimate;
use dbagent_core::guard::{
    Finding, Needs, ObjectUse, Parsed, Resolution, ResolvedBody, ResolvedObject, StatementClass,
};
use dbagent_core::guardrails::StatementLimits;
use dbagent_core::rows::Sink;
use dbagent_core::session::{Cleared, Outcome, Verdict};
use dbagent_core::{
    ConnUrl, Dialect, Effects, GuardedSession, NameCase, ObjectName, OpenContext, ParseContext, Policy,
    Request, Result, Rule, Session, Settings, Target, async_trait,
};
use futures_core::future::BoxFuture;

/// `NAME` reads an object; `raw NAME` reads it in a way that a policy may allow.
static VIEWS: Dialect = Dialect::new("views", parse, open).name_case(NameCase::AsciiInsensitive);

#[expect(clippy::unnecessary_wraps, reason = "the form of every parser")]
fn parse(request: &Request, _: &ParseContext) -> Result<Parsed> {
    let text = request.as_str();
    let mut parsed = Parsed::new(StatementClass::Read, Effects::READ);
    if text.starts_with("raw ") {
        parsed.findings.push(Finding::new(Rule::SecretCatalogue, "raw", None).choice("raw"));
    }
    let name = ObjectName::new(text.trim_start_matches("raw "));
    parsed.objects.push(ObjectUse { name, written: false, span: None });
    Ok(parsed)
}

fn open<'a>(_: &'a Target, _: &'a OpenContext) -> BoxFuture<'a, Result<Box<dyn Session>>> {
    Box::pin(async { Ok(Box::new(Views) as Box<dyn Session>) })
}

/// A view `v` over the table `secret`.
struct Views;

fn object(name: &str, kind: ObjectKind, body: Option<ResolvedBody>) -> (ObjectName, ResolvedObject) {
    let resolved = ResolvedObject {
        name: ObjectName::within("main", name),
        kind,
        columns: vec!["id".into()],
        column_aliases: Vec::new(),
        body: body.map(Box::new),
    };
    (ObjectName::new(name), resolved)
}

#[async_trait]
impl Session for Views {
    fn settings(&self) -> Settings {
        Settings::new().with(Settings::DEFAULT_NAMESPACE, "main")
    }

    async fn resolve(&self, _: &Needs, _: &CallContext) -> Result<Resolution> {
        let mut inner = Resolution::live();
        inner.objects.push(object("secret", ObjectKind::Table, None));
        let parsed = parse(
            &Request::text("secret"),
            &VIEWS.parse_context(StatementLimits::default(), Settings::new()),
        )?;
        let mut resolution = Resolution::live();
        let body = ResolvedBody { parsed, resolution: inner };
        resolution.objects.push(object("v", ObjectKind::View, Some(body)));
        Ok(resolution)
    }

    async fn objects(&self, _: Option<&str>, _: Page, _: &CallContext) -> Result<ObjectPage> {
        Ok(ObjectPage::default())
    }

    async fn describe(&self, names: &[ObjectName], _: &CallContext) -> Result<Described> {
        let found = names.iter().map(|n| {
            let mut o =
                ObjectDetail::new(ObjectName::within("main", n.name.to_lowercase()), ObjectKind::Table);
            o.columns = ["id", "pin"].map(|c| Column { name: c.into(), ..Column::default() }).into();
            o.foreign_keys = vec![ForeignKey {
                columns: vec!["id".into()],
                target: ObjectName::within("main", "people"),
                target_columns: vec!["pin".into()],
            }];
            o.notes = vec!["CHECK (pin > 1000)".into()];
            o
        });
        Ok(Described { found: found.collect(), missing: Vec::new() })
    }

    async fn estimate(&self, _: &Cleared, _: &CallContext) -> Result<Outcome<Estimate>> {
        Ok(Ok(Estimate::UNKNOWN))
    }

    async fn read(&self, _: Cleared, _: Sink, _: &CallContext) -> Result<Outcome<()>> {
        Ok(Ok(()))
    }
}

fn session(policy: Policy) -> GuardedSession {
    let mut target = Target::new("main", ConnUrl::parse("views://here").unwrap());
    target.policy = policy;
    GuardedSession::over(&VIEWS, target, Box::new(Views)).unwrap()
}

fn call() -> CallContext {
    CallContext::within(Duration::from_secs(60))
}

#[tokio::test]
async fn a_choice_that_the_policy_allows_does_not_hide_what_a_view_reads() {
    let policy = Policy { allow_choices: ["raw".to_owned()].into(), ..Policy::default() };
    let open = session(policy.clone());
    assert!(matches!(open.judge(Request::text("raw v"), None, &call()).await.unwrap(), Verdict::Cleared(_)));
    let guarded = session(policy.deny("main.secret").unwrap());
    for text in ["v", "raw v"] {
        match guarded.judge(Request::text(text), None, &call()).await.unwrap() {
            Verdict::Refused(r) => assert_eq!(r.rule, Rule::DeniedObject, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn what_was_judged_for_another_session_or_policy_does_not_run() {
    let (one, other) = (session(Policy::default()), session(Policy::default()));
    let Verdict::Cleared(cleared) = one.judge(Request::text("v"), None, &call()).await.unwrap() else {
        panic!()
    };
    assert!(other.estimate(&cleared, &call()).await.is_err());
    assert!(other.explain(&cleared, &call()).await.is_err());
    assert!(other.read(cleared, &call()).is_err());
}

#[tokio::test]
async fn a_description_tells_nothing_of_what_is_hidden() {
    let policy = Policy::default().deny("main.secret").unwrap().deny("*.*.pin").unwrap();
    let described = session(policy).describe(&["Secret".into(), "open".into()], &call()).await.unwrap();
    // The name as it was asked: the catalogue's spelling would tell that it exists.
    assert_eq!(described.missing, [ObjectName::new("Secret")]);
    let text = format!("{:?}", described.found);
    assert!(!text.contains("pin"), "{text}");
}

#[tokio::test]
async fn limits_beyond_every_clock_are_no_panic() {
    let mut target = Target::new("main", ConnUrl::parse("views://here").unwrap());
    target.guardrails.query_timeout_s = u64::MAX;
    target.guardrails.connect_timeout_s = u64::MAX;
    let call = CallContext::within(Duration::MAX);
    let session = GuardedSession::open(&VIEWS, target, &call).await.unwrap();
    assert!(session.judge(Request::text("v"), None, &call).await.is_ok());
}
