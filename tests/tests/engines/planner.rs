//! The planner that needs no network asks each engine the same questions.

use dbagent::LightAgent;
use serde_json::Value as Json;

use crate::engine::{Engine, others, rows, same, sqlite};

/// The questions over the sample that the planner's own tests have.
const QUESTIONS: &str = include_str!("../../../crates/dbagent-offline/tests/data/chinook.jsonl");

/// Rows that the planner asks for at most when it lists something.
const SHOWN: usize = 200;

fn is_ordered(case: &Json) -> bool {
    case.get("ordered").and_then(Json::as_bool) == Some(true)
}

/// What the planner found for each question.
async fn answers(engine: &Engine, cases: &[Json]) -> Vec<Vec<Vec<String>>> {
    let agent = LightAgent::builder().url(&engine.url).build().unwrap();
    let mut found = Vec::new();
    for case in cases {
        let question = case.get("question").and_then(Json::as_str).unwrap();
        let answer = agent.ask(question).await.unwrap();
        let mut rows = rows(&answer);
        // Engines sort texts by rules of their own.
        if !is_ordered(case) {
            rows.sort();
        }
        found.push(rows);
    }
    found
}

#[tokio::test]
async fn every_engine_gives_the_answers_of_sqlite() {
    let cases: Vec<Json> = QUESTIONS
        .lines()
        .map(|line| serde_json::from_str::<Json>(line).unwrap())
        .filter(|case| case.get("question").is_some() && case.get("sql").is_some())
        .collect();
    assert!(cases.len() > 100, "{}", cases.len());
    let expected = answers(&sqlite(), &cases).await;
    let mut wrong = Vec::new();
    for engine in others() {
        let found = answers(&engine, &cases).await;
        for ((case, expected), found) in cases.iter().zip(&expected).zip(&found) {
            // Of more rows than are shown, each engine shows those that it finds first.
            let cut = expected.len() == SHOWN && found.len() == SHOWN && !is_ordered(case);
            if !same(expected, found) && !cut {
                let few = |rows: &[Vec<String>]| rows.iter().take(4).cloned().collect::<Vec<_>>();
                wrong.push(format!(
                    "{}: {}\n  {} rows on SQLite: {:?}\n  {} rows here: {:?}",
                    engine.id,
                    case.get("question").and_then(Json::as_str).unwrap_or_default(),
                    expected.len(),
                    few(expected),
                    found.len(),
                    few(found)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}
