//! What servers were seen to send, part by part.

use super::*;

fn take(assembler: &mut Assembler, text: &str, events: &mut Vec<ModelEvent>) -> Result<(), Problem> {
    assembler.take(serde_json::from_str(text).unwrap(), events)
}

fn assemble(form: Form, chunks: &[&str], marker: bool) -> (Vec<ModelEvent>, Result<Reply, Problem>) {
    let mut assembler = Assembler::new(form);
    let mut events = Vec::new();
    for chunk in chunks {
        if let Err(problem) = take(&mut assembler, chunk, &mut events) {
            return (events, Err(problem));
        }
    }
    (events, assembler.finish(marker, || 7, 4.0))
}

fn calls(parts: &[&str]) -> Vec<(String, String, String)> {
    let chunks: Vec<String> =
        parts.iter().map(|p| format!(r#"{{"choices":[{{"delta":{{"tool_calls":{p}}}}}]}}"#)).collect();
    let mut chunks: Vec<&str> = chunks.iter().map(String::as_str).collect();
    chunks.push(r#"{"choices":[{"finish_reason":"tool_calls"}]}"#);
    let reply = assemble(Form::Stream, &chunks, true).1.unwrap();
    reply.calls.into_iter().map(|c| (c.id, c.name, c.arguments)).collect()
}

fn call(id: &str, name: &str, arguments: &str) -> (String, String, String) {
    (id.to_owned(), name.to_owned(), arguments.to_owned())
}

#[test]
fn calls_are_assembled_by_index() {
    let got = calls(&[
        r#"[{"index":0,"id":"a","type":"function","function":{"name":"q","arguments":""}}]"#,
        r#"[{"index":0,"function":{"arguments":"{\"x\""}}]"#,
        r#"[{"index":1,"id":"b","function":{"name":"r","arguments":"{"}}]"#,
        r#"[{"index":0,"function":{"arguments":":1}"}},{"index":1,"function":{"arguments":"}"}}]"#,
    ]);
    assert_eq!(got, [call("a", "q", r#"{"x":1}"#), call("b", "r", "{}")]);
}

#[test]
fn calls_that_all_have_index_0_are_told_by_id_or_by_complete_arguments() {
    let by_id = calls(&[
        r#"[{"index":0,"id":"a","function":{"name":"q","arguments":"{\"x\":1}"}}]"#,
        r#"[{"index":0,"id":"b","function":{"name":"q","arguments":"{\"x\":2}"}}]"#,
    ]);
    assert_eq!(by_id, [call("a", "q", r#"{"x":1}"#), call("b", "q", r#"{"x":2}"#)]);
    let without_arguments = calls(&[
        r#"[{"index":0,"id":"a","function":{"name":"q","arguments":""}}]"#,
        r#"[{"index":0,"id":"b","function":{"name":"q","arguments":""}}]"#,
    ]);
    assert_eq!(without_arguments, [call("a", "q", ""), call("b", "q", "")]);
    let by_arguments = calls(&[
        r#"[{"index":0,"id":"","function":{"name":"q","arguments":{"x":1}}}]"#,
        r#"[{"index":0,"id":"","function":{"name":"q","arguments":{"x":2}}}]"#,
    ]);
    assert_eq!(by_arguments, [call("", "q", r#"{"x":1}"#), call("", "q", r#"{"x":2}"#)]);
}

#[test]
fn calls_without_an_index_begin_with_their_name() {
    let got = calls(&[
        r#"[{"id":"a","function":{"name":"q","arguments":"{\"x\""}},{"function":{"arguments":":1}"}}]"#,
        r#"[{"function":{"name":"q","arguments":"{}"}}]"#,
        r#"[{"id":"c","function":{"name":"q","arguments":"{}"}}]"#,
    ]);
    assert_eq!(got, [call("a", "q", r#"{"x":1}"#), call("", "q", "{}"), call("c", "q", "{}")]);
}

#[test]
fn calls_without_an_index_go_on_with_their_id() {
    let got = calls(&[
        r#"[{"id":"a","function":{"name":"q","arguments":"{\"x\""}}]"#,
        r#"[{"id":"a","function":{"name":"q","arguments":":1}"}}]"#,
    ]);
    assert_eq!(got, [call("a", "q", r#"{"x":1}"#)]);
}

#[test]
fn a_name_and_an_id_that_come_again_are_the_same_call() {
    let got = calls(&[
        r#"[{"index":0,"id":"a","function":{"name":"list_","arguments":""}}]"#,
        r#"[{"index":0,"id":"a","function":{"name":"objects"}}]"#,
        r#"[{"index":0,"id":"a","function":{"name":"list_objects","arguments":"{\"p\":"}}]"#,
        r#"[{"index":0,"function":{"name":"list_objects","arguments":"1}"}}]"#,
        r#"[{"index":0,"id":"other","function":{"arguments":""}}]"#,
    ]);
    assert_eq!(got, [call("a", "list_objects", r#"{"p":1}"#)]);
}

#[test]
fn a_sparse_index_and_ids_that_repeat_are_kept_apart() {
    let got = calls(&[
        r#"[{"index":18446744073709551615,"id":"a","function":{"name":"q","arguments":"{}"}}]"#,
        r#"[{"index":"3","id":"a","function":{"name":"r","arguments":"{}"}}]"#,
        r#"[{"index":3,"id":7,"function":{"arguments":" "}}]"#,
    ]);
    assert_eq!(got, [call("a", "q", "{}"), call("a", "r", "{} ")]);
}

#[test]
fn in_a_whole_reply_every_item_is_a_call() {
    let (events, reply) = assemble(
        Form::Whole,
        &[r#"{"choices":[{"message":{"content":"I look","tool_calls":[
            {"index":0,"id":"a","function":{"name":"q","arguments":"{}"}},
            {"index":0,"id":"a","function":{"name":"q","arguments":"{"}}]},"finish_reason":"stop"},
            {"message":{"tool_calls":[{"function":{"name":"r","arguments":{"k":1,"k":2}}}]}}]}"#],
        false,
    );
    let reply = reply.unwrap();
    assert_eq!(reply.finish, Finish::ToolCalls);
    let arguments: Vec<_> = reply.calls.iter().map(|c| c.arguments.as_str()).collect();
    assert_eq!(arguments, ["{}", "{", r#"{"k":1,"k":2}"#]);
    assert_eq!(events.len(), 4);
}

#[test]
fn reasoning_is_shown_once_and_kept() {
    let (events, reply) = assemble(
        Form::Stream,
        &[
            r#"{"choices":[{"delta":{"reasoning":"a","reasoning_content":"a","role":"assistant"}}]}"#,
            r#"{"choices":[{"delta":{"reasoning":"b","reasoning_content":"b"}}]}"#,
            r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"c"}]},
                {"type":"text","text":"yes"}]}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
        ],
        false,
    );
    let reply = reply.unwrap();
    let reasoning: String = events
        .iter()
        .filter_map(|e| if let ModelEvent::ReasoningDelta(t) = e { Some(t.as_str()) } else { None })
        .collect();
    assert_eq!((reasoning.as_str(), reply.text.as_str()), ("abc", "yes"));
    assert_eq!(
        Value::Object(reply.extras),
        serde_json::json!({"reasoning": "ab", "reasoning_content": "ab"})
    );
}

#[test]
fn provider_fields_of_parts_are_joined() {
    let (_, reply) = assemble(
        Form::Stream,
        &[
            r#"{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","index":0,"text":"a","format":"f"}],
                "annotations":[],"audio":null}}]}"#,
            r#"{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","index":0,"text":"b","signature":"s","format":"f"}]}}]}"#,
            r#"{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.encrypted","index":1,"data":"x"}],
                "tool_calls":[{"index":0,"id":"i","type":"function","extra_content":{"google":{"thought_signature":"t"}},
                "function":{"name":"q","arguments":"{}","note":1}}]},"finish_reason":"tool_calls"}]}"#,
        ],
        true,
    );
    let reply = reply.unwrap();
    let details = serde_json::json!({"reasoning_details": [
        {"type": "reasoning.text", "index": 0, "text": "ab", "format": "f", "signature": "s"},
        {"type": "reasoning.encrypted", "index": 1, "data": "x"}]});
    assert_eq!(Value::Object(reply.extras), details);
    let extras =
        serde_json::json!({"extra_content": {"google": {"thought_signature": "t"}}, "function": {"note": 1}});
    assert_eq!(Value::Object(reply.calls[0].extras.clone()), extras);
}

#[test]
fn a_reply_ends_only_when_its_server_says_so() {
    let text = r#"{"choices":[{"delta":{"content":"hi"},"finish_reason":null}]}"#;
    let empty = r#"{"choices":[{"delta":{"content":"hi"},"finish_reason":""}]}"#;
    let stop = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    let of = |chunks: &[&str], marker| assemble(Form::Stream, chunks, marker).1.map(|r| r.finish);
    assert_eq!(of(&[text, stop], false), Ok(Finish::Stop));
    assert_eq!(of(&[stop], false), Ok(Finish::Stop));
    assert_eq!(of(&[text], true), Err(Problem::Incomplete));
    assert_eq!(of(&[empty], true), Ok(Finish::Stop));
    assert_eq!(of(&[empty], false), Err(Problem::Incomplete));
    assert_eq!(of(&[r#"{"choices":[{"delta":{},"finish_reason":""}]}"#], true), Err(Problem::Incomplete));
    assert_eq!(of(&[], true), Err(Problem::Incomplete));
}

#[test]
fn a_whole_reply_is_complete_when_it_holds_something() {
    let of = |text| assemble(Form::Whole, &[text], false).1.map(|r| (r.text, r.finish));
    let stop = Ok(("hi".to_owned(), Finish::Stop));
    assert_eq!(of(r#"{"choices":[{"message":{"content":"hi"}}]}"#), stop);
    assert_eq!(of(r#"{"choices":[{"message":{"content":"hi"},"finish_reason":""}]}"#), stop);
    assert_eq!(of(r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"tool_calls"}]}"#), stop);
    assert_eq!(
        of(r#"{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}"#),
        Ok((String::new(), Finish::Stop))
    );
    assert_eq!(of(r#"{"choices":[{"message":{"content":null}}]}"#), Err(Problem::Incomplete));
    assert_eq!(of(r#"{"choices":[]}"#), Err(Problem::Incomplete));
}

#[test]
fn failures_in_the_place_of_a_reply() {
    for text in [
        r#"{"error":"no"}"#,
        r#"{"error":{"message":"no"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}"#,
        r#"{"choices":[{"delta":{"content":""},"finish_reason":"error"}]}"#,
        r#"{"choices":[{"error":{"message":"no"}}]}"#,
        r#"{"object":"error","message":"no","code":400}"#,
        r#"{"detail":"no"}"#,
    ] {
        assert_eq!(assemble(Form::Stream, &[text], true).1, Err(Problem::Failed), "{text}");
    }
}

#[test]
fn a_refusal_is_told_with_its_words() {
    let parts = [
        r#"{"choices":[{"delta":{"refusal":"I "}}]}"#,
        r#"{"choices":[{"delta":{"refusal":"won't","content":null},"finish_reason":"stop"}]}"#,
    ];
    assert_eq!(assemble(Form::Stream, &parts, true).1, Err(Problem::Refused("I won't".to_owned())));
}

#[test]
fn usage_is_estimated_where_the_server_does_not_count() {
    let (_, reply) = assemble(
        Form::Stream,
        &[
            r#"{"model":"m-1","choices":[{"delta":{"content":"12345678","reasoning":"1234"},"finish_reason":"stop"}],"usage":null}"#,
        ],
        true,
    );
    let reply = reply.unwrap();
    assert_eq!(reply.model, "m-1");
    assert_eq!(
        reply.usage,
        Usage { input: 7, output: 14, reasoning: 5, estimated: true, ..Usage::default() }
    );
}

#[test]
fn a_message_that_repeats_the_stream_is_not_taken_twice() {
    let (_, reply) = assemble(
        Form::Stream,
        &[
            r#"{"choices":[{"delta":{"content":"hi"}}]}"#,
            r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#,
        ],
        true,
    );
    assert_eq!(reply.unwrap().text, "hi");
}
