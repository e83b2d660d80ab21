//! What narrows, groups and orders: each part of the sentence behind the nouns that are asked for.

mod column;
mod compare;
mod figure;
mod group;
mod rank;
mod text;
mod value;

use super::noun::Noun;
use super::resolve::{Resolver, Use, Wish};
use super::{Key, Measure, Measured, Stop, Test, Unsure, pick};
use crate::intent::{Ask, Item, Kw, What};
use crate::plan::{Agg, Op, Value};
use crate::schema::{Class, ColumnId, TableId};

impl Resolver<'_> {
    pub(super) fn place_item(&mut self, at: usize) -> Result<(), Stop> {
        let Some(item) = self.item(at).cloned() else { return Ok(()) };
        // Another clause speaks of another row.
        if item.and || item.have && !item.relative {
            self.branch += 1;
        }
        // Behind what is denied, the next clause speaks of those that are asked for again.
        if item.and && !item.relative && self.intent.conds.last().is_some_and(|c| c.neg) {
            self.last = Some(self.intent.subject);
        }
        self.or = item.or && !self.intent.conds.is_empty();
        self.never = item.rel == "does"
            || item.rel == "without"
            || item.hints.iter().any(|h| self.sentence.hints.contains(h));
        let noun = self.noun(at);
        let in_time = ["before", "after", "since", "until", "till", "prior to", "earlier than", "later than"];
        if in_time.contains(&item.rel.as_str()) && matches!(item.what, What::Noun(_) | What::Rank { .. }) {
            if let Some(n) = noun.as_ref().filter(|n| n.is_column() && n.values.is_empty()) {
                return self.beside_date(&item, n);
            }
            let what = noun.map(|n| n.text).unwrap_or_default();
            return Err(Unsure::new(format!("“{} {what}” is no date that is understood", item.rel)).into());
        }
        if let Some(noun) = &noun
            && !matches!(item.what, What::Noun(_))
            && self.ask != Ask::Versus
        {
            self.premodifiers(noun, item.predicate)?;
        }
        match (&item.what, noun) {
            (What::Noun(_), Some(noun)) => self.place_noun(&item, &noun),
            (What::Group(_), Some(noun)) => self.place_group(&item, &noun),
            (What::Number { op, number, .. }, Some(noun)) => self.number(&item, &noun, *op, *number),
            (What::Compare { adjective, op, operand, .. }, noun) => {
                self.compare(&item, noun.as_ref(), *adjective, *op, operand)
            }
            (What::Rank { rank, .. }, noun) => self.place_rank(&item, noun.as_ref(), *rank),
            (What::Order { descending, .. }, noun) => self.order(noun.as_ref(), *descending),
            (What::Like { place, chunk, .. }, noun) => self.like(&item, noun.as_ref(), *place, *chunk),
            (What::Time { op, time, last }, _) => self.time(&item, *op, *time, *last),
            (What::Named(chunk), _) => self.named(&item, *chunk),
            (What::Verb(verb), _) => self.verb(&item, verb),
            (What::Reports | What::Manager | What::Subordinates, _) => {
                Err(Unsure::new("who reports to whom is asked in a way that is not understood").into())
            }
            _ => Ok(()),
        }
    }

    /// Values and flags before a noun: `Rock tracks`, `discontinued products`.
    pub(super) fn premodifiers(&mut self, noun: &Noun, predicate: bool) -> Result<(), Stop> {
        let share = self.ask == Ask::Share && predicate;
        for (words, columns) in &noun.before {
            if noun.core.rank.is_some() || noun.is_column() {
                continue;
            }
            let Some(table) = noun.table else { continue };
            // `home games`: the word says which of two links is meant.
            let role = crate::words::singular(&words.to_lowercase());
            if self.schema.edges().any(|(_, e)| e.from == table && e.role.contains(&role)) {
                continue;
            }
            let near = self.around(Some(table));
            let column = pick::column(self.schema, columns, &near, words)?;
            let c = self.schema.column(column);
            // What has a value behind it is no flag.
            if noun.values.iter().any(|v| v.hits.iter().any(|h| h.columns.contains(&column))) {
                continue;
            }
            if c.class == Class::Date {
                self.cond(Test::Given(column), false, share);
                continue;
            }
            self.flag(column, false, share)?;
        }
        for value in &noun.values {
            self.value(noun, value, None, share)?;
        }
        Ok(())
    }

    /// A column that says yes or no, by the values it has.
    pub(super) fn flag(&mut self, column: ColumnId, neg: bool, share: bool) -> Result<(), Stop> {
        let Some(seen) = self.facts.seen.get(&column) else { return Err(Stop::Probe(column)) };
        let yes = ["1", "true", "t", "yes", "y"];
        let no = ["0", "false", "f", "no", "n", "-1", ""];
        let is_flag = !seen.is_empty()
            && seen.len() <= 4
            && seen
                .iter()
                .all(|v| yes.contains(&v.to_lowercase().as_str()) || no.contains(&v.to_lowercase().as_str()));
        if !is_flag {
            let name = self.schema.spoken_column(column);
            return Err(Unsure::new(format!("{name} is no column of yes and no"))
                .with([column.table])
                .into());
        }
        let values = seen
            .iter()
            .filter(|v| yes.contains(&v.to_lowercase().as_str()))
            .map(|v| self.typed(column, v))
            .collect::<Vec<_>>();
        let values = if values.is_empty() { vec![self.typed(column, "1")] } else { values };
        self.cond(Test::Flag(column, values), neg, share);
        Ok(())
    }

    /// Whether a column has a value.
    pub(super) fn given(&mut self, column: ColumnId, given: bool, share: bool) {
        let c = self.schema.column(column);
        if c.required && c.is_figure() {
            // `orders with a discount`: where every row has a number, having one says that it is not zero.
            let op = if given { Op::Gt } else { Op::Eq };
            let taken = if given { "more than 0" } else { "0" };
            self.note(format!("{} is taken as {taken}", self.schema.spoken_column(column)));
            self.cond(Test::Compare(column, op, Value::Int(0)), false, share);
            return;
        }
        self.cond(if given { Test::Given(column) } else { Test::Missing(column) }, false, share);
    }

    fn place_noun(&mut self, item: &Item, noun: &Noun) -> Result<(), Stop> {
        let share = self.ask == Ask::Share && item.predicate;
        // `named X`, `called X` were read apart; a plain value is a condition.
        if noun.is_value() {
            return self.values(item, noun, share);
        }
        if !noun.core.aggs.is_empty() || noun.figure.is_some() {
            return self.place_figure(item, noun);
        }
        if let Some(part) = noun.part {
            return self.place_part(item, noun, part);
        }
        if !noun.values.is_empty() {
            self.premodifiers_of(item, noun, share)?;
            if noun.is_table() {
                self.last = noun.table;
            }
            return Ok(());
        }
        self.premodifiers(noun, item.predicate)?;
        if noun.is_column() {
            return self.place_column(item, noun, share);
        }
        let Some(table) = noun.table else { return Ok(()) };
        self.place_table(item, noun, table, share)
    }

    fn premodifiers_of(&mut self, item: &Item, noun: &Noun, share: bool) -> Result<(), Stop> {
        for value in &noun.values {
            self.value(noun, value, Some(item), share)?;
        }
        Ok(())
    }

    fn place_table(&mut self, item: &Item, noun: &Noun, table: TableId, share: bool) -> Result<(), Stop> {
        let subject = self.intent.subject;
        if item.rel == "by" && !item.neg && item.hints.is_empty() {
            if self.adds_up() {
                self.add_key(Key::Entity(table));
                return Ok(());
            }
            // `top artists by albums`: what is counted decides.
            if let Some(rank) = self.rank.take() {
                let rows = Measure { agg: Agg::Count, of: Measured::Rows(table) };
                self.wish(Wish::Fixed(rows), Use::Rank(rank));
                return Ok(());
            }
        }
        let of_each = ["in", "of", "on", "for", "by", "within"].contains(&item.rel.as_str());
        if self.mean && self.intent.keys.is_empty() && of_each && !item.neg {
            // `the average number of tracks in a playlist`.
            self.add_key(Key::Entity(table));
            return Ok(());
        }
        if table == subject {
            self.last = Some(table);
            // `… and what are the companies?`: they are shown, too.
            if item.their
                && item.and
                && !item.neg
                && matches!(self.ask, Ask::List | Ask::Who)
                && !self.intent.outputs.is_empty()
                && self.wishes.is_empty()
            {
                self.show_table(table);
                return Ok(());
            }
            // `places that have shops with …, and shops with …`: one shop or two.
            let both = self.chunks.iter().any(|c| c.kw == Some(Kw::Both));
            let verb = item.hints.iter().any(|h| self.sentence.hints.contains(h));
            let again = item.and && item.rel.is_empty() && !verb && !self.explicit;
            if again && !both && !self.intent.conds.is_empty() {
                self.doubt(format!("whether one of “{}” must be all of this is not said", noun.text));
            }
            if let Some(number) = noun.core.number {
                self.intent.limit = Some(number);
            }
            if item.neg && self.intent.conds.is_empty() {
                return Err(Unsure::new(format!("what “not {}” means is not clear", noun.text))
                    .with([table])
                    .into());
            }
            return Ok(());
        }
        if subject.0 == usize::MAX {
            self.intent.subject = table;
            self.near = vec![table];
            self.last = Some(table);
            return Ok(());
        }
        // Shown beside the subject: `albums and their artists`, `products with their categories`.
        let shared = item.and
            && !item.their
            && !noun.core.their
            && item.rel.is_empty()
            && self.heads.iter().any(|h| h.columns.iter().any(|(c, s)| c.table == table && *s >= 90));
        if shared && !self.heads.iter().any(Noun::is_table) {
            return Err(Unsure::new("the same is asked of two tables at once").with([subject, table]).into());
        }
        let beside = (item.their || noun.core.their || (item.and && item.rel.is_empty() && !item.have))
            && !item.neg
            && matches!(self.ask, Ask::List | Ask::Who);
        if beside && self.intent.conds.is_empty() {
            self.show_table(table);
            return Ok(());
        }
        self.last = Some(table);
        let to_one = self.schema.distance(subject, table).is_some();
        // `customers without a region`: their own column says it, whatever else is called so.
        let called = &self.schema.table(table).label.words;
        let own = self.schema.columns(subject).find(|(_, c)| !c.links && c.label.words == *called);
        if let Some((column, _)) = own
            && !to_one
            && (item.neg || item.have || item.rel == "with")
        {
            self.given(column, !item.neg, share);
            return Ok(());
        }
        if item.neg {
            self.branch += 1;
            self.cond(Test::Exists(table), true, share);
            return Ok(());
        }
        let pairs = self.schema.edges().any(|(_, e)| e.from == table && e.to == subject && e.unique);
        if to_one && pairs && !self.explicit {
            // Not every person is a gymnast.
            self.cond(Test::Exists(table), false, share);
            return Ok(());
        }
        let figure = |h: &Noun| h.columns.first().is_some_and(|(c, _)| self.schema.column(*c).is_figure());
        let listed = self.heads.iter().any(|h| h.is_column() && h.core.aggs.is_empty() && figure(h));
        if to_one && item.rel == "by" && item.hints.is_empty() && listed {
            let name = &self.schema.table(table).name.name;
            self.doubt(format!("whether figures are added up for each of {name} or listed is not said"));
        }
        if to_one {
            // Every row has one, so naming it says nothing more, unless having it is the point.
            if item.have && item.relative || self.ask == Ask::Share {
                self.cond(Test::Exists(table), false, share);
            }
            return Ok(());
        }
        // `columns of X` was used to find the subject; what has rows elsewhere is a condition.
        let owner_only = ["of", "for"].contains(&item.rel.as_str()) && !self.explicit;
        if !owner_only {
            self.cond(Test::Exists(table), false, share);
        }
        Ok(())
    }

    /// `not assigned`, `were sold`: the table or column that the verb names.
    fn verb(&mut self, item: &Item, verb: &str) -> Result<(), Stop> {
        let share = self.ask == Ask::Share && item.predicate;
        let subject = self.intent.subject;
        let stems =
            |words: &[String]| words.iter().any(|w| verb.split(' ').any(|v| crate::link::same_stem(v, w)));
        let exact: Vec<ColumnId> = self
            .schema
            .columns(subject)
            .filter(|(_, c)| !c.in_key && c.label.has(verb))
            .map(|(id, _)| id)
            .collect();
        let own: Vec<ColumnId> = if exact.len() == 1 {
            exact
        } else {
            self.schema
                .columns(subject)
                .filter(|(_, c)| stems(&c.label.words) && !c.is_figure() && !c.in_key)
                .map(|(id, _)| id)
                .collect()
        };
        if let [only] = own.as_slice() {
            if self.schema.column(*only).class == Class::Date {
                self.given(*only, !item.neg, share);
                return Ok(());
            }
            return self.flag(*only, item.neg, share);
        }
        let mut tables: Vec<TableId> = self
            .schema
            .tables()
            .filter(|(id, t)| {
                let made_of = t.label.words.last().is_some_and(|l| crate::link::speaks_of(verb, l));
                *id != subject
                    && (stems(&t.label.words) || made_of)
                    && self.schema.distance(*id, subject).is_some()
            })
            .map(|(id, _)| id)
            .collect();
        let sells = ["sold", "sell", "bought", "purchased", "ordered"].contains(&verb);
        if tables.len() > 1 {
            let exact: Vec<TableId> =
                tables.iter().filter(|t| self.schema.table(**t).label.words.len() == 1).copied().collect();
            if exact.len() == 1 {
                tables = exact;
            }
        }
        let lines =
            |t: TableId| self.schema.columns(t).any(|(_, c)| c.label.has("quantity") && c.is_figure());
        if sells
            && !item.neg
            && (lines(subject)
                || self.wishes.iter().any(|(w, _)| matches!(w, Wish::Fixed(m) if lines(m.of.table()))))
        {
            // The lines that are added up are what was sold.
            return Ok(());
        }
        if tables.is_empty() && sells {
            // What was sold stands on a line with a quantity.
            tables = self
                .schema
                .tables()
                .filter(|(id, _)| {
                    self.schema.columns(*id).any(|(_, c)| c.label.has("quantity") && c.is_figure())
                        && self.schema.edges().any(|(_, e)| e.from == *id && e.to == subject)
                })
                .map(|(id, _)| id)
                .collect();
        }
        // `never returned` may speak of all that was lent, and not of one.
        let never = self.chunks.iter().any(|c| c.words == ["never"]);
        if tables.is_empty()
            && !never
            && let Some(column) = self.done_on(verb)
        {
            self.branch += 1;
            self.undone.extend(item.neg.then_some(column));
            let (name, given) = (self.schema.spoken_column(column), if item.neg { "not " } else { "" });
            self.note(format!("“{given}{verb}” is taken as one whose {name} is {given}given"));
            self.cond(if item.neg { Test::Missing(column) } else { Test::Given(column) }, false, share);
            return Ok(());
        }
        let [only] = tables.as_slice() else {
            let not = if item.neg { "not " } else { "" };
            return Err(Unsure::new(format!("what “{not}{verb}” means here is not clear"))
                .with([subject])
                .into());
        };
        self.branch += 1;
        self.note(format!("“{verb}” is looked up in {}", self.schema.table(*only).name.name));
        self.cond(Test::Exists(*only), item.neg, share);
        Ok(())
    }

    /// `films not returned`: the only date, of the rows that belong to the subject, that says when it was done
    /// and may be missing.
    fn done_on(&self, verb: &str) -> Option<ColumnId> {
        let subject = self.intent.subject;
        let says = |words: &[String]| {
            words
                .iter()
                .filter(|w| *w != "date")
                .any(|w| verb.split(' ').any(|v| crate::link::same_stem(v, w)))
        };
        let mut found = self
            .schema
            .tables()
            .filter(|(t, table)| {
                *t != subject
                    && table.kind == dbagent_core::catalog::ObjectKind::Table
                    && self.schema.distance(*t, subject).is_some()
            })
            .flat_map(|(t, _)| self.schema.columns(t))
            .filter(|(_, c)| c.class == Class::Date && !c.required && says(&c.label.words))
            .map(|(id, _)| id);
        found.next().filter(|_| found.next().is_none())
    }
}
