//! Caps act while rows stream: memory is bounded, and nothing is cut without a word.

use dbagent_core::ErrorKind;
use dbagent_core::rows::{BATCH_BYTES, QUEUE_BYTES};

use super::super::kit::{Came, Kit, Outcome, ensure, fail, need, short, told};

pub(super) async fn caps_by_rows(kit: &Kit) -> Outcome {
    let (request, total) = need(kit.material.many_rows.as_ref(), "many_rows")?;
    let total = *total;
    ensure!(total >= 20_000, "the fixture's many_rows has {total} rows, at least 20,000 are needed");
    let session = kit.open().await?;
    // The cap of a read may be any number: below, at and just under what there is.
    for (cap, more) in
        [(Some(1), true), (Some(10), true), (Some(total - 1), true), (Some(total), false), (None, false)]
    {
        let table = kit.table(&unbounded_bytes(kit).await?, request, cap).await?;
        let expected = cap.unwrap_or(total);
        ensure!(
            table.rows.len() as u64 == expected,
            "{} rows came under the cap {cap:?} of {total}, expected {expected}",
            table.rows.len()
        );
        ensure!(
            table.ending.more_rows == more,
            "under the cap {cap:?} of {total} rows the mark that more exist is {}, expected {more}",
            table.ending.more_rows
        );
    }
    // A capped statement stops: this one would never end by itself.
    if let Some(endless) = &kit.material.endless_rows {
        let table = kit.table(&session, endless, Some(10)).await?;
        ensure!(
            table.rows.len() == 10 && table.ending.more_rows,
            "{} rows of an endless result came under the cap 10, marked {}",
            table.rows.len(),
            table.ending.more_rows
        );
    }
    kit.works(&session, "after capped reads").await
}

async fn unbounded_bytes(kit: &Kit) -> Result<dbagent_core::GuardedSession, super::super::kit::Stop> {
    kit.open_with(|target| target.guardrails.max_result_bytes = u64::MAX).await
}

pub(super) async fn caps_by_bytes(kit: &Kit) -> Outcome {
    const LIMIT: u64 = 64 << 10;
    let (request, total) = need(kit.material.many_rows.as_ref(), "many_rows")?;
    let session = kit.open_with(|target| target.guardrails.max_result_bytes = LIMIT).await?;
    let table = kit.table(&session, request, Some(*total)).await?;
    ensure!(
        table.ending.over_bytes && !table.ending.is_complete(),
        "{} rows came under a cap of {LIMIT} bytes, and the result calls itself complete",
        table.rows.len()
    );
    ensure!(
        !table.rows.is_empty() && (table.rows.len() as u64) < *total,
        "{} of {total} rows came under a cap of {LIMIT} bytes",
        table.rows.len()
    );
    kit.works(&session, "after a result that was cut by bytes").await
}

pub(super) async fn caps_by_cell(kit: &Kit) -> Outcome {
    let request = need(kit.material.big_cell.as_ref(), "big_cell")?;
    let session = kit.open_with(|target| target.guardrails.max_cell_bytes = 1_000).await?;
    match kit.came(&session, request, Some(10)).await {
        Came::Failed(e) if e.kind() == ErrorKind::TooLarge => {}
        Came::Failed(e) => fail!("a value over the cap is an error of another kind: {}", told(&e)),
        Came::Rows(table) => fail!(
            "a value over the cap of 1,000 bytes came all the same, or was cut: {:?}",
            table.rows.first().map(|row| format!("{row:?}").len())
        ),
        other => fail!("{}: {other:?}", short(request)),
    }
    kit.works(&session, "after a value over the cap").await?;
    // The same value under the default cap is whole.
    let table = kit.table(&kit.open().await?, request, Some(10)).await?;
    let length = table.rows.iter().flatten().map(text_length).max().unwrap_or_default();
    ensure!(length >= 64 << 10, "the fixture's big_cell has {length} bytes, at least 64 KiB are needed");
    Ok(())
}

fn text_length(value: &super::super::Value) -> usize {
    match value {
        super::super::Value::Text(text) | super::super::Value::Json(text) => text.len(),
        _ => 0,
    }
}

pub(super) async fn slow_reader(kit: &Kit) -> Outcome {
    /// What may wait at most: the queue, one batch that is being filled and one that is being handed on.
    const MOST: u64 = (QUEUE_BYTES + 2 * BATCH_BYTES) as u64;
    let request = need(kit.material.endless_rows.as_ref(), "endless_rows")?;
    let session = kit.open().await?;
    let mut rows = kit.start(&session, request, None, &kit.call()).await?;
    let mut taken = 0;
    for _ in 0..20 {
        // A dialect that first collects everything never gets here: there is no end.
        match rows.next().await {
            Ok(Some(batch)) => taken += batch.num_rows() as u64,
            Ok(None) => fail!("an endless result ended after {taken} rows"),
            Err(e) => fail!("no batch of an endless result came: {}", told(&e)),
        }
        let ending = rows.ending();
        let per_row = ending.bytes / ending.rows.max(1);
        let waiting = ending.rows.saturating_sub(taken) * per_row.max(1);
        ensure!(waiting <= MOST, "{waiting} bytes wait for a slow reader, at most {MOST} may");
        // Time for a writer that does not wait for its reader to run ahead.
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    drop(rows);
    kit.works(&session, "after a slow reader went away").await
}
