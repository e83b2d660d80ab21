//! No statement within the limits ends the process, however deep it is: not in the grammar, not in the
//! decoding of its tree, not in the walk, and not when the tree is dropped.

use std::process::Command;

use dbagent_core::guardrails::StatementLimits;
use dbagent_core::session::PARSE_STACK_BYTES;
use dbagent_core::{ErrorKind, Request, Settings};

use crate::support::GUARD;

const CHILD: &str = "DBAGENT_POSTGRES_DEPTH_CHILD";
/// The default limit, and what a host may raise it to.
const LIMITS: [usize; 4] = [10_000, 20_000, 40_000, 100_000];

/// What the test runner writes before the first line of a test.
const PREFIX: &str = "test depth::no_statement_overflows_the_stack ... ";

/// Before, what is repeated, the core, what closes each, behind.
type Text = (&'static str, &'static str, &'static str, &'static str, &'static str);

/// A statement that repeats something, how many tokens each of it has, and what comes of it: `deep` passes
/// at the default limit, and above it what the grammar calls too deep is refused.
const CASES: &[(&str, usize, Text, &str)] = &[
    ("parentheses", 2, ("SELECT ", "(", "1", ")", ""), "too-complex"),
    ("plus", 2, ("SELECT 1", "+1", "", "", ""), "deep"),
    ("concat", 2, ("SELECT 'a'", "||'b'", "", "", ""), "deep"),
    ("and", 2, ("SELECT true", " AND true", "", "", ""), "passes"),
    ("or", 2, ("SELECT true", " OR true", "", "", ""), "passes"),
    ("union", 3, ("SELECT 1", " UNION SELECT 1", "", "", ""), "too-complex"),
    ("not", 1, ("SELECT ", "NOT ", "true", "", ""), "too-complex"),
    ("minus", 1, ("SELECT ", "- ", "a", "", " FROM t"), "too-complex"),
    ("is null", 2, ("SELECT 1", " IS NULL", "", "", ""), "deep"),
    ("case", 5, ("SELECT ", "CASE WHEN true THEN ", "1", " END", ""), "deep"),
    ("case arms", 4, ("SELECT CASE", " WHEN true THEN 1", " END", "", ""), "passes"),
    ("join", 3, ("SELECT 1 FROM t", " CROSS JOIN t", "", "", ""), "deep"),
    ("natural join", 3, ("SELECT 1 FROM t", " NATURAL JOIN t", "", "", ""), "too-complex"),
    ("casts", 2, ("SELECT a", "::int", " FROM t", "", ""), "deep"),
    ("subscripts", 3, ("SELECT a", "[1]", " FROM t", "", ""), "passes"),
    ("fields", 2, ("SELECT (a)", ".b", " FROM t", "", ""), "passes"),
    ("arrays", 2, ("SELECT ARRAY", "[", "1", "]", ""), "too-complex"),
    ("functions", 3, ("SELECT ", "abs(", "1", ")", ""), "too-complex"),
    ("sub-selects", 3, ("SELECT ", "(SELECT ", "1", ")", ""), "too-complex"),
    ("derived tables", 6, ("SELECT 1 FROM ", "(SELECT 1 FROM ", "t", ") x", ""), "too-complex"),
    ("with", 7, ("", "WITH a AS (", "SELECT 1", ") SELECT 1", ""), "too-complex"),
    ("exists", 6, ("SELECT ", "EXISTS(SELECT 1 WHERE ", "true", ")", ""), "too-complex"),
    ("in list", 2, ("SELECT 1 IN (1", ",1", ")", "", ""), "passes"),
    ("columns", 2, ("SELECT a", ",a", " FROM t", "", ""), "passes"),
    ("tables", 2, ("SELECT 1 FROM t", ",t", "", "", ""), "passes"),
    ("rows", 4, ("VALUES (1)", ",(1)", "", "", ""), "passes"),
    ("at time zone", 4, ("SELECT a", " AT TIME ZONE 'x'", " FROM t", "", ""), "deep"),
    ("collate", 2, ("SELECT a", " COLLATE \"C\"", " FROM t", "", ""), "deep"),
    ("json", 2, ("SELECT a", "->>'x'", " FROM t", "", ""), "deep"),
];

fn statement(text: Text, repeat: usize) -> String {
    let (before, open, core, close, behind) = text;
    format!("{before}{}{core}{}{behind}", open.repeat(repeat), close.repeat(repeat))
}

/// What became of a statement, in one word.
fn outcome(text: &str, tokens: usize) -> String {
    let context = GUARD.parse_context(StatementLimits { bytes: 64 << 20, tokens }, Settings::new());
    match GUARD.parse(&Request::text(text), &context) {
        Ok(parsed) => match parsed.findings.as_slice() {
            [] => "passes".to_owned(),
            [first, ..] => first.rule.name().to_owned(),
        },
        Err(e) if e.kind() == ErrorKind::Syntax => format!("syntax: {e}"),
        Err(e) => format!("error: {e}"),
    }
}

fn child() {
    for (name, each, text, _) in CASES {
        for limit in LIMITS {
            let text = statement(*text, (limit - 20) / each);
            println!("{name}|{limit}|{}", outcome(&text, limit));
        }
    }
}

#[test]
fn no_statement_overflows_the_stack() {
    if std::env::var_os(CHILD).is_some() {
        std::thread::Builder::new().stack_size(PARSE_STACK_BYTES).spawn(child).unwrap().join().unwrap();
        return;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "depth::no_statement_overflows_the_stack", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<_> = text.lines().filter(|l| l.contains('|')).collect();
    println!("{}", lines.join("\n"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the child died with {} after {:?}: {errors}", output.status, lines.last());
    let mut wrong = Vec::new();
    for (name, _, _, expected) in CASES {
        for limit in LIMITS {
            let told = format!("{name}|{limit}|");
            let line = |l: &&str| l.trim_start_matches(PREFIX).to_owned().strip_prefix(&told).map(str::to_owned);
            let got = lines.iter().find_map(line).unwrap_or_default();
            let got = got.as_str();
            let right = match *expected {
                "deep" if limit == LIMITS[0] => "passes",
                // How deep the grammar goes depends on the stack; it never is the end of the process.
                "deep" if limit < LIMITS[3] => got,
                "deep" => "too-complex",
                other => other,
            };
            if got != right {
                wrong.push(format!("{told}{right}, but {got}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
