//! The language as a tree: what the grammar accepts, nothing else.

use std::fmt;

use dbagent_core::json::Json;

/// A field, by the names on the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path(pub(super) Vec<String>);

impl Path {
    pub(super) fn read(text: &str) -> Option<Self> {
        let parts: Vec<String> = text.split('.').map(str::to_owned).collect();
        let good = |part: &String| !part.is_empty() && !part.starts_with('$');
        parts.iter().all(good).then_some(Self(parts))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

#[derive(Debug, Clone)]
pub(super) enum Command {
    Read { collection: String, stages: Vec<Stage> },
    Insert { collection: String, documents: Vec<Json> },
    Update { collection: String, filter: Filter, set: Vec<(String, Json)> },
    Delete { collection: String, filter: Filter },
    Create { collection: String },
    Drop { collection: String },
}

#[derive(Debug, Clone)]
pub(super) enum Stage {
    Match(Filter),
    /// Fields under new names, in order.
    Keep(Vec<(String, Expression)>),
    /// Everything but these fields.
    Leave(Vec<Path>),
    Group {
        key: Option<Expression>,
        fields: Vec<(String, Accumulator, Expression)>,
    },
    Sort(Vec<(Path, Order)>),
    Skip(u64),
    Limit(u64),
    Unwind(Path),
    Count(String),
    Lookup {
        from: String,
        local: Path,
        foreign: Path,
        into: String,
    },
    /// Writes the documents so far into a collection.
    Out(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Up,
    Down,
}

#[derive(Debug, Clone)]
pub(super) enum Filter {
    All(Vec<Filter>),
    Any(Vec<Filter>),
    None(Vec<Filter>),
    Field(Path, Test),
}

#[derive(Debug, Clone)]
pub(super) enum Test {
    Equal(Json),
    NotEqual(Json),
    Greater(Json),
    GreaterOrEqual(Json),
    Less(Json),
    LessOrEqual(Json),
    In(Vec<Json>),
    NotIn(Vec<Json>),
    Exists(bool),
}

#[derive(Debug, Clone)]
pub(super) enum Expression {
    Field(Path),
    Literal(Json),
    /// A function by its name with the dollar sign; whether there is one is the engine's matter.
    Call(String, Vec<Expression>),
}

/// An accumulator by its name with the dollar sign.
pub(super) type Accumulator = String;
