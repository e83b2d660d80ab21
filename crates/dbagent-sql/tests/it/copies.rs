//! Common table expressions that read one another: an engine that writes them out grows with every reading.

use dbagent_core::guard::{Finding, Rule};

use crate::grammars::{grammar, parse};

/// `levels` expressions, each of which reads the one before it `times` times.
fn chain(levels: usize, times: usize, recursive: &str) -> String {
    let mut text = format!("WITH {recursive} a0 AS (SELECT id AS x FROM users)");
    for level in 1..levels {
        let reads: Vec<String> = (0..times).map(|i| format!("a{} AS r{i}", level - 1)).collect();
        text += &format!(", a{level} AS (SELECT r0.x FROM {})", reads.join(", "));
    }
    text + &format!(" SELECT count(*) FROM a{}", levels - 1)
}

fn findings(text: &str) -> Vec<Finding> {
    parse(&grammar("mysql"), text).unwrap_or_else(|e| panic!("{e}")).findings
}

#[test]
fn what_grows_with_every_level_is_too_complex() {
    for text in [chain(40, 2, ""), chain(40, 2, "RECURSIVE"), chain(9, 4, ""), chain(300, 2, "")] {
        let found = findings(&text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].rule, Rule::TooComplex);
        assert!(found[0].message.contains("more than 20000 parts"), "{}", found[0].message);
        let place = found[0].span.expect("a place");
        let named = text.get(place.start..place.end).expect("a place of the text");
        assert!(named.starts_with('a'), "{named}");
    }
}

#[test]
fn what_people_write_is_not() {
    for text in [
        chain(200, 1, ""),
        chain(9, 2, ""),
        chain(5, 4, "RECURSIVE"),
        "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT * FROM n, n AS m"
            .to_owned(),
        // One of the same name inside hides the other, and none outlives its query.
        "WITH a AS (SELECT 1 AS x) SELECT * FROM (WITH a AS (SELECT x FROM a, a AS b) SELECT * FROM a) AS s, a"
            .to_owned(),
    ] {
        assert_eq!(findings(&text), [], "{text}");
    }
}

#[test]
fn expressions_inside_count_as_well_as_tables() {
    let many = vec!["1"; 400].join(" + ");
    let reads: Vec<String> = (0..60).map(|i| format!("big AS r{i}")).collect();
    let text = format!("WITH big AS (SELECT {many} AS x) SELECT 1 FROM {}", reads.join(", "));
    assert_eq!(findings(&text)[0].rule, Rule::TooComplex);
    let text = format!("WITH big AS (SELECT {many} AS x) SELECT 1 FROM {}", reads[..20].join(", "));
    assert_eq!(findings(&text), []);
}

/// MariaDB lets those of a WITH RECURSIVE read what is defined behind them.
#[test]
fn what_is_defined_further_on_is_read_twice_and_no_more() {
    let backward = |levels: usize| {
        let mut text = "WITH RECURSIVE ".to_owned();
        for level in (1..levels).rev() {
            text += &format!("a{level} AS (SELECT r0.x FROM a{0} r0, a{0} r1), ", level - 1);
        }
        text + &format!("a0 AS (SELECT id AS x FROM users) SELECT count(*) FROM a{}", levels - 1)
    };
    assert_eq!(findings(&backward(2)), []);
    for levels in [3, 12, 40] {
        let found = findings(&backward(levels));
        assert_eq!(found.first().map(|f| f.rule), Some(Rule::TooComplex), "{levels}: {found:?}");
    }
    let mutual = "WITH RECURSIVE even AS (SELECT 0 AS n UNION SELECT n + 1 FROM odd), \
                  odd AS (SELECT n + 1 AS n FROM even WHERE n < 9) SELECT * FROM even";
    assert_eq!(findings(mutual), []);
}
