//! The walk over sqlparser's tree: every part of a statement is looked at, and what is not known is said.
//!
//! No arm here means "nothing": enums are matched without a wildcard and structs are taken apart field by
//! field, so a new variant or clause of sqlparser does not compile until someone has judged it. Beside that,
//! sqlparser's own visitor counts what there is ([`census`]); a part that the walk did not see is refused.

mod census;
mod dml;
mod expr;
mod function;
mod generic;
mod name;
mod operator;
mod query;
mod schema;
mod scope;
mod select;
mod statement;
mod table;
mod types;

use std::collections::HashSet;

use dbagent_core::guard::{ColumnUse, Finding, FunctionUse, ObjectUse, Parsed, Rule, Span, StatementClass};
use dbagent_core::{Effects, ObjectName, Settings};
use sqlparser::ast::{Expr, Statement};

use self::census::Census;
use self::scope::{Read, Scope};
use crate::grammar::SqlGrammar;
use crate::place::Places;

/// Most entries in the candidate lists of all columns together. Beyond that columns count as unknown: a
/// thousand columns of a thousand tables must not fill the memory.
const MAX_CANDIDATES: usize = 100_000;

/// Most parts (queries, tables, expressions) that copies of common table expressions may have. MariaDB makes a
/// copy for every reading but the first, before it looks at any limit of time: thirty expressions that each
/// read the one before twice took all of a server's memory.
const MAX_COPIED: usize = 20_000;

/// How often a common table expression may be read before it is defined, as only those that recurse into each
/// other do. How much that copies is not known there.
const MAX_AHEAD: usize = 2;

/// What one walk works under.
pub(crate) struct Under<'a> {
    pub(crate) grammar: &'a SqlGrammar,
    pub(crate) settings: &'a Settings,
    pub(crate) text: &'a str,
    pub(crate) places: &'a Places<'a>,
    /// The first words, for messages.
    pub(crate) title: &'a str,
}

/// Reads one statement.
pub(crate) fn statement(under: &Under<'_>, statement: &Statement) -> Parsed {
    finish(under, statement, |walk| walk.statement(statement))
}

/// Reads one statement behind an EXPLAIN of the engine's own.
pub(crate) fn explained(under: &Under<'_>, statement: &Statement, executes: bool) -> Parsed {
    finish(under, statement, |walk| {
        let class = walk.statement(statement);
        walk.explained(class, executes)
    })
}

/// Reads a condition behind words of the engine's own, of which `parsed` says everything.
pub(crate) fn filter(under: &Under<'_>, expr: &Expr, parsed: Parsed) -> Parsed {
    let mut walk = Walk::new(under, parsed);
    walk.scope.push_frame();
    walk.expr(expr);
    walk.scope.pop_frame();
    walk.done(Census::of(expr))
}

fn finish(
    under: &Under<'_>,
    statement: &Statement,
    read: impl FnOnce(&mut Walk<'_>) -> StatementClass,
) -> Parsed {
    let mut walk = Walk::new(under, Parsed::new(StatementClass::Unknown, Effects::NONE));
    let class = read(&mut walk);
    walk.parsed.class = match (class, walk.written) {
        // A read that holds a write, in a common table expression, is that write.
        (StatementClass::Read, Some(written)) => written,
        (class, _) => class,
    };
    let mut parsed = walk.done(Census::of(statement));
    if let Some(after) = under.grammar.after_fn() {
        after(statement, under.settings, &mut parsed);
    }
    parsed
}

pub(crate) struct Walk<'a> {
    under: &'a Under<'a>,
    parsed: Parsed,
    scope: Scope,
    census: Census,
    /// The class of the first statement within the statement that is no read.
    written: Option<StatementClass>,
    seen_columns: HashSet<(usize, Option<String>)>,
    seen_functions: HashSet<(String, Option<usize>, Effects)>,
    candidates: usize,
    positional: usize,
    /// How many parts come by common table expressions, wherever one is read.
    expanded: usize,
    /// How many of them are copies: the first to read one needs none.
    copied: usize,
    /// How often one is read that is defined further on.
    ahead: usize,
    /// Whether the next name in FROM is what the statement changes.
    changing: bool,
}

impl<'a> Walk<'a> {
    fn new(under: &'a Under<'a>, parsed: Parsed) -> Self {
        Self {
            under,
            parsed,
            scope: Scope::default(),
            census: Census::default(),
            written: None,
            seen_columns: HashSet::new(),
            seen_functions: HashSet::new(),
            candidates: 0,
            positional: 0,
            expanded: 0,
            copied: 0,
            ahead: 0,
            changing: false,
        }
    }

    /// What was found, where the walk saw every part that there is.
    fn done(mut self, all: Census) -> Parsed {
        if all != self.census {
            self.unknown("a part of the statement", None);
        }
        self.parsed.parameters.positional = self.positional;
        in_order(&mut self.parsed);
        self.parsed
    }
}

impl Walk<'_> {
    fn grammar(&self) -> &SqlGrammar {
        self.under.grammar
    }

    fn effect(&mut self, effects: Effects) {
        self.parsed.effects |= effects;
    }

    fn finding(&mut self, finding: Finding) {
        // One objection a place is enough, and keeps the list short.
        if self.parsed.findings.len() < 16 {
            self.parsed.findings.push(finding);
        }
    }

    /// Objects to a construct that nobody has judged.
    fn unknown(&mut self, what: &str, span: Option<Span>) {
        self.effect(Effects::UNKNOWN);
        self.parsed.columns_known = false;
        self.finding(Finding::new(
            Rule::UnknownSyntax,
            format!("{what} is nothing that the guard can judge"),
            span,
        ));
    }

    /// How many parts the statement has so far, with every common table expression written out.
    fn written_out(&self) -> usize {
        self.census.parts().saturating_add(self.expanded)
    }

    /// Counts what a common table expression adds where it is read.
    fn written_out_by(&mut self, read: Read, name: &sqlparser::ast::ObjectName) {
        self.expanded = self.expanded.saturating_add(read.parts);
        let before = self.copied;
        self.copied = before.saturating_add(read.copied);
        if before <= MAX_COPIED && self.copied > MAX_COPIED {
            let what = format!(
                "common table expressions are read so often that copies of them have more than {MAX_COPIED} parts"
            );
            let finding = Finding::new(Rule::TooComplex, what, self.place_of(name));
            self.finding(finding.advice("Read each common table expression fewer times."));
        }
    }

    /// Counts a reading of a common table expression whose size is not known yet.
    fn ahead(&mut self, name: &sqlparser::ast::ObjectName) {
        self.ahead += 1;
        if self.ahead == MAX_AHEAD + 1 {
            let what = "common table expressions read ones that are defined behind them";
            let finding = Finding::new(Rule::TooComplex, what, self.place_of(name));
            self.finding(finding.advice("Define each common table expression before those that read it."));
        }
    }

    /// Notes an object and returns its index.
    fn object(&mut self, name: ObjectName, written: bool, span: Option<Span>) -> usize {
        if let Some(secret) = self.grammar().secret(&name) {
            self.finding(
                Finding::new(Rule::SecretCatalogue, format!("{} holds secrets", clip(secret)), span)
                    .choice("secret_catalog"),
            );
        }
        self.parsed.objects.push(ObjectUse { name, written, span });
        self.parsed.objects.len() - 1
    }

    /// Notes a column of one of these objects; `None` is every column.
    fn column(&mut self, candidates: Vec<usize>, column: Option<&str>, span: Option<Span>) {
        self.candidates += candidates.len();
        if self.candidates > MAX_CANDIDATES {
            self.parsed.columns_known = false;
            return;
        }
        let column = column.map(str::to_owned);
        self.parsed.columns.push(ColumnUse { candidates, column, span });
    }

    /// Whether columns are still told one by one.
    fn tells_columns(&self) -> bool {
        self.candidates <= MAX_CANDIDATES
    }

    /// The objects of the innermost frame, from its source `first` on.
    fn objects_here(&self, first: usize) -> Vec<usize> {
        if self.tells_columns() { self.scope.since(first) } else { Vec::new() }
    }

    /// Notes a function, each name with its number of arguments and its effects once.
    fn function_use(&mut self, name: &str, arguments: Option<usize>, effects: Effects, span: Option<Span>) {
        if self.seen_functions.insert((name.to_owned(), arguments, effects)) {
            self.parsed.functions.push(FunctionUse { name: name.to_owned(), arguments, effects, span });
        }
    }

    /// Notes a function that the grammar itself spells out, such as EXTRACT or CAST: it only computes.
    fn syntax_function(&mut self, name: &str, arguments: usize) {
        self.function_use(name, Some(arguments), Effects::READ, None);
    }
}

/// Puts objects, columns and functions in the order of the text.
fn in_order(parsed: &mut Parsed) {
    let place = |span: Option<Span>| span.map_or(usize::MAX, |s| s.start);
    let mut order: Vec<usize> = (0..parsed.objects.len()).collect();
    order.sort_by_key(|i| place(parsed.objects.get(*i).and_then(|o| o.span)));
    let mut moved = vec![0; order.len()];
    for (new, old) in order.iter().enumerate() {
        if let Some(slot) = moved.get_mut(*old) {
            *slot = new;
        }
    }
    parsed.objects.sort_by_key(|o| place(o.span));
    for column in &mut parsed.columns {
        for candidate in &mut column.candidates {
            *candidate = moved.get(*candidate).copied().unwrap_or(*candidate);
        }
        column.candidates.sort_unstable();
    }
    parsed.columns.sort_by_key(|c| place(c.span));
    parsed.functions.sort_by_key(|f| place(f.span));
}

/// A name short enough for a message.
pub(crate) fn clip(name: &str) -> String {
    match name.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
        None => name.to_owned(),
    }
}
