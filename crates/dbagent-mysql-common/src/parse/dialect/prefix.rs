//! Expressions that begin with words of the servers' own.
//!
//! Each keeps every expression that it holds. Where its parts have no place in sqlparser's tree it becomes a
//! call of the function that it is.

use dbagent_sql::sqlparser::ast::{
    CastKind, DateTimeField, Expr, ExtractSyntax, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentList, FunctionArguments, Ident, Interval, ObjectName,
};
use dbagent_sql::sqlparser::dialect::{Dialect as _, MySqlDialect, Precedence};
use dbagent_sql::sqlparser::parser::{Parser, ParserError};
use dbagent_sql::sqlparser::tokenizer::Token;

use super::types;
use crate::flavor::Server;

type Parsed<T> = Result<T, ParserError>;

/// Reads an expression that begins here, where sqlparser would not know it or not all of it.
pub(super) fn parse(server: Server, parser: &mut Parser<'_>) -> Option<Parsed<Expr>> {
    let word = match &parser.peek_token_ref().token {
        Token::Word(w) if w.quote_style.is_none() => w.value.to_ascii_lowercase(),
        _ => return None,
    };
    let bracket = parser.peek_nth_token_ref(1).token == Token::LParen;
    let maria = server == Server::MariaDb;
    match word.as_str() {
        "next" | "previous" if maria && sequence_ahead(parser) => Some(sequence(&word, parser)),
        "interval" => Some(interval(parser)),
        "cast" if bracket => Some(cast(parser)),
        "convert" if bracket => Some(convert(parser)),
        "trim" if bracket => Some(trim(parser)),
        "extract" if bracket => Some(extract(parser)),
        "char" if bracket => Some(call(parser, Tail::Using)),
        "match" => Some(fulltext(parser)),
        "timestampadd" | "timestampdiff" | "get_format" if bracket => Some(with_unit(parser)),
        "json_value" if bracket => Some(call(parser, Tail::JsonValue)),
        "weight_string" if bracket => Some(call(parser, Tail::Types)),
        "column_create" | "column_add" | "column_get" if bracket && maria => Some(call(parser, Tail::Types)),
        _ => None,
    }
}

/// What may stand behind the arguments of a call.
#[derive(Clone, Copy, PartialEq)]
enum Tail {
    /// `USING character set`.
    Using,
    /// `AS type` behind each argument.
    Types,
    /// `RETURNING type`, `DEFAULT value ON EMPTY` and the like.
    JsonValue,
}

/// The name of a function, with the bracket behind it.
fn name(parser: &mut Parser<'_>) -> Parsed<ObjectName> {
    let name = parser.parse_identifier()?;
    parser.expect_token(&Token::LParen)?;
    Ok(ObjectName::from(vec![name]))
}

fn function(name: ObjectName, args: Vec<Expr>) -> Expr {
    let args = args.into_iter().map(|e| FunctionArg::Unnamed(FunctionArgExpr::Expr(e))).collect();
    Expr::Function(Function {
        name,
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args,
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

/// Passes a bare word, whatever its case.
fn pass(parser: &mut Parser<'_>, word: &str) -> bool {
    let there = matches!(&parser.peek_token_ref().token,
        Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word));
    if there {
        parser.next_token();
    }
    there
}

fn expect(parser: &mut Parser<'_>, word: &str) -> Parsed<()> {
    if pass(parser, word) { Ok(()) } else { parser.expected_ref(word, parser.peek_token_ref()) }
}

fn call(parser: &mut Parser<'_>, tail: Tail) -> Parsed<Expr> {
    let name = name(parser)?;
    let mut args = Vec::new();
    if parser.consume_token(&Token::RParen) {
        return Ok(function(name, args));
    }
    loop {
        args.push(parser.parse_expr()?);
        if tail == Tail::Types && pass(parser, "as") {
            let of = args.pop().unwrap_or(Expr::Value(null()));
            args.push(types::cast_to(parser, CastKind::Cast, of)?);
        }
        if !parser.consume_token(&Token::Comma) {
            break;
        }
    }
    match tail {
        Tail::Using if pass(parser, "using") => {
            parser.parse_identifier()?;
        }
        Tail::JsonValue => json_value(parser, &mut args)?,
        Tail::Using | Tail::Types => {}
    }
    parser.expect_token(&Token::RParen)?;
    Ok(function(name, args))
}

/// `[RETURNING type] [NULL | ERROR | DEFAULT value ON EMPTY] […ON ERROR]`.
fn json_value(parser: &mut Parser<'_>, args: &mut Vec<Expr>) -> Parsed<()> {
    if pass(parser, "returning") {
        let of = args.pop().unwrap_or(Expr::Value(null()));
        args.push(types::cast_to(parser, CastKind::Cast, of)?);
    }
    for _ in 0..2 {
        if pass(parser, "default") {
            args.push(parser.parse_prefix()?);
        } else if !pass(parser, "null") && !pass(parser, "error") {
            break;
        }
        expect(parser, "on")?;
        if !pass(parser, "empty") {
            expect(parser, "error")?;
        }
    }
    Ok(())
}

fn null() -> dbagent_sql::sqlparser::ast::ValueWithSpan {
    dbagent_sql::sqlparser::ast::Value::Null.with_empty_span()
}

fn cast(parser: &mut Parser<'_>) -> Parsed<Expr> {
    name(parser)?;
    let expr = parser.parse_expr()?;
    expect(parser, "as")?;
    let cast = types::cast_to(parser, CastKind::Cast, expr)?;
    pass(parser, "array");
    parser.expect_token(&Token::RParen)?;
    Ok(cast)
}

fn convert(parser: &mut Parser<'_>) -> Parsed<Expr> {
    name(parser)?;
    let expr = parser.parse_expr()?;
    let out = if pass(parser, "using") {
        let charset = Some(ObjectName::from(vec![parser.parse_identifier()?]));
        Expr::Convert {
            is_try: false,
            expr: Box::new(expr),
            data_type: None,
            charset,
            target_before_value: false,
            styles: Vec::new(),
        }
    } else {
        parser.expect_token(&Token::Comma)?;
        types::cast_to(parser, CastKind::Cast, expr)?
    };
    parser.expect_token(&Token::RParen)?;
    Ok(out)
}

fn trim(parser: &mut Parser<'_>) -> Parsed<Expr> {
    name(parser)?;
    let _side = pass(parser, "both") || pass(parser, "leading") || pass(parser, "trailing");
    let (what, expr) = if pass(parser, "from") {
        (None, parser.parse_expr()?)
    } else {
        let first = parser.parse_expr()?;
        if pass(parser, "from") { (Some(Box::new(first)), parser.parse_expr()?) } else { (None, first) }
    };
    parser.expect_token(&Token::RParen)?;
    Ok(Expr::Trim { trim_where: None, trim_what: what, expr: Box::new(expr), trim_characters: None })
}

/// A unit of time: one word.
fn unit(parser: &mut Parser<'_>) -> Parsed<Ident> {
    let is_unit = matches!(&parser.peek_token_ref().token, Token::Word(w)
        if w.quote_style.is_none() && is_unit(&w.value));
    if is_unit {
        parser.parse_identifier()
    } else {
        parser.expected_ref("a unit of time", parser.peek_token_ref())
    }
}

fn is_unit(word: &str) -> bool {
    const UNITS: [&str; 20] = [
        "microsecond",
        "second",
        "minute",
        "hour",
        "day",
        "week",
        "month",
        "quarter",
        "year",
        "second_microsecond",
        "minute_microsecond",
        "minute_second",
        "hour_microsecond",
        "hour_second",
        "hour_minute",
        "day_microsecond",
        "day_second",
        "day_minute",
        "day_hour",
        "year_month",
    ];
    let word = word.to_ascii_lowercase();
    UNITS.contains(&word.strip_prefix("sql_tsi_").unwrap_or(&word))
}

fn extract(parser: &mut Parser<'_>) -> Parsed<Expr> {
    name(parser)?;
    let field = DateTimeField::Custom(unit(parser)?);
    expect(parser, "from")?;
    let expr = Box::new(parser.parse_expr()?);
    parser.expect_token(&Token::RParen)?;
    Ok(Expr::Extract { field, syntax: ExtractSyntax::From, expr })
}

/// `TIMESTAMPDIFF(unit, a, b)`, and `GET_FORMAT(kind, name)`, whose first argument is a word.
fn with_unit(parser: &mut Parser<'_>) -> Parsed<Expr> {
    let name = name(parser)?;
    parser.parse_identifier()?;
    parser.expect_token(&Token::Comma)?;
    let args = parser.parse_comma_separated(Parser::parse_expr)?;
    parser.expect_token(&Token::RParen)?;
    Ok(function(name, args))
}

/// `INTERVAL expression unit`, and the function `INTERVAL(a, b, …)`.
fn interval(parser: &mut Parser<'_>) -> Parsed<Expr> {
    if parser.peek_nth_token_ref(1).token == Token::LParen && is_call(parser) {
        let name = parser.parse_identifier()?;
        return parser.parse_function(ObjectName::from(vec![name]));
    }
    parser.next_token();
    let value = Box::new(parser.parse_expr()?);
    unit(parser)?;
    Ok(Expr::Interval(Interval {
        value,
        leading_field: None,
        leading_precision: None,
        last_field: None,
        fractional_seconds_precision: None,
    }))
}

/// How far a bracket is looked through for a comma: the first item of a list is no long text.
const AHEAD: usize = 1_000;

/// Whether the bracket behind the word ahead holds a list.
fn is_call(parser: &Parser<'_>) -> bool {
    let mut depth = 0_usize;
    for at in 1..AHEAD {
        match parser.peek_nth_token_ref(at).token {
            Token::LParen => depth += 1,
            Token::RParen => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return false;
                }
            }
            Token::Comma if depth == 1 => return true,
            Token::EOF => return false,
            _ => {}
        }
    }
    false
}

/// `MATCH (a, b) AGAINST (expression IN BOOLEAN MODE)`.
fn fulltext(parser: &mut Parser<'_>) -> Parsed<Expr> {
    let name = ObjectName::from(vec![parser.parse_identifier()?]);
    let bracket = parser.consume_token(&Token::LParen);
    let mut args = parser.parse_comma_separated(Parser::parse_expr)?;
    if bracket {
        parser.expect_token(&Token::RParen)?;
    }
    expect(parser, "against")?;
    parser.expect_token(&Token::LParen)?;
    // `IN` begins the modifier: no operator that binds less than a comparison.
    args.push(parser.parse_subexpr(MySqlDialect {}.prec_value(Precedence::Between))?);
    if pass(parser, "in") {
        if pass(parser, "boolean") {
            expect(parser, "mode")?;
        } else {
            expect(parser, "natural")?;
            expect(parser, "language")?;
            expect(parser, "mode")?;
        }
    }
    if pass(parser, "with") {
        expect(parser, "query")?;
        expect(parser, "expansion")?;
    }
    parser.expect_token(&Token::RParen)?;
    Ok(function(name, args))
}

fn sequence_ahead(parser: &Parser<'_>) -> bool {
    let is = |n: usize, word: &str| matches!(&parser.peek_nth_token_ref(n).token, Token::Word(w) if w.value.eq_ignore_ascii_case(word));
    is(1, "value") && is(2, "for")
}

/// `NEXT VALUE FOR s` takes a number from a sequence; `PREVIOUS VALUE FOR s` says the last one taken.
fn sequence(word: &str, parser: &mut Parser<'_>) -> Parsed<Expr> {
    let first = parser.parse_identifier()?;
    let name = Ident { value: if word == "next" { "nextval" } else { "lastval" }.to_owned(), ..first };
    parser.next_token();
    parser.next_token();
    parser.parse_object_name(false)?;
    Ok(function(ObjectName::from(vec![name]), Vec::new()))
}
