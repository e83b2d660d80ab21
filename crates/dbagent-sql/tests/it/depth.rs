//! No statement can kill the process: constructs at and far beyond the bounds, parsed, walked and dropped on a
//! stack of the size that sessions use. In a child process, since a stack that overflows takes the process.

use std::process::Command;

use dbagent_core::dialect::Settings;
use dbagent_core::guardrails::StatementLimits;
use dbagent_core::session::PARSE_STACK_BYTES;
use dbagent_core::{ErrorKind, Request};
use dbagent_sql::{MAX_CHAIN, MAX_NESTING};

use crate::grammars;

/// Set in the child.
const CHILD: &str = "DBAGENT_SQL_DEPTH_CHILD";
/// The default limit of tokens, and one that a host may set.
const DEFAULT_TOKENS: usize = 10_000;
const RAISED_TOKENS: usize = 1_000_000;

struct Case {
    name: &'static str,
    dialect: &'static str,
    /// What stands before, what is repeated, the core, what closes each repetition, what stands behind.
    text: (&'static str, &'static str, &'static str, &'static str, &'static str),
    /// Tokens of one repetition, both sides together.
    tokens: usize,
    kind: Kind,
    /// Whether it is tried at the raised limit too, which takes a second or two.
    raised: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Deep to the left: passes up to [`MAX_CHAIN`].
    Chain,
    /// Deep by brackets, CASE or prefixes: passes up to [`MAX_NESTING`].
    Nest,
    /// Flat: passes at any length.
    List,
}

use Kind::{Chain, List, Nest};

const fn case(
    name: &'static str,
    kind: Kind,
    tokens: usize,
    text: (&'static str, &'static str, &'static str, &'static str, &'static str),
) -> Case {
    Case { name, dialect: "generic", text, tokens, kind, raised: matches!(kind, List) }
}

impl Case {
    const fn raised(mut self) -> Self {
        self.raised = true;
        self
    }
}

const CASES: &[Case] = &[
    case("plus", Chain, 2, ("SELECT 1", "+1", "", "", "")).raised(),
    case("concat", Chain, 2, ("SELECT 'a'", "||'b'", "", "", "")).raised(),
    case("and", Chain, 2, ("SELECT 1", " AND 1", "", "", "")).raised(),
    case("or", Chain, 4, ("SELECT 1 FROM t WHERE a=1", " OR a=1", "", "", "")),
    case("is null", Chain, 2, ("SELECT 1", " IS NULL", "", "", "")),
    case("union", Chain, 3, ("SELECT 1", " UNION SELECT 1", "", "", "")).raised(),
    case("union all", Chain, 4, ("SELECT 1", " UNION ALL SELECT 1", "", "", "")),
    case("join", Chain, 4, ("SELECT 1 FROM t", " CROSS JOIN t", "", "", "")).raised(),
    case("casts", Chain, 2, ("SELECT a", "::int", "", "", "")),
    case("array types", Chain, 2, ("SELECT CAST(a AS int", "[]", ")", "", "")),
    case("subscripts", Chain, 3, ("SELECT a", "[1]", "", "", "")),
    case("between", Chain, 4, ("SELECT 1", " BETWEEN 1 AND 1", "", "", "")),
    case("like", Chain, 2, ("SELECT 1", " LIKE 1", "", "", "")),
    case("in", Chain, 4, ("SELECT 1", " IN (1)", "", "", "")),
    case("json", Chain, 2, ("SELECT a", "->'x'", "", "", "")),
    case("pivot", Chain, 13, ("SELECT 1 FROM t", " PIVOT (sum(a) FOR b IN (1))", "", "", "")),
    case("case arms", Chain, 4, ("SELECT CASE", " WHEN 1 THEN 1", " END", "", "")),
    case("pipes", Chain, 3, ("FROM t", " |> WHERE 1", "", "", "")),
    case("parentheses", Nest, 2, ("SELECT ", "(", "1", ")", "")).raised(),
    case("not", Nest, 1, ("SELECT ", "NOT ", "1", "", "")).raised(),
    case("minus", Nest, 1, ("SELECT ", "- ", "1", "", "")),
    case("case", Nest, 5, ("SELECT ", "CASE WHEN 1 THEN ", "1", " END", "")).raised(),
    case("functions", Nest, 3, ("SELECT ", "abs(", "1", ")", "")),
    case("scalar subqueries", Nest, 3, ("SELECT ", "(SELECT ", "1", ")", "")),
    case("derived tables", Nest, 6, ("SELECT 1 FROM ", "(SELECT 1 FROM ", "t", ") x", "")),
    case("exists", Nest, 6, ("SELECT ", "EXISTS(SELECT 1 WHERE ", "1", ")", "")),
    case("in subqueries", Nest, 5, ("SELECT ", "1 IN (SELECT ", "1", ")", "")),
    case("joins in brackets", Nest, 5, ("SELECT 1 FROM ", "(", "t", " CROSS JOIN b)", "")),
    case("with", Nest, 7, ("", "WITH a AS (", "SELECT 1", ") SELECT 1", "")),
    case("queries in brackets", Nest, 2, ("", "(", "SELECT 1", ")", "")),
    case("arrays", Nest, 2, ("SELECT ", "[", "1", "]", "")),
    case("lambdas", Nest, 9, ("SELECT ", "f((a,b)->", "1", ")", "")),
    case("array types in each other", Nest, 3, ("SELECT CAST(1 AS ", "ARRAY<", "int", ">", ")")),
    case(
        "nested json columns",
        Nest,
        6,
        (
            "SELECT 1 FROM JSON_TABLE('x','$' COLUMNS(",
            "NESTED PATH '$' COLUMNS(",
            "a INT PATH '$.a'",
            ")",
            ")) t",
        ),
    ),
    case(
        "patterns",
        Nest,
        2,
        ("SELECT 1 FROM t MATCH_RECOGNIZE(PATTERN(", "(", "a", ")", ") DEFINE a AS 1)"),
    ),
    case("in list", List, 2, ("SELECT 1 IN (1", ",1", ")", "", "")),
    case("rows", List, 6, ("INSERT INTO t VALUES (1,2)", ",(1,2)", "", "", "")),
    case("columns", List, 2, ("SELECT a", ",a", " FROM t", "", "")),
    case("tables", List, 2, ("SELECT 1 FROM t", ",t", "", "", "")),
    Case {
        name: "mysql joins without conditions",
        dialect: "mysql",
        text: ("SELECT 1 FROM t", " JOIN t", "", "", ""),
        tokens: 2,
        kind: Nest,
        raised: false,
    },
    Case {
        name: "mysql joins with their conditions behind",
        dialect: "mysql",
        text: ("SELECT 1 FROM t", " JOIN t", "", " ON 1", ""),
        tokens: 4,
        kind: Nest,
        raised: false,
    },
];

impl Case {
    fn statement(&self, repeat: usize) -> String {
        let (before, open, core, close, behind) = self.text;
        format!("{before}{}{core}{}{behind}", open.repeat(repeat), close.repeat(repeat))
    }
}

/// What became of a statement, in one word.
fn outcome(case: &Case, repeat: usize, tokens: usize) -> String {
    let limits = StatementLimits { bytes: 64 << 20, tokens };
    let grammar = grammars::grammar(case.dialect);
    let request = Request::text(case.statement(repeat));
    match grammar.parse(&request, &grammars::context(limits, Settings::new())) {
        Ok(parsed) => match parsed.findings.as_slice() {
            [] => "passes".into(),
            [first, ..] => first.rule.name().to_owned(),
        },
        Err(e) if e.kind() == ErrorKind::Syntax => format!("syntax: {e}"),
        Err(e) => format!("error: {e}"),
    }
}

fn child() {
    for case in CASES {
        // As long as the default limit of tokens allows.
        let most = (DEFAULT_TOKENS - 40) / case.tokens;
        println!("{}|default|{}", case.name, outcome(case, most, DEFAULT_TOKENS));
        // At the bound of its kind.
        let at = match case.kind {
            Chain => (MAX_CHAIN - 10) / case.tokens.min(4),
            Nest => MAX_NESTING - 4,
            List => MAX_CHAIN,
        };
        println!("{}|bound|{}", case.name, outcome(case, at, RAISED_TOKENS));
        // As long as the raised limit allows.
        if case.raised {
            let most = (RAISED_TOKENS - 40) / case.tokens;
            println!("{}|raised|{}", case.name, outcome(case, most, RAISED_TOKENS));
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
    assert!(
        output.status.success(),
        "the child died with {} after {:?}: {}",
        output.status,
        lines.last(),
        String::from_utf8_lossy(&output.stderr)
    );
    let mut wrong = Vec::new();
    for case in CASES {
        for (size, expected) in [
            ("default", if case.kind == Nest { "too-complex" } else { "passes" }),
            ("bound", "passes"),
            ("raised", if case.kind == List { "passes" } else { "too-complex" }),
        ] {
            if size == "raised" && !case.raised {
                continue;
            }
            let line = format!("{}|{size}|{expected}", case.name);
            if !lines
                .iter()
                .any(|l| l.trim_start_matches("test depth::no_statement_overflows_the_stack ... ") == line)
            {
                let start = format!("{}|{size}|", case.name);
                wrong.push((line, lines.iter().find(|l| l.contains(&start)).copied().unwrap_or("nothing")));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
