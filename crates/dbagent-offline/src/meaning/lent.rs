//! Columns that a noun does not have itself and is lent by the row that each of its own belongs to: the city of
//! a customer, which stands with the address. Lending ends where the noun has something alike of its own: a
//! claim that keeps the dates of claims has no start date because its policy has one.

use super::noun::Noun;
use super::resolve::Resolver;
use super::{Output, Unsure};
use crate::link::FULL;
use crate::schema::{Class, Column, ColumnId, TableId};
use crate::words::same_meaning;

impl Resolver<'_> {
    /// The column of a noun that was found for words: one of `owner`, or one that another table lends it, which
    /// is said. Where that is a guess it is refused.
    pub(super) fn lent(&mut self, owner: TableId, column: ColumnId, words: &str) -> Result<ColumnId, Unsure> {
        if column.table == owner
            || owner.0 == usize::MAX
            || self.schema.distance(owner, column.table).is_none()
            || self.speaks_of_table(column.table)
        {
            return Ok(column);
        }
        let c = self.schema.column(column);
        let table = self.schema.table(owner);
        if c.label.words.iter().any(|w| table.label.has(w)) {
            return Ok(column);
        }
        let last = |c: &Column| c.label.words.last().cloned().unwrap_or_default();
        let alike: Vec<ColumnId> = self
            .schema
            .columns(owner)
            .filter(|(_, o)| {
                c.class == Class::Date && o.class == Class::Date
                    || c.is_figure() && o.is_figure() && same_meaning(&last(c), &last(o))
            })
            .map(|(id, _)| id)
            .collect();
        let bare = ["date", "dates"].contains(&words.to_lowercase().as_str());
        match alike.as_slice() {
            // `the date of documents`, which have one.
            [only] if bare => return Ok(*only),
            [] => {
                let (owners, name) = (&table.name.name, self.schema.spoken_column(column));
                self.note(format!("{owners} has no “{words}”, so {name} of what it belongs to is taken"));
                return Ok(column);
            }
            _ => {}
        }
        let (owners, name) = (&table.name.name, self.schema.spoken_column(column));
        let own: Vec<String> = alike.iter().map(|c| self.schema.spoken_column(*c)).collect();
        let why =
            format!("{owners} has no “{words}”: it may be {name}, or one of its own ({})", own.join(", "));
        Err(Unsure::new(why).with([owner, column.table]))
    }

    /// Whether the question names a table outright.
    pub(super) fn speaks_of_table(&self, table: TableId) -> bool {
        let nouns = self.heads.iter().chain(self.items.iter().flatten());
        nouns.into_iter().any(|n| n.table == Some(table) || n.beside.contains(&table))
    }

    /// `the building, room and semester of courses`: where one other table has all of them, one of them is not
    /// taken from a third.
    pub(super) fn one_owner_of_heads(&self) -> Result<(), Unsure> {
        let bare: Vec<&Noun> = self
            .heads
            .iter()
            .filter(|h| h.is_column() && h.table.is_none() && h.core.aggs.is_empty())
            .collect();
        let shown: Vec<ColumnId> = self
            .intent
            .outputs
            .iter()
            .filter_map(|o| match o {
                Output::Column(c) => Some(*c),
                Output::Parent { .. } => None,
            })
            .collect();
        let subject = self.intent.subject;
        // `… and the name of the artist`: said by the `of`.
        let of = self.item(0).filter(|i| i.rel == "of").and_then(|_| self.noun(0)).and_then(|n| n.table);
        for owner in shown.iter().map(|c| c.table).filter(|t| *t != subject) {
            for head in &bare {
                let own = |t: TableId| head.columns.iter().find(|(c, s)| c.table == t && *s >= FULL);
                let taken: Vec<ColumnId> =
                    shown.iter().copied().filter(|s| head.columns.iter().any(|(c, _)| c == s)).collect();
                let said = |c: &ColumnId| c.table == owner || c.table == subject || of == Some(c.table);
                let ([taken], Some((twin, _))) = (taken.as_slice(), own(owner)) else { continue };
                if said(taken) {
                    continue;
                }
                let (a, b) = (self.schema.spoken_column(*taken), self.schema.spoken_column(*twin));
                return Err(
                    Unsure::new(format!("“{}” may be {a} or {b}", head.head_text)).with([taken.table, owner])
                );
            }
        }
        Ok(())
    }
}
