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
