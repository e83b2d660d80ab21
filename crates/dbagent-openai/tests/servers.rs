//! One test for each row of what a strict client was seen to fail on: a scripted server each.

mod support;

use dbagent_core::model::{Finish, ModelErrorKind as Kind};
use support::*;

// Rows of replies.

#[tokio::test]
async fn a_reply_without_created_object_and_id() {
    for reply in both(r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#).await {
        let reply = reply.unwrap();
        assert_eq!((reply.text.as_str(), reply.finish), ("hi", Finish::Stop));
    }
}

#[tokio::test]
async fn an_empty_finish_reason_counts_when_the_reply_is_whole() {
    let body = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":""}]}"#;
    for reply in both(body).await {
        assert_eq!(reply.unwrap().finish, Finish::Stop);
    }
    let cut = r#"{"choices":[{"delta":{"content":"hi"},"finish_reason":""}]}"#;
    assert_eq!(streamed(events(&[cut])).await.unwrap_err().kind, Kind::Truncated);
}

#[tokio::test]
async fn a_finish_reason_of_null_is_none() {
    let null = r#"{"choices":[{"delta":{"content":"hi"},"finish_reason":null}]}"#;
    assert_eq!(streamed(events(&[null, STOP, DONE])).await.unwrap().text, "hi");
    let error = streamed(events(&[null, DONE])).await.unwrap_err();
    assert_eq!(error.kind, Kind::Truncated);
    assert!(error.retryable && error.message.contains("no reason"), "{}", error.message);
}

#[tokio::test]
async fn a_call_without_a_type() {
    let body = r#"{"choices":[{"message":{"content":null,"tool_calls":[{"id":"a","function":{"name":"q","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#;
    for reply in both(body).await {
        let reply = reply.unwrap();
        assert_eq!(reply.finish, Finish::ToolCalls);
        assert_eq!((reply.calls[0].id.as_str(), reply.calls[0].name.as_str()), ("a", "q"));
    }
}

#[tokio::test]
async fn arguments_that_are_an_object() {
    let body = r#"{"choices":[{"message":{"tool_calls":[{"function":{"name":"q","arguments":{"a":1}}}]},"finish_reason":"stop"}]}"#;
    for reply in both(body).await {
        let reply = reply.unwrap();
        assert_eq!(reply.calls[0].arguments, r#"{"a":1}"#);
        assert_eq!(reply.finish, Finish::ToolCalls);
    }
}

#[tokio::test]
async fn an_error_inside_200() {
    let body = r#"{"error":{"message":"no such model","code":404}}"#;
    for reply in [whole(json("200 OK", body)).await, streamed(json("200 OK", body)).await] {
        let error = reply.unwrap_err();
        assert_eq!((error.kind, error.status), (Kind::NotFound, Some(404)));
        assert!(error.message.contains("no such model"), "{}", error.message);
    }
}

#[tokio::test]
async fn reasoning_is_shown_and_kept() {
    let frame = r#"{"choices":[{"delta":{"reasoning_content":"hm","content":"hi"},"finish_reason":"stop"}]}"#;
    let server = Server::sending(events(&[frame, DONE])).await;
    let (seen, reply) = ask(&model(&server), hello()).await;
    assert!(seen.contains(&dbagent_core::model::ModelEvent::ReasoningDelta("hm".to_owned())));
    assert_eq!(reply.unwrap().extras["reasoning_content"], "hm");
}

// Rows of errors.

#[expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
async fn refused(bytes: Vec<u8>) -> dbagent_core::model::ModelError {
    let server = Server::sending(bytes).await;
    let first = ask(&model(&server), hello()).await.1.unwrap_err();
    let second = ask(&builder(&server).streaming(false).build().unwrap(), hello()).await.1.unwrap_err();
    assert_eq!((first.kind, first.status, &first.message), (second.kind, second.status, &second.message));
    first
}

#[tokio::test]
async fn an_error_in_openais_form() {
    let body = r#"{"error":{"message":"bad thing","type":"invalid_request_error","param":null,"code":null}}"#;
    let error = refused(json("400 Bad Request", body)).await;
    assert_eq!((error.kind, error.status, error.retryable), (Kind::InvalidRequest, Some(400), false));
    assert_eq!(error.body.as_deref(), Some("bad thing"));
}

#[tokio::test]
async fn an_integer_code() {
    let body = r#"{"error":{"code":400,"message":"request exceeds the available context size","type":"exceed_context_size_error"}}"#;
    let error = refused(json("400 Bad Request", body)).await;
    assert_eq!((error.kind, error.status), (Kind::ContextOverflow, Some(400)));
}

#[tokio::test]
async fn an_error_that_is_a_text() {
    let error = refused(json("400 Bad Request", r#"{"error":"not supported"}"#)).await;
    assert!(error.message.contains("not supported"), "{}", error.message);
}

#[tokio::test]
async fn a_page_instead_of_an_error() {
    let page = http("401 Unauthorized", "content-type: text/html\r\n", "<html><body>log in</body></html>");
    let error = refused(page).await;
    assert_eq!((error.kind, error.status, error.body), (Kind::Auth, Some(401), None));
    assert!(!error.message.contains("log in"), "{}", error.message);
}

#[tokio::test]
async fn a_detail() {
    let error = refused(json("404 Not Found", r#"{"detail":"Not Found"}"#)).await;
    assert_eq!(error.kind, Kind::NotFound);
    assert!(error.message.contains("Not Found") && error.message.contains("/models"), "{}", error.message);
}

#[tokio::test]
async fn a_message_alone() {
    let error = refused(json("413 Payload Too Large", r#"{"message":"too large"}"#)).await;
    assert_eq!((error.kind, error.status), (Kind::ContextOverflow, Some(413)));
}

#[tokio::test]
async fn a_rate_limit_is_one_attempt_and_keeps_the_wait() {
    let answer = http(
        "429 Too Many Requests",
        "content-type: application/json\r\nretry-after: 7\r\n",
        r#"{"error":{"message":"slow down","type":"rate_limit_error","param":null,"code":null}}"#,
    );
    let server = Server::sending(answer).await;
    let error = ask(&model(&server), hello()).await.1.unwrap_err();
    assert_eq!((error.kind, error.status, error.retryable), (Kind::RateLimited, Some(429), true));
    assert_eq!(error.retry_after, Some(std::time::Duration::from_secs(7)));
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn a_wait_until_a_date() {
    let headers = "date: Sun, 06 Nov 1994 08:49:37 GMT\r\nretry-after: Sun, 06 Nov 1994 08:50:07 GMT\r\n";
    let error = refused(http("503 Service Unavailable", headers, "overloaded")).await;
    assert_eq!((error.kind, error.retryable), (Kind::Server, true));
    assert_eq!(error.retry_after, Some(std::time::Duration::from_secs(30)));
    assert!(error.message.contains("overloaded"), "{}", error.message);
}

#[tokio::test]
async fn a_used_up_quota_is_not_tried_again() {
    let body = r#"{"error":{"message":"quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#;
    let error = refused(json("429 Too Many Requests", body)).await;
    assert_eq!((error.kind, error.retryable), (Kind::RateLimited, false));
    assert!(error.message.contains("billing"), "{}", error.message);
}

#[tokio::test]
async fn a_rate_limit_with_a_foreign_body_keeps_its_status() {
    for body in [r#"{"message":"slow down","code":7}"#, r#"{"object":"error"}"#, "slow down", "<html>", ""] {
        let error = refused(json("429 Too Many Requests", body)).await;
        assert_eq!(
            (error.kind, error.status, error.retryable),
            (Kind::RateLimited, Some(429), true),
            "{body}"
        );
    }
}

// Rows of keys.

#[tokio::test]
async fn a_keyless_server_gets_no_authorization_header() {
    for key in [None, Some("")] {
        let server = Server::sending(events(&[STOP, DONE])).await;
        let mut builder = builder(&server);
        if let Some(key) = key {
            builder = builder.api_key(key);
        }
        ask(&builder.build().unwrap(), hello()).await.1.unwrap();
        let head = server.asked()[0].head.to_ascii_lowercase();
        assert!(
            head.starts_with("post /v1/chat/completions http/1.1\r\n") && !head.contains("authorization"),
            "{head}"
        );
    }
}

#[tokio::test]
async fn a_key_headers_and_query_are_sent() {
    let server = Server::sending(events(&[STOP, DONE])).await;
    let builder =
        builder(&server).api_key("sk-1").header("x-tenant", "t 1").query("api-version", "2026-01-01");
    ask(&builder.build().unwrap(), hello()).await.1.unwrap();
    let head = server.asked()[0].head.to_ascii_lowercase();
    assert!(head.starts_with("post /v1/chat/completions?api-version=2026-01-01 "), "{head}");
    assert!(
        head.contains("\r\nauthorization: bearer sk-1\r\n") && head.contains("\r\nx-tenant: t 1\r\n"),
        "{head}"
    );
}

#[tokio::test]
async fn a_key_with_a_line_break_is_refused_when_building() {
    let server = Server::sending("").await;
    let error = builder(&server).api_key("sk-canary\n").build().unwrap_err();
    assert!(!format!("{error} {error:?}").contains("canary"));
    assert!(server.asked().is_empty());
}

// Rows of streams.

#[tokio::test]
async fn a_stream_that_ends_early_is_truncated() {
    let clean = streamed(events(&[&text("hi")])).await.unwrap_err();
    assert_eq!((clean.kind, clean.retryable), (Kind::Truncated, true));
    let mut cut = STREAM_HEAD.as_bytes().to_vec();
    cut.extend(chunk(frame_of(&text("hi"))));
    let broken = streamed(cut.clone()).await.unwrap_err();
    assert_eq!(broken.kind, Kind::Truncated);
    assert!(broken.message.contains("connection"), "{}", broken.message);
    cut.extend(b"ff\r\ndata: {\"choi");
    assert_eq!(streamed(cut).await.unwrap_err().kind, Kind::Truncated);
}

#[tokio::test]
async fn a_malformed_frame_is_an_error_and_never_a_shorter_answer() {
    let error =
        streamed(events(&[&text("a"), "data: {\"choices\":[{", &text("b"), STOP, DONE])).await.unwrap_err();
    assert_eq!(error.kind, Kind::Decode);
    let shape = streamed(events(&[r#"{"choices":{"delta":7}}"#, STOP, DONE])).await.unwrap_err();
    assert_eq!(shape.kind, Kind::Decode);
}

#[tokio::test]
async fn a_malformed_frame_after_the_end_takes_nothing_away() {
    let reply = streamed(events(&[&text("a"), STOP, "data: bye"])).await.unwrap();
    assert_eq!(reply.text, "a");
}

#[tokio::test]
async fn an_error_event_is_an_error() {
    let frames = [
        r#"{"error":{"message":"overloaded","code":529}}"#,
        "event: error\ndata: {\"error\":{\"message\":\"overloaded\",\"code\":529}}",
        "error: {\"code\":529,\"message\":\"overloaded\"}",
        r#"{"error":{"message":"overloaded","code":529},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}"#,
    ];
    for frame in frames {
        let error = streamed(events(&[&text("a"), frame])).await.unwrap_err();
        assert_eq!((error.kind, error.status), (Kind::Server, Some(529)), "{frame}");
        assert!(error.message.contains("overloaded"), "{}", error.message);
    }
}

#[tokio::test]
async fn comments_keepalives_and_null_usage_are_no_matter() {
    let null = r#"{"choices":[{"delta":{"content":"hi"}}],"usage":null}"#;
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}"#;
    let frames = [
        ": OPENROUTER PROCESSING",
        null,
        "event: ping",
        "event: keepalive\ndata: {}",
        "{}",
        STOP,
        usage,
        DONE,
    ];
    let reply = streamed(events(&frames)).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.usage.input, reply.usage.output), ("hi", 3, 2));
    assert!(!reply.usage.estimated);
}

#[tokio::test]
async fn json_for_a_stream_request_is_the_whole_reply() {
    let body = r#"{"model":"m-1","choices":[{"message":{"content":"hi","tool_calls":[{"id":"a","function":{"name":"q","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#;
    for headers in ["content-type: application/json\r\n", "content-type: text/plain\r\n", ""] {
        let reply = streamed(http("200 OK", headers, body)).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.calls.len(), reply.model.as_str()), ("hi", 1, "m-1"));
    }
}

#[tokio::test]
async fn what_is_no_reply_is_never_an_empty_answer() {
    for body in [
        "{}",
        "[]",
        "7",
        "\"hi\"",
        "",
        "not JSON",
        "<html>",
        r#"{"choices":[]}"#,
        r#"{"choices":[{"message":{}}]}"#,
    ] {
        for reply in [streamed(json("200 OK", body)).await, whole(json("200 OK", body)).await] {
            let error = reply.unwrap_err();
            assert_eq!((error.kind, error.retryable), (Kind::Decode, false), "{body}: {}", error.message);
            assert!(error.message.contains("base URL"), "{}", error.message);
        }
    }
    let stream = whole(events(&[STOP, DONE])).await.unwrap_err();
    assert!(
        stream.kind == Kind::Decode && stream.message.contains("text/event-stream"),
        "{}",
        stream.message
    );
    assert_eq!(streamed(events(&[])).await.unwrap_err().kind, Kind::Truncated);
}

#[tokio::test]
async fn a_stream_is_asked_for_by_ourselves() {
    let server = Server::sending(events(&[STOP, DONE])).await;
    ask(&model(&server), hello()).await.1.unwrap();
    let body = server.asked()[0].json();
    assert_eq!(body["stream"], true);
    assert_eq!(body["stream_options"], serde_json::json!({"include_usage": true}));
    let server = Server::sending(json("200 OK", r#"{"choices":[{"message":{"content":"hi"}}]}"#)).await;
    ask(&builder(&server).streaming(false).build().unwrap(), hello()).await.1.unwrap();
    let body = server.asked()[0].json();
    assert!(body["stream"] == false && body.get("stream_options").is_none(), "{body}");
}

// Failures of the recorded providers, one each; the replies are shortened, their peculiar fields kept.

#[tokio::test]
async fn service_tiers_that_no_enum_knows() {
    for tier in ["on_demand", "provisioned", "priority-2"] {
        let body = format!(
            r#"{{"id":"x","object":"chat.completion","created":1,"model":"m","service_tier":"{tier}","choices":[{{"index":0,"message":{{"role":"assistant","content":"hi"}},"logprobs":null,"finish_reason":"stop"}}],"x_groq":{{"id":"r"}}}}"#
        );
        for reply in both(&body).await {
            assert_eq!(reply.unwrap().text, "hi");
        }
    }
}

#[tokio::test]
async fn usage_in_groqs_place() {
    let last = r#"{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}],"x_groq":{"id":"r","usage":{"prompt_tokens":8,"completion_tokens":1,"queue_time":0.1}},"service_tier":"on_demand"}"#;
    assert_eq!(streamed(events(&[last, DONE])).await.unwrap().usage.input, 8);
}

#[tokio::test]
async fn a_reply_that_is_split_over_choices() {
    let body = r#"{"choices":[{"message":{"content":"I look","role":"assistant"},"finish_reason":"tool_calls"},{"message":{"role":"assistant","tool_calls":[{"id":"t","type":"function","function":{"name":"q","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"model":"m","prompt_filter_results":[{"content_filter_results":{}}]}"#;
    for reply in both(body).await {
        let reply = reply.unwrap();
        assert_eq!((reply.text.as_str(), reply.calls.len(), reply.finish), ("I look", 1, Finish::ToolCalls));
    }
}

#[tokio::test]
async fn an_error_without_a_wrapper() {
    let error = refused(json("422 Unprocessable Entity", r#"{"object":"error","message":"bad field","type":"invalid_request_error","param":null,"code":"3051"}"#)).await;
    assert_eq!(error.kind, Kind::InvalidRequest);
    assert!(error.message.contains("bad field"), "{}", error.message);
}

#[tokio::test]
async fn an_error_with_a_list_of_problems() {
    let error = refused(json(
        "422 Unprocessable Entity",
        r#"{"detail":[{"type":"missing","loc":["body","model"],"msg":"Field required"}]}"#,
    ))
    .await;
    assert!(error.message.contains("Field required"), "{}", error.message);
}

#[tokio::test]
async fn content_in_typed_parts() {
    let body = r#"{"choices":[{"message":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"hi"}]},"finish_reason":"stop"}]}"#;
    for reply in both(body).await {
        assert_eq!(reply.unwrap().text, "hi");
    }
}
