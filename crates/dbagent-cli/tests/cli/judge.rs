//! `dbagent judge`.

use crate::support::Place;

#[test]
fn verdicts_show_rule_place_and_advice() {
    let place = Place::new();
    let ran = place.run(["judge", "--dialect", "sqlite", "SELECT load_extension('x')"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.out.starts_with(
            "refused: G021 forbidden-function\n  SELECT load_extension('x')\n         ^^^^^^^^^^^^^^\n"
        ),
        "{}",
        ran.out
    );
    let ran = place.run(["judge", "--dialect", "sqlite", "SELECT lower(Name) FROM Artist"]);
    assert_eq!(ran.code, 0);
    assert_eq!(ran.out, "cleared: a pure read\n  uses Artist\n  calls lower\n");
    let ran = place.run(["judge", "--dialect", "sqlite", "UPDATE Artist SET Name = ''"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.starts_with("proposed: a write"), "{}", ran.out);
}

#[test]
fn verdicts_for_programs() {
    let place = Place::new();
    let ran = place.run(["judge", "--url", "shop.db", "SELECT 1;\nDROP TABLE Artist", "-f", "json"]);
    assert_eq!(ran.code, 1);
    let json = ran.json();
    assert_eq!(json["verdict"], "refused");
    assert_eq!(json["refusal"]["code"], "G005");
    assert_eq!(json["refusal"]["place"]["line"], 2);
    let ran =
        place.run(["judge", "--url", "shop.db", "SELECT * FROM Artist WHERE ArtistId = ?", "-f", "json"]);
    assert_eq!((ran.code, ran.json()["verdict"].as_str().unwrap()), (0, "cleared"));
}

#[test]
fn the_live_catalogue_is_judged_under_the_policy() {
    let place = Place::new();
    place.write(
        "dbagent.toml",
        "[databases.shop]\nurl = \"sqlite:///shop.db\"\npolicy = { deny = [\"*.Customer.*\", \"*.Employee\"] }\n",
    );
    let ran = place.run(["judge", "--url", "shop", "SELECT LastName FROM Employee"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("G030 denied-object"), "{}", ran.out);
    let ran = place.run(["judge", "--url", "shop", "SELECT Name FROM Artist"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    // A read is a read, and still there is nothing to be read.
    let ran = place.run(["judge", "--url", "shop.db", "SELECT Name FROM Artists"]);
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("the database has no table Artists"), "{}", ran.err);
    let with = "WITH x AS (SELECT 1 AS a) SELECT a FROM x";
    assert_eq!(place.run(["judge", "--url", "shop.db", with]).err, "");
}

#[test]
fn a_rule_that_would_hold_for_nothing_says_what_to_write() {
    let place = Place::new();
    place.write(
        "dbagent.toml",
        "[databases.shop]\nurl = \"sqlite:///shop.db\"\npolicy = { deny = [\"Customer.Email\"] }\n",
    );
    for words in [&["run", "shop", "SELECT Email FROM Customer"][..], &["ask", "shop", "how many customers"]]
    {
        let ran = place.run(words);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains("`*.Customer.Email` for a column, `main.Customer` for a table"), "{ran:?}");
        assert!(!ran.out.contains('@'), "{ran:?}");
    }
}

const CORPUS: &str = r#"{"id":"read","statement":"SELECT 1","verdict":"allow","why":"a plain read"}
{"id":"write","statement":"DELETE FROM t","verdict":"deny","why":"a write"}
{"id":"wrong","statement":"DELETE FROM t","verdict":"allow","why":"wrong on purpose"}
"#;

#[test]
fn a_corpus_prints_what_disagrees_and_the_totals() {
    let place = Place::new();
    place.write("corpus.jsonl", CORPUS);
    let ran = place.run(["judge", "--dialect", "sqlite", "--corpus", "corpus.jsonl"]);
    assert_eq!(ran.code, 1);
    assert_eq!(
        ran.out,
        "wrong (line 3): expected allow (wrong on purpose), but proposed: a person would have to approve it\n\
         3 rows, 2 agree, 1 disagree\n"
    );
    let ran = place.run(["judge", "--dialect", "sqlite", "--corpus", "corpus.jsonl", "-f", "jsonl"]);
    let lines: Vec<serde_json::Value> = ran.out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines[0]["id"], "wrong");
    assert_eq!(lines[1], serde_json::json!({"rows": 3, "agree": 2, "disagree": 1}));

    place.write("good.jsonl", CORPUS.lines().take(2).collect::<Vec<_>>().join("\n"));
    let ran = place.run(["judge", "--url", "shop.db", "--corpus", "good.jsonl"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "2 rows, 2 agree, 0 disagree\n"), "{ran:?}");
}

#[test]
fn what_cannot_be_judged_is_an_error() {
    let place = Place::new();
    place.write("broken.jsonl", "{\"id\":1}\n");
    place.write("binary.jsonl", [0xff, 0xfe]);
    for (args, part) in [
        (vec!["--dialect", "sqlit", "SELECT 1"], "did you mean sqlite?"),
        (vec!["--dialect", "sqlite", "--corpus", "absent.jsonl"], "absent.jsonl"),
        (vec!["--dialect", "sqlite", "--corpus", "broken.jsonl"], "line: 1"),
        (vec!["--dialect", "sqlite", "--corpus", "binary.jsonl"], "not UTF-8"),
        (vec!["SELECT 1"], "--dialect"),
        (vec!["--dialect", "sqlite"], "STATEMENT"),
        (vec!["--dialect", "sqlite", "SELECT 1", "-f", "csv"], "table, json, jsonl"),
    ] {
        let ran = place.run([&["judge"][..], &args].concat());
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(ran.err.contains(part), "{args:?}: {}", ran.err);
    }
}
