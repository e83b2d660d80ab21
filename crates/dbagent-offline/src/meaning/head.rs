//! The subject of a question and the nouns it asks for.

use std::collections::BTreeSet;

use super::noun::Noun;
use super::resolve::{Resolver, Use, Wish};
use super::{Key, Measure, Measured, OrderBy, Output, Ranked, Stop, Unsure, measure, pick};
use crate::intent::{Ask, Dir, Figure, Kw, Operand, Rank, RankBy, What};
use crate::plan::Agg;
use crate::schema::{Class, ColumnId, TableId};

impl Resolver<'_> {
    /// `the average price and size`: the average of both.
    pub(super) fn share_figures(&mut self) {
        let mut before: Vec<Agg> = Vec::new();
        for head in &mut self.heads {
            let figure = head.columns.first().is_some_and(|(c, _)| self.schema.column(*c).is_figure());
            if figure && head.core.aggs.is_empty() && !before.contains(&Agg::Count) {
                head.core.aggs.clone_from(&before);
            }
            before.clone_from(&head.core.aggs);
        }
    }

    /// Places the nouns that are asked for.
    pub(super) fn place_heads(&mut self) -> Result<(), Stop> {
        for at in 0..self.heads.len() {
            let Some(head) = self.heads.get(at).cloned() else { break };
            self.place_head(at, &head)?;
        }
        self.one_owner_of_heads()?;
        match self.ask {
            Ask::When if self.heads.iter().all(|h| !h.is_column()) => {
                let hints = self.sentence.hints.clone();
                let near = self.around(None);
                let (column, note) = measure::date_column(self.schema, &near, &hints)?;
                self.note(note.unwrap_or_default());
                self.intent.outputs.push(Output::Column(column));
            }
            Ask::Where => {
                let subject = self.intent.subject;
                let places: Vec<ColumnId> = self
                    .schema
                    .columns(subject)
                    .filter(|(_, c)| {
                        c.label.has_any(&[
                            "city", "country", "address", "location", "state", "place", "venue", "county",
                        ])
                    })
                    .map(|(id, _)| id)
                    .collect();
                if places.is_empty() {
                    return Err(Unsure::new("no column says where").with([subject]).into());
                }
                self.intent.outputs.extend(places.into_iter().map(Output::Column));
            }
            Ask::Measure(adjective) => {
                let subject = self.intent.subject;
                let found = measure::adjective_column(self.schema, adjective, subject);
                if found.is_some_and(|(c, _)| self.schema.column(c).class == Class::Date)
                    && adjective.name == "old"
                {
                    let why = "how old it is depends on the day of the question, which is not known here";
                    return Err(Unsure::new(why).with([subject]).into());
                }
                let parts: Vec<ColumnId> = self
                    .schema
                    .edges()
                    .filter(|(_, e)| e.to == subject && e.from != subject)
                    .filter_map(|(_, e)| measure::adjective_column(self.schema, adjective, e.from))
                    .map(|(c, _)| c)
                    .filter(|c| self.schema.column(*c).is_figure())
                    .collect();
                if let (None, [only]) = (found, parts.as_slice()) {
                    // An album is as long as its tracks together.
                    self.note(format!("it is the sum of {}", self.schema.spoken_column(*only)));
                    self.explicit = false;
                    self.wish(Wish::Fixed(Measure { agg: Agg::Sum, of: Measured::Column(*only) }), Use::Show);
                    return Ok(());
                }
                if let Some((column, _)) = found {
                    self.one_measure(adjective, column);
                }
                let Some((column, _)) = found else {
                    return Err(Unsure::new(format!("no column says how {} it is", adjective.name))
                        .with([subject])
                        .into());
                };
                self.intent.outputs.push(Output::Column(column));
            }
            Ask::Sum if self.heads.is_empty() && self.pending.is_none() => self.how_much()?,
            _ => {}
        }
        Ok(())
    }

    /// `How much …` without a noun: a price where something costs, else money.
    fn how_much(&mut self) -> Result<(), Stop> {
        let costs = self.sentence.items.iter().any(|i| i.hints.iter().any(|h| h == "cost"));
        let trailing = self.chunks.iter().any(|c| c.words.first().is_some_and(|w| w.starts_with("cost")));
        if costs || trailing {
            let subject = self.intent.subject;
            let price = self
                .schema
                .columns(subject)
                .find(|(_, c)| c.is_figure() && c.label.has_any(&["price", "cost", "fee", "fare"]));
            let Some((column, _)) = price else {
                return Err(Unsure::new("no column says what it costs").with([subject]).into());
            };
            self.explicit = true;
            self.ask = Ask::List;
            self.intent.outputs.push(Output::Column(column));
            return Ok(());
        }
        self.explicit = false;
        self.wish(Wish::Figure(Figure::Revenue, Agg::Sum), Use::Show);
        Ok(())
    }

    fn place_head(&mut self, at: usize, head: &Noun) -> Result<(), Stop> {
        self.premodifiers(head, false)?;
        if head.core.each && head.is_table() && self.heads.len() > 1 {
            if let Some(t) = head.table {
                self.add_key(Key::Entity(t));
            }
            return Ok(());
        }
        if head.core.each && self.heads.len() > 1 {
            return self.group(head);
        }
        if !head.core.aggs.is_empty() {
            return self.aggregated(head, Use::Show);
        }
        if let Some(figure) = head.figure {
            if let Some(part) = head.part {
                // `monthly sales`.
                let near = self.around(None);
                let (column, note) = measure::date_column(self.schema, &near, &[])?;
                self.note(note.unwrap_or_default());
                self.add_key(Key::Part(part, column));
            }
            let wish = Wish::Figure(figure, Agg::Sum);
            if let Some(rank) = head.core.rank {
                self.rank = Some(rank);
            }
            self.wish(wish, Use::Show);
            return Ok(());
        }
        if let Some(part) = head.part {
            let near = self.around(None);
            let (column, note) = measure::date_column(self.schema, &near, &[])?;
            self.note(note.unwrap_or_default());
            self.add_key(Key::Part(part, column));
            return Ok(());
        }
        if let Some(number) = head.core.number
            && head.core.rank.is_none()
        {
            self.intent.limit = Some(number);
        }
        if head.is_column() {
            return self.column_head(at, head);
        }
        if head.is_table() {
            return self.table_head(at, head);
        }
        if let Some(rank) = head.core.rank {
            // `the most expensive beverage`.
            let table = self.intent.subject;
            return self.head_rank(head, rank, table);
        }
        Ok(())
    }

    fn table_head(&mut self, at: usize, head: &Noun) -> Result<(), Stop> {
        let Some(table) = head.table else { return Ok(()) };
        if at > 0 && table != self.intent.subject {
            match self.ask {
                Ask::Count => {
                    return Err(Unsure::new("two things are to be counted at once")
                        .with([self.intent.subject, table])
                        .into());
                }
                _ => self.show_table(table),
            }
        }
        if at == 0 && self.heads.len() > 1 && self.ask == Ask::List && head.core.rank.is_none() {
            let own = self.schema.shown_columns(table);
            self.intent.outputs.extend(own.into_iter().map(Output::Column));
        }
        if matches!(self.ask, Ask::Sum | Ask::Count) {
            // Rows of the table, or the figure that each of them holds?
            let called = &self.schema.table(table).label.words;
            if self.schema.columns(table).any(|(_, c)| c.is_figure() && c.label.words == *called) {
                return Err(Unsure::new(format!("“{}” is a table and a figure in it", head.text))
                    .with([table])
                    .into());
            }
        }
        if self.ask == Ask::Sum {
            self.ask = Ask::Count;
        }
        if self.ask == Ask::Count {
            self.kept_count(table)?;
        }
        if let Some(rank) = head.core.rank {
            self.head_rank(head, rank, table)?;
        }
        Ok(())
    }

    /// Shows rows of another table beside the subject.
    pub(super) fn show_table(&mut self, table: TableId) {
        if self.intent.outputs.is_empty() {
            let own = self.schema.shown_columns(self.intent.subject);
            self.intent.outputs.extend(own.into_iter().map(Output::Column));
        }
        for c in self.schema.shown_columns(table) {
            if !self.intent.outputs.contains(&Output::Column(c)) {
                self.intent.outputs.push(Output::Column(c));
            }
        }
        self.last = Some(table);
    }

    /// `the longest tracks`, `top 5 customers`, `the highest salary employees`.
    fn head_rank(&mut self, head: &Noun, rank: Rank, table: TableId) -> Result<(), Stop> {
        let by_column = |r: &mut Self, column: ColumnId, descending: bool| {
            r.intent.rank = Some(Ranked {
                by: OrderBy::Column(column),
                descending,
                limit: rank.limit,
                place: rank.place,
            });
        };
        match rank.by {
            RankBy::Adjective(adjective) => {
                if let Some((column, up)) = measure::adjective_column(self.schema, adjective, table) {
                    self.one_measure(adjective, column);
                    by_column(self, column, measure::descends(rank.dir, up));
                    return Ok(());
                }
                // What the table itself does not hold may be said later: `the biggest customers by sales`.
                self.rank = Some(Rank { by: RankBy::Named, ..rank });
                let _ = adjective;
                Ok(())
            }
            RankBy::Time => {
                let hints = self.sentence.hints.clone();
                let dated = measure::date_column(self.schema, &[table], &hints);
                match dated {
                    Ok((column, note)) if column.table == table => {
                        self.note(note.unwrap_or_default());
                        by_column(self, column, rank.dir == Dir::Most);
                    }
                    _ => {
                        let Some(key) = self.schema.single_key(table) else {
                            return Err(Unsure::new("what the first one is, is not clear")
                                .with([table])
                                .into());
                        };
                        self.note(format!("first and last go by {}", self.schema.spoken_column(key)));
                        by_column(self, key, rank.dir == Dir::Most);
                        if let Some(r) = &mut self.intent.rank {
                            r.limit = r.limit.or(Some(1));
                        }
                    }
                }
                Ok(())
            }
            RankBy::Sold => {
                self.note("best selling is taken as most pieces sold");
                self.wish(Wish::Figure(Figure::Units, Agg::Sum), Use::Rank(rank));
                Ok(())
            }
            RankBy::Frequency => self.most_common(table, None, rank),
            RankBy::Named => {
                if let Some((words, columns)) = head.before.first() {
                    let near = self.around(Some(table));
                    let column = pick::column(self.schema, columns, &near, words)?;
                    by_column(self, column, rank.dir == Dir::Most);
                    return Ok(());
                }
                self.rank = Some(rank);
                Ok(())
            }
        }
    }

    /// `the most common genre`: how often it occurs among the rows that point to it.
    fn most_common(&mut self, table: TableId, column: Option<ColumnId>, rank: Rank) -> Result<(), Stop> {
        if let Some(c) = column {
            let of = (0..self.items.len())
                .filter_map(|i| self.noun(i))
                .find_map(|n| n.table.filter(|_| n.is_table()))
                .unwrap_or(c.table);
            let rows = Measure { agg: Agg::Count, of: Measured::Rows(of) };
            self.wish(Wish::Fixed(rows), Use::Rank(rank));
            return Ok(());
        }
        let counted = (0..self.items.len())
            .filter_map(|i| self.noun(i))
            .find_map(|n| n.table.filter(|t| n.is_table() && *t != table));
        let counted = if let Some(t) = counted {
            t
        } else {
            let children: BTreeSet<TableId> = self
                .schema
                .edges()
                .filter(|(_, e)| e.to == table && e.from != table)
                .map(|(_, e)| e.from)
                .collect();
            match (children.len(), children.first()) {
                (1, Some(only)) => *only,
                _ => return Err(Unsure::new("common among what is not said").with(children).into()),
            }
        };
        self.note(format!("how common is counted in {}", self.schema.table(counted).name.name));
        self.wish(Wish::Fixed(Measure { agg: Agg::Count, of: Measured::Rows(counted) }), Use::Rank(rank));
        Ok(())
    }

    fn column_head(&mut self, at: usize, head: &Noun) -> Result<(), Stop> {
        let mut near = self.around(None);
        // `the grape, the year and the name of wines`: what stands right before `of wines` is theirs.
        let of = self.item(0).filter(|i| i.rel == "of" && !i.neg).and_then(|_| self.noun(0));
        if at > 0
            && at + 1 == self.heads.len()
            && let Some(table) = of.filter(Noun::is_table).and_then(|n| n.table)
        {
            near.insert(0, table);
        }
        let column = self.column(head, &near)?;
        if head.columns.iter().find(|(c, _)| *c == column).is_some_and(|(_, s)| *s < 60) {
            let (words, name) = (&head.head_text, self.schema.spoken_column(column));
            return Err(Unsure::new(format!("“{words}” only resembles {name}")).with([column.table]).into());
        }
        let owner = head.table.unwrap_or(self.intent.subject);
        let column = self.lent(owner, column, &head.head_text)?;
        let figure = self.schema.column(column).is_figure();
        if let Some(rank) = head.core.rank {
            match rank.by {
                RankBy::Frequency => {
                    self.explicit = false;
                    self.intent.outputs.push(Output::Column(column));
                    return self.most_common(column.table, Some(column), rank);
                }
                RankBy::Named | RankBy::Adjective(_)
                    if figure || self.schema.column(column).class == Class::Date =>
                {
                    let up = match rank.by {
                        RankBy::Adjective(a) => {
                            !a.down.iter().any(|w| self.schema.column(column).label.has(w))
                        }
                        _ => true,
                    };
                    if rank.limit.is_some() {
                        self.intent.outputs.push(Output::Column(column));
                        let descending = measure::descends(rank.dir, up);
                        let by = OrderBy::Column(column);
                        self.intent.rank =
                            Some(Ranked { by, descending, limit: rank.limit, place: rank.place });
                        return Ok(());
                    }
                    let agg = if measure::descends(rank.dir, up) { Agg::Max } else { Agg::Min };
                    self.explicit = false;
                    self.wish(Wish::Fixed(Measure { agg, of: Measured::Column(column) }), Use::Show);
                    return Ok(());
                }
                _ => self.rank = Some(rank),
            }
        }
        match self.ask {
            Ask::Count if figure && !head.core.distinct => {
                // `how many visits cost more than 300`: rows are counted there, and a column looks like the noun.
                let compared = self.sentence.items.iter().any(|i| {
                    matches!(
                        &i.what,
                        What::Compare { core: None, adjective: None, operand: Operand::Number { .. }, .. }
                    )
                });
                if compared {
                    let name = self.schema.spoken_column(column);
                    return Err(Unsure::new(format!("whether {name} is added up or compared is not clear"))
                        .with([column.table])
                        .into());
                }
                let many = self.schema.column(column).name.ends_with(['s', 'S']);
                let someone = !many
                    && self.schema.column(column).label.words.last().is_some_and(|w| {
                        w != "number" && ["or", "er", "ist", "ian", "ant"].iter().any(|end| w.ends_with(end))
                    });
                if someone {
                    let name = self.schema.spoken_column(column);
                    return Err(Unsure::new(format!(
                        "whether {name} is a figure or stands for someone is not clear"
                    ))
                    .with([column.table])
                    .into());
                }
                self.explicit = false;
                self.note(format!("the number is the sum of {}", self.schema.spoken_column(column)));
                self.wish(Wish::Fixed(Measure { agg: Agg::Sum, of: Measured::Column(column) }), Use::Show);
            }
            Ask::Count => {
                self.explicit = false;
                if at > 0 {
                    return Err(Unsure::new("two things are to be counted at once")
                        .with([column.table])
                        .into());
                }
                self.intent.counted = Some(column);
            }
            Ask::Sum if figure => {
                self.explicit = false;
                self.wish(Wish::Fixed(Measure { agg: Agg::Sum, of: Measured::Column(column) }), Use::Show);
            }
            _ => {
                self.show_column(head, column);
                let own_name = self.schema.name_columns(column.table).contains(&column)
                    || self.schema.single_key(column.table) == Some(column);
                let property = self.heads.len() == 1 && !own_name;
                self.intent.distinct |= head.core.distinct || (property && self.sentence.which);
                self.property = property && self.intent.distinct && !self.explicit;
            }
        }
        Ok(())
    }

    /// Shows a column; `name` is all the columns by which people know a row.
    pub(super) fn show_column(&mut self, noun: &Noun, column: ColumnId) {
        let names = self.schema.name_columns(column.table);
        let whole_name =
            ["name", "names", "full name", "full names"].contains(&noun.head_text.to_lowercase().as_str());
        let columns = if whole_name && names.contains(&column) { names } else { vec![column] };
        let words = crate::words::singular(&noun.head_text.to_lowercase());
        for c in columns.iter().copied() {
            if !self.intent.outputs.contains(&Output::Column(c)) {
                self.intent.outputs.push(Output::Column(c));
            }
            // `the grape and the name`, where both turn out to be one column: one of them means another.
            if columns.len() > 1 {
                continue;
            }
            let before = self.shown_as.entry(c).or_insert_with(|| words.clone()).clone();
            let same = before.ends_with(&words)
                || words.ends_with(&before)
                || before.starts_with(&words)
                || words.starts_with(&before);
            if !same && !self.chunks.iter().any(|c| c.kw == Some(Kw::Named)) {
                let name = self.schema.spoken_column(c);
                self.doubt(format!("“{before}” and “{words}” would both be {name}"));
            }
        }
    }

    /// `the average price`, `the number of tracks`, `total sales`.
    pub(super) fn aggregated(&mut self, noun: &Noun, wanted: Use) -> Result<(), Stop> {
        let aggs = noun.core.aggs.clone();
        let figures: Vec<Agg> = aggs.iter().copied().filter(|a| *a != Agg::Count).collect();
        let counts = aggs.contains(&Agg::Count);
        if let Some(figure) = noun.figure {
            let wish_agg = match figures.as_slice() {
                [Agg::Avg] if counts => Agg::Sum,
                [Agg::Avg, Agg::Sum] | [] | [Agg::Sum] => Agg::Sum,
                [Agg::Avg] if !noun.beside.is_empty() => Agg::Sum,
                [only] => *only,
                _ => {
                    return Err(
                        Unsure::new(format!("“{}” asks for several figures at once", noun.text)).into()
                    );
                }
            };
            self.mean |= figures.first() == Some(&Agg::Avg) && wish_agg == Agg::Sum;
            if self.mean
                && let Some(t) = noun.beside.first()
            {
                // `average order value`: the sum of each order.
                self.add_key(Key::Entity(*t));
            }
            self.wish(Wish::Figure(figure, wish_agg), wanted);
            return Ok(());
        }
        let near = self.around(None);
        if noun.is_table() || (counts && noun.is_table()) {
            let Some(table) = noun.table else { return Ok(()) };
            if figures == [Agg::Sum] && !counts && self.sum_of_rows(noun, table, wanted)? {
                return Ok(());
            }
            match figures.as_slice() {
                // `total customers` counts them; `the total budget` is a sum of something.
                [Agg::Sum]
                    if !counts
                        && crate::words::singular(&noun.head_text.to_lowercase())
                            == noun.head_text.to_lowercase() =>
                {
                    return Err(Unsure::new(format!(
                        "which figure of {} is added up is not said",
                        self.schema.table(table).name.name
                    ))
                    .with([table])
                    .into());
                }
                [] | [Agg::Sum] => {}
                [Agg::Avg] if counts => self.mean = true,
                _ => {
                    return Err(Unsure::new(format!(
                        "which figure of {} is meant is not said",
                        self.schema.table(table).name.name
                    ))
                    .with([table])
                    .into());
                }
            }
            self.kept_count(table)?;
            self.wish(Wish::Fixed(Measure { agg: Agg::Count, of: Measured::Rows(table) }), wanted);
            self.last = Some(table);
            return Ok(());
        }
        if noun.is_column() {
            let column = self.column(noun, &near)?;
            let c = self.schema.column(column);
            if counts && (!c.is_figure() || figures.is_empty()) {
                if c.is_figure() && !noun.core.distinct && figures.is_empty() {
                    self.wish(Wish::Fixed(Measure { agg: Agg::Sum, of: Measured::Column(column) }), wanted);
                    return Ok(());
                }
                let names = self.schema.name_columns(column.table);
                let key = self.schema.single_key(column.table) == Some(column);
                let of = if key || (names.contains(&column) && !noun.core.distinct) {
                    Measured::Rows(column.table)
                } else {
                    Measured::Values(column)
                };
                self.mean |= figures.contains(&Agg::Avg);
                self.wish(Wish::Fixed(Measure { agg: Agg::Count, of }), wanted);
                return Ok(());
            }
            for agg in figures {
                let number = c.is_figure() || c.class == Class::Unknown || matches!(agg, Agg::Min | Agg::Max);
                if !number {
                    return Err(Unsure::new(format!("{} is no figure", self.schema.spoken_column(column)))
                        .with([column.table])
                        .into());
                }
                self.wish(Wish::Fixed(Measure { agg, of: Measured::Column(column) }), wanted);
            }
            return Ok(());
        }
        Err(Unsure::new(format!("what “{}” adds up is not clear", noun.text)).into())
    }

    /// What decides a superlative that named no figure of its own.
    pub(super) fn finish_rank(&mut self) -> Result<(), Stop> {
        let Some(rank) = self.rank.take() else { return Ok(()) };
        let subject = self.intent.subject;
        // `highest total sales per country`: the figure that is shown.
        if let Some(at) = self.wishes.iter().position(|(_, u)| *u == Use::Show) {
            let (wish, _) = self.wishes.remove(at);
            self.wish(wish, Use::Rank(rank));
            return Ok(());
        }
        if rank.by != RankBy::Named || subject.0 == usize::MAX {
            return Err(Unsure::new("what decides the first place is not said").into());
        }
        let keys = BTreeSet::from([subject]);
        let no_money_of_its_own = self.schema.is_person(subject);
        if no_money_of_its_own && measure::money(self.schema, &keys, &BTreeSet::new(), Agg::Sum).is_ok() {
            self.note("the top is taken as the most money, since the question does not say by what");
            self.wish(Wish::Figure(Figure::Revenue, Agg::Sum), Use::Rank(rank));
            return Ok(());
        }
        Err(Unsure::new("by what the first ones are chosen is not said").with([subject]).into())
    }
}
