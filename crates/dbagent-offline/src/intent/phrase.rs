//! The parts of a sentence that the grammar finds. They refer to chunks by their place.

use super::keywords::{Adjective, Dir};
use super::time::Time;
use crate::plan::{Agg, Op, Place};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    /// Rows, columns or figures of them.
    List,
    /// How many rows, or how many different values.
    Count,
    /// How much in all.
    Sum,
    /// How long, how old.
    Measure(&'static Adjective),
    Who,
    When,
    Where,
    /// Whether there is any.
    Exists,
    /// Which part of all.
    Share,
    /// Which of two has more.
    Versus,
}

/// A superlative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rank {
    pub(crate) dir: Dir,
    pub(crate) by: RankBy,
    /// How many are wanted; absent means the first and all that are equal to it.
    pub(crate) limit: Option<u64>,
    /// The second, the third.
    pub(crate) place: Option<u64>,
    /// Whether all of something together is meant (`most`), not the highest single one.
    pub(crate) total: bool,
}

/// What decides a superlative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum RankBy {
    /// Something that must be named: `highest`, `top`, `most`.
    Named,
    Adjective(&'static Adjective),
    /// Pieces sold.
    Sold,
    /// How often it occurs.
    Frequency,
    /// First or last, in time.
    Time,
}

/// A noun with what stands before it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Core {
    /// Chunks in order; the last one is the head.
    pub(crate) parts: Vec<usize>,
    pub(crate) rank: Option<Rank>,
    pub(crate) number: Option<u64>,
    pub(crate) aggs: Vec<Agg>,
    pub(crate) each: bool,
    pub(crate) distinct: bool,
    pub(crate) all: bool,
    pub(crate) no: bool,
    pub(crate) their: bool,
    pub(crate) any: bool,
}

impl Core {
    pub(crate) fn head(&self) -> Option<usize> {
        self.parts.last().copied()
    }
}

/// The right side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operand {
    Number {
        value: f64,
        unit: Option<usize>,
    },
    Range {
        low: f64,
        high: f64,
        unit: Option<usize>,
    },
    Time(Time),
    Times(Time, Time),
    /// The average (or another figure) of the same column.
    Figure(Agg),
    /// Another column.
    Column(Core),
    /// A value: text.
    Text(usize),
}

/// A part of the sentence that says more about its subject.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum What {
    /// A table, a column, a value.
    Noun(Core),
    /// A column (or what an adjective measures) against something.
    Compare {
        core: Option<Core>,
        adjective: Option<(Dir, &'static Adjective)>,
        op: Op,
        operand: Operand,
    },
    /// How many of something.
    Number {
        op: Op,
        number: f64,
        core: Core,
    },
    /// The most of something.
    Rank {
        rank: Rank,
        core: Option<Core>,
    },
    /// One line for each.
    Group(Core),
    Order {
        core: Option<Core>,
        adjective: Option<(Dir, &'static Adjective)>,
        descending: Option<bool>,
    },
    Like {
        core: Option<Core>,
        place: Place,
        chunk: usize,
    },
    Time {
        op: TimeOp,
        time: Time,
        last: Option<Time>,
    },
    /// The name of the subject.
    Named(usize),
    /// A verb without an object.
    Verb(String),
    Reports,
    Manager,
    Subordinates,
}

/// How something lies to a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeOp {
    Within,
    Before,
    /// Up to and with.
    Until,
    After,
    Since,
    Between,
}

/// One such part with the words that tie it to the sentence.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Item {
    pub(crate) what: What,
    /// The preposition before it, in lower case; empty without one.
    pub(crate) rel: String,
    /// Verbs and prepositions since the noun before, in lower case.
    pub(crate) hints: Vec<String>,
    pub(crate) have: bool,
    pub(crate) neg: bool,
    pub(crate) and: bool,
    pub(crate) or: bool,
    /// Whether `but` sets it against what stands before.
    pub(crate) but: bool,
    pub(crate) their: bool,
    /// Whether it stands behind the sentence's own verb.
    pub(crate) predicate: bool,
    /// Whether a relative clause holds it.
    pub(crate) relative: bool,
    /// Where it starts, in chunks.
    pub(crate) at: usize,
}

/// A question, put together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sentence {
    pub(crate) ask: Ask,
    /// Whether it asks `which` or `what`.
    pub(crate) which: bool,
    pub(crate) heads: Vec<Core>,
    pub(crate) items: Vec<Item>,
    /// Whether everything about the subject is asked for.
    pub(crate) whole: bool,
    /// Every verb of the sentence.
    pub(crate) hints: Vec<String>,
    /// Verbs that are taken for a link between the tables around them.
    pub(crate) verbs: Vec<String>,
    /// Words that nothing is known of.
    pub(crate) unknown: Vec<String>,
    /// Why a fixed planner cannot answer it, if it says so itself.
    pub(crate) beyond: Option<String>,
}
