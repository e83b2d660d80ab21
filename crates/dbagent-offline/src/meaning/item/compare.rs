//! Conditions by numbers and dates.

use crate::intent::{Adjective, Ask, Dir, Figure, Item, Operand, Span, Time, TimeOp, Unit};
use crate::meaning::noun::Noun;
use crate::meaning::resolve::{Resolver, Use, Wish};
use crate::meaning::{Stop, Test, Unsure, measure};
use crate::plan::{Agg, Op, Value};
use crate::schema::{Class, ColumnId, TableId};

impl Resolver<'_> {
    pub(super) fn compare(
        &mut self,
        item: &Item,
        noun: Option<&Noun>,
        adjective: Option<(Dir, &'static Adjective)>,
        op: Op,
        operand: &Operand,
    ) -> Result<(), Stop> {
        let share = self.ask == Ask::Share && item.predicate;
        if let Some(noun) = noun {
            if !noun.core.aggs.is_empty() || noun.figure.is_some() {
                return self.compare_figure(noun, if item.neg { op.negated() } else { op }, operand);
            }
            if noun.is_table() {
                return self.compare_key(noun, if item.neg { op.negated() } else { op }, operand, share);
            }
        }
        let (column, op, operand) = match (noun, adjective) {
            (Some(noun), _) if noun.is_column() => {
                let near = self.around(self.last);
                let column = self.column(noun, &near)?;
                self.whose_year(item, noun, column)?;
                let owner = noun.table.or(self.last).unwrap_or(self.intent.subject);
                let column = self.lent(owner, column, &noun.head_text)?;
                (column, op, operand.clone())
            }
            (_, Some((_, adjective))) => {
                let Some((column, up)) = self.adjective(adjective, operand)? else {
                    return Err(Unsure::new(format!("no column says how {} it is", adjective.name))
                        .with([self.intent.subject])
                        .into());
                };
                self.one_measure(adjective, column);
                (column, if up { op } else { op.mirrored() }, operand.clone())
            }
            _ => {
                if let Some(wish) = self.pending.take()
                    && let Operand::Number { value, .. } = operand
                {
                    self.wish(wish, Use::Having(if item.neg { op.negated() } else { op }, *value));
                    return Ok(());
                }
                // `who paid more than 200 in total`.
                let pays = |h: &String| ["paid", "pay", "pays", "paying"].contains(&h.as_str());
                let together = |c: &crate::intent::Chunk| {
                    ["in total", "altogether", "overall"].contains(&c.phrase().as_str())
                };
                if item.hints.iter().any(pays)
                    && self.chunks.iter().any(together)
                    && let Operand::Number { value, .. } = operand
                {
                    let op = if item.neg { op.negated() } else { op };
                    self.wish(Wish::Figure(Figure::Revenue, Agg::Sum), Use::Having(op, *value));
                    return Ok(());
                }
                (self.plain_figure(item, operand)?, op, operand.clone())
            }
        };
        self.compare_column(item.neg, column, op, &operand, share)
    }

    /// `the fees for a campus in the year 1996`: the year of the fees or of the campus.
    fn whose_year(&self, item: &Item, noun: &Noun, column: ColumnId) -> Result<(), Stop> {
        let subject = self.intent.subject;
        let said = self.schema.column(column);
        let timed = said.class == Class::Date || said.label.has("year");
        if !timed || noun.table.is_some() || item.rel != "in" || column.table == subject {
            return Ok(());
        }
        let twin = self.schema.columns(subject).find(|(_, c)| c.label == said.label).map(|(id, _)| id);
        let Some(twin) = twin else { return Ok(()) };
        let (a, b) = (self.schema.spoken_column(column), self.schema.spoken_column(twin));
        Err(Unsure::new(format!("whether {a} or {b} is meant is not clear"))
            .with([column.table, subject])
            .into())
    }

    fn compare_column(
        &mut self,
        neg: bool,
        column: ColumnId,
        op: Op,
        operand: &Operand,
        share: bool,
    ) -> Result<(), Stop> {
        let class = self.schema.column(column).class;
        let dated = class == Class::Date;
        match operand {
            Operand::Number { value, .. } if dated => {
                let span = year_span(*value).ok_or_else(|| Unsure::new(format!("{value} is no year")))?;
                let op = time_op(op).ok_or_else(|| Unsure::new("a date cannot be compared so"))?;
                self.within(column, op, span, None, neg, share);
            }
            Operand::Range { low, high, .. } if dated => {
                let (Some(a), Some(b)) = (year_span(*low), year_span(*high)) else {
                    return Err(Unsure::new("these are no years").into());
                };
                self.within(column, TimeOp::Between, a, Some(b), neg, share);
            }
            Operand::Number { value, unit } => {
                let unit = self.unit(*unit);
                self.plausible(column, *value)?;
                let value = self.converted(column, *value, unit);
                self.cond(Test::Compare(column, op, value), neg, share);
            }
            Operand::Range { low, high, unit } => {
                let unit = self.unit(*unit);
                let (low, high) = (self.converted(column, *low, unit), self.converted(column, *high, unit));
                self.cond(Test::Between(column, low, high), neg, share);
            }
            Operand::Time(time) => {
                let time_op = time_op(op).ok_or_else(|| Unsure::new("a date cannot be compared so"))?;
                self.time_on(column, time_op, *time, None, neg, share)?;
            }
            Operand::Times(a, b) => self.time_on(column, TimeOp::Between, *a, Some(*b), neg, share)?,
            Operand::Figure(agg) => {
                if !self.schema.column(column).is_figure() {
                    return Err(Unsure::new(format!("{} is no figure", self.schema.spoken_column(column)))
                        .with([column.table])
                        .into());
                }
                self.cond(Test::Figure(column, op, *agg), neg, share);
            }
            Operand::Column(core) => {
                let other = crate::meaning::noun::read(self.schema, core, self.chunks)?;
                if !other.is_column() {
                    return Err(
                        Unsure::new(format!("what “{}” is compared with is not clear", other.text)).into()
                    );
                }
                let near = self.around(Some(column.table));
                let other = self.column(&other, &near)?;
                self.cond(Test::Columns(column, op, other), neg, share);
            }
            Operand::Text(chunk) => {
                let Some(c) = self.chunks.get(*chunk) else { return Ok(()) };
                let own = c.hits.iter().find(|h| h.columns.as_slice() == [column]);
                let value = self.typed(column, own.map_or(c.text.as_str(), |h| h.value.as_str()));
                match op {
                    Op::Eq | Op::Ne => {
                        self.cond(Test::In(vec![column], vec![value]), (op == Op::Ne) != neg, share);
                    }
                    op => self.cond(Test::Compare(column, op, value), neg, share),
                }
            }
        }
        Ok(())
    }

    /// `total sales over 40`, `an average price above 5`: a condition on groups.
    fn compare_figure(&mut self, noun: &Noun, op: Op, operand: &Operand) -> Result<(), Stop> {
        let Operand::Number { value, unit } = operand else {
            return Err(Unsure::new(format!("what “{}” is compared with is not clear", noun.text)).into());
        };
        let mut value = *value;
        if noun.is_column() && noun.figure.is_none() {
            let near = self.around(self.last);
            let column = self.column(noun, &near)?;
            let unit = self.unit(*unit);
            if let Value::Real(x) = self.converted(column, value, unit) {
                value = x;
            } else if let Value::Int(n) = self.converted(column, value, unit) {
                value = n as f64;
            }
        }
        // Where the subject itself has the column, `total` is only part of its name.
        let own_total = noun.core.aggs == [Agg::Sum] && noun.is_column();
        if own_total {
            let near = self.around(self.last);
            let column = self.column(noun, &near)?;
            if self.schema.distance(self.intent.subject, column.table).is_some() && self.explicit {
                let value = self.converted(column, value, None);
                self.cond(Test::Compare(column, op, value), false, false);
                return Ok(());
            }
        }
        self.aggregated(noun, Use::Having(op, value))
    }

    /// `order 10248`, `track 5`: the key.
    fn compare_key(&mut self, noun: &Noun, op: Op, operand: &Operand, share: bool) -> Result<(), Stop> {
        let Some(table) = noun.table else { return Ok(()) };
        let (Some(key), Operand::Number { value, .. }, Op::Eq | Op::Ne) =
            (self.schema.single_key(table), operand, op)
        else {
            return Err(Unsure::new(format!("what “{}” is compared with is not clear", noun.text))
                .with([table])
                .into());
        };
        // `card 4560…`, where a card has a number beside its key.
        let numbered: Vec<ColumnId> = self
            .schema
            .columns(table)
            .filter(|(id, c)| {
                let own = &self.schema.table(table).label;
                let says = |w: &String| ["number", "no"].contains(&w.as_str());
                *id != key
                    && !c.links
                    && c.label.words.last().is_some_and(says)
                    && c.label.words.iter().all(|w| says(w) || own.has(w))
            })
            .map(|(id, _)| id)
            .collect();
        if !numbered.is_empty() {
            let list: Vec<String> =
                numbered.iter().chain([&key]).map(|c| self.schema.spoken_column(*c)).collect();
            return Err(Unsure::new(format!("the number {value} may be {}", list.join(" or ")))
                .with([table])
                .into());
        }
        self.note(format!("the number is taken as {}", self.schema.spoken_column(key)));
        let value = self.converted(key, *value, None);
        self.cond(Test::In(vec![key], vec![value]), op == Op::Ne, share);
        self.last = Some(table);
        Ok(())
    }

    fn adjective(&self, adjective: &Adjective, operand: &Operand) -> Result<Option<(ColumnId, bool)>, Stop> {
        let tables: Vec<TableId> = self.around(self.last);
        // A date is compared with a date: `newer than 2010`.
        for t in &tables {
            if let Some(found) = measure::adjective_column(self.schema, adjective, *t) {
                let dated = self.schema.column(found.0).class == Class::Date;
                let number = matches!(operand, Operand::Number { value, unit }
                    if unit.is_some() || year_span(*value).is_none());
                // `older than 30` asks for an age, which a date of birth gives only with the day of today.
                if dated && number {
                    return Err(Unsure::new(
                        "ages depend on the day of the question, which is not known here",
                    )
                    .into());
                }
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Nobody is 2005 years old, and no year is 50.
    fn plausible(&self, column: ColumnId, value: f64) -> Result<(), Stop> {
        let label = &self.schema.column(column).label;
        let age = label.words == ["age"] && value >= 1000.0;
        let year = label.words.last().is_some_and(|w| w == "year") && (1.0..1000.0).contains(&value);
        if age || year {
            let name = self.schema.spoken_column(column);
            return Err(Unsure::new(format!("{value} is nothing that {name} would hold"))
                .with([column.table])
                .into());
        }
        Ok(())
    }

    /// The figure that a bare number is compared with: one with its unit, else money, else the only one.
    fn plain_figure(&mut self, item: &Item, operand: &Operand) -> Result<ColumnId, Stop> {
        // `who paid more than 200`: no age, and no other figure of which nobody says that it was paid.
        let verbs: Vec<&String> = item
            .hints
            .iter()
            // What lasts has a duration, which may be the only figure.
            .filter(|h| self.sentence.hints.contains(h) && !h.starts_with("last"))
            .collect();
        let done = |c: ColumnId| {
            let label = &self.schema.column(c).label;
            verbs.is_empty() || label.words.iter().any(|w| verbs.iter().any(|v| crate::link::same_stem(v, w)))
        };
        let unit = match operand {
            Operand::Number { unit, .. } | Operand::Range { unit, .. } => self.unit(*unit),
            _ => None,
        };
        let words: &[&str] = match unit {
            Some(Unit::Time(_)) => {
                &["millisecond", "second", "minute", "hour", "duration", "length", "runtime", "time"]
            }
            Some(Unit::Size(_)) => &["byte", "kb", "mb", "size", "kilobyte", "megabyte"],
            _ => &["total", "amount", "price", "cost", "fee", "value", "salary"],
        };
        for table in self.around(self.last).into_iter().take(2) {
            let figures: Vec<ColumnId> =
                self.schema.columns(table).filter(|(_, c)| c.is_figure()).map(|(id, _)| id).collect();
            let aged = unit.is_none() && verbs.is_empty() && self.schema.is_person(table);
            let age: &[&str] = if aged { &["age"] } else { &[] };
            let names = age.iter().chain(words).copied().collect::<Vec<_>>();
            let fitting = names.iter().find_map(|w| {
                let found: Vec<&ColumnId> =
                    figures.iter().filter(|c| self.schema.column(**c).label.has(w)).collect();
                match found.as_slice() {
                    [only] => Some(**only),
                    _ => None,
                }
            });
            let only = match figures.as_slice() {
                [only] if unit.is_none() && done(*only) => Some(*only),
                _ => None,
            };
            if let Some(column) = fitting.or(only) {
                self.note(format!("the number is compared with {}", self.schema.spoken_column(column)));
                return Ok(column);
            }
        }
        Err(Unsure::new("which figure the number is compared with is not said")
            .with([self.intent.subject])
            .into())
    }

    /// A number in the unit of its column: five minutes are 300,000 of `Milliseconds`.
    pub(super) fn converted(&mut self, column: ColumnId, number: f64, unit: Option<Unit>) -> Value {
        let label = self.schema.column(column).label.clone();
        let own = |names: &[(&str, f64)]| names.iter().find(|(n, _)| label.has(n)).map(|(_, f)| *f);
        let times = [
            ("millisecond", 0.001),
            ("second", 1.0),
            ("sec", 1.0),
            ("minute", 60.0),
            ("min", 60.0),
            ("hour", 3600.0),
        ];
        let sizes = [
            ("byte", 1.0),
            ("kb", 1024.0),
            ("kilobyte", 1024.0),
            ("mb", 1_048_576.0),
            ("megabyte", 1_048_576.0),
        ];
        let factor = match unit {
            Some(Unit::Time(f)) => own(&times).map(|c| f / c),
            Some(Unit::Size(f)) => own(&sizes).map(|c| f / c),
            _ => Some(1.0),
        };
        let minutes = matches!(unit, Some(Unit::Time(f)) if (f - 60.0).abs() < f64::EPSILON);
        if factor.is_none() && !minutes {
            self.doubt(format!(
                "in which unit {} is kept is not known; ask with its own number",
                self.schema.spoken_column(column)
            ));
        } else if factor.is_none() {
            self.note(format!(
                "{} is taken to be in the unit that was asked with",
                self.schema.spoken_column(column)
            ));
        }
        let value = number * factor.unwrap_or(1.0);
        let rounded = value.round();
        if (value - rounded).abs() < 1e-9 && rounded.abs() < 9e15 {
            #[expect(clippy::cast_possible_truncation, reason = "a whole number well within 64 bits")]
            return Value::Int(rounded as i64);
        }
        Value::Real(value)
    }

    pub(super) fn time(
        &mut self,
        item: &Item,
        op: TimeOp,
        time: Time,
        last: Option<Time>,
    ) -> Result<(), Stop> {
        let share = self.ask == Ask::Share && item.predicate;
        // `that have a start date after 2020`: of that date.
        let verb = item.hints.iter().any(|h| self.sentence.hints.contains(h));
        if let Some(Test::Given(column)) = self.intent.conds.last().filter(|c| !c.neg).map(|c| &c.test)
            && let column = *column
            && self.schema.column(column).class == Class::Date
            && !(verb || item.and || item.or)
            && self.noun_before(item).is_some_and(|n| n.columns.iter().any(|(c, _)| *c == column))
        {
            self.intent.conds.pop();
            return self.time_on(column, op, time, last, item.neg, share);
        }
        let near = self.around(self.last);
        // A date beside a column that was shown last belongs to it: `birth dates after 1960`.
        let mut hints = item.hints.clone();
        for earlier in self.sentence.items.iter().filter(|i| i.at < item.at) {
            hints.extend(earlier.hints.iter().cloned());
        }
        let (column, note) = measure::date_column(self.schema, &near, &hints)?;
        self.note(note.unwrap_or_default());
        self.time_on(column, op, time, last, item.neg, share)
    }

    fn time_on(
        &mut self,
        column: ColumnId,
        op: TimeOp,
        time: Time,
        last: Option<Time>,
        neg: bool,
        share: bool,
    ) -> Result<(), Stop> {
        let joined = |time: Time| match time {
            Time::Span(s) => Some(s),
            Time::Month(_) => None,
        };
        match (time, op) {
            (Time::Month(month), TimeOp::Within) => self.cond(Test::Month(column, month), neg, share),
            (Time::Month(_), _) => return Err(Unsure::new("the year of the month is not said").into()),
            (Time::Span(span), op) => self.within(column, op, span, last.and_then(joined), neg, share),
        }
        Ok(())
    }

    fn within(
        &mut self,
        column: ColumnId,
        op: TimeOp,
        span: Span,
        last: Option<Span>,
        neg: bool,
        share: bool,
    ) {
        let (from, before) = match op {
            TimeOp::Within => (Some(span.from), Some(span.to)),
            TimeOp::Before => (None, Some(span.from)),
            TimeOp::Until => (None, Some(span.to)),
            TimeOp::After => (Some(span.to), None),
            TimeOp::Since => (Some(span.from), None),
            TimeOp::Between => (Some(span.from), Some(last.map_or(span.to, |l| l.to))),
        };
        self.cond(Test::Within(column, from, before), neg, share);
    }
}

fn year_span(value: f64) -> Option<Span> {
    if value.fract() != 0.0 || !(1000.0..=2999.0).contains(&value) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "a whole number between 1000 and 2999")]
    Span::year(value as i32)
}

fn time_op(op: Op) -> Option<TimeOp> {
    Some(match op {
        Op::Eq => TimeOp::Within,
        Op::Lt => TimeOp::Before,
        Op::Le => TimeOp::Until,
        Op::Gt => TimeOp::After,
        Op::Ge => TimeOp::Since,
        Op::Ne => return None,
    })
}
