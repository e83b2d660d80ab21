//! Compares sqlparser's tokens with the pieces of our own lexer.

use dbagent_core::guard::{Finding, Rule, Span};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace, Word};

use super::{LexKind, LexRules, Lexeme};
use crate::place::Places;

/// Checks that sqlparser saw the same strings, quoted names and comments as our lexer, by kind and place.
///
/// What is a name by our rules and a string by sqlparser's (text in double quotes under `ANSI_QUOTES`), or
/// the other way round, is handed on as what it is by our rules.
///
/// # Errors
/// A finding at the first place where the two differ.
pub fn agree(
    text: &str,
    places: &Places<'_>,
    rules: &LexRules,
    lexemes: &[Lexeme],
    tokens: Vec<TokenWithSpan>,
) -> Result<Vec<TokenWithSpan>, Finding> {
    if rules.operators {
        operators(text, places, lexemes, &tokens)?;
    }
    let mut ours = lexemes.iter().filter(|l| is_opaque(l.kind));
    let mut out = Vec::with_capacity(tokens.len());
    for mut token in tokens {
        let Some(kind) = kind(&token.token) else {
            out.push(token);
            continue;
        };
        let Some(theirs) = places.span(token.span) else {
            return Err(differs(None));
        };
        // `0x1F` has the token of `X'1F'`, and is no string.
        if matches!(token.token, Token::HexStringLiteral(_)) && !ends_with_quote(text, theirs) {
            out.push(token);
            continue;
        }
        let Some(piece) = ours.next() else { return Err(differs(Some(theirs))) };
        let prefix = text.get(theirs.start..piece.span.start);
        let prefix_fits = prefix.is_some_and(|p| {
            p.is_empty() || (kind == LexKind::String && p.len() <= 4 && p.chars().all(is_prefix))
        });
        if theirs.end != piece.span.end || !prefix_fits {
            return Err(differs(Some(Span::new(theirs.start.min(piece.span.start), theirs.end))));
        }
        match (kind, piece.kind) {
            (a, b) if a == b => {}
            (LexKind::String, LexKind::QuotedIdent) if prefix == Some("") => {
                token.token = Token::Word(Word {
                    value: inside(text, piece.span, '"'),
                    quote_style: Some('"'),
                    keyword: Keyword::NoKeyword,
                });
            }
            (LexKind::QuotedIdent, LexKind::String) => {
                token.token = Token::DoubleQuotedString(inside(text, piece.span, '"'));
            }
            _ => return Err(differs(Some(theirs))),
        }
        out.push(token);
    }
    match ours.next() {
        Some(piece) => Err(differs(Some(piece.span))),
        None => Ok(out),
    }
}

/// Checks that what an engine with custom operators takes for one operator is one token.
fn operators(
    text: &str,
    places: &Places<'_>,
    lexemes: &[Lexeme],
    tokens: &[TokenWithSpan],
) -> Result<(), Finding> {
    let mut spans = operator_spans(text, lexemes).into_iter().peekable();
    for token in tokens {
        let Some(theirs) = places.span(token.span) else { continue };
        // The mark in `U&'…'` belongs to the string.
        let passed = if kind(&token.token).is_some() { theirs.end } else { theirs.start };
        while spans.next_if(|ours| ours.end <= passed).is_some() {}
        if let Some(ours) = spans.peek()
            && theirs.end > ours.start
            && *ours != theirs
        {
            return Err(Finding::new(
                Rule::EngineDisagrees,
                "the parser and the database would not see the same operators here",
                Some(*ours),
            )
            .advice("Put a blank between operators."));
        }
    }
    Ok(())
}

/// Where operators are, cut as PostgreSQL does: as long as can be, without a `+` or `-` at the end unless a
/// character is in it that no operator of standard SQL has.
fn operator_spans(text: &str, lexemes: &[Lexeme]) -> Vec<Span> {
    let part = |l: &Lexeme| {
        let c = text.get(l.span.start..l.span.end);
        l.kind == LexKind::Symbol && c.is_some_and(|c| "+-*/<>=~!@#%^&|`?".contains(c))
    };
    let mut spans: Vec<Span> = Vec::new();
    for lexeme in lexemes.iter().filter(|l| part(l)) {
        match spans.last_mut() {
            Some(last) if last.end == lexeme.span.start => last.end = lexeme.span.end,
            _ => spans.push(lexeme.span),
        }
    }
    let mut cut = Vec::with_capacity(spans.len());
    for span in spans {
        let whole = text.get(span.start..span.end).unwrap_or_default();
        let kept = if whole.contains(['~', '!', '@', '#', '%', '^', '&', '|', '`', '?']) {
            whole.len()
        } else {
            whole.trim_end_matches(['+', '-']).len().max(1)
        };
        cut.push(Span::new(span.start, span.start + kept));
        cut.extend((kept..whole.len()).map(|i| Span::new(span.start + i, span.start + i + 1)));
    }
    cut
}

fn is_opaque(kind: LexKind) -> bool {
    matches!(kind, LexKind::Comment | LexKind::String | LexKind::QuotedIdent)
}

fn is_prefix(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '&'
}

fn ends_with_quote(text: &str, span: Span) -> bool {
    text.get(span.start..span.end).is_some_and(|t| t.ends_with('\''))
}

/// What is between the quotes, a doubled quote made one.
fn inside(text: &str, span: Span, quote: char) -> String {
    let inner = text.get(span.start + 1..span.end.saturating_sub(1)).unwrap_or_default();
    let doubled: String = [quote, quote].iter().collect();
    inner.replace(&doubled, &String::from(quote))
}

/// The kind of a token that hides its text from the parser; `None` for all others.
fn kind(token: &Token) -> Option<LexKind> {
    match token {
        Token::Whitespace(Whitespace::SingleLineComment { .. } | Whitespace::MultiLineComment(_)) => {
            Some(LexKind::Comment)
        }
        Token::Word(word) => word.quote_style.map(|_| LexKind::QuotedIdent),
        Token::SingleQuotedString(_)
        | Token::DoubleQuotedString(_)
        | Token::TripleSingleQuotedString(_)
        | Token::TripleDoubleQuotedString(_)
        | Token::DollarQuotedString(_)
        | Token::SingleQuotedByteStringLiteral(_)
        | Token::DoubleQuotedByteStringLiteral(_)
        | Token::TripleSingleQuotedByteStringLiteral(_)
        | Token::TripleDoubleQuotedByteStringLiteral(_)
        | Token::SingleQuotedRawStringLiteral(_)
        | Token::DoubleQuotedRawStringLiteral(_)
        | Token::TripleSingleQuotedRawStringLiteral(_)
        | Token::TripleDoubleQuotedRawStringLiteral(_)
        | Token::NationalStringLiteral(_)
        | Token::QuoteDelimitedStringLiteral(_)
        | Token::NationalQuoteDelimitedStringLiteral(_)
        | Token::EscapedStringLiteral(_)
        | Token::UnicodeStringLiteral(_)
        | Token::HexStringLiteral(_)
        // Data of COPY: our lexer knows no such thing, so it never agrees.
        | Token::CopyData { .. } => Some(LexKind::String),
        Token::Whitespace(Whitespace::Space | Whitespace::Newline | Whitespace::Tab)
        | Token::EOF
        | Token::Number(..)
        | Token::Char(_)
        | Token::Comma
        | Token::DoubleEq
        | Token::Eq
        | Token::Neq
        | Token::Lt
        | Token::Gt
        | Token::LtEq
        | Token::GtEq
        | Token::Spaceship
        | Token::Plus
        | Token::Minus
        | Token::Mul
        | Token::Div
        | Token::DuckIntDiv
        | Token::Mod
        | Token::StringConcat
        | Token::LParen
        | Token::RParen
        | Token::Period
        | Token::Colon
        | Token::DoubleColon
        | Token::Assignment
        | Token::SemiColon
        | Token::Backslash
        | Token::LBracket
        | Token::RBracket
        | Token::Ampersand
        | Token::Pipe
        | Token::Caret
        | Token::LBrace
        | Token::RBrace
        | Token::RArrow
        | Token::Sharp
        | Token::DoubleSharp
        | Token::Tilde
        | Token::TildeAsterisk
        | Token::ExclamationMarkTilde
        | Token::ExclamationMarkTildeAsterisk
        | Token::DoubleTilde
        | Token::DoubleTildeAsterisk
        | Token::ExclamationMarkDoubleTilde
        | Token::ExclamationMarkDoubleTildeAsterisk
        | Token::ShiftLeft
        | Token::ShiftRight
        | Token::Overlap
        | Token::ExclamationMark
        | Token::DoubleExclamationMark
        | Token::AtSign
        | Token::CaretAt
        | Token::PGSquareRoot
        | Token::PGCubeRoot
        | Token::Placeholder(_)
        | Token::Arrow
        | Token::LongArrow
        | Token::HashArrow
        | Token::AtDashAt
        | Token::QuestionMarkDash
        | Token::AmpersandLeftAngleBracket
        | Token::AmpersandRightAngleBracket
        | Token::AmpersandLeftAngleBracketVerticalBar
        | Token::VerticalBarAmpersandRightAngleBracket
        | Token::TwoWayArrow
        | Token::LeftAngleBracketCaret
        | Token::RightAngleBracketCaret
        | Token::QuestionMarkSharp
        | Token::QuestionMarkDashVerticalBar
        | Token::QuestionMarkDoubleVerticalBar
        | Token::TildeEqual
        | Token::ShiftLeftVerticalBar
        | Token::VerticalBarShiftRight
        | Token::VerticalBarRightAngleBracket
        | Token::HashLongArrow
        | Token::AtArrow
        | Token::ArrowAt
        | Token::HashMinus
        | Token::AtQuestion
        | Token::AtAt
        | Token::Question
        | Token::QuestionAnd
        | Token::QuestionPipe
        | Token::CustomBinaryOperator(_) => None,
    }
}

fn differs(span: Option<Span>) -> Finding {
    Finding::new(
        Rule::EngineDisagrees,
        "the parser and the database would not see the same strings, names and comments here",
        span,
    )
    .advice("Write strings with doubled quotes and without backslashes, and leave comments out.")
}

#[cfg(test)]
mod tests {
    use super::super::{BlockComment, Brackets, DashComment, DoubleQuotes, LexRules, lex};
    use super::*;
    use sqlparser::dialect::{Dialect, GenericDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
    use sqlparser::tokenizer::Tokenizer;

    const MYSQL: LexRules = LexRules::ANSI
        .dash_comment(DashComment::BeforeBlank)
        .hash_comments(true)
        .block_comment(BlockComment::Flat)
        .backslash_escapes(true)
        .double_quotes(DoubleQuotes::String)
        .backticks(true);

    fn compare(text: &str, rules: LexRules, dialect: &dyn Dialect) -> Result<Vec<Token>, Finding> {
        let lexemes = lex(text, &rules).unwrap();
        let tokens = Tokenizer::new(dialect, text).tokenize_with_location().unwrap();
        let tokens = agree(text, &Places::new(text), &rules, &lexemes, tokens)?;
        Ok(tokens.into_iter().map(|t| t.token).filter(|t| !matches!(t, Token::Whitespace(_))).collect())
    }

    #[test]
    fn the_same_view_passes() {
        let mysql = MySqlDialect {};
        for text in [
            r#"SELECT 'it\'s', "c;d", `a``b`, N'x', x'41', 0x41, b'1', _utf8mb4'ä' -- c"#,
            "SELECT 1 /* a */ # b",
            "SELECT '列' /* ü */ , 'b' -- é\n, 'c'",
        ] {
            assert!(compare(text, MYSQL, &mysql).is_ok(), "{text}");
        }
        let postgres =
            LexRules::ANSI.block_comment(BlockComment::Nested).escape_strings(true).dollar_quotes(true);
        for text in [r"SELECT E'it\'s', $a$ ; $b$ $a$, U&'d', B'1' /* /* */ */", "SELECT 1 AS a$b"] {
            assert!(compare(text, postgres, &PostgreSqlDialect {}).is_ok(), "{text}");
        }
    }

    #[test]
    fn different_views_are_refused() {
        let no_backslash = MYSQL.backslash_escapes(false);
        let mysql = MySqlDialect {};
        // Both lexers accept the text, with different ends of the first string.
        let text = r"SELECT 'a\', 'b', 'c\'";
        let found = compare(text, no_backslash, &SQLiteDialect {});
        assert!(found.is_ok());
        let lexemes = lex(text, &no_backslash).unwrap();
        let theirs = Tokenizer::new(&mysql, r"SELECT 'a\', 'b', 'c\''").tokenize_with_location();
        assert!(theirs.is_ok());
        let text = r"SELECT 'a\', 'b' -- '";
        let tokens = Tokenizer::new(&mysql, text).tokenize_with_location().unwrap();
        let ours = lex(text, &no_backslash).unwrap();
        assert_ne!(lexemes, ours);
        let finding = agree(text, &Places::new(text), &no_backslash, &ours, tokens).unwrap_err();
        assert_eq!(finding.rule, Rule::EngineDisagrees);
        assert_eq!(finding.span.unwrap().start, 7);
        // `--1` is a comment for one and two minus signs for the other.
        assert!(compare("SELECT 1--1", MYSQL, &GenericDialect {}).is_err());
        assert!(compare("SELECT 1--1", LexRules::ANSI, &mysql).is_err());
        assert!(compare("SELECT 1 # 1", LexRules::ANSI, &mysql).is_err());
        let brackets = LexRules::ANSI.brackets(Brackets::Identifier);
        assert!(compare("SELECT [a] , [b]", brackets, &SQLiteDialect {}).is_ok());
        assert!(compare("SELECT [a]] , 'x' , [b]", brackets, &SQLiteDialect {}).is_err());
    }

    #[test]
    fn an_operator_is_one_token_where_anybody_can_define_one() {
        let rules = LexRules::ANSI.custom_operators(true);
        for (text, same) in [
            ("SELECT a <-> b", true),
            ("SELECT a<-1", true),
            ("SELECT 1*-1, a=-1, - - 1", true),
            ("SELECT a || -1, a @> b", true),
            ("SELECT a||-1", true),
            ("SELECT a @@@ b", false),
            ("SELECT 1+-+1", false),
            ("SELECT a !-b", false),
        ] {
            let lexemes = lex(text, &rules).unwrap();
            let tokens = Tokenizer::new(&PostgreSqlDialect {}, text).tokenize_with_location().unwrap();
            let places = Places::new(text);
            assert_eq!(operators(text, &places, &lexemes, &tokens).is_ok(), same, "{text}");
        }
    }

    #[test]
    fn quotes_mean_what_the_rules_say() {
        let ansi = MYSQL.double_quotes(DoubleQuotes::Identifier);
        let tokens = compare("SELECT \"a\"\"b\"", ansi, &MySqlDialect {}).unwrap();
        let Token::Word(word) = &tokens[1] else { panic!("{tokens:?}") };
        assert_eq!((word.value.as_str(), word.quote_style), ("a\"b", Some('"')));
        let strings = LexRules::ANSI.double_quotes(DoubleQuotes::String);
        let tokens = compare("SELECT \"a\"", strings, &GenericDialect {}).unwrap();
        assert_eq!(tokens[1], Token::DoubleQuotedString("a".into()));
    }
}
