//! The last step: figures are chosen now that all keys and conditions are known, and the shape of the answer
//! is settled.

use super::resolve::{Resolver, Use, Wish};
use super::{Cond, Form, Key, Measure, OrderBy, Output, Stop, Test, Unsure, measure};
use crate::intent::{Ask, Day, Figure, Kw};
use crate::plan::{Agg, Op, Stored, Value};
use crate::schema::{ColumnId, TableId};
use std::collections::BTreeSet;

impl Resolver<'_> {
    pub(in crate::meaning) fn finish(&mut self) -> Result<(), Stop> {
        if let Some(why) = self.doubt.take() {
            return Err(why.into());
        }
        for verb in &self.sentence.verbs {
            let note = format!("“{verb}” is taken as the link between the tables");
            if !self.intent.notes.contains(&note) {
                self.intent.notes.push(note);
            }
        }
        let told = self.sentence.whole || self.head_ends(&["information", "info"]) && self.ask == Ask::List;
        if told && self.intent.subject.0 != usize::MAX && self.wishes.is_empty() {
            let all = self
                .schema
                .columns(self.intent.subject)
                .filter(|(_, c)| c.class != crate::schema::Class::Blob);
            self.intent.outputs = all.map(|(id, _)| Output::Column(id)).collect();
        }
        self.whence()?;
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
        self.links_as_keys();
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
                    // None at all is a number, too.
                    let none = match op {
                        Op::Lt | Op::Le => value >= 0.0,
                        Op::Eq => value == 0.0,
                        Op::Ne => value != 0.0,
                        Op::Gt | Op::Ge => false,
                    };
                    self.intent.with_empty |= none && m.agg == Agg::Count;
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
        if let Some(rank) = &mut self.intent.rank
            && rank.limit.is_none()
            && rank.place.is_none()
        {
            // `which 3 products have the highest price`: the number stands with the noun.
            rank.limit = self.intent.limit.take();
        }
        self.highest_of_its_own();
        self.sensible()?;
        if by_column && !self.intent.figures.is_empty() && self.intent.keys.is_empty() {
            return Err(Unsure::new("a figure of the first one only is asked for")
                .with([self.intent.subject])
                .into());
        }
        self.finish_form()?;
        self.without_such()?;
        self.by_value()?;
        self.stored_dates()
    }

    /// Whether all that is known of something is asked for: `the product data`.
    pub(in crate::meaning) fn all_told(&self) -> bool {
        self.sentence.whole || self.head_ends(&["information", "info", "data", "details", "records"])
    }

    /// Whether a table that is asked for ends with one of some words: `all the customer information`.
    fn head_ends(&self, words: &[&str]) -> bool {
        self.heads.iter().any(|h| {
            let last = h.head_text.rsplit(' ').next().unwrap_or_default().to_lowercase();
            h.is_table() && words.contains(&last.as_str())
        })
    }

    /// `Which countries are the swimmers from?`: where they come from is theirs, not of a place where they were.
    fn whence(&self) -> Result<(), Stop> {
        let last = self.chunks.iter().rev().find(|c| !c.symbol);
        let asked = self.intent.counted.or(match self.intent.outputs.as_slice() {
            [Output::Column(only)] => Some(*only),
            _ => None,
        });
        let Some(column) = asked.filter(|_| last.is_some_and(|c| c.words == ["from"])) else { return Ok(()) };
        let named = self.context.iter().copied().find(|t| *t != column.table);
        match named {
            Some(t) if self.schema.distance(t, column.table).is_none() => {
                let (table, name) = (&self.schema.table(t).name.name, self.schema.spoken_column(column));
                Err(Unsure::new(format!("{name} does not say where {table} come from"))
                    .with([t, column.table])
                    .into())
            }
            _ => Ok(()),
        }
    }

    /// `For each director, the titles`: without a figure the groups are only shown beside the rows.
    pub(in crate::meaning) fn rows_of_groups(&mut self) {
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
                    outputs.extend(self.schema.shown_columns(t).into_iter().map(Output::Column));
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
    pub(in crate::meaning) fn by_value(&mut self) -> Result<(), Stop> {
        for (i, a) in self.intent.conds.iter().enumerate() {
            for b in self.intent.conds.iter().skip(i + 1) {
                if let (Test::Within(x, a_from, a_to), Test::Within(y, b_from, b_to)) = (&a.test, &b.test)
                    && x == y
                    && !a.neg
                    && !b.neg
                    && (a.branch == b.branch || self.schema.distance(self.intent.subject, x.table).is_some())
                    && (ends_before(*a_to, *b_from) || ends_before(*b_to, *a_from))
                {
                    return Err(Unsure::new("no row can be in both times").with([x.table]).into());
                }
                if a.neg != b.neg && a.test == b.test && !matches!(a.test, Test::Exists(_)) {
                    let table = a.test.table().into_iter().chain([self.intent.subject]);
                    return Err(Unsure::new("the same is asked for and denied").with(table).into());
                }
                if let (Test::Compare(x, p, v), Test::Compare(y, q, w)) = (&a.test, &b.test)
                    && x == y
                    && !a.neg
                    && !b.neg
                    && contradict(*p, v, *q, w)
                {
                    return Err(Unsure::new("no row can be on both sides").with([x.table]).into());
                }
            }
        }
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
    pub(in crate::meaning) fn pieces_sold(&mut self) {
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
    pub(in crate::meaning) fn has_lines(&self, table: TableId) -> bool {
        let dated = self.schema.columns(table).any(|(_, c)| c.class == crate::schema::Class::Date);
        !dated
            && self.schema.tables().any(|(t, _)| {
                self.schema.columns(t).any(|(_, c)| c.is_figure() && c.label.has("quantity"))
                    && self.schema.edges().any(|(_, e)| e.from == t && e.to == table)
            })
    }

    /// `How many albums does each artist have`: the number in each group.
    pub(in crate::meaning) fn count_groups(&mut self) {
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

    pub(in crate::meaning) fn show(&mut self, m: Measure) {
        if !self.intent.figures.contains(&m) {
            self.intent.figures.push(m);
        }
    }

    pub(in crate::meaning) fn key_table(&self, key: Key) -> Option<TableId> {
        match key {
            Key::Entity(t) => Some(t),
            Key::Column(c) | Key::Part(_, c) => Some(c.table),
            Key::Parent(edge) => self.schema.edge(edge).map(|e| e.to),
        }
    }

    /// A link to what is grouped by says the same as its key.
    fn links_as_keys(&mut self) {
        let keys = self.intent.keys.clone();
        for key in &mut self.intent.keys {
            let Key::Column(c) = *key else { continue };
            if let Some((_, edge)) = self.schema.edge_at(c)
                && keys.contains(&Key::Entity(edge.to))
                && edge.from != edge.to
                && let [index] = edge.target_columns.as_slice()
            {
                *key = Key::Column(ColumnId { table: edge.to, index: *index });
            }
        }
    }

    /// Where figures are shown or compared, the rest of what is asked for is what they are grouped by.
    pub(in crate::meaning) fn settle_keys(&mut self) {
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
    pub(in crate::meaning) fn outputs_of_subject(&self) -> bool {
        let subject = self.intent.subject;
        let names = self.schema.name_columns(subject);
        self.intent.outputs.iter().any(|o| {
            matches!(o, Output::Column(c) if c.table == subject
                && (names.contains(c) || self.schema.single_key(subject) == Some(*c)))
        })
    }

    pub(in crate::meaning) fn finish_form(&mut self) -> Result<(), Stop> {
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
    pub(in crate::meaning) fn stored_dates(&mut self) -> Result<(), Stop> {
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

    /// What a question about a table's link to itself still needs: its figures.
    pub(in crate::meaning) fn finish_self_reference(&mut self) -> Result<(), Stop> {
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

/// Whether a time is over when another begins.
fn ends_before(end: Option<Day>, begin: Option<Day>) -> bool {
    matches!((end, begin), (Some(e), Some(b)) if e <= b)
}

/// Whether nothing can be over the one and under the other.
fn contradict(first: Op, a: &Value, second: Op, b: &Value) -> bool {
    let number = |value: &Value| match value {
        Value::Int(whole) => Some(*whole as f64),
        Value::Real(real) => Some(*real),
        _ => None,
    };
    let (Some(a), Some(b)) = (number(a), number(b)) else { return false };
    let (over, under) = match (first, second) {
        (Op::Gt | Op::Ge, Op::Lt | Op::Le) => (a, b),
        (Op::Lt | Op::Le, Op::Gt | Op::Ge) => (b, a),
        _ => return false,
    };
    over > under
}
