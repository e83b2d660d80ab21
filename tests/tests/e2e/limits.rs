//! Bad and boundless input: always a clear answer, never a hang.

use std::sync::Arc;
use std::time::Duration;

use dbagent::model::Message;
use dbagent::{Guardrails, LightAgent};
use dbagent_testkit::model::ScriptedModel;
use serde_json::json;

use crate::support::{chinook, observe};

async fn under(guardrails: Guardrails, statement: &str) -> String {
    let builder = LightAgent::builder().url(chinook()).guardrails(guardrails);
    tokio::time::timeout(Duration::from_secs(120), observe(builder, "query", json!({"statement": statement})))
        .await
        .unwrap_or_else(|_| panic!("it hangs"))
        .0
}

#[tokio::test]
async fn endless_statements_are_stopped_and_the_session_works_on() {
    let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";
    let text = under(Guardrails { query_timeout_s: 1, ..Guardrails::default() }, endless).await;
    assert!(text.starts_with("ERROR (timeout"), "{text}");
    let rows = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c";
    let text = under(Guardrails::default(), rows).await;
    assert!(text.starts_with("INCOMPLETE: more than 100 rows exist"), "{text}");
}

#[tokio::test]
async fn a_megabyte_of_anything_is_refused_by_its_size() {
    let million = 1_000_000;
    for text in [
        "(".repeat(million),
        format!("SELECT 1{}", "+1".repeat(million / 2)),
        format!("SELECT {}1", "NOT ".repeat(million / 4)),
        format!("SELECT 1{}", " UNION SELECT 1".repeat(million / 15)),
        "\u{0}".repeat(10),
        "\u{feff}".repeat(1_000),
        "\u{202e}SELECT 1".into(),
    ] {
        let seen = under(Guardrails::default(), &text).await;
        assert!(seen.starts_with("REFUSED (G0"), "{}", dbagent::text::shorten(&seen, 200));
        assert!(seen.len() < 2_000, "the answer is short");
    }
}

#[tokio::test]
async fn within_raised_limits_depth_is_an_answer_and_never_kills() {
    let raised = || Guardrails {
        max_statement_bytes: 4 << 20,
        max_statement_tokens: 4_000_000,
        ..Guardrails::default()
    };
    let n = 100_000;
    let deep = "REFUSED (G008 too-complex)";
    // Within our limits SQLite itself says that the expression or the select is too large, and runs nothing.
    let engine = "ERROR (syntax_error, code SQLITE_ERROR)";
    for (text, expected) in [
        (format!("SELECT {}1{}", "(".repeat(n), ")".repeat(n)), deep),
        (format!("SELECT 1{}", "+1".repeat(n)), engine),
        (format!("SELECT 1{}", "||1".repeat(n)), engine),
        (format!("SELECT 1 WHERE 1{}", " AND 1".repeat(n)), engine),
        (format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(n / 10)), engine),
        (format!("SELECT {}1", "NOT ".repeat(n)), engine),
        (format!("SELECT {}1{}", "CASE WHEN 1 THEN ".repeat(n / 10), " END".repeat(n / 10)), engine),
        (format!("SELECT * FROM Artist{}", " JOIN Artist".repeat(n / 10)), engine),
    ] {
        let seen = under(raised(), &text).await;
        let start = dbagent::text::shorten(&text, 30);
        assert!(seen.starts_with(expected), "{start}: {}", dbagent::text::shorten(&seen, 200));
    }
}

#[tokio::test]
async fn odd_questions_reach_the_model_as_they_are() {
    for question in ["", " ", "\u{0}\u{1b}[31m\u{202e}", &"x".repeat(1 << 20)] {
        let model = ScriptedModel::new().text("an answer");
        let agent = LightAgent::builder().url(chinook()).model(Arc::new(model.clone())).build().unwrap();
        let answer = agent.ask(question).await.unwrap();
        assert_eq!(answer.text, "an answer");
        let asked = &model.requests()[0];
        let last = asked.messages.last().unwrap();
        assert!(matches!(last, Message::User { text } if text == question), "{:.200}", format!("{last:?}"));
    }
    // The planner reads them too, and says that it is not sure.
    for question in ["", "\u{0}\u{1b}[31m", &"SELECT ".repeat(10_000)] {
        let agent = LightAgent::builder().url(chinook()).build().unwrap();
        let answer =
            tokio::time::timeout(Duration::from_secs(60), agent.ask(question)).await.unwrap().unwrap();
        assert!(!answer.text.trim().is_empty());
    }
}
