//! Conditions on text: a name, a beginning, a part.

use crate::intent::{Ask, Item, Kw};
use crate::meaning::noun::Noun;
use crate::meaning::resolve::Resolver;
use crate::meaning::{Output, Stop, Test, Unsure, pick};
use crate::plan::Place;
use crate::schema::{ColumnId, TableId};

impl Resolver<'_> {
    pub(in crate::meaning) fn like(
        &mut self,
        item: &Item,
        noun: Option<&Noun>,
        place: Place,
        chunk: usize,
    ) -> Result<(), Stop> {
        let Some(text) = self.chunks.get(chunk).map(|c| c.text.clone()) else { return Ok(()) };
        let near = self.around(self.last);
        let columns = match noun {
            Some(n) if n.is_column() => vec![self.column(n, &near)?],
            // `descriptions that contain the letter t`: the column named just before.
            _ if let Some(before) =
                self.noun_before(item).filter(|n| n.is_column() && n.values.is_empty()) =>
            {
                vec![self.column(&before, &near)?]
            }
            _ => {
                // `with 'love' in the title`.
                let named = (0..self.items.len()).filter(|i| !self.skip.contains(i)).find(|i| {
                    self.item(*i).is_some_and(|x| x.at > item.at && x.rel == "in")
                        && self.noun(*i).is_some_and(|n| n.is_column() && n.values.is_empty())
                });
                if let Some((i, n)) = named.and_then(|i| self.noun(i).map(|n| (i, n))) {
                    self.skip.insert(i);
                    vec![self.column(&n, &near)?]
                } else {
                    // `… and start with A`: those that are asked for.
                    let table =
                        self.last.filter(|_| !item.and || item.relative).unwrap_or(self.intent.subject);
                    match (self.intent.outputs.as_slice(), self.heads.as_slice()) {
                        // `the languages that contain 'English'`: the column that is asked for.
                        ([Output::Column(only)], [head]) if head.is_column() && !self.explicit => vec![*only],
                        _ => self.schema.name_columns(table),
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

    /// The noun that stands right before a part of the sentence, if it is no table.
    pub(super) fn noun_before(&self, item: &Item) -> Option<Noun> {
        let before = (0..self.items.len()).rfind(|i| self.item(*i).is_some_and(|x| x.at < item.at))?;
        self.noun(before)
    }

    /// `with the title X`, where a name is no title: the column of that table that is one.
    fn titled(&self, table: TableId, chunk: usize) -> Result<Option<ColumnId>, Unsure> {
        let phrase = (0..chunk).rev().filter_map(|i| self.chunks.get(i)).find(|c| c.kw == Some(Kw::Named));
        if !phrase.is_some_and(|c| c.words.iter().any(|w| w == "title")) {
            return Ok(None);
        }
        let title = |t: TableId| -> Vec<ColumnId> {
            self.schema.columns(t).filter(|(_, c)| c.label.has("title")).map(|(id, _)| id).collect()
        };
        let linked = self
            .schema
            .tables()
            .map(|(t, _)| t)
            .filter(|t| *t != table && self.schema.apart(table, *t).is_some_and(|d| d <= 2))
            .flat_map(title);
        match title(table).as_slice() {
            [only] => Ok(Some(*only)),
            [] => {
                let other: Vec<ColumnId> = linked.collect();
                if other.is_empty() && !self.schema.is_person(table) {
                    return Ok(None);
                }
                let names: Vec<String> = other.iter().map(|c| self.schema.spoken_column(*c)).collect();
                let has =
                    if names.is_empty() { String::new() } else { format!("; there is {}", names.join(", ")) };
                Err(Unsure::new(format!("{} has no title{has}", self.schema.table(table).name.name))
                    .with(other.iter().map(|c| c.table).chain([table])))
            }
            several => {
                let names: Vec<String> = several.iter().map(|c| self.schema.spoken_column(*c)).collect();
                Err(Unsure::new(format!("the title may be {}", names.join(" or "))).with([table]))
            }
        }
    }

    /// `named X`: the name of the table that was spoken of last.
    pub(in crate::meaning) fn named(&mut self, item: &Item, chunk: usize) -> Result<(), Stop> {
        let Some(c) = self.chunks.get(chunk) else { return Ok(()) };
        let table = self.last.unwrap_or(self.intent.subject);
        let mut names = self.schema.name_columns(table);
        if let Some(title) = self.titled(table, chunk)? {
            names = vec![title];
        }
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
            context: &[],
            beside: &names,
            tables: &[table],
            hints: &[],
            by: false,
            apposed: false,
            not_name_of: &[],
        };
        let found = pick::hits(self.schema, &own, &around, &c.text)?;
        self.push_hits(&found, item.neg, share);
        self.last_values = found.first().map(|h| h.columns.clone());
        Ok(())
    }
}
