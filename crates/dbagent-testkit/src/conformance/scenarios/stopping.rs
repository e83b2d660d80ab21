//! Whoever gives up is obeyed: on the server, soon, and the session lives on.

use std::time::Duration;

use dbagent_core::rows::Rows;
use dbagent_core::{CallContext, ErrorKind, GuardedSession, Request};

use super::super::kit::{Came, Kit, Outcome, Stop, ensure, fail, need, read_to_end, stopped_by_itself, told};

/// How long a statement is left running before it is stopped.
const A_MOMENT: Duration = Duration::from_millis(100);

/// Takes one batch, so that the statement surely runs.
async fn running(
    kit: &Kit,
    session: &GuardedSession,
    request: &Request,
    call: &CallContext,
) -> Result<Rows, Stop> {
    let mut rows = kit.start(session, request, None, call).await?;
    match rows.next().await {
        Ok(Some(_)) => Ok(rows),
        Ok(None) => fail!("an endless result ended"),
        Err(e) => fail!("no batch of an endless result came: {}", told(&e)),
    }
}

async fn ends_with(rows: Rows, kind: ErrorKind, what: &str) -> Outcome {
    match read_to_end(rows).await {
        Came::Failed(e) => {
            ensure!(e.kind() == kind, "{what} is an error of another kind: {}", told(&e));
            ensure!(
                stopped_by_itself(&e),
                "{what} did not stop by itself: the dialect had to be dropped after its grace"
            );
            Ok(())
        }
        Came::Rows(_) => fail!("{what} ended as if everything had been read"),
        other => fail!("{what}: {other:?}"),
    }
}

pub(super) async fn cancel(kit: &Kit) -> Outcome {
    let endless = need(kit.material.endless.as_ref(), "endless")?;
    let endless_rows = need(kit.material.endless_rows.as_ref(), "endless_rows")?;
    let session = kit.open().await?;

    // While it computes and has no row yet.
    let call = kit.call();
    let mut rows = kit.start(&session, endless, None, &call).await?;
    ensure!(
        tokio::time::timeout(A_MOMENT, rows.next()).await.is_err(),
        "the fixture's endless statement ended"
    );
    call.cancel.cancel();
    ends_with(rows, ErrorKind::Cancelled, "a cancelled statement without rows").await?;

    // While rows stream.
    let call = kit.call();
    let rows = running(kit, &session, endless_rows, &call).await?;
    call.cancel.cancel();
    ends_with(rows, ErrorKind::Cancelled, "a cancelled stream of rows").await?;

    // Before it starts.
    let call = kit.call();
    let cleared = kit.clear(&session, endless_rows, None).await?;
    call.cancel.cancel();
    match session.read(cleared, &call) {
        Ok(rows) => {
            ends_with(rows, ErrorKind::Cancelled, "a read that was cancelled before it began").await?;
        }
        Err(e) => ensure!(e.kind() == ErrorKind::Cancelled, "{}", told(&e)),
    }
    kit.works(&session, "after cancelled calls").await
}

pub(super) async fn timeout(kit: &Kit) -> Outcome {
    let endless = need(kit.material.endless.as_ref(), "endless")?;
    let endless_rows = need(kit.material.endless_rows.as_ref(), "endless_rows")?;
    let session = kit.open().await?;

    let rows = kit.start(&session, endless, None, &CallContext::within(3 * A_MOMENT)).await?;
    ends_with(rows, ErrorKind::Timeout, "an endless statement past its time").await?;

    // A reader that is stuck must not keep the writer: the deadline passes while nobody takes a batch.
    let call = CallContext::within(30 * A_MOMENT);
    let rows = running(kit, &session, endless_rows, &call).await?;
    tokio::time::sleep_until(call.deadline).await;
    ends_with(rows, ErrorKind::Timeout, "a stream past its time with a stuck reader").await?;

    // The target's own limit counts as well.
    let short = kit.open_with(|target| target.guardrails.query_timeout_s = 1).await?;
    let rows = kit.start(&short, endless, None, &kit.call()).await?;
    ends_with(rows, ErrorKind::Timeout, "a statement past query_timeout_s").await?;
    kit.works(&session, "after timeouts").await
}

/// Fills every lane of the session with endless statements.
async fn fill(kit: &Kit, session: &GuardedSession, call: &CallContext) -> Result<Vec<Rows>, Stop> {
    let request = need(kit.material.endless_rows.as_ref(), "endless_rows")?;
    let mut lanes = Vec::new();
    for _ in 0..kit.can().max_concurrent_reads.min(16) {
        lanes.push(running(kit, session, request, call).await?);
    }
    Ok(lanes)
}

pub(super) async fn use_after_cancel(kit: &Kit) -> Outcome {
    let session = kit.open().await?;
    for _ in 0..2 {
        let call = kit.call();
        let lanes = fill(kit, &session, &call).await?;
        call.cancel.cancel();
        for rows in lanes {
            ends_with(rows, ErrorKind::Cancelled, "one of several cancelled reads").await?;
        }
        kit.works(&session, "after cancelled calls in every lane").await?;
    }
    Ok(())
}

pub(super) async fn use_after_timeout(kit: &Kit) -> Outcome {
    let endless = need(kit.material.endless.as_ref(), "endless")?;
    let session = kit.open().await?;
    let call = CallContext::within(3 * A_MOMENT);
    let mut lanes = Vec::new();
    for _ in 0..kit.can().max_concurrent_reads.min(16) {
        lanes.push(kit.start(&session, endless, None, &call).await?);
    }
    let ended = lanes
        .into_iter()
        .map(|rows| ends_with(rows, ErrorKind::Timeout, "one of several reads past their time"));
    futures_util::future::try_join_all(ended).await?;
    kit.works(&session, "after timeouts in every lane").await
}

pub(super) async fn dropped_rows(kit: &Kit) -> Outcome {
    let request = need(kit.material.endless_rows.as_ref(), "endless_rows")?;
    let session = kit.open().await?;
    // A lane that a dropped read still held would be missed: there are more rounds than lanes.
    for _ in 0..kit.can().max_concurrent_reads.min(16) + 2 {
        drop(running(kit, &session, request, &kit.call()).await?);
    }
    drop(fill(kit, &session, &kit.call()).await?);
    kit.works(&session, "after dropped reads").await
}

pub(super) async fn concurrent_reads(kit: &Kit) -> Outcome {
    let session = kit.open().await?;
    let call = kit.call();
    // Each has begun and none has ended, so they run at once.
    let lanes = fill(kit, &session, &call).await.map_err(|stop| match stop {
        Stop::Failed(why) => Stop::Failed(format!(
            "{} reads at once are declared, and do not run at once: {why}",
            kit.can().max_concurrent_reads
        )),
        other => other,
    })?;
    // More than that wait for a lane and then run.
    let more =
        futures_util::future::join_all((0..3).map(|_| kit.works(&session, "while all lanes are busy")));
    let free = async {
        tokio::time::sleep(A_MOMENT).await;
        drop(lanes);
    };
    let (results, ()) = tokio::join!(more, free);
    results.into_iter().collect::<Result<Vec<()>, Stop>>()?;
    kit.works(&session, "after concurrent reads").await
}
