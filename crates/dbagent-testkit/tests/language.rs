//! The language of the fake document dialect: what it computes, what rules over nested fields hold, and
//! that an agent works with verbs instead of statements.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::sync::Arc;
use std::time::Duration;

use dbagent_core::model::Message;
use dbagent_core::observe::ReadTable;
use dbagent_core::rows::Cell;
use dbagent_core::serde_json::json;
use dbagent_core::session::Verdict;
use dbagent_core::tools::Database;
use dbagent_core::{Agent, CallContext, Dialect, ErrorKind, GuardedSession, Policy, Request, Rule, Target};
use dbagent_testkit::documents::{Connection, DIALECT, Mode, sample};
use dbagent_testkit::model::{CassetteModel, ScriptedModel, call};

static DOCUMENTS: Dialect = DIALECT;

fn within() -> CallContext {
    CallContext::within(Duration::from_secs(30))
}

async fn open(target: Target) -> GuardedSession {
    GuardedSession::open(&DOCUMENTS, target, &within()).await.unwrap()
}

/// The rows of a pipeline as text.
async fn rows(session: &GuardedSession, collection: &str, stages: &str) -> Vec<String> {
    let text = format!(r#"{{"op":"aggregate","collection":"{collection}","pipeline":[{stages}]}}"#);
    let Verdict::Cleared(cleared) = session.judge(Request::json(text), None, &within()).await.unwrap() else {
        panic!("{stages} was not cleared");
    };
    let mut rows = session.read(cleared, &within()).unwrap();
    let mut found = Vec::new();
    while let Some(batch) = rows.next().await.unwrap() {
        for row in 0..batch.num_rows() {
            let cells = (0..batch.num_columns()).map(|c| Cell::at(&batch, c, row).to_text());
            found.push(cells.collect::<Vec<_>>().join("|"));
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn pipelines_compute() {
    let (_folder, target) = sample().unwrap();
    let session = open(target).await;
    for (collection, stages, expected) in [
        (
            "users",
            r#"{"$match":{"address.city":{"$in":["London","Paris"]}}},{"$project":{"name":1}}"#,
            &["Ada"][..],
        ),
        ("users", r#"{"$match":{"tags":"navy"}},{"$project":{"name":1}}"#, &["Grace"]),
        ("users", r#"{"$match":{"email":null}},{"$project":{"name":1}}"#, &["Grace"]),
        ("users", r#"{"$match":{"address":{"$exists":false}}},{"$project":{"name":1}}"#, &["Grace"]),
        ("users", r#"{"$match":{"$nor":[{"id":1},{"id":{"$gte":3}}]}},{"$project":{"id":1}}"#, &["2"]),
        ("users", r#"{"$match":{"id":{"$nin":[1,2]}}},{"$project":{"id":1}}"#, &["3"]),
        ("users", r#"{"$sort":{"name":-1}},{"$skip":1},{"$limit":1},{"$project":{"name":1}}"#, &["Edsger"]),
        (
            "users",
            r#"{"$unwind":"$tags"},{"$match":{"tags":{"$exists":true}}},{"$project":{"tags":1}}"#,
            &["navy", "cobol"],
        ),
        ("users", r#"{"$project":{"x":{"$concat":["$name","!"]}}},{"$limit":1}"#, &["Ada!"]),
        ("users", r#"{"$project":{"address":0,"email":0,"tags":0}},{"$limit":1}"#, &["1|Ada"]),
        (
            "orders",
            r#"{"$group":{"_id":"$user_id","n":{"$sum":1},"sum":{"$sum":"$total"},"top":{"$max":"$total"}}},{"$sort":{"_id":1}}"#,
            &["1|2|112.49|99.99", "3|1|1.0|1.0"],
        ),
        ("orders", r#"{"$group":{"_id":null,"mean":{"$avg":"$id"},"least":{"$min":"$id"}}}"#, &["NULL|2|1"]),
        (
            "orders",
            r#"{"$match":{"id":3}},{"$lookup":{"from":"users","localField":"user_id","foreignField":"id","as":"u"}},{"$project":{"name":"$u.name","n":{"$size":"$u"}}}"#,
            &["Edsger|1"],
        ),
        (
            "orders",
            r#"{"$project":{"half":{"$divide":["$id",2]},"less":{"$subtract":["$id",1]}}},{"$limit":2}"#,
            &["0.5|0", "1.0|1"],
        ),
        ("orders", r#"{"$count":"n"}"#, &["3"]),
    ] {
        assert_eq!(rows(&session, collection, stages).await, expected, "{stages}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_hold_for_nested_fields_in_both_directions() {
    let verdict = async |deny: &str, stages: &str| {
        let (_folder, mut target) = sample().unwrap();
        target.policy = Policy::default().deny(deny).unwrap();
        let text = format!(r#"{{"op":"aggregate","collection":"users","pipeline":[{stages}]}}"#);
        match open(target).await.judge(Request::json(text), None, &within()).await.unwrap() {
            Verdict::Cleared(_) => None,
            Verdict::Refused(refusal) => Some(refusal.rule),
            Verdict::Proposed(_) => unreachable!("the target is for reading"),
        }
    };
    let city = "users.\"address.city\"";
    let inner = format!("*.{city}");
    for (stages, expected) in [
        (r#"{"$project":{"address.city":1}}"#, Some(Rule::DeniedColumn)),
        // The whole holds what is denied inside.
        (r#"{"$project":{"address":1}}"#, Some(Rule::DeniedColumn)),
        (r#"{"$group":{"_id":"$address"}}"#, Some(Rule::DeniedColumn)),
        (r#"{"$match":{"address.city":"x"}},{"$count":"n"}"#, Some(Rule::DeniedColumn)),
        (r#"{"$sort":{"address.city":1}},{"$project":{"name":1}}"#, Some(Rule::DeniedColumn)),
        ("", Some(Rule::DeniedColumn)),
        (r#"{"$project":{"address.zip":1}}"#, None),
        (r#"{"$project":{"name":1}}"#, None),
        (r#"{"$count":"n"}"#, None),
    ] {
        assert_eq!(verdict(&inner, stages).await, expected, "{stages}");
    }
    // A rule for the whole holds inside.
    assert_eq!(
        verdict("*.users.address", r#"{"$project":{"address.zip":1}}"#).await,
        Some(Rule::DeniedColumn)
    );
    // A join brings whole documents of the other collection.
    let join = r#"{"$lookup":{"from":"users","localField":"id","foreignField":"id","as":"u"}},{"$project":{"x":"$u.name"}}"#;
    assert_eq!(verdict(&inner, join).await, Some(Rule::DeniedColumn));
}

#[test]
fn the_engine_itself_refuses_writes_on_a_connection_for_reading() {
    let (_folder, target) = sample().unwrap();
    let file = target.url.decoded_rest().unwrap();
    let insert = Request::json(r#"{"op":"insert","collection":"users","documents":[{"id":9}]}"#);
    let count = || std::fs::read_to_string(&file).unwrap().matches("\"id\":9").count();
    let error = Connection::open(&file, None, Mode::ReadOnly).unwrap().execute(&insert).unwrap_err();
    assert_eq!((error.kind(), count()), (ErrorKind::Permission, 0));
    Connection::open(&file, None, Mode::ReadWrite).unwrap().execute(&insert).unwrap();
    assert_eq!(count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_asks_by_verbs_and_a_recorded_run_replays() {
    let folder = tempfile::tempdir().unwrap();
    let cassette = folder.path().join("verbs.jsonl");
    let ask = async |model: Arc<dyn dbagent_core::model::Model>| {
        let (_folder, target) = sample().unwrap();
        let agent = Agent::builder(model).database(Database::new(&DOCUMENTS, target)).build().unwrap();
        agent.ask("t", "Who spent most?").await.unwrap().text
    };
    let script = ScriptedModel::new()
        .calls([
            call("find", json!({"collection": "users", "filter": {"id": 1}, "projection": {"name": 1}})),
            call("aggregate", json!({"collection": "orders", "pipeline": [{"$group": {"_id": "$user_id", "sum": {"$sum": "$total"}}}], "limit": 1})),
            call("find", json!({"collection": "users", "filter": {"$where": "1"}})),
            call("find", json!({"collection": "users", "limit": 1_000_000})),
            call("aggregate", r#"{"collection":"users","pipeline":[],"pipeline":[{"$out":"x"}]}"#),
        ])
        .text("Ada did.");
    let recorder = CassetteModel::record(Arc::new(script.clone()), &cassette).unwrap();
    assert_eq!(ask(Arc::new(recorder)).await, "Ada did.");
    script.assert_used_up();

    let request = script.last_request().unwrap();
    let tools: Vec<&str> = request.tools.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(tools, ["list_objects", "describe_objects", "count", "sample", "find", "aggregate"]);
    let said: Vec<(&str, bool)> = request
        .messages
        .iter()
        .filter_map(|m| match m {
            Message::Tool(tool) => Some((tool.text.as_str(), tool.is_error)),
            _ => None,
        })
        .collect();
    let found = ReadTable::from_observation(said[0].0).unwrap();
    assert_eq!(found.rows, [[Some("Ada".to_owned())]]);
    assert!(!said[1].1 && said[1].0.starts_with("INCOMPLETE: more than 1"), "{}", said[1].0);
    assert!(said[2].1 && said[2].0.starts_with("REFUSED (G021 forbidden-function)"), "{}", said[2].0);
    assert!(said[3].1 && said[3].0.contains("1000"), "{}", said[3].0);
    assert!(said[4].1 && said[4].0.contains("the key appears twice"), "{}", said[4].0);

    // The same run again needs no model, and says the same.
    let player = CassetteModel::replay(&cassette).unwrap();
    assert_eq!(ask(Arc::new(player)).await, "Ada did.");
}
