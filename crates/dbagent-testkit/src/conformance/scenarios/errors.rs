//! Each failure has its kind, and none of them ends more than its own call.

use dbagent_core::{CallContext, ErrorKind, GuardedSession, Request, Rule};

use super::super::kit::{Came, Kit, Outcome, ensure, fail, need, need_some, short, told};

pub(super) async fn syntax_errors(kit: &Kit) -> Outcome {
    let session = kit.open().await?;
    for request in need_some(&kit.material.syntax_errors, "syntax_errors")? {
        match kit.came(&session, request, Some(10)).await {
            Came::Refused(r) if matches!(r.rule, Rule::Syntax | Rule::UnknownSyntax) => {}
            Came::Failed(e) if e.kind() == ErrorKind::Syntax => {}
            Came::Failed(e) => fail!("{} is an error of another kind: {}", short(request), told(&e)),
            other => fail!("{} is no valid text, and came as {other:?}", short(request)),
        }
        kit.works(&session, "after a syntax error").await?;
    }
    Ok(())
}

async fn fails_as(kit: &Kit, session: &GuardedSession, request: &Request, kind: ErrorKind) -> Outcome {
    match kit.came(session, request, Some(10)).await {
        Came::Failed(e) => {
            ensure!(e.kind() == kind, "{} must be {kind}, and is {}", short(request), told(&e));
            ensure!(!e.message().trim().is_empty(), "{}: the error says nothing", short(request));
        }
        other => fail!("{} must fail as {kind}, and came as {other:?}", short(request)),
    }
    kit.works(session, "after an error").await
}

pub(super) async fn unknown_object(kit: &Kit) -> Outcome {
    let request = need(kit.material.unknown_object.as_ref(), "unknown_object")?;
    fails_as(kit, &kit.open().await?, request, ErrorKind::UnknownObject).await
}

pub(super) async fn unknown_column(kit: &Kit) -> Outcome {
    let request = need(kit.material.unknown_column.as_ref(), "unknown_column")?;
    fails_as(kit, &kit.open().await?, request, ErrorKind::UnknownColumn).await
}

pub(super) async fn other_errors(kit: &Kit) -> Outcome {
    let session = kit.open().await?;
    for (request, kind) in need_some(&kit.material.errors, "errors")? {
        fails_as(kit, &session, request, *kind).await?;
    }
    Ok(())
}

pub(super) async fn wrong_targets(kit: &Kit) -> Outcome {
    let targets = match kit.fixture.wrong_targets().await {
        Ok(targets) => targets,
        Err(e) => return Err(super::super::kit::Stop::Broken(told(&e))),
    };
    for (target, kind) in need_some(&targets, "wrong_targets")? {
        let url = target.url.to_string();
        match GuardedSession::open(kit.dialect(), target.clone(), &kit.call()).await {
            Err(e) => ensure!(e.kind() == *kind, "opening {url} must be {kind}, and is {}", told(&e)),
            // Some databases are only asked when they are used.
            Ok(session) => match session.ping(&kit.call()).await {
                Err(e) => ensure!(e.kind() == *kind, "using {url} must be {kind}, and is {}", told(&e)),
                Ok(()) => fail!("{url} must not open ({kind}), and works"),
            },
        }
    }
    Ok(())
}

pub(super) async fn hostile_texts(kit: &Kit) -> Outcome {
    let session = kit.open().await?;
    let common = [
        String::new(),
        " \t\r\n".to_owned(),
        "\0".to_owned(),
        "SELECT 1\0; DROP TABLE users".to_owned(),
        "\u{feff}".to_owned(),
        "\u{202e}\u{1b}[2J".to_owned(),
        "'".to_owned(),
        "\"".to_owned(),
        "/*".to_owned(),
        "{\"a\":".to_owned(),
        "x".repeat(1 << 20),
        "(".repeat(60_000),
        "[".repeat(60_000),
        "{\"a\":".repeat(10_000),
        ";".repeat(60_000),
    ];
    for text in common.iter().chain(&kit.material.hostile_texts) {
        for request in [Request::text(text.clone()), Request::json(text.clone())] {
            let call = CallContext::within(kit.patience.call);
            match session.judge(request.clone(), Some(10), &call).await {
                Ok(_) => {}
                Err(e) if !matches!(e.kind(), ErrorKind::Internal | ErrorKind::Timeout) => {}
                Err(e) => fail!("judging {} of {} bytes failed: {}", short(&request), text.len(), told(&e)),
            }
        }
    }
    kit.works(&session, "after hostile texts").await
}
