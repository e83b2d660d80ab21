//! Groups: one line for each of something.

use crate::intent::{Ask, Item};
use crate::meaning::noun::Noun;
use crate::meaning::resolve::{Resolver, Use, Wish};
use crate::meaning::{Key, Measure, Measured, OrderBy, Output, Stop, Unsure, measure};
use crate::plan::Agg;
use crate::schema::TableId;

impl Resolver<'_> {
    pub(in crate::meaning) fn place_part(
        &mut self,
        item: &Item,
        noun: &Noun,
        part: crate::plan::Part,
    ) -> Result<(), Stop> {
        let near = self.around(self.last);
        let (column, note) = measure::date_column(self.schema, &near, &item.hints)?;
        if noun.core.each || item.rel == "by" || item.rel == "per" || self.adds_up() {
            let plain = self.ask == Ask::List && self.explicit && self.intent.outputs.is_empty();
            if plain
                && !self.adds_up()
                && self.intent.rank.is_none()
                && self.rank.is_none()
                && !self.later_figures()
            {
                // `rentals by month`: how many there are in each.
                let rows = Measure { agg: Agg::Count, of: Measured::Rows(self.intent.subject) };
                self.note("the number in each group is meant");
                self.explicit = false;
                self.wish(Wish::Fixed(rows), Use::Show);
            }
            self.note(note.unwrap_or_default());
            self.add_key(Key::Part(part, column));
            return Ok(());
        }
        Err(Unsure::new(format!("what “{}” has to do with the question is not clear", noun.text)).into())
    }

    pub(in crate::meaning) fn place_group(&mut self, item: &Item, noun: &Noun) -> Result<(), Stop> {
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
                && !self.all_told()
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

    pub(in crate::meaning) fn show_first(&mut self, table: TableId) {
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
    pub(in crate::meaning) fn later_figures(&self) -> bool {
        self.items.iter().flatten().any(|n| !n.core.aggs.is_empty() || n.figure.is_some())
            || self.heads.iter().any(|h| !h.core.aggs.is_empty() || h.figure.is_some())
    }

    /// One line for each of these.
    pub(in crate::meaning) fn group(&mut self, noun: &Noun) -> Result<(), Stop> {
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
}
