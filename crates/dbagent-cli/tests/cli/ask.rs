//! `dbagent ask`, `chat` and `demo`.

use crate::support::{ModelServer, Place, Reply, feed, ran};

const QUERY: &[(&str, &str)] =
    &[("query", "{\"statement\":\"SELECT Name, GenreId FROM Genre ORDER BY GenreId LIMIT 2\"}")];

#[test]
fn the_answer_is_on_standard_output_and_the_steps_on_standard_error() {
    let place = Place::new();
    let ran = place.run(["ask", "shop.db", "How many tracks are there?"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("3503") || ran.out.contains("3,503"), "{}", ran.out);
    assert!(ran.err.contains("✓ list_objects") && ran.err.contains("COUNT(*)"), "{}", ran.err);
    assert!(!ran.out.contains("✓"), "{}", ran.out);
    let quiet = place.run(["ask", "shop.db", "How many tracks are there?", "-q"]);
    assert_eq!((quiet.err.as_str(), quiet.out), ("", ran.out));
}

#[test]
fn nothing_configured_names_what_was_found_and_the_setting() {
    let place = Place::new();
    let notice = |found: &[(&str, &str)]| {
        let ran =
            ran(place.command(["ask", "shop.db", "How many tracks are there?"]).envs(found.iter().copied()));
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(!ran.err.contains("canary"), "{}", ran.err);
        ran.err.lines().next().unwrap_or_default().to_owned()
    };
    let line = notice(&[("OPENAI_API_KEY", "canary"), ("MISTRAL_API_KEY", "canary")]);
    assert!(line.contains("OPENAI_API_KEY, MISTRAL_API_KEY"), "{line}");
    assert!(line.contains("--model auto") && line.contains("model = \"auto\""), "{line}");
    assert!(notice(&[]).contains("offline planner"));
    place.write("dbagent.toml", "model = \"offline\"\n");
    assert!(!notice(&[("OPENAI_API_KEY", "canary")]).contains("OPENAI_API_KEY"));
}

#[test]
fn a_language_model_is_asked_where_it_is_named() {
    let place = Place::new();
    let server = ModelServer::start(vec![Reply::Calls(QUERY), Reply::Text("Rock and Jazz.")]);
    let ran = place.run(["ask", "shop.db", "which genres?", "--model", &server.spec()]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Rock and Jazz.\n"), "{ran:?}");
    assert!(ran.err.contains("✓ query") && ran.err.contains("2 rows"), "{}", ran.err);
    assert!(ran.err.contains("20 tokens read, 10 written"), "{}", ran.err);
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_model_of_the_configuration_has_its_key_and_its_name() {
    let place = Place::new();
    let server = ModelServer::start(vec![Reply::Text("Yes.")]);
    place.write(
        "dbagent.toml",
        format!(
            "model = \"mine\"\n[models.mine]\nbase_url = \"{}\"\nmodel = \"qwen\"\nstream = false\napi_key = \"${{KEY}}\"\n\
             [agent]\nsystem = \"Say yes.\"\n",
            server.base_url()
        ),
    );
    let ran = ran(place.command(["ask", "shop.db", "is it?"]).env("KEY", "canary-key"));
    assert_eq!((ran.code, ran.out.as_str()), (0, "Yes.\n"), "{ran:?}");
    let request = &server.requests()[0];
    assert!(
        request.contains("Bearer canary-key") && request.contains("Say yes.") && request.contains("\"qwen\"")
    );
    assert!(!ran.err.contains("canary"), "{}", ran.err);
}

#[test]
fn forms_for_programs() {
    let place = Place::new();
    let server = || ModelServer::start(vec![Reply::Calls(QUERY), Reply::Text("Rock\u{1b}[31m.")]);
    let ask = |format: &str| {
        let ran = place.run(["ask", "shop.db", "which?", "-q", "-f", format, "--model", &server().spec()]);
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.out
    };
    let json: serde_json::Value = serde_json::from_str(&ask("json")).unwrap();
    assert_eq!(json["answer"], "Rock\u{1b}[31m.");
    assert_eq!(json["columns"], serde_json::json!(["Name", "GenreId"]));
    assert_eq!(json["rows"], serde_json::json!([["Rock", 1], ["Jazz", 2]]));
    assert_eq!((json["status"].as_str(), json["usage"]["output"].as_u64()), (Some("answered"), Some(10)));
    assert_eq!(ask("csv"), "Name,GenreId\nRock,1\nJazz,2\n");
    assert_eq!(
        ask("markdown"),
        "Rock\\u{1b}[31m.\n\n| Name | GenreId |\n| --- | ---: |\n| Rock | 1 |\n| Jazz | 2 |\n"
    );
    assert_eq!(ask("table"), "Rock\\u{1b}[31m.\n");
}

#[test]
fn what_a_model_does_wrong_is_shown_and_ends_well() {
    let place = Place::new();
    let server = ModelServer::start(vec![
        Reply::Calls(&[
            ("query", "{\"statement\":\"DELETE FROM Genre\"}"),
            ("query", "{\"statement\":\"SELECT Titel FROM Album\"}"),
            ("query", "{\"statement\":\"SELECT * FROM Track\",\"limit\":1000}"),
            ("nonsense", "{"),
        ]),
        Reply::Text("I could not."),
    ]);
    let ran = place.run(["ask", "shop.db", "delete it", "--model", &server.spec()]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "I could not.\n"), "{ran:?}");
    for part in [
        "refused: G010 write",
        "no such column",
        "over the limit of 5,000 tokens",
        "There is no tool \"nonsense\"",
    ] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
}

#[test]
fn failures_have_codes_of_their_own() {
    let place = Place::new();
    let refused = ModelServer::start(vec![Reply::Status(401)]);
    let ran = place.run(["ask", "shop.db", "x", "--model", &refused.spec()]);
    assert_eq!(ran.code, 4, "{ran:?}");
    let ran = place.run(["ask", "shop.db", "x", "-v", "--model", "http://127.0.0.1:1/v1#m"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.err.contains("cause: "), "{}", ran.err);
    let endless = ModelServer::start(vec![Reply::Calls(&[("count", "{\"name\":\"Genre\"}")])]);
    place.write("dbagent.toml", "[agent]\nturns = 2\n");
    let ran = place.run(["ask", "shop.db", "x", "--model", &endless.spec()]);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.err.contains("INCOMPLETE"), "{}", ran.err);
    for (model, part) in [
        ("opnai:gpt-5", "did you mean openai?"),
        ("openai:gpt-5", "OPENAI_API_KEY"),
        ("ofline", "did you mean --model offline?"),
        ("auto", "--model offline"),
    ] {
        let ran = place.run(["ask", "shop.db", "x", "--model", model]);
        assert_eq!(ran.code, 2, "{model}: {ran:?}");
        assert!(ran.err.contains(part), "{model}: {}", ran.err);
    }
    assert_eq!(place.run(["ask", "absent.db", "x"]).code, 3);
}

#[test]
fn questions_are_checked_first() {
    let place = Place::new();
    for (question, part) in [("", "the question is empty"), ("  ", "the question is empty")] {
        let ran = place.run(["ask", "shop.db", question]);
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains(part), "{}", ran.err);
    }
    let ran = place.fed(["ask", "shop.db", "-", "-q"], "How many tracks are there?\n");
    assert_eq!(ran.code, 0, "{ran:?}");
    for (input, part) in [
        (vec![b'x'; 1 << 20], "65,536 bytes"),
        (vec![0xff, 0xfe], "not UTF-8"),
        (vec![b'a', 0, b'b'], "NUL"),
        (vec![], "empty"),
    ] {
        let ran = place.fed(["ask", "shop.db", "-"], input);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains(part), "{}", ran.err);
    }
}

#[test]
fn chat_answers_line_by_line() {
    let place = Place::new();
    let lines = "/help\n/schema Genre\n/sql SELECT 'a\nb' x\n/sql DELETE FROM Genre\n/nope\nHow many tracks \\\nare there?\n/new\n/exit\nnot read\n";
    let ran = place.fed(["chat", "shop.db"], lines);
    assert_eq!(ran.code, 0, "{ran:?}");
    for part in ["/schema [TABLE]", "primary key (GenreId)", "a\\nb", "3503"] {
        assert!(ran.out.replace("3,503", "3503").contains(part), "{part}: {}", ran.out);
    }
    for part in ["G010 write", "there is no command /nope", "new conversation"] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
}

#[test]
fn chat_goes_on_after_a_failure() {
    let place = Place::new();
    let server = ModelServer::start(vec![Reply::Status(401), Reply::Text("Still here.")]);
    let ran = feed(&mut place.command(["chat", "shop.db", "--model", &server.spec()]), "one\ntwo\n");
    assert_eq!((ran.code, ran.out.as_str()), (0, "Still here.\n"), "{ran:?}");
    assert!(ran.err.contains("error:"), "{}", ran.err);
}

#[test]
fn the_demo_needs_nothing_and_leaves_nothing() {
    let place = Place::new();
    let ran = place.run(["demo"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for part in
        ["1. ", "2. ", "3. ", "refused: G010 write", "REFUSED: the result is over the limit of 5,000 tokens"]
    {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert!(!ran.out.contains("not sure"), "{}", ran.out);
    assert!(ran.err.contains("more like the line above; -v shows them"), "{}", ran.err);
    let ran = place.run(["demo", "How many tracks are there?"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.replace("3,503", "3503").contains("3503"), "{}", ran.out);
    assert!(!ran.out.contains("refused"), "{}", ran.out);
    assert_eq!(std::fs::read_dir(place.path("tmp")).unwrap().count(), 0);
}
