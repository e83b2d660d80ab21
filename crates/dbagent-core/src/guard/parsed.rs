//! What a grammar says of a request.

use serde::{Deserialize, Serialize};

use super::rule::Rule;
use crate::effects::Effects;
use crate::name::ObjectName;

/// A place in the request's text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
}

impl Span {
    /// From `start` up to, not including, `end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }
}

/// What kind of statement it is, in words that every dialect shares.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatementClass {
    /// Returns rows: SELECT, VALUES, find, MATCH … RETURN.
    Read,
    /// Shows a plan of another statement.
    Explain,
    /// Asks the engine about its catalogue or settings.
    Catalogue,
    /// Adds rows.
    Insert,
    /// Changes rows.
    Update,
    /// Removes rows.
    Delete,
    /// Adds, changes or removes rows in one statement.
    Merge,
    /// Changes the schema, accounts or rights.
    Schema,
    /// Changes settings of the session or the server.
    Session,
    /// Begins or ends a transaction.
    Transaction,
    /// Vacuum, analyse, reindex, checkpoints.
    Maintenance,
    /// Attaches, copies, loads or runs something outside the database.
    ServerIo,
    /// Calls a procedure or runs a block of code.
    Procedure,
    /// None of these.
    Unknown,
}

/// An object that a request uses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObjectUse {
    /// Its name as the request writes it, unquoted.
    pub name: ObjectName,
    /// Whether the request changes it.
    pub written: bool,
    /// Where in the text.
    pub span: Option<Span>,
}

/// A column that a request uses.
///
/// The grammar alone cannot always tell whose column a bare name is, so a use has candidates: every object
/// it may belong to. The judge checks it against each candidate that has such a column. No candidate means
/// a column of a derived table, which was checked where that is defined.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColumnUse {
    /// Indexes into [`Parsed::objects`].
    pub candidates: Vec<usize>,
    /// The column; `None` is every column, as by `*`.
    pub column: Option<String>,
    /// Where in the text.
    pub span: Option<Span>,
}

/// A function, operator, cast, aggregate or table function that a request uses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FunctionUse {
    /// Its name as the request writes it, qualified by a dot where it is, unquoted.
    pub name: String,
    /// How many arguments it has, where that is known.
    pub arguments: Option<usize>,
    /// What the engine's own list says it does; [`Effects::UNKNOWN`] when it is not on that list.
    pub effects: Effects,
    /// Where in the text.
    pub span: Option<Span>,
}

/// Which parameters a request has.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ParameterUse {
    /// How many by position.
    pub positional: usize,
    /// Those with names, without the marker, each once.
    pub named: Vec<String>,
}

/// Something that the dialect itself objects to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// A choice that a policy may flip by this name (`secret_catalog`, `size_cap` …); `None` never flips.
    pub choice: Option<String>,
    /// What was found, in one sentence.
    pub message: String,
    /// What to do instead; the rule's own advice when absent.
    pub advice: Option<String>,
    /// Where in the text.
    pub span: Option<Span>,
}

impl Finding {
    /// An objection that no policy flips.
    pub fn new(rule: Rule, message: impl Into<String>, span: Option<Span>) -> Self {
        Self { rule, choice: None, message: message.into(), advice: None, span }
    }

    /// The same objection as a choice of policy.
    pub fn choice(mut self, name: &str) -> Self {
        self.choice = Some(name.to_owned());
        self
    }

    /// The same objection with advice of its own.
    pub fn advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}

/// What a grammar says of one request. The same text and settings always give the same value.
///
/// A dialect fills it by an **exhaustive** walk: what the walk does not know becomes a [`Finding`] or an
/// unknown effect, never nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parsed {
    /// What kind of statement it is; for EXPLAIN, [`StatementClass::Explain`] with the body's effects.
    pub class: StatementClass,
    /// What it does, all parts together, functions left out.
    pub effects: Effects,
    /// Objects, each use once in order of appearance; names of common table expressions are left out.
    pub objects: Vec<ObjectUse>,
    /// Indexes into `objects` of those that tell of all others, such as the engine's own table of
    /// definitions. Where a policy hides anything, only a rule that allows such an object by name opens it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tell_all: Vec<usize>,
    /// Columns.
    pub columns: Vec<ColumnUse>,
    /// Whether `columns` is complete. When not, objects under column rules are refused.
    pub columns_known: bool,
    /// Functions, operators with effects of their own, casts that call functions.
    pub functions: Vec<FunctionUse>,
    /// Whether users may define functions under the names of the engine's own. Then a live catalogue is
    /// asked about known functions too, and what it says is added to what the list says.
    #[serde(default)]
    pub overloads: bool,
    /// Parameters.
    pub parameters: ParameterUse,
    /// What the dialect objects to.
    pub findings: Vec<Finding>,
}

impl Parsed {
    /// A statement of that class with these effects, and nothing in it yet.
    pub fn new(class: StatementClass, effects: Effects) -> Self {
        Self {
            class,
            effects,
            objects: Vec::new(),
            tell_all: Vec::new(),
            columns: Vec::new(),
            columns_known: true,
            functions: Vec::new(),
            overloads: false,
            parameters: ParameterUse::default(),
            findings: Vec::new(),
        }
    }

    /// The names that only a catalogue can tell.
    pub fn needs(&self) -> super::Needs {
        let mut needs = super::Needs::default();
        for object in &self.objects {
            if !needs.objects.contains(&object.name) {
                needs.objects.push(object.name.clone());
            }
        }
        let asked = |f: &&FunctionUse| self.overloads || f.effects.contains(Effects::UNKNOWN);
        for function in self.functions.iter().filter(asked) {
            if !needs.functions.contains(&function.name) {
                needs.functions.push(function.name.clone());
            }
        }
        needs
    }
}
