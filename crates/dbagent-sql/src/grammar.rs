//! The grammar of a dialect: sqlparser's dialect and the answers that it does not give.

use dbagent_core::guard::{Finding, Parsed, Rule, Span, StatementClass};
use dbagent_core::request::RequestBody;
use dbagent_core::{Effects, Error, ErrorKind, ObjectName, ParseContext, Request, Result, Settings};
use sqlparser::ast::{Expr, Statement};
use sqlparser::dialect::Dialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};

use crate::functions::{FunctionTable, Known};
use crate::lex::{LexFault, LexKind, LexRules, agree, lex};
use crate::limits::{self, MAX_RECURSION};
use crate::options::{ExplainAnalyze, Folding, Opening, Recursion, ShowNames};
use crate::place::Places;
use crate::pragma;
use crate::stray;
use crate::walk::{self, Under};
use crate::words::Words;

/// Looks at the first words of a statement that sqlparser may not know.
pub type OpeningFn = fn(&Words<'_>, &Settings) -> Option<Opening>;
/// Chooses one of sqlparser's dialects by the settings of the session.
pub type DialectFn = fn(&Settings) -> &'static (dyn Dialect + Send + Sync);
/// Looks at all tokens, blanks and comments among them, before sqlparser's parser does. What is written in a
/// way that the parser does not know may be put in other words that do the same; the statement itself runs as
/// it was written.
pub type BridgeFn = fn(Vec<TokenWithSpan>, &Settings) -> std::result::Result<Vec<TokenWithSpan>, Finding>;
/// Adds to what the walk found.
pub type AfterFn = fn(&Statement, &Settings, &mut Parsed);

/// The grammar of a dialect, written as a `const`.
///
/// Defaults are those of an engine about which nothing is known: what could be a write, a secret or a change
/// of the session is refused until the dialect says otherwise.
///
/// ```
/// use dbagent_sql::{FunctionTable, SqlGrammar, functions::STANDARD, lex::LexRules};
/// use dbagent_sql::sqlparser::dialect::AnsiDialect;
/// const GRAMMAR: SqlGrammar = SqlGrammar::new(&AnsiDialect {}, &STANDARD).rules(|_| LexRules::ANSI);
/// ```
#[derive(Clone, Copy)]
pub struct SqlGrammar {
    dialect: &'static (dyn Dialect + Send + Sync),
    dialect_by: Option<DialectFn>,
    functions: &'static FunctionTable,
    bare_functions: &'static [&'static str],
    rules: fn(&Settings) -> LexRules,
    folding: Folding,
    recursion: Recursion,
    explain_analyze: ExplainAnalyze,
    show: ShowNames,
    whole_rows: bool,
    implicit_lateral: bool,
    sequence_columns: bool,
    at_parameters: bool,
    name_parts: usize,
    builtin_spaces: &'static [&'static str],
    secrets: &'static [&'static str],
    types: &'static [&'static str],
    pragmas: &'static [&'static str],
    statement_words: &'static [&'static str],
    opening: Option<OpeningFn>,
    bridge: Option<BridgeFn>,
    after: Option<AfterFn>,
}

impl SqlGrammar {
    /// A grammar over one of sqlparser's dialects, with the functions that the engine has.
    pub const fn new(
        dialect: &'static (dyn Dialect + Send + Sync),
        functions: &'static FunctionTable,
    ) -> Self {
        Self {
            dialect,
            dialect_by: None,
            functions,
            bare_functions: &[],
            rules: |_| LexRules::ANSI,
            folding: Folding::Sensitive,
            recursion: Recursion::Keyword,
            explain_analyze: ExplainAnalyze::Allow,
            show: ShowNames::Refuse,
            whole_rows: true,
            implicit_lateral: true,
            sequence_columns: true,
            at_parameters: false,
            name_parts: 2,
            builtin_spaces: &[],
            secrets: &[],
            types: &[],
            pragmas: &[],
            statement_words: &[],
            opening: None,
            bridge: None,
            after: None,
        }
    }

    /// Sets how the engine cuts text under a session's settings (`sql_mode` …); [`LexRules::ANSI`] without.
    pub const fn rules(mut self, rules: fn(&Settings) -> LexRules) -> Self {
        self.rules = rules;
        self
    }

    /// Sets what chooses sqlparser's dialect by the settings of the session; the one given to
    /// [`SqlGrammar::new`] without. All of them must be of one kind.
    pub const fn dialect_by(mut self, choose: DialectFn) -> Self {
        self.dialect_by = Some(choose);
        self
    }

    /// Sets the functions, in lower case, that are the engine's own only where their name is written without
    /// quotes: in quotes it is another function, of whoever made it.
    pub const fn bare_functions(mut self, names: &'static [&'static str]) -> Self {
        self.bare_functions = names;
        self
    }

    /// Sets how names of tables and common table expressions compare; case-sensitive without.
    pub const fn folding(mut self, folding: Folding) -> Self {
        self.folding = folding;
        self
    }

    /// Sets when a common table expression sees itself.
    pub const fn recursion(mut self, recursion: Recursion) -> Self {
        self.recursion = recursion;
        self
    }

    /// Sets what EXPLAIN ANALYZE of a read is.
    pub const fn explain_analyze(mut self, rule: ExplainAnalyze) -> Self {
        self.explain_analyze = rule;
        self
    }

    /// Sets what `SHOW name` is.
    pub const fn show(mut self, rule: ShowNames) -> Self {
        self.show = rule;
        self
    }

    /// Whether the bare name of a table in an expression reads whole rows of it, as in PostgreSQL and DuckDB;
    /// yes without.
    pub const fn whole_rows(mut self, yes: bool) -> Self {
        self.whole_rows = yes;
        self
    }

    /// Whether a derived table sees its left neighbours without LATERAL, as in DuckDB; yes without.
    pub const fn implicit_lateral(mut self, yes: bool) -> Self {
        self.implicit_lateral = yes;
        self
    }

    /// Whether `s.nextval` takes a number from a sequence, as in Oracle; yes without.
    pub const fn sequence_columns(mut self, yes: bool) -> Self {
        self.sequence_columns = yes;
        self
    }

    /// Whether `@name` is a parameter, as in SQL Server, and no variable of the session.
    pub const fn at_parameters(mut self, yes: bool) -> Self {
        self.at_parameters = yes;
        self
    }

    /// Sets how many parts the name of an object may have; 2 without. The first parts of a longer name become
    /// one namespace, joined by dots, and policies must be written so.
    pub const fn name_parts(mut self, most: usize) -> Self {
        self.name_parts = most;
        self
    }

    /// Sets the namespaces whose functions are the engine's own, such as `pg_catalog`.
    pub const fn builtin_namespaces(mut self, spaces: &'static [&'static str]) -> Self {
        self.builtin_spaces = spaces;
        self
    }

    /// Sets the objects that hold secrets, as `namespace.name`, `name`, or either with `*` at its end. Reading
    /// them is refused unless the policy allows the choice `secret_catalog`.
    pub const fn secret_objects(mut self, secrets: &'static [&'static str]) -> Self {
        self.secrets = secrets;
        self
    }

    /// Sets the engine's own types that sqlparser does not know, in lower case. A cast to any other type is
    /// an unknown function of that name.
    pub const fn types(mut self, types: &'static [&'static str]) -> Self {
        self.types = types;
        self
    }

    /// Sets the pragmas, in lower case, that only read, both bare and with an argument in parentheses.
    pub const fn pragmas(mut self, pragmas: &'static [&'static str]) -> Self {
        self.pragmas = pragmas;
        self
    }

    /// Sets the words that begin a statement even where no semicolon ends the one before, in lower case:
    /// [`TSQL_STATEMENTS`](crate::TSQL_STATEMENTS) for SQL Server. Where sqlparser took one of them for a bare
    /// alias, the statement is refused. Words of writes (DELETE, DROP …) always count.
    pub const fn statement_words(mut self, words: &'static [&'static str]) -> Self {
        self.statement_words = words;
        self
    }

    /// Sets what looks at a statement's first words before sqlparser does.
    pub const fn opening(mut self, opening: OpeningFn) -> Self {
        self.opening = Some(opening);
        self
    }

    /// Sets what looks at all tokens of a statement before the parser does.
    pub const fn bridge(mut self, bridge: BridgeFn) -> Self {
        self.bridge = Some(bridge);
        self
    }

    /// Sets what looks at a statement after the walk, to add effects and objections.
    pub const fn after(mut self, after: AfterFn) -> Self {
        self.after = Some(after);
        self
    }

    /// Reads a request: fits [`ParseFn`](dbagent_core::dialect::ParseFn) behind a plain function.
    ///
    /// What is too large, too deep, empty or more than one statement gives a value with that objection.
    /// Recursion is bounded for a stack of [`PARSE_STACK_BYTES`](dbagent_core::session::PARSE_STACK_BYTES);
    /// sessions parse on such a stack.
    ///
    /// # Errors
    /// [`ErrorKind::Syntax`] with the place, where the text is no SQL of this dialect;
    /// [`ErrorKind::InvalidRequest`] for a request that is no text.
    pub fn parse(&self, request: &Request, context: &ParseContext) -> Result<Parsed> {
        let RequestBody::Text(text) = &request.body else {
            return Err(
                Error::new(ErrorKind::InvalidRequest, "a SQL statement is text, not JSON").op("parse")
            );
        };
        match self.read(text, context) {
            Ok(parsed) => Ok(parsed),
            Err(Stop::Refused(finding)) => {
                let mut parsed = Parsed::new(StatementClass::Unknown, Effects::UNKNOWN);
                parsed.columns_known = false;
                parsed.findings.push(*finding);
                Ok(parsed)
            }
            Err(Stop::Syntax(error)) => Err(error.op("parse")),
        }
    }

    fn read(&self, text: &str, context: &ParseContext) -> std::result::Result<Parsed, Stop> {
        let limits = context.limits();
        let settings = context.settings();
        if text.len() > limits.bytes {
            let what = format!("the statement has {} bytes, at most {} are read", text.len(), limits.bytes);
            return Err(Finding::new(Rule::TooLarge, what, None).into());
        }
        if let Some(at) = text.find('\0') {
            let span = Some(Span::new(at, at + 1));
            return Err(Finding::new(Rule::NotText, "the statement holds a NUL character", span).into());
        }
        let rules = (self.rules)(settings);
        let lexemes = lex(text, &rules)?;
        if lexemes.iter().all(|l| l.kind == LexKind::Comment) {
            return Err(Finding::new(Rule::Empty, "the statement is empty", None).into());
        }
        let places = Places::new(text);
        let dialect = self.dialect_by.map_or(self.dialect, |choose| choose(settings));
        let tokens = Tokenizer::new(dialect, text)
            .tokenize_with_location()
            // Our lexer read the text to its end: the engine may too.
            .map_err(|e| {
                syntax(&e.message, places.byte(e.location))
                    .hint("Write strings with doubled quotes and without backslashes.")
            })?;
        let count = tokens.iter().filter(|t| !matches!(t.token, Token::Whitespace(_))).count();
        if count > limits.tokens {
            let what = format!("the statement has {count} tokens, at most {} are read", limits.tokens);
            return Err(Finding::new(Rule::TooManyTokens, what, None).into());
        }
        let tokens = agree(text, &places, &rules, &lexemes, tokens)?;
        limits::check(&tokens, &places).map_err(Stop::Refused)?;

        let words = Words::new(&tokens, &places);
        if words.ends(0) {
            return Err(Finding::new(Rule::Empty, "the statement is empty", None).into());
        }
        if let Some(parsed) = pragma::read(&words, self.pragmas) {
            return Ok(parsed);
        }
        let title = words.title();
        let opening = self.opening.and_then(|opening| opening(&words, settings));
        let under = Under { grammar: self, settings, text, places: &places, title: &title };
        let (skip, body) = match opening {
            Some(Opening::Whole(parsed)) => return Ok(*parsed),
            Some(Opening::Explain { skip, executes }) => (skip, Body::Explained(executes)),
            Some(Opening::Filter { skip, parsed }) => (skip, Body::Filter(parsed)),
            None => (0, Body::Statement),
        };
        let stray = stray::find(&words, self.statement_words);
        let tokens = match self.bridge {
            Some(bridge) => bridge(tokens, settings)?,
            None => tokens,
        };
        let mut left = skip;
        let rest = tokens
            .into_iter()
            .skip_while(|t| {
                let skipped = left > 0;
                left = left.saturating_sub(usize::from(!matches!(t.token, Token::Whitespace(_))));
                skipped
            })
            .collect();
        let mut parsed = match (tree(dialect, rest, &body, &places)?, body) {
            (Tree::Statement(statement), Body::Explained(executes)) => {
                walk::explained(&under, &statement, executes)
            }
            (Tree::Statement(statement), _) => walk::statement(&under, &statement),
            (Tree::Expression(expr), Body::Filter(parsed)) => walk::filter(&under, &expr, *parsed),
            // Only a filter is read as an expression.
            (Tree::Expression(expr), _) => {
                walk::filter(&under, &expr, Parsed::new(StatementClass::Unknown, Effects::UNKNOWN))
            }
        };
        if let Some(finding) = stray
            && parsed.effects.is_pure_read()
        {
            parsed.effects |= Effects::UNKNOWN;
            parsed.findings.push(finding);
        }
        Ok(parsed)
    }
}

/// Parses the tokens to their end.
fn tree(
    dialect: &'static (dyn Dialect + Send + Sync),
    tokens: Vec<TokenWithSpan>,
    body: &Body,
    places: &Places<'_>,
) -> std::result::Result<Tree, Stop> {
    let mut parser =
        Parser::new(dialect).with_recursion_limit(MAX_RECURSION).with_tokens_with_locations(tokens);
    let result = match body {
        Body::Filter(_) => parser.parse_expr().map(|e| Tree::Expression(Box::new(e))),
        // `TABLE name` is a query that sqlparser knows only within others.
        Body::Statement | Body::Explained(_) if parser.peek_keyword(Keyword::TABLE) => {
            parser.parse_query().map(|query| Tree::Statement(Box::new(Statement::Query(query))))
        }
        Body::Statement | Body::Explained(_) => {
            parser.parse_statement().map(|s| Tree::Statement(Box::new(s)))
        }
    };
    let tree = match result {
        Ok(tree) => tree,
        Err(ParserError::RecursionLimitExceeded) => {
            let place = places.span(parser.get_current_token().span);
            return Err(Finding::new(Rule::TooComplex, "the statement nests too deep", place)
                .advice("Write a simpler statement, or several.")
                .into());
        }
        Err(ParserError::TokenizerError(message) | ParserError::ParserError(message)) => {
            let (message, at) = place_in(&message, places);
            // Without a place in the message: the parser stopped at what it did not expect, which has none
            // only at the end of the text.
            let at = at.or_else(|| places.byte(parser.get_current_token().span.start));
            return Err(syntax(message, Some(at.unwrap_or(places.len()))).into());
        }
    };
    let mut ended = false;
    while parser.consume_token(&Token::SemiColon) {
        ended = true;
    }
    let next = parser.peek_token_ref();
    match (&next.token, ended) {
        (Token::EOF, _) => Ok(tree),
        (_, true) => Err(Finding::new(
            Rule::SeveralStatements,
            "the text holds more than one statement",
            places.span(next.span),
        )
        .into()),
        (token, false) => {
            let found = walk::clip(&token.to_string());
            let message = format!("Expected: end of statement, found: {found}");
            Err(syntax(&message, places.byte(next.span.start)).into())
        }
    }
}

/// How a text is read.
enum Body {
    Statement,
    Explained(bool),
    Filter(Box<Parsed>),
}

/// What sqlparser made of it.
enum Tree {
    Statement(Box<Statement>),
    Expression(Box<Expr>),
}

/// Why a text was not read to its end.
enum Stop {
    Refused(Box<Finding>),
    Syntax(Error),
}

impl From<Finding> for Stop {
    fn from(finding: Finding) -> Self {
        Self::Refused(Box::new(finding))
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Syntax(error)
    }
}

impl From<LexFault> for Stop {
    fn from(fault: LexFault) -> Self {
        match fault {
            LexFault::Syntax(error) => Self::Syntax(error),
            LexFault::Refused(finding) => finding.into(),
        }
    }
}

fn syntax(message: &str, at: Option<usize>) -> Error {
    let short: String = message.chars().take(300).collect();
    let error = Error::new(ErrorKind::Syntax, format!("this is not valid here: {short}"));
    match at {
        Some(at) => error.at(at),
        None => error,
    }
}

/// Takes apart a message of sqlparser, which ends with a line and a column; ours is in bytes and apart.
fn place_in<'m>(message: &'m str, places: &Places<'_>) -> (&'m str, Option<usize>) {
    let Some((text, place)) = message.rsplit_once(" at Line: ") else { return (message, None) };
    let at = place
        .split_once(", Column: ")
        .and_then(|(line, column)| places.byte(Location::new(line.parse().ok()?, column.parse().ok()?)));
    (text, at)
}

/// What the walk asks.
impl SqlGrammar {
    pub(crate) const fn how_names_fold(&self) -> Folding {
        self.folding
    }

    pub(crate) const fn recursion_rule(&self) -> Recursion {
        self.recursion
    }

    pub(crate) const fn explain_analyze_rule(&self) -> ExplainAnalyze {
        self.explain_analyze
    }

    pub(crate) const fn show_rule(&self) -> ShowNames {
        self.show
    }

    pub(crate) const fn reads_whole_rows(&self) -> bool {
        self.whole_rows
    }

    pub(crate) const fn is_implicitly_lateral(&self) -> bool {
        self.implicit_lateral
    }

    pub(crate) const fn has_sequence_columns(&self) -> bool {
        self.sequence_columns
    }

    pub(crate) const fn has_at_parameters(&self) -> bool {
        self.at_parameters
    }

    pub(crate) fn has_bare_in(&self) -> bool {
        self.dialect.supports_in_unparenthesized_expr()
    }

    pub(crate) const fn most_name_parts(&self) -> usize {
        self.name_parts
    }

    pub(crate) const fn builtin_spaces(&self) -> &'static [&'static str] {
        self.builtin_spaces
    }

    pub(crate) const fn readable_pragmas(&self) -> &'static [&'static str] {
        self.pragmas
    }

    pub(crate) const fn after_fn(&self) -> Option<AfterFn> {
        self.after
    }

    pub(crate) fn known(&self, function: &str) -> Option<Known> {
        self.functions.get(function)
    }

    /// Whether a function is the engine's own only where its name is not in quotes.
    pub(crate) fn is_bare_function(&self, lower: &str) -> bool {
        self.bare_functions.contains(&lower)
    }

    pub(crate) fn is_type(&self, name: &ObjectName) -> bool {
        self.types.iter().any(|t| t.eq_ignore_ascii_case(&name.name))
    }

    /// The pattern of secrets that a name falls under.
    pub(crate) fn secret(&self, name: &ObjectName) -> Option<&'static str> {
        let full = match &name.namespace {
            Some(space) => format!("{space}.{}", name.name),
            None => name.name.clone(),
        };
        self.secrets.iter().copied().find(|secret| match secret.strip_suffix('*') {
            Some(start) => full.get(..start.len()).is_some_and(|s| s.eq_ignore_ascii_case(start)),
            None => full.eq_ignore_ascii_case(secret),
        })
    }
}

impl std::fmt::Debug for SqlGrammar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqlGrammar")
            .field("dialect", &self.dialect)
            .field("folding", &self.folding)
            .field("recursion", &self.recursion)
            .finish_non_exhaustive()
    }
}
