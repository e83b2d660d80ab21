//! Texts that are too much for a recursive reader never take the process with them. Each text is judged,
//! and read if it is cleared, in a process of its own.

use std::process::Command;
use std::time::Duration;

use dbagent_core::session::Verdict;
use dbagent_core::{ErrorKind, Request};

use crate::support::{Ran, Scratch, collect, within};

const CHILD: &str = "DBAGENT_TEST_DEPTH";

/// A text by its number; none when there are no more.
fn text(number: usize) -> Option<String> {
    let times = |piece: &str| piece.repeat(64_000 / piece.len());
    let nest = |open: &str, close: &str, n: usize| format!("{}1{}", open.repeat(n), close.repeat(n));
    Some(match number {
        0 => format!("SELECT {}", nest("(", ")", 30_000)),
        1 => format!("SELECT {}", nest("(", ")", 900)),
        2 => format!("SELECT 1{}", "+1".repeat(950)),
        3 => format!("SELECT 1{}", times("+1")),
        4 => format!("SELECT 'a'{}", "||'a'".repeat(900)),
        5 => format!("SELECT {}", nest("abs(", ")", 900)),
        6 => format!("SELECT {}", nest("[", "]", 900)),
        7 => format!("SELECT {}", nest("(SELECT ", ")", 900)),
        8 => format!("{}FROM users{}", "FROM (".repeat(900), ")".repeat(900)),
        9 => format!("{}FROM users{}", "FROM (".repeat(5_000), ")".repeat(5_000)),
        10 => format!("SELECT 1 WHERE {}true", "NOT ".repeat(900)),
        11 => format!("SELECT {}1{}", "CASE WHEN true THEN ".repeat(900), " END".repeat(900)),
        12 => format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(2_400)),
        13 => format!("SELECT 1 WHERE true{}", " AND true".repeat(4_900)),
        14 => format!("FROM users{}", ", users".repeat(900)),
        15 => format!(
            "SELECT count(*) FROM users u0{}",
            (1..400).map(|i| format!(" JOIN users u{i} ON true")).collect::<Vec<_>>().concat()
        ),
        16 => format!(
            "{}SELECT 1",
            (0..900)
                .map(|i| format!("{} c{i} AS (SELECT 1)", if i == 0 { "WITH" } else { "," }))
                .collect::<Vec<_>>()
                .concat()
        ),
        17 => format!(
            "{}SELECT 1{}",
            (0..600).map(|i| format!("WITH c{i} AS (SELECT 1) SELECT * FROM (")).collect::<Vec<_>>().concat(),
            ")".repeat(600)
        ),
        18 => format!("{}SELECT 1", "EXPLAIN ".repeat(8_000)),
        19 => format!("SELECT 1{}", "::INT".repeat(900)),
        20 => format!("SELECT {}", "-".repeat(20_000)),
        21 => format!("SELECT a{}", ".b".repeat(4_000)),
        22 => format!("SELECT {}", nest("{'a': ", "}", 900)),
        23 => format!("PIVOT {}users{} ON id", "(FROM ".repeat(900), ")".repeat(900)),
        24 => format!("SELECT list_transform([1], {}x)", "lambda x: ".repeat(900)),
        25 => format!("SELECT [1]{}", "[1]".repeat(900)),
        26 => format!("DESCRIBE {}SELECT 1", "DESCRIBE ".repeat(900)),
        27 => format!("SELECT 1 IN ({})", vec!["1"; 4_900].join(",")),
        _ => return None,
    })
}

/// Not a test of its own: what the child process runs.
#[tokio::test(flavor = "multi_thread")]
async fn child() {
    let Ok(number) = std::env::var(CHILD) else { return };
    let text = text(number.parse().unwrap()).unwrap();
    let scratch = Scratch::new();
    let session = scratch.session().await;
    let call = within(Duration::from_secs(30));
    match session.judge(Request::text(&text), Some(10), &call).await.unwrap() {
        Verdict::Cleared(cleared) => {
            // Planning it may take longer than anybody waits; what counts is that it stops.
            let call = within(Duration::from_secs(5));
            if let Ran::Failed(e) = collect(session.read(cleared, &call).unwrap()).await {
                assert!(e.kind().is_mendable(), "{e:?}");
            }
        }
        Verdict::Refused(_) => {}
        Verdict::Proposed(p) => panic!("{p:?}"),
    }
}

#[test]
fn deep_texts_do_not_take_the_process_with_them() {
    let mut number = 0;
    while let Some(text) = text(number) {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "depth::child", "--nocapture"])
            .env(CHILD, number.to_string())
            .output()
            .unwrap();
        let start: String = text.chars().take(60).collect();
        assert!(
            output.status.success(),
            "text {number}, {start:?} …: {}\n{}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        number += 1;
    }
    assert!(number > 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_as_deep_as_the_engine_takes_is_followed() {
    let deep =
        format!("CREATE VIEW deep AS SELECT {}id{} AS x FROM users", "abs(".repeat(300), ")".repeat(300));
    let scratch = Scratch::new();
    scratch.change(&deep);
    let session = scratch.session().await;
    let ran = crate::support::run(&session, "SELECT x FROM deep ORDER BY x LIMIT 1").await;
    assert_eq!(ran.rows(), [["1"]]);
    let e =
        crate::support::run(&session, &format!("SELECT {}1{}", "(".repeat(2_000), ")".repeat(2_000))).await;
    assert_eq!(e.refusal().rule, dbagent_core::Rule::TooComplex);
    assert_eq!(ErrorKind::Syntax.as_str(), "syntax_error");
}
