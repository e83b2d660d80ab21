//! Expressions that begin with words of the servers' own.

use dbagent_sql::sqlparser::ast::Expr;
use dbagent_sql::sqlparser::parser::{Parser, ParserError};

use crate::flavor::Server;

/// Reads an expression that begins here, where sqlparser would not know it.
pub(super) fn parse(_server: Server, _parser: &mut Parser<'_>) -> Option<Result<Expr, ParserError>> {
    None
}
