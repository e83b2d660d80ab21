//! Lists of models, and looking whether a server is there.

mod support;

use dbagent_core::Secret;
use dbagent_core::model::ModelErrorKind as Kind;
use dbagent_openai::{Probe, list_models, probe};
use support::*;

#[tokio::test]
async fn a_list_without_object_and_owner() {
    let server =
        Server::sending(json("200 OK", r#"{"data":[{"id":"a"},{"id":"b","context_length":4096}]}"#)).await;
    let models = list_models(&server.base_url, Some(&Secret::new("sk-1"))).await.unwrap();
    let shown: Vec<_> = models.iter().map(|m| (m.id.as_str(), m.window)).collect();
    assert_eq!(shown, [("a", None), ("b", Some(4096))]);
    let head = server.asked()[0].head.to_ascii_lowercase();
    assert!(head.starts_with("get /v1/models ") && head.contains("authorization: bearer sk-1"), "{head}");
    let models = model(&server).models().await.unwrap();
    assert_eq!(models.len(), 2);
    assert!(!server.asked()[1].head.to_ascii_lowercase().contains("authorization"));
}

#[tokio::test]
async fn what_is_no_list_is_an_error() {
    let of = async |bytes: Vec<u8>| {
        let server = Server::sending(bytes).await;
        list_models(&server.base_url, None).await.unwrap_err()
    };
    assert_eq!(of(json("401 Unauthorized", r#"{"error":"no"}"#)).await.kind, Kind::Auth);
    let page = of(http("200 OK", "content-type: text/html\r\n", "<html>")).await;
    assert!(page.kind == Kind::Decode && page.message.contains("not a list of models"), "{}", page.message);
    assert_eq!(list_models("nonsense", None).await.unwrap_err().kind, Kind::InvalidRequest);
    let key = list_models("http://localhost:1", Some(&Secret::new("canary\n"))).await.unwrap_err();
    assert!(key.message.contains("line break") && !format!("{key:?}").contains("canary"), "{}", key.message);
}

#[tokio::test]
async fn probing() {
    let server = Server::sending(json("200 OK", r#"{"object":"list","data":null}"#)).await;
    assert_eq!(probe(&server.base_url).await, Probe::Found(Vec::new()));
    let locked = Server::sending(json("401 Unauthorized", "{}")).await;
    assert_eq!(probe(&locked.base_url).await, Probe::Other { status: Some(401) });
    let page = Server::sending(http("200 OK", "", "hello")).await;
    assert_eq!(probe(&page.base_url).await, Probe::Other { status: Some(200) });
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    assert_eq!(probe(&base_url).await, Probe::Nothing);
    assert_eq!(probe("https://models.example.com/v1").await, Probe::NotLocal);
    assert_eq!(probe("nonsense").await, Probe::NotLocal);
}

#[tokio::test]
async fn a_silent_program_is_nothing() {
    let server = Server::new(vec![vec![Step::Hang]]).await;
    assert_eq!(probe(&server.base_url).await, Probe::Nothing);
}
