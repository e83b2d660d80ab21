//! The table whose rows a question is about.

use super::noun::Noun;
use super::resolve::Resolver;
use super::{Measured, Stop, Unsure, measure, pick};
use crate::intent::{Ask, Figure, What};
use crate::plan::Agg;
use crate::schema::{ColumnId, TableId};
use std::collections::BTreeSet;

impl Resolver<'_> {
    /// The table whose rows the question is about.
    pub(in crate::meaning) fn find_subject(&mut self) -> Result<(), Stop> {
        let plain = self.heads.iter().find(|h| h.core.aggs.is_empty() && h.figure.is_none()).cloned();
        let first = plain.or_else(|| self.heads.first().cloned());
        let subject = match &first {
            Some(head) => self.subject_of(head)?,
            None => self.subject_without_head()?,
        };
        if let Some(t) = subject {
            self.intent.subject = t;
            self.near = vec![t];
            self.last = Some(t);
        }
        let head_figure =
            self.heads.iter().any(|h| h.figure.is_some()) || (self.ask == Ask::Sum && self.heads.is_empty());
        if head_figure && let Some(root) = self.money_root() {
            // Where the money stands is nearer than what it is grouped by.
            self.near.insert(0, root);
            self.last = Some(root);
        }
        Ok(())
    }

    pub(in crate::meaning) fn subject_of(&mut self, head: &Noun) -> Result<Option<TableId>, Stop> {
        if head.is_table() {
            self.explicit = head.core.aggs.is_empty();
            return Ok(head.table);
        }
        if head.is_value() {
            let value = head.values.first();
            // What has albums is no album.
            let not_name_of: Vec<TableId> = if self.ask == Ask::Exists {
                self.context.iter().take(1).copied().collect()
            } else {
                Vec::new()
            };
            let around = pick::Around {
                near: &self.context,
                context: &[],
                beside: &[],
                tables: &head.beside,
                hints: &[],
                by: false,
                apposed: false,
                not_name_of: &not_name_of,
            };
            let hits = match value {
                Some(v) => pick::hits(self.schema, &v.hits, &around, &v.text)?,
                None => Vec::new(),
            };
            self.explicit = true;
            let column = hits.first().and_then(|h| h.columns.first()).copied();
            return match (column, value) {
                (Some(column), Some(v)) => self.of_kind(head, column, &v.text).map(Some),
                _ => Ok(None),
            };
        }
        if head.figure.is_some() || head.part.is_some() {
            let first = self.context.first().copied();
            if let Some(figure) = head.figure {
                // Columns and dates are looked for where the figure stands first.
                let none = BTreeSet::new();
                let found = match figure {
                    Figure::Revenue => measure::money(self.schema, &none, &none, Agg::Sum),
                    Figure::Units => measure::units(self.schema, &none, &none, Agg::Sum),
                };
                if let (Ok((m, _)), None) = (found, first) {
                    return Ok(Some(m.of.table()));
                }
            }
            if first.is_none() && self.items.iter().flatten().any(|n| n.figure.is_some()) {
                return Ok(self.money_root());
            }
            return Ok(first);
        }
        if let Some(t) = head.table {
            // `album titles`, `the customer's email`.
            self.explicit = head.core.aggs.is_empty();
            return Ok(Some(t));
        }
        // `the names of all artists`.
        let of = (0..self.items.len()).find(|i| {
            let item = self.item(*i);
            let noun = self.noun(*i);
            let rel =
                item.is_some_and(|i| ["of", "for", "from", "in", "on"].contains(&i.rel.as_str()) && !i.neg);
            let grouped = item.is_some_and(|i| matches!(i.what, What::Group(_)));
            (rel || grouped) && noun.is_some_and(|n| n.is_table())
        });
        if let Some(t) = of.and_then(|i| self.noun(i)).and_then(|n| n.table) {
            let near = self.around(Some(t));
            let column = self.column(head, &near)?;
            let grouped_figure = !head.core.aggs.is_empty();
            let name = ["name", "names"].contains(&head.head_text.to_lowercase().as_str());
            let far = self.schema.distance(t, column.table);
            if (name && far.is_none_or(|d| d > 1))
                || (far.is_none()
                    && !grouped_figure
                    && self.schema.apart(t, column.table).is_none_or(|d| d > 1))
            {
                let (words, table) = (&head.head_text, &self.schema.table(t).name.name);
                return Err(Unsure::new(format!("no “{words}” was found for {table}")).with([t]).into());
            }
            if self.schema.distance(t, column.table).is_some() && !grouped_figure {
                self.explicit = head.core.aggs.is_empty();
                return Ok(Some(t));
            }
            return Ok(Some(column.table));
        }
        let mut near = self.context.clone();
        if near.is_empty() && self.items.iter().flatten().any(|n| n.figure.is_some()) {
            near.extend(self.money_root());
        }
        let column = self.column(head, &near)?;
        // Where the only table that is named leads to the column, its rows are meant: `emails of customers`
        // without the `of`.
        Ok(Some(column.table))
    }

    /// `beverages`, `forwards`: where a value names a kind of things, those things are meant.
    fn of_kind(&mut self, head: &Noun, column: ColumnId, text: &str) -> Result<TableId, Stop> {
        let table = column.table;
        let own_name = self.schema.name_columns(table).contains(&column);
        let one_of_many = text.chars().next().is_some_and(char::is_lowercase) && text.ends_with('s');
        let kind = self.ask == Ask::Count || head.core.rank.is_some() || one_of_many;
        if !own_name || !kind || self.ask == Ask::Exists {
            return Ok(table);
        }
        let children: BTreeSet<TableId> = self
            .schema
            .edges()
            .filter(|(_, e)| e.to == table && e.from != table)
            .map(|(_, e)| e.from)
            .collect();
        match (children.len(), children.first()) {
            (1, Some(only)) => {
                let (things, names) =
                    (self.schema.table(*only).name.name.clone(), self.schema.spoken_column(column));
                self.note(format!("“{text}” is taken as {things} whose {names} it is"));
                Ok(*only)
            }
            (0, _) => Ok(table),
            _ => Err(Unsure::new(format!("what of “{text}” is meant is not clear")).with(children).into()),
        }
    }

    /// The table whose rows hold the money or the pieces of this database.
    pub(in crate::meaning) fn money_root(&self) -> Option<TableId> {
        let none = BTreeSet::new();
        measure::money(self.schema, &none, &none, Agg::Sum)
            .or_else(|_| measure::units(self.schema, &none, &none, Agg::Sum))
            .ok()
            .map(|(m, _)| match m.of {
                Measured::Line { quantity, .. } => quantity.table,
                of => of.table(),
            })
    }

    pub(in crate::meaning) fn subject_without_head(&mut self) -> Result<Option<TableId>, Stop> {
        if self.ask == Ask::Who {
            return self.person().map(Some);
        }
        let ranked = self.sentence.items.iter().any(|i| matches!(i.what, What::Rank { .. }));
        if !ranked || self.ask != Ask::Sum {
            self.explicit = matches!(self.ask, Ask::When | Ask::Where | Ask::Measure(_));
        }
        if let Some(t) = self.context.first() {
            return Ok(Some(*t));
        }
        if self.ask == Ask::Sum || self.ask == Ask::Versus {
            return Ok(None);
        }
        // The first value says where to look.
        let value = self.items.iter().flatten().find_map(|n| n.values.first().cloned());
        if let Some(v) = value {
            let around = pick::Around {
                near: &[],
                context: &[],
                beside: &[],
                tables: &[],
                hints: &[],
                by: false,
                apposed: false,
                not_name_of: &[],
            };
            let hits = pick::hits(self.schema, &v.hits, &around, &v.text)?;
            self.explicit = true;
            return Ok(hits.first().and_then(|h| h.columns.first()).map(|c| c.table));
        }
        Err(Unsure::new("the question names no table, column or value of this database").into())
    }

    /// The people that `who` asks for: those the question names, else the nearest to what it names.
    pub(in crate::meaning) fn person(&mut self) -> Result<TableId, Stop> {
        let people: Vec<TableId> =
            self.schema.tables().map(|(id, _)| id).filter(|id| self.schema.is_person(*id)).collect();
        let mut nouns: Vec<TableId> = self.context.clone();
        let money = self.items.iter().flatten().any(|n| n.figure.is_some());
        if nouns.is_empty() && money {
            let none = BTreeSet::new();
            if let Ok((m, _)) = measure::money(self.schema, &none, &none, Agg::Sum) {
                nouns.push(m.of.table());
            }
        }
        self.explicit = true;
        if nouns.is_empty() {
            return match people.as_slice() {
                [only] => Ok(*only),
                _ => Err(Unsure::new("who is meant is not clear").with(people).into()),
            };
        }
        // A verb may name them: those who supply are the suppliers.
        let verbs = &self.sentence.hints;
        let named: Vec<TableId> = self
            .schema
            .tables()
            .filter(|(_, t)| {
                t.label.words.last().is_some_and(|w| verbs.iter().any(|v| crate::link::same_stem(v, w)))
                    && !t.label.has_any(&["order", "sale", "purchase"])
            })
            .map(|(id, _)| id)
            .filter(|id| !nouns.contains(id))
            .collect();
        if let [only] = named.as_slice() {
            return Ok(*only);
        }
        // Or the link: those who support are the support representatives.
        let hints = self.sentence.hints.clone();
        let by_role: BTreeSet<TableId> = self
            .schema
            .edges()
            .filter(|(_, e)| people.contains(&e.to) && nouns.contains(&e.from))
            .filter(|(_, e)| e.role.iter().any(|r| hints.iter().any(|h| crate::link::same_stem(h, r))))
            .map(|(_, e)| e.to)
            .collect();
        if let (1, Some(only)) = (by_role.len(), by_role.first()) {
            return Ok(*only);
        }
        let doers: [(&[&str], &[&str]); 3] = [
            (
                &["bought", "buy", "buys", "purchased", "purchase", "ordered", "order", "paid", "pay"],
                &["customer", "client", "buyer", "user", "member", "guest"],
            ),
            (
                &[
                    "wrote",
                    "written",
                    "sang",
                    "sings",
                    "recorded",
                    "released",
                    "performed",
                    "performs",
                    "made",
                    "composed",
                ],
                &["artist", "author", "singer", "writer", "musician", "composer"],
            ),
            (
                &[
                    "sold",
                    "sells",
                    "supports",
                    "supported",
                    "handled",
                    "handles",
                    "served",
                    "serves",
                    "hired",
                ],
                &["employee", "staff", "seller", "salesperson", "worker"],
            ),
        ];
        for (verbs, words) in doers {
            let said = self.sentence.hints.iter().any(|h| verbs.contains(&h.as_str()));
            let fitting: Vec<TableId> =
                people.iter().filter(|p| self.schema.table(**p).label.has_any(words)).copied().collect();
            if let (true, [only]) = (said, fitting.as_slice()) {
                self.note(format!("“who” is taken as {}", self.schema.table(*only).name.name));
                return Ok(*only);
            }
        }
        let first = nouns.first().copied();
        if let Some(t) = first
            && people.contains(&t)
            && !self.sentence.items.iter().any(|i| matches!(i.what, What::Rank { .. } | What::Number { .. }))
        {
            return Ok(t);
        }
        let mut near: Vec<(usize, usize, TableId)> = people
            .iter()
            .filter(|p| !nouns.contains(p))
            .filter_map(|p| {
                let t = first?;
                let far = self.schema.distance(t, *p).or_else(|| self.schema.apart(t, *p).map(|d| d + 1))?;
                Some((far, 0, *p))
            })
            .collect();
        near.sort_unstable();
        match near.as_slice() {
            [(d, _, a), (e, _, b), ..] if d == e => {
                Err(Unsure::new("who is meant is not clear").with([*a, *b]).into())
            }
            [(.., only), ..] => {
                let name = self.schema.table(*only).name.name.clone();
                self.note(format!("“who” is taken as {name}"));
                Ok(*only)
            }
            [] => Err(Unsure::new("who is meant is not clear").with(people).into()),
        }
    }
}
