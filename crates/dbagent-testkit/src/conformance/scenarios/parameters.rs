//! Values are bound: they arrive unchanged, and no value is ever text of the statement.

use dbagent_core::session::Verdict;
use dbagent_core::{GuardedSession, Param, Params, Request, Rule};

use super::super::kit::{Kit, Outcome, ensure, fail, need, short, told};
use super::super::value::Value;

/// Texts that would do something, were they part of a statement.
const TEXTS: &[&str] = &[
    "plain",
    "",
    " ",
    "'; DROP TABLE users; --",
    "\" OR \"\"=\"",
    "1); DELETE FROM orders; --",
    "\\'; SELECT 1; --",
    "$1 ?1 :v @v #{v} {{v}} %s",
    "{\"$where\": \"1\"}",
    "%_*?",
    "NULL",
    "0",
    "line\nbreak\r\n\ttab",
    "ünï©ødé \u{202e} 表 e\u{301}",
    "\\",
];

async fn echoes(kit: &Kit, session: &GuardedSession, request: &Request, text: &str) -> Outcome {
    let table = kit.table(session, request, Some(10)).await?;
    ensure!(
        table.rows == [[Value::text(text)]],
        "the parameter {text:?} came back as {:?} from {}",
        table.rows,
        short(request)
    );
    Ok(())
}

async fn refused(kit: &Kit, session: &GuardedSession, request: Request, what: &str) -> Outcome {
    match session.judge(request, Some(10), &kit.call()).await {
        Ok(Verdict::Refused(refusal)) if refusal.rule == Rule::Parameters => Ok(()),
        Ok(other) => fail!("{what} came as {other:?}"),
        Err(e) => fail!("{what}: judging failed: {}", told(&e)),
    }
}

fn text(value: &str) -> Param {
    Param::Text(value.to_owned())
}

pub(super) async fn positional_parameters(kit: &Kit) -> Outcome {
    let echo = need(kit.material.echo_positional.as_ref(), "echo_positional")?;
    let before = kit.fingerprint().await?;
    let session = kit.open().await?;
    let with = |values: Vec<Param>| echo.clone().with_params(Params::Positional(values));
    for value in TEXTS {
        echoes(kit, &session, &with(vec![text(value)]), value).await?;
    }
    let long = "x".repeat(100_000);
    echoes(kit, &session, &with(vec![text(&long)]), &long).await?;
    for expected in &kit.material.parameters {
        kit.expect(&session, expected).await?;
    }
    refused(kit, &session, echo.clone(), "a statement with a parameter and no value").await?;
    refused(kit, &session, with(vec![text("a"), text("b")]), "one parameter with two values").await?;
    let named = echo.clone().with_params(Params::Named(vec![("no_such_name".to_owned(), text("a"))]));
    refused(kit, &session, named, "a parameter by position with a value by name").await?;
    ensure!(kit.fingerprint().await? == before, "the values of parameters changed the scratch database");
    Ok(())
}

pub(super) async fn named_parameters(kit: &Kit) -> Outcome {
    let (echo, name) = need(kit.material.echo_named.as_ref(), "echo_named")?;
    let before = kit.fingerprint().await?;
    let session = kit.open().await?;
    let with = |name: &str, value: &str| {
        echo.clone().with_params(Params::Named(vec![(name.to_owned(), text(value))]))
    };
    for value in TEXTS {
        echoes(kit, &session, &with(name, value), value).await?;
    }
    refused(kit, &session, echo.clone(), "a named parameter without a value").await?;
    refused(kit, &session, with("no_such_name", "a"), "a value for a name that the statement has not")
        .await?;
    let twice = Params::Named(vec![(name.clone(), text("a")), ("no_such_name".to_owned(), text("b"))]);
    refused(kit, &session, echo.clone().with_params(twice), "a value too many").await?;
    let positional = echo.clone().with_params(Params::Positional(vec![text("a")]));
    refused(kit, &session, positional, "a named parameter with a value by position").await?;
    ensure!(kit.fingerprint().await? == before, "the values of parameters changed the scratch database");
    Ok(())
}
