//! What a dialect hangs into the grammar: other words for a form, conditions behind words of its own, functions
//! by their bare names, a dialect of sqlparser by the settings.

use dbagent_core::dialect::Settings;
use dbagent_core::guard::{Finding, Parsed, Rule, StatementClass};
use dbagent_core::{Effects, ErrorKind};
use dbagent_sql::lex::{Hints, LexRules};
use dbagent_sql::sqlparser::dialect::{Dialect, GenericDialect, MySqlDialect};
use dbagent_sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use dbagent_sql::{Opening, SqlGrammar, Words};

use crate::grammars::{self, FUNCTIONS};

fn opening(words: &Words<'_>, _: &Settings) -> Option<Opening> {
    if words.are(0, &["show", "things", "where"]) {
        let parsed = Box::new(Parsed::new(StatementClass::Catalogue, Effects::READ));
        return Some(Opening::Filter { skip: 3, parsed });
    }
    words.are(0, &["plan"]).then_some(Opening::Explain { skip: 1, executes: false })
}

/// `FROBNICATE` says nothing, and `FORBIDDEN` must not be.
fn bridge(tokens: Vec<TokenWithSpan>, _: &Settings) -> Result<Vec<TokenWithSpan>, Finding> {
    let is = |t: &TokenWithSpan, word: &str| matches!(&t.token, Token::Word(w) if w.value == word);
    if tokens.iter().any(|t| is(t, "FORBIDDEN")) {
        return Err(Finding::new(Rule::UnknownSyntax, "it is forbidden", None));
    }
    Ok(tokens.into_iter().filter(|t| !is(t, "FROBNICATE")).collect())
}

fn choose(settings: &Settings) -> &'static (dyn Dialect + Send + Sync) {
    if settings.get("generic").is_some() { &GenericDialect {} } else { &MySqlDialect {} }
}

const GRAMMAR: SqlGrammar = SqlGrammar::new(&MySqlDialect {}, &FUNCTIONS)
    .rules(|_| LexRules::ANSI.backticks(true).hints(Hints::Named(&["index", "no_merge"])))
    .bare_functions(&["count"])
    .dialect_by(choose)
    .bridge(bridge)
    .opening(opening);

fn read(text: &str) -> Parsed {
    grammars::parse(&GRAMMAR, text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[test]
fn a_condition_behind_words_of_a_dialect_is_walked() {
    let parsed = read("SHOW THINGS WHERE upper(name) = 'A' AND id IN (SELECT user_id FROM orders)");
    assert_eq!((parsed.class, parsed.effects), (StatementClass::Catalogue, Effects::READ));
    assert_eq!(parsed.objects[0].name.name, "orders");
    assert!(parsed.findings.is_empty() && parsed.functions.iter().any(|f| f.name == "upper"));
    let parsed = read("SHOW THINGS WHERE load_file('x')");
    assert_eq!(parsed.functions[0].effects, Effects::SERVER_IO);
    let parsed = read("SHOW THINGS WHERE no_such(1)");
    assert_eq!(parsed.functions[0].effects, Effects::UNKNOWN);
    let error = grammars::parse(&GRAMMAR, "SHOW THINGS WHERE a = 1 ORDER BY b").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Syntax);
    let parsed = read("SHOW THINGS WHERE 1; DROP TABLE t");
    assert_eq!(parsed.findings[0].rule, Rule::SeveralStatements);
    assert_eq!(read("SHOW THINGS WHERE ? = ?").parameters.positional, 2);
}

#[test]
fn forms_are_put_in_other_words() {
    let parsed = read("SELECT FROBNICATE name FROM users");
    assert_eq!(parsed.columns.len(), 1);
    assert_eq!(read("SELECT FORBIDDEN FROM users").findings[0].message, "it is forbidden");
}

#[test]
fn a_function_in_quotes_may_be_another_one() {
    let effects = |text: &str| read(text).functions.iter().map(|f| f.effects).collect::<Vec<_>>();
    assert_eq!(effects("SELECT count(1)"), [Effects::READ]);
    assert_eq!(effects("SELECT `count`(1)"), [Effects::UNKNOWN]);
    assert_eq!(effects("SELECT `upper`(1)"), [Effects::READ]);
    // The same name and number of arguments, once as each.
    assert_eq!(effects("SELECT count(1), `count`(1)"), [Effects::READ, Effects::UNKNOWN]);
}

#[test]
fn the_body_of_an_explain_may_be_a_table() {
    assert_eq!(read("PLAN TABLE users").objects[0].name.name, "users");
}

#[test]
fn hints_pass_by_name() {
    for (text, passes) in [
        ("SELECT /*+ INDEX(t a, b) NO_MERGE(x) */ 1", true),
        ("SELECT /*+ index(t) */ 1", true),
        ("SELECT /*+ */ 1", true),
        ("SELECT /*+ SET_VAR(a=1) */ 1", false),
        ("SELECT /*+ INDEX(t) SET_VAR(a) */ 1", false),
        ("SELECT /*+ INDEX(`t`) */ 1", false),
        ("SELECT /*+ INDEX(t */ 1", false),
        ("SELECT /*+ INDEX(t 'a') */ 1", false),
        ("SELECT --+ INDEX(t)\n 1", false),
    ] {
        let parsed = read(text);
        let refused = parsed.findings.iter().any(|f| f.rule == Rule::SessionChange);
        assert_eq!(!refused, passes, "{text}");
    }
}

#[test]
fn sqlparsers_dialect_follows_the_settings() {
    let text = "SELECT a FROM t QUALIFY row_number() OVER (ORDER BY a) = 1 LIMIT 1 BY a";
    let by = |settings| {
        let context = grammars::context(dbagent_core::guardrails::StatementLimits::default(), settings);
        GRAMMAR.parse(&dbagent_core::Request::text(text), &context).is_ok()
    };
    assert!(!by(Settings::new()));
    assert!(by(Settings::new().with("generic", "yes")));
}
