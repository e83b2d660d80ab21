//! The types that a cast may name.

use dbagent_sql::sqlparser::ast::{CastKind, DataType, Expr, ObjectName};
use dbagent_sql::sqlparser::parser::{Parser, ParserError};
use dbagent_sql::sqlparser::tokenizer::{Token, Word};

/// The servers' own types, one word each. MariaDB's plugins bring others; a cast to them is not known.
const TYPES: &[&str] = &[
    "binary",
    "char",
    "character",
    "date",
    "datetime",
    "dec",
    "decimal",
    "double",
    "float",
    "geomcollection",
    "geometrycollection",
    "inet4",
    "inet6",
    "int",
    "integer",
    "interval",
    "json",
    "linestring",
    "multilinestring",
    "multipoint",
    "multipolygon",
    "national",
    "nchar",
    "numeric",
    "nvarchar",
    "point",
    "polygon",
    "real",
    "signed",
    "time",
    "unsigned",
    "uuid",
    "varbinary",
    "varchar",
    "vector",
    "year",
];

/// Words that may stand behind them.
const BEHIND: &[&str] = &[
    "ascii",
    "byte",
    "char",
    "character",
    "day_second",
    "int",
    "integer",
    "precision",
    "unicode",
    "varchar",
    "varying",
];

/// Reads a type behind `AS` and wraps the expression in a cast.
pub(super) fn cast_to(parser: &mut Parser<'_>, kind: CastKind, expr: Expr) -> Result<Expr, ParserError> {
    let first = parser.parse_identifier()?;
    let known = first.quote_style.is_none() && TYPES.iter().any(|t| t.eq_ignore_ascii_case(&first.value));
    let data_type = if known {
        DataType::Char(None)
    } else {
        DataType::Custom(ObjectName::from(vec![first]), Vec::new())
    };
    loop {
        if parser.consume_token(&Token::LParen) {
            parser.parse_comma_separated(Parser::parse_literal_uint)?;
            parser.expect_token(&Token::RParen)?;
        } else if pass(parser, &["charset"]) || character_set(parser) {
            parser.parse_identifier()?;
        } else if !pass(parser, BEHIND) {
            break;
        }
    }
    Ok(Expr::Cast { kind, expr: Box::new(expr), data_type, format: None })
}

fn is(token: &Token, words: &[&str]) -> bool {
    matches!(token, Token::Word(Word { value, quote_style: None, .. })
        if words.iter().any(|w| w.eq_ignore_ascii_case(value)))
}

fn pass(parser: &mut Parser<'_>, words: &[&str]) -> bool {
    let there = is(&parser.peek_token_ref().token, words);
    if there {
        parser.next_token();
    }
    there
}

/// `CHARACTER SET`, where it is there.
fn character_set(parser: &mut Parser<'_>) -> bool {
    let there = is(&parser.peek_token_ref().token, &["character", "char"])
        && is(&parser.peek_nth_token_ref(1).token, &["set"]);
    if there {
        parser.next_token();
        parser.next_token();
    }
    there
}
