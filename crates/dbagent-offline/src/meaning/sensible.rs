//! Readings that fit the words and still cannot be meant: a count that is always one, a figure of a single
//! row, a question that gives its own answer. Some are turned into what is meant, the others are refused.

use super::resolve::Resolver;
use super::{Form, Key, Measure, Measured, OrderBy, Output, Ranked, Stop, Test, Unsure};
use crate::intent::{Ask, Kw};
use crate::plan::{Agg, Op, Value};
use crate::schema::{Class, ColumnId, TableId};

impl Resolver<'_> {
    /// `the room with the maximum occupancy`: each room has one, so the first room is meant.
    pub(in crate::meaning) fn highest_of_its_own(&mut self) {
        let ([Key::Entity(of)], [only]) = (self.intent.keys.as_slice(), self.intent.figures.as_slice())
        else {
            return;
        };
        let (Measured::Column(column), Agg::Max | Agg::Min) = (only.of, only.agg) else { return };
        let (of, descending) = (*of, only.agg == Agg::Max);
        let each = self.chunks.iter().any(|c| matches!(c.kw, Some(Kw::Each | Kw::Per)));
        let plain =
            self.intent.rank.is_none() && self.intent.having.is_empty() && self.intent.order.is_empty();
        if each || !plain || !self.one_each(of, column.table) {
            return;
        }
        self.intent.keys.clear();
        self.intent.figures.clear();
        let by = OrderBy::Column(column);
        let limit = self.intent.limit.take();
        self.intent.rank = Some(Ranked { by, descending, limit, place: None });
    }

    /// Whether each row of a table has one row of another, or is it.
    fn one_each(&self, of: TableId, other: TableId) -> bool {
        self.schema.single_key(of).is_some() && (of == other || self.schema.distance(of, other).is_some())
    }

    /// Refuses what cannot be meant.
    pub(in crate::meaning) fn sensible(&self) -> Result<(), Stop> {
        self.same_keys()?;
        self.far_groups()?;
        let having = self.intent.having.iter().map(|h| &h.measure);
        for m in self.intent.figures.iter().chain(having) {
            self.sensible_figure(m)?;
        }
        if let ([Output::Column(shown)], [cond]) =
            (self.intent.outputs.as_slice(), self.intent.conds.as_slice())
            && let Test::In(columns, values) = &cond.test
            && (columns.as_slice() == [*shown] || columns.iter().all(|c| self.is_key_of(*shown, *c)))
            && values.len() == 1
            && !cond.neg
            && self.intent.form == Form::Rows
            && self.intent.distinct
        {
            return Err(refuse("the answer would only repeat the question", [shown.table]));
        }
        for c in &self.intent.conds {
            // `Who is the advisor of X? Give the first and last name.`: not the name of X again.
            if let Test::In(columns, values) = &c.test
                && self.ask == Ask::Who
                && !c.neg
                && values.len() == 1
                && columns.iter().all(|c| self.intent.outputs.contains(&Output::Column(*c)))
            {
                let tables = columns.iter().map(|c| c.table);
                return Err(refuse("the answer would only repeat the question", tables));
            }
            self.comparable(&c.test)?;
            if let Test::Missing(column) = &c.test
                && !self.undone.contains(column)
                && self.intent.subject.0 != usize::MAX
                && self.schema.distance(self.intent.subject, column.table).is_none()
            {
                let why = format!("what is missing in {} is not clear", self.schema.spoken_column(*column));
                return Err(refuse(why, [column.table]));
            }
        }
        Ok(())
    }

    /// `country` and `country name`, which turn out to be columns of two tables.
    fn same_keys(&self) -> Result<(), Stop> {
        let columns: Vec<ColumnId> = self
            .intent
            .keys
            .iter()
            .filter_map(|k| match k {
                Key::Column(c) => Some(*c),
                _ => None,
            })
            .collect();
        for (i, a) in columns.iter().enumerate() {
            for b in columns.iter().skip(i + 1).filter(|b| b.table != a.table) {
                let leads =
                    |x: ColumnId, y: ColumnId| self.schema.edge_at(x).is_some_and(|(_, e)| e.to == y.table);
                if leads(*a, *b) || leads(*b, *a) {
                    continue;
                }
                let (own, other) = (&self.schema.column(*a).label, &self.schema.column(*b).label);
                if own.words.last() == other.words.last() && !own.has_any(&["name", "id"]) {
                    let (a, b) = (self.schema.spoken_column(*a), self.schema.spoken_column(*b));
                    let tables = columns.iter().map(|c| c.table);
                    return Err(refuse(format!("whether {a} or {b} is meant is not clear"), tables));
                }
            }
        }
        Ok(())
    }

    /// `countries with more than one swimmer`, where only stadiums have a country and swimmers come to them by way
    /// of events: nothing says that this is the country.
    fn far_groups(&self) -> Result<(), Stop> {
        let counted = self.intent.figures.iter().chain(self.intent.having.iter().map(|h| &h.measure));
        let tables: Vec<TableId> = counted
            .filter_map(|m| match m.of {
                Measured::Rows(t) => Some(t),
                _ => None,
            })
            .collect();
        for key in &self.intent.keys {
            let Key::Column(c) = key else { continue };
            let far = |t: &&TableId| {
                **t != c.table
                    && self.schema.distance(**t, c.table).is_none()
                    && self.schema.distance(c.table, **t).is_none()
                    && self.schema.apart(c.table, **t).is_some_and(|d| d > 2)
            };
            if let Some(t) = tables.iter().find(far)
                && !self.speaks_of_table(c.table)
                && !self.identifies(*c)
            {
                let (name, of) = (self.schema.spoken_column(*c), &self.schema.table(*t).name.name);
                return Err(refuse(format!("whether {name} is that of {of} is not clear"), [*t, c.table]));
            }
        }
        Ok(())
    }

    /// Refuses to compare a text with a number: engines compare it letter by letter, or not at all.
    fn comparable(&self, test: &Test) -> Result<(), Stop> {
        if let Test::Columns(a, _, b) = test
            && a == b
        {
            let name = self.schema.spoken_column(*a);
            return Err(refuse(format!("{name} would be compared with itself"), [a.table]));
        }
        let number = |v: &Value| matches!(v, Value::Int(_) | Value::Real(_));
        let column = match test {
            Test::Compare(c, Op::Lt | Op::Le | Op::Gt | Op::Ge, v) if number(v) => *c,
            Test::Between(c, low, high) if number(low) || number(high) => *c,
            _ => return Ok(()),
        };
        if self.schema.column(column).class == Class::Text {
            let name = self.schema.spoken_column(column);
            return Err(refuse(
                format!("{name} holds text, which is not more or less than a number"),
                [column.table],
            ));
        }
        Ok(())
    }

    /// Whether a column is a link to another.
    fn is_key_of(&self, link: ColumnId, key: ColumnId) -> bool {
        self.schema
            .edge_at(link)
            .is_some_and(|(_, e)| e.to == key.table && e.target_columns.as_slice() == [key.index])
    }

    fn sensible_figure(&self, m: &Measure) -> Result<(), Stop> {
        let counted = m.of.table();
        let name = |t: TableId| self.schema.table(t).name.name.clone();
        let many = self.intent.keys.len() > 1;
        for key in &self.intent.keys {
            if let Key::Entity(t) = key
                && self.schema.table(*t).key.is_empty()
                && self.schema.name_columns(*t).is_empty()
            {
                let why = format!("nothing tells the rows of {} apart", name(*t));
                return Err(refuse(why, [*t]));
            }
            let of = match key {
                Key::Entity(t) => *t,
                Key::Column(c) if self.identifies(*c) => c.table,
                _ => continue,
            };
            let ranked = matches!(self.intent.rank.map(|r| r.by), Some(OrderBy::Measure(by)) if by == *m);
            let own_rows = ranked && matches!(m.of, Measured::Rows(_)) && matches!(key, Key::Entity(_));
            let itself =
                of == counted && (many || own_rows || matches!(m.agg, Agg::Min | Agg::Max | Agg::Avg));
            let belongs = of != counted && matches!(key, Key::Entity(_)) && m.agg == Agg::Count;
            if (itself || belongs) && self.one_each(of, counted) {
                let (a, b) = (name(of), self.spoken_of(m));
                return Err(refuse(
                    format!("each row of {a} has one {b} only, so another figure must be meant"),
                    [of, counted],
                ));
            }
        }
        if let Measured::Values(c) = m.of {
            let by_name = self.intent.keys.contains(&Key::Entity(c.table)) && self.identifies(c);
            if by_name || self.intent.keys.contains(&Key::Column(c)) {
                let why =
                    format!("how many {} each of them has is no question", self.schema.spoken_column(c));
                return Err(refuse(why, [c.table]));
            }
            // `how many different prices`: only the word beside it says that its values are counted.
            let distinct = self.chunks.windows(2).any(|pair| match pair {
                [a, b] => a.kw == Some(Kw::Distinct) && b.link.columns.iter().any(|(of, _)| *of == c),
                _ => false,
            });
            for key in &self.intent.keys {
                if let Key::Entity(t) = key
                    && self.one_each(*t, c.table)
                {
                    let (a, b) = (name(*t), self.schema.spoken_column(c));
                    let why = format!(
                        "each row of {a} has one {b}, whether it is counted or compared is not clear"
                    );
                    return Err(refuse(why, [*t, c.table]));
                }
            }
            let label = &self.schema.column(c).label;
            let says = ["count", "amount", "number", "total", "quantity"];
            let amount = label.words.last().is_some_and(|w| says.contains(&w.as_str()));
            if !distinct && (amount || self.schema.column(c).is_figure()) {
                let why =
                    format!("{} is a number itself, and is not to be counted", self.schema.spoken_column(c));
                return Err(refuse(why, [c.table]));
            }
        }
        Ok(())
    }

    fn spoken_of(&self, m: &Measure) -> String {
        super::measure::spoken(self.schema, &m.of)
    }

    /// Whether a column tells the rows of its table apart.
    fn identifies(&self, column: ColumnId) -> bool {
        self.schema.single_key(column.table) == Some(column)
            || self.schema.name_columns(column.table).contains(&column)
    }

    /// `ships without a captain of that rank`: no captain at all is not asked for, only no such captain.
    pub(in crate::meaning) fn without_such(&mut self) -> Result<(), Stop> {
        let subject = self.intent.subject;
        let denied: Vec<TableId> = self
            .intent
            .conds
            .iter()
            .filter_map(|c| match c.test {
                Test::Exists(t) if c.neg => Some(t),
                _ => None,
            })
            .collect();
        for table in denied {
            if self.schema.distance(subject, table).is_some() {
                continue;
            }
            let such: Vec<usize> = self
                .intent
                .conds
                .iter()
                .enumerate()
                .filter(|(_, c)| !c.neg && c.test.table() == Some(table))
                .map(|(i, _)| i)
                .collect();
            let denied_part = self.sentence.items.windows(2).any(|pair| match pair {
                [a, b] => {
                    let compared = !matches!(b.what, crate::intent::What::Noun(_)) || b.rel.is_empty();
                    a.neg && !b.neg && !b.and && b.have && compared
                }
                _ => false,
            });
            if such.is_empty() && denied_part {
                return Err(refuse("how much of the sentence is denied is not clear", [subject, table]));
            }
            if let [only] = such.as_slice()
                && let Some(cond) = self.intent.conds.get_mut(*only)
            {
                cond.neg = true;
                self.intent.conds.retain(|c| !(c.neg && c.test == Test::Exists(table)));
            }
        }
        Ok(())
    }
}

fn refuse(why: impl Into<String>, tables: impl IntoIterator<Item = TableId>) -> Stop {
    Unsure::new(why).with(tables).into()
}
