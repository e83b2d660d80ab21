//! What Postgres itself stops on a hardened connection, with the guard out of the way.

use std::collections::BTreeMap;
use std::time::Duration;

use dbagent_core::context::CallContext;
use dbagent_core::{ErrorKind, Request};
use dbagent_postgres::testing::raw_hardened;

use crate::state::{ALONE, changed, fingerprint};
use crate::support::{Scratch, rows};

/// Deny rows that leave a trace although the transaction is read-only and rolled back: only the judge and the
/// account stop them. The list can only shrink: a row that leaves no trace any more must be taken off, and a
/// new one must not be put on without a reason. `docs/threat-model.md` names them.
const STILL_CHANGE: &[(&str, &str)] = &[];

#[tokio::test(flavor = "multi_thread")]
async fn deny_rows_leave_no_trace_but_for_those_that_are_listed() {
    let _alone = ALONE.lock().await;
    let Some(mut scratch) = Scratch::with(&[]).await else { return };
    let mut target = scratch.as_plain_owner().await;
    target.guardrails.query_timeout_s = 2;
    let call = || CallContext::within(Duration::from_secs(5));
    let mut door = raw_hardened(&target, &call()).await.unwrap();
    let (mut traces, mut ran) = (BTreeMap::new(), 0);
    let mut before = fingerprint(&mut scratch.owner).await.unwrap();
    for row in rows().into_iter().filter(|r| !r.allow) {
        match door.run(&Request::text(&row.statement)).await {
            Ok(_) => ran += 1,
            // One that ends its own connection, or waits for what never comes, has the next on another.
            Err(e) if matches!(e.kind(), ErrorKind::Connection | ErrorKind::Timeout | ErrorKind::Internal) => {
                door = raw_hardened(&target, &call()).await.unwrap();
            }
            Err(_) => {}
        }
        let now = fingerprint(&mut scratch.owner).await.unwrap();
        let parts = changed(&before, &now);
        if !parts.is_empty() {
            traces.insert(row.id.clone(), format!("{:?}: {}", row.statement, parts.join(", ")));
            before = now;
        }
    }
    drop(door);
    scratch.close().await;
    let new: Vec<_> = traces.iter().filter(|(id, _)| !STILL_CHANGE.iter().any(|(s, _)| s == id)).collect();
    assert!(new.is_empty(), "these leave a trace and are not on the list: {new:#?}");
    let gone: Vec<_> = STILL_CHANGE.iter().filter(|(id, _)| !traces.contains_key(*id)).collect();
    assert!(gone.is_empty(), "these leave no trace any more, take them off the list: {gone:?}");
    // Without the guard, much of what it denies does run.
    assert!(ran > 50, "{ran}");
}
