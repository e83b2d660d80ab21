//! The model inside the core's wrappers, as hosts use it.

mod support;

use std::sync::Arc;
use std::time::Duration;

use dbagent_core::model::{
    Actions, Fallback, JsonActions, Model, ModelEvent, ModelProfile, ModelRequest, RetryPolicy, Retrying,
    drain,
};
use dbagent_core::tool::{ToolHints, ToolSpec};
use support::*;

fn with_tool() -> ModelRequest {
    let mut request = hello();
    request.tools = Arc::from([ToolSpec {
        name: "query".to_owned(),
        description: "Runs a query.".to_owned(),
        parameters: Arc::new(serde_json::json!({"type": "object"})),
        hints: ToolHints::READ_ONLY,
    }]);
    request
}

#[tokio::test]
async fn a_failure_that_passes_is_tried_again_and_seen() {
    let busy = http("503 Service Unavailable", "retry-after: 0\r\n", "busy");
    let cut = events(&[]);
    let good = events(&[&text("hi"), STOP, DONE]);
    let server = Server::new([busy, cut, good].into_iter().map(|b| vec![Step::Send(b)]).collect()).await;
    let policy = RetryPolicy {
        retries: 2,
        base: Duration::from_millis(1),
        max: Duration::from_millis(2),
        jitter: 0.0,
    };
    let model = Retrying::new(Arc::new(model(&server)), policy);
    let mut attempts = Vec::new();
    let reply = drain(model.stream(hello()).await.unwrap(), |e| {
        if let ModelEvent::Retrying { attempt, reason, .. } = e {
            attempts.push((attempt, reason));
        }
    });
    assert_eq!(reply.await.unwrap().text, "hi");
    assert_eq!(attempts.len(), 2);
    assert!(
        attempts[0].1.contains("busy") && attempts[1].1.contains("stopped before it was complete"),
        "{attempts:?}"
    );
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn a_wrong_key_hands_over_to_the_next_model() {
    let locked = Server::sending(json("401 Unauthorized", r#"{"error":"no"}"#)).await;
    let open = Server::sending(events(&[&text("hi"), STOP, DONE])).await;
    let first: Arc<dyn Model> = Arc::new(model(&locked));
    let second: Arc<dyn Model> = Arc::new(model(&open));
    let model = Fallback::new(first, [second]);
    assert_eq!(drain(model.stream(hello()).await.unwrap(), |_| ()).await.unwrap().text, "hi");
}

#[tokio::test]
async fn json_actions_send_a_schema_and_no_tools() {
    let server =
        Server::sending(events(&[&text(r#"{"tool":"query","args":{"statement":"SELECT 1"}}"#), STOP, DONE]))
            .await;
    let profile = ModelProfile { actions: Actions::Json, ..ModelProfile::default() };
    let model = JsonActions::new(Arc::new(builder(&server).profile(profile).build().unwrap()));
    let reply = drain(model.stream(with_tool()).await.unwrap(), |_| ()).await.unwrap();
    assert_eq!(reply.calls[0].name, "query");
    let body = server.asked()[0].json();
    assert!(body.get("tools").is_none() && body["response_format"]["type"] == "json_schema", "{body}");
}
