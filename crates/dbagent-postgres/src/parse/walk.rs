//! The state of a walk over one statement, and what it adds to the result.

use std::collections::HashSet;

use dbagent_core::guard::{ColumnUse, Finding, FunctionUse, ObjectUse, Parsed, Rule, Span, StatementClass};
use dbagent_core::{Effects, ObjectName};
use pg_query::protobuf::a_const;
use pg_query::{Node, NodeEnum};

use super::inner;
use super::scope::{Env, Scopes};
use super::secrets;
use super::tokens::Tokens;
use crate::functions::{self, Called, Qualified};

/// How many (column, candidate) pairs are told apart before a statement counts as too complex.
const MAX_CANDIDATES: usize = 1 << 20;
/// How many objections are kept: one decides, the others are for whoever debugs.
const MAX_FINDINGS: usize = 16;
/// How deep selects may be nested in each other.
const MAX_SELECT_DEPTH: usize = 500;

/// Walks a tree and gathers what it uses.
pub(super) struct Walk<'t> {
    tokens: &'t Tokens,
    pub(super) parsed: Parsed,
    pub(super) scopes: Scopes,
    /// The class of the first part of the statement that is no read.
    pub(super) written: Option<StatementClass>,
    seen: HashSet<(String, Option<usize>)>,
    candidates: usize,
    depth: usize,
}

/// The text of a node that is a string.
pub(super) fn string(node: &Node) -> Option<&str> {
    match node.node.as_ref() {
        Some(NodeEnum::String(text)) => Some(&text.sval),
        _ => None,
    }
}

impl<'t> Walk<'t> {
    pub(super) fn new(tokens: &'t Tokens) -> Self {
        let mut parsed = Parsed::new(StatementClass::Unknown, Effects::NONE);
        parsed.overloads = true;
        Self {
            tokens,
            parsed,
            scopes: Scopes::default(),
            written: None,
            seen: HashSet::new(),
            candidates: 0,
            depth: 0,
        }
    }

    /// The result, its parts in the order of the text.
    pub(super) fn finish(mut self) -> Parsed {
        if let (StatementClass::Read, Some(written)) = (self.parsed.class, self.written) {
            // A read that holds a write, in a common table expression, is that write.
            self.parsed.class = written;
        }
        self.samples();
        let place = |span: Option<Span>| span.map_or(usize::MAX, |s| s.start);
        let mut order: Vec<usize> = (0..self.parsed.objects.len()).collect();
        order.sort_by_key(|i| place(self.parsed.objects.get(*i).and_then(|o| o.span)));
        let mut moved = vec![0; order.len()];
        for (new, old) in order.iter().enumerate() {
            if let Some(slot) = moved.get_mut(*old) {
                *slot = new;
            }
        }
        self.parsed.objects.sort_by_key(|o| place(o.span));
        let objects = self.parsed.objects.iter().enumerate();
        self.parsed.tell_all =
            objects.filter(|(_, o)| secrets::tells_all(&o.name)).map(|(index, _)| index).collect();
        for column in &mut self.parsed.columns {
            for candidate in &mut column.candidates {
                *candidate = moved.get(*candidate).copied().unwrap_or(*candidate);
            }
            column.candidates.sort_unstable();
            column.candidates.dedup();
        }
        self.parsed.columns.sort_by_key(|c| place(c.span));
        self.parsed.functions.sort_by_key(|f| place(f.span));
        self.parsed
    }

    /// Objects to columns of the catalogue that show samples of the data, or the statements of others.
    fn samples(&mut self) {
        let mut found = Vec::new();
        for (index, object) in self.parsed.objects.iter().enumerate() {
            let (secret, what) = secrets::telling_columns(&object.name);
            let shown = self.parsed.columns.iter().find(|c| {
                let hit = c.column.as_deref().is_none_or(|c| secret.contains(&c));
                hit && !secret.is_empty() && c.candidates.contains(&index)
            });
            if let Some(shown) = shown {
                let why = format!("{} shows {what}", object.name);
                found.push(
                    Finding::new(Rule::SecretCatalogue, why, shown.span.or(object.span))
                        .choice("secret_catalog")
                        .advice("Name the columns you need, without that one."),
                );
            }
        }
        for finding in found {
            self.find(finding);
        }
    }

    /// The place of `parts` names that start at this byte.
    pub(super) fn span(&self, location: i32, parts: usize) -> Option<Span> {
        self.tokens.span(location, parts)
    }

    pub(super) fn effect(&mut self, effects: Effects) {
        self.parsed.effects |= effects;
    }

    pub(super) fn find(&mut self, finding: Finding) {
        if self.parsed.findings.len() < MAX_FINDINGS {
            self.parsed.findings.push(finding);
        }
    }

    /// Objects to a construct that nobody has judged.
    pub(super) fn unknown(&mut self, what: &str, span: Option<Span>) {
        self.effect(Effects::UNKNOWN);
        self.parsed.columns_known = false;
        let why = format!("{what} is nothing that the guard can judge");
        self.find(Finding::new(Rule::UnknownSyntax, why, span));
    }

    /// Notes that a part of the statement is no read.
    pub(super) fn note(&mut self, class: StatementClass, effects: Effects) {
        self.effect(effects);
        if class != StatementClass::Read {
            self.written.get_or_insert(class);
        }
    }

    /// Adds a use of an object and returns its index.
    pub(super) fn object(&mut self, name: ObjectName, written: bool, span: Option<Span>) -> usize {
        if let Some(why) = secrets::why(&name) {
            self.find(
                Finding::new(Rule::SecretCatalogue, format!("{} {why}", name.name), span)
                    .choice("secret_catalog"),
            );
        }
        self.parsed.objects.push(ObjectUse { name, written, span });
        self.parsed.objects.len() - 1
    }

    /// Adds a use of a column of one of these objects; `None` is every column.
    pub(super) fn column(&mut self, candidates: Vec<usize>, column: Option<&str>, span: Option<Span>) {
        self.candidates += candidates.len();
        if self.candidates > MAX_CANDIDATES {
            if self.parsed.columns_known {
                self.too_complex("too many columns could belong to too many tables");
            }
            self.parsed.columns_known = false;
            return;
        }
        self.parsed.columns.push(ColumnUse { candidates, column: column.map(str::to_owned), span });
    }

    /// Refuses what is nested or branched beyond reason.
    pub(super) fn too_complex(&mut self, why: &str) {
        self.find(Finding::new(Rule::TooComplex, why, None));
        self.effect(Effects::UNKNOWN);
    }

    /// Enters a select; `false` when selects are nested too deep to go on.
    pub(super) fn enter(&mut self) -> bool {
        if self.depth >= MAX_SELECT_DEPTH {
            self.too_complex(&format!("selects are nested deeper than {MAX_SELECT_DEPTH} levels"));
            return false;
        }
        self.depth += 1;
        true
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Adds a use of code, each name and number of arguments once.
    pub(super) fn called(
        &mut self,
        called: &Called,
        arguments: Option<usize>,
        effects: Effects,
        span: Option<Span>,
    ) {
        let name = called.to_string();
        if self.seen.insert((name.clone(), arguments)) {
            self.parsed.functions.push(FunctionUse { name, arguments, effects, span });
        }
    }

    /// Adds a use of a function that the grammar itself spells out. An older server may read the same text
    /// as a call, which is why the catalogue is asked for it too.
    pub(super) fn syntax(&mut self, name: &str, span: Option<Span>) {
        let function = Called::Function(Qualified::bare(name));
        self.untyped(&function, Called::ANY);
        self.called(&function, None, Effects::READ, span);
    }

    /// Adds a use of an operator by the list of names that the grammar gives. `untyped` says which of its
    /// operands have no type of their own.
    pub(super) fn operator(&mut self, names: &[Node], untyped: i64, span: Option<Span>) {
        match qualified(names) {
            Some(name) => self.operator_named(name, untyped, span),
            None => self.unknown("the name of this operator", span),
        }
    }

    /// Adds a use of an operator.
    pub(super) fn operator_named(&mut self, name: Qualified, untyped: i64, span: Option<Span>) {
        let effects = if functions::is_operator(&name) { Effects::READ } else { Effects::UNKNOWN };
        let operator = Called::Operator(name);
        self.untyped(&operator, untyped);
        self.called(&operator, None, effects, span);
    }

    /// Whether an expression has no type of its own: a constant in quotes, NULL, a parameter; or a row, which
    /// becomes one of any type of rows. Whatever else is made of such constants alone is a text.
    pub(super) fn is_untyped(&self, mut node: &Node, env: Env) -> bool {
        loop {
            match inner(node) {
                Some(NodeEnum::AConst(constant)) => {
                    return constant.isnull || matches!(constant.val, None | Some(a_const::Val::Sval(_)));
                }
                Some(NodeEnum::ParamRef(_) | NodeEnum::RowExpr(_)) => return true,
                // A cast to `unknown` leaves a constant as it was.
                Some(NodeEnum::TypeCast(cast)) => {
                    let name = cast.type_name.as_ref().and_then(|t| t.names.last()).and_then(string);
                    return name == Some("unknown");
                }
                Some(NodeEnum::ColumnRef(column)) => {
                    return match column.fields.as_slice() {
                        [only] => {
                            string(only).is_none_or(|name| self.scopes.named(env.scope, name).is_some())
                        }
                        [.., last] => string(last).is_none(),
                        [] => true,
                    };
                }
                Some(NodeEnum::CollateClause(collate)) => match collate.arg.as_deref() {
                    Some(arg) => node = arg,
                    None => return true,
                },
                _ => return false,
            }
        }
    }

    /// Notes that something is called with values that have no type of their own.
    pub(super) fn untyped(&mut self, called: &Called, arguments: i64) {
        if arguments != 0 {
            let untyped = Called::Untyped(arguments, Box::new(called.clone()));
            self.called(&untyped, None, Effects::READ, None);
        }
    }
}

/// A name of one, two or three parts; a database in front must be the one that is connected to, so that it
/// says nothing.
pub(super) fn qualified(names: &[Node]) -> Option<Qualified> {
    match names {
        [name] => Some(Qualified::bare(string(name)?)),
        [schema, name] | [_, schema, name] => Some(Qualified::within(string(schema)?, string(name)?)),
        _ => None,
    }
}
