//! Puts the meaning of a question together, part by part. Whatever cannot be placed ends it: the planner
//! would rather say that it is not sure than leave something out.

use std::collections::{BTreeMap, BTreeSet};

use super::noun::{Noun, read};
use super::{Cond, Facts, Form, Intent, Key, Measure, OrderBy, Output, Stop, Test, Unsure, measure, pick};
use crate::intent::{Ask, Chunk, Chunks, Figure, Item, Kw, Rank, Sentence, What};
use crate::plan::{Agg, Op, Stored};
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
        skip: BTreeSet::new(),
        mean: false,
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
    /// Items that were used elsewhere.
    pub(super) skip: BTreeSet<usize>,
    /// Whether an average over groups is asked for.
    pub(super) mean: bool,
    pub(super) intent: Intent,
}

impl Resolver<'_> {
    fn run(&mut self) -> Result<(), Stop> {
        self.intent.hints =
            self.chunks.iter().flat_map(|c| &c.words).flat_map(|w| crate::words::spoken(w)).collect();
        self.each_first();
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
        let Some(owner) = noun.table else {
            return pick::column(self.schema, &noun.columns, &near, &noun.head_text);
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

    pub(super) fn cond(&mut self, test: Test, neg: bool, share: bool) {
        let branch = self.branch;
        // `or` joins it with the condition before.
        if std::mem::take(&mut self.or)
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

    fn finish(&mut self) -> Result<(), Stop> {
        for verb in &self.sentence.verbs {
            let note = format!("“{verb}” is taken as the link between the tables");
            if !self.intent.notes.contains(&note) {
                self.intent.notes.push(note);
            }
        }
        if self.sentence.whole && self.intent.subject.0 != usize::MAX && self.wishes.is_empty() {
            let all = self
                .schema
                .columns(self.intent.subject)
                .filter(|(_, c)| c.class != crate::schema::Class::Blob);
            self.intent.outputs = all.map(|(id, _)| Output::Column(id)).collect();
        }
        self.finish_rank()?;
        self.pieces_sold();
        self.count_groups();
        if let Some(descending) = self.order_by_figure {
            let shown = self.wishes.iter().find(|(_, u)| *u == Use::Show).map(|(w, _)| *w);
            if let Some(wish) = shown {
                self.wish(wish, Use::Order(descending));
            }
        }
        self.settle_keys();
        let mut keys: BTreeSet<TableId> =
            self.intent.keys.iter().filter_map(|k| self.key_table(*k)).collect();
        let conds: BTreeSet<TableId> =
            self.intent.conds.iter().filter(|c| !c.neg).filter_map(|c| c.test.table()).collect();
        for (wish, wanted) in std::mem::take(&mut self.wishes) {
            let (m, note) = match wish {
                Wish::Fixed(m) => (m, String::new()),
                Wish::Figure(Figure::Revenue, agg) => measure::money(self.schema, &keys, &conds, agg)?,
                Wish::Figure(Figure::Units, agg) => measure::units(self.schema, &keys, &conds, agg)?,
            };
            if self.intent.subject.0 == usize::MAX {
                self.intent.subject = m.of.table();
                keys.insert(m.of.table());
            }
            self.note(note);
            match wanted {
                Use::Show => self.show(m),
                Use::Rank(rank) => {
                    self.show(m);
                    let descending = rank.dir == crate::intent::Dir::Most;
                    let by = OrderBy::Measure(m);
                    let limit = rank.limit.or(self.intent.limit.take());
                    self.intent.rank = Some(super::Ranked { by, descending, limit, place: rank.place });
                }
                Use::Having(op, value) => {
                    self.intent.having.push(super::Having { measure: m, op, value });
                    if self.intent.form == Form::Rows && self.ask != Ask::Count {
                        self.show(m);
                    }
                }
                Use::Order(descending) => {
                    self.show(m);
                    self.intent.order.push((OrderBy::Measure(m), descending));
                }
            }
        }
        if self.mean {
            if self.intent.keys.is_empty() || self.intent.figures.len() != 1 {
                return Err(Unsure::new("the average number of what, for each of what, is not said").into());
            }
            self.intent.form = Form::MeanOfGroups;
        }
        self.rows_of_groups();
        let by_column = matches!(self.intent.rank.map(|r| r.by), Some(OrderBy::Column(_)));
        if by_column && !self.intent.figures.is_empty() && self.intent.keys.is_empty() {
            return Err(Unsure::new("a figure of the first one only is asked for")
                .with([self.intent.subject])
                .into());
        }
        self.finish_form()?;
        self.by_value()?;
        self.stored_dates()
    }

    /// `For each director, the titles`: without a figure the groups are only shown beside the rows.
    fn rows_of_groups(&mut self) {
        let ranked = matches!(self.intent.rank.map(|r| r.by), Some(OrderBy::Column(_)));
        if ranked
            || !self.intent.figures.is_empty()
            || !self.intent.having.is_empty()
            || self.intent.outputs.is_empty()
        {
            return;
        }
        let mut outputs: Vec<Output> = Vec::new();
        for key in std::mem::take(&mut self.intent.keys) {
            match key {
                Key::Entity(t) => {
                    outputs.extend(self.schema.shown_columns(t).into_iter().map(Output::Column))
                }
                Key::Column(c) => outputs.push(Output::Column(c)),
                other => self.intent.keys.push(other),
            }
        }
        for o in std::mem::take(&mut self.intent.outputs) {
            if !outputs.contains(&o) {
                outputs.push(o);
            }
        }
        self.intent.outputs = outputs;
    }

    /// Conditions that are denied, or asked for twice, are about all rows with a value, not about one.
    fn by_value(&mut self) -> Result<(), Stop> {
        let both = self.chunks.iter().any(|c| c.kw == Some(Kw::Both));
        let twice: Vec<usize> = self
            .intent
            .conds
            .iter()
            .enumerate()
            .filter(|(i, c)| {
                let to_one =
                    c.test.table().is_some_and(|t| self.schema.distance(self.intent.subject, t).is_some());
                !c.neg
                    && to_one
                    && self.intent.conds.iter().enumerate().any(|(j, o)| {
                        j != *i
                            && !o.neg
                            && match (&o.test, &c.test) {
                                (Test::In(other, a), Test::In(own, b)) => other == own && a != b,
                                (Test::Compare(other, ..), Test::Compare(own, ..))
                                | (Test::Within(other, ..), Test::Within(own, ..)) => both && other == own,
                                _ => false,
                            }
                    })
            })
            .map(|(i, _)| i)
            .collect();
        if !self.property {
            if !twice.is_empty() && self.intent.form != Form::Versus {
                return Err(Unsure::new("one row cannot have both values")
                    .with([self.intent.subject])
                    .into());
            }
            return Ok(());
        }
        let Some(Output::Column(shown)) = self.intent.outputs.first().cloned() else { return Ok(()) };
        let conds = std::mem::take(&mut self.intent.conds);
        self.intent.conds = conds
            .into_iter()
            .enumerate()
            .map(|(i, c)| {
                let own = matches!(&c.test, Test::In(columns, _) if columns.as_slice() == [shown]);
                let others = c.never && !own || twice.contains(&i);
                if others && c.test.table().is_some_and(|t| self.schema.distance(shown.table, t).is_some()) {
                    Cond { test: Test::Value(shown, Box::new(c.test)), ..c }
                } else {
                    c
                }
            })
            .collect();
        Ok(())
    }

    /// `How many tracks were sold`: the pieces, where lines of an order say how many.
    fn pieces_sold(&mut self) {
        let sold = ["sold", "sell", "sells", "bought", "purchased", "buy", "purchase"];
        let says = self.sentence.hints.iter().any(|h| sold.contains(&h.as_str()))
            && !self.sentence.items.iter().any(|i| i.neg);
        let subject = self.intent.subject;
        if self.ask != Ask::Count || !says || self.intent.counted.is_some() || !self.wishes.is_empty() {
            return;
        }
        if !self.has_lines(subject) {
            return;
        }
        let conds: BTreeSet<TableId> = self.intent.conds.iter().filter_map(|c| c.test.table()).collect();
        let mut required = conds;
        required.insert(subject);
        if let Ok((m, note)) = measure::units(self.schema, &required, &BTreeSet::new(), Agg::Sum) {
            // That it was sold is said by its being counted.
            self.intent.conds.retain(|c| c.test != Test::Exists(m.of.table()));
            self.note(note);
            self.explicit = false;
            self.wish(Wish::Fixed(m), Use::Show);
        }
    }

    /// Whether lines with a quantity point to a table that is no head of them (an order, an invoice).
    pub(super) fn has_lines(&self, table: TableId) -> bool {
        let dated = self.schema.columns(table).any(|(_, c)| c.class == crate::schema::Class::Date);
        !dated
            && self.schema.tables().any(|(t, _)| {
                self.schema.columns(t).any(|(_, c)| c.is_figure() && c.label.has("quantity"))
                    && self.schema.edges().any(|(_, e)| e.from == t && e.to == table)
            })
    }

    /// `How many albums does each artist have`: the number in each group.
    fn count_groups(&mut self) {
        let shows = self.wishes.iter().any(|(_, u)| matches!(u, Use::Show | Use::Rank(_)));
        if self.ask != Ask::Count || self.intent.keys.is_empty() || shows {
            return;
        }
        let of = self
            .intent
            .counted
            .take()
            .map_or(super::Measured::Rows(self.intent.subject), super::Measured::Values);
        self.wishes.insert(0, (Wish::Fixed(Measure { agg: Agg::Count, of }), Use::Show));
        self.explicit = false;
        self.ask = Ask::List;
    }

    fn show(&mut self, m: Measure) {
        if !self.intent.figures.contains(&m) {
            self.intent.figures.push(m);
        }
    }

    pub(super) fn key_table(&self, key: Key) -> Option<TableId> {
        match key {
            Key::Entity(t) => Some(t),
            Key::Column(c) | Key::Part(_, c) => Some(c.table),
            Key::Parent(edge) => self.schema.edge(edge).map(|e| e.to),
        }
    }

    /// Where figures are shown or compared, the rest of what is asked for is what they are grouped by.
    fn settle_keys(&mut self) {
        if self.wishes.is_empty() || self.intent.form == Form::Share {
            return;
        }
        let ranked_or_compared = self.wishes.iter().any(|(_, u)| !matches!(u, Use::Show));
        let figures_only = self.intent.outputs.is_empty() && !self.explicit;
        if self.intent.keys.is_empty() && (ranked_or_compared || !figures_only) {
            // How many rows of the subject each of its rows has is no question; its columns are the groups.
            let counts_itself = self.wishes.iter().any(|(w, _)| {
                matches!(w, Wish::Fixed(Measure { of: super::Measured::Rows(t), .. }) if *t == self.intent.subject)
            }) && self.intent.outputs.iter().any(|o| matches!(o, Output::Column(_)));
            let own = self.outputs_of_subject() && !counts_itself;
            if (self.explicit && !counts_itself) || own {
                self.add_key(Key::Entity(self.intent.subject));
            } else {
                for output in self.intent.outputs.clone() {
                    if let Output::Column(c) = output {
                        self.add_key(Key::Column(c));
                    }
                }
                if self.intent.keys.is_empty()
                    && let Some(c) = self.intent.counted
                {
                    self.add_key(Key::Column(c));
                }
                if self.intent.keys.is_empty() && ranked_or_compared && self.intent.subject.0 != usize::MAX {
                    self.add_key(Key::Entity(self.intent.subject));
                }
            }
        }
        // Columns that are shown beside figures and belong to no row of a key are keys of their own.
        let key_tables: Vec<TableId> = self
            .intent
            .keys
            .iter()
            .filter_map(|k| match k {
                Key::Entity(t) => Some(*t),
                _ => None,
            })
            .collect();
        for output in self.intent.outputs.clone() {
            if let Output::Column(c) = output {
                let covered = key_tables.iter().any(|t| self.schema.distance(*t, c.table).is_some());
                if !covered {
                    self.add_key(Key::Column(c));
                }
            }
        }
    }

    /// Whether the columns asked for name the rows of the subject (its key or name), not only a property.
    fn outputs_of_subject(&self) -> bool {
        let subject = self.intent.subject;
        let names = self.schema.name_columns(subject);
        self.intent.outputs.iter().any(|o| {
            matches!(o, Output::Column(c) if c.table == subject
                && (names.contains(c) || self.schema.single_key(subject) == Some(*c)))
        })
    }

    fn finish_form(&mut self) -> Result<(), Stop> {
        let subject = self.intent.subject;
        if subject.0 == usize::MAX {
            return Err(Unsure::new("no table of this database fits the question").into());
        }
        match self.ask {
            Ask::Count if self.intent.form == Form::Rows && self.intent.figures.is_empty() => {
                self.intent.form = Form::Count;
            }
            Ask::Exists if self.intent.form == Form::Rows => self.intent.form = Form::Exists,
            Ask::Versus if self.intent.form != Form::Versus => {
                return Err(Unsure::new("what is compared with what is not clear").into());
            }
            Ask::Share => {
                self.intent.form = Form::Share;
                if !self.intent.conds.iter().any(|c| c.share) {
                    for c in &mut self.intent.conds {
                        c.share = true;
                    }
                }
                if self.intent.conds.is_empty() || !self.intent.keys.is_empty() {
                    return Err(Unsure::new("which part of the whole is meant is not clear")
                        .with([subject])
                        .into());
                }
            }
            _ => {}
        }
        if self.intent.form == Form::Count && self.intent.counted.is_none() && !self.intent.having.is_empty()
        {
            // Groups that fulfil the condition are counted.
            if self.intent.keys.is_empty() {
                self.add_key(Key::Entity(subject));
            }
        }
        Ok(())
    }

    /// Finds out how the date columns that are used keep their values.
    fn stored_dates(&mut self) -> Result<(), Stop> {
        fn of(test: &Test, out: &mut Vec<ColumnId>) {
            match test {
                Test::Within(c, ..) | Test::Month(c, _) => out.push(*c),
                Test::Any(tests) => tests.iter().for_each(|t| of(t, out)),
                Test::Value(_, inner) => of(inner, out),
                _ => {}
            }
        }
        let mut columns: Vec<ColumnId> = Vec::new();
        for c in &self.intent.conds {
            of(&c.test, &mut columns);
        }
        for key in &self.intent.keys {
            if let Key::Part(_, c) = key {
                columns.push(*c);
            }
        }
        for column in columns {
            let c = self.schema.column(column);
            if c.class.is_number() && c.label.has("year") {
                self.intent.stored.insert(column, Stored::Year);
                continue;
            }
            let stored = measure::stored(self.schema, column, self.dialect, self.facts)?;
            self.intent.stored.insert(column, stored);
        }
        Ok(())
    }

    pub(super) fn kw(&self, at: usize) -> Option<Kw> {
        self.chunks.get(at).and_then(|c| c.kw)
    }
}

impl Resolver<'_> {
    /// What a question about a table's link to itself still needs: its figures.
    pub(super) fn finish_self_reference(&mut self) -> Result<(), Stop> {
        for (wish, wanted) in std::mem::take(&mut self.wishes) {
            let Wish::Fixed(m) = wish else { continue };
            self.show(m);
            if let Use::Rank(rank) = wanted {
                let descending = rank.dir == crate::intent::Dir::Most;
                let by = OrderBy::Measure(m);
                self.intent.rank =
                    Some(super::Ranked { by, descending, limit: rank.limit, place: rank.place });
            }
        }
        self.finish_form()
    }
}
