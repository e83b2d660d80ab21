//! `total of invoices`, `sum of orders`: a sum is asked for, and neither a list of totals nor a count. The word
//! may be the name of a column, and what it adds up may be called like a table.

use super::noun::Noun;
use super::resolve::{Resolver, Use, Wish};
use super::{Measure, Measured, Stop, Unsure};
use crate::intent::{Kw, What};
use crate::plan::Agg;
use crate::schema::{ColumnId, TableId};
use crate::words::singular;

impl Resolver<'_> {
    /// `the total of invoices`, where a column is called total: it is added up over the rows.
    pub(super) fn total_of_rows(&mut self) {
        let [head] = self.heads.as_slice() else { return };
        let [only] = head.core.parts.as_slice() else { return };
        let adds = self
            .chunks
            .get(*only)
            .is_some_and(|c| c.kw == Some(Kw::Agg(Agg::Sum)) && c.words.iter().all(|w| singular(w) == *w));
        let plain =
            head.is_column() && head.core.aggs.is_empty() && head.core.rank.is_none() && !head.core.each;
        let of_many = self
            .item(0)
            .is_some_and(|i| i.rel == "of" && !i.neg && matches!(&i.what, What::Noun(core) if !core.each))
            && self.chunks.get(only + 1).is_some_and(|c| c.words == ["of"])
            && self.noun(0).is_some_and(|n| n.is_table() && many(&n.head_text));
        if adds
            && plain
            && of_many
            && let Some(head) = self.heads.first_mut()
        {
            head.core.aggs.push(Agg::Sum);
        }
    }

    /// `sum of invoices`: the one amount of their rows, or nothing that can be told. `total invoices` counts.
    pub(super) fn sum_of_rows(&mut self, noun: &Noun, table: TableId, wanted: Use) -> Result<bool, Stop> {
        if !self.summed(noun) {
            return Ok(false);
        }
        let figures: Vec<ColumnId> =
            self.schema.columns(table).filter(|(_, c)| c.is_figure()).map(|(id, _)| id).collect();
        let says = ["total", "amount", "sum", "revenue", "payment", "subtotal", "value"];
        let amounts: Vec<ColumnId> = figures
            .iter()
            .copied()
            .filter(|c| self.schema.column(*c).label.words.last().is_some_and(|w| says.contains(&w.as_str())))
            .collect();
        if let [only] = amounts.as_slice() {
            self.note(format!("what is added up is {}", self.schema.spoken_column(*only)));
            self.wish(Wish::Fixed(Measure { agg: Agg::Sum, of: Measured::Column(*only) }), wanted);
            self.last = Some(table);
            return Ok(true);
        }
        let name = &self.schema.table(table).name.name;
        let why = format!("which figure of {name} is added up, or whether its rows are counted, is not said");
        Err(Unsure::new(why).with([table]).into())
    }

    /// `the average number of hosts of parties`, where parties keep a number of hosts and hosts are linked with
    /// them, too: whether the column or the rows count is not said.
    pub(super) fn kept_count(&self, counted: TableId) -> Result<(), Unsure> {
        let own = &self.schema.table(counted).label.words;
        let says = |words: &[String]| {
            let rest: Vec<&String> =
                words.iter().filter(|w| !["number", "of", "count", "total"].contains(&w.as_str())).collect();
            rest.len() < words.len() && rest.len() == own.len() && rest.iter().zip(own).all(|(a, b)| *a == b)
        };
        let nouns = self.heads.iter().chain(self.items.iter().flatten());
        let kept = nouns
            .filter_map(|n| n.table)
            .chain(self.context.iter().copied())
            .filter(|t| *t != counted)
            .flat_map(|t| self.schema.columns(t))
            .find(|(_, c)| c.is_figure() && says(&c.label.words));
        match kept {
            Some((column, _)) => {
                let (name, table) =
                    (self.schema.spoken_column(column), &self.schema.table(counted).name.name);
                Err(Unsure::new(format!("the number may be {name}, or how many rows of {table} there are"))
                    .with([column.table, counted]))
            }
            None => Ok(()),
        }
    }

    /// Whether `sum`, or `total of`, stands before a noun.
    fn summed(&self, noun: &Noun) -> bool {
        let mut of = false;
        let first = noun.core.parts.first().copied().unwrap_or_default();
        for chunk in (0..first).rev().filter_map(|i| self.chunks.get(i)) {
            match chunk.kw {
                Some(Kw::Agg(Agg::Sum)) => {
                    return of || chunk.words.iter().any(|w| ["sum", "of"].contains(&w.as_str()));
                }
                Some(Kw::Skip | Kw::All | Kw::Their) => {}
                _ if chunk.words == ["of"] => of = true,
                _ => return false,
            }
        }
        false
    }
}

/// Whether a word stands for several.
fn many(word: &str) -> bool {
    let word = word.to_lowercase();
    singular(&word) != word
}
