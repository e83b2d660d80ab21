//! Figures and dates that a question means without naming a column: money, pieces sold, what an adjective
//! measures, when something happened.

use std::collections::BTreeSet;

use super::{Facts, Measure, Measured, Stop, Unsure};
use crate::intent::{Adjective, Dir};
use crate::link::same_stem;
use crate::plan::{Agg, Stored};
use crate::schema::{Class, Column, ColumnId, Schema, TableId};
use crate::sql::Dialect;

/// The column that an adjective measures in a table, and whether more of the adjective is more of it.
pub(crate) fn adjective_column(
    schema: &Schema,
    adjective: &Adjective,
    table: TableId,
) -> Option<(ColumnId, bool)> {
    let dated = ["old", "recent"].contains(&adjective.name);
    let fits = |c: &Column| {
        c.is_figure() || (dated && (c.class == Class::Date || (c.label.has("year") && !c.in_key)))
    };
    let best = |words: &[&str]| {
        words.iter().find_map(|w| {
            let found: Vec<ColumnId> =
                schema.columns(table).filter(|(_, c)| fits(c) && c.label.has(w)).map(|(id, _)| id).collect();
            match found.as_slice() {
                [] => None,
                [only] => Some(*only),
                several => dated
                    .then(|| plain_date(schema, several, adjective.name == "recent"))
                    .flatten()
                    .or_else(|| several.first().copied()),
            }
        })
    };
    best(adjective.up).map(|c| (c, true)).or_else(|| best(adjective.down).map(|c| (c, false)))
}

/// Other columns of its table that an adjective may measure as well as the one that was taken: the area and
/// the population of what is large. A column that is called just so comes before one that says more.
pub(crate) fn rivals(schema: &Schema, adjective: &Adjective, taken: ColumnId) -> Vec<ColumnId> {
    if !schema.column(taken).is_figure() {
        return Vec::new();
    }
    let bare = |c: &Column| c.label.words.len() == 1;
    let own = bare(schema.column(taken));
    schema
        .columns(taken.table)
        .filter(|(id, c)| *id != taken && c.is_figure() && (bare(c) || !own))
        .filter(|(_, c)| c.label.has_any(adjective.up) || c.label.has_any(adjective.down))
        .map(|(id, _)| id)
        .collect()
}

/// Among several dates of a table the one that says when its rows came to be.
fn plain_date(schema: &Schema, columns: &[ColumnId], not_birth: bool) -> Option<ColumnId> {
    let label = |c: &ColumnId| &schema.column(*c).label;
    let wanted: Vec<ColumnId> =
        columns.iter().filter(|c| !(not_birth && label(c).has_any(&["birth", "death"]))).copied().collect();
    if let [only] = wanted.as_slice() {
        return Some(*only);
    }
    let own = |c: &&ColumnId| {
        let table = &schema.table(c.table).label;
        label(c).words.iter().any(|w| table.has(w))
    };
    let bare = |c: &&ColumnId| {
        label(c).words.iter().all(|w| ["date", "time", "timestamp", "year"].contains(&w.as_str()))
    };
    let made = |c: &&ColumnId| label(c).has_any(&["created", "create", "placed", "start", "begin"]);
    let one = |list: Vec<&ColumnId>| match list.as_slice() {
        [only] => Some(**only),
        _ => None,
    };
    one(wanted.iter().filter(own).collect())
        .or_else(|| one(wanted.iter().filter(bare).collect()))
        .or_else(|| one(wanted.iter().filter(made).collect()))
}

/// The columns of a table that hold dates, years among them.
fn dates(schema: &Schema, table: TableId) -> Vec<ColumnId> {
    schema
        .columns(table)
        .filter(|(_, c)| {
            c.class == Class::Date || (c.class == Class::Int && c.label.has("year") && !c.in_key && !c.links)
        })
        .map(|(id, _)| id)
        .collect()
}

/// When the rows of some tables happened: the date column that the verb names, else the only or plain one
/// of the nearest table that has any.
pub(crate) fn date_column(
    schema: &Schema,
    near: &[TableId],
    hints: &[String],
) -> Result<(ColumnId, Option<String>), Unsure> {
    let mut tables: Vec<TableId> = near.to_vec();
    // Then the tables around them, the nearest first.
    if let Some(first) = near.first() {
        let mut around: Vec<(bool, usize, TableId)> = schema
            .tables()
            .filter(|(t, _)| !near.contains(t) && !dates(schema, *t).is_empty())
            .filter_map(|(t, _)| {
                let to_one = schema.distance(*first, t);
                to_one.map(|d| (false, d, t)).or_else(|| schema.apart(*first, t).map(|d| (true, d, t)))
            })
            .filter(|(_, d, _)| *d <= 3)
            .collect();
        around.sort_unstable_by_key(|(many, d, t)| (*d, *many, *t));
        if let [(many, d, _), (other, e, _), ..] = around.as_slice()
            && many == other
            && d == e
            && near.iter().all(|t| dates(schema, *t).is_empty())
        {
            let tied: Vec<TableId> =
                around.iter().filter(|(m, x, _)| m == many && x == d).map(|(.., t)| *t).collect();
            let hinted = tied.iter().any(|t| dates(schema, *t).iter().any(|c| named(schema, *c, hints)));
            if !hinted {
                return Err(Unsure::new("several tables have dates that may be meant").with(tied));
            }
        }
        tables.extend(around.into_iter().map(|(.., t)| t));
    }
    let years = |t: &TableId| {
        schema
            .columns(*t)
            .filter(|(_, c)| c.is_figure() && c.label.words.len() <= 2)
            .map(|(id, _)| id)
            .collect::<Vec<_>>()
    };
    let hinted: Vec<ColumnId> = tables
        .iter()
        .flat_map(|t| dates(schema, *t).into_iter().chain(years(t)))
        .filter(|c| named(schema, *c, hints))
        .collect();
    if let Some(first) = hinted.first() {
        let same: Vec<&ColumnId> = hinted.iter().filter(|c| c.table == first.table).collect();
        if same.len() == 1 {
            return Ok((*first, None));
        }
    }
    // What the rows of the first table belong to comes before other tables that are named; people have
    // dates of their own, which are meant only when they are named.
    let mut ordered: Vec<TableId> = Vec::new();
    for t in near {
        let mut belongs: Vec<(usize, TableId)> = schema
            .tables()
            .filter(|(o, _)| !schema.is_person(*o) || o == t)
            .filter_map(|(o, _)| schema.distance(*t, o).filter(|d| *d <= 2).map(|d| (d, o)))
            .collect();
        belongs.sort_unstable();
        ordered.extend(belongs.into_iter().map(|(_, o)| o));
    }
    ordered.extend(tables.iter().filter(|t| near.contains(t)));
    ordered.extend(tables.iter().filter(|t| !schema.is_person(**t)));
    ordered.extend(&tables);
    // `the patients that she saw in 2022`: nobody is seen on the day of their birth. What tells when they were
    // are the rows that belong to them.
    let of_life = |c: &ColumnId| schema.column(*c).label.has_any(&["birth", "death"]);
    let lives = |t: &TableId| {
        let columns = dates(schema, *t);
        !columns.is_empty() && columns.iter().all(of_life)
    };
    let somebody = near.first().filter(|t| lives(t));
    for table in &ordered {
        let columns = dates(schema, *table);
        let other = near.first() != Some(table);
        if lives(table)
            || (other && schema.is_person(*table))
            || (other && somebody.is_some_and(|s| schema.distance(*table, *s).is_none()))
        {
            continue;
        }
        let chosen = match columns.as_slice() {
            [] => continue,
            [only] => Some(*only),
            several => plain_date(schema, several, false),
        };
        let Some(c) = chosen else {
            let list: Vec<String> = columns.iter().map(|c| schema.spoken_column(*c)).collect();
            return Err(Unsure::new(format!("the date may be {}", list.join(" or "))).with([*table]));
        };
        let far = near.first() != Some(table) || columns.len() > 1;
        return Ok((c, far.then(|| format!("the date meant is {}", schema.spoken_column(c)))));
    }
    Err(Unsure::new("no column with dates fits the question"))
}

fn named(schema: &Schema, column: ColumnId, hints: &[String]) -> bool {
    let label = &schema.column(column).label;
    hints.iter().flat_map(|h| h.split(' ')).any(|h| {
        label
            .words
            .iter()
            .any(|w| !["date", "time", "year", "at", "in", "on"].contains(&w.as_str()) && same_stem(h, w))
    })
}

/// How a date column keeps its values, from the engine or from a few of them.
pub(crate) fn stored(
    schema: &Schema,
    column: ColumnId,
    dialect: Dialect,
    facts: &Facts,
) -> Result<Stored, Stop> {
    let c = schema.column(column);
    let typed = c.declared.to_ascii_uppercase();
    if let Some(native) = dialect.stored()
        && (typed.contains("DATE") || typed.contains("TIME"))
    {
        return Ok(native);
    }
    let Some(values) = facts.seen.get(&column) else { return Err(Stop::Probe(column)) };
    let iso = |v: &String| {
        let shape: String = v.chars().take(10).map(|c| if c.is_ascii_digit() { 'd' } else { c }).collect();
        shape == "dddd-dd-dd" || v.is_empty()
    };
    let epoch = |v: &String| v.parse::<f64>().is_ok_and(|n| n.abs() > 1e7 && n.abs() < 1e11);
    let year = |v: &String| v.parse::<i64>().is_ok_and(|n| (1000..=2999).contains(&n));
    if !values.is_empty() && values.iter().all(year) {
        Ok(Stored::Year)
    } else if values.iter().all(iso) {
        Ok(Stored::Text)
    } else if values.iter().all(epoch) {
        Ok(Stored::Epoch)
    } else {
        Err(Unsure::new(format!(
            "the dates in {} are written in a way that cannot be compared",
            schema.spoken_column(column)
        ))
        .with([column.table])
        .into())
    }
}

/// A way to count money or pieces.
struct Candidate {
    measured: Measured,
    /// The table whose rows are added up.
    root: TableId,
    /// 0 for a column of its own, more for what must be worked out.
    effort: u32,
}

fn money_candidates(schema: &Schema) -> Vec<Candidate> {
    let mut out = Vec::new();
    for (table, t) in schema.tables() {
        if t.kind != dbagent_core::catalog::ObjectKind::Table {
            continue;
        }
        for (id, c) in schema.columns(table) {
            let label = &c.label;
            let last = label.words.last().map(String::as_str);
            let money =
                ["total", "amount", "revenue", "sale", "turnover", "payment", "spent", "subtotal", "income"];
            let excluded =
                ["tax", "discount", "quantity", "unit", "refund", "count", "number", "time", "item"];
            if c.is_figure() && last.is_some_and(|w| money.contains(&w)) && !label.has_any(&excluded) {
                let plain = label.words.len() == 1 || label.words.iter().any(|w| t.label.has(w));
                out.push(Candidate {
                    measured: Measured::Column(id),
                    root: table,
                    effort: u32::from(!plain),
                });
            }
        }
        let figure = |words: &[&str]| {
            schema
                .columns(table)
                .find(|(_, c)| c.is_figure() && c.label.has_any(words) && !c.label.has("stock"))
        };
        let Some((quantity, _)) = figure(&["quantity"]) else { continue };
        let links = schema.edges().filter(|(_, e)| e.from == table).count();
        if links == 0 {
            continue;
        }
        let discount = schema
            .columns(table)
            .find(|(_, c)| c.label.words == ["discount"] && c.class == Class::Real)
            .map(|(id, _)| id);
        let priced = |words: &Column| words.is_figure() && words.label.has_any(&["price"]);
        let own = schema.columns(table).find(|(_, c)| priced(c)).map(|(id, _)| (id, 2));
        let other = || {
            let mut linked: Vec<ColumnId> = schema
                .edges()
                .filter(|(_, e)| e.from == table)
                .filter_map(|(_, e)| schema.columns(e.to).find(|(_, c)| priced(c)).map(|(id, _)| id))
                .collect();
            linked.dedup();
            match linked.as_slice() {
                [only] => Some((*only, 3)),
                _ => None,
            }
        };
        if let Some((price, effort)) = own.or_else(other) {
            out.push(Candidate {
                measured: Measured::Line { quantity, price, discount },
                root: table,
                effort,
            });
        }
    }
    out
}

fn unit_candidates(schema: &Schema) -> Vec<Candidate> {
    let mut out = Vec::new();
    for (table, _) in schema.tables() {
        let links = schema.edges().filter(|(_, e)| e.from == table).count();
        if links < 2 {
            continue;
        }
        for (id, c) in schema.columns(table) {
            if c.is_figure() && c.label.has("quantity") && !c.label.has_any(&["stock", "per"]) {
                let effort = u32::try_from(c.label.words.len()).unwrap_or(9);
                out.push(Candidate { measured: Measured::Column(id), root: table, effort });
            }
        }
    }
    out
}

fn choose(
    schema: &Schema,
    candidates: Vec<Candidate>,
    required: &BTreeSet<TableId>,
) -> Option<Result<Measured, Vec<TableId>>> {
    let mut scored: Vec<(u32, usize, Candidate)> = candidates
        .into_iter()
        .filter_map(|c| {
            let far: Option<Vec<usize>> = required.iter().map(|t| schema.distance(c.root, *t)).collect();
            far.map(|f| (c.effort, f.iter().sum(), c))
        })
        .collect();
    scored.sort_by_key(|(effort, far, c)| (*effort, *far, c.root));
    match scored.as_slice() {
        [] => None,
        [(e, f, a), (e2, f2, b), ..] if e == e2 && f == f2 => Some(Err(vec![a.root, b.root])),
        [(.., only), ..] => Some(Ok(only.measured)),
    }
}

/// The money that belongs to some tables, added up. `keys` must be reached from its rows without
/// counting twice; `conds` should be.
pub(crate) fn money(
    schema: &Schema,
    keys: &BTreeSet<TableId>,
    conds: &BTreeSet<TableId>,
    agg: Agg,
) -> Result<(Measure, String), Unsure> {
    let all: BTreeSet<TableId> = keys.union(conds).copied().collect();
    let found = choose(schema, money_candidates(schema), &all)
        .or_else(|| choose(schema, money_candidates(schema), keys));
    measured(schema, found, agg, "money")
}

/// The pieces sold that belong to some tables, added up.
pub(crate) fn units(
    schema: &Schema,
    keys: &BTreeSet<TableId>,
    conds: &BTreeSet<TableId>,
    agg: Agg,
) -> Result<(Measure, String), Unsure> {
    let all: BTreeSet<TableId> = keys.union(conds).copied().collect();
    let found = choose(schema, unit_candidates(schema), &all)
        .or_else(|| choose(schema, unit_candidates(schema), keys));
    measured(schema, found, agg, "pieces sold")
}

fn measured(
    schema: &Schema,
    found: Option<Result<Measured, Vec<TableId>>>,
    agg: Agg,
    what: &str,
) -> Result<(Measure, String), Unsure> {
    match found {
        None => Err(Unsure::new(format!("no column for {what} fits the question"))),
        Some(Err(tables)) => Err(Unsure::new(format!("several columns may be the {what}")).with(tables)),
        Some(Ok(of)) => {
            let note = format!("{what} taken as {}", spoken(schema, &of));
            Ok((Measure { agg, of }, note))
        }
    }
}

/// A figure for people.
pub(crate) fn spoken(schema: &Schema, of: &Measured) -> String {
    match of {
        Measured::Rows(t) => schema.table(*t).name.name.clone(),
        Measured::Values(c) | Measured::Column(c) => schema.spoken_column(*c),
        Measured::Line { quantity, price, discount } => {
            let less = discount.map(|d| format!(" × (1 − {})", schema.spoken_column(d))).unwrap_or_default();
            format!("{} × {}{less}", schema.spoken_column(*quantity), schema.spoken_column(*price))
        }
    }
}

/// Whether the most of an adjective comes first when its column descends.
pub(crate) fn descends(dir: Dir, up: bool) -> bool {
    (dir == Dir::Most) == up
}
