//! Every row of the corpora is judged as it says.

use dbagent_core::guard::{Judgement, Policy};

use crate::support::{Judged, Scratch, offline, rows};

#[test]
fn every_row_is_judged_as_it_says_without_a_database() {
    let mut wrong = Vec::new();
    for row in rows() {
        let verdict = offline(&row.statement, &Policy::default());
        if matches!(verdict, Judgement::Read) != row.allow {
            wrong.push(format!("{} {:?}: {verdict:?}", row.id, row.statement));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_row_is_judged_as_it_says_in_a_live_catalogue_and_what_is_cleared_runs() {
    let Some(mut scratch) = Scratch::with(&[]).await else { return };
    let mut wrong = Vec::new();
    for row in rows() {
        let judged = scratch.judge(&row.statement, &Policy::default()).await;
        if matches!(judged, Judged::Read) != row.allow {
            wrong.push(format!("{} {:?}: {judged:?}", row.id, row.statement));
        }
        if row.allow
            && let Err(e) = scratch.run(&row.statement).await
        {
            wrong.push(format!("{} {:?}: {e}", row.id, row.statement));
        }
    }
    scratch.close().await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
