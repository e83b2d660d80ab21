//! Superlatives, comparisons of two, and orders.

use crate::intent::{Ask, Dir, Figure, Item, Rank, RankBy};
use crate::meaning::noun::Noun;
use crate::meaning::resolve::{Resolver, Use, Wish};
use crate::meaning::{Key, Measure, Measured, OrderBy, Output, Ranked, Stop, Test, Unsure, measure};
use crate::plan::Agg;
use crate::schema::{Class, ColumnId};

impl Resolver<'_> {
    /// `with the most tracks`, `that spent the most`, `with the highest average price`.
    pub(in crate::meaning) fn place_rank(
        &mut self,
        item: &Item,
        noun: Option<&Noun>,
        rank: Rank,
    ) -> Result<(), Stop> {
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
                self.one_measure(adjective, column);
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
            self.kept_count(table)?;
            let rows = Measure { agg: Agg::Count, of: Measured::Rows(table) };
            self.wish(Wish::Fixed(rows), Use::Rank(rank));
            return Ok(());
        }
        Err(Unsure::new("what decides the first place is not clear").into())
    }

    /// Ranks the subject by a column: its own, or the highest among the rows that belong to it.
    pub(in crate::meaning) fn rank_by_column(
        &mut self,
        column: ColumnId,
        rank: Rank,
        descending: Option<bool>,
    ) -> Result<(), Stop> {
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
        // `the shop with the largest quantity of devices`: of each of them, or of all together.
        if self.schema.column(column).label.has_any(&["quantity", "stock", "unit", "piece"]) {
            let name = self.schema.spoken_column(column);
            let why =
                format!("whether {name} is added up, or its highest or lowest value decides, is not said");
            return Err(Unsure::new(why).with([column.table, subject]).into());
        }
        let agg = if descending { Agg::Max } else { Agg::Min };
        let rank = Rank { dir: if descending { Dir::Most } else { Dir::Least }, ..rank };
        let word = if descending { "highest" } else { "lowest" };
        self.note(format!("the {word} single {} decides", self.schema.spoken_column(column)));
        self.wish(Wish::Fixed(Measure { agg, of: Measured::Column(column) }), Use::Rank(rank));
        Ok(())
    }

    pub(in crate::meaning) fn sums_up(&self, column: ColumnId) -> bool {
        self.schema.column(column).is_figure() && self.pending.is_some()
    }

    /// A superlative without a noun: `that is the longest`, `spent the most`, `was placed last`.
    pub(in crate::meaning) fn bare_rank(&mut self, item: &Item, rank: Rank) -> Result<(), Stop> {
        let subject = self.intent.subject;
        match rank.by {
            RankBy::Adjective(adjective) => {
                for table in self.last.into_iter().chain([subject]) {
                    if let Some((column, up)) = measure::adjective_column(self.schema, adjective, table) {
                        self.one_measure(adjective, column);
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
    pub(in crate::meaning) fn versus(
        &mut self,
        _item: &Item,
        noun: Option<&Noun>,
        rank: Rank,
    ) -> Result<(), Stop> {
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
        self.intent.form = crate::meaning::Form::Versus;
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

    pub(in crate::meaning) fn order(
        &mut self,
        noun: Option<&Noun>,
        descending: Option<bool>,
    ) -> Result<(), Stop> {
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
}

fn values_len(conds: &[crate::meaning::Cond]) -> usize {
    conds
        .iter()
        .map(|c| match &c.test {
            Test::In(_, v) => v.len(),
            _ => 0,
        })
        .max()
        .unwrap_or(2)
}
