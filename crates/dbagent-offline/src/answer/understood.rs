//! How a question was understood, in one line: tables, conditions, figures, order, assumptions.

use std::collections::BTreeSet;

use dbagent_core::text::printable;

use crate::compile::Taken;
use crate::intent::{Day, Span};
use crate::meaning::{Cond, Form, Intent, Key, Measure, OrderBy, Test, spoken_measure};
use crate::plan::{Agg, Part, Place, Value};
use crate::schema::{ColumnId, Schema, TableId};
use crate::words::plural;

/// The line.
pub(crate) fn understood(schema: &Schema, intent: &Intent, taken: &Taken) -> String {
    let mut parts = vec![subject(schema, intent)];
    let tables: BTreeSet<&str> =
        tables(schema, intent).into_iter().map(|t| schema.table(t).name.name.as_str()).collect();
    if tables.len() > 1 {
        parts.push(format!("tables {}", tables.into_iter().collect::<Vec<_>>().join(", ")));
    }
    if !taken.chosen.is_empty() {
        parts.push(format!("linked by {}", taken.chosen.join(" and ")));
    }
    if !intent.keys.is_empty() && intent.form != Form::Versus {
        let keys: Vec<String> = intent.keys.iter().map(|k| key(schema, *k)).collect();
        parts.push(format!("one line for each {}", keys.join(" and ")));
    }
    for h in &intent.having {
        let name = measure(schema, &h.measure);
        parts.push(format!("{name} {} {}", h.op.spoken(), number(h.value)));
    }
    if let Some(rank) = intent.rank {
        let by = match rank.by {
            OrderBy::Column(c) => schema.spoken_column(c),
            OrderBy::Measure(m) => measure(schema, &m),
        };
        let which = if rank.descending { "highest" } else { "lowest" };
        parts.push(match (rank.place, rank.limit) {
            (Some(place), _) => format!("number {place} from the {which} {by}"),
            (None, Some(limit)) if intent.form != Form::Versus => {
                format!("the first {limit} by the {which} {by}")
            }
            _ => format!("the {which} {by}"),
        });
    }
    if let Some(limit) = intent.limit {
        parts.push(match (intent.figures.first(), intent.order.is_empty()) {
            (Some(m), true) => format!("the first {limit} by {}", measure(schema, m)),
            _ => format!("the first {limit}"),
        });
    }
    if intent.with_empty {
        parts.push("rows without any count as zero".into());
    } else if intent.keys.iter().any(|k| matches!(k, Key::Entity(_)))
        && intent.figures.iter().any(|m| m.agg == Agg::Count)
        && matches!(intent.form, Form::Rows | Form::MeanOfGroups)
        && intent.having.is_empty()
    {
        parts.push("those without any are left out".into());
    }
    let mut line = format!("Understood as: {}.", parts.join("; "));
    let notes: Vec<&String> = intent.notes.iter().chain(&taken.assumed).collect();
    if !notes.is_empty() {
        let notes: Vec<&str> = notes.into_iter().map(String::as_str).collect();
        line.push_str(&format!(" Assumed: {}.", notes.join("; ")));
    }
    printable(&line).replace('\n', " ")
}

/// What is asked for, with its conditions.
pub(crate) fn subject(schema: &Schema, intent: &Intent) -> String {
    let noun = noun(schema, intent.subject);
    let figures: Vec<String> = intent.figures.iter().map(|m| measure(schema, m)).collect();
    let mut text = match intent.form {
        Form::Count if intent.keys.is_empty() => match intent.counted {
            Some(c) => format!("the number of different {}", schema.spoken_column(c)),
            None => format!("the number of {noun}"),
        },
        Form::Count => "the number of groups".to_owned(),
        Form::Share => match figures.first() {
            Some(f) => format!("the share of {f}"),
            None => format!("the share of {noun}"),
        },
        Form::MeanOfGroups => format!("the average of {}", figures.join(", ")),
        Form::Exists => format!("whether there are {noun}"),
        Form::Versus => figures.join(", "),
        Form::Rows if !figures.is_empty() => figures.join(" and "),
        Form::Rows => noun,
    };
    let (share, other): (Vec<&Cond>, Vec<&Cond>) = intent.conds.iter().partition(|c| c.share);
    if !other.is_empty() {
        text.push_str(&format!(" where {}", conds(schema, intent, &other)));
    }
    if !share.is_empty() {
        let conds: Vec<String> = share.iter().map(|c| cond(schema, c)).collect();
        text.push_str(&format!(", the part where {}", conds.join(" and ")));
    }
    text
}

/// Some conditions; what is said of rows that must not be there stands with them.
fn conds(schema: &Schema, intent: &Intent, list: &[&Cond]) -> String {
    let related = |c: &Cond| c.test.table().is_some_and(|t| schema.distance(intent.subject, t).is_none());
    let absent = |c: &Cond| c.neg && matches!(c.test, Test::Exists(_)) && related(c);
    let with_absent =
        |c: &Cond| !c.neg && related(c) && list.iter().any(|o| absent(o) && o.branch == c.branch);
    let texts: Vec<String> = list
        .iter()
        .filter(|c| !with_absent(c))
        .map(|c| {
            let theirs: Vec<String> = list
                .iter()
                .filter(|o| absent(c) && o.branch == c.branch && with_absent(o))
                .map(|o| cond(schema, o))
                .collect();
            let of =
                if theirs.is_empty() { String::new() } else { format!(" where {}", theirs.join(" and ")) };
            format!("{}{of}", cond(schema, c))
        })
        .collect();
    texts.join(" and ")
}

fn noun(schema: &Schema, table: TableId) -> String {
    let mut words = schema.table(table).label.words.clone();
    if let Some(last) = words.last_mut() {
        *last = plural(last);
    }
    words.join(" ")
}

fn tables(schema: &Schema, intent: &Intent) -> BTreeSet<TableId> {
    let mut out = BTreeSet::from([intent.subject]);
    for key in &intent.keys {
        match key {
            Key::Entity(t) => _ = out.insert(*t),
            Key::Column(c) | Key::Part(_, c) => _ = out.insert(c.table),
            Key::Parent(e) => out.extend(schema.edge(*e).map(|e| e.to)),
        }
    }
    out.extend(intent.figures.iter().map(|m| m.of.table()));
    out.extend(intent.having.iter().map(|h| h.measure.of.table()));
    out.extend(intent.conds.iter().filter_map(|c| c.test.table()));
    out
}

fn key(schema: &Schema, key: Key) -> String {
    match key {
        Key::Entity(t) => schema.table(t).label.spoken(),
        Key::Column(c) => schema.spoken_column(c),
        Key::Part(part, c) => {
            let word = match part {
                Part::Year => "year",
                Part::Quarter => "quarter",
                Part::YearMonth => "month",
                Part::Month => "month of the year",
                Part::Day => "day",
                Part::Weekday => "weekday",
            };
            format!("{word} of {}", schema.spoken_column(c))
        }
        Key::Parent(e) => {
            let column =
                schema.edge(e).and_then(|e| Some(ColumnId { table: e.from, index: *e.columns.first()? }));
            column.map_or_else(|| "parent".to_owned(), |c| schema.spoken_column(c))
        }
    }
}

fn measure(schema: &Schema, m: &Measure) -> String {
    let of = spoken_measure(schema, &m.of);
    match (m.agg, &m.of) {
        (Agg::Count, crate::meaning::Measured::Rows(t)) => format!("number of {}", noun(schema, *t)),
        (Agg::Count, _) => format!("number of different {of}"),
        (Agg::Sum, _) => format!("sum of {of}"),
        (Agg::Avg, _) => format!("average {of}"),
        (Agg::Min, _) => format!("lowest {of}"),
        (Agg::Max, _) => format!("highest {of}"),
    }
}

fn cond(schema: &Schema, c: &Cond) -> String {
    let text = test(schema, &c.test);
    match (&c.test, c.neg) {
        (Test::Exists(t), true) => format!("there are no {}", noun(schema, *t)),
        (_, true) => format!("not ({text})"),
        (_, false) => text,
    }
}

fn test(schema: &Schema, t: &Test) -> String {
    let name = |c: &ColumnId| schema.spoken_column(*c);
    let names = |cs: &[ColumnId]| cs.iter().map(name).collect::<Vec<_>>().join(" + ");
    match t {
        Test::In(columns, values) => {
            let list: Vec<String> = values.iter().map(value).collect();
            format!("{} is {}", names(columns), list.join(" or "))
        }
        Test::Flag(c, _) => format!("{} says yes", name(c)),
        Test::Compare(c, op, v) => format!("{} {} {}", name(c), op.spoken(), value(v)),
        Test::Between(c, a, b) => format!("{} is between {} and {}", name(c), value(a), value(b)),
        Test::Columns(a, op, b) => format!("{} {} {}", name(a), op.spoken(), name(b)),
        Test::Figure(c, op, agg) => {
            let word = match agg {
                Agg::Avg => "average",
                Agg::Min => "lowest",
                Agg::Max => "highest",
                Agg::Sum => "sum",
                Agg::Count => "number",
            };
            format!("{} {} the {word} of all", name(c), op.spoken())
        }
        Test::Like(cs, place, text) => {
            let how = match place {
                Place::Start => "starts with",
                Place::End => "ends with",
                Place::Anywhere => "holds",
            };
            format!("{} {how} “{text}”", names(cs))
        }
        Test::Missing(c) => format!("{} is missing", name(c)),
        Test::Given(c) => format!("{} is given", name(c)),
        Test::Exists(t) => format!("there are {}", noun(schema, *t)),
        Test::Within(c, from, before) => format!("{} is {}", name(c), days(*from, *before)),
        Test::Month(c, month) => format!("the month of {} is {month}", name(c)),
        Test::Parent { edge, columns, values } => {
            let link =
                schema.edge(*edge).and_then(|e| Some(ColumnId { table: e.from, index: *e.columns.first()? }));
            let list: Vec<String> = values.iter().map(value).collect();
            format!(
                "{} leads to the row where {} is {}",
                link.map(|c| name(&c)).unwrap_or_default(),
                names(columns),
                list.join(" or ")
            )
        }
        Test::Grouped(_, h) => {
            format!("{} {} {}", measure(schema, &h.measure), h.op.spoken(), number(h.value))
        }
        Test::Value(c, inner) => format!("{} stands in some row where {}", name(c), test(schema, inner)),
        Test::Any(tests) => tests.iter().map(|t| test(schema, t)).collect::<Vec<_>>().join(" or "),
    }
}

fn days(from: Option<Day>, before: Option<Day>) -> String {
    match (from, before) {
        (Some(from), Some(to)) => format!("in {}", Span { from, to }.spoken()),
        (Some(from), None) => format!("on or after {}", from.iso()),
        (None, Some(before)) => format!("before {}", before.iso()),
        (None, None) => "any".to_owned(),
    }
}

fn value(v: &Value) -> String {
    match v {
        Value::Text(t) => format!("“{t}”"),
        Value::Int(n) => n.to_string(),
        Value::Real(x) => x.to_string(),
        Value::Date(d) => d.clone(),
    }
}

fn number(x: f64) -> String {
    x.to_string()
}
