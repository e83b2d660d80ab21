//! Reads a statement by SQLite's own grammar and says what it does.

mod command;
pub(crate) mod ddl;
mod expr;
mod lex;
mod marked;
mod parameters;
pub(crate) mod pragma;
mod scope;
mod select;
mod sizes;
mod statement;
mod walk;

use std::collections::HashSet;

use dbagent_core::guard::{Finding, Parsed, Rule, Span, StatementClass};
use dbagent_core::request::RequestBody;
use dbagent_core::{Effects, Error, ErrorKind, ParseContext, Request, Result};

use command::{Failure, with_command};
use lex::{Tokens, Unreadable};
use marked::Spelling;
use walk::Walk;

pub(crate) use lex::unquote;
pub(crate) use walk::is_engine_table;

/// Reads a request. Pure.
///
/// # Errors
/// [`ErrorKind::InvalidRequest`] for JSON text, [`ErrorKind::Syntax`] for what the grammar refuses.
pub(crate) fn parse(request: &Request, context: &ParseContext) -> Result<Parsed> {
    match &request.body {
        RequestBody::Text(text) => statement(text, context.limits().tokens),
        RequestBody::JsonText(_) => {
            Err(Error::new(ErrorKind::InvalidRequest, "SQLite takes statements as SQL text, not as JSON"))
        }
    }
}

/// Reads one statement of at most `limit` tokens.
pub(crate) fn statement(text: &str, limit: usize) -> Result<Parsed> {
    // The core has refused it before; to SQLite the text would end there.
    if let Some(at) = text.find('\0') {
        let span = Some(Span::new(at, at + 1));
        return Ok(refused(Finding::new(Rule::NotText, "the statement holds a NUL character", span)));
    }
    let tokens = match Tokens::read(text, limit) {
        Ok(tokens) => tokens,
        Err(why) => return unreadable(why, limit),
    };
    let walked = with_command(&tokens, Spelling::Numbered, |command, marks| {
        let mut walk = Walk::new(marks, Parsed::new(StatementClass::Unknown, Effects::NONE));
        walk.command(command);
        walk.finish()
    });
    let mut parsed = match walked {
        Ok(parsed) => parsed,
        Err(Failure::Empty) => {
            return Ok(refused(Finding::new(Rule::Empty, "there is no statement in this text", None)));
        }
        Err(Failure::Several(at)) => {
            return Ok(refused(Finding::new(
                Rule::SeveralStatements,
                "the text holds more than one statement",
                Some(at),
            )));
        }
        Err(Failure::Syntax { message, at }) => return Err(syntax(message, at)),
    };
    match parameters::count(&tokens) {
        Ok(used) => parsed.parameters = used,
        Err(finding) => parsed.findings.push(finding),
    }
    Ok(parsed)
}

fn unreadable(why: Unreadable, limit: usize) -> Result<Parsed> {
    Ok(refused(match why {
        Unreadable::TooMany => {
            Finding::new(Rule::TooManyTokens, format!("the statement has more than {limit} tokens"), None)
        }
        Unreadable::TooDeep(at) => {
            Finding::new(Rule::TooComplex, "parentheses are nested too deep", Some(at))
        }
        Unreadable::TooLong(at) => {
            Finding::new(Rule::TooComplex, "a list has more names than a table can have columns", Some(at))
        }
        Unreadable::TclVariable(at) => Finding::new(
            Rule::UnknownSyntax,
            "SQLite reads a parameter with a parenthesis or with two colons behind it as one long name",
            Some(at),
        )
        .advice("Name parameters by letters and digits; convert types by CAST."),
        Unreadable::Bad { what, at } => {
            return Err(syntax(format!("unrecognized token: {what}"), Some(Span::new(at, at))));
        }
    }))
}

fn refused(finding: Finding) -> Parsed {
    let mut parsed = Parsed::new(StatementClass::Unknown, Effects::UNKNOWN);
    parsed.findings.push(finding);
    parsed
}

fn syntax(message: String, at: Option<Span>) -> Error {
    let e = Error::new(ErrorKind::Syntax, message).op("parse");
    match at {
        Some(span) => e.at(span.start),
        None => e,
    }
}

/// The names of the common table expressions of a statement, in lower case.
pub(crate) fn expression_names(text: &str) -> HashSet<String> {
    let Ok(tokens) = Tokens::read(text, usize::MAX) else { return HashSet::new() };
    let walked = with_command(&tokens, Spelling::Numbered, |command, marks| {
        let mut walk = Walk::new(marks, Parsed::new(StatementClass::Unknown, Effects::NONE));
        walk.command(command);
        walk.scopes.expression_names()
    });
    walked.unwrap_or_default()
}

/// The text from its first token on, behind semicolons that open it.
pub(crate) fn from_first_word(text: &str) -> &str {
    use sqlite3_parser::dialect::TokenType;
    let Ok(tokens) = Tokens::read(text, usize::MAX) else { return text };
    let first = tokens.list().iter().find(|t| t.kind != TokenType::TK_SEMI);
    first.and_then(|t| text.get(t.span.start..)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a statement uses, in one line: objects, then columns with the objects they may belong to, then
    /// functions.
    fn used(text: &str) -> String {
        let parsed = statement(text, 10_000).unwrap();
        assert!(parsed.findings.is_empty(), "{text}: {:?}", parsed.findings);
        let objects: Vec<String> = parsed.objects.iter().map(|o| o.name.to_string()).collect();
        let columns: Vec<String> = parsed
            .columns
            .iter()
            .map(|c| {
                let owners: Vec<String> =
                    c.candidates.iter().map(|i| parsed.objects[*i].name.name.clone()).collect();
                format!("{}.{}", owners.join("|"), c.column.as_deref().unwrap_or("*"))
            })
            .collect();
        let functions: Vec<&str> = parsed.functions.iter().map(|f| f.name.as_str()).collect();
        for span in parsed.objects.iter().map(|o| o.span).chain(parsed.columns.iter().map(|c| c.span)) {
            assert!(span.is_none_or(|s| text.get(s.start..s.end).is_some()), "{text}: {span:?}");
        }
        format!("{} / {} / {}", objects.join(" "), columns.join(" "), functions.join(" "))
    }

    #[test]
    fn names_belong_to_what_they_may_belong_to() {
        for (text, expected) in [
            ("SELECT a FROM t", "t / t.a / "),
            ("SELECT x.a, b FROM t AS x, u", "t u / t.a t|u.b / "),
            ("SELECT \"a b\", [c], `d` FROM \"my t\"", "my t / my t.a b my t.c my t.d / "),
            ("SELECT main.t.a FROM main.t", "main.t / t.a / "),
            ("SELECT nobody.a FROM t", "t / t.a / "),
            ("SELECT * FROM t JOIN u ON t.a = u.b", "t u / t.a u.b t|u.* / "),
            ("SELECT u.* FROM t JOIN u USING (k)", "t u / u.* t|u.k / "),
            ("SELECT 1 FROM t NATURAL JOIN u", "t u / t|u.* / "),
            ("SELECT count(*) FROM t", "t /  / count"),
            ("SELECT a AS x FROM t ORDER BY x, b", "t / t.a t.b / "),
            ("SELECT a AS x FROM t WHERE x > 1 GROUP BY x", "t / t.a t.x t.x / "),
            ("SELECT s.a FROM (SELECT b AS a FROM t) s", "t / .a t.b / "),
            ("SELECT (SELECT a FROM u) FROM t", "u t / u|t.a / "),
            ("SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.x = t.y)", "t u / u.x t.y / "),
            ("WITH c AS (SELECT a FROM t) SELECT a FROM c", "t / t.a .a / "),
            ("WITH t AS (SELECT 1 AS a) SELECT a FROM t, main.t AS r", "main.t / t.a / "),
            ("SELECT a FROM t UNION SELECT b FROM u ORDER BY c", "t u / t.a u.b t|u.c / "),
            ("SELECT 1 IN t", "t / t.* / "),
            ("SELECT a LIKE b ESCAPE c, d -> e FROM t", "t / t.a t.b t.c t.d t.e / like ->"),
            ("SELECT value FROM t, json_each(t.doc)", "t / t.value t.doc / json_each"),
            ("SELECT f FROM (t x JOIN u y ON x.a = y.a) AS z WHERE z.g", "t u / t|u.f t.a u.a t|u.g / "),
            (
                "SELECT sum(a) FILTER (WHERE b) OVER (PARTITION BY c ORDER BY d) FROM t",
                "t / t.a t.b t.c t.d / sum",
            ),
            ("PRAGMA table_info(t)", "t /  / "),
            ("PRAGMA other.index_list(t)", "other.t /  / "),
            ("SELECT 1 FROM pragma_table_info('t')", "t /  / pragma_table_info"),
            ("SELECT 1 FROM t, pragma_table_info(t.n)", "t sqlite_schema / t.n / pragma_table_info"),
            ("EXPLAIN SELECT a FROM t", "t / t.a / "),
            (
                "SELECT CURRENT_DATE, a IS NOT NULL, -b, CAST(c AS INT) FROM t",
                "t / t.a t.b t.c / current_date",
            ),
        ] {
            assert_eq!(used(text), expected, "{text}");
        }
    }

    #[test]
    fn writes_say_what_they_change() {
        for (text, class, changed) in [
            ("INSERT INTO t SELECT * FROM u", StatementClass::Insert, "t"),
            ("REPLACE INTO main.t VALUES (1)", StatementClass::Insert, "main.t"),
            ("UPDATE t SET a = u.b FROM u", StatementClass::Update, "t"),
            ("WITH c AS (SELECT 1) DELETE FROM t RETURNING a", StatementClass::Delete, "t"),
            ("CREATE TABLE t (a)", StatementClass::Schema, "t"),
            ("DROP VIEW t", StatementClass::Schema, "t"),
            ("ALTER TABLE t DROP COLUMN a", StatementClass::Schema, "t"),
            ("CREATE INDEX i ON t (a)", StatementClass::Schema, "t"),
            ("REINDEX t", StatementClass::Maintenance, "t"),
            ("VACUUM INTO 'x'", StatementClass::ServerIo, ""),
            ("ATTACH 'x' AS y", StatementClass::ServerIo, ""),
            ("BEGIN", StatementClass::Transaction, ""),
        ] {
            let parsed = statement(text, 100).unwrap();
            let written: Vec<String> =
                parsed.objects.iter().filter(|o| o.written).map(|o| o.name.to_string()).collect();
            assert_eq!((parsed.class, written.join(" ").as_str()), (class, changed), "{text}");
            assert!(!parsed.effects.is_pure_read(), "{text}");
        }
    }
}
