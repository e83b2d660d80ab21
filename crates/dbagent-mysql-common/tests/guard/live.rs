//! The corpora on the real server: judged with its catalogue, and what is cleared runs.

use dbagent_core::Request;
use dbagent_core::request::{Param, Params};
use dbagent_core::session::Verdict;

use super::corpus::rows;
use super::server::{Scratch, call, judged, url};

#[tokio::test(flavor = "multi_thread")]
async fn every_row_is_judged_as_it_says_with_a_database() {
    let Some(url) = url() else { return };
    let scratch = Scratch::new(&url).await;
    let session = scratch.session().await;
    let mut wrong = Vec::new();
    for row in rows() {
        let (cleared, why) = judged(&session, &row.statement).await;
        if cleared != row.allow {
            wrong.push(format!("{} {:?}: {why}", row.id, row.statement));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Parameters for the rows that have some: the text of those rows names them by number.
fn request(text: &str) -> Request {
    let count = if text.contains("AND name LIKE ?") { 2 } else { 3 };
    Request { params: Params::Positional(vec![Param::I64(1); count]), ..Request::text(text) }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_cleared_runs() {
    let Some(url) = url() else { return };
    let scratch = Scratch::new(&url).await;
    let session = scratch.session().await;
    let mut failed = Vec::new();
    let rows: Vec<_> = rows().into_iter().filter(|r| r.allow).collect();
    for row in &rows {
        let asked =
            if row.kind == "parameter" { request(&row.statement) } else { Request::text(&row.statement) };
        let verdict = session.judge(asked, Some(1_000), &call()).await.unwrap();
        let Verdict::Cleared(cleared) = verdict else {
            failed.push(format!("{} {:?}: {verdict:?}", row.id, row.statement));
            continue;
        };
        let outcome = async {
            let mut rows = session.read(cleared, &call())?;
            while rows.next().await?.is_some() {}
            Ok::<(), dbagent_core::Error>(())
        };
        if let Err(e) = outcome.await {
            failed.push(format!("{} {:?}: {e}", row.id, row.statement));
        }
    }
    assert!(failed.is_empty(), "{} of {}\n{}", failed.len(), rows.len(), failed.join("\n"));
}
