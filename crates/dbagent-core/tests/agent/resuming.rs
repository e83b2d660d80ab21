//! A process may end after any fact: a resumed run ends as the uninterrupted one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::support::{Script, calls, database, says, soon};
use dbagent_core::fact::{Fact, FactRecord};
use dbagent_core::state::State;
use dbagent_core::store::{Appended, MemoryStore, Store};
use dbagent_core::tool::{ToolHints, ToolOutput, tool};
use dbagent_core::{Agent, ErrorKind, Guardrails};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

fn script_from(turn: usize) -> Script {
    let steps = [
        calls(&[
            ("query", "{\"statement\":\"rows 2\"}"),
            ("mail", "{}"),
            ("query", "{\"statement\":\"rows 1\"}"),
        ]),
        says("done"),
    ];
    Script::new(steps.into_iter().skip(turn))
}

fn agent(script: Script, store: Arc<MemoryStore>, mails: Arc<AtomicU32>) -> Agent {
    let mail = tool("mail", "Sends a mail.", ToolHints::default(), move |_: Nothing| {
        let mails = Arc::clone(&mails);
        async move {
            mails.fetch_add(1, Ordering::Relaxed);
            Ok(ToolOutput::text("sent"))
        }
    });
    Agent::builder(Arc::new(script))
        .database(database(Guardrails::default()))
        .tool(Arc::new(mail))
        .store(store)
        .build()
        .unwrap()
}

async fn log_of(store: &MemoryStore) -> Vec<FactRecord> {
    store.load("t", 0).await.unwrap()
}

#[tokio::test]
async fn killed_after_any_fact_the_run_ends_the_same_and_nothing_is_done_twice() {
    let whole = Arc::new(MemoryStore::new());
    let mails = Arc::new(AtomicU32::new(0));
    agent(script_from(0), whole.clone(), mails).ask("t", "q").await.unwrap();
    let log = log_of(&whole).await;
    let expected = State::fold(&log).unwrap().messages;
    for cut in 1..log.len() {
        let store = Arc::new(MemoryStore::new());
        let prefix: Vec<FactRecord> = log[..cut].to_vec();
        assert_eq!(store.append("t", 0, prefix.clone()).await.unwrap(), Appended::At(cut as u64));
        let has = |wanted: fn(&Fact) -> bool| prefix.iter().any(|r| wanted(&r.fact));
        let sent_before = has(|f| matches!(f, Fact::CallBegun { key, .. } if key == "t1c1"));
        let known = has(|f| matches!(f, Fact::CallFinished { key, .. } if key == "t1c1"));
        let replies = prefix.iter().filter(|r| matches!(r.fact, Fact::ModelReplied { .. })).count();
        let mails = Arc::new(AtomicU32::new(0));
        let resumed = agent(script_from(replies), store.clone(), mails.clone());
        let answer = soon(resumed.resume("t").outcome()).await.unwrap();
        assert_eq!(answer.text, "done", "cut after {cut}");
        // What had begun and may not be repeated is not sent again.
        assert_eq!(
            mails.load(Ordering::Relaxed),
            u32::from(!sent_before),
            "cut after {cut}: {:?}",
            prefix.last()
        );
        let messages = State::fold(&log_of(&store).await).unwrap().messages;
        if sent_before && !known {
            let text = format!("{messages:?}");
            assert!(text.contains("outcome is unknown"), "cut after {cut}: {text}");
        } else {
            assert_eq!(messages, expected, "cut after {cut}");
        }
    }
}

#[tokio::test]
async fn only_an_interrupted_run_is_resumed_and_a_new_question_waits_for_it() {
    let store = Arc::new(MemoryStore::new());
    let mails = Arc::new(AtomicU32::new(0));
    let e = agent(script_from(0), store.clone(), mails.clone()).resume("t").outcome().await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::InvalidRequest);
    let started = Fact::RunStarted { run: 1, input: "q".into(), fingerprint: String::new(), setup: None };
    store.append("t", 0, vec![FactRecord { seq: 1, at_ms: 0, fact: started }]).await.unwrap();
    let e = agent(script_from(0), store.clone(), mails).ask("t", "another").await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Conflict);
}

#[tokio::test]
async fn a_fact_of_a_newer_program_stops() {
    let text = r#"{"seq":1,"at_ms":0,"kind":"teleported","version":1,"body":{}}"#;
    let e = FactRecord::from_json(text).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Incompatible);
    assert!(e.hint_text().unwrap().contains("newer version"));
}
