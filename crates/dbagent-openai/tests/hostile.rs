//! Servers and models at their worst: sizes, splits, silence, cancellation, and what must never be shown.

mod support;

use std::sync::Arc;
use std::time::Duration;

use dbagent_core::model::{
    AssistantMessage, Finish, Message, Model as _, ModelErrorKind as Kind, ModelEvent, ModelProfile,
    ToolMessage,
};
use futures_util::StreamExt as _;
use support::*;
use tokio::sync::Notify;
use tokio::time::Instant;

#[tokio::test]
async fn a_thousand_calls_arrive_and_go_back_with_ids_of_their_own() {
    let calls: Vec<_> = (0..1000)
        .map(|i| serde_json::json!({"index": i, "id": "", "function": {"name": "q", "arguments": format!("{{\"n\":{i}}}")}}))
        .collect();
    let frame =
        serde_json::json!({"choices": [{"delta": {"tool_calls": calls}, "finish_reason": "tool_calls"}]});
    let reply = streamed(events(&[&frame.to_string(), DONE])).await.unwrap();
    assert_eq!(reply.calls.len(), 1000);
    assert_eq!(reply.calls[999].arguments, "{\"n\":999}");

    let mut conversation = vec![Message::user("hello")];
    let answers: Vec<_> = reply
        .calls
        .iter()
        .map(|c| {
            Message::Tool(ToolMessage {
                call_id: c.id.clone(),
                name: c.name.clone(),
                text: c.arguments.clone(),
                is_error: false,
            })
        })
        .collect();
    conversation.push(Message::Assistant(AssistantMessage {
        text: reply.text,
        calls: reply.calls,
        extras: reply.extras,
    }));
    conversation.extend(answers);
    let server = Server::sending(events(&[STOP, DONE])).await;
    ask(&model(&server), dbagent_core::model::ModelRequest::new(conversation)).await.1.unwrap();
    let body = server.asked()[0].json();
    let sent = body["messages"].as_array().unwrap();
    for (call, answer) in sent[1]["tool_calls"].as_array().unwrap().iter().zip(&sent[2..]) {
        assert_eq!(call["id"], answer["tool_call_id"]);
        assert_eq!(call["function"]["arguments"], answer["content"]);
    }
    let ids: std::collections::BTreeSet<_> =
        sent[2..].iter().map(|m| m["tool_call_id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 1000);
}

#[tokio::test]
async fn broken_and_duplicate_arguments_reach_the_reader_as_they_were_written() {
    for written in [r#"{"a":"#, r#"{"a":1,"a":2}"#, "", "null", "\u{0}"] {
        let frame = serde_json::json!({"choices": [{"delta": {"tool_calls": [
            {"index": 0, "id": "a", "function": {"name": "q", "arguments": written}}]}, "finish_reason": "tool_calls"}]});
        let reply = streamed(events(&[&frame.to_string(), DONE])).await.unwrap();
        assert_eq!(reply.calls[0].arguments, written);
    }
    let object = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"q","arguments":{"a":1,"\u0061":2}}}]},"finish_reason":"tool_calls"}]}"#;
    let reply = streamed(events(&[object, DONE])).await.unwrap();
    assert_eq!(reply.calls[0].arguments, r#"{"a":1,"\u0061":2}"#);
}

#[tokio::test]
async fn an_empty_reply_is_a_reply() {
    let reply = streamed(events(&[STOP, DONE])).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.calls.len(), reply.finish), ("", 0, Finish::Stop));
}

#[tokio::test]
async fn every_split_of_the_bytes_gives_the_same_reply() {
    let body = format!("{}{}{}", frame_of(&text("ü")), frame_of(STOP), frame_of(DONE)).replace('\n', "\r\n");
    let raw = body.replace("\\u00fc", "ü");
    assert!(raw.contains('ü'));
    for at in 1..raw.len() {
        let (first, second) = raw.as_bytes().split_at(at);
        let reply = streamed(pieces([first, second])).await.unwrap();
        assert_eq!(reply.text, "ü", "split at {at}");
    }
}

#[tokio::test]
async fn every_form_of_line_end() {
    for end in ["\n", "\r\n", "\r"] {
        let body = format!("\u{feff}{}: note\n{}{}", frame_of(&text("hi")), frame_of(STOP), frame_of(DONE));
        let reply = streamed(pieces([body.replace('\n', end)])).await.unwrap();
        assert_eq!(reply.text, "hi", "{end:?}");
    }
}

#[tokio::test]
async fn bytes_that_are_no_utf8_are_an_error() {
    let mut answer = STREAM_HEAD.as_bytes().to_vec();
    answer.extend(chunk(b"data: {\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}\n\n"));
    let server = Server::new(vec![vec![Step::Send(answer), Step::Hang]]).await;
    let error = ask(&model(&server), hello()).await.1.unwrap_err();
    assert!(error.kind == Kind::Decode && error.message.contains("UTF-8"), "{}", error.message);
    server.closed(1).await;
}

#[tokio::test]
async fn a_large_error_is_read_up_to_its_cap() {
    // Of the ten megabytes only one comes: who waits for the rest waits for ever.
    let mut answer = b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 10485760\r\n\r\n".to_vec();
    answer.extend(vec![b'x'; 1 << 20]);
    let server = Server::new(vec![vec![Step::Send(answer), Step::Hang]]).await;
    let error = ask(&model(&server), hello()).await.1.unwrap_err();
    assert_eq!((error.kind, error.status), (Kind::Server, Some(500)));
    server.closed(1).await;
    let (shown, message) = (error.body.unwrap(), error.message);
    assert!(shown.len() < 600 && shown.contains("more characters"), "{shown}");
    assert!(message.len() < 600, "{message}");
}

#[tokio::test]
async fn a_line_without_an_end_is_not_read_for_ever() {
    let mut answer = STREAM_HEAD.as_bytes().to_vec();
    answer.extend(chunk("data: "));
    for _ in 0..6 {
        answer.extend(chunk(vec![b'x'; 1 << 20]));
    }
    let server = Server::new(vec![vec![Step::Send(answer), Step::Hang]]).await;
    let error = ask(&model(&server), hello()).await.1.unwrap_err();
    assert!(error.kind == Kind::Decode && error.message.contains("4 MiB"), "{}", error.message);
    server.closed(1).await;
}

#[tokio::test]
async fn a_complete_reply_does_not_wait_for_a_server_that_stays() {
    let mut answer = STREAM_HEAD.as_bytes().to_vec();
    answer.extend(chunk(format!("{}{}", frame_of(&text("hi")), frame_of(STOP))));
    let server = Server::new(vec![vec![Step::Send(answer), Step::Hang]]).await;
    let reply = ask(&model(&server), hello()).await.1.unwrap();
    assert!(reply.text == "hi" && reply.usage.estimated);
    server.closed(1).await;
}

#[tokio::test]
async fn a_silent_server_is_a_transport_error() {
    let head = Step::Send(STREAM_HEAD.as_bytes().to_vec());
    for script in [vec![Step::Hang], vec![head, Step::Hang]] {
        let server = Server::new(vec![script]).await;
        let model = builder(&server).idle_timeout(Duration::from_millis(50)).build().unwrap();
        let error = ask(&model, hello()).await.1.unwrap_err();
        assert_eq!((error.kind, error.retryable), (Kind::Transport, true));
        assert!(error.message.contains("sent nothing for 0.05 s"), "{}", error.message);
    }
}

#[tokio::test]
async fn a_deadline_ends_a_silent_server_at_any_point() {
    let head = Step::Send(STREAM_HEAD.as_bytes().to_vec());
    let frame = Step::Send(chunk(frame_of(&text("hi"))));
    for script in [vec![Step::Hang], vec![head.clone(), Step::Hang], vec![head, frame, Step::Hang]] {
        let server = Server::new(vec![script]).await;
        let mut request = hello();
        request.deadline = Some(Instant::now() + Duration::from_millis(200));
        let error = ask(&model(&server), request).await.1.unwrap_err();
        assert_eq!((error.kind, error.retryable), (Kind::Timeout, false));
    }
}

#[tokio::test]
async fn a_deadline_also_ends_a_reply_that_comes_at_once() {
    let server = Server::new(vec![vec![Step::Hang]]).await;
    let mut request = hello();
    request.deadline = Some(Instant::now() + Duration::from_millis(200));
    let error = ask(&builder(&server).streaming(false).build().unwrap(), request).await.1.unwrap_err();
    assert_eq!(error.kind, Kind::Timeout);
}

#[tokio::test]
async fn cancelled_before_the_answer() {
    for streaming in [true, false] {
        let server = Server::new(vec![vec![Step::Hang]]).await;
        let request = hello();
        let cancel = request.cancel.clone();
        let model = builder(&server).streaming(streaming).build().unwrap();
        let asking = tokio::spawn(async move { ask(&model, request).await.1 });
        server.arrived(1).await;
        cancel.cancel();
        assert_eq!(asking.await.unwrap().unwrap_err().kind, Kind::Cancelled);
        server.closed(1).await;
    }
}

#[tokio::test]
async fn cancelled_before_the_connection() {
    let server = Server::new(vec![vec![Step::Hang]]).await;
    let request = hello();
    request.cancel.cancel();
    assert_eq!(ask(&model(&server), request).await.1.unwrap_err().kind, Kind::Cancelled);
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn cancelled_while_connecting() {
    // A listener whose queue is full neither takes a connection nor refuses it.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut queue = Vec::new();
    while let Ok(Ok(socket)) =
        tokio::time::timeout(Duration::from_millis(300), tokio::net::TcpStream::connect(address)).await
    {
        queue.push(socket);
        assert!(queue.len() < 20_000, "the queue of the listener has no end");
    }
    let model = dbagent_openai::OpenAi::builder()
        .base_url(format!("http://{address}/v1"))
        .model("m")
        .build()
        .unwrap();
    let request = hello();
    let cancel = request.cancel.clone();
    let asking = tokio::spawn(async move { ask(&model, request).await.1 });
    tokio::task::yield_now().await;
    cancel.cancel();
    assert_eq!(asking.await.unwrap().unwrap_err().kind, Kind::Cancelled);
}

#[tokio::test]
async fn cancelled_while_streaming() {
    let mut head = STREAM_HEAD.as_bytes().to_vec();
    head.extend(chunk(frame_of(&text("hi"))));
    let server = Server::new(vec![vec![Step::Send(head), Step::Hang]]).await;
    let request = hello();
    let cancel = request.cancel.clone();
    let mut events = model(&server).stream(request).await.unwrap();
    assert_eq!(events.next().await.unwrap().unwrap(), ModelEvent::TextDelta("hi".to_owned()));
    cancel.cancel();
    assert_eq!(events.next().await.unwrap().unwrap_err().kind, Kind::Cancelled);
    assert!(events.next().await.is_none());
    drop(events);
    server.closed(1).await;
}

#[tokio::test]
async fn a_dropped_stream_closes_its_connection() {
    let mut head = STREAM_HEAD.as_bytes().to_vec();
    head.extend(chunk(frame_of(&text("hi"))));
    let server = Server::new(vec![vec![Step::Send(head), Step::Hang]]).await;
    let events = model(&server).stream(hello()).await.unwrap();
    drop(events);
    server.closed(1).await;
}

#[tokio::test]
async fn text_is_shown_as_it_comes() {
    let go = Arc::new(Notify::new());
    let mut first = STREAM_HEAD.as_bytes().to_vec();
    first.extend(chunk(frame_of(&text("one"))));
    let mut second = chunk(format!("{}{}", frame_of(&text(" two")), frame_of(STOP)));
    second.extend(CHUNKS_END);
    let server =
        Server::new(vec![vec![Step::Send(first), Step::Wait(Arc::clone(&go)), Step::Send(second)]]).await;
    let mut events = model(&server).stream(hello()).await.unwrap();
    assert_eq!(events.next().await.unwrap().unwrap(), ModelEvent::TextDelta("one".to_owned()));
    go.notify_one();
    assert_eq!(events.next().await.unwrap().unwrap(), ModelEvent::TextDelta(" two".to_owned()));
    assert!(
        matches!(events.next().await.unwrap().unwrap(), ModelEvent::End(reply) if reply.text == "one two")
    );
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn both_ways_of_asking_give_the_same_events() {
    let body = r#"{"model":"m-1","choices":[{"index":0,"message":{"reasoning_content":"hm","content":"hi","tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"q","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#;
    let first = Server::sending(json("200 OK", body)).await;
    let at_once = ask(&builder(&first).streaming(false).build().unwrap(), hello()).await;
    let frame = body.replace("\"message\"", "\"delta\"");
    let second = Server::sending(events(&[&frame, DONE])).await;
    let in_parts = ask(&model(&second), hello()).await;
    assert_eq!(at_once.0, in_parts.0);
    assert_eq!(at_once.1.unwrap(), in_parts.1.unwrap());
    assert_eq!(at_once.0.len(), 3);
}

#[tokio::test]
async fn nothing_answers() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let model = dbagent_openai::OpenAi::builder().base_url(&base_url).model("m").build().unwrap();
    let error = ask(&model, hello()).await.1.unwrap_err();
    assert_eq!((error.kind, error.retryable), (Kind::Transport, true));
    assert!(
        error.message.contains(&base_url) && error.message.contains("is the server running"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn something_else_answers() {
    for bytes in ["SSH-2.0-OpenSSH_9.9\r\n", "", "\x15\x03\x01"] {
        let error = streamed(bytes).await.unwrap_err();
        assert_eq!(error.kind, Kind::Transport, "{bytes:?}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = Server::sending(events(&[STOP, DONE])).await;
    for status in ["301 Moved Permanently", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let headers = format!("location: {}/chat/completions\r\n", other.base_url);
        let error = streamed(http(status, &headers, "")).await.unwrap_err();
        assert_eq!((error.kind, error.retryable), (Kind::InvalidRequest, false));
        assert!(error.message.contains(&other.base_url), "{}", error.message);
    }
    assert!(other.asked().is_empty());
}

#[tokio::test]
async fn the_key_is_in_nothing_that_can_be_printed() {
    const CANARY: &str = "sk-canary-7f3e9a";
    let echo = format!(
        r#"{{"error":{{"message":"Incorrect API key provided: {CANARY}.","code":"invalid_api_key"}}}}"#
    );
    let long = format!(r#"{{"error":"{}{CANARY}"}}"#, "x".repeat(290));
    let reply = format!(r#"{{"choices":7,"k":"{CANARY}"}}"#);
    let answers = [
        json("401 Unauthorized", &echo),
        json("200 OK", &echo),
        json("500 Internal Server Error", &long),
        json("200 OK", &reply),
        json("200 OK", CANARY),
        events(&[&echo]),
        events(&[&reply]),
        http("307 Temporary Redirect", &format!("location: http://{CANARY}.example.com/{CANARY}\r\n"), ""),
        Vec::new(),
    ];
    for answer in answers {
        for streaming in [true, false] {
            let server = Server::sending(&answer).await;
            let model = builder(&server).api_key(CANARY).streaming(streaming).build().unwrap();
            let error = ask(&model, hello()).await.1.unwrap_err();
            assert_eq!(server.asked()[0].head.matches(CANARY).count(), 1, "the key was sent");
            let list = dbagent_openai::list_models(&server.base_url, Some(&CANARY.into())).await;
            let builder = builder(&server).api_key(CANARY);
            let shown = format!(
                "{error} {error:?} {:?} {model:?} {builder:?} {list:?}",
                dbagent_core::Error::from(error.clone())
            );
            assert!(!shown.contains("canary"), "{shown}");
        }
    }
}

#[tokio::test]
async fn provider_fields_come_back_where_the_profile_says_so() {
    let frame = r#"{"choices":[{"delta":{"reasoning_content":"hm","tool_calls":[{"index":0,"id":"LONG","extra_content":{"google":{"thought_signature":"sig"}},"function":{"name":"q","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#
        .replace("LONG", &"i".repeat(2048));
    let reply = streamed(events(&[&frame, DONE])).await.unwrap();
    let call = reply.calls[0].clone();
    assert_eq!(call.id.len(), 2048);
    let conversation = vec![
        Message::user("hello"),
        Message::Assistant(AssistantMessage { text: reply.text, calls: reply.calls, extras: reply.extras }),
        Message::Tool(ToolMessage {
            call_id: call.id.clone(),
            name: call.name,
            text: "ok".to_owned(),
            is_error: false,
        }),
    ];
    for replay in [true, false] {
        let server = Server::sending(events(&[STOP, DONE])).await;
        let profile = ModelProfile { replay_extras: replay, ..ModelProfile::default() };
        let model = builder(&server).profile(profile).build().unwrap();
        ask(&model, dbagent_core::model::ModelRequest::new(conversation.clone())).await.1.unwrap();
        let sent = server.asked()[0].json();
        let sent_call = &sent["messages"][1]["tool_calls"][0];
        assert_eq!(sent_call["id"], call.id.as_str());
        assert_eq!(sent["messages"][2]["tool_call_id"], call.id.as_str());
        assert_eq!(sent["messages"][1].get("reasoning_content").is_some(), replay);
        assert_eq!(sent_call.get("extra_content").is_some(), replay);
    }
}

#[tokio::test]
async fn a_conversation_that_no_server_takes_is_not_sent() {
    let server = Server::sending(events(&[STOP, DONE])).await;
    let orphan =
        ToolMessage { call_id: "a".to_owned(), name: "q".to_owned(), text: String::new(), is_error: false };
    let request = dbagent_core::model::ModelRequest::new(vec![Message::Tool(orphan)]);
    assert_eq!(ask(&model(&server), request).await.1.unwrap_err().kind, Kind::InvalidRequest);
    assert!(server.asked().is_empty());
}
