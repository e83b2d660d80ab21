//! A database that is locked, cut or removed while somebody works with it: a clear error, never a panic.

use std::sync::{Arc, Mutex};

use dbagent::{Credential, ErrorKind, LightAgent};
use dbagent_testkit::model::{ScriptedModel, call};

use crate::support::{Scratch, observations, url};

const ASK: &str = r#"{"statement":"SELECT count(*) FROM t"}"#;

fn many_rows() -> Scratch {
    Scratch::new(
        "CREATE TABLE t (v TEXT);
         INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT 'value ' || i FROM n",
    )
}

/// Asks once, lets something happen to the file, asks again; gives what the model read the second time.
async fn between(scratch: &Scratch, happen: impl Fn(&std::path::Path) + Send + Sync + 'static) -> String {
    let path = scratch.path();
    let model = ScriptedModel::new()
        .calls([call("query", ASK)])
        .reply_with(move |_| {
            happen(&path);
            vec![call("query", r#"{"statement":"SELECT count(*), max(v) FROM t"}"#)].into()
        })
        .text("done");
    // Locks are waited for as long as this says.
    let credential = Credential::new().set("connect_timeout", "0.2");
    let builder = LightAgent::builder().url(scratch.url()).credential(credential);
    let agent = builder.model(Arc::new(model.clone())).build().unwrap();
    agent.ask("q").await.unwrap();
    let requests = model.requests();
    assert!(observations(&requests[1])[0].contains("| 20000 |"));
    observations(&requests[2]).remove(0)
}

#[tokio::test]
async fn a_truncated_file_is_an_error_that_says_so() {
    let text = between(&many_rows(), |path| {
        std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(5_000).unwrap();
    })
    .await;
    assert!(text.starts_with("ERROR ("), "{text}");
    assert!(text.contains("Do not retry"), "{text}");
}

#[tokio::test]
async fn a_file_of_garbage_is_an_error_that_says_so() {
    let text = between(&many_rows(), |path| {
        let len = std::fs::metadata(path).unwrap().len();
        std::fs::write(path, vec![0x5a; usize::try_from(len).unwrap()]).unwrap();
    })
    .await;
    assert!(text.starts_with("ERROR ("), "{text}");
    assert!(text.contains("Do not retry"), "{text}");
}

#[tokio::test]
async fn a_deleted_file_is_an_error_that_says_so() {
    let text = between(&many_rows(), |path| std::fs::remove_file(path).unwrap()).await;
    assert!(text.starts_with("ERROR (database_not_found"), "{text}");
    assert!(text.contains("Do not retry"), "{text}");
}

#[tokio::test]
async fn a_locked_file_is_an_error_that_may_pass() {
    let lock = Arc::new(Mutex::new(None));
    let held = Arc::clone(&lock);
    let text = between(&many_rows(), move |path| {
        let writer = rusqlite::Connection::open(path).unwrap();
        writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
        *held.lock().unwrap() = Some(writer);
    })
    .await;
    assert!(text.starts_with("ERROR (locked"), "{text}");
    assert!(text.contains("Wait a moment") && !text.contains("Do not retry"), "{text}");
    assert!(lock.lock().unwrap().is_some(), "the lock was held until now");
}

#[tokio::test]
async fn a_changed_schema_is_seen_at_once() {
    let text = between(&many_rows(), |path| {
        rusqlite::Connection::open(path).unwrap().execute_batch("ALTER TABLE t RENAME TO u").unwrap();
    })
    .await;
    assert!(text.starts_with("ERROR (unknown_object"), "{text}");
}

#[tokio::test]
async fn a_database_that_is_not_there_ends_the_run_before_a_token_is_spent() {
    let folder = tempfile::tempdir().unwrap();
    let model = ScriptedModel::new().text("never");
    let agent = LightAgent::builder()
        .url(url(&folder.path().join("none.db")))
        .model(Arc::new(model.clone()))
        .build()
        .unwrap();
    let e = agent.ask("q").await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::DatabaseNotFound);
    assert!(e.hint_text().is_some());
    assert_eq!(model.requests().len(), 0);
    assert!(!folder.path().join("none.db").exists(), "nothing is created");
}
