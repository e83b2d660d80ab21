//! Choosing among columns and values that fit equally well by their words: the nearer to what else the
//! question names, the better; what stays equal is said to be unclear.

use std::collections::BTreeSet;

use super::Unsure;
use crate::intent::Hit;
use crate::link::same_stem;
use crate::schema::{ColumnId, Schema, TableId};

/// How near a table is to those the question names, the first of them first.
pub(crate) fn nearness(schema: &Schema, table: TableId, near: &[TableId]) -> i32 {
    near.iter()
        .enumerate()
        .map(|(i, n)| {
            // The first stands far before the others.
            let rank = if i == 0 { 0 } else { 9 + i32::try_from(i).unwrap_or(9).min(9) * 3 };
            let far = |d: usize, steps: [i32; 5]| steps.get(d).copied().unwrap_or(1) - rank;
            // A column of the table itself whose name says more than was asked stands before one of
            // another table that says just this.
            match (schema.distance(*n, table), schema.apart(*n, table)) {
                (Some(d), _) => far(d, [60, 22, 16, 10, 6]),
                (None, Some(d)) => far(d, [60, 15, 9, 6, 3]),
                (None, None) => -20,
            }
        })
        .max()
        .unwrap_or(0)
}

/// The best of some columns.
pub(crate) fn column(
    schema: &Schema,
    candidates: &[(ColumnId, u16)],
    near: &[TableId],
    words: &str,
) -> Result<ColumnId, Unsure> {
    let mut scored: Vec<(i32, ColumnId)> = candidates
        .iter()
        .map(|(c, score)| {
            let id = words
                .to_lowercase()
                .rsplit(' ')
                .next()
                .is_some_and(|w| ["id", "ids", "code", "codes", "number", "numbers"].contains(&w));
            let key = id && schema.single_key(c.table) == Some(*c);
            (i32::from(*score) + nearness(schema, c.table, near) + if key { 5 } else { 0 }, *c)
        })
        .collect();
    scored.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    match scored.as_slice() {
        [] if words.is_empty() => Err(Unsure::new("which column is meant is not said")),
        [] => Err(Unsure::new(format!("no column fits “{words}”"))),
        [(a, first), (b, second), ..] if a == b => {
            let same_table = first.table == second.table;
            let names = schema.name_columns(first.table);
            if same_table && names.contains(first) && names.contains(second) {
                return Ok(*first);
            }
            let tied: Vec<ColumnId> = scored.iter().filter(|(s, _)| s == a).map(|(_, c)| *c).collect();
            let list: Vec<String> = tied.iter().map(|c| schema.spoken_column(*c)).collect();
            Err(Unsure::new(format!("“{words}” may be {}", list.join(" or ")))
                .with(tied.iter().map(|c| c.table)))
        }
        [(_, only), ..] => Ok(*only),
    }
}

/// What helps to choose among places of a value.
pub(crate) struct Around<'a> {
    pub(crate) near: &'a [TableId],
    /// Tables that the question names elsewhere.
    pub(crate) context: &'a [TableId],
    /// Columns and tables that stand right beside the value.
    pub(crate) beside: &'a [ColumnId],
    pub(crate) tables: &'a [TableId],
    /// Verbs and prepositions before it.
    pub(crate) hints: &'a [String],
    /// Whether it stands right behind its table.
    pub(crate) apposed: bool,
    /// Whether it is someone or something that acts: `by X`.
    pub(crate) by: bool,
    /// The table whose own name it is not: tracks in X are not called X.
    pub(crate) not_name_of: &'a [TableId],
}

/// The places where a value is meant: the best column, with every way it is written there.
pub(crate) fn hits(
    schema: &Schema,
    hits: &[Hit],
    around: &Around<'_>,
    words: &str,
) -> Result<Vec<Hit>, Unsure> {
    let score = |hit: &Hit| -> i32 {
        let Some(first) = hit.columns.first() else { return i32::MIN };
        let mut score = if hit.exact { 50 } else { 0 };
        // Of two that are equal otherwise, the one that is written just so.
        score += i32::from(hit.value == words);
        let close = nearness(schema, first.table, around.near);
        score += close.max(nearness(schema, first.table, around.context) - 50);
        if hit.columns.iter().any(|c| around.beside.contains(c)) {
            score += 80;
        }
        if around.tables.contains(&first.table) {
            // `the playlist Classical` says which playlist; `Rock tracks` only may.
            score += if around.apposed { 90 } else { 40 };
        }
        let names = schema.name_columns(first.table);
        if hit.columns.len() > 1 || names.contains(first) {
            score += match around.by {
                true if schema.is_person(first.table) => 75,
                true => 50,
                false => 8,
            };
            if around.not_name_of.contains(&first.table) {
                score -= 110;
            }
        }
        if hinted(schema, *first, around) {
            score += 60;
        }
        score
    };
    let mut scored: Vec<(i32, &Hit)> = hits.iter().map(|h| (score(h), h)).collect();
    scored.sort_by(|a, b| {
        b.0.cmp(&a.0).then_with(|| a.1.columns.cmp(&b.1.columns)).then_with(|| a.1.value.cmp(&b.1.value))
    });
    let Some((best, first)) = scored.first() else {
        return Err(Unsure::new(format!("“{words}” was not found in the database")));
    };
    let tied: BTreeSet<&Vec<ColumnId>> =
        scored.iter().filter(|(s, _)| s == best).map(|(_, h)| &h.columns).collect();
    if tied.len() > 1 {
        let list: Vec<String> = tied
            .iter()
            .map(|c| c.iter().map(|c| schema.spoken_column(*c)).collect::<Vec<_>>().join(" with "))
            .collect();
        let tables = tied.iter().filter_map(|c| c.first()).map(|c| c.table);
        return Err(Unsure::new(format!("“{words}” is found in {}", list.join(" and in "))).with(tables));
    }
    Ok(hits.iter().filter(|h| h.columns == first.columns && h.exact == first.exact).cloned().collect())
}

/// Whether a verb or preposition before a value says its column or table.
fn hinted(schema: &Schema, column: ColumnId, around: &Around<'_>) -> bool {
    let (label, table) = (&schema.column(column).label, &schema.table(column.table).label);
    around
        .hints
        .iter()
        .flat_map(|h| h.split(' '))
        .any(|h| label.words.iter().chain(&table.words).any(|w| same_stem(h, w)))
}

/// Refuses a value that stands in several tables, where the question does not say which is meant. What a row
/// says of itself comes before what others say, except for its name: tracks in Rock are not called Rock.
pub(crate) fn one_owner(
    schema: &Schema,
    found: &[Hit],
    all: &[Hit],
    around: &Around<'_>,
    words: &str,
) -> Result<(), Unsure> {
    let Some(best) = found.first().filter(|h| h.exact) else { return Ok(()) };
    let (Some(column), Some(subject)) = (best.columns.first().copied(), around.near.first().copied()) else {
        return Ok(());
    };
    let names =
        |h: &Hit| h.columns.len() > 1 || h.columns.iter().any(|c| schema.name_columns(c.table).contains(c));
    let is_name = names(best);
    let said = best.columns.iter().any(|c| around.beside.contains(c))
        || around.tables.contains(&column.table)
        || around.by && is_name
        || hinted(schema, column, around)
        // `went to Paris`, over the link `to_city_id`.
        || schema.edges().any(|(_, e)| {
            e.from == subject
                && e.to == column.table
                && around.hints.iter().flat_map(|h| h.split(' ')).any(|h| e.role.iter().any(|r| r == h))
        });
    if said || (column.table == subject && !is_name) {
        return Ok(());
    }
    let to_one = |t: TableId| schema.distance(subject, t).is_some();
    // What each row has one of comes before what it may have several of.
    let belongs = column.table != subject && to_one(column.table);
    let rivals = |h: &&Hit| {
        let Some(c) = h.columns.first().filter(|c| c.table != column.table) else { return false };
        let near = if belongs { to_one(c.table) } else { names(h) || to_one(c.table) };
        h.exact && near && schema.apart(subject, c.table).is_some()
    };
    let mut owners: BTreeSet<&Vec<ColumnId>> = BTreeSet::from([&best.columns]);
    owners.extend(all.iter().filter(rivals).map(|h| &h.columns));
    if owners.len() < 2 {
        return Ok(());
    }
    let list: Vec<String> = owners
        .iter()
        .map(|c| c.iter().map(|c| schema.spoken_column(*c)).collect::<Vec<_>>().join(" with "))
        .collect();
    let tables = owners.iter().filter_map(|c| c.first()).map(|c| c.table);
    Err(Unsure::new(format!("“{words}” is found in {}", list.join(" and in "))).with(tables))
}
