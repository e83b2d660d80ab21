//! Reads a statement as the server does and says what it does.
//!
//! The walk over the tree is that of `dbagent-sql`. Around it stand the parts that sqlparser's MySQL grammar
//! lacks: statements that begin with words of the servers' own (`opening`), forms within a query
//! (`dialect`, `bridge`), and what only the settings of the session can tell (`settle`).

mod bridge;
mod dialect;
mod explain;
mod opening;
mod secret;
mod settle;
mod show;

use dbagent_core::request::RequestBody;
use dbagent_core::{ParseContext, Parsed, Request, Result};
use dbagent_sql::{Folding, FunctionTable, SqlGrammar};

use crate::flavor::{Flavor, Server};
use crate::functions::BARE;
use crate::lex;

/// The grammar of a server over its functions.
pub(crate) const fn grammar(server: Server, functions: &'static FunctionTable) -> SqlGrammar {
    let grammar = SqlGrammar::new(&dialect::PLAIN, functions)
        .rules(lex::rules)
        // Common table expressions compare without case on some servers and with it on others.
        .folding(Folding::Sensitive)
        .whole_rows(false)
        .implicit_lateral(false)
        .bare_functions(BARE);
    match server {
        Server::MySql => grammar
            .dialect_by(dialect::mysql)
            .sequence_columns(false)
            .opening(opening::mysql)
            .bridge(bridge::mysql),
        Server::MariaDb => grammar
            .dialect_by(dialect::mariadb)
            // `s.nextval`, in Oracle's mode.
            .sequence_columns(true)
            .opening(opening::mariadb)
            .bridge(bridge::mariadb),
    }
}

/// Reads a request. Pure: the same text and settings give the same value.
///
/// Of the settings it knows `version`, `sql_mode` and `default_namespace`. Without them the server is the
/// newest that the lists of functions were checked with, under its default mode with `IGNORE_SPACE`.
///
/// # Errors
/// [`InvalidRequest`](dbagent_core::ErrorKind::InvalidRequest) for JSON text,
/// [`Syntax`](dbagent_core::ErrorKind::Syntax) with the place for what the grammar does not know.
pub fn parse(flavor: &Flavor, request: &Request, context: &ParseContext) -> Result<Parsed> {
    let mut parsed = flavor.grammar().parse(request, context)?;
    if matches!(request.body, RequestBody::Text(_)) {
        settle::settle(flavor, context.settings(), &mut parsed);
    }
    Ok(parsed)
}
