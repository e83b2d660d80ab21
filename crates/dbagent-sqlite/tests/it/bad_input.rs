//! A megabyte of anything is a refusal or a clear error; never a panic, an abort or a hang.

use std::process::Command;
use std::time::{Duration, Instant};

use dbagent_core::{ErrorKind, Rule, Target};

use crate::support::{Ran, Scratch, Sql, open, run, run_up_to, within};

const MEGABYTE: usize = 1 << 20;
/// Generous: only what hangs gets here.
const CEILING: Duration = Duration::from_secs(120);

/// The texts by name: a start, a piece that fills a megabyte, an end that may be repeated as often.
fn texts() -> Vec<(&'static str, String)> {
    let fill = |start: &str, piece: &str, end: &str| {
        let room = MEGABYTE - start.len() - end.len();
        format!("{start}{}{end}", piece.repeat(room / piece.len()))
    };
    let nest = |open: &str, middle: &str, close: &str| {
        let times = (MEGABYTE - middle.len()) / (open.len() + close.len());
        format!("SELECT {}{middle}{}", open.repeat(times), close.repeat(times))
    };
    vec![
        ("parentheses", nest("(", "1", ")")),
        ("open parentheses", fill("SELECT ", "(", "")),
        ("plus", fill("SELECT 1", "+1", "")),
        ("minus signs", fill("SELECT ", "- ", "1")),
        ("tildes", fill("SELECT ", "~", "1")),
        ("concat", fill("SELECT 'a'", "||'a'", "")),
        ("and", fill("SELECT 1 WHERE 1", " AND 1", "")),
        ("or columns", fill("SELECT 1 FROM users WHERE id=1", " OR id=1", "")),
        ("union", fill("SELECT 1", " UNION SELECT 1", "")),
        ("not", fill("SELECT ", "NOT ", "1")),
        ("case", fill("SELECT ", "CASE WHEN 1 THEN ", "1")),
        ("case closed", nest("CASE WHEN 1 THEN ", "1", " END")),
        ("join", fill("SELECT * FROM users", " JOIN users", "")),
        ("join columns", fill("SELECT id,id,id FROM users", ",users WHERE id", "")),
        ("comma", fill("SELECT 1", ",1", "")),
        ("names", fill("SELECT a", ",a", " FROM users")),
        ("sub-selects", nest("(SELECT ", "1", ")")),
        (
            "from nest",
            format!("SELECT * FROM {}users{}", "(".repeat(MEGABYTE / 2 - 20), ")".repeat(MEGABYTE / 2 - 20)),
        ),
        ("in", nest("1 IN (", "1", ")")),
        ("functions", nest("abs(", "1", ")")),
        ("collate", fill("SELECT 'a'", " COLLATE NOCASE", "")),
        ("is null", fill("SELECT 1", " ISNULL", "")),
        ("arrow", fill("SELECT '{}'", "->'a'", "")),
        ("like", fill("SELECT 'a'", " LIKE 'a'", "")),
        ("between", fill("SELECT 1", " BETWEEN 1 AND 1", "")),
        ("with", fill("WITH a AS (SELECT 1)", ",a AS (SELECT 1)", " SELECT 1")),
        ("values", fill("VALUES (1)", ",(1)", "")),
        ("using", fill("SELECT 1 FROM users JOIN users USING (a", ",a", ")")),
        ("windows", fill("SELECT 1 WINDOW w AS ()", ",w AS ()", "")),
        ("order by", fill("SELECT 1 ORDER BY 1", ",1", "")),
        ("parameters", fill("SELECT ?", ",?", "")),
        ("named parameters", fill("SELECT :a", ",:a", "")),
        ("semicolons", fill("", ";", "")),
        ("statements", fill("", "SELECT 1;", "")),
        ("comments", fill("SELECT 1", "/**/", "")),
        ("open comment", fill("SELECT 1/*", "*", "")),
        ("dashes", fill("SELECT 1 --", "-", "")),
        ("string", fill("SELECT '", "a", "'")),
        ("quotes", fill("SELECT '", "''", "'")),
        ("open string", fill("SELECT '", "a", "")),
        ("brackets", fill("SELECT ", "[", "")),
        ("digits", fill("SELECT ", "1", "")),
        ("dots", fill("SELECT a", ".a", "")),
        ("marks", fill("", "\u{feff}", "SELECT 1")),
        ("wide", fill("SELECT ", "表", "")),
        ("controls", fill("SELECT ", "\u{1}\u{7f}", "")),
        ("nul", fill("SELECT '", "\0", "'")),
        ("spaces", fill("", " ", "")),
        ("pragma", fill("PRAGMA table_info(", "a", ")")),
        ("explain", fill("", "EXPLAIN ", "SELECT 1")),
        ("create table", fill("CREATE TABLE t (a", ",a", ")")),
        ("trigger", fill("CREATE TRIGGER t INSERT ON users BEGIN ", "SELECT 1;", "END")),
    ]
}

/// How the first 20,000 characters of a text end under the default limits. The others are cut in the middle of
/// something, which is a mistake of syntax: G006.
const CUT: &[(&str, &[&str])] = &[
    (
        "G002",
        &[
            "plus",
            "tildes",
            "comma",
            "names",
            "values",
            "using",
            "windows",
            "order by",
            "parameters",
            "named parameters",
            "semicolons",
            "dots",
            "create table",
        ],
    ),
    ("G003", &["nul"]),
    ("G004", &["marks", "spaces"]),
    ("G005", &["statements"]),
    ("G008", &["parentheses", "open parentheses", "sub-selects", "from nest", "in", "functions"]),
    // What SQLite itself says while it compiles.
    ("syntax_error", &["concat", "not", "collate", "like"]),
    ("unknown_column", &["wide"]),
    ("rows", &["is null", "comments", "open comment", "dashes", "digits"]),
];

/// A target whose limits are raised so far that every text reaches the parser.
fn raised(scratch: &Scratch) -> Target {
    let mut target = scratch.target();
    target.guardrails.max_statement_bytes = 2 << 20;
    target.guardrails.max_statement_tokens = 2_000_000;
    target
}

async fn judge_and_run(name: &str, text: &str) {
    let scratch = Scratch::new();
    let session = open(raised(&scratch)).await.unwrap();
    let begun = Instant::now();
    match run_up_to(&session, Sql(text), Some(10), &within(CEILING)).await {
        Ran::Rows(_) | Ran::Refused(_) => {}
        Ran::Failed(e) => assert!(e.kind().is_mendable() && e.kind() != ErrorKind::Timeout, "{name}: {e:?}"),
    }
    assert!(begun.elapsed() < CEILING, "{name}");
    assert_eq!(run(&session, "SELECT count(*) FROM users").await.rows(), [["3"]], "{name}");
}

/// Each text in a process of its own, so that an abort is seen and named.
#[test]
fn a_megabyte_of_anything_ends_no_process() {
    const CHILD: &str = "DBAGENT_SQLITE_TEXT";
    if let Ok(name) = std::env::var(CHILD) {
        let (_, text) = texts().into_iter().find(|(n, _)| *n == name).expect("a text of that name");
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(judge_and_run(&name, &text));
        return;
    }
    let program = std::env::current_exe().unwrap();
    for (name, _) in texts() {
        let output = Command::new(&program)
            .args(["--exact", "bad_input::a_megabyte_of_anything_ends_no_process", "--nocapture"])
            .env(CHILD, name)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let cried = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && said.contains("1 passed"),
            "{name}: {:?}\n{said}{cried}",
            output.status
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_default_limits_refuse_a_megabyte_before_any_parser() {
    let scratch = Scratch::new();
    let session = scratch.session().await;
    for (name, text) in texts() {
        let refusal = run(&session, &text).await.refusal();
        assert_eq!(refusal.rule, Rule::TooLarge, "{name}");
    }
    // Under the limit of bytes the limit of tokens, or of nesting, comes first.
    let mut left: Vec<&str> = CUT.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    for (name, text) in texts() {
        let short: String = text.chars().take(20_000).collect();
        let ended = match run(&session, &short).await {
            Ran::Refused(refusal) => refusal.rule.code(),
            Ran::Rows(_) => "rows",
            Ran::Failed(e) => e.kind().as_str(),
        };
        let expected = CUT.iter().find(|(_, names)| names.contains(&name)).map_or("G006", |(end, _)| end);
        assert_eq!(ended, expected, "{name}");
        left.retain(|n| *n != name);
    }
    assert!(left.is_empty(), "there are no such texts: {left:?}");
    let sum = format!("SELECT 1{}", "+1".repeat(6_000));
    assert_eq!(run(&session, &sum).await.refusal().rule, Rule::TooManyTokens);
    assert_eq!(run(&session, "").await.refusal().rule, Rule::Empty);
    assert_eq!(run(&session, "-- nothing").await.refusal().rule, Rule::Empty);
    assert_eq!(run(&session, "SELECT '\0'").await.refusal().rule, Rule::NotText);
}
