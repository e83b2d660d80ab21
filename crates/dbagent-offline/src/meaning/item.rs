//! What narrows, groups and orders: each part of the sentence behind the nouns that are asked for.

mod compare;
mod value;

use super::noun::Noun;
use super::resolve::{Resolver, Use, Wish};
use super::{Key, Measure, Measured, OrderBy, Output, Ranked, Stop, Test, Unsure, measure, pick};
use crate::intent::{Ask, Dir, Figure, Item, Kw, Rank, RankBy, What};
use crate::plan::{Agg, Op, Place};
use crate::schema::{Class, ColumnId, TableId};

impl Resolver<'_> {
    pub(super) fn place_item(&mut self, at: usize) -> Result<(), Stop> {
        let Some(item) = self.item(at).cloned() else { return Ok(()) };
        // Another clause speaks of another row.
        if item.and || item.have && !item.relative {
            self.branch += 1;
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

    /// `shipped after the required date`: two dates of a row.
    fn beside_date(&mut self, item: &Item, noun: &Noun) -> Result<(), Stop> {
        let near = self.around(self.last);
        let other = self.column(noun, &near)?;
        let (column, _) = measure::date_column(self.schema, &near, &item.hints)?;
        if self.schema.column(other).class != Class::Date || column == other {
            return Err(
                Unsure::new(format!("“{} {}” is no date that is understood", item.rel, noun.text)).into()
            );
        }
        let op = match item.rel.as_str() {
            "before" | "prior to" | "earlier than" => Op::Lt,
            "until" | "till" => Op::Le,
            "since" => Op::Ge,
            _ => Op::Gt,
        };
        self.cond(Test::Columns(column, op, other), item.neg, self.ask == Ask::Share && item.predicate);
        Ok(())
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
        if table == subject {
            self.last = Some(table);
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
        if item.neg {
            self.branch += 1;
            self.cond(Test::Exists(table), true, share);
            return Ok(());
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

    fn place_column(&mut self, item: &Item, noun: &Noun, share: bool) -> Result<(), Stop> {
        let near = self.around(self.last);
        let column = self.column(noun, &near)?;
        let class = self.schema.column(column).class;
        let figure = self.schema.column(column).is_figure();
        // A word that only reminds of a link means the table behind it.
        let score = noun.columns.iter().find(|(c, _)| *c == column).map_or(0, |(_, s)| *s);
        if score < 90
            && let Some((_, edge)) = self.schema.edge_at(column)
        {
            let to = edge.to;
            return self.place_table(item, noun, to, share);
        }
        if item.rel == "by" && !item.neg && item.hints.is_empty() {
            if let Some(rank) = self.rank.take() {
                if figure {
                    return self.rank_by_column(column, rank, None);
                }
                self.rank = Some(rank);
            }
            if self.adds_up() {
                self.add_key(Key::Column(column));
                return Ok(());
            }
            self.intent.order.push((OrderBy::Column(column), false));
            return Ok(());
        }
        if item.and
            && !item.their
            && !self.intent.keys.is_empty()
            && self.ask == Ask::Count
            && !item.have
            && !item.relative
        {
            self.add_key(Key::Column(column));
            return Ok(());
        }
        let with_their = item.their || noun.core.their;
        let listed = !matches!(self.ask, Ask::Exists | Ask::Share | Ask::Versus)
            && (self.ask != Ask::Count || !self.intent.keys.is_empty());
        if listed && !item.neg && (with_their || (item.and && !item.relative && item.hints.is_empty())) {
            if item.rel == "as" && self.last_values.as_ref().is_some_and(|v| v.contains(&column)) {
                return Ok(());
            }
            if !self.intent.keys.is_empty() {
                self.show_column(noun, column);
                return Ok(());
            }
            self.beside(noun, column);
            return Ok(());
        }
        if item.have || item.rel == "without" {
            // `with a fax` speaks of those who have one; `with fax` and `with their fax` show it.
            let article = noun.core.head().and_then(|h| h.checked_sub(1)).and_then(|b| self.chunks.get(b));
            let has_one =
                article.is_some_and(|c| ["a", "an", "any"].contains(&c.text.to_lowercase().as_str()));
            let plain_with = item.hints.last().is_some_and(|h| h == "with") && !has_one;
            if plain_with && !item.neg && listed {
                self.beside(noun, column);
                return Ok(());
            }
            self.branch += 1;
            self.given(column, !item.neg, share);
            return Ok(());
        }
        if item.predicate || item.relative {
            if class == Class::Date {
                self.given(column, !item.neg, share);
                return Ok(());
            }
            if self.facts.seen.contains_key(&column)
                || matches!(class, Class::Bool | Class::Int | Class::Text | Class::Unknown)
            {
                return self.flag(column, item.neg, share);
            }
        }

        Err(Unsure::new(format!("what “{}” has to do with the question is not clear", noun.text))
            .with([column.table])
            .into())
    }

    /// Shows a column beside what is shown already.
    fn beside(&mut self, noun: &Noun, column: ColumnId) {
        if self.intent.outputs.is_empty() && self.intent.subject.0 != usize::MAX {
            let own = self.schema.shown_columns(self.intent.subject);
            self.intent.outputs.extend(own.into_iter().map(Output::Column));
        }
        self.show_column(noun, column);
    }

    /// A figure behind the subject: `and their total sales`, `by revenue`, `who spent`.
    fn place_figure(&mut self, item: &Item, noun: &Noun) -> Result<(), Stop> {
        if noun.core.aggs.is_empty() {
            let figure = noun.figure.unwrap_or(Figure::Revenue);
            let wish = Wish::Figure(figure, Agg::Sum);
            self.premodifiers(noun, item.predicate)?;
            if item.rel == "by" {
                return self.by_wish(wish);
            }
            let shown =
                item.their || noun.core.their || item.and || item.hints.last().is_some_and(|h| h == "with");
            if shown && self.intent.subject.0 != usize::MAX {
                self.wish(wish, Use::Show);
                return Ok(());
            }
            if self.ask == Ask::Sum && !self.wishes.is_empty() {
                return Ok(());
            }
            self.pending = Some(wish);
            if self.heads.iter().all(|h| h.core.each) || !self.intent.keys.is_empty() {
                self.wish(wish, Use::Show);
            }
            return Ok(());
        }
        self.premodifiers(noun, item.predicate)?;
        if item.rel == "by" {
            if let Some(rank) = self.rank.take() {
                return self.aggregated(noun, Use::Rank(rank));
            }
            return self.aggregated(noun, Use::Order(true));
        }
        self.aggregated(noun, Use::Show)
    }

    fn by_wish(&mut self, wish: Wish) -> Result<(), Stop> {
        match self.rank.take() {
            Some(rank) => self.wish(wish, Use::Rank(rank)),
            None => self.wish(wish, Use::Order(true)),
        }
        Ok(())
    }

    /// `not assigned`, `were sold`: the table or column that the verb names.
    fn verb(&mut self, item: &Item, verb: &str) -> Result<(), Stop> {
        let share = self.ask == Ask::Share && item.predicate;
        let subject = self.intent.subject;
        let stems =
            |words: &[String]| words.iter().any(|w| verb.split(' ').any(|v| crate::link::same_stem(v, w)));
        let exact: Vec<ColumnId> =
            self.schema.columns(subject).filter(|(_, c)| c.label.has(verb)).map(|(id, _)| id).collect();
        let own: Vec<ColumnId> = if exact.len() == 1 {
            exact
        } else {
            self.schema.columns(subject).filter(|(_, c)| stems(&c.label.words)).map(|(id, _)| id).collect()
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
                *id != subject && stems(&t.label.words) && self.schema.distance(*id, subject).is_some()
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

    fn place_part(&mut self, item: &Item, noun: &Noun, part: crate::plan::Part) -> Result<(), Stop> {
        let near = self.around(self.last);
        let (column, note) = measure::date_column(self.schema, &near, &item.hints)?;
        if noun.core.each || item.rel == "by" || item.rel == "per" || self.adds_up() {
            self.note(note.unwrap_or_default());
            self.add_key(Key::Part(part, column));
            return Ok(());
        }
        Err(Unsure::new(format!("what “{}” has to do with the question is not clear", noun.text)).into())
    }

    fn place_group(&mut self, item: &Item, noun: &Noun) -> Result<(), Stop> {
        self.premodifiers(noun, item.predicate)?;
        if !noun.core.aggs.is_empty() {
            // `for each, the number of …`: the figure of what was named before.
            return self.aggregated(noun, Use::Show);
        }
        let adds_up = self.adds_up() || self.pending.is_some() || self.mean || self.later_figures();
        if !adds_up {
            if noun.is_table() {
                let Some(table) = noun.table else { return Ok(()) };
                // `the title of each album`: every row of it.
                if table == self.intent.subject || self.schema.distance(table, self.intent.subject).is_some()
                {
                    if table != self.intent.subject {
                        self.show_first(table);
                    }
                    return Ok(());
                }
                if self.schema.distance(self.intent.subject, table).is_some()
                    && !self.intent.outputs.is_empty()
                {
                    self.show_first(table);
                    return Ok(());
                }
            }
            if matches!(self.intent.rank.map(|r| r.by), Some(OrderBy::Column(_))) {
                return self.group(noun);
            }
            // `customers per country`: how many of them.
            if matches!(self.ask, Ask::List)
                && self.explicit
                && self.intent.outputs.is_empty()
                && self.intent.rank.is_none()
            {
                let rows = Measure { agg: Agg::Count, of: Measured::Rows(self.intent.subject) };
                self.note("the number in each group is meant");
                self.explicit = false;
                self.wish(Wish::Fixed(rows), Use::Show);
            } else {
                return Err(
                    Unsure::new(format!("what is wanted for each “{}” is not clear", noun.text)).into()
                );
            }
        }
        self.group(noun)
    }

    fn show_first(&mut self, table: TableId) {
        let own = self.schema.shown_columns(table);
        let mut outputs: Vec<Output> = own.into_iter().map(Output::Column).collect();
        for o in std::mem::take(&mut self.intent.outputs) {
            if !outputs.contains(&o) {
                outputs.push(o);
            }
        }
        if outputs.iter().all(|o| matches!(o, Output::Column(c) if c.table == table)) {
            let subject = self.schema.shown_columns(self.intent.subject);
            outputs.extend(subject.into_iter().map(Output::Column));
        }
        self.intent.outputs = outputs;
    }

    /// Whether a figure is named behind the group.
    fn later_figures(&self) -> bool {
        self.items.iter().flatten().any(|n| !n.core.aggs.is_empty() || n.figure.is_some())
            || self.heads.iter().any(|h| !h.core.aggs.is_empty() || h.figure.is_some())
    }

    /// One line for each of these.
    pub(super) fn group(&mut self, noun: &Noun) -> Result<(), Stop> {
        let near = self.around(None);
        if let Some(part) = noun.part {
            let (column, note) = measure::date_column(self.schema, &near, &[])?;
            self.note(note.unwrap_or_default());
            self.add_key(Key::Part(part, column));
            return Ok(());
        }
        if noun.is_column() {
            let column = self.column(noun, &near)?;
            let named = noun.table.is_some() && self.schema.name_columns(column.table).contains(&column);
            self.add_key(if named { Key::Entity(column.table) } else { Key::Column(column) });
            if self.intent.subject.0 == usize::MAX {
                self.intent.subject = column.table;
            }
            return Ok(());
        }
        if let Some(table) = noun.table {
            self.add_key(Key::Entity(table));
            if self.intent.subject.0 == usize::MAX {
                self.intent.subject = table;
            }
            return Ok(());
        }
        Err(Unsure::new(format!("what each “{}” is, is not clear", noun.text)).into())
    }

    /// `with the most tracks`, `that spent the most`, `with the highest average price`.
    fn place_rank(&mut self, item: &Item, noun: Option<&Noun>, rank: Rank) -> Result<(), Stop> {
        if self.ask == Ask::Versus {
            return self.versus(item, noun, rank);
        }
        let Some(noun) = noun else {
            return self.bare_rank(item, rank);
        };
        if let RankBy::Adjective(adjective) = rank.by {
            if noun.is_table()
                && let Some(table) = noun.table
            {
                let Some((column, up)) = measure::adjective_column(self.schema, adjective, table) else {
                    return Err(Unsure::new(format!(
                        "no column of {} says how {} it is",
                        noun.text, adjective.name
                    ))
                    .with([table])
                    .into());
                };
                let descending = measure::descends(rank.dir, up);
                return self.rank_by_column(column, rank, Some(descending));
            }
            if noun.is_column() {
                let near = self.around(self.last);
                let column = self.column(noun, &near)?;
                let down = adjective.down.iter().any(|w| self.schema.column(column).label.has(w));
                return self.rank_by_column(column, rank, Some(measure::descends(rank.dir, !down)));
            }
        }
        if rank.by == RankBy::Time {
            self.rank = None;
            return self.bare_rank(item, rank);
        }
        let rank = Rank { by: RankBy::Named, ..rank };
        if !noun.core.aggs.is_empty() {
            return self.aggregated(noun, Use::Rank(rank));
        }
        if let Some(figure) = noun.figure {
            self.wish(Wish::Figure(figure, Agg::Sum), Use::Rank(rank));
            return Ok(());
        }
        if noun.is_column() {
            let near = self.around(self.last);
            let column = self.column(noun, &near)?;
            if self.schema.column(column).is_figure() || self.schema.column(column).class == Class::Date {
                return self.rank_by_column(column, rank, None);
            }
            if !rank.total {
                return Err(Unsure::new(format!("{} is no figure", self.schema.spoken_column(column)))
                    .with([column.table])
                    .into());
            }
            self.wish(
                Wish::Fixed(Measure { agg: Agg::Count, of: Measured::Values(column) }),
                Use::Rank(rank),
            );
            return Ok(());
        }
        if let Some(table) = noun.table {
            self.last = Some(table);
            if table == self.intent.subject && self.intent.keys.is_empty() && self.explicit {
                return Err(Unsure::new(format!("the most {} of what is not clear", noun.text))
                    .with([table])
                    .into());
            }
            let rows = Measure { agg: Agg::Count, of: Measured::Rows(table) };
            self.wish(Wish::Fixed(rows), Use::Rank(rank));
            return Ok(());
        }
        Err(Unsure::new("what decides the first place is not clear").into())
    }

    /// Ranks the subject by a column: its own, or the highest among the rows that belong to it.
    fn rank_by_column(&mut self, column: ColumnId, rank: Rank, descending: Option<bool>) -> Result<(), Stop> {
        let subject = self.intent.subject;
        let c = self.schema.column(column);
        if !(c.is_figure() || matches!(c.class, Class::Date | Class::Int | Class::Real)) || c.links {
            return Err(Unsure::new(format!("{} is no figure", self.schema.spoken_column(column)))
                .with([column.table])
                .into());
        }
        let descending = descending.unwrap_or(rank.dir == Dir::Most);
        let grouped = !self.explicit && self.intent.outputs.iter().any(|o| matches!(o, Output::Column(c) if c.table == column.table && !self.schema.name_columns(c.table).contains(c)));
        if self.schema.distance(subject, column.table).is_some()
            && !(grouped && self.intent.keys.is_empty() && self.sums_up(column))
        {
            let by = OrderBy::Column(column);
            return self.ranked(Ranked { by, descending, limit: rank.limit, place: rank.place });
        }
        if rank.total && self.schema.column(column).is_figure() {
            let sum = Measure { agg: Agg::Sum, of: Measured::Column(column) };
            self.wish(Wish::Fixed(sum), Use::Rank(rank));
            return Ok(());
        }
        let agg = if descending { Agg::Max } else { Agg::Min };
        let rank = Rank { dir: if descending { Dir::Most } else { Dir::Least }, ..rank };
        let word = if descending { "highest" } else { "lowest" };
        self.note(format!("the {word} single {} decides", self.schema.spoken_column(column)));
        self.wish(Wish::Fixed(Measure { agg, of: Measured::Column(column) }), Use::Rank(rank));
        Ok(())
    }

    fn sums_up(&self, column: ColumnId) -> bool {
        self.schema.column(column).is_figure() && self.pending.is_some()
    }

    /// A superlative without a noun: `that is the longest`, `spent the most`, `was placed last`.
    fn bare_rank(&mut self, item: &Item, rank: Rank) -> Result<(), Stop> {
        let subject = self.intent.subject;
        match rank.by {
            RankBy::Adjective(adjective) => {
                for table in self.last.into_iter().chain([subject]) {
                    if let Some((column, up)) = measure::adjective_column(self.schema, adjective, table) {
                        return self.rank_by_column(column, rank, Some(measure::descends(rank.dir, up)));
                    }
                }
                Err(Unsure::new(format!("no column says how {} it is", adjective.name))
                    .with([subject])
                    .into())
            }
            RankBy::Sold => {
                self.note("best selling is taken as most pieces sold");
                self.wish(Wish::Figure(Figure::Units, Agg::Sum), Use::Rank(rank));
                Ok(())
            }
            RankBy::Time => {
                let near = self.around(self.last);
                let (column, note) = measure::date_column(self.schema, &near, &item.hints)?;
                self.note(note.unwrap_or_default());
                self.rank_by_column(column, rank, Some(rank.dir == Dir::Most))
            }
            RankBy::Named => {
                if let Some(wish) = self.pending.take() {
                    self.wish(wish, Use::Rank(rank));
                    return Ok(());
                }
                // `bought the most`, `sold the most`.
                let sells = item.hints.iter().any(|h| {
                    [
                        "sell",
                        "sells",
                        "sold",
                        "selling",
                        "buy",
                        "bought",
                        "purchased",
                        "earned",
                        "generated",
                        "made",
                        "brought in",
                        "generate",
                        "generates",
                    ]
                    .contains(&h.as_str())
                });
                let pieces = item
                    .hints
                    .iter()
                    .any(|h| ["sold", "bought", "purchased", "ordered"].contains(&h.as_str()));
                if pieces && self.has_lines(subject) {
                    self.wish(Wish::Figure(Figure::Units, Agg::Sum), Use::Rank(rank));
                    return Ok(());
                }
                if sells {
                    self.wish(Wish::Figure(Figure::Revenue, Agg::Sum), Use::Rank(rank));
                    return Ok(());
                }
                Err(Unsure::new("the most of what is not said").with([subject]).into())
            }
            RankBy::Frequency => Err(Unsure::new("what is counted is not clear").with([subject]).into()),
        }
    }

    /// `more tracks in Rock or in Jazz`: the values side by side.
    fn versus(&mut self, _item: &Item, noun: Option<&Noun>, rank: Rank) -> Result<(), Stop> {
        let counted = noun.filter(|n| n.is_table()).and_then(|n| n.table);
        if let Some(t) = counted
            && self.intent.subject.0 == usize::MAX
        {
            self.intent.subject = t;
            self.near = vec![t];
        }
        let hits: Vec<(Noun, Item)> = (0..self.items.len())
            .filter_map(|i| Some((self.noun(i)?, self.item(i)?.clone())))
            .filter(|(n, _)| !n.values.is_empty())
            .collect();
        let mut columns: Vec<ColumnId> = Vec::new();
        let mut values = Vec::new();
        for (n, item) in &hits {
            for v in &n.values {
                let found = self.hits_of(n, v, Some(item))?;
                for hit in found {
                    if columns.is_empty() {
                        columns.clone_from(&hit.columns);
                    }
                    if columns == hit.columns {
                        values.push(crate::plan::Value::Text(hit.value));
                    }
                }
                self.last_values = Some(columns.clone());
            }
        }
        let (&[column], true) = (columns.as_slice(), values.len() >= 2) else {
            return Err(Unsure::new("which two are compared is not clear").into());
        };
        for i in 0..self.items.len() {
            if self.noun(i).is_some_and(|n| !n.values.is_empty()) {
                self.skip.insert(i);
            }
        }
        let key = if self.schema.name_columns(column.table).contains(&column)
            && self.schema.single_key(column.table).is_some()
        {
            Key::Entity(column.table)
        } else {
            Key::Column(column)
        };
        self.add_key(key);
        self.intent.outputs = vec![Output::Column(column)];
        self.cond(Test::In(columns, values), false, false);
        self.intent.form = super::Form::Versus;
        self.explicit = false;
        let wish = match (noun, counted) {
            (_, Some(t)) => Wish::Fixed(Measure { agg: Agg::Count, of: Measured::Rows(t) }),
            (Some(n), None) if n.figure.is_some() => {
                Wish::Figure(n.figure.unwrap_or(Figure::Revenue), Agg::Sum)
            }
            _ if self.intent.subject.0 != usize::MAX && self.intent.subject != column.table => {
                Wish::Fixed(Measure { agg: Agg::Count, of: Measured::Rows(self.intent.subject) })
            }
            _ if !self.schema.name_columns(column.table).contains(&column) => {
                self.intent.subject = column.table;
                Wish::Fixed(Measure { agg: Agg::Count, of: Measured::Rows(column.table) })
            }
            _ => return Err(Unsure::new("what there is more of is not clear").into()),
        };
        let rank = Rank { limit: Some(u64::try_from(values_len(&self.intent.conds)).unwrap_or(2)), ..rank };
        self.wish(wish, Use::Rank(rank));
        Ok(())
    }

    fn order(&mut self, noun: Option<&Noun>, descending: Option<bool>) -> Result<(), Stop> {
        let Some(noun) = noun else {
            if self.adds_up() {
                self.order_by_figure = Some(descending.unwrap_or(false));
                return Ok(());
            }
            let name = self.intent.outputs.iter().find_map(|o| match o {
                Output::Column(c) => Some(*c),
                Output::Parent { .. } => None,
            });
            let name = name.or_else(|| self.schema.shown_columns(self.intent.subject).first().copied());
            if let Some(c) = name {
                self.intent.order.push((OrderBy::Column(c), descending.unwrap_or(false)));
            }
            return Ok(());
        };
        let descending = descending.unwrap_or(false);
        if !noun.core.aggs.is_empty() {
            return self.aggregated(noun, Use::Order(descending));
        }
        if let Some(figure) = noun.figure {
            self.wish(Wish::Figure(figure, Agg::Sum), Use::Order(descending));
            return Ok(());
        }
        if noun.is_column() {
            let near = self.around(None);
            let column = self.column(noun, &near)?;
            self.intent.order.push((OrderBy::Column(column), descending));
            return Ok(());
        }
        if let Some(table) = noun.table
            && let Some(name) = self.schema.shown_columns(table).first()
        {
            self.intent.order.push((OrderBy::Column(*name), descending));
            return Ok(());
        }
        if noun.part.is_some() {
            let near = self.around(None);
            let (column, _) = measure::date_column(self.schema, &near, &[])?;
            self.intent.order.push((OrderBy::Column(column), descending));
            return Ok(());
        }
        Err(Unsure::new(format!("what “{}” orders by is not clear", noun.text)).into())
    }

    fn like(&mut self, item: &Item, noun: Option<&Noun>, place: Place, chunk: usize) -> Result<(), Stop> {
        let Some(text) = self.chunks.get(chunk).map(|c| c.text.clone()) else { return Ok(()) };
        let near = self.around(self.last);
        let columns = match noun {
            Some(n) if n.is_column() => vec![self.column(n, &near)?],
            _ => {
                // `with 'love' in the title`.
                let named = (0..self.items.len()).filter(|i| !self.skip.contains(i)).find(|i| {
                    self.item(*i).is_some_and(|x| x.at > item.at && x.rel == "in")
                        && self.noun(*i).is_some_and(|n| n.is_column() && n.values.is_empty())
                });
                match named.and_then(|i| self.noun(i).map(|n| (i, n))) {
                    Some((i, n)) => {
                        self.skip.insert(i);
                        vec![self.column(&n, &near)?]
                    }
                    None => {
                        let table = self.last.unwrap_or(self.intent.subject);
                        self.schema.name_columns(table)
                    }
                }
            }
        };
        let Some(first) = columns.first() else {
            return Err(Unsure::new(format!("which text holds “{text}” is not said")).into());
        };
        let share = self.ask == Ask::Share && item.predicate;
        // A first or last name alone is what people mean by a name that starts with something.
        let columns = if place == Place::Anywhere { columns.clone() } else { vec![*first] };
        self.cond(Test::Like(columns, place, text), item.neg, share);
        Ok(())
    }

    /// `named X`: the name of the table that was spoken of last.
    fn named(&mut self, item: &Item, chunk: usize) -> Result<(), Stop> {
        let Some(c) = self.chunks.get(chunk) else { return Ok(()) };
        let table = self.last.unwrap_or(self.intent.subject);
        let names = self.schema.name_columns(table);
        let share = self.ask == Ask::Share && item.predicate;
        let own: Vec<_> =
            c.hits.iter().filter(|h| h.columns.first().is_some_and(|c| c.table == table)).cloned().collect();
        if own.is_empty() {
            if names.is_empty() {
                return Err(Unsure::new(format!("{} has no names", self.schema.table(table).name.name))
                    .with([table])
                    .into());
            }
            // It is looked for all the same, so that the answer is: there is none.
            let columns = if names.len() == 2 && !c.text.contains(' ') {
                names.into_iter().take(1).collect()
            } else {
                names
            };
            self.cond(Test::In(columns, vec![crate::plan::Value::Text(c.text.clone())]), item.neg, share);
            return Ok(());
        }
        let around = pick::Around {
            near: &[table],
            beside: &names,
            tables: &[table],
            hints: &[],
            by: false,
            not_name_of: &[],
        };
        let found = pick::hits(self.schema, &own, &around, &c.text)?;
        self.push_hits(&found, item.neg, share);
        self.last_values = found.first().map(|h| h.columns.clone());
        Ok(())
    }

    pub(super) fn unit(&self, at: Option<usize>) -> Option<crate::intent::Unit> {
        match at.and_then(|a| self.kw(a)) {
            Some(Kw::Unit(u)) => Some(u),
            _ => None,
        }
    }

    /// How many of something: `more than 10 albums`.
    fn number(&mut self, item: &Item, noun: &Noun, op: Op, number: f64) -> Result<(), Stop> {
        let near = self.around(self.last);
        if noun.is_column() {
            let column = self.column(noun, &near)?;
            if self.schema.column(column).is_figure() {
                let value = self.converted(column, number, None);
                let share = self.ask == Ask::Share && item.predicate;
                self.cond(Test::Compare(column, op, value), item.neg, share);
                return Ok(());
            }
            let op = if item.neg { op.negated() } else { op };
            let of = if self.schema.single_key(column.table) == Some(column)
                || (self.schema.name_columns(column.table).contains(&column) && !noun.core.distinct)
            {
                Measured::Rows(column.table)
            } else {
                Measured::Values(column)
            };
            return self.having(item, Measure { agg: Agg::Count, of }, op, number);
        }
        let op = if item.neg { op.negated() } else { op };
        if let Some(figure) = noun.figure {
            self.wish(Wish::Figure(figure, Agg::Sum), Use::Having(op, number));
            return Ok(());
        }
        let Some(table) = noun.table else {
            return Err(Unsure::new(format!("what “{}” counts is not clear", noun.text)).into());
        };
        self.last = Some(table);
        self.having(item, Measure { agg: Agg::Count, of: Measured::Rows(table) }, op, number)
    }

    fn having(&mut self, item: &Item, measure: Measure, op: Op, number: f64) -> Result<(), Stop> {
        let subject = self.intent.subject;
        // A condition on another table than the subject is one of its own.
        if let Some(last) = self.last
            && last != subject
            && last != measure.of.table()
            && self.explicit
            && item.relative
        {
            self.cond(Test::Grouped(last, super::Having { measure, op, value: number }), false, false);
            return Ok(());
        }
        if self.ask == Ask::Share {
            self.cond(Test::Grouped(subject, super::Having { measure, op, value: number }), false, true);
            return Ok(());
        }
        let zero = match op {
            Op::Lt | Op::Le => true,
            Op::Eq => number == 0.0,
            Op::Ne => number != 0.0,
            Op::Gt | Op::Ge => false,
        };
        self.intent.with_empty |= zero;
        self.wish(Wish::Fixed(measure), Use::Having(op, number));
        Ok(())
    }
}

fn values_len(conds: &[super::Cond]) -> usize {
    conds
        .iter()
        .map(|c| match &c.test {
            Test::In(_, v) => v.len(),
            _ => 0,
        })
        .max()
        .unwrap_or(2)
}
