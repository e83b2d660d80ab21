//! Reads a noun of the question: which of its chunks name tables, columns, values or figures.

use dbagent_core::catalog::ObjectKind;

use super::Unsure;
use crate::intent::{Chunk, Core, Figure, Hit, Kw};
use crate::link::FULL;
use crate::plan::Part;
use crate::schema::{ColumnId, Schema, TableId};

/// A value in a noun.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Named {
    pub(crate) text: String,
    /// Whether it stands before the noun that it narrows.
    pub(crate) before: bool,
    pub(crate) hits: Vec<Hit>,
}

/// A noun with its readings.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Noun {
    pub(crate) core: Core,
    /// The words, for messages.
    pub(crate) text: String,
    /// The words of the head alone.
    pub(crate) head_text: String,
    /// The table that the noun is about.
    pub(crate) table: Option<TableId>,
    /// Other tables that stand before the head.
    pub(crate) beside: Vec<TableId>,
    /// What the head names if it is a column; best first.
    pub(crate) columns: Vec<(ColumnId, u16)>,
    /// What stands before a table and names a column of it: `discontinued products`.
    pub(crate) before: Vec<(String, Vec<(ColumnId, u16)>)>,
    pub(crate) values: Vec<Named>,
    pub(crate) figure: Option<Figure>,
    pub(crate) part: Option<Part>,
}

impl Noun {
    /// Whether the head names a table.
    pub(crate) fn is_table(&self) -> bool {
        self.table.is_some() && self.columns.is_empty() && self.figure.is_none() && self.part.is_none()
    }

    pub(crate) fn is_column(&self) -> bool {
        !self.columns.is_empty()
    }

    /// `sales agents`, where no value is called so.
    fn is_figure_before_table(&self, parts: &[&Chunk]) -> bool {
        self.table.is_some()
            && self.figure.is_some()
            && parts.last().is_some_and(|c| !matches!(c.kw, Some(Kw::Figure(_))) && !c.link.tables.is_empty())
    }

    /// Whether it is a value and nothing else.
    pub(crate) fn is_value(&self) -> bool {
        !self.values.is_empty()
            && self.table.is_none()
            && self.columns.is_empty()
            && self.figure.is_none()
            && self.part.is_none()
    }
}

/// From this score on the words are the name of a table, not only a part of it.
const NEARLY: u16 = 96;

enum Reading {
    Table(TableId),
    Columns(Vec<(ColumnId, u16)>),
    Value(Named),
    Figure(Figure),
    Part(Part),
}

/// Reads the chunks of a noun.
pub(crate) fn read(schema: &Schema, core: &Core, chunks: &[Chunk]) -> Result<Noun, Unsure> {
    let parts: Vec<&Chunk> = core.parts.iter().filter_map(|p| chunks.get(*p)).collect();
    let text: Vec<&str> = parts.iter().map(|c| c.text.as_str()).collect();
    let mut noun = Noun {
        core: core.clone(),
        text: text.join(" "),
        head_text: text.last().map(|t| (*t).to_owned()).unwrap_or_default(),
        ..Noun::default()
    };
    let readings: Vec<Reading> =
        parts.iter().enumerate().map(|(i, c)| reading(schema, c, i, &parts)).collect::<Result<_, _>>()?;
    // The head is the last one that is no value; a value behind it says which one.
    let head = readings.iter().rposition(|r| !matches!(r, Reading::Value(_)));
    for (i, r) in readings.into_iter().enumerate() {
        let is_head = Some(i) == head;
        match r {
            Reading::Table(t) if is_head => noun.table = Some(t),
            Reading::Table(t) => noun.beside.push(t),
            Reading::Columns(c) if is_head => noun.columns = c,
            Reading::Columns(c) => {
                noun.before.push((parts.get(i).map(|p| p.text.clone()).unwrap_or_default(), c));
            }
            Reading::Value(mut v) => {
                v.before = head.is_some_and(|h| i < h);
                noun.values.push(v);
            }
            Reading::Figure(f) if is_head || noun.table.is_none() => noun.figure = Some(f),
            Reading::Figure(_) => {}
            Reading::Part(p) => noun.part = Some(p),
        }
    }
    if noun.is_figure_before_table(&parts) {
        return Err(Unsure::new(format!("what “{}” means is not clear", noun.text)).with(noun.table));
    }
    // `album titles`: the table before a column owns it.
    if noun.table.is_none() && noun.is_column() && noun.beside.len() == 1 {
        noun.table = noun.beside.pop();
    }
    Ok(noun)
}

fn reading(schema: &Schema, chunk: &Chunk, at: usize, parts: &[&Chunk]) -> Result<Reading, Unsure> {
    let link = &chunk.link;
    let exact = chunk.hits.iter().any(|h| h.exact);
    let value =
        || Reading::Value(Named { text: chunk.text.clone(), before: false, hits: chunk.hits.clone() });
    if chunk.quoted && (!chunk.hits.is_empty() || link.score() < FULL) {
        return Ok(value());
    }
    // Beside a table or column that holds this value, the value is meant.
    let owns = |other: &Chunk| {
        chunk.hits.iter().flat_map(|h| &h.columns).any(|c| {
            other.link.table(c.table).is_some_and(|s| s >= FULL)
                || other.link.columns.iter().any(|(o, s)| o == c && *s >= FULL)
        })
    };
    let neighbours = [at.checked_sub(1), Some(at + 1)];
    let beside_owner = neighbours.into_iter().flatten().filter_map(|i| parts.get(i)).any(|c| owns(c));
    if exact && (link.score() < FULL || (chunk.capital && beside_owner)) {
        // `customers with an order`, where “Order” is an outcome somewhere and no table is called just so.
        if link.table_score() >= 60 && !chunk.capital && !beside_owner {
            let held: Vec<String> = chunk
                .hits
                .iter()
                .filter_map(|h| h.columns.first())
                .map(|c| schema.spoken_column(*c))
                .collect();
            let tables: Vec<TableId> =
                link.tables.iter().filter(|(_, s)| *s >= 60).map(|(t, _)| *t).collect();
            let names: Vec<&str> = tables.iter().map(|t| schema.table(*t).name.name.as_str()).collect();
            let why = format!(
                "“{}” may be the table {} or a value of {}",
                chunk.text,
                names.join(" or "),
                held.join(" or ")
            );
            return Err(Unsure::new(why).with(tables));
        }
        return Ok(value());
    }
    match chunk.kw {
        Some(Kw::Figure(f)) if link.score() < FULL => return Ok(Reading::Figure(f)),
        Some(Kw::Part(p)) if link.score() < FULL => return Ok(Reading::Part(p)),
        _ => {}
    }
    if !link.tables.is_empty() && link.table_score() >= link.column_score() {
        let best = link.table_score();
        let tied: Vec<TableId> = link.tables.iter().filter(|(_, s)| *s == best).map(|(t, _)| *t).collect();
        if let [only] = tied.as_slice() {
            // `competitions`, where one table is called competition record and another farm competition.
            let other: Vec<TableId> = link
                .tables
                .iter()
                .filter(|(t, s)| *s < best && *s >= 60 && !schema.is_bridge(*t))
                .map(|(t, _)| *t)
                .filter(|t| schema.table(*t).kind == ObjectKind::Table)
                .collect();
            if best < NEARLY && !other.is_empty() {
                let all = other.into_iter().chain([*only]);
                return Err(Unsure::new(format!("“{}” fits several tables", chunk.text)).with(all));
            }
            return Ok(Reading::Table(*only));
        }
        // A table that only links others is seldom meant.
        let plain: Vec<TableId> = tied.iter().filter(|t| !schema.is_bridge(**t)).copied().collect();
        if let [only] = plain.as_slice() {
            return Ok(Reading::Table(*only));
        }
        if link.columns.is_empty() || best > link.column_score() {
            return Err(Unsure::new(format!("“{}” fits several tables", chunk.text)).with(tied));
        }
    }
    if !link.columns.is_empty() && (link.column_score() >= 60 || chunk.hits.is_empty()) {
        return Ok(Reading::Columns(link.columns.clone()));
    }
    if !chunk.hits.is_empty() {
        return Ok(value());
    }
    Err(Unsure::new(format!("“{}” names nothing that was found in the schema or the data", chunk.text)))
}
