//! Runs the grammar over a text and hands the tree of its one statement on.

use bumpalo::Bump;
use dbagent_core::guard::Span;
use fallible_iterator::FallibleIterator as _;
use sqlite3_parser::ast::Cmd;
use sqlite3_parser::dialect::TokenType;
use sqlite3_parser::lexer::sql::{Error as LexError, Parser, ParserError};

use super::lex::Tokens;
use super::marked::{Marks, Spelling};

/// Why there is no tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Failure {
    /// The grammar does not accept the text.
    Syntax { message: String, at: Option<Span> },
    /// A second statement begins here.
    Several(Span),
    /// There is no statement.
    Empty,
}

/// Parses the one statement of a text and calls `read` with its tree.
pub(crate) fn with_command<T>(
    tokens: &Tokens<'_>,
    spelling: Spelling,
    read: impl FnOnce(&Cmd<'_>, &Marks<'_>) -> T,
) -> Result<T, Failure> {
    let marks = Marks::new(tokens, spelling);
    let bump = Bump::new();
    let mut parser = Parser::new(&bump, marks.text().as_bytes());
    match parser.next() {
        Ok(Some(command)) => match second_statement(&mut parser, &command, tokens) {
            Some(at) => Err(Failure::Several(at)),
            None => Ok(read(&command, &marks)),
        },
        Ok(None) => Err(Failure::Empty),
        // The message is to show names as they were written, so it is asked for again. Should the plain
        // copy be accepted after all, its tree is as good, only with fewer places.
        Err(_) if spelling == Spelling::Numbered => with_command(tokens, Spelling::Plain, read),
        Err(e) => Err(syntax(&e, &marks)),
    }
}

/// Where something follows the first statement, told by the parser and by the semicolons both.
fn second_statement(parser: &mut Parser<'_>, first: &Cmd<'_>, tokens: &Tokens<'_>) -> Option<Span> {
    let list = tokens.list();
    let last = list.last().map(|t| t.span).unwrap_or_default();
    let is_end = |kind: TokenType| kind == TokenType::TK_SEMI;
    // The body of a trigger has semicolons of its own: there the parser alone tells.
    if !is_trigger(first) {
        let begin = list.iter().position(|t| !is_end(t.kind))?;
        let end = list.iter().skip(begin).position(|t| is_end(t.kind)).map(|n| begin + n);
        let after = end.and_then(|end| list.iter().skip(end).find(|t| !is_end(t.kind)));
        if let Some(token) = after {
            return Some(token.span);
        }
    }
    match parser.next() {
        Ok(None) => None,
        Ok(Some(_)) | Err(_) => Some(last),
    }
}

fn is_trigger(command: &Cmd<'_>) -> bool {
    use sqlite3_parser::ast::Stmt;
    let (Cmd::Explain(statement) | Cmd::ExplainQueryPlan(statement) | Cmd::Stmt(statement)) = command;
    matches!(statement, Stmt::CreateTrigger { .. })
}

fn syntax(e: &LexError, marks: &Marks<'_>) -> Failure {
    let LexError::ParserError(what, position) = e else {
        return Failure::Syntax { message: e.to_string(), at: None };
    };
    // Lines and columns are those of the copy: only tokens that span lines have line ends in it.
    let place = position.as_ref().map(|p| offset_of(marks.text(), p.line, p.column));
    let list = marks.tokens().list();
    let token = place.and_then(|p| marks.token_at(p)).and_then(|i| list.get(i));
    let at = token.map(|t| t.span);
    let message = match what {
        ParserError::UnexpectedEof => "incomplete input".to_owned(),
        ParserError::SyntaxError(near) if near.is_empty() => "incomplete input".to_owned(),
        ParserError::SyntaxError(near) => format!("near \"{near}\": syntax error"),
        ParserError::Custom(own) => own.clone(),
    };
    Failure::Syntax { message, at }
}

/// The byte offset of a line and column, both from 1.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    before + column.saturating_sub(1)
}
