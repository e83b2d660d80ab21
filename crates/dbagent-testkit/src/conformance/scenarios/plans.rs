//! What can be told before a statement runs, without running it.

use dbagent_core::Rule;

use super::super::kit::{Kit, Outcome, ensure, fail, need, told};

pub(super) async fn estimates(kit: &Kit) -> Outcome {
    let request = need(kit.material.read_users.as_ref(), "read_users")?;
    let endless = need(kit.material.endless.as_ref(), "endless")?;
    let session = kit.open().await?;
    let cleared = kit.clear(&session, request, None).await?;
    match session.estimate(&cleared, &kit.call()).await {
        Ok(Ok(estimate)) => {
            // A guess of nothing would let everything through.
            ensure!(estimate.rows_out != Some(0), "a read of three rows is estimated at 0 rows");
        }
        Ok(Err(refusal)) => fail!("an honest read was refused by its estimate: {refusal}"),
        Err(e) => fail!("the estimate of an honest read failed: {}", told(&e)),
    }
    // This one would never return if it ran. That a threshold refuses it is fine.
    let cleared = kit.clear(&session, endless, None).await?;
    if let Err(e) = session.estimate(&cleared, &kit.call()).await {
        fail!("the estimate of an endless statement failed: {}", told(&e));
    }
    kit.works(&session, "after estimates").await
}

pub(super) async fn estimate_of_rows(kit: &Kit) -> Outcome {
    let (request, total) = need(kit.material.many_rows.as_ref(), "many_rows")?;
    let session = kit.open_with(|target| target.guardrails.explain_row_threshold = u64::MAX).await?;
    let cleared = kit.clear(&session, request, None).await?;
    match session.estimate(&cleared, &kit.call()).await {
        Ok(Ok(estimate)) => match estimate.rows_out {
            Some(rows) => ensure!(
                rows >= total / 100 && rows <= total.saturating_mul(100),
                "{total} rows are estimated at {rows}"
            ),
            None => fail!("the estimate of {total} rows says nothing of rows"),
        },
        Ok(Err(refusal)) => fail!("the estimate was refused: {refusal}"),
        Err(e) => fail!("the estimate failed: {}", told(&e)),
    }
    let session = kit.open_with(|target| target.guardrails.explain_row_threshold = 1).await?;
    let cleared = kit.clear(&session, request, None).await?;
    match session.estimate(&cleared, &kit.call()).await {
        Ok(Err(refusal)) if refusal.rule == Rule::EstimateOverThreshold => Ok(()),
        other => fail!("{total} rows under a threshold of 1 came as {other:?}"),
    }
}

pub(super) async fn plans(kit: &Kit) -> Outcome {
    let session = kit.open().await?;
    let read = need(kit.material.read_users.as_ref(), "read_users")?;
    let endless = need(kit.material.endless.as_ref(), "endless")?;
    for request in [read, endless] {
        let cleared = kit.clear(&session, request, None).await?;
        match session.explain(&cleared, &kit.call()).await {
            Ok(Ok(plan)) => ensure!(!plan.text.trim().is_empty(), "a plan is empty"),
            Ok(Err(refusal)) => fail!("the plan of an honest read was refused: {refusal}"),
            Err(e) => fail!("the plan of an honest read failed: {}", told(&e)),
        }
    }
    kit.works(&session, "after plans").await
}
