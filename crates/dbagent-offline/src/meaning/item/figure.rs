//! Figures behind the subject: shown, ranked by, or compared with a number.

use crate::intent::{Ask, Figure, Item, Kw};
use crate::meaning::noun::Noun;
use crate::meaning::resolve::{Resolver, Use, Wish};
use crate::meaning::{Measure, Measured, Stop, Test, Unsure};
use crate::plan::{Agg, Op};

impl Resolver<'_> {
    /// A figure behind the subject: `and their total sales`, `by revenue`, `who spent`.
    pub(in crate::meaning) fn place_figure(&mut self, item: &Item, noun: &Noun) -> Result<(), Stop> {
        if noun.core.aggs.is_empty() {
            let figure = noun.figure.unwrap_or(Figure::Revenue);
            let wish = Wish::Figure(figure, Agg::Sum);
            self.premodifiers(noun, item.predicate)?;
            if item.rel == "by" {
                self.by_wish(wish);
                return Ok(());
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

    pub(in crate::meaning) fn by_wish(&mut self, wish: Wish) {
        match self.rank.take() {
            Some(rank) => self.wish(wish, Use::Rank(rank)),
            None => self.wish(wish, Use::Order(true)),
        }
    }

    pub(in crate::meaning) fn unit(&self, at: Option<usize>) -> Option<crate::intent::Unit> {
        match at.and_then(|a| self.kw(a)) {
            Some(Kw::Unit(u)) => Some(u),
            _ => None,
        }
    }

    /// How many of something: `more than 10 albums`.
    pub(in crate::meaning) fn number(
        &mut self,
        item: &Item,
        noun: &Noun,
        op: Op,
        number: f64,
    ) -> Result<(), Stop> {
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
            self.having(item, Measure { agg: Agg::Count, of }, op, number);
            return Ok(());
        }
        let op = if item.neg { op.negated() } else { op };
        if let Some(figure) = noun.figure {
            self.wish(Wish::Figure(figure, Agg::Sum), Use::Having(op, number));
            return Ok(());
        }
        let Some(table) = noun.table else {
            return Err(Unsure::new(format!("what “{}” counts is not clear", noun.text)).into());
        };
        self.kept_count(table)?;
        self.last = Some(table);
        self.having(item, Measure { agg: Agg::Count, of: Measured::Rows(table) }, op, number);
        Ok(())
    }

    pub(in crate::meaning) fn having(&mut self, item: &Item, measure: Measure, op: Op, number: f64) {
        let subject = self.intent.subject;
        // A condition on another table than the subject is one of its own.
        if let Some(last) = self.last
            && last != subject
            && last != measure.of.table()
            && self.explicit
            && item.relative
        {
            self.cond(
                Test::Grouped(last, crate::meaning::Having { measure, op, value: number }),
                false,
                false,
            );
            return;
        }
        if self.ask == Ask::Share {
            self.cond(
                Test::Grouped(subject, crate::meaning::Having { measure, op, value: number }),
                false,
                true,
            );
            return;
        }
        let zero = match op {
            Op::Lt | Op::Le => true,
            Op::Eq => number == 0.0,
            Op::Ne => number != 0.0,
            Op::Gt | Op::Ge => false,
        };
        self.intent.with_empty |= zero;
        self.wish(Wish::Fixed(measure), Use::Having(op, number));
    }
}
