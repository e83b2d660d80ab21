//! What a statement is by its first words.
//!
//! A statement that is neither a query nor a change that a person may approve is named here, so that its
//! refusal says what it is; sqlparser sees only the rest.

use dbagent_core::guard::{Finding, ObjectUse, Parsed, Rule, StatementClass};
use dbagent_core::{Effects, Settings};
use dbagent_sql::sqlparser::tokenizer::Token;
use dbagent_sql::{Opening, Words};

use super::{explain, show};
use crate::flavor::Server;

/// MySQL's statements.
pub(super) fn mysql(words: &Words<'_>, _: &Settings) -> Option<Opening> {
    open(Server::MySql, words)
}

/// MariaDB's statements.
pub(super) fn mariadb(words: &Words<'_>, _: &Settings) -> Option<Opening> {
    open(Server::MariaDb, words)
}

fn open(server: Server, words: &Words<'_>) -> Option<Opening> {
    let Some(first) = words.word(0) else { return query(words) };
    let first = first.to_ascii_lowercase();
    match first.as_str() {
        "select" | "with" | "values" | "value" | "table" => query(words),
        "show" => Some(show::show(server, words)),
        "explain" | "desc" | "describe" => Some(explain::explain(server, words)),
        "analyze" if server == Server::MariaDb => Some(explain::analyze(words)),
        "help" => Some(help(words)),
        "checksum" => Some(checksum(words)),
        "insert" | "replace" | "update" | "delete" | "truncate" => None,
        "create" | "alter" | "drop" | "rename" if is_known_change(words) => None,
        _ => other(&first, words),
    }
}

/// Changes of the schema that the walk can tell in full.
fn is_known_change(words: &Words<'_>) -> bool {
    let starts = |list: &[&[&str]]| list.iter().any(|w| words.are(0, w));
    starts(&[
        &["create", "table"],
        &["create", "temporary", "table"],
        &["create", "view"],
        &["create", "or", "replace", "view"],
        &["create", "index"],
        &["create", "unique", "index"],
        &["alter", "table"],
        &["drop", "table"],
        &["drop", "view"],
        &["drop", "index"],
        &["rename", "table"],
    ])
}

/// What a query must not hold, whatever the parser makes of it.
fn query(words: &Words<'_>) -> Option<Opening> {
    for at in 0..words.len() {
        // A reserved word on both servers: never a name, unless behind a dot.
        let behind_dot = at > 0 && words.token(at - 1) == Some(&Token::Period);
        if words.are(at, &["into"]) && !behind_dot {
            return Some(into(words, at));
        }
        if words.token(at) == Some(&Token::Assignment) {
            let finding = Finding::new(
                Rule::SessionChange,
                "the statement sets a variable of the session",
                words.span(at),
            )
            .advice("Write a plain query; use a common table expression or a window function instead.");
            return Some(refused(StatementClass::Session, Effects::READ | Effects::SESSION, finding));
        }
        if words.are(at, &["lock", "in", "share", "mode"]) {
            let finding =
                Finding::new(Rule::Locks, "the statement locks the rows that it reads", words.span(at));
            return Some(refused(StatementClass::Read, Effects::READ | Effects::LOCK, finding));
        }
    }
    None
}

fn into(words: &Words<'_>, at: usize) -> Opening {
    let to_file = words.are(at + 1, &["outfile"]) || words.are(at + 1, &["dumpfile"]);
    let (rule, effects, class, what) = if to_file {
        (
            Rule::ServerIo,
            Effects::SERVER_IO,
            StatementClass::ServerIo,
            "the statement writes a file on the server",
        )
    } else {
        (
            Rule::SessionChange,
            Effects::SESSION,
            StatementClass::Session,
            "the statement keeps what it reads in a variable of the session",
        )
    };
    let finding =
        Finding::new(rule, what, words.span(at)).advice("Leave INTO out: the rows come back to you.");
    refused(class, effects | Effects::READ, finding)
}

/// `HELP 'topic'` reads the server's own manual.
fn help(words: &Words<'_>) -> Opening {
    if words.string(1).is_some() && words.ends(2) {
        return catalogue();
    }
    unknown(words, "this form of HELP")
}

/// `CHECKSUM TABLE a, b` reads every row.
fn checksum(words: &Words<'_>) -> Opening {
    let mut parsed = Parsed::new(StatementClass::Catalogue, Effects::READ);
    if !words.are(1, &["table"]) && !words.are(1, &["tables"]) {
        return unknown(words, "this form of CHECKSUM");
    }
    let mut at = 2;
    while let Some((name, next)) = words.name(at) {
        parsed.columns.push(dbagent_core::guard::ColumnUse {
            candidates: vec![parsed.objects.len()],
            column: None,
            span: words.span(at),
        });
        parsed.objects.push(ObjectUse { name, written: false, span: words.span(at) });
        at = next;
        if words.token(at) != Some(&Token::Comma) {
            break;
        }
        at += 1;
    }
    if words.are(at, &["quick"]) || words.are(at, &["extended"]) {
        at += 1;
    }
    if parsed.objects.is_empty() || !words.ends(at) {
        return unknown(words, "this form of CHECKSUM");
    }
    Opening::Whole(Box::new(parsed))
}

/// Statements that are refused whatever they say.
fn other(first: &str, words: &Words<'_>) -> Option<Opening> {
    use StatementClass as C;
    let (class, effects) = match first {
        "set" | "use" | "prepare" | "deallocate" | "handler" => (C::Session, Effects::SESSION),
        "begin" if !words.ends(1) && !words.are(1, &["work"]) => (C::Procedure, Effects::UNKNOWN),
        "begin" | "commit" | "rollback" | "savepoint" | "release" | "xa" => {
            (C::Transaction, Effects::SESSION)
        }
        "start" if words.are(1, &["transaction"]) => (C::Transaction, Effects::SESSION),
        "lock" | "unlock" => (C::Transaction, Effects::LOCK | Effects::SESSION),
        "call" | "do" | "execute" | "signal" | "resignal" | "get" | "if" | "case" | "loop" | "while"
        | "repeat" | "for" | "declare" | "return" | "iterate" | "leave" | "goto" => {
            (C::Procedure, Effects::UNKNOWN)
        }
        "analyze" | "optimize" | "repair" | "check" | "cache" | "flush" | "reset" | "purge" => {
            (C::Maintenance, Effects::WRITE)
        }
        "load" => (C::ServerIo, Effects::SERVER_IO | Effects::WRITE),
        "kill" | "shutdown" | "restart" | "install" | "uninstall" | "import" | "clone" | "binlog"
        | "backup" | "change" | "start" | "stop" => (C::ServerIo, Effects::SERVER_IO),
        "create" | "alter" | "drop" | "rename" | "grant" | "revoke" => {
            let title = title(words);
            let finding = Finding::new(
                Rule::SchemaChange,
                format!("what {title} touches cannot be told in full, so nobody is asked to approve it"),
                words.span(0),
            )
            .advice("Leave changes of this kind to the operator of the database.");
            return Some(refused(C::Schema, Effects::SCHEMA, finding));
        }
        _ => return None,
    };
    Some(Opening::Whole(Box::new(Parsed::new(class, effects))))
}

/// What only asks the catalogue, and of which nothing more is to be said.
pub(super) fn catalogue() -> Opening {
    Opening::Whole(Box::new(Parsed::new(StatementClass::Catalogue, Effects::READ)))
}

/// A statement with an objection.
pub(super) fn refused(class: StatementClass, effects: Effects, finding: Finding) -> Opening {
    let mut parsed = Parsed::new(class, effects);
    parsed.columns_known = false;
    parsed.findings.push(finding);
    Opening::Whole(Box::new(parsed))
}

/// A statement that nobody has judged.
pub(super) fn unknown(words: &Words<'_>, what: &str) -> Opening {
    let finding = Finding::new(
        Rule::UnknownSyntax,
        format!("{what} is nothing that the guard can judge"),
        words.span(0),
    );
    refused(StatementClass::Unknown, Effects::UNKNOWN, finding)
}

fn title(words: &Words<'_>) -> String {
    let word = |i| words.word(i).unwrap_or_default().to_ascii_uppercase();
    format!("{} {}", word(0), word(1)).trim_end().to_owned()
}
