//! `dbagent.toml` and `dbagent config`.

use crate::support::{Place, ran};

#[test]
fn unknown_keys_and_wrong_types_name_line_and_nearest_key() {
    let place = Place::new();
    for (text, parts) in [
        ("modle = \"x\"\n", vec!["unknown key modle", "line: 1", "did you mean model?"]),
        (
            "[guardrails]\n\nquery_timeout_s = \"5\"\n",
            vec!["guardrails.query_timeout_s", "line: 3", "a whole number"],
        ),
        (
            "[guardrails]\nquery_timeout_s = 0\n",
            vec!["guardrails.query_timeout_s must be at least 1", "line: 2"],
        ),
        ("[agent]\nturns = 0\n", vec!["agent.turns must be at least 1", "line: 2"]),
        ("[guardrails]\nmax_result_token = 5\n", vec!["line: 2", "did you mean max_result_tokens?"]),
        ("[databases.shop]\nurl = \"sqlite:///shop.db\"\nusr = 1\n", vec!["databases.shop.usr", "line: 3"]),
        ("a = [\n", vec!["not TOML", "dbagent.toml", "line: "]),
    ] {
        place.write("dbagent.toml", text);
        for args in [vec!["run", "shop.db", "SELECT 1"], vec!["config", "check"], vec!["config", "show"]] {
            let ran = place.run(&args);
            assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
            for part in &parts {
                assert!(ran.err.contains(part), "{args:?}: {part}: {}", ran.err);
            }
        }
    }
}

#[test]
fn check_finds_everything_at_once_and_what_a_schema_cannot_tell() {
    let place = Place::new();
    place.write("dbagent.toml", "a = 1\nb = 2\n");
    assert_eq!(place.run(["config", "check"]).err.matches("unknown key").count(), 2);
    place.write(
        "dbagent.toml",
        "model = \"fsat\"\n[models.fast]\nmodel = \"opnai:x\"\n[databases.a]\nurl = \"nosuch://x\"\n\
         [databases.b]\nurl = \"sqlite:///x.db\"\ncredential = { passwort = \"canary\" }\n",
    );
    let ran = place.run(["config", "check"]);
    assert_eq!(ran.code, 2);
    for part in
        ["did you mean fast?", "did you mean openai?", "no dialect opens nosuch://", "unknown credential key"]
    {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    assert!(!ran.err.contains("canary"), "{}", ran.err);
    place.write("dbagent.toml", "model = \"offline\"\n");
    let ran = place.run(["config", "check"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "dbagent.toml is right.\n"));
}

#[test]
fn a_missing_variable_names_file_key_and_variable() {
    let place = Place::new();
    place.write("dbagent.toml", "[databases.shop]\nurl = \"sqlite:///${SHOP_FILE}\"\n");
    let run = ["run", "shop", "SELECT 1 a", "-f", "csv"];
    let missing = place.run(run);
    assert_eq!(missing.code, 2);
    for part in ["databases.shop.url", "SHOP_FILE", "dbagent.toml", "line: 2"] {
        assert!(missing.err.contains(part), "{part}: {}", missing.err);
    }
    let set = ran(place.command(run).env("SHOP_FILE", "shop.db"));
    assert_eq!((set.code, set.out.as_str()), (0, "a\n1\n"), "{set:?}");
    place.write("dbagent.toml", "[databases.shop]\nurl = \"sqlite:///${SHOP_FILE:-shop.db}\"\n");
    assert_eq!(place.run(run).code, 0);
}

#[test]
fn show_masks_secrets_and_says_where_values_come_from() {
    let place = Place::new();
    place.write(
        "dbagent.toml",
        "model = \"fast\"\n[guardrails]\nquery_timeout_s = 7\n[models.fast]\nbase_url = \"http://localhost:1/v1\"\nmodel = \"m\"\n\
         api_key = \"${KEY}\"\n[databases.shop]\nurl = \"postgres://bob:canary-url@db/shop\"\ncredential = { password = \"canary-pw\", connect_timeout = 5 }\n",
    );
    let shown = ran(place.command(["config", "show", "-f", "jsonl"]).env("KEY", "canary-key"));
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(!shown.out.contains("canary"), "{}", shown.out);
    let value = |key: &str| {
        let lines = shown.out.lines().map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap());
        lines.filter(|l| l["key"] == key).map(|l| (l["value"].clone(), l["from"].clone())).next().unwrap()
    };
    assert_eq!(value("guardrails.query_timeout_s"), ("7".into(), "dbagent.toml:3".into()));
    assert_eq!(value("guardrails.default_rows"), ("100".into(), "default".into()));
    assert_eq!(
        value("models.fast.api_key"),
        ("****".into(), "dbagent.toml:7, environment variable KEY".into())
    );
    assert_eq!(value("databases.shop.url"), ("postgres://bob:****@db/shop".into(), "dbagent.toml:9".into()));
    assert_eq!(value("databases.shop.credential.password").0, "****");
}

#[test]
fn the_file_is_found_by_option_folder_and_home() {
    let place = Place::new();
    assert_eq!(place.run(["config", "path"]).code, 1);
    std::fs::create_dir_all(place.path(".config/dbagent")).unwrap();
    place.write(".config/dbagent/dbagent.toml", "model = \"offline\"\n");
    assert!(place.run(["config", "path"]).out.ends_with(".config/dbagent/dbagent.toml\n"));
    place.write("dbagent.toml", "model = \"offline\"\n");
    assert_eq!(place.run(["config", "path"]).out, "dbagent.toml\n");
    place.write("other.toml", "model = \"offline\"\n");
    assert_eq!(place.run(["config", "path", "--config", "other.toml"]).out, "other.toml\n");
    let ran = place.run(["config", "path", "--config", "absent.toml"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("absent.toml"), "{}", ran.err);
}

#[test]
fn the_readme_shows_a_configuration_that_works_as_it_stands() {
    let place = Place::new();
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let (_, block) = readme.split_once("```toml\n").unwrap();
    place.write("dbagent.toml", block.split_once("```").unwrap().0);
    let ran = place.run(["config", "check"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(place.run(["run", "shop", "SELECT 1"]).code, 0);
}

#[test]
fn the_schema_is_json_schema() {
    let place = Place::new();
    let schema = place.run(["config", "schema"]).json();
    assert_eq!(schema["type"], "object");
    for key in ["model", "agent", "guardrails", "models", "databases"] {
        assert!(schema["properties"][key]["description"].is_string(), "{key}");
    }
    assert!(schema.to_string().contains("max_result_tokens"));
}

#[test]
fn limits_of_the_file_hold() {
    let place = Place::new();
    place.write(
        "dbagent.toml",
        "[guardrails]\nmax_result_tokens = 10\n[databases.shop]\nurl = \"sqlite:///shop.db\"\npolicy = { deny = [\"Employee\"] }\n",
    );
    let ran = place.run(["schema", "shop", "-f", "jsonl"]);
    assert!(!ran.out.contains("Employee"), "{}", ran.out);
    let ran = place.run(["run", "shop", "SELECT * FROM Employee"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("G030"), "{}", ran.err);
    let ran = place.run(["doctor", "shop"]);
    assert!(ran.out.contains("10 tokens"), "{}", ran.out);
}
