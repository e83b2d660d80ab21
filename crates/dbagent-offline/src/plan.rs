//! A query as a tree. Statements are printed from it alone: names are identifiers, values are parameters,
//! so nothing that a question or a cell says becomes query text.

use dbagent_core::name::ObjectName;

/// The name of a column or an alias; printed in the dialect's quotes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ident(pub(crate) String);

impl Ident {
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }
}

/// A value; always a parameter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Int(i64),
    Real(f64),
    /// A calendar date for a column of a date type.
    Date(String),
}

/// A query.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Select {
    pub(crate) distinct: bool,
    pub(crate) items: Vec<Item>,
    pub(crate) from: Option<Source>,
    pub(crate) joins: Vec<Join>,
    pub(crate) filter: Vec<Pred>,
    pub(crate) group: Vec<Expr>,
    pub(crate) having: Vec<Pred>,
    pub(crate) order: Vec<Order>,
    pub(crate) limit: Option<u64>,
    pub(crate) offset: Option<u64>,
}

/// A column of the result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Item {
    pub(crate) expr: Expr,
    pub(crate) alias: Option<Ident>,
}

/// Where rows come from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Source {
    Table {
        name: ObjectName,
        alias: Ident,
    },
    Query {
        query: Box<Select>,
        alias: Ident,
    },
    /// Several queries one after the other, duplicates kept.
    Union {
        queries: Vec<Select>,
        alias: Ident,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Join {
    pub(crate) left: bool,
    pub(crate) source: Source,
    pub(crate) on: Vec<(Expr, Expr)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Order {
    pub(crate) expr: Expr,
    pub(crate) descending: bool,
}

/// A function over the rows of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Agg {
    Count,
    Sum,
    Avg,
    Min,
    Max,
}

/// A part of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    Year,
    Quarter,
    /// Year and month together, `2011-05`.
    YearMonth,
    Month,
    Day,
    Weekday,
}

/// How a column keeps its dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stored {
    /// A date type of the engine.
    Native,
    /// Text that begins `YYYY-MM-DD`.
    Text,
    /// Seconds since 1970.
    Epoch,
    /// The year as a number.
    Year,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expr {
    Column {
        of: Ident,
        name: Ident,
    },
    Alias(Ident),
    Value(Value),
    /// A constant that the planner itself chose.
    Constant(u32),
    /// 100, with a fraction, so that a division keeps its own.
    Hundred,
    CountAll,
    Agg {
        f: Agg,
        distinct: bool,
        arg: Box<Expr>,
    },
    Product(Vec<Expr>),
    Minus(Box<Expr>, Box<Expr>),
    Divide(Box<Expr>, Box<Expr>),
    Part {
        part: Part,
        of: Box<Expr>,
        stored: Stored,
    },
    /// The expression where all hold, else nothing.
    When {
        all: Vec<Pred>,
        then: Box<Expr>,
    },
    Coalesce(Box<Expr>, Box<Expr>),
    Lower(Box<Expr>),
    /// Texts one after the other with a space between.
    Spaced(Vec<Expr>),
    /// The place of a row when all are ordered so; rows that are equal share one.
    Rank {
        within: Vec<Expr>,
        by: Vec<Order>,
    },
    Query(Box<Select>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Op {
    pub(crate) fn negated(self) -> Self {
        match self {
            Self::Eq => Self::Ne,
            Self::Ne => Self::Eq,
            Self::Lt => Self::Ge,
            Self::Le => Self::Gt,
            Self::Gt => Self::Le,
            Self::Ge => Self::Lt,
        }
    }

    /// The same comparison with its sides exchanged.
    pub(crate) fn mirrored(self) -> Self {
        match self {
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            same => same,
        }
    }

    pub(crate) fn spoken(self) -> &'static str {
        match self {
            Self::Eq => "=",
            Self::Ne => "is not",
            Self::Lt => "<",
            Self::Le => "≤",
            Self::Gt => ">",
            Self::Ge => "≥",
        }
    }
}

/// Where a text stands in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Start,
    End,
    Anywhere,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Pred {
    Compare(Expr, Op, Expr),
    In { expr: Expr, values: Vec<Value>, negated: bool },
    InQuery { expr: Expr, query: Box<Select>, negated: bool },
    Exists { query: Box<Select>, negated: bool },
    Like { expr: Expr, text: String, place: Place, negated: bool },
    Null { expr: Expr, negated: bool },
    Not(Box<Pred>),
    All(Vec<Pred>),
    Any(Vec<Pred>),
}

impl Pred {
    /// Several as one.
    pub(crate) fn all(mut preds: Vec<Pred>) -> Pred {
        match preds.len() {
            1 => preds.pop().unwrap_or(Pred::All(Vec::new())),
            _ => Pred::All(preds),
        }
    }
}
