//! `dbagent ask --batch`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{ModelServer, Place, Reply};

fn lines(out: &str) -> Vec<Value> {
    out.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

#[test]
fn a_broken_line_is_a_line_and_the_rest_goes_on() {
    let place = Place::new();
    let long = format!("{{\"id\":9,\"question\":\"{}\"}}\n", "x".repeat(1 << 20));
    let input = [
        "{\"id\":1,\"question\":\"How many tracks are there?\"}\n\n",
        "{\"id\":\"b\",\"question\":\"\"}\nnonsense\n",
        &long,
        "{\"id\":3,\"question\":\"How many artists are there?\"}",
    ]
    .concat();
    for jobs in ["1", "4"] {
        let ran = place.fed(["ask", "shop.db", "--batch", "-", "--jobs", jobs, "-q"], &input);
        assert_eq!((ran.code, ran.err.as_str()), (1, ""), "{ran:?}");
        let lines = lines(&ran.out);
        let ids: Vec<&Value> = lines.iter().map(|l| &l["id"]).collect();
        assert_eq!(ids, [&json!(1), &json!("b"), &Value::Null, &Value::Null, &json!(3)]);
        let status: Vec<&str> = lines.iter().map(|l| l["status"].as_str().unwrap()).collect();
        assert_eq!(status, ["answered", "error", "error", "error", "answered"]);
        assert_eq!(lines[0]["rows"], json!([[3503]]));
        assert_eq!(lines[4]["rows"], json!([[275]]));
        assert_eq!(lines[1]["error"]["kind"], "invalid_request");
        assert!(lines[2]["error"]["message"].as_str().unwrap().contains("line: 4"));
        for key in ["answer", "statements", "columns", "rows", "complete", "status", "usage"] {
            assert!(lines.iter().all(|l| l.get(key).is_some()), "{key}");
        }
    }
}

#[test]
fn questions_that_cannot_be_read_say_why() {
    let place = Place::new();
    std::fs::create_dir(place.path("folder")).unwrap();
    for (path, why) in [("folder", "it is a folder"), ("absent", "there is no such file")] {
        let ran = place.run(["ask", "shop.db", "--batch", path]);
        let said = format!("error: the questions cannot be read: {why} (file: {path})\n");
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{ran:?}");
        assert!(ran.err.ends_with(&said), "{ran:?}");
    }
}

#[test]
fn the_rows_are_those_of_the_last_query_that_succeeded() {
    let place = Place::new();
    let server = ModelServer::start(vec![
        Reply::Calls(&[("query", "{\"statement\":\"SELECT 9007199254740993 a, x'00' b\"}")]),
        Reply::Calls(&[("sample", "{\"name\":\"Genre\"}"), ("query", "{\"statement\":\"SELECT nope\"}")]),
        Reply::Text("Done."),
    ]);
    place.write("questions.jsonl", "{\"id\":{\"a\":[1]},\"question\":\"x\"}\n");
    let ran = place.run(["ask", "shop.db", "--batch", "questions.jsonl", "-q", "--model", &server.spec()]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let line = &lines(&ran.out)[0];
    assert_eq!(line["id"], json!({"a": [1]}));
    assert_eq!(line["rows"], json!([["9007199254740993", "00"]]));
    assert_eq!(line["statements"], json!(["SELECT 9007199254740993 a, x'00' b"]));
    assert!(ran.out.starts_with("{\"id\":{\"a\":[1]},\"answer\":\"Done.\",\"statements\":"), "{}", ran.out);
}

#[test]
fn a_model_that_fails_is_a_line_too() {
    let place = Place::new();
    let server = ModelServer::start(vec![Reply::Status(401), Reply::Text("Yes.")]);
    let input = "{\"id\":1,\"question\":\"a\"}\n{\"id\":2,\"question\":\"b\"}\n";
    let ran = place.fed(["ask", "shop.db", "--batch", "-", "-q", "--model", &server.spec()], input);
    assert_eq!(ran.code, 1, "{ran:?}");
    let lines = lines(&ran.out);
    assert_eq!((&lines[0]["error"]["kind"], &lines[1]["answer"]), (&json!("model_error"), &json!("Yes.")));
}

#[test]
fn every_answer_comes_before_the_next_question_is_known() {
    let place = Place::new();
    let mut child =
        place.command(["ask", "shop.db", "--batch", "-", "-q"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
    for id in 1..=3 {
        writeln!(stdin, "{{\"id\":{id},\"question\":\"How many tracks are there?\"}}").unwrap();
        let line: Value = serde_json::from_str(&out.next().unwrap().unwrap()).unwrap();
        assert_eq!(line["id"], id);
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    let place = Place::new();
    let ran = place.run(["ask", "shop.db", "--batch", "absent.jsonl"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("there is no such file") && ran.err.contains("absent.jsonl"), "{}", ran.err);
}

#[test]
fn a_database_that_goes_away_in_the_middle_is_no_answer() {
    let place = Place::new();
    std::fs::copy(place.path("shop.db"), place.path("gone.db")).unwrap();
    let mut child =
        place.command(["ask", "gone.db", "--batch", "-", "-q"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = |question: &str| -> Value {
        writeln!(stdin, "{{\"id\":1,\"question\":\"{question}\"}}").unwrap();
        serde_json::from_str(&out.next().unwrap().unwrap()).unwrap()
    };
    assert_eq!(ask("How many tracks are there?")["status"], "answered");
    std::fs::remove_file(place.path("gone.db")).unwrap();
    let line = ask("How many tracks are there?");
    assert_eq!((&line["status"], &line["rows"]), (&json!("failed"), &json!([])));
    assert!(line["answer"].as_str().unwrap().contains("there is no such database file"), "{line}");
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(1));
}
