//! What a question means in a schema: tables, columns, values and figures instead of words. From here on
//! nothing depends on English any more.

mod finish;
mod head;
mod item;
mod lent;
mod measure;
mod noun;
mod pick;
mod resolve;
mod selfref;
mod sensible;
mod subject;
mod total;

use std::collections::{BTreeMap, BTreeSet};

pub(crate) use measure::spoken as spoken_measure;
pub(crate) use resolve::resolve;

use crate::intent::Day;
use crate::plan::{Agg, Op, Part, Place, Stored, Value};
use crate::schema::{ColumnId, TableId};

/// Why a question is not answered, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unsure {
    pub(crate) reason: String,
    /// Tables that may be meant.
    pub(crate) tables: BTreeSet<TableId>,
}

impl Unsure {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), tables: BTreeSet::new() }
    }

    pub(crate) fn with(mut self, tables: impl IntoIterator<Item = TableId>) -> Self {
        self.tables.extend(tables);
        self
    }
}

/// Why resolving stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    Unsure(Unsure),
    /// Some values of a column must be seen first.
    Probe(ColumnId),
}

impl From<Unsure> for Stop {
    fn from(unsure: Unsure) -> Self {
        Self::Unsure(unsure)
    }
}

/// Values of columns that were looked at: a few different ones of each.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    pub(crate) seen: BTreeMap<ColumnId, Vec<String>>,
}

/// What shape the answer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Rows of the subject, or groups with their figures.
    Rows,
    /// How many rows or groups there are.
    Count,
    /// Whether there is any.
    Exists,
    /// The part of the whole where the marked conditions hold, in percent.
    Share,
    /// Two or more values side by side, the larger first.
    Versus,
    /// The average of a figure over groups.
    MeanOfGroups,
}

/// A question as it is understood.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Intent {
    pub(crate) form: Form,
    pub(crate) subject: TableId,
    /// Columns to show; empty means those by which people know the subject.
    pub(crate) outputs: Vec<Output>,
    /// Whether equal rows are shown once.
    pub(crate) distinct: bool,
    /// A column whose different values are counted.
    pub(crate) counted: Option<ColumnId>,
    pub(crate) conds: Vec<Cond>,
    pub(crate) keys: Vec<Key>,
    pub(crate) figures: Vec<Measure>,
    pub(crate) having: Vec<Having>,
    pub(crate) rank: Option<Ranked>,
    pub(crate) order: Vec<(OrderBy, bool)>,
    /// Whether groups without a single row count as zero.
    pub(crate) with_empty: bool,
    pub(crate) limit: Option<u64>,
    /// Assumptions, one sentence each.
    pub(crate) notes: Vec<String>,
    /// Words of the question that may name a link by its role.
    pub(crate) hints: BTreeSet<String>,
    /// How date columns keep their values.
    pub(crate) stored: BTreeMap<ColumnId, Stored>,
}

/// A column of the answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Output {
    Column(ColumnId),
    /// A column of the row that a link of the subject to its own table leads to.
    Parent {
        edge: usize,
        column: ColumnId,
    },
}

/// What rows are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// Each row of a table.
    Entity(TableId),
    Column(ColumnId),
    Part(Part, ColumnId),
    /// Each row that a link of a table to itself leads to.
    Parent(usize),
}

/// A figure over rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Measure {
    pub(crate) agg: Agg,
    pub(crate) of: Measured,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Measured {
    /// Rows of a table.
    Rows(TableId),
    /// Different values of a column.
    Values(ColumnId),
    Column(ColumnId),
    /// Quantity times price, less a discount.
    Line {
        quantity: ColumnId,
        price: ColumnId,
        discount: Option<ColumnId>,
    },
}

impl Measured {
    pub(crate) fn table(&self) -> TableId {
        match self {
            Self::Rows(t) => *t,
            Self::Values(c) | Self::Column(c) | Self::Line { price: c, .. } => c.table,
        }
    }
}

/// A condition on a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Having {
    pub(crate) measure: Measure,
    pub(crate) op: Op,
    pub(crate) value: f64,
}

/// The first by some order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ranked {
    pub(crate) by: OrderBy,
    pub(crate) descending: bool,
    /// How many; absent means the first and all that are equal to it.
    pub(crate) limit: Option<u64>,
    /// Which place: the second.
    pub(crate) place: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum OrderBy {
    Measure(Measure),
    Column(ColumnId),
}

/// A condition on rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cond {
    pub(crate) test: Test,
    pub(crate) neg: bool,
    /// Conditions of one branch are about the same related row.
    pub(crate) branch: usize,
    /// Whether it is the part of a share.
    pub(crate) share: bool,
    /// Whether it denies that something ever happened (`never bought`), not only a property.
    pub(crate) never: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test {
    /// One of these values; of a full name where there are two columns.
    In(Vec<ColumnId>, Vec<Value>),
    Compare(ColumnId, Op, Value),
    Between(ColumnId, Value, Value),
    Columns(ColumnId, Op, ColumnId),
    /// Against a figure over all rows of the column.
    Figure(ColumnId, Op, Agg),
    Like(Vec<ColumnId>, Place, String),
    Missing(ColumnId),
    Given(ColumnId),
    /// A related row exists.
    Exists(TableId),
    /// From a day on, and before another.
    Within(ColumnId, Option<Day>, Option<Day>),
    /// A month of any year.
    Month(ColumnId, u32),
    /// The row that a link of a table to itself leads to has one of these values.
    Parent {
        edge: usize,
        columns: Vec<ColumnId>,
        values: Vec<Value>,
    },
    /// Rows whose groups fulfil a condition.
    Grouped(TableId, Having),
    /// A column that says yes.
    Flag(ColumnId, Vec<Value>),
    /// Some row with the same value of the column fulfils it.
    Value(ColumnId, Box<Test>),
    /// One of several.
    Any(Vec<Test>),
}

impl Test {
    /// The table whose rows are tested.
    pub(crate) fn table(&self) -> Option<TableId> {
        match self {
            Self::In(columns, _) | Self::Like(columns, ..) | Self::Parent { columns, .. } => {
                columns.first().map(|c| c.table)
            }
            Self::Compare(c, ..)
            | Self::Between(c, ..)
            | Self::Columns(c, ..)
            | Self::Figure(c, ..)
            | Self::Missing(c)
            | Self::Given(c)
            | Self::Within(c, ..)
            | Self::Month(c, _)
            | Self::Value(c, _)
            | Self::Flag(c, _) => Some(c.table),
            Self::Exists(t) | Self::Grouped(t, _) => Some(*t),
            Self::Any(tests) => tests.first().and_then(Test::table),
        }
    }
}
