//! A canary in every place where a credential may be, and a search for it in everything that is said.

use std::error::Error as _;
use std::fmt::Write as _;

use dbagent_core::catalog::Page;
use dbagent_core::{ConnUrl, Error, ErrorKind, GuardedSession, Target};

use super::super::fixture::CANARY;
use super::super::kit::{Came, Kit, Outcome, Stop, ensure, fail, told};

pub(super) async fn secrets(kit: &Kit) -> Outcome {
    let mut targets = made_up(kit).await?;
    match kit.fixture.secret_targets().await {
        Ok(given) => {
            for target in given {
                ensure!(holds_canary(&target), "a secret target of the fixture does not hold the canary");
                targets.push(("the fixture's secret target", target, true));
            }
        }
        Err(e) => return Err(Stop::Broken(told(&e))),
    }
    look(&[("the prompt", kit.dialect().prompt_text().to_owned())])?;
    for (what, target, must_open) in targets {
        look(&[(what, format!("{target:?} {target:#?} {}", target.url))])?;
        match GuardedSession::open(kit.dialect(), target, &kit.call()).await {
            Ok(session) => in_use(kit, &session, what).await?,
            Err(e) if must_open => return Err(Stop::Broken(format!("{what} does not open: {}", told(&e)))),
            Err(e) => look(&[(what, everything_of(&e))])?,
        }
    }

    // A key that nobody knows is an error that names the known ones, and not what was given.
    let mut target = kit.target().await?;
    target.credential = target.credential.set("kit_no_such_key", CANARY);
    match GuardedSession::open(kit.dialect(), target, &kit.call()).await {
        Err(e) => {
            ensure!(e.kind() == ErrorKind::Config, "an unknown credential key is {}", told(&e));
            look(&[("an unknown credential key", everything_of(&e))])
        }
        Ok(_) => fail!("an unknown credential key is accepted"),
    }
}

fn holds_canary(target: &Target) -> bool {
    let in_url = target.url.password().is_some_and(|p| p.expose() == CANARY)
        || target.url.query().iter().any(|(_, value)| value.expose() == CANARY);
    let credential = &target.credential;
    in_url || credential.keys().any(|key| credential.get(key).is_some_and(|s| s.expose() == CANARY))
}

/// The canary in each credential key, in the password of the URL, and in a parameter of it.
async fn made_up(kit: &Kit) -> Result<Vec<(&'static str, Target, bool)>, Stop> {
    let mut targets = Vec::new();
    let base = kit.target().await?;
    for key in kit.dialect().known_credentials() {
        let mut target = base.clone();
        target.credential = target.credential.set(key.name, CANARY);
        targets.push(("a target with the canary as a credential", target, false));
    }
    let (scheme, rest) = (base.url.scheme(), base.url.rest());
    for url in [
        format!("{scheme}://user:{CANARY}@{rest}"),
        format!("{scheme}://{rest}?password={CANARY}&token={CANARY}&api_key={CANARY}"),
        format!("{scheme}://user:{CANARY}@no-such-place.invalid/nothing"),
    ] {
        let url = ConnUrl::parse(&url).map_err(|e| Stop::Broken(e.to_string()))?;
        let target = Target { url, ..base.clone() };
        targets.push(("a target with the canary in its URL", target, false));
    }
    Ok(targets)
}

/// Everything that a session says while it works.
async fn in_use(kit: &Kit, session: &GuardedSession, what: &'static str) -> Outcome {
    let material = &kit.material;
    let requests = [&material.unknown_object, &material.unknown_column, &material.read_users]
        .into_iter()
        .flatten()
        .chain(&material.syntax_errors)
        .chain(material.errors.iter().map(|(request, _)| request))
        .chain(&material.writes);
    for request in requests {
        let said = match kit.came(session, request, Some(10)).await {
            Came::Failed(e) => everything_of(&e),
            other => format!("{other:?}"),
        };
        look(&[(what, said)])?;
    }
    if let Some(plan) = &material.read_users
        && let Ok(cleared) = kit.clear(session, plan, None).await
    {
        let said = match session.explain(&cleared, &kit.call()).await {
            Ok(plan) => format!("{plan:?} {cleared:?}"),
            Err(e) => everything_of(&e),
        };
        look(&[(what, said)])?;
    }
    let listed = session.objects(None, Page::default(), &kit.call()).await;
    let server = session.server(&kit.call()).await;
    let names: Vec<_> = [&material.users, &material.orders].into_iter().flatten().cloned().collect();
    let described = session.describe(&names, &kit.call()).await;
    look(&[
        (what, either(listed)),
        (what, either(server)),
        (what, either(described)),
        (what, format!("{:?}", session.target())),
    ])
}

fn either<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(e) => everything_of(&e),
    }
}

/// Every text of an error: what it shows, what it debugs to, its context, hint, code and sources.
fn everything_of(e: &Error) -> String {
    let mut all = format!("{e} {e:?} {e:#?} {:?} {:?} {:?}", e.context(), e.hint_text(), e.native_code());
    let mut source = e.source();
    while let Some(inner) = source {
        // Writing to a String cannot fail.
        _ = write!(all, " {inner} {inner:?}");
        source = inner.source();
    }
    all
}

fn look(texts: &[(&str, String)]) -> Outcome {
    for (what, text) in texts {
        if let Some(at) = text.find(CANARY) {
            let start =
                text.get(..at).map_or(0, |before| before.char_indices().rev().nth(60).map_or(0, |(i, _)| i));
            let around = text.get(start..at).unwrap_or_default();
            fail!("a credential can be read in what is said about {what}: …{around}<here>");
        }
    }
    Ok(())
}
