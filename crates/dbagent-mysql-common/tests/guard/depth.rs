//! No statement can kill the process: constructs of the servers' own, at and beyond the bounds, parsed, walked
//! and dropped on a stack of the size that sessions use. In a child process, since a stack that overflows takes
//! the process.

use std::process::Command;

use dbagent_core::guardrails::StatementLimits;
use dbagent_core::session::PARSE_STACK_BYTES;
use dbagent_core::{ErrorKind, Request, Settings};
use dbagent_mysql_common::parse;

use crate::KIT;

/// Set in the child.
const CHILD: &str = "DBAGENT_MYSQL_DEPTH_CHILD";
const DEFAULT_TOKENS: usize = 10_000;
const RAISED_TOKENS: usize = 300_000;

/// What stands before, what is repeated, the core, what closes each, what stands behind; tokens of one
/// repetition; and what the longest within the default limit gives.
type Case = (&'static str, [&'static str; 5], usize, &'static str);

const CASES: &[Case] = &[
    ("casts", ["SELECT ", "CAST(", "1", " AS CHAR)", ""], 5, "too-complex"),
    ("conversions", ["SELECT ", "CONVERT(", "1", " USING utf8mb4)", ""], 5, "too-complex"),
    ("trims", ["SELECT ", "TRIM(BOTH 'a' FROM ", "1", ")", ""], 6, "too-complex"),
    ("intervals", ["SELECT ", "NOW() + INTERVAL (", "1", ") DAY", ""], 8, "too-complex"),
    ("interval functions", ["SELECT ", "INTERVAL(1, ", "1", ")", ""], 5, "too-complex"),
    ("bare intervals", ["SELECT ", "INTERVAL ", "1", " DAY", ""], 2, "too-complex"),
    ("extracts", ["SELECT ", "EXTRACT(DAY FROM ", "1", ")", ""], 5, "too-complex"),
    ("chars", ["SELECT ", "CHAR(", "1", " USING utf8mb4)", ""], 5, "too-complex"),
    ("units", ["SELECT ", "TIMESTAMPDIFF(DAY, NOW(), ", "1", ")", ""], 9, "too-complex"),
    ("full text", ["SELECT ", "MATCH (a) AGAINST (", "'a'", ")", ""], 7, "too-complex"),
    ("rows", ["SELECT ", "ROW(1, ", "1", ")", ""], 5, "too-complex"),
    ("braces", ["SELECT ", "{x ", "1", "}", ""], 3, "too-complex"),
    ("json values", ["SELECT ", "JSON_VALUE(", "'{}'", ", '$.a' NULL ON EMPTY)", ""], 9, "too-complex"),
    ("weights", ["SELECT ", "WEIGHT_STRING(", "'a'", " AS CHAR(1))", ""], 8, "too-complex"),
    ("tables in brackets", ["SELECT 1 FROM ", "(", "a", " JOIN b ON 1)", ""], 6, "too-complex"),
    (
        "functions and cases",
        ["SELECT ", "IF(CASE WHEN TRIM(", "1", ") THEN 1 END, 1, 1)", ""],
        16,
        "too-complex",
    ),
    ("a broken end", ["SELECT ", "CASE WHEN TRIM(CAST(", "1", "", ""], 6, "too-complex"),
    ("sums", ["SELECT 1", " + 1", "", "", ""], 2, "passes"),
    ("words for sums", ["SELECT 1", " MOD 1", "", "", ""], 2, "passes"),
    ("sounds", ["SELECT 'a'", " SOUNDS LIKE 'b'", "", "", ""], 3, "passes"),
    ("divisions", ["SELECT 1", " DIV 1", "", "", ""], 2, "too-complex"),
    ("patterns", ["SELECT 'a'", " REGEXP 'b'", "", "", ""], 2, "too-complex"),
    ("paths", ["SELECT a", "->'$.b'", "", "", " FROM t"], 2, "passes"),
    ("unions", ["SELECT 1", " UNION SELECT 1", "", "", ""], 3, "passes"),
    ("strings side by side", ["SELECT 'a'", " 'b'", "", "", ""], 1, "passes"),
    ("conditions of SHOW", ["SHOW TABLES WHERE 1", " AND 1", "", "", ""], 2, "passes"),
    ("bodies of EXPLAIN", ["EXPLAIN SELECT 1", " OR 1", "", "", ""], 2, "passes"),
    ("straight joins", ["SELECT 1 FROM t", " STRAIGHT_JOIN t", "", "", ""], 2, "passes"),
    ("index hints", ["SELECT 1 FROM t", " USE INDEX (a)", "", "", ""], 5, "passes"),
    ("arguments", ["SELECT CONCAT('a'", ", 'b'", ")", "", ""], 2, "passes"),
    ("columns", ["SELECT a", ", b", "", "", " FROM t"], 2, "passes"),
    ("tables", ["SELECT 1 FROM (a", ", b", ")", "", ""], 2, "passes"),
    ("separators", ["SELECT 1", ", GROUP_CONCAT(a SEPARATOR ',')", "", "", " FROM t"], 7, "passes"),
];

fn outcome(case: &Case, repeat: usize, tokens: usize) -> String {
    let [before, open, core, close, behind] = case.1;
    let text = format!("{before}{}{core}{}{behind}", open.repeat(repeat), close.repeat(repeat));
    let limits = StatementLimits { bytes: 64 << 20, tokens };
    let context = KIT.dialect.parse_context(limits, Settings::new());
    match parse::parse(KIT.flavor, &Request::text(text), &context) {
        Ok(parsed) => match parsed.findings.first() {
            None => "passes".into(),
            Some(finding) => finding.rule.name().to_owned(),
        },
        Err(e) if e.kind() == ErrorKind::Syntax => format!("syntax: {e}"),
        Err(e) => format!("error: {e}"),
    }
}

fn child() {
    for case in CASES {
        let most = (DEFAULT_TOKENS - 40) / case.2;
        println!("{}|default|{}", case.0, outcome(case, most, DEFAULT_TOKENS));
        // As deep as the bound on nesting lets it be.
        println!("{}|bound|{}", case.0, outcome(case, 100, DEFAULT_TOKENS));
        let most = (RAISED_TOKENS - 40) / case.2;
        println!("{}|raised|{}", case.0, outcome(case, most, RAISED_TOKENS).split(':').next().unwrap());
    }
}

#[test]
fn no_statement_overflows_the_stack() {
    if std::env::var_os(CHILD).is_some() {
        std::thread::Builder::new().stack_size(PARSE_STACK_BYTES).spawn(child).unwrap().join().unwrap();
        return;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "guard::depth::no_statement_overflows_the_stack", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<_> = text.lines().filter(|l| l.contains('|')).collect();
    assert!(
        output.status.success(),
        "the child died with {} after {:?}: {}",
        output.status,
        lines.last(),
        String::from_utf8_lossy(&output.stderr)
    );
    let mut wrong = Vec::new();
    for (name, text, _, expected) in CASES {
        let broken = text[3].is_empty() && *expected == "too-complex" && *name == "a broken end";
        let arrow = *name == "paths" && KIT.id == "mariadb";
        for (size, expected) in [("default", *expected), ("bound", if broken { "syntax" } else { "passes" })]
        {
            let start = format!("{name}|{size}|");
            let found =
                lines.iter().find_map(|l| l.split_once(&start).map(|(_, end)| end)).unwrap_or("nothing");
            if !arrow && !found.starts_with(expected) {
                wrong.push(format!("{start}{expected}, and not {found}"));
            }
        }
        let start = format!("{name}|raised|");
        if !lines.iter().any(|l| l.contains(&start)) {
            wrong.push(format!("{start} has no end"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
