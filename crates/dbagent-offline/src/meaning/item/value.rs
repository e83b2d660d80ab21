//! Conditions by values: `from Brazil`, `in Rock or Jazz`, `the artist AC/DC`.

use crate::intent::{Hit, Item, Kw};
use crate::meaning::noun::{Named, Noun};
use crate::meaning::resolve::Resolver;
use crate::meaning::{Key, Output, Stop, Test, Unsure, pick};
use crate::plan::Value;
use crate::schema::{Class, ColumnId, Route, TableId};

impl Resolver<'_> {
    /// Where a value is meant.
    pub(super) fn hits_of(
        &self,
        noun: &Noun,
        value: &Named,
        item: Option<&Item>,
    ) -> Result<Vec<Hit>, Unsure> {
        let near: Vec<TableId> = self
            .last
            .filter(|_| item.is_some_and(|i| !i.and))
            .into_iter()
            .chain(self.near.iter().copied())
            .collect();
        let mut beside: Vec<ColumnId> =
            noun.columns.iter().filter(|(_, s)| *s >= 60).map(|(c, _)| *c).collect();
        if let Some(before) = &self.last_values
            && item.is_some_and(|i| {
                (i.or || i.and || i.neg && i.hints.is_empty())
                    && !i.hints.iter().any(|h| self.sentence.hints.contains(h))
            })
        {
            beside.extend(before);
        }
        let mut tables: Vec<TableId> = noun.table.into_iter().chain(noun.beside.iter().copied()).collect();
        if noun.is_column() {
            tables.extend(noun.table);
        }
        let hints: &[String] = item.map_or(&[], |i| &i.hints);
        let by = item.is_some_and(|i| i.rel == "by" || i.rel == "does");
        let linked = item.is_some_and(|i| !i.rel.is_empty() && !["of", "except"].contains(&i.rel.as_str()));
        // Rock tracks are not called Rock; the Jazz genre is called Jazz, for it has no other rows to go by.
        let points_on = |t: &TableId| self.schema.edges().any(|(_, e)| e.from == *t && e.to != *t);
        let mut not_name_of: Vec<TableId> = Vec::new();
        if value.before {
            not_name_of.extend(noun.table.filter(points_on));
        }
        if linked {
            not_name_of.extend(self.last.filter(|t| noun.table != Some(*t)));
        }
        let around = pick::Around {
            near: &near,
            context: &self.context,
            beside: &beside,
            tables: &tables,
            hints,
            by,
            apposed: !value.before,
            not_name_of: &not_name_of,
        };
        if value.hits.is_empty() {
            return Err(Unsure::new(format!("“{}” was not found in the database", value.text)));
        }
        let found = pick::hits(self.schema, &value.hits, &around, &value.text)?;
        self.only_inside(&found, linked, &value.text)?;
        self.said_owner(noun, value, &found)?;
        self.acting(item, value, &found)?;
        // `the founder of X`: what has a founder is called X.
        let of_subject = item.is_some_and(|i| i.rel == "of")
            && found
                .first()
                .and_then(|h| h.columns.first())
                .is_some_and(|c| c.table == self.intent.subject || Some(c.table) == self.last);
        if !of_subject {
            pick::one_owner(self.schema, &found, &value.hits, &around, &value.text)?;
        }
        if let (Some(last), Some(table)) =
            (self.last, found.first().and_then(|h| h.columns.first()).map(|c| c.table))
            && linked
        {
            self.one_way(last, table, &value.text)?;
        }
        // Beside a column that is named, the value must stand in it.
        let strict = noun.is_column() && !found.iter().any(|h| h.columns.iter().any(|c| beside.contains(c)));
        if strict && noun.columns.iter().any(|(_, s)| *s >= 90) {
            return Err(Unsure::new(format!("“{}” was not found as {}", value.text, noun.head_text)));
        }
        Ok(found)
    }

    /// `films in English`: that a title holds the word does not say so.
    fn only_inside(&self, found: &[Hit], linked: bool, text: &str) -> Result<(), Unsure> {
        let Some(hit) = found.first().filter(|h| linked && !h.exact) else { return Ok(()) };
        let prose = |c: &ColumnId| {
            let words =
                ["text", "fulltext", "description", "note", "comment", "remark", "summary", "abstract"];
            self.schema.column(*c).label.has_any(&words)
        };
        let own = hit.columns.iter().find(|c| {
            c.table == self.intent.subject && (self.schema.name_columns(c.table).contains(c) || prose(c))
        });
        match own {
            Some(c) => {
                let name = self.schema.spoken_column(*c);
                Err(Unsure::new(format!("“{text}” is no value, and is found only inside {name}"))
                    .with([c.table]))
            }
            None => Ok(()),
        }
    }

    /// `notes for teachers with the last name X`, where only a student is called so.
    fn said_owner(&self, noun: &Noun, value: &Named, found: &[Hit]) -> Result<(), Unsure> {
        let Some(last) = self.last.filter(|_| noun.is_column() && noun.table.is_none()) else {
            return Ok(());
        };
        let best = noun.columns.iter().map(|(_, s)| *s).max().unwrap_or_default();
        let own: Vec<ColumnId> =
            noun.columns.iter().filter(|(c, s)| c.table == last && *s == best).map(|(c, _)| *c).collect();
        let elsewhere = found.first().and_then(|h| h.columns.first()).filter(|c| c.table != last).copied();
        let (Some(own), Some(other)) = (own.first(), elsewhere) else { return Ok(()) };
        if self.schema.edge_at(*own).is_some_and(|(_, e)| e.to == other.table) {
            // The link holds what the other is called.
            return Ok(());
        }
        let (own, other) = (self.schema.spoken_column(*own), self.schema.spoken_column(other));
        Err(Unsure::new(format!("“{}” is not found in {own}, but in {other}", value.text)).with([last]))
    }

    /// `users followed by Mary`: who acts is another row than what is acted on.
    fn acting(&self, item: Option<&Item>, value: &Named, found: &[Hit]) -> Result<(), Unsure> {
        let by = item.is_some_and(|i| i.rel == "by");
        let Some(first) = found.first().and_then(|h| h.columns.first()).filter(|_| by) else { return Ok(()) };
        let subject = self.intent.subject;
        if first.table == subject && self.schema.name_columns(subject).contains(first) {
            let table = &self.schema.table(subject).name.name;
            let why = format!("“by {}” is another row of {table} than the one that is asked for", value.text);
            return Err(Unsure::new(why).with([subject]));
        }
        Ok(())
    }

    /// Whether a value can belong to the subject and to the table named last, each on a way of its own.
    fn one_way(&self, last: TableId, table: TableId, text: &str) -> Result<(), Unsure> {
        let subject = self.intent.subject;
        let many = last != subject && self.schema.distance(subject, last).is_none();
        if !many || table == subject || table == last || self.schema.distance(subject, table).is_none() {
            return Ok(());
        }
        let Route::One(path) = self.schema.route(last, table, &self.intent.hints) else { return Ok(()) };
        let through = path
            .iter()
            .filter_map(|s| self.schema.edge(s.edge))
            .any(|e| e.from == subject || e.to == subject);
        if through {
            return Ok(());
        }
        let name = |t: TableId| self.schema.table(t).name.name.clone();
        Err(Unsure::new(format!("“{text}” may be of {} or of {}", name(subject), name(last)))
            .with([subject, last]))
    }

    pub(super) fn value(
        &mut self,
        noun: &Noun,
        value: &Named,
        item: Option<&Item>,
        share: bool,
    ) -> Result<(), Stop> {
        // A quoted text beside a column is compared with it, whether it is there or not.
        if value.hits.is_empty() && noun.is_column() {
            let near = self.around(self.last);
            let column = self.column(noun, &near)?;
            let typed = self.typed(column, &value.text);
            self.cond(Test::In(vec![column], vec![typed]), item.is_some_and(|i| i.neg), share);
            return Ok(());
        }
        if value.hits.is_empty()
            && let Some(table) = noun.table.filter(|_| noun.is_table())
        {
            let names = self.schema.name_columns(table);
            if !names.is_empty() {
                let values = vec![Value::Text(value.text.clone())];
                self.cond(Test::In(names, values), item.is_some_and(|i| i.neg), share);
                return Ok(());
            }
        }
        let found = self.hits_of(noun, value, item)?;
        self.push_hits(&found, item.is_some_and(|i| i.neg), share);
        if let Some(columns) = found.first().map(|h| h.columns.clone()) {
            self.last_values = Some(columns);
        }
        Ok(())
    }

    /// Values of their own: `from Brazil or Canada`.
    pub(super) fn values(&mut self, item: &Item, noun: &Noun, share: bool) -> Result<(), Stop> {
        for value in &noun.values {
            if self.another_text(item, &value.text, share) {
                continue;
            }
            let found = self.hits_of(noun, value, Some(item))?;
            let Some(columns) = found.first().map(|h| h.columns.clone()) else { continue };
            // `neither Rock nor Jazz`: denied like the one before.
            let nor = item.neg && self.intent.conds.last().is_some_and(|c| c.neg) && item.hints.is_empty();
            let joined = (item.or || item.and || nor)
                && self.last_values.as_ref() == Some(&columns)
                && found.iter().all(|h| h.exact);
            if joined && self.join_values(item, &columns, &found) {
                continue;
            }
            let contains =
                item.hints.last().is_some_and(|h| h.starts_with("contain") || h.starts_with("includ"));
            let shown = columns.iter().all(|c| self.intent.outputs.contains(&Output::Column(*c)));
            if contains && shown {
                self.cond(
                    Test::Like(columns, crate::plan::Place::Anywhere, value.text.clone()),
                    item.neg,
                    share,
                );
                continue;
            }
            // A value that is the subject's own name, asked for by `is there`.
            self.push_hits(&found, item.neg, share);
            self.last_values = Some(columns);
        }
        Ok(())
    }

    /// `contains "a" or "b"`: the second text is looked for like the first.
    fn another_text(&mut self, item: &Item, text: &str, share: bool) -> bool {
        let joined = (item.or || item.and) && item.rel.is_empty() && item.hints.is_empty() && !item.have;
        let last = self.intent.conds.last().map(|c| match &c.test {
            Test::Any(tests) => tests.last().unwrap_or(&c.test),
            test => test,
        });
        let Some(Test::Like(columns, place, _)) = last.filter(|_| joined) else { return false };
        let test = Test::Like(columns.clone(), *place, text.to_owned());
        let neg = item.neg || self.intent.conds.last().is_some_and(|c| c.neg);
        self.cond(test, neg, share);
        true
    }

    /// Adds values to the condition before, where one row can have only one of them.
    fn join_values(&mut self, item: &Item, columns: &[ColumnId], found: &[Hit]) -> bool {
        let subject = self.intent.subject;
        let to_one = columns.first().is_some_and(|c| {
            self.schema.distance(subject, c.table).is_some() || self.intent.keys.contains(&Key::Column(*c))
        });
        let neg_before = self.intent.conds.last().is_some_and(|c| c.neg);
        // `did not order Wine but ordered Flour`, `not Wine but Flour`, `Wine and not Flour`: the second is
        // another statement than the first.
        let own_verb = item.hints.iter().any(|h| self.sentence.hints.contains(h)) || item.have;
        if item.neg != neg_before && (item.neg || item.but || own_verb) {
            return false;
        }
        if to_one && item.and && self.chunks.iter().any(|c| c.kw == Some(Kw::Both)) {
            // One row has one value; both ask for something that its group has.
            return false;
        }
        if to_one && item.and && !item.neg && !self.explicit && self.intent.keys.is_empty() {
            // `studios that made films with director A and B`: one film has one, the studio may have both.
            self.doubt(format!(
                "whether all of “{}” or one of them is wanted is not said",
                self.text_of(found)
            ));
        }
        if !(to_one || item.or || neg_before) {
            // `bought Rock and Jazz`: both, each on a row of its own.
            return false;
        }
        let values: Vec<Value> = found
            .iter()
            .map(|h| {
                columns.first().map_or_else(|| Value::Text(h.value.clone()), |c| self.typed(*c, &h.value))
            })
            .collect();
        match self.intent.conds.last_mut().map(|c| &mut c.test) {
            Some(Test::In(same, list)) if same.as_slice() == columns => {
                for v in values {
                    if !list.contains(&v) {
                        list.push(v);
                    }
                }
                true
            }
            _ => false,
        }
    }

    /// The value before and the ones that join it, for people.
    fn text_of(&self, found: &[Hit]) -> String {
        let before = match self.intent.conds.last().map(|c| &c.test) {
            Some(Test::In(_, values)) => values.as_slice(),
            _ => &[],
        };
        let texts = before.iter().filter_map(|v| match v {
            Value::Text(t) => Some(t.as_str()),
            _ => None,
        });
        texts.chain(found.iter().map(|h| h.value.as_str())).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn push_hits(&mut self, found: &[Hit], neg: bool, share: bool) {
        let Some(first) = found.first() else { return };
        let columns = first.columns.clone();
        if first.exact {
            let values = found
                .iter()
                .map(|h| match columns.as_slice() {
                    [only] => self.typed(*only, &h.value),
                    _ => Value::Text(h.value.clone()),
                })
                .collect();
            self.cond(Test::In(columns, values), neg, share);
        } else {
            let spoken: Vec<String> = columns.iter().map(|c| self.schema.spoken_column(*c)).collect();
            self.note(format!(
                "“{}” is looked for inside {}, since no value is just that",
                first.value,
                spoken.join(" and ")
            ));
            self.cond(Test::Like(columns, crate::plan::Place::Anywhere, first.value.clone()), neg, share);
        }
    }

    /// A value in the type of its column.
    pub(crate) fn typed(&self, column: ColumnId, text: &str) -> Value {
        match self.schema.column(column).class {
            Class::Int | Class::Bool => {
                text.parse().map_or_else(|_| Value::Text(text.to_owned()), Value::Int)
            }
            Class::Real => text.parse().map_or_else(|_| Value::Text(text.to_owned()), Value::Real),
            _ => Value::Text(text.to_owned()),
        }
    }
}
