//! What the database holds, as it is and as it is now.

use dbagent_core::catalog::{ObjectDetail, ObjectPage, Page};
use dbagent_core::session::Verdict;
use dbagent_core::{GuardedSession, ObjectName, Policy, Rule};

use super::super::fixture::Change;
use super::super::kit::{Kit, Outcome, Stop, ensure, fail, need, short, told};

async fn list(
    kit: &Kit,
    session: &GuardedSession,
    pattern: Option<&str>,
    offset: usize,
    size: usize,
) -> Result<ObjectPage, Stop> {
    session
        .objects(pattern, Page { offset, size }, &kit.call())
        .await
        .map_err(|e| Stop::Failed(format!("listing objects failed: {}", told(&e))))
}

async fn describe(kit: &Kit, session: &GuardedSession, name: &ObjectName) -> Result<ObjectDetail, Stop> {
    let described = session
        .describe(std::slice::from_ref(name), &kit.call())
        .await
        .map_err(|e| Stop::Failed(format!("describing {name} failed: {}", told(&e))))?;
    match described.found.into_iter().next() {
        Some(found) => Ok(found),
        None => fail!("{name} is not described"),
    }
}

fn names(page: &ObjectPage) -> Vec<ObjectName> {
    page.objects.iter().map(|o| o.name.clone()).collect()
}

pub(super) async fn list_objects(kit: &Kit) -> Outcome {
    let users = need(kit.material.users.as_ref(), "users")?;
    let orders = need(kit.material.orders.as_ref(), "orders")?;
    let session = kit.open().await?;
    let all = list(kit, &session, None, 0, 10_000).await?;
    ensure!(
        all.total == all.objects.len(),
        "{} objects are listed on one page, and the total says {}",
        all.objects.len(),
        all.total
    );
    for wanted in [users, orders] {
        ensure!(all.objects.iter().any(|o| o.name.name == wanted.name), "{wanted} is not listed");
    }
    let all_names = names(&all);
    ensure!(
        all_names.is_sorted_by(|a, b| a < b),
        "the list is not ordered by namespace and name (by code point), or holds a name twice: {:?}",
        all_names.iter().map(ToString::to_string).collect::<Vec<_>>()
    );
    for size in [1, 2, 7] {
        let mut pages = Vec::new();
        while pages.len() < all.total {
            let page = list(kit, &session, None, pages.len(), size).await?;
            ensure!(
                page.total == all.total && page.objects.len() == size.min(all.total - pages.len()),
                "the page of {size} at {} has {} objects and the total {}",
                pages.len(),
                page.objects.len(),
                page.total
            );
            pages.extend(names(&page));
        }
        ensure!(pages == all_names, "pages of {size} put together are another list");
    }
    let beyond = list(kit, &session, None, all.total + 5, 10).await?;
    ensure!(
        beyond.objects.is_empty() && beyond.total == all.total,
        "a page beyond the end holds {} objects, total {}",
        beyond.objects.len(),
        beyond.total
    );

    // A part of a name; wild cards for a whole one.
    let part: String = users.name.chars().skip(1).take(3).collect();
    let starts: String = users.name.chars().take(2).chain(['*']).collect();
    let one_off: String = users.name.chars().take(users.name.chars().count() - 1).chain(['?']).collect();
    for pattern in [part.as_str(), users.name.as_str(), starts.as_str(), one_off.as_str(), "*"] {
        let found = list(kit, &session, Some(pattern), 0, 10_000).await?;
        ensure!(
            found.objects.iter().any(|o| o.name.name == users.name),
            "the pattern {pattern:?} does not find {users}"
        );
        ensure!(
            found.total == found.objects.len(),
            "the pattern {pattern:?} finds {} and counts {}",
            found.objects.len(),
            found.total
        );
    }
    for pattern in ["no such object", "u?", "%", "user_"] {
        let found = list(kit, &session, Some(pattern), 0, 10_000).await?;
        ensure!(
            !found.objects.iter().any(|o| o.name.name == users.name),
            "the pattern {pattern:?} finds {users}"
        );
    }
    Ok(())
}

pub(super) async fn describe_objects(kit: &Kit) -> Outcome {
    let users = need(kit.material.users.as_ref(), "users")?;
    let orders = need(kit.material.orders.as_ref(), "orders")?;
    let session = kit.open().await?;
    let missing = ObjectName::new("no such object");
    let asked = [orders.clone(), missing.clone(), users.clone()];
    let described = session
        .describe(&asked, &kit.call())
        .await
        .map_err(|e| Stop::Failed(format!("describing failed: {}", told(&e))))?;
    let found: Vec<&str> = described.found.iter().map(|o| o.summary.name.name.as_str()).collect();
    ensure!(
        found == [orders.name.as_str(), users.name.as_str()],
        "asked for {orders}, a missing one and {users}, described were {found:?}"
    );
    ensure!(described.missing == [missing], "missing is {:?}", described.missing);
    let columns: Vec<&str> =
        described.found.iter().flat_map(|o| &o.columns).map(|c| c.name.as_str()).collect();
    for wanted in ["id", "name", "email", "user_id"] {
        ensure!(columns.contains(&wanted), "the column {wanted} is not described: {columns:?}");
    }
    Ok(())
}

pub(super) async fn fresh_catalogue(kit: &Kit) -> Outcome {
    let session = kit.open_with(|target| target.guardrails.catalogue_ttl_s = 0).await?;
    let name = ObjectName::new("kit_created_beside");
    ensure!(
        list(kit, &session, Some(&name.name), 0, 10).await?.total == 0,
        "{name} is there before it was created"
    );
    beside(kit, Change::Create(name.clone())).await?;
    ensure!(
        list(kit, &session, Some(&name.name), 0, 10).await?.total == 1,
        "an object that was created beside the session is not listed"
    );
    describe(kit, &session, &name).await?;
    if let Some(sample) = kit.dialect().sample_request(&name) {
        kit.table(&session, &sample, Some(1)).await?;
    }

    // A view that was judged once is judged again: it may read something else by now.
    let (Some(orders), Some(read_view)) = (&kit.material.orders, &kit.material.read_view) else {
        return Ok(());
    };
    let policy = Policy::default().deny(&orders.to_string()).map_err(|e| Stop::Broken(e.to_string()))?;
    let session = kit
        .open_with(|target| {
            target.guardrails.catalogue_ttl_s = 0;
            target.policy = policy;
        })
        .await?;
    kit.table(&session, read_view, Some(10)).await?;
    beside(kit, Change::ViewOverOrders).await?;
    match session.judge(read_view.clone(), Some(10), &kit.call()).await {
        Ok(Verdict::Refused(refusal)) if refusal.rule == Rule::DeniedObject => Ok(()),
        Ok(other) => {
            fail!("the view was changed to read a denied object, and {} came as {other:?}", short(read_view))
        }
        Err(e) => fail!("judging failed: {}", told(&e)),
    }
}

async fn beside(kit: &Kit, change: Change) -> Outcome {
    match kit.fixture.beside(change.clone()).await {
        None => Err(Stop::Missing("change beside the session")),
        Some(Ok(())) => Ok(()),
        Some(Err(e)) => Err(Stop::Broken(format!("{change:?} failed: {}", told(&e)))),
    }
}

pub(super) async fn foreign_keys(kit: &Kit) -> Outcome {
    let users = need(kit.material.users.as_ref(), "users")?;
    let orders = need(kit.material.orders.as_ref(), "orders")?;
    let described = describe(kit, &kit.open().await?, orders).await?;
    ensure!(
        described.foreign_keys.iter().any(|key| {
            key.columns == ["user_id"] && key.target.name == users.name && key.target_columns == ["id"]
        }),
        "{orders}.user_id refers to {users}.id, described were {:?}",
        described.foreign_keys
    );
    Ok(())
}

pub(super) async fn comments(kit: &Kit) -> Outcome {
    let (object, comment) = need(kit.material.comment.as_ref(), "comment")?;
    let session = kit.open().await?;
    let described = describe(kit, &session, object).await?;
    ensure!(
        described.summary.comment.as_deref() == Some(comment),
        "{object} has the comment {comment:?}, described was {:?}",
        described.summary.comment
    );
    let listed = list(kit, &session, Some(&object.name), 0, 100).await?;
    ensure!(
        listed.objects.iter().any(|o| o.comment.as_deref() == Some(comment)),
        "the comment of {object} is not in the list"
    );
    Ok(())
}

pub(super) async fn namespaces(kit: &Kit) -> Outcome {
    let users = need(kit.material.users.as_ref(), "users")?;
    let namespace = need(kit.material.default_namespace.as_ref(), "default_namespace")?;
    let read_users = need(kit.material.read_users.as_ref(), "read_users")?;
    let session = kit.open().await?;
    let full = ObjectName::within(namespace.clone(), users.name.clone());
    let bare = describe(kit, &session, &ObjectName::new(users.name.clone())).await?;
    let within = describe(kit, &session, &full).await?;
    ensure!(bare == within, "{users} and {full} are described differently");
    if let Some(sample) = kit.dialect().sample_request(&full) {
        kit.table(&session, &sample, Some(10)).await?;
    }
    let elsewhere = ObjectName::within("no_such_namespace", users.name.clone());
    let described = session.describe(&[elsewhere], &kit.call()).await.map_err(|e| Stop::Failed(told(&e)))?;
    ensure!(described.found.is_empty(), "{users} is found in a namespace that does not exist");

    // A rule that names the namespace holds for the bare name as well, and one for another does not.
    for (namespace, denied) in [(namespace.as_str(), true), ("no_such_namespace", false)] {
        let rule = ObjectName::within(namespace, users.name.clone()).to_string();
        let policy = Policy::default().deny(&rule).map_err(|e| Stop::Broken(e.to_string()))?;
        let session = kit.open_with(|target| target.policy = policy).await?;
        match session.judge(read_users.clone(), Some(10), &kit.call()).await {
            Ok(Verdict::Refused(refusal)) if denied && refusal.rule == Rule::DeniedObject => {}
            Ok(Verdict::Cleared(_)) if !denied => {}
            other => fail!("under a rule that denies {rule}, {} came as {other:?}", short(read_users)),
        }
    }
    Ok(())
}
