//! Reads a statement by Postgres' own grammar and says what it does.
//!
//! The grammar is that of Postgres 18. It runs on text of a bounded number of tokens, counted by Postgres'
//! own scanner; what the grammar itself calls too deep is refused.

mod call;
mod columns;
mod cte;
mod dml;
mod expr;
mod from;
mod json;
mod nodes;
mod schema;
mod scope;
mod secrets;
mod select;
mod statement;
mod tokens;
mod types;
mod utility;
mod walk;

use dbagent_core::guard::{Finding, Parsed, Rule, Span, StatementClass};
use dbagent_core::request::RequestBody;
use dbagent_core::{Effects, Error, ErrorKind, ParseContext, Request, Result};
use pg_query::protobuf::RawStmt;
use pg_query::{Node, NodeEnum, ParserOptions};

use scope::Env;
pub(crate) use tokens::Limits;
use tokens::{Tokens, Unreadable};
use walk::Walk;

/// The setting of a session that says whether a backslash in a plain literal is a plain character.
pub(crate) const CONFORMING: &str = "standard_conforming_strings";

/// The setting of a session that says in which encoding the database keeps names.
pub(crate) const ENCODING: &str = "server_encoding";

/// Reads a request. Pure: the settings that it knows are `standard_conforming_strings`, `on` where it is
/// not said, and `server_encoding`, `UTF8` where it is not said.
///
/// # Errors
/// [`ErrorKind::InvalidRequest`] for JSON text, [`ErrorKind::Syntax`] for what the grammar refuses.
pub(crate) fn parse(request: &Request, context: &ParseContext) -> Result<Parsed> {
    let RequestBody::Text(text) = &request.body else {
        return Err(Error::new(
            ErrorKind::InvalidRequest,
            "Postgres takes statements as SQL text, not as JSON",
        ));
    };
    let plain = context.settings().get(CONFORMING).is_none_or(|value| value.eq_ignore_ascii_case("on"));
    if let Some(at) = text.find('\\').filter(|_| !plain) {
        return Ok(refused(Finding::new(
            Rule::UnknownSyntax,
            "with standard_conforming_strings off, a backslash may or may not end a literal",
            Some(Span::new(at, at + 1)),
        )));
    }
    let limits = Limits::of_request(context.limits().tokens);
    let unicode = context.settings().get(ENCODING).is_none_or(|value| value.eq_ignore_ascii_case("utf8"));
    if !unicode
        && (!text.is_ascii() || text.contains('&'))
        && let Ok(tokens) = Tokens::read(text, limits)
        && let Some(span) = tokens.first_odd_name(text)
    {
        // The server folds and cuts such a name by its own encoding, the grammar here by UTF-8.
        return Ok(refused(
            Finding::new(
                Rule::UnknownSyntax,
                "in a database that is not in UTF-8, a name with letters beyond ASCII may mean another name",
                Some(span),
            )
            .advice("Use names of ASCII letters; give texts as literals or parameters."),
        ));
    }
    statement(text, limits)
}

/// Reads one statement within these limits.
pub(crate) fn statement(text: &str, limits: Limits) -> Result<Parsed> {
    let (tokens, statements) = match read(text, limits, ParserOptions::DEFAULT)? {
        Ok(read) => read,
        Err(finding) => return Ok(refused(finding)),
    };
    let several = |at: &RawStmt| {
        let start = usize::try_from(at.stmt_location).unwrap_or_default();
        refused(Finding::new(
            Rule::SeveralStatements,
            "the text holds more than one statement",
            tokens.first_from(start),
        ))
    };
    match statements.as_slice() {
        [] => Ok(refused(Finding::new(Rule::Empty, "there is no statement in this text", None))),
        [only] => {
            let mut walk = Walk::new(&tokens);
            walk.top(only.stmt.as_deref());
            Ok(walk.finish())
        }
        [_, second, ..] => Ok(several(second)),
    }
}

/// Reads the body of a function: any number of statements, of which each must be a read.
pub(crate) fn body(text: &str, limits: Limits) -> Result<Parsed> {
    let (tokens, statements) = match read(text, limits, ParserOptions::DEFAULT)? {
        Ok(read) => read,
        Err(finding) => return Ok(refused(finding)),
    };
    let mut walk = Walk::new(&tokens);
    for statement in &statements {
        walk.top(statement.stmt.as_deref());
    }
    if statements.is_empty() {
        walk.parsed.class = StatementClass::Read;
    }
    Ok(walk.finish())
}

/// Reads an expression of the catalogue: the condition of a row policy, a check of a domain, what a column
/// is computed from. Bare names in it are columns of a table that is known otherwise.
pub(crate) fn expression(text: &str, limits: Limits) -> Result<Parsed> {
    let (tokens, statements) = match read(text, limits, ParserOptions::PLPGSQL_EXPR)? {
        Ok(read) => read,
        Err(finding) => return Ok(refused(finding)),
    };
    let mut walk = Walk::new(&tokens);
    for statement in &statements {
        walk.top(statement.stmt.as_deref());
    }
    Ok(walk.finish())
}

/// Reads the text of `CREATE FUNCTION … LANGUAGE sql`, as Postgres prints it, and then what it would run.
/// `None` where the text is no such thing.
pub(crate) fn function_body(text: &str, limits: Limits) -> Option<Parsed> {
    let (tokens, statements) = read(text, limits, ParserOptions::DEFAULT).ok()?.ok()?;
    let [only] = statements.as_slice() else { return None };
    let Some(NodeEnum::CreateFunctionStmt(create)) = only.stmt.as_deref()?.node.as_ref() else { return None };
    let mut walk = Walk::new(&tokens);
    // A call that leaves an argument out runs what stands for it.
    for parameter in &create.parameters {
        if let Some(NodeEnum::FunctionParameter(parameter)) = inner(parameter) {
            walk.optional(parameter.defexpr.as_deref(), nowhere());
        }
    }
    let Some(sql) = create.sql_body.as_deref() else {
        let defaults = walk.finish();
        let mut parsed = body(&source(create)?, limits).ok()?;
        parsed.effects |= defaults.effects;
        parsed.functions.extend(defaults.functions);
        parsed.findings.extend(defaults.findings);
        return Some(parsed);
    };
    walk.atomic(sql);
    Some(walk.finish())
}

/// The text behind AS.
fn source(create: &pg_query::protobuf::CreateFunctionStmt) -> Option<String> {
    let options = create.options.iter().filter_map(|o| match o.node.as_ref() {
        Some(NodeEnum::DefElem(option)) => Some(option),
        _ => None,
    });
    let text = options.filter(|o| o.defname == "as").find_map(|o| o.arg.as_deref()?.node.as_ref());
    match text? {
        NodeEnum::List(list) => match list.items.as_slice() {
            [one] => walk::string(one).map(str::to_owned),
            _ => None,
        },
        NodeEnum::String(text) => Some(text.sval.clone()),
        _ => None,
    }
}

/// Scans and parses.
fn read(
    text: &str,
    limits: Limits,
    mode: ParserOptions,
) -> Result<std::result::Result<(Tokens, Vec<RawStmt>), Finding>> {
    // The core has refused it before; to the grammar the text would end there.
    if let Some(at) = text.find('\0') {
        let span = Some(Span::new(at, at + 1));
        return Ok(Err(Finding::new(Rule::NotText, "the statement holds a NUL character", span)));
    }
    let tokens = match Tokens::read(text, limits) {
        Ok(tokens) => tokens,
        Err(Unreadable::TooMany) => {
            let why = format!("the statement has more than {} tokens", limits.tokens);
            return Ok(Err(Finding::new(Rule::TooManyTokens, why, None)));
        }
        Err(Unreadable::TooDeep(at)) => {
            return Ok(Err(Finding::new(Rule::TooComplex, "brackets are nested too deep", Some(at))));
        }
        Err(Unreadable::Bad(why)) => return Err(syntax(why)),
    };
    match pg_query::parse(text, mode) {
        Ok(parsed) => Ok(Ok((tokens, parsed.protobuf.stmts))),
        Err(pg_query::Error::Parse(why)) if is_too_deep(&why) => {
            Ok(Err(Finding::new(Rule::TooComplex, "the statement is nested too deep", None)))
        }
        Err(pg_query::Error::Decode(_)) => {
            Ok(Err(Finding::new(Rule::TooComplex, "the statement is nested too deep", None)))
        }
        Err(pg_query::Error::Parse(why)) => Err(syntax(why)),
        Err(other) => Err(syntax(other.to_string())),
    }
}

/// Whether the grammar gave up for want of stack or memory; it has no code for that.
fn is_too_deep(why: &str) -> bool {
    ["stack depth", "memory exhausted", "too deep", "nesting"].iter().any(|w| why.contains(w))
}

fn refused(finding: Finding) -> Parsed {
    let mut parsed = Parsed::new(StatementClass::Unknown, Effects::UNKNOWN);
    parsed.findings.push(finding);
    parsed
}

fn syntax(message: String) -> Error {
    Error::new(ErrorKind::Syntax, message).op("parse")
}

/// The node itself.
fn inner(node: &Node) -> Option<&NodeEnum> {
    node.node.as_ref()
}

/// Walks from nowhere.
fn nowhere() -> Env {
    Env::default()
}
