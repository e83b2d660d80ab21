//! What a request to the model holds of a long thread.

use std::sync::Arc;

use crate::support::{Answerer, Script, asks, database, says, soon};
use dbagent_core::budget::Budgets;
use dbagent_core::fact::Fact;
use dbagent_core::model::{Message, ModelRequest};
use dbagent_core::text::estimate_tokens;
use dbagent_core::{Agent, Guardrails};

const FRAME_CLOSE: &str = "--- end of data ---";

fn results(request: &ModelRequest) -> Vec<&str> {
    let results = request.messages.iter().filter_map(|m| match m {
        Message::Tool(result) => Some(result.text.as_str()),
        _ => None,
    });
    results.collect()
}

fn says_somewhere(request: &ModelRequest, words: &str) -> bool {
    request.messages.iter().any(|m| matches!(m, Message::User { text } if text.contains(words)))
}

async fn asked(history_tokens: u64, turns: usize) -> (Agent, Vec<ModelRequest>) {
    // Each gives 20 rows of about 100 characters.
    let asking = (0..turns).map(|turn| -> Answerer { asks(&format!("rows 20 {}", 100 + turn)) });
    let script = Script::new(asking.chain([says("done"), says("again")]));
    let agent = Agent::builder(Arc::new(script.clone()))
        .database(database(Guardrails::default()))
        .budgets(Budgets { history_tokens, ..Budgets::default() })
        .build()
        .unwrap();
    soon(agent.ask("t", "the first question")).await.unwrap();
    soon(agent.ask("t", "the second question")).await.unwrap();
    let requests = script.requests();
    assert_eq!(requests.len(), turns + 2);
    (agent, requests)
}

#[tokio::test]
async fn old_results_are_shortened_and_the_thread_keeps_them() {
    let (agent, requests) = asked(3_000, 12).await;
    for request in &requests {
        let results = results(request);
        let tokens: u64 = results.iter().map(|text| estimate_tokens(text, 4.0)).sum();
        assert!(tokens <= 3_000, "{tokens}");
        for text in &results {
            assert_eq!(text.matches("--- data from").count(), text.matches(FRAME_CLOSE).count(), "{text}");
        }
        assert!(!says_somewhere(request, "left out here"));
    }
    let last = results(&requests[11]);
    assert_eq!(last.len(), 11, "no turn is missing");
    assert!(
        last[0].starts_with("20 rows, 2 columns\n[The rest of this earlier result is left out"),
        "{}",
        last[0]
    );
    assert!(last[10].ends_with(FRAME_CLOSE), "the newest is whole: {}", last[10]);
    let facts = agent.store().load("t", 0).await.unwrap();
    let whole = facts.iter().filter(|record| match &record.fact {
        Fact::CallFinished { text, .. } => text.ends_with(FRAME_CLOSE),
        _ => false,
    });
    assert_eq!(whole.count(), 12);
}

#[tokio::test]
async fn then_old_turns_are_left_out_behind_one_line() {
    let (_, requests) = asked(500, 12).await;
    let last = requests.last().unwrap();
    assert!(
        says_somewhere(last, "[")
            && says_somewhere(last, "earlier messages of this conversation are left out here")
    );
    assert!(says_somewhere(last, "the second question") && !says_somewhere(last, "the first question"));
    let within = &requests[11];
    assert!(says_somewhere(within, "the first question"), "the question of a run stays");
    assert!(results(within).len() < 11 && results(within).last().unwrap().ends_with(FRAME_CLOSE));
}

#[tokio::test]
async fn what_fits_is_sent_whole() {
    let (_, requests) = asked(Budgets::default().history_tokens, 12).await;
    for request in &requests {
        assert!(results(request).iter().all(|text| text.ends_with(FRAME_CLOSE)));
    }
    assert_eq!(results(requests.last().unwrap()).len(), 12);
}
