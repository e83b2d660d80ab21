//! `SHOW`, form by form.

use dbagent_core::guard::{ColumnUse, Finding, ObjectUse, Parsed, Rule, StatementClass};
use dbagent_core::{Effects, ObjectName};
use dbagent_sql::sqlparser::tokenizer::Token;
use dbagent_sql::{Opening, Words};

use super::opening::{refused, unknown};
use crate::flavor::Server;

/// What may stand behind the first words.
#[derive(Clone, Copy, PartialEq)]
enum Tail {
    /// `[FROM schema] [LIKE text | WHERE condition]`.
    Listing,
    /// `FROM table [FROM schema] [LIKE text | WHERE condition]`.
    OfTable,
    /// The name of a table or a view.
    Table,
    /// `[IF NOT EXISTS] name`, of something that holds no rows.
    Named,
    /// `[LIMIT …]`.
    Limited,
    /// Nothing.
    Nothing,
}

use Tail::{Limited, Listing, Named, Nothing, OfTable, Table};

/// The forms that show what belongs to everybody who may see the objects. Of words of which one begins
/// another, the longer stand first.
const FORMS: &[(&[&str], Tail)] = &[
    (&["extended", "full", "tables"], Listing),
    (&["extended", "full", "columns"], OfTable),
    (&["extended", "full", "fields"], OfTable),
    (&["extended", "tables"], Listing),
    (&["extended", "columns"], OfTable),
    (&["extended", "fields"], OfTable),
    (&["extended", "index"], OfTable),
    (&["extended", "indexes"], OfTable),
    (&["extended", "keys"], OfTable),
    (&["full", "tables"], Listing),
    (&["full", "columns"], OfTable),
    (&["full", "fields"], OfTable),
    (&["tables"], Listing),
    (&["table", "status"], Listing),
    (&["open", "tables"], Listing),
    (&["triggers"], Listing),
    (&["full", "triggers"], Listing),
    (&["events"], Listing),
    (&["databases"], Listing),
    (&["schemas"], Listing),
    (&["columns"], OfTable),
    (&["fields"], OfTable),
    (&["index"], OfTable),
    (&["indexes"], OfTable),
    (&["keys"], OfTable),
    (&["create", "table"], Table),
    (&["create", "view"], Table),
    (&["create", "database"], Named),
    (&["create", "schema"], Named),
    (&["create", "event"], Named),
    (&["create", "function"], Named),
    (&["create", "procedure"], Named),
    (&["create", "trigger"], Named),
    (&["function", "status"], Listing),
    (&["procedure", "status"], Listing),
    (&["character", "set"], Listing),
    (&["charset"], Listing),
    (&["collation"], Listing),
    (&["variables"], Listing),
    (&["global", "variables"], Listing),
    (&["session", "variables"], Listing),
    (&["local", "variables"], Listing),
    (&["status"], Listing),
    (&["global", "status"], Listing),
    (&["session", "status"], Listing),
    (&["local", "status"], Listing),
    (&["engines"], Nothing),
    (&["storage", "engines"], Nothing),
    (&["plugins"], Nothing),
    (&["privileges"], Nothing),
    (&["warnings"], Limited),
    (&["errors"], Limited),
    (&["profiles"], Nothing),
];

/// The forms that MariaDB has beside them.
const MARIADB: &[(&[&str], Tail)] = &[
    (&["create", "sequence"], Table),
    (&["create", "package", "body"], Named),
    (&["create", "package"], Named),
    (&["package", "body", "status"], Listing),
    (&["package", "status"], Listing),
    (&["index_statistics"], Listing),
    (&["table_statistics"], Listing),
    (&["locales"], Listing),
    (&["authors"], Nothing),
    (&["contributors"], Nothing),
];

/// The forms that show the passwords, grants, connections or statements of others, or what is replicated.
const SECRET: &[&[&str]] = &[
    &["all", "replicas", "status"],
    &["all", "slaves", "status"],
    &["analyze"],
    &["binary", "log", "status"],
    &["binary", "logs"],
    &["binlog", "events"],
    &["binlog", "status"],
    &["client_statistics"],
    &["create", "user"],
    &["engine"],
    &["explain"],
    &["full", "processlist"],
    &["grants"],
    &["master", "logs"],
    &["master", "status"],
    &["processlist"],
    &["profile"],
    &["relaylog", "events"],
    &["replica"],
    &["replicas"],
    &["slave"],
    &["user_statistics"],
];

/// Reads `SHOW …`.
pub(super) fn show(server: Server, words: &Words<'_>) -> Opening {
    if SECRET.iter().any(|form| words.are(1, form)) {
        let finding = Finding::new(
            Rule::SecretCatalogue,
            "this form of SHOW tells of other accounts, their connections or their statements",
            words.span(0),
        )
        .choice("secret_catalog");
        return refused(StatementClass::Catalogue, Effects::READ, finding);
    }
    if let Some(at) = counted(words) {
        return ending(words, at, Parsed::new(StatementClass::Catalogue, Effects::READ));
    }
    let own = if server == Server::MariaDb { MARIADB } else { &[] };
    match FORMS.iter().chain(own).find(|(form, _)| words.are(1, form)) {
        Some((form, tail)) => behind(words, 1 + form.len(), *tail, shows(form)),
        None => unknown(words, "this form of SHOW"),
    }
}

/// The table of `information_schema` that tells as much as a form: a policy that hides anything hides it.
fn shows(form: &[&str]) -> Option<&'static str> {
    Some(match form {
        ["create", "table" | "view" | "sequence"] => "views",
        ["create", "trigger"] | [.., "triggers"] => "triggers",
        ["create", "event"] | ["events"] => "events",
        ["create", "function" | "procedure" | "package", ..] => "routines",
        [.., "tables"] | ["table", "status"] | ["index_statistics" | "table_statistics"] => "tables",
        _ => return None,
    })
}

/// `SHOW COUNT(*) WARNINGS`: the index behind it.
fn counted(words: &Words<'_>) -> Option<usize> {
    let star = words.are(1, &["count"])
        && words.token(2) == Some(&Token::LParen)
        && words.token(3) == Some(&Token::Mul)
        && words.token(4) == Some(&Token::RParen);
    (star && (words.are(5, &["warnings"]) || words.are(5, &["errors"]))).then_some(6)
}

fn behind(words: &Words<'_>, at: usize, tail: Tail, tells: Option<&str>) -> Opening {
    let mut parsed = Parsed::new(StatementClass::Catalogue, Effects::READ);
    if let Some(table) = tells {
        let name = ObjectName::within("information_schema", table);
        parsed.objects.push(ObjectUse { name, written: false, span: words.span(0) });
    }
    match tail {
        Nothing => ending(words, at, parsed),
        Limited => {
            let number = |i| matches!(words.token(i), Some(Token::Number(..)));
            let end = if !words.are(at, &["limit"]) || !number(at + 1) {
                at
            } else if words.token(at + 2) == Some(&Token::Comma) && number(at + 3) {
                at + 4
            } else {
                at + 2
            };
            ending(words, end, parsed)
        }
        Listing => match schema(words, at) {
            Ok((_, next)) => filtered(words, next, parsed),
            Err(()) => unknown(words, "this form of SHOW"),
        },
        Named => {
            let at = if words.are(at, &["if", "not", "exists"]) { at + 3 } else { at };
            match words.name(at) {
                Some((_, next)) => ending(words, next, parsed),
                None => unknown(words, "this form of SHOW"),
            }
        }
        Table => match words.name(at) {
            Some((name, next)) => {
                parsed.objects.push(ObjectUse { name, written: false, span: words.span(at) });
                ending(words, next, parsed)
            }
            None => unknown(words, "this form of SHOW"),
        },
        OfTable => {
            let from = words.are(at, &["from"]) || words.are(at, &["in"]);
            let Some((name, next)) = words.name(at + 1).filter(|_| from) else {
                return unknown(words, "this form of SHOW");
            };
            let Ok((space, next)) = schema(words, next) else { return unknown(words, "this form of SHOW") };
            let name = match space {
                // `FROM t FROM s` is `s.t`, whatever stands before `t`.
                Some(space) => ObjectName::within(space, name.name),
                None => name,
            };
            parsed.objects.push(ObjectUse { name, written: false, span: words.span(at + 1) });
            // Every column is listed, or every one that an index is over.
            let index = parsed.objects.len() - 1;
            parsed.columns.push(ColumnUse {
                candidates: vec![index],
                column: None,
                span: words.span(at + 1),
            });
            filtered(words, next, parsed)
        }
    }
}

/// `FROM schema`, where it is there: the schema and the index behind it.
fn schema(words: &Words<'_>, at: usize) -> Result<(Option<String>, usize), ()> {
    if !words.are(at, &["from"]) && !words.are(at, &["in"]) {
        return Ok((None, at));
    }
    match words.name(at + 1) {
        Some((name, next)) if name.namespace.is_none() => Ok((Some(name.name), next)),
        _ => Err(()),
    }
}

/// `LIKE text` or `WHERE condition`.
fn filtered(words: &Words<'_>, at: usize, parsed: Parsed) -> Opening {
    if words.are(at, &["where"]) && !words.ends(at + 1) {
        return Opening::Filter { skip: at + 1, parsed: Box::new(parsed) };
    }
    let like = words.are(at, &["like"]) && words.string(at + 1).is_some();
    ending(words, if like { at + 2 } else { at }, parsed)
}

fn ending(words: &Words<'_>, at: usize, parsed: Parsed) -> Opening {
    if words.ends(at) { Opening::Whole(Box::new(parsed)) } else { unknown(words, "this form of SHOW") }
}
