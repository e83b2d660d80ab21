//! What a finished plan does, as pieces that words of the question can claim.

use std::collections::BTreeSet;

use super::walk::Seen;
use crate::intent::{Day, Hit};
use crate::link::{Link, same_stem, speaks_of};
use crate::meaning::{Cond, Form, Intent, Key, Measure, Measured, OrderBy, Output, Test};
use crate::plan::{Agg, Op, Place, Select, Value};
use crate::schema::{Class, Column, ColumnId, Schema, TableId};
use crate::words::Label;

/// Something that comes first, or the highest or lowest of a figure.
#[derive(Debug, Clone, Copy)]
pub(super) struct First {
    pub(super) descending: bool,
    pub(super) column: Option<ColumnId>,
    /// Whether it goes by how many there are, or how much together.
    pub(super) counted: bool,
}

/// Words for whatever a table calls its rows.
const GENERIC: [&str; 6] = ["name", "id", "number", "code", "title", "date"];

/// A stretch of time, open where there is no day.
pub(super) type Stretch = (Option<Day>, Option<Day>);

#[derive(Debug, Default)]
pub(super) struct Evidence {
    pub(super) numbers: Vec<f64>,
    pub(super) stretches: Vec<Stretch>,
    pub(super) months: BTreeSet<u32>,
    /// In lower case.
    pub(super) texts: BTreeSet<String>,
    pub(super) ops: Vec<Op>,
    pub(super) ranges: usize,
    pub(super) firsts: Vec<First>,
    pub(super) negations: usize,
    pub(super) exists: usize,
    pub(super) places: Vec<Place>,
    /// Conditions of which one is enough, or a choice of values.
    pub(super) choices: usize,
    pub(super) aggs: Vec<Agg>,
    pub(super) to_itself: bool,
    pub(super) parts: bool,
    pub(super) grouped: bool,
    pub(super) ordered: Vec<bool>,
    /// Whether what is the same counts or shows once, or only rows of a table are asked for.
    pub(super) distinct: bool,
    /// Words of the links that are followed: `home`, `support`, `rep`.
    roles: BTreeSet<String>,
    tables: BTreeSet<TableId>,
    /// The tables whose rows the plan goes through.
    stands: BTreeSet<TableId>,
    columns: BTreeSet<ColumnId>,
}

impl Evidence {
    pub(super) fn new(schema: &Schema, intent: &Intent, select: &Select) -> Self {
        let seen = Seen::new(schema, select);
        let mut out = Self {
            tables: seen.tables(),
            stands: seen.tables(),
            columns: seen.columns(schema),
            ..Self::default()
        };
        out.intent(intent, &seen);
        out.reach(schema, intent, &seen.linking(schema));
        for value in &seen.values {
            out.text(value);
        }
        out
    }

    /// Whether a table or column that some words name is used. Where one is called just so, another that
    /// only means the same is not what was asked for.
    pub(super) fn uses(&self, schema: &Schema, link: &Link, words: &[String]) -> bool {
        // What only resembles the words is not what was meant.
        let least = link.score().saturating_sub(25).min(60);
        let said = |label: &Label| words.iter().any(|w| !GENERIC.contains(&w.as_str()) && label.has(w));
        let tables: Vec<(bool, bool)> = link
            .tables
            .iter()
            .filter(|(_, s)| *s >= least)
            .map(|(t, _)| {
                let own = said(&schema.table(*t).label);
                // `female people`: the word names a link, which must be followed.
                let role = schema.edges().any(|(_, e)| {
                    e.to == *t
                        && !e.role.is_empty()
                        && e.role.iter().all(|r| words.contains(r) && !schema.table(*t).label.has(r))
                });
                (own, self.tables.contains(t) && !role)
            })
            .collect();
        let columns: Vec<(bool, bool)> = link
            .columns
            .iter()
            .filter(|(_, s)| *s >= least)
            .map(|(c, _)| {
                // `team names`: the name of a team.
                let owned = said(&schema.column(*c).label) || said(&schema.table(c.table).label);
                (owned, self.columns.contains(c))
            })
            .collect();
        // `course codes`, where a table of courses is there: no code of classes.
        let outright = schema.tables().any(|(_, t)| {
            matches!(t.label.words.as_slice(), [only] if words.contains(only) && !GENERIC.contains(&only.as_str()))
        });
        let called = outright || tables.iter().chain(&columns).any(|(said, _)| *said);
        let role = words.iter().any(|w| self.roles.contains(w));
        role || tables.iter().chain(&columns).any(|(said, used)| *used && (*said || !called))
    }

    /// Whether a value that some words may be stands in a column that is used.
    pub(super) fn holds(&self, hits: &[Hit]) -> bool {
        hits.iter().any(|h| h.exact && h.columns.iter().all(|c| self.columns.contains(c)))
    }

    /// Whether a column is used by which the rows of a table are known.
    pub(super) fn uses_key(&self, schema: &Schema) -> bool {
        self.columns.iter().any(|c| schema.column(*c).in_key || schema.column(*c).links)
    }

    /// Whether a column is used whose name has one of some words.
    pub(super) fn uses_word(&self, schema: &Schema, words: &[&str]) -> bool {
        self.columns.iter().any(|c| schema.column(*c).label.has_any(words))
    }

    /// Takes a number, once.
    pub(super) fn take_number(&mut self, wanted: impl Fn(f64) -> bool) -> bool {
        let at = self.numbers.iter().position(|n| wanted(*n));
        at.map(|i| self.numbers.remove(i)).is_some()
    }

    /// Takes a comparison, once.
    pub(super) fn take_op(&mut self, fits: impl Fn(Op) -> bool) -> bool {
        let at = self.ops.iter().position(|op| fits(*op));
        at.map(|i| self.ops.remove(i)).is_some()
    }

    fn intent(&mut self, intent: &Intent, seen: &Seen) {
        for cond in &intent.conds {
            self.cond(cond);
        }
        for h in &intent.having {
            self.ops.push(h.op);
            self.numbers.push(h.value);
            self.measure(&h.measure);
        }
        for m in &intent.figures {
            self.measure(m);
        }
        let kept = |n: &u64| seen.limits.contains(n);
        if let Some(rank) = intent.rank {
            let column = match rank.by {
                OrderBy::Column(c) => Some(c),
                OrderBy::Measure(m) => match m.of {
                    Measured::Column(c) => Some(c),
                    _ => None,
                },
            };
            let counted = matches!(rank.by, OrderBy::Measure(m) if matches!(m.agg, Agg::Count | Agg::Sum));
            self.firsts.push(First { descending: rank.descending, column, counted });
            let counted = rank.limit.into_iter().chain(rank.place);
            self.numbers.extend(counted.filter(kept).map(|n| n as f64));
        }
        self.numbers.extend(intent.limit.filter(kept).map(|n| n as f64));
        let ranked = match intent.rank.map(|r| r.by) {
            Some(OrderBy::Measure(m)) => Some(m),
            _ => None,
        };
        for m in intent.figures.iter().filter(|m| Some(**m) != ranked) {
            self.extreme(m.agg, m.of);
        }
        if seen.ordered {
            self.ordered.extend(intent.order.iter().map(|(_, descending)| *descending));
            self.ordered.extend(intent.rank.map(|r| r.descending));
        }
        let values = intent.figures.iter().any(|m| matches!(m.of, Measured::Values(_)))
            || intent.having.iter().any(|h| matches!(h.measure.of, Measured::Values(_)));
        let rows = intent.figures.is_empty() && intent.outputs.is_empty();
        self.distinct =
            intent.distinct || intent.counted.is_some() || values || rows || !intent.keys.is_empty();
        self.grouped = !intent.keys.is_empty();
        self.parts = intent.keys.iter().any(|k| matches!(k, Key::Part(..)));
        self.to_itself |= intent.keys.iter().any(|k| matches!(k, Key::Parent(_)));
        self.to_itself |= intent.outputs.iter().any(|o| matches!(o, Output::Parent { .. }));
        if matches!(intent.form, Form::Count | Form::Share | Form::MeanOfGroups) {
            self.aggs.push(Agg::Count);
        }
        if intent.form == Form::MeanOfGroups {
            self.aggs.push(Agg::Avg);
        }
    }

    /// A table that is tested, counted or grouped by is used even where its rows are known by a link to them,
    /// and a link is as good as the key that it points to.
    fn reach(&mut self, schema: &Schema, intent: &Intent, linking: &BTreeSet<ColumnId>) {
        // A subject that the plan never comes near was lost.
        let near = |t: TableId| {
            self.tables.contains(&t)
                || schema.edges().any(|(_, e)| {
                    (e.to == t && self.tables.contains(&e.from))
                        || (e.from == t && self.tables.contains(&e.to))
                })
        };
        if near(intent.subject) {
            self.tables.insert(intent.subject);
        }
        self.tables.extend(intent.conds.iter().filter_map(|c| c.test.table()));
        self.tables.extend(intent.figures.iter().map(|m| m.of.table()));
        self.tables.extend(intent.having.iter().map(|h| h.measure.of.table()));
        self.tables.extend(intent.keys.iter().filter_map(|k| match k {
            Key::Entity(t) => Some(*t),
            _ => None,
        }));
        for (_, edge) in schema.edges() {
            for (from, to) in edge.columns.iter().zip(&edge.target_columns) {
                let link = ColumnId { table: edge.from, index: *from };
                if self.columns.contains(&link) || linking.contains(&link) {
                    self.roles.extend(edge.role.iter().cloned());
                }
                if self.columns.contains(&link) {
                    self.columns.insert(ColumnId { table: edge.to, index: *to });
                    self.tables.insert(edge.to);
                }
            }
        }
    }

    pub(super) fn stands_on(&self, table: TableId) -> bool {
        self.stands.contains(&table)
    }

    pub(super) fn uses_column(&self, column: ColumnId) -> bool {
        self.columns.contains(&column)
    }

    /// `the years of opening`, where a column says when it opened and the plan looks at another date.
    pub(super) fn misses_date(&self, schema: &Schema, verb: &str) -> bool {
        let says = |c: &Column| c.label.words.iter().any(|w| same_stem(w, verb));
        let dated = |c: &Column| c.class == Class::Date || c.label.has("year");
        let used: Vec<&Column> = self.columns.iter().map(|c| schema.column(*c)).collect();
        let there = self.tables.iter().any(|t| schema.columns(*t).any(|(_, c)| dated(c) && says(c)));
        there && used.iter().any(|c| dated(c)) && !used.iter().any(|c| dated(c) && says(c))
    }

    /// `customers who have not returned a film`, where a date of a row that the plan goes through says when that
    /// was done, if it was, and the plan looks at nothing that speaks of it.
    pub(super) fn misses_deed(&self, schema: &Schema, verb: &str) -> bool {
        let says = |c: &Column| c.label.words.iter().any(|w| w != "date" && same_stem(w, verb));
        let open = |c: &Column| c.class == Class::Date && !c.required && says(c);
        let there = self.stands.iter().any(|t| schema.columns(*t).any(|(_, c)| open(c)));
        there && !self.says(schema, &[verb.to_owned()])
    }

    /// `in stock`, where a column of a table that the plan goes through is called so and the plan does not look
    /// at it.
    pub(super) fn misses_word(&self, schema: &Schema, words: &[String]) -> bool {
        let there =
            |t: &TableId| schema.columns(*t).any(|(_, c)| c.label.words.iter().any(|w| words.contains(w)));
        self.stands.iter().any(there) && !self.says(schema, words)
    }

    /// Whether a column, table or link that is used is called like one of some verbs.
    pub(super) fn says(&self, schema: &Schema, verbs: &[String]) -> bool {
        let alike = |w: &String| verbs.iter().any(|v| same_stem(v, w) || speaks_of(v, w));
        self.columns.iter().any(|c| schema.column(*c).label.words.iter().any(alike))
            || self.tables.iter().any(|t| schema.table(*t).label.words.iter().any(alike))
            || self.roles.iter().any(alike)
    }

    /// Whether the plan looks at a date of a table itself.
    pub(super) fn dated(&self, schema: &Schema, table: TableId) -> bool {
        self.columns.iter().any(|c| c.table == table && schema.column(*c).class == Class::Date)
    }

    pub(super) fn uses_any(&self, tables: &[TableId]) -> bool {
        tables.iter().any(|t| self.tables.contains(t))
    }

    /// Whether one of some tables is linked with a used one.
    pub(super) fn is_linked(&self, schema: &Schema, tables: &[TableId]) -> bool {
        schema.edges().any(|(_, e)| tables.contains(&e.from) && self.tables.contains(&e.to))
    }

    /// Whether a link of a used table leads to one that some words name: each of its rows has one.
    pub(super) fn leads_to(&self, schema: &Schema, link: &Link) -> bool {
        let best = link.score();
        schema.edges().any(|(_, e)| {
            self.tables.contains(&e.from) && link.tables.iter().any(|(t, s)| *t == e.to && *s == best)
        })
    }

    /// Whether one of the tables that some words may name is linked with a used one, in either direction.
    pub(super) fn is_beside(&self, schema: &Schema, link: &Link) -> bool {
        let best = link.score();
        schema.edges().any(|(_, e)| {
            self.tables.contains(&e.to) && link.tables.iter().any(|(t, s)| *t == e.from && *s == best)
        }) || self.leads_to(schema, link)
    }

    fn measure(&mut self, m: &Measure) {
        self.aggs.push(m.agg);
    }

    fn extreme(&mut self, agg: Agg, of: Measured) {
        let column = match of {
            Measured::Column(c) => Some(c),
            _ => None,
        };
        match agg {
            Agg::Max => self.firsts.push(First { descending: true, column, counted: false }),
            Agg::Min => self.firsts.push(First { descending: false, column, counted: false }),
            _ => {}
        }
    }

    fn cond(&mut self, cond: &Cond) {
        if cond.neg {
            // One denial holds for each of its values: `neither A nor B`.
            self.negations += match &cond.test {
                Test::In(_, values) => values.len().max(1),
                Test::Any(tests) => tests.len().max(1),
                _ => 1,
            };
        }
        self.test(&cond.test);
    }

    fn test(&mut self, test: &Test) {
        match test {
            Test::In(_, values) | Test::Flag(_, values) | Test::Parent { values, .. } => {
                self.choices += usize::from(values.len() > 1);
                for v in values {
                    self.value(v);
                }
                self.to_itself |= matches!(test, Test::Parent { .. });
                self.ops.push(Op::Eq);
            }
            Test::Compare(_, op, value) => {
                self.ops.push(*op);
                self.negations += usize::from(*op == Op::Ne);
                self.value(value);
            }
            Test::Between(_, low, high) => {
                self.ranges += 1;
                self.value(low);
                self.value(high);
            }
            Test::Columns(_, op, _) => {
                self.ops.push(*op);
                self.negations += usize::from(*op == Op::Ne);
            }
            Test::Figure(column, op, agg) => {
                self.ops.push(*op);
                self.aggs.push(*agg);
                self.extreme(*agg, Measured::Column(*column));
            }
            Test::Like(_, place, text) => {
                self.places.push(*place);
                self.texts.insert(text.to_lowercase());
                self.ops.push(Op::Eq);
            }
            Test::Missing(_) => self.negations += 1,
            Test::Given(_) | Test::Exists(_) => self.exists += 1,
            Test::Within(_, from, to) => {
                self.ranges += 1;
                self.stretches.push((*from, *to));
                self.ops.extend(match (from, to) {
                    (Some(_), None) => vec![Op::Gt, Op::Ge],
                    (None, Some(_)) => vec![Op::Lt, Op::Le],
                    _ => vec![Op::Eq],
                });
            }
            Test::Month(_, month) => _ = self.months.insert(*month),
            Test::Grouped(_, having) => {
                self.ops.push(having.op);
                self.numbers.push(having.value);
                self.measure(&having.measure);
            }
            Test::Value(_, inner) => self.test(inner),
            Test::Any(tests) => {
                self.choices += 1;
                for t in tests {
                    self.test(t);
                }
            }
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Int(n) => self.numbers.push(*n as f64),
            Value::Real(x) => self.numbers.push(*x),
            Value::Text(text) | Value::Date(text) => self.numbers.extend(text.parse::<f64>().ok()),
        }
        self.text(value);
    }

    fn text(&mut self, value: &Value) {
        let text = match value {
            Value::Int(n) => n.to_string(),
            Value::Real(x) => x.to_string(),
            Value::Text(text) | Value::Date(text) => text.to_lowercase(),
        };
        self.texts.insert(text);
    }
}
