//! Limits, settings and hooks.

use dbagent_core::dialect::Settings;
use dbagent_core::guard::{Finding, Judgement, Parsed, Policy, Resolution, Rule, StatementClass, judge};
use dbagent_core::guardrails::StatementLimits;
use dbagent_core::{Effects, ErrorKind, NameCase, Request};
use dbagent_sql::{Opening, SqlGrammar};

use crate::grammars::{self, MYSQL};

fn read(grammar: &SqlGrammar, limits: StatementLimits, mode: &str, text: &str) -> Parsed {
    let context = grammars::context(limits, Settings::new().with("sql_mode", mode));
    grammar.parse(&Request::text(text), &context).unwrap()
}

fn rule(parsed: &Parsed) -> Option<Rule> {
    parsed.findings.first().map(|f| f.rule)
}

#[test]
fn limits_come_before_the_parser() {
    let limits = StatementLimits { bytes: 40, tokens: 6 };
    let of = |text: &str| rule(&read(&MYSQL, limits, "", text));
    assert_eq!(of("SELECT a, b FROM t"), None);
    assert_eq!(of("SELECT a, b, c FROM t"), Some(Rule::TooManyTokens));
    // Comments and blanks are no tokens.
    assert_eq!(of("SELECT  a, /* x, y, z */ b FROM t"), None);
    assert_eq!(of(&format!("SELECT a {}", " ".repeat(40))), Some(Rule::TooLarge));
    assert_eq!(of("SELECT 'a\0'"), Some(Rule::NotText));
    assert_eq!(of("\n"), Some(Rule::Empty));
    let context = grammars::context(limits, Settings::new());
    let error = MYSQL.parse(&Request::json("{}"), &context).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
}

#[test]
fn settings_decide_what_quotes_and_backslashes_are() {
    let limits = StatementLimits::default();
    let columns = |mode: &str, text: &str| -> Vec<_> {
        let parsed = read(&MYSQL, limits, mode, text);
        assert_eq!(parsed.findings, [], "{mode}: {text}");
        parsed.columns.into_iter().filter_map(|c| c.column).collect()
    };
    // A string by default, a column under ANSI_QUOTES.
    assert_eq!(columns("", "SELECT \"email\" FROM users"), Vec::<String>::new());
    assert_eq!(columns("ANSI_QUOTES", "SELECT \"email\" FROM users"), ["email"]);
    assert_eq!(columns("ANSI_QUOTES", "SELECT \"a\"\"b\" FROM \"users\""), ["a\"b"]);
    // Harmless in either mode.
    assert_eq!(columns("NO_BACKSLASH_ESCAPES", "SELECT 'C:\\temp', id FROM users"), ["id"]);
    // Where the string ends depends on the mode, and sqlparser knows one only.
    let text = "SELECT 'a\\', id -- '";
    assert_eq!(rule(&read(&MYSQL, limits, "NO_BACKSLASH_ESCAPES", text)), Some(Rule::EngineDisagrees));
    let context = grammars::context(limits, Settings::new().with("sql_mode", "NO_BACKSLASH_ESCAPES"));
    let error = MYSQL.parse(&Request::text("SELECT 'a\\', 'b'"), &context).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Syntax);
    assert!(error.hint_text().is_some_and(|h| h.contains("backslash")), "{error:?}");
}

#[test]
fn hooks_add_what_sqlparser_does_not_know() {
    const GRAMMAR: SqlGrammar = MYSQL
        .opening(|words, _| {
            words.are(0, &["handler"]).then(|| {
                let (name, _) = words.name(1)?;
                let mut parsed = Parsed::new(StatementClass::Session, Effects::SESSION);
                parsed.objects.push(dbagent_core::guard::ObjectUse {
                    name,
                    written: false,
                    span: words.span(1),
                });
                Some(Opening::Whole(Box::new(parsed)))
            })?
        })
        .after(|_, _, parsed| {
            if parsed.objects.iter().any(|o| o.name.name == "moody") {
                parsed.findings.push(Finding::new(Rule::DeniedObject, "not today", None));
            }
        });
    let limits = StatementLimits::default();
    let parsed = read(&GRAMMAR, limits, "", "HANDLER main.users OPEN");
    assert_eq!(
        (parsed.class, parsed.objects[0].name.to_string().as_str()),
        (StatementClass::Session, "main.users")
    );
    assert_eq!(rule(&read(&GRAMMAR, limits, "", "SELECT id FROM moody")), Some(Rule::DeniedObject));
    assert_eq!(rule(&read(&GRAMMAR, limits, "", "SELECT id FROM calm")), None);
}

#[test]
fn choices_flip_and_nothing_else_does() {
    let allow = |choice: &str| Policy { allow_choices: [choice.to_owned()].into(), ..Policy::default() };
    let judged = |text: &str, policy: &Policy| {
        let parsed = read(&MYSQL, StatementLimits::default(), "", text);
        judge(&parsed, &Resolution::offline(), policy, NameCase::Sensitive) == Judgement::Read
    };
    for (text, choice) in [
        ("SELECT sleep(1)", "sleep"),
        ("SELECT user FROM mysql.user", "secret_catalog"),
        ("SHOW PROCESSLIST", "secret_catalog"),
        ("SELECT repeat('x', 1000000000)", "size_cap"),
    ] {
        assert!(!judged(text, &Policy::default()), "{text}");
        assert!(!judged(text, &allow("another")), "{text}");
        assert!(judged(text, &allow(choice)), "{text}");
    }
    assert!(!judged("SELECT 1 INTO @v", &allow("sleep")));
}

#[test]
fn a_thousand_columns_of_a_thousand_tables_stay_small() {
    let tables: Vec<_> = (0..1_000).map(|i| format!("t{i}")).collect();
    let columns: Vec<_> = (0..1_000).map(|i| format!("c{i}")).collect();
    let text = format!("SELECT {} FROM {}", columns.join(","), tables.join(","));
    let parsed = read(&MYSQL, StatementLimits { bytes: 1 << 20, tokens: 10_000 }, "", &text);
    assert_eq!(parsed.objects.len(), 1_000);
    assert!(!parsed.columns_known);
    let entries: usize = parsed.columns.iter().map(|c| c.candidates.len()).sum();
    assert!(entries <= 100_000, "{entries}");
    assert_eq!(parsed.findings, []);
}
