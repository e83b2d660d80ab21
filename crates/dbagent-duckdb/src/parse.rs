//! Reads a statement by DuckDB's own grammar and says what it does.

mod command;
pub(crate) mod ddl;
mod engine;
mod expr;
mod lex;
mod pragma;
pub(crate) mod scan;
mod scope;
mod sizes;
mod special;
mod table;
mod telling;
#[cfg(test)]
mod tests;
mod walk;

use std::any::Any;
use std::sync::Arc;

use dbagent_core::guard::{Finding, Parsed, Rule, Span, StatementClass};
use dbagent_core::request::RequestBody;
use dbagent_core::{Effects, Error, ErrorKind, ObjectName, ParseContext, Request, Result, Settings};

use command::{Command, Rewritten};
use lex::{Tokens, Unreadable};
use walk::Walk;

pub(crate) use engine::Engine;
use engine::Read;

/// The namespace of the engine's own catalogue, as rules name it.
pub(crate) const CATALOGUE: &str = "system";
/// The setting that holds the database's own name, by which the engine knows it.
pub(crate) const CATALOG_SETTING: &str = "catalog";
/// The setting that holds the names of functions that the database defines, one a line, in lower case.
pub(crate) const MACROS_SETTING: &str = "macros";
/// Tokens of a definition that the database keeps; it was a statement once.
const BODY_TOKENS: usize = 200_000;

/// Makes the engine that reads, one for each context.
pub(crate) fn scratch() -> Arc<dyn Any + Send + Sync> {
    Arc::new(Engine::new())
}

/// What a session knows of names before any statement.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    catalog: Option<String>,
    macros: Vec<String>,
}

impl Names {
    /// From the settings that a session pins; without a session nothing is known.
    pub(crate) fn of(settings: &Settings) -> Self {
        let macros = settings.get(MACROS_SETTING).unwrap_or_default();
        Self {
            catalog: settings.get(CATALOG_SETTING).map(str::to_owned),
            macros: macros.lines().map(str::to_owned).collect(),
        }
    }

    /// Whether the database defines a function of that name.
    fn defines(&self, function: &str) -> bool {
        !self.macros.is_empty() && self.macros.contains(&function.to_ascii_lowercase())
    }

    /// The object that the parts of a name mean; none when they are too many.
    fn object(&self, path: &[&str]) -> Option<ObjectName> {
        Some(match path {
            [name] => ObjectName::new(*name),
            [namespace, name] => ObjectName::within(*namespace, *name),
            [catalog, schema, name] => {
                if catalog.eq_ignore_ascii_case(CATALOGUE) {
                    ObjectName::within(CATALOGUE, *name)
                } else if self.catalog.as_deref().is_none_or(|c| c.eq_ignore_ascii_case(catalog)) {
                    ObjectName::within(*schema, *name)
                } else {
                    ObjectName::within(format!("{catalog}.{schema}"), *name)
                }
            }
            _ => return None,
        })
    }

    /// The object that a text names, as the engine reads such a text: split at dots, parts in quotes whole.
    fn parse(&self, text: &str) -> Option<ObjectName> {
        if !text.contains('"') {
            let parts: Vec<&str> = text.split('.').collect();
            return if parts.iter().any(|p| p.is_empty()) { None } else { self.object(&parts) };
        }
        let tokens = Tokens::read(text, 8).ok()?;
        let names: Option<Vec<String>> =
            (0..tokens.list().len()).step_by(2).map(|index| tokens.name(index)).collect();
        let dots = (1..tokens.list().len()).step_by(2).all(|index| tokens.is_sign(index, '.'));
        let names = names.filter(|_| dots)?;
        self.object(&names.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

/// Reads a request. Pure.
///
/// # Errors
/// [`ErrorKind::InvalidRequest`] for JSON text, [`ErrorKind::Syntax`] for what the grammar refuses;
/// [`ErrorKind::Internal`] when the engine that reads failed.
pub(crate) fn parse(request: &Request, context: &ParseContext) -> Result<Parsed> {
    let RequestBody::Text(text) = &request.body else {
        return Err(Error::new(
            ErrorKind::InvalidRequest,
            "DuckDB takes statements as SQL text, not as JSON",
        ));
    };
    let made;
    let engine = if let Some(engine) = context.scratch::<Engine>() {
        engine
    } else {
        made = Engine::new();
        &made
    };
    statement(text, context.limits().tokens, &Names::of(context.settings()), engine).map(telling::marked)
}

/// Reads a definition that the database keeps, such as that of a view.
///
/// # Errors
/// As [`parse`].
pub(crate) fn body(text: &str, names: &Names, engine: &Engine) -> Result<Parsed> {
    statement(text, BODY_TOKENS, names, engine).map(telling::marked)
}

/// Whether the engine can be asked for a plan of the statement: it is a query that it serializes.
pub(crate) fn has_plan(text: &str) -> bool {
    Tokens::read(text, usize::MAX).is_ok_and(|tokens| command::command(&tokens, text) == Command::Plain)
}

/// Reads one statement of at most `limit` tokens.
fn statement(text: &str, limit: usize, names: &Names, engine: &Engine) -> Result<Parsed> {
    // The core has refused it before; to the engine the text would end there.
    if let Some(at) = text.find('\0') {
        let span = Some(Span::new(at, at + 1));
        return Ok(refused(Finding::new(Rule::NotText, "the statement holds a NUL character", span)));
    }
    let tokens = match Tokens::read(text, limit) {
        Ok(tokens) => tokens,
        Err(Unreadable::TooMany) => {
            let message = format!("the statement has more than {limit} tokens");
            return Ok(refused(Finding::new(Rule::TooManyTokens, message, None)));
        }
        Err(Unreadable::Open(at)) => {
            return Err(syntax("a quote or comment that begins here never ends".to_owned(), Some(at)));
        }
    };
    if tokens.end() == 0 {
        return Ok(refused(Finding::new(Rule::Empty, "there is no statement in this text", None)));
    }
    match command::command(&tokens, text) {
        Command::Plain => query(text, None, StatementClass::Read, names, engine),
        Command::Pivot(rewritten) => {
            query(&rewritten.text, Some(&rewritten), StatementClass::Read, names, engine)
        }
        Command::Pragma { name, argument } => Ok(pragma::pragma(&name, argument.as_ref(), names)),
        Command::Unclear { what, at } => {
            Ok(refused(Finding::new(Rule::UnknownSyntax, format!("nobody has judged {what}"), Some(at))))
        }
        Command::Explain { body, analyze } => {
            if Tokens::read(&body, limit).is_ok_and(|t| t.is_word(0, "explain")) {
                let message = "the plan of an EXPLAIN is asked for";
                return Ok(refused(Finding::new(Rule::UnknownSyntax, message, None)));
            }
            let mut parsed = statement(&body, limit, names, engine)?;
            if analyze && !parsed.effects.is_pure_read() {
                let message = "EXPLAIN ANALYZE runs the statement, and it does more than read";
                parsed.findings.push(Finding::new(Rule::Write, message, None));
            }
            parsed.class = match parsed.class {
                StatementClass::Read | StatementClass::Catalogue => StatementClass::Explain,
                other => other,
            };
            Ok(parsed)
        }
    }
}

/// A text that the engine is asked about.
fn query(
    text: &str,
    rewritten: Option<&Rewritten>,
    class: StatementClass,
    names: &Names,
    engine: &Engine,
) -> Result<Parsed> {
    match engine.read(text)? {
        Read::Query(tree) => {
            let mut walk = Walk::new(class, names, rewritten);
            walk.statement(&tree);
            Ok(walk.parsed)
        }
        Read::Several => {
            Ok(refused(Finding::new(Rule::SeveralStatements, "the text holds more than one statement", None)))
        }
        Read::Other => Ok(other_statement(text)),
        Read::TooDeep => Ok(refused(Finding::new(
            Rule::TooComplex,
            "the statement is nested deeper than 1,000 levels",
            None,
        ))),
        Read::Refused { message, at } => {
            let at = at.map(|at| rewritten.map_or(at, |r| r.original(at)));
            Err(syntax(message, at))
        }
    }
}

/// A statement that is no query, by its first word, so that the refusal can say what it is. The class
/// decides nothing: everything that is not known to be a query is refused.
fn other_statement(text: &str) -> Parsed {
    let first = Tokens::read(text, usize::MAX).ok().and_then(|t| t.name(0)).unwrap_or_default();
    let (class, effects) = match first.to_ascii_lowercase().as_str() {
        "insert" => (StatementClass::Insert, Effects::WRITE),
        "update" => (StatementClass::Update, Effects::WRITE),
        "delete" | "truncate" => (StatementClass::Delete, Effects::WRITE),
        "merge" => (StatementClass::Merge, Effects::WRITE),
        "create" | "drop" | "alter" | "comment" => (StatementClass::Schema, Effects::SCHEMA),
        "begin" | "start" | "commit" | "end" | "rollback" | "abort" => {
            (StatementClass::Transaction, Effects::SESSION)
        }
        "set" | "reset" | "use" | "prepare" | "execute" | "deallocate" => {
            (StatementClass::Session, Effects::SESSION)
        }
        "copy" | "attach" | "detach" | "export" | "import" | "install" | "load" | "force" | "connect" => {
            (StatementClass::ServerIo, Effects::SERVER_IO)
        }
        "vacuum" | "analyze" | "checkpoint" => (StatementClass::Maintenance, Effects::WRITE),
        _ => (StatementClass::Unknown, Effects::UNKNOWN),
    };
    let mut parsed = Parsed::new(class, effects);
    // Whoever may propose writes cannot do so here: the file is open for reading, and which objects the
    // statement changes nobody has looked at.
    if effects.contains(Effects::WRITE) {
        parsed.findings.push(Finding::new(
            Rule::Write,
            "the statement changes data, and DuckDB is only read here",
            None,
        ));
    } else if effects.contains(Effects::SCHEMA) {
        let message = "the statement changes the schema, and DuckDB is only read here";
        parsed.findings.push(Finding::new(Rule::SchemaChange, message, None));
    }
    let known = class != StatementClass::Unknown;
    // Two statements, or one behind a WITH: the class of the first word would not be that of the text.
    let several = text.trim_end().trim_end_matches(';').contains(';');
    if !known || several {
        parsed.effects |= Effects::UNKNOWN;
        parsed.findings.push(
            Finding::new(
                Rule::UnknownSyntax,
                "this is no query, nor a single statement of a known kind",
                None,
            )
            .advice("Write one SELECT; a function of CALL is read by SELECT * FROM function()."),
        );
    }
    parsed
}

fn refused(finding: Finding) -> Parsed {
    let mut parsed = Parsed::new(StatementClass::Unknown, Effects::UNKNOWN);
    parsed.findings.push(finding);
    parsed
}

fn syntax(message: String, at: Option<usize>) -> Error {
    let e = Error::new(ErrorKind::Syntax, message).op("parse");
    match at {
        Some(at) => e.at(at),
        None => e,
    }
}
