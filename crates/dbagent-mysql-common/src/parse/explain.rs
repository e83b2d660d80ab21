//! `EXPLAIN`, `DESCRIBE` and MariaDB's `ANALYZE`.

use dbagent_core::Effects;
use dbagent_core::guard::{ColumnUse, Finding, ObjectUse, Parsed, Rule, StatementClass};
use dbagent_sql::sqlparser::tokenizer::Token;
use dbagent_sql::{Opening, Words};

use super::opening::{refused, unknown};
use crate::flavor::Server;

/// Reads `EXPLAIN …`, `DESCRIBE …` and `DESC …`, which are one statement to the servers.
pub(super) fn explain(server: Server, words: &Words<'_>) -> Opening {
    let mut at = 1;
    let mut executes = false;
    loop {
        if words.are(at, &["extended"]) || words.are(at, &["partitions"]) {
            if is_body(words, at + 1) {
                at += 1;
                continue;
            }
            break;
        }
        if words.are(at, &["analyze"]) && (is_body(words, at + 1) || words.are(at + 1, &["format"])) {
            executes = true;
            at += 1;
        } else if let Some(next) = format(words, at) {
            at = next;
        } else if words.are(at, &["into"]) {
            let finding = Finding::new(
                Rule::SessionChange,
                "the statement keeps the plan in a variable of the session",
                words.span(at),
            )
            .advice("Leave INTO out: the plan comes back to you.");
            return refused(StatementClass::Session, Effects::SESSION, finding);
        } else if words.are(at, &["for"]) {
            return explain_for(server, words, at);
        } else {
            break;
        }
    }
    if is_body(words, at) {
        return Opening::Explain { skip: at, executes };
    }
    if at == 1 {
        return describe(words, at);
    }
    unknown(words, "this form of EXPLAIN")
}

/// `ANALYZE [FORMAT=JSON] statement` runs the statement; `ANALYZE TABLE` works on the storage.
pub(super) fn analyze(words: &Words<'_>) -> Opening {
    let at = format(words, 1).unwrap_or(1);
    if !is_body(words, at) || words.are(at, &["table"]) {
        return Opening::Whole(Box::new(Parsed::new(StatementClass::Maintenance, Effects::WRITE)));
    }
    Opening::Explain { skip: at, executes: true }
}

/// `FORMAT = name`: the index behind it.
fn format(words: &Words<'_>, at: usize) -> Option<usize> {
    let named = words.word(at + 2).is_some() || words.string(at + 2).is_some();
    (words.are(at, &["format"]) && words.token(at + 1) == Some(&Token::Eq) && named).then_some(at + 3)
}

/// Whether a statement that can be explained begins there.
fn is_body(words: &Words<'_>, at: usize) -> bool {
    const FIRST: [&str; 9] =
        ["select", "with", "table", "values", "value", "insert", "replace", "update", "delete"];
    words.token(at) == Some(&Token::LParen)
        || words.word(at).is_some_and(|w| FIRST.iter().any(|f| f.eq_ignore_ascii_case(w)))
}

/// `FOR CONNECTION 12` shows the plan of another session; `FOR SCHEMA x` reads names in another schema.
fn explain_for(server: Server, words: &Words<'_>, at: usize) -> Opening {
    let schema = words.are(at + 1, &["schema"]) || words.are(at + 1, &["database"]);
    if server == Server::MySql && schema {
        let finding = Finding::new(
            Rule::UnknownSyntax,
            "EXPLAIN FOR a schema gives the names of the statement another meaning",
            words.span(at),
        )
        .advice("Write the schema before each table instead.");
        return refused(StatementClass::Unknown, Effects::UNKNOWN, finding);
    }
    let finding = Finding::new(
        Rule::SecretCatalogue,
        "the plan of another connection shows the statement of somebody else",
        words.span(at),
    )
    .choice("secret_catalog");
    refused(StatementClass::Catalogue, Effects::READ, finding)
}

/// `DESCRIBE table [column]`.
fn describe(words: &Words<'_>, at: usize) -> Opening {
    let Some((name, next)) = words.name(at) else { return unknown(words, "this form of EXPLAIN") };
    let mut parsed = Parsed::new(StatementClass::Catalogue, Effects::READ);
    parsed.objects.push(ObjectUse { name, written: false, span: words.span(at) });
    let mut end = next;
    let column = match words.token(next) {
        Some(Token::Word(column)) => Some(column.value.clone()),
        // Every column, or those that a pattern fits.
        _ => None,
    };
    if column.is_some() || words.string(next).is_some() {
        end += 1;
    }
    parsed.columns.push(ColumnUse { candidates: vec![0], column, span: words.span(at) });
    if words.ends(end) { Opening::Whole(Box::new(parsed)) } else { unknown(words, "this form of EXPLAIN") }
}
