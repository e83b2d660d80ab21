//! What the guard and the engine hold together: no write, nothing outside the policy, no other way in.

use dbagent_core::catalog::Page;
use dbagent_core::guard::corpus::{Row, Runner, read};
use dbagent_core::json::{Json, JsonLimits};
use dbagent_core::session::Verdict;
use dbagent_core::{Access, CallContext, ErrorKind, GuardedSession, ObjectName, Policy, Request, Rule};

use super::super::fixture::Corpus;
use super::super::kit::{Kit, Outcome, Stop, ensure, fail, need, need_some, short, told};

/// Rows of a corpus that are shown when they disagree.
const SHOWN: usize = 20;

pub(super) async fn read_only_session(kit: &Kit) -> Outcome {
    let writes = need_some(&kit.material.writes, "writes")?;
    let read = need(kit.material.read_users.as_ref(), "read_users")?;
    let before = kit.fingerprint().await?;
    match kit.fixture.raw_hardened(read).await {
        None => return Err(Stop::Missing("raw_hardened")),
        Some(Ok(())) => {}
        Some(Err(e)) => fail!("the raw door does not even read: {}", told(&e)),
    }
    for write in writes {
        match kit.fixture.raw_hardened(write).await {
            Some(Ok(())) => fail!("the engine itself ran {} on a hardened connection", short(write)),
            Some(Err(e)) => ensure!(
                !matches!(e.kind(), ErrorKind::Syntax | ErrorKind::UnknownObject | ErrorKind::UnknownColumn)
                    && !e.kind().is_out_of_reach(),
                "{} failed for another reason than that writes are refused, so it shows nothing: {}",
                short(write),
                told(&e)
            ),
            None => return Err(Stop::Missing("raw_hardened")),
        }
    }
    ensure!(kit.fingerprint().await? == before, "the scratch database changed although every write failed");
    Ok(())
}

pub(super) async fn writes_are_never_cleared(kit: &Kit) -> Outcome {
    let writes = need_some(&kit.material.writes, "writes")?;
    let before = kit.fingerprint().await?;
    for access in [Access::Read, Access::Propose] {
        let mut target = kit.target().await?;
        target.access = access;
        let session = match GuardedSession::open(kit.dialect(), target, &kit.call()).await {
            Ok(session) => session,
            // A dialect may not write at all yet.
            Err(e) if access == Access::Propose && e.kind() == ErrorKind::Unsupported => continue,
            Err(e) => return Err(Stop::Broken(told(&e))),
        };
        for write in writes {
            match session.judge(write.clone(), None, &kit.call()).await {
                Ok(Verdict::Cleared(_)) => fail!("{} was cleared as a read ({access:?})", short(write)),
                Ok(Verdict::Proposed(_)) => {
                    ensure!(
                        access == Access::Propose,
                        "{} was proposed on a target for reading",
                        short(write)
                    );
                }
                Ok(Verdict::Refused(_)) => {}
                Err(e) => fail!("judging {} failed: {}", short(write), told(&e)),
            }
        }
    }
    ensure!(kit.fingerprint().await? == before, "judging writes changed the scratch database");
    Ok(())
}

pub(super) async fn corpus(kit: &Kit) -> Outcome {
    let session = kit.open().await?;
    for corpus in need_some(&kit.fixture.corpora(), "corpora")? {
        let rows = read(&corpus.text)
            .map_err(|e| Stop::Broken(format!("the corpus {} cannot be read: {}", corpus.name, told(&e))))?;
        let limits = session.target().guardrails.statement_limits();
        let offline = Runner::offline(kit.dialect(), Policy::default(), limits);
        compare(kit, corpus, &rows, &offline, "offline").await?;
        compare(kit, corpus, &rows, &Runner::live(&session), "with the live catalogue").await?;
    }
    kit.works(&session, "after judging the corpora").await
}

async fn compare(kit: &Kit, corpus: &Corpus, rows: &[Row], runner: &Runner<'_>, how: &str) -> Outcome {
    let disputed = disputed(corpus)?;
    if let Some(id) = disputed.iter().find(|id| !rows.iter().any(|row| row.id == **id)) {
        return Err(Stop::Broken(format!("{id} is disputed and in no row of {}", corpus.name)));
    }
    let report = runner.run(rows, &CallContext::within(kit.patience.scenario)).await;
    let is_disputed = |id: &str| disputed.iter().any(|d| d == id);
    let stale: Vec<&str> = report
        .outcomes()
        .iter()
        .filter(|o| o.agrees() && is_disputed(&o.row.id))
        .map(|o| o.row.id.as_str())
        .collect();
    ensure!(
        stale.is_empty(),
        "disputed rows of {} agree {how}, take them off the list: {}",
        corpus.name,
        stale.join(", ")
    );
    let wrong: Vec<String> =
        report.disagreements().filter(|o| !is_disputed(&o.row.id)).map(ToString::to_string).collect();
    if wrong.is_empty() {
        return Ok(());
    }
    let more = wrong.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!("\n  … and {more} more") } else { String::new() };
    fail!(
        "{} rows of {} disagree {how} ({}):\n  {}{more}",
        wrong.len(),
        corpus.name,
        report.totals(),
        wrong.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("\n  ")
    )
}

fn disputed(corpus: &Corpus) -> Result<Vec<String>, Stop> {
    let broken = |why: String| Stop::Broken(format!("the disputed list of {}: {why}", corpus.name));
    let mut ids = Vec::new();
    for line in corpus.disputed.iter().flat_map(|text| text.lines()).filter(|line| !line.trim().is_empty()) {
        let json = Json::parse(line, JsonLimits::default()).map_err(|e| broken(e.to_string()))?;
        let text = |key: &str| json.get(key).and_then(Json::as_str).filter(|t| !t.trim().is_empty());
        match (text("id"), text("why")) {
            (Some(id), Some(_)) => ids.push(id.to_owned()),
            _ => return Err(broken(format!("a line needs \"id\" and \"why\": {line}"))),
        }
    }
    Ok(ids)
}

/// Everything of an object, as a pattern.
fn whole(name: &ObjectName) -> String {
    let namespace = name.namespace.clone().unwrap_or_else(|| "*".to_owned());
    ObjectName::within(namespace, name.name.clone()).to_string()
}

fn column_of(name: &ObjectName, column: &str) -> String {
    format!("{}.{}", whole(name), ObjectName::new(column))
}

fn denying(pattern: &str) -> Result<Policy, Stop> {
    Policy::default().deny(pattern).map_err(|e| Stop::Broken(e.to_string()))
}

async fn refused_by(kit: &Kit, session: &GuardedSession, request: &Request, rules: &[Rule]) -> Outcome {
    match session.judge(request.clone(), Some(10), &kit.call()).await {
        Ok(Verdict::Refused(refusal)) => {
            ensure!(
                rules.contains(&refusal.rule),
                "{} was refused for another reason: {refusal}",
                short(request)
            );
            Ok(())
        }
        Ok(other) => fail!("{} is denied by the policy, and came as {other:?}", short(request)),
        Err(e) => fail!("judging {} failed: {}", short(request), told(&e)),
    }
}

pub(super) async fn policy_objects(kit: &Kit) -> Outcome {
    let users = need(kit.material.users.as_ref(), "users")?;
    let orders = need(kit.material.orders.as_ref(), "orders")?;
    let read_users = need(kit.material.read_users.as_ref(), "read_users")?;
    let read_orders = need(kit.material.read_orders.as_ref(), "read_orders")?;
    let everything = Page { offset: 0, size: 10_000 };

    let open = kit.open().await?;
    let all = open.objects(None, everything, &kit.call()).await.map_err(|e| Stop::Failed(told(&e)))?;
    let only_orders = Policy::default().allow(&whole(orders)).map_err(|e| Stop::Broken(e.to_string()))?;
    for policy in [denying(&whole(users))?, only_orders] {
        let allows_one = !policy.allow.is_empty();
        let session = kit.open_with(|target| target.policy = policy).await?;
        refused_by(kit, &session, read_users, &[Rule::DeniedObject]).await?;
        if let Some(count) = kit.dialect().count_request(users) {
            refused_by(kit, &session, &count, &[Rule::DeniedObject]).await?;
        }
        kit.table(&session, read_orders, Some(100)).await?;

        let listed =
            session.objects(None, everything, &kit.call()).await.map_err(|e| Stop::Failed(told(&e)))?;
        ensure!(!listed.objects.iter().any(|o| o.name.name == users.name), "a denied object is in the list");
        let expected = if allows_one { 1 } else { all.total - 1 };
        ensure!(
            listed.total == expected && listed.objects.len() == expected,
            "{} objects are listed and {} counted of {} under a policy that leaves {expected}",
            listed.objects.len(),
            listed.total,
            all.total
        );
        let described = session
            .describe(&[users.clone(), orders.clone()], &kit.call())
            .await
            .map_err(|e| Stop::Failed(told(&e)))?;
        ensure!(
            described.found.len() == 1 && described.missing.len() == 1,
            "a denied object is described: {:?}",
            described.found.iter().map(|o| o.summary.name.to_string()).collect::<Vec<_>>()
        );
    }
    Ok(())
}

pub(super) async fn policy_views(kit: &Kit) -> Outcome {
    let users = need(kit.material.users.as_ref(), "users")?;
    let read_view = need(kit.material.read_view.as_ref(), "read_view")?;
    let read_email = need(kit.material.read_email.as_ref(), "read_email")?;
    need(kit.material.view.as_ref(), "view")?;

    kit.table(&kit.open().await?, read_view, Some(10)).await?;
    let denied = denying(&whole(users))?;
    let session = kit.open_with(|target| target.policy = denied).await?;
    refused_by(kit, &session, read_view, &[Rule::DeniedObject]).await?;

    // Whether columns can be told or not: what is denied is not read, by no way.
    let denied = denying(&column_of(users, "email"))?;
    let session = kit.open_with(|target| target.policy = denied).await?;
    for request in [read_view, read_email] {
        refused_by(kit, &session, request, &[Rule::DeniedColumn, Rule::ColumnsUnknown]).await?;
    }
    Ok(())
}

pub(super) async fn policy_columns(kit: &Kit) -> Outcome {
    let users = need(kit.material.users.as_ref(), "users")?;
    let read_users = need(kit.material.read_users.as_ref(), "read_users")?;
    let read_email = need(kit.material.read_email.as_ref(), "read_email")?;
    let read_name = need(kit.material.read_name.as_ref(), "read_name")?;

    let denied = denying(&column_of(users, "email"))?;
    let session = kit.open_with(|target| target.policy = denied).await?;
    kit.table(&session, read_name, Some(10)).await?;
    refused_by(kit, &session, read_email, &[Rule::DeniedColumn]).await?;
    refused_by(kit, &session, read_users, &[Rule::DeniedColumn]).await?;
    let described = session
        .describe(std::slice::from_ref(users), &kit.call())
        .await
        .map_err(|e| Stop::Failed(told(&e)))?;
    let Some(object) = described.found.first() else { fail!("{users} is not described under a column rule") };
    ensure!(
        !object.columns.iter().any(|c| c.name == "email") && object.columns.iter().any(|c| c.name == "name"),
        "under a rule that denies email the columns are {:?}",
        object.columns.iter().map(|c| &c.name).collect::<Vec<_>>()
    );
    Ok(())
}

pub(super) async fn judged_elsewhere(kit: &Kit) -> Outcome {
    let request = need(kit.material.read_users.as_ref(), "read_users")?;
    let (one, other) = (kit.open().await?, kit.open().await?);
    let cleared = kit.clear(&one, request, None).await?;
    match other.read(cleared, &kit.call()) {
        Err(e) => ensure!(e.kind() == ErrorKind::Internal, "{}", told(&e)),
        Ok(_) => fail!("a statement that was judged for one session ran on another"),
    }
    one.close().await;
    kit.works(&other, "after another session on the same target was closed").await
}
