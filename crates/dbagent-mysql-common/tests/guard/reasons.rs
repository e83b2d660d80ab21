//! A refusal says what it is about, and where.

use dbagent_core::guard::{Judgement, Rule};
use dbagent_core::{ErrorKind, Settings};

use super::corpus::{offline, read};
use crate::KIT;

/// The rule and the text at the place that it names.
fn refusal(text: &str) -> (Rule, String) {
    match offline(text) {
        Ok(Judgement::Refused(refusal)) => {
            let at = refusal.span.and_then(|s| text.get(s.start..s.end)).unwrap_or_default();
            (refusal.rule, at.to_owned())
        }
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn a_refusal_names_its_rule_and_its_place() {
    let mut rows = vec![
        ("SELECT 1 INTO OUTFILE '/x'", Rule::ServerIo, "INTO"),
        ("SELECT 1 INTO @a", Rule::SessionChange, "INTO"),
        ("SELECT id, @a := 1 FROM users", Rule::SessionChange, ":="),
        ("SELECT * FROM users LOCK IN SHARE MODE", Rule::Locks, "LOCK"),
        ("SELECT LOAD_FILE('x')", Rule::ForbiddenFunction, "LOAD_FILE"),
        ("SELECT GET_LOCK('a', 1)", Rule::ForbiddenFunction, "GET_LOCK"),
        ("SELECT SLEEP(1)", Rule::ForbiddenFunction, "SLEEP"),
        ("SELECT app.f(1)", Rule::UnknownFunction, "app.f"),
        ("SELECT * FROM mysql.user", Rule::SecretCatalogue, "mysql.user"),
        ("SHOW PROCESSLIST", Rule::SecretCatalogue, "SHOW"),
        ("SHOW COLUMNS FROM mysql.user", Rule::SecretCatalogue, "mysql"),
        ("SELECT 1 /*! x */", Rule::UnknownSyntax, "/*"),
        ("SELECT /*+ SET_VAR(a=1) */ 1", Rule::SessionChange, "/*"),
        ("SELECT 1; SELECT 2", Rule::SeveralStatements, "SELECT"),
        ("GRANT ALL ON *.* TO x", Rule::SchemaChange, "GRANT"),
        ("CREATE USER x", Rule::SchemaChange, "CREATE"),
        ("SET @a = 1", Rule::SessionChange, ""),
        ("LOCK TABLES users READ", Rule::SessionChange, ""),
        ("COMMIT", Rule::SessionChange, ""),
        ("HANDLER users OPEN", Rule::SessionChange, ""),
        ("KILL 5", Rule::ServerIo, ""),
        ("LOAD DATA INFILE 'x' INTO TABLE users", Rule::ServerIo, ""),
        ("CALL p()", Rule::UnknownEffect, ""),
        ("DO 1", Rule::UnknownEffect, ""),
        ("OPTIMIZE TABLE users", Rule::Maintenance, ""),
        ("SHOW NOTHING", Rule::UnknownSyntax, "SHOW"),
        ("", Rule::Empty, ""),
    ];
    if KIT.id == "mysql" {
        rows.push(("EXPLAIN FOR CONNECTION 5", Rule::SecretCatalogue, "FOR"));
        rows.push(("EXPLAIN FORMAT=JSON INTO @p SELECT 1", Rule::SessionChange, "INTO"));
        rows.push(("EXPLAIN FOR SCHEMA x SELECT 1", Rule::UnknownSyntax, "FOR"));
    } else {
        rows.push(("SELECT NEXT VALUE FOR s", Rule::ForbiddenFunction, "NEXT"));
        rows.push(("EXECUTE IMMEDIATE 'SELECT 1'", Rule::UnknownEffect, ""));
        rows.push(("SHOW EXPLAIN FOR 5", Rule::SecretCatalogue, "SHOW"));
        rows.push(("BEGIN NOT ATOMIC SELECT 1; END", Rule::UnknownEffect, ""));
    }
    let wrong: Vec<String> = rows
        .iter()
        .map(|(text, rule, at)| (text, (*rule, (*at).to_owned()), refusal(text)))
        .filter(|(_, expected, found)| expected != found)
        .map(|(text, expected, found)| format!("{text}: {expected:?}, and not {found:?}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_name_without_a_schema_is_that_of_the_default_one() {
    let secret = |space: &str| {
        let settings = Settings::new().with(Settings::DEFAULT_NAMESPACE, space);
        let parsed = read("SELECT * FROM user", settings).unwrap();
        parsed.findings.iter().any(|f| f.rule == Rule::SecretCatalogue)
    };
    assert!(secret("mysql") && secret("MySQL") && !secret("shop"));
}

#[test]
fn parameters_are_counted() {
    let count = |text: &str| read(text, Settings::new()).unwrap().parameters.positional;
    assert_eq!(count("SELECT * FROM users WHERE id = ? AND name LIKE ? LIMIT ?, ?"), 4);
    assert_eq!(count("SELECT '?', `?`, CAST(? AS CHAR), INTERVAL(?, 1, 2) -- ?\n"), 2);
    assert_eq!(count("SHOW TABLES WHERE ? = 1"), 1);
    assert_eq!(count("EXPLAIN SELECT TRIM(? FROM 'a')"), 1);
}

#[test]
fn what_is_no_statement_says_where() {
    for (text, at) in
        [("SELECT 'open", 7), ("SELECT 1 FROM", 13), ("SELECT 1 /* open", 9), ("SELECT `open", 7)]
    {
        let error = read(text, Settings::new()).unwrap_err();
        assert_eq!((error.kind(), error.position()), (ErrorKind::Syntax, Some(at)), "{text}: {error}");
    }
}
