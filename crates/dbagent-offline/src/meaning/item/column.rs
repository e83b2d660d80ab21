//! Columns behind the subject: shown beside it, grouped or ordered by, or a condition that they have a value.

use crate::intent::{Ask, Item};
use crate::meaning::noun::Noun;
use crate::meaning::resolve::{Resolver, Wish};
use crate::meaning::{Key, Measure, Measured, OrderBy, Output, Stop, Test, Unsure, measure};
use crate::plan::Op;
use crate::schema::{Class, ColumnId};

impl Resolver<'_> {
    /// `shipped after the required date`: two dates of a row.
    pub(in crate::meaning) fn beside_date(&mut self, item: &Item, noun: &Noun) -> Result<(), Stop> {
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

    pub(in crate::meaning) fn place_column(
        &mut self,
        item: &Item,
        noun: &Noun,
        share: bool,
    ) -> Result<(), Stop> {
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
        let column = if with_their {
            let owner = noun.table.unwrap_or(self.intent.subject);
            self.lent(owner, column, &noun.head_text)?
        } else {
            column
        };
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
                if !self.schema.column(column).required {
                    let name = self.schema.spoken_column(column);
                    self.note(format!("{name} is shown, whether a row has one or not"));
                }
                self.beside(noun, column);
                return Ok(());
            }
            // `someone who has a friend that is from Rome`: who is from there.
            let to_own = self.schema.edge_at(column).is_some_and(|(_, e)| e.to == self.intent.subject);
            let goes_on = self.sentence.items.iter().any(|i| i.at > item.at && i.relative && !i.and);
            if to_own && goes_on {
                let why = format!(
                    "whether what follows “{}” is said of that or of what has it is not clear",
                    noun.text
                );
                return Err(Unsure::new(why).with([column.table, self.intent.subject]).into());
            }
            let owner = noun.table.or(self.last).unwrap_or(self.intent.subject);
            let column = self.lent(owner, column, &noun.head_text)?;
            self.branch += 1;
            self.given(column, !item.neg, share);
            return Ok(());
        }
        if item.neg && item.and && !matches!(class, Class::Bool | Class::Date) && item.hints.is_empty() {
            // `no fax and no company`.
            self.given(column, false, share);
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

        let ranked = matches!(self.intent.rank.map(|r| r.by), Some(OrderBy::Column(c)) if c == column);
        let added = self
            .wishes
            .iter()
            .any(|(w, _)| matches!(w, Wish::Fixed(Measure { of: Measured::Column(c), .. }) if *c == column));
        if item.rel == "in" && (ranked || added) {
            // `the total size in bytes`.
            return Ok(());
        }
        Err(Unsure::new(format!("what “{}” has to do with the question is not clear", noun.text))
            .with([column.table])
            .into())
    }

    /// Shows a column beside what is shown already.
    pub(in crate::meaning) fn beside(&mut self, noun: &Noun, column: ColumnId) {
        if self.intent.outputs.is_empty() && self.intent.subject.0 != usize::MAX {
            let own = self.schema.shown_columns(self.intent.subject);
            self.intent.outputs.extend(own.into_iter().map(Output::Column));
        }
        self.show_column(noun, column);
    }
}
