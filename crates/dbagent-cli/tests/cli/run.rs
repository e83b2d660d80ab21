//! `dbagent run`.

use crate::support::{Place, is_clean};

const NASTY: &str =
    "SELECT '' a, NULL b, 'NULL' c, x'00ff' d, 9007199254740993 e, 1e999 f, 0.1 g, char(27)||'[31m' h";

#[test]
fn every_format_keeps_the_values() {
    let place = Place::new();
    let run = |format: &str| {
        let ran = place.run(["run", "shop.db", NASTY, "--format", format]);
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.out
    };
    assert_eq!(
        run("table"),
        " a  │ b    │ c      │ d       │                e │        f │   g │ h\n\
         ────┼──────┼────────┼─────────┼──────────────────┼──────────┼─────┼────────────\n \
          \"\" │ NULL │ \"NULL\" │ x'00ff' │ 9007199254740993 │ Infinity │ 0.1 │ \\u{1b}[31m\n"
    );
    assert_eq!(
        run("markdown").lines().last().unwrap(),
        "| \"\" | NULL | \"NULL\" | x'00ff' | 9007199254740993 | Infinity | 0.1 | \\\\u{1b}[31m |"
    );
    assert_eq!(
        run("jsonl"),
        "{\"a\":\"\",\"b\":null,\"c\":\"NULL\",\"d\":\"00ff\",\"e\":\"9007199254740993\",\"f\":\"Infinity\",\"g\":0.1,\"h\":\"\\u001b[31m\"}\n"
    );
    assert_eq!(run("csv"), "a,b,c,d,e,f,g,h\n\"\",,NULL,00ff,9007199254740993,Infinity,0.1,\u{1b}[31m\n");
    let json: serde_json::Value = serde_json::from_str(&run("json")).unwrap();
    assert_eq!(json["rows"][0][4], "9007199254740993");
    assert_eq!(json["columns"][3]["type"], "bytes");
}

#[test]
fn parameters_are_bound_by_place_and_by_name() {
    let place = Place::new();
    let ran =
        place.run(["run", "shop.db", "SELECT ? a, typeof(?) b", "-p", "2=5", "-p", "1=Rock", "-f", "csv"]);
    assert_eq!(ran.out, "a,b\nRock,integer\n");
    let ran = place.run(["run", "shop.db", "SELECT typeof(:x) a", "-p", "x=\"5\"", "-f", "csv"]);
    assert_eq!(ran.out, "a\ntext\n");
    let ran = place.run(["run", "shop.db", "SELECT ?, ?", "-p", "1"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("G050 parameters"), "{ran:?}");
    let ran = place.run(["run", "shop.db", "SELECT ?", "-p", "[1]"]);
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn more_rows_than_the_limit_are_incomplete_and_all_streams_them() {
    let place = Place::new();
    let ran = place.run(["run", "shop.db", "SELECT TrackId FROM Track", "-f", "csv", "-q"]);
    assert_eq!((ran.code, ran.out.lines().count()), (0, 1_001));
    assert!(ran.err.starts_with("INCOMPLETE: more than 1,000 rows exist"), "{}", ran.err);
    let ran = place.run(["run", "shop.db", "SELECT TrackId FROM Track", "-f", "csv", "-q", "--all"]);
    assert_eq!((ran.code, ran.out.lines().count(), ran.err.as_str()), (0, 3_504, ""));
    let ran = place.run(["run", "shop.db", "SELECT TrackId FROM Track", "-f", "json", "--limit", "2"]);
    assert_eq!(ran.json()["complete"], false);
    let ran = place.run(["run", "shop.db", "SELECT 1", "--all"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--format csv"), "{}", ran.err);
}

#[test]
fn a_write_is_refused_with_rule_place_and_advice() {
    let place = Place::new();
    let before = std::fs::read(place.path("shop.db")).unwrap();
    let ran = place.run(["run", "shop.db", "DELETE FROM Invoice"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(
        ran.err.starts_with("refused: G010 write\n  DELETE FROM Invoice\n              ^^^^^^^\n"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("Instead: "), "{}", ran.err);
    assert_eq!(std::fs::read(place.path("shop.db")).unwrap(), before);
}

#[test]
fn a_failing_statement_says_why_and_what_there_is() {
    let place = Place::new();
    let ran = place.run(["run", "shop.db", "SELECT Titel FROM Album"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.err.contains("no such column") && ran.err.contains("hint:") && ran.err.contains("Title"),
        "{}",
        ran.err
    );
    let verbose = place.run(["run", "shop.db", "SELECT Titel FROM Album", "-v"]);
    assert!(verbose.err.contains("kind: unknown_column"), "{}", verbose.err);
}

#[test]
fn statements_come_from_standard_input() {
    let place = Place::new();
    let ran = place.fed(["run", "shop.db", "-", "-f", "csv"], "SELECT count(*) n\nFROM Genre;\n");
    assert_eq!((ran.code, ran.out.as_str()), (0, "n\n25\n"), "{ran:?}");
    let ran = place.fed(["run", "shop.db", "-"], "");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("G004 empty"), "{}", ran.err);
    let ran = place.fed(["run", "shop.db", "-"], "SELECT 1; SELECT 2");
    assert!(ran.err.contains("G005 several-statements"), "{}", ran.err);
    let ran = place.fed(["run", "shop.db", "-"], [b'S', 0xff, 0]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("not UTF-8 text"), "{}", ran.err);
    let ran = place.fed(["run", "shop.db", "-"], format!("SELECT {}1", "1+".repeat(1 << 19)));
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("G001 too-large"), "{}", ran.err);
    let ran = place.fed(["run", "shop.db", "-"], "x".repeat(17 << 20));
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("16,777,216 bytes"), "{}", ran.err);
}

#[test]
fn a_statement_past_its_time_is_stopped() {
    let place = Place::new();
    let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";
    let ran = place.run(["run", "shop.db", endless, "--timeout", "1"]);
    assert_eq!(ran.code, 5, "{ran:?}");
}

#[test]
fn a_database_is_a_path_a_url_or_a_name() {
    let place = Place::new();
    std::fs::copy(place.path("shop.db"), place.path("100% of it?.bin")).unwrap();
    let absolute = place.path("shop.db");
    let url = format!("sqlite:///{}", absolute.display());
    place.write("dbagent.toml", "[databases.shop]\nurl = \"sqlite:///shop.db\"\n");
    for word in ["shop.db", absolute.to_str().unwrap(), "sqlite:///shop.db", &url, "shop", "100% of it?.bin"]
    {
        let ran = place.run(["run", word, "SELECT count(*) n FROM Genre", "-f", "csv"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "n\n25\n"), "{word}: {ran:?}");
    }
    let ran = place.run(["run", "shop.db", "SELECT 1", "-v"]);
    assert!(ran.err.contains("shop.db is opened as sqlite:///shop.db"), "{}", ran.err);
}

#[test]
fn what_is_no_database_says_why() {
    let place = Place::new();
    place.write("dbagent.toml", "[databases.shop]\nurl = \"sqlite:///shop.db\"\n");
    place.write("notes.txt", "hello");
    place.write("broken.db", "hello, this is no database at all");
    for (word, code, part) in [
        ("shpo", 2, "did you mean shop?"),
        ("absent.db", 3, "no database and no file"),
        ("sqlite:///absent.db", 3, "absent.db"),
        ("notes.txt", 3, "sqlite:///notes.txt"),
        ("broken.db", 3, "error: "),
        ("tmp", 3, "folder"),
        ("nosuch://x", 2, "sqlite://"),
        ("mongodb://h/x", 2, "no dialect for this database yet"),
        ("sqlite:///a%zz.db", 2, "%25"),
    ] {
        let ran = place.run(["run", word, "SELECT 1"]);
        assert_eq!(ran.code, code, "{word}: {ran:?}");
        assert!(ran.err.contains(part), "{word}: {}", ran.err);
        assert!(!place.path("absent.db").exists());
    }
    let ran = place.run(["run", "shop.db", "SELECT 1", "--credential", "connect_timout=3"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("did you mean connect_timeout?"), "{}", ran.err);
}

#[test]
fn nothing_in_a_database_acts_on_a_terminal() {
    let place = Place::new();
    let hostile =
        "SELECT char(27)||']0;x'||char(7) a, char(0x9b)||'2J' b, char(0x202e)||'c' AS \"\u{1b}[2Jc\"";
    for format in ["table", "markdown", "json", "jsonl"] {
        let ran = place.run(["run", "shop.db", hostile, "-f", format]);
        assert!(is_clean(&ran.out) && !ran.out.contains('\u{202e}'), "{format}: {ran:?}");
        assert!(is_clean(&ran.err), "{format}: {ran:?}");
    }
}
