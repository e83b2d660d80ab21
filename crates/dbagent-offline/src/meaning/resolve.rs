//! Puts the meaning of a question together, part by part. Whatever cannot be placed ends it: the planner
//! would rather say that it is not sure than leave something out.

use std::collections::{BTreeMap, BTreeSet};

use super::noun::{Noun, read};
use super::{Cond, Facts, Form, Intent, Key, Measure, Stop, Test, Unsure, pick};
use crate::intent::{Ask, Chunk, Chunks, Figure, Item, Kw, Rank, Sentence, What};
use crate::plan::{Agg, Op};
use crate::schema::{ColumnId, Schema, TableId};
use crate::sql::Dialect;

/// Works out what a sentence means.
pub(crate) fn resolve(
    schema: &Schema,
    chunks: &Chunks,
    sentence: &Sentence,
    dialect: Dialect,
    facts: &Facts,
) -> Result<Intent, Stop> {
    if let Some(word) = &sentence.beyond {
        return Err(Unsure::new(format!("“{word}” asks for more than this planner can work out")).into());
    }
    if !sentence.unknown.is_empty() {
        let words: Vec<String> = sentence.unknown.iter().map(|w| format!("“{w}”")).collect();
        let reason = format!("{} could not be matched with the schema or the data", words.join(", "));
        return Err(Unsure::new(reason).into());
    }
    let heads =
        sentence.heads.iter().map(|c| read(schema, c, &chunks.list)).collect::<Result<Vec<_>, _>>()?;
    let items = sentence
        .items
        .iter()
        .map(|i| noun_of(schema, i, &chunks.list))
        .collect::<Result<Vec<_>, Unsure>>()?;
    let mut resolver = Resolver {
        schema,
        chunks: &chunks.list,
        sentence,
        dialect,
        facts,
        heads,
        items,
        ask: sentence.ask,
        context: Vec::new(),
        near: Vec::new(),
        last: None,
        explicit: false,
        branch: 0,
        or: false,
        never: false,
        property: false,
        order_by_figure: None,
        rank: None,
        wishes: Vec::new(),
        pending: None,
        last_values: None,
        shown_as: BTreeMap::new(),
        doubt: None,
        skip: BTreeSet::new(),
        mean: false,
        undone: BTreeSet::new(),
        intent: Intent {
            form: Form::Rows,
            subject: TableId(usize::MAX),
            outputs: Vec::new(),
            distinct: false,
            counted: None,
            conds: Vec::new(),
            keys: Vec::new(),
            figures: Vec::new(),
            having: Vec::new(),
            rank: None,
            order: Vec::new(),
            with_empty: false,
            limit: None,
            notes: Vec::new(),
            hints: BTreeSet::new(),
            stored: BTreeMap::new(),
        },
    };
    resolver.run()?;
    Ok(resolver.intent)
}

fn noun_of(schema: &Schema, item: &Item, chunks: &[Chunk]) -> Result<Option<Noun>, Unsure> {
    let core = match &item.what {
        What::Noun(c) | What::Group(c) | What::Number { core: c, .. } => Some(c),
        What::Compare { core, .. }
        | What::Rank { core, .. }
        | What::Order { core, .. }
        | What::Like { core, .. } => core.as_ref(),
        What::Time { .. }
        | What::Named(_)
        | What::Verb(_)
        | What::Reports
        | What::Manager
        | What::Subordinates => None,
    };
    core.map(|c| read(schema, c, chunks)).transpose()
}

/// A figure that is chosen only when all keys and conditions are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Wish {
    Fixed(Measure),
    Figure(Figure, Agg),
}

/// What a figure is wanted for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Use {
    Show,
    Rank(Rank),
    Having(Op, f64),
    Order(bool),
}

pub(super) struct Resolver<'a> {
    pub(super) schema: &'a Schema,
    pub(super) chunks: &'a [Chunk],
    pub(super) sentence: &'a Sentence,
    pub(super) dialect: Dialect,
    pub(super) facts: &'a Facts,
    pub(super) heads: Vec<Noun>,
    pub(super) items: Vec<Option<Noun>>,
    pub(super) ask: Ask,
    /// Tables that the question names, in order.
    pub(super) context: Vec<TableId>,
    /// Tables by which columns and values are chosen, the nearest first.
    pub(super) near: Vec<TableId>,
    /// The table that was named last.
    pub(super) last: Option<TableId>,
    /// Whether the subject is named as a table, so that its rows are meant and not only values.
    pub(super) explicit: bool,
    pub(super) branch: usize,
    /// Whether the next condition is an alternative to the one before.
    pub(super) or: bool,
    /// Whether the part that is placed speaks of what was done.
    pub(super) never: bool,
    /// Whether the different values of one column are asked for, not rows.
    pub(super) property: bool,
    /// Whether groups are ordered by their figure, and downwards.
    pub(super) order_by_figure: Option<bool>,
    /// A superlative whose figure is still to come.
    pub(super) rank: Option<Rank>,
    pub(super) wishes: Vec<(Wish, Use)>,
    /// A figure that was named and may be compared or ranked next.
    pub(super) pending: Option<Wish>,
    /// The columns of the value before, for `or Jazz`.
    pub(super) last_values: Option<Vec<ColumnId>>,
    /// The words by which each shown column was asked for.
    pub(super) shown_as: BTreeMap<ColumnId, String>,
    /// Why the reading cannot be trusted, found on the way.
    pub(super) doubt: Option<Unsure>,
    /// Items that were used elsewhere.
    pub(super) skip: BTreeSet<usize>,
    /// Whether an average over groups is asked for.
    pub(super) mean: bool,
    /// Dates that are missing in rows where something was not done, which is what was asked.
    pub(super) undone: BTreeSet<ColumnId>,
    pub(super) intent: Intent,
}

impl Resolver<'_> {
    fn run(&mut self) -> Result<(), Stop> {
        self.intent.hints = self.role_hints();
        self.each_first();
        self.total_of_rows();
        self.share_figures();
        self.gather_context();
        if self.self_reference()? {
            return Ok(());
        }
        self.find_subject()?;
        self.place_heads()?;
        for at in 0..self.items.len() {
            if !self.skip.contains(&at) {
                self.place_item(at)?;
            }
        }
        self.finish()
    }

    /// Words that may say which of several links is meant. A preposition does only before what lies behind that
    /// link: `in Paris from 2020` does not say that Paris is where it came from.
    fn role_hints(&self) -> BTreeSet<String> {
        let mut out = BTreeSet::new();
        for (at, chunk) in self.chunks.iter().enumerate() {
            let words: Vec<String> = chunk.words.iter().flat_map(|w| crate::words::spoken(w)).collect();
            if chunk.kw != Some(Kw::Prep) || !chunk.hits.is_empty() {
                out.extend(words);
                continue;
            }
            let next = self.chunks.iter().skip(at + 1).find(|c| {
                !matches!(
                    c.kw,
                    Some(Kw::Skip | Kw::Each | Kw::Their | Kw::All | Kw::Which | Kw::What | Kw::Any)
                )
            });
            let Some(next) = next.filter(|c| c.time.is_none()) else {
                out.extend(next.is_none().then_some(words).into_iter().flatten());
                continue;
            };
            let hits = next.hits.iter().filter_map(|h| h.columns.first()).map(|c| c.table);
            let tables: Vec<TableId> = hits
                .chain(next.link.tables.iter().map(|(t, _)| *t))
                .chain(next.link.columns.iter().map(|(c, _)| c.table))
                .collect();
            let behind = |to: TableId| tables.iter().any(|t| self.schema.distance(to, *t).is_some());
            out.extend(
                words
                    .into_iter()
                    .filter(|w| self.schema.edges().any(|(_, e)| e.role.contains(w) && behind(e.to))),
            );
        }
        out
    }

    pub(super) fn item(&self, at: usize) -> Option<&Item> {
        self.sentence.items.get(at)
    }

    pub(super) fn noun(&self, at: usize) -> Option<Noun> {
        self.items.get(at).cloned().flatten()
    }

    /// `For each genre, how many tracks …`: the group is named first, the noun that is asked for later.
    fn each_first(&mut self) {
        let first_is_each = self.heads.len() == 1 && self.heads.first().is_some_and(|h| h.core.each);
        if !first_is_each || self.ask != Ask::List {
            return;
        }
        let figure = |n: &Noun| !n.core.aggs.is_empty() || n.figure.is_some();
        let Some(at) = self
            .items
            .iter()
            .position(|n| n.as_ref().is_some_and(|n| figure(n) || n.is_table() || n.is_column()))
        else {
            return;
        };
        if self.noun(at).is_some_and(|n| n.is_value())
            || !self.item(at).is_some_and(|i| matches!(i.what, What::Noun(_)))
        {
            return;
        }
        let rel = self.item(at).map(|i| i.rel.clone()).unwrap_or_default();
        if !(rel.is_empty() || rel == "of") {
            return;
        }
        if let Some(head) = self.items.get_mut(at).and_then(Option::take) {
            self.skip.insert(at);
            self.heads.push(head);
        }
    }

    /// The tables that are named outright, and those of values that can be in one place only.
    fn gather_context(&mut self) {
        let mut add = |t: TableId| {
            if !self.context.contains(&t) {
                self.context.push(t);
            }
        };
        for noun in self.heads.iter().chain(self.items.iter().flatten()) {
            for t in noun.beside.iter().chain(&noun.table) {
                add(*t);
            }
        }
        for noun in self.heads.iter().chain(self.items.iter().flatten()) {
            for value in &noun.values {
                let tables: BTreeSet<TableId> =
                    value.hits.iter().flat_map(|h| &h.columns).map(|c| c.table).collect();
                if let (1, Some(only)) = (tables.len(), tables.first()) {
                    add(*only);
                    continue;
                }
                // Else the one that it is the name of.
                let named: BTreeSet<TableId> = value
                    .hits
                    .iter()
                    .filter_map(|h| h.columns.first())
                    .filter(|c| self.schema.name_columns(c.table).contains(c))
                    .map(|c| c.table)
                    .collect();
                if let (1, Some(only)) = (named.len(), named.first()) {
                    add(*only);
                }
            }
        }
        for noun in self.heads.iter().chain(self.items.iter().flatten()) {
            // A column that only one table has.
            if noun.table.is_none()
                && let [(only, score)] = noun.columns.as_slice()
                && *score >= 60
            {
                add(only.table);
            }
        }
    }

    /// Tables to choose by: the nearest noun, the subject, then all that are named.
    pub(super) fn around(&self, first: Option<TableId>) -> Vec<TableId> {
        let mut out: Vec<TableId> = Vec::new();
        for t in first.into_iter().chain(self.near.iter().copied()).chain(self.context.iter().copied()) {
            if !out.contains(&t) {
                out.push(t);
            }
        }
        out
    }

    /// The column that a noun names.
    pub(super) fn column(&self, noun: &Noun, near: &[TableId]) -> Result<ColumnId, Unsure> {
        let near: Vec<TableId> = noun
            .table
            .iter()
            .copied()
            .chain(noun.beside.iter().copied())
            .chain(near.iter().copied())
            .collect();
        // What is added up is a figure.
        let adds = noun.core.aggs.iter().any(|a| matches!(a, Agg::Sum | Agg::Avg));
        let figures: Vec<(ColumnId, u16)> =
            noun.columns.iter().filter(|(c, _)| self.schema.column(*c).is_figure()).copied().collect();
        let columns = if adds && !figures.is_empty() { &figures } else { &noun.columns };
        let Some(owner) = noun.table else {
            let column = pick::column(self.schema, columns, &near, &noun.head_text)?;
            // Nearly every table has a name; one that nobody spoke of is not meant by it.
            let generic =
                ["name", "names", "title", "titles"].contains(&noun.head_text.to_lowercase().as_str());
            let spoken_of = self
                .heads
                .iter()
                .chain(self.items.iter().flatten())
                .any(|n| n.table == Some(column.table) || n.beside.contains(&column.table));
            if generic
                && let Some(first) = near.first()
                && *first != column.table
                && !spoken_of
                && self.schema.distance(*first, column.table).is_none_or(|d| d > 1)
            {
                let table = &self.schema.table(*first).name.name;
                return Err(
                    Unsure::new(format!("no “{}” was found for {table}", noun.head_text)).with([*first])
                );
            }
            return Ok(column);
        };
        // `department number`: a column of the departments, or one that says so itself.
        let label = &self.schema.table(owner).label;
        let owned: Vec<(ColumnId, u16)> = noun
            .columns
            .iter()
            .filter(|(c, s)| {
                c.table == owner
                    || self.schema.column(*c).label.words.iter().any(|w| label.has(w))
                    || (*s >= 90 && self.schema.distance(owner, c.table).is_some())
            })
            .copied()
            .collect();
        let numbered = ["number", "numbers", "id", "ids", "code", "no", "nr"]
            .contains(&noun.head_text.to_lowercase().as_str());
        match (owned.as_slice(), self.schema.single_key(owner)) {
            ([], Some(key)) if numbered => Ok(key),
            ([], _) => Err(Unsure::new(format!(
                "{} has no “{}”",
                self.schema.table(owner).name.name,
                noun.head_text
            ))
            .with([owner])),
            (owned, _) => pick::column(self.schema, owned, &near, &noun.head_text),
        }
    }

    pub(super) fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !note.is_empty() && !self.intent.notes.contains(&note) {
            self.intent.notes.push(note);
        }
    }

    /// Doubts what an adjective measures where several columns of the table may be meant.
    pub(super) fn one_measure(&mut self, adjective: &crate::intent::Adjective, taken: ColumnId) {
        let rivals = super::measure::rivals(self.schema, adjective, taken);
        if !rivals.is_empty() {
            let list: Vec<String> =
                [taken].iter().chain(&rivals).map(|c| self.schema.spoken_column(*c)).collect();
            self.doubt(format!("how {} it is may be {}", adjective.name, list.join(" or ")));
        }
    }

    /// Notes that the reading cannot be trusted; the first reason counts.
    pub(super) fn doubt(&mut self, why: impl Into<String>) {
        let tables = Some(self.intent.subject).filter(|t| t.0 != usize::MAX);
        self.doubt.get_or_insert_with(|| Unsure::new(why).with(tables));
    }

    pub(super) fn cond(&mut self, test: Test, neg: bool, share: bool) {
        let branch = self.branch;
        // `or` joins it with the condition before.
        let or = std::mem::take(&mut self.or);
        if or && self.intent.conds.last().is_some_and(|last| last.neg != neg) {
            self.doubt("what is denied on one side of “or” and not on the other cannot be worked out");
        }
        if or
            && let Some(last) = self.intent.conds.last_mut()
            && last.neg == neg
            && !neg
        {
            let before = std::mem::replace(&mut last.test, Test::Any(Vec::new()));
            last.test = match before {
                Test::Any(mut tests) => {
                    tests.push(test);
                    Test::Any(tests)
                }
                other => Test::Any(vec![other, test]),
            };
            return;
        }
        self.intent.conds.push(Cond { test, neg, branch, share, never: neg && self.never });
    }

    pub(super) fn add_key(&mut self, key: Key) {
        if matches!(key, Key::Part(crate::plan::Part::Weekday, _)) {
            self.note("weekdays are numbers, 0 is Sunday");
        }
        if !self.intent.keys.contains(&key) {
            self.intent.keys.push(key);
        }
    }

    /// Takes a superlative; a second one is too much.
    pub(super) fn ranked(&mut self, ranked: super::Ranked) -> Result<(), Stop> {
        if self.intent.rank.is_some_and(|r| r != ranked) {
            return Err(Unsure::new("two superlatives at once are asked for")
                .with([self.intent.subject])
                .into());
        }
        self.intent.rank = Some(ranked);
        Ok(())
    }

    pub(super) fn wish(&mut self, wish: Wish, wanted: Use) {
        if !self.wishes.contains(&(wish, wanted)) {
            self.wishes.push((wish, wanted));
        }
    }

    /// Whether the question adds figures up, so that `by X` means one line for each X.
    pub(super) fn adds_up(&self) -> bool {
        matches!(self.ask, Ask::Count | Ask::Sum)
            || self.intent.form == Form::Count
            || self.wishes.iter().any(|(_, u)| *u == Use::Show)
    }

    pub(super) fn kw(&self, at: usize) -> Option<Kw> {
        self.chunks.get(at).and_then(|c| c.kw)
    }
}
