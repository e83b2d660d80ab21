//! Times that a table keeps as columns: a question for January is answered from the column `jan`, or not at
//! all, and never by the date of some other table.

use super::evidence::Evidence;
use crate::intent::{Chunk, Kw, Span, Time};
use crate::link::FULL;
use crate::meaning::{Intent, Unsure};
use crate::plan::Part;
use crate::schema::{ColumnId, Schema, Slot, TableId, slot};
use crate::words::{pieces, singular};

/// Why the times of a question cannot be told from columns that stand for such times. Without a plan, the
/// tables count that the question names.
pub(super) fn columns_of_time(
    schema: &Schema,
    chunks: &[Chunk],
    intent: Option<&Intent>,
    has: Option<&Evidence>,
) -> Option<Unsure> {
    let spoken_of = |t: TableId| {
        intent.is_some_and(|i| i.subject == t)
            || has.is_some_and(|h| h.stands_on(t))
            || chunks.iter().any(|c| {
                let word = |w: &String| schema.table(t).label.words == [singular(w)];
                c.link.table(t).is_some_and(|s| s >= FULL) || c.words.iter().any(word)
            })
    };
    for (at, chunk) in chunks.iter().enumerate() {
        let asked = asked(chunks, at, chunk);
        if asked.is_empty() {
            continue;
        }
        for (table, _) in schema.tables().filter(|(t, _)| spoken_of(*t)) {
            let all = schema.series(table);
            let fitting: Vec<ColumnId> =
                all.iter().filter(|(_, s)| asked.iter().any(|a| a.same_kind(*s))).map(|(c, _)| *c).collect();
            let used = all.iter().any(|(c, s)| asked.contains(s) && has.is_some_and(|h| h.uses_column(*c)));
            if fitting.is_empty() || used || has.is_some_and(|h| h.dated(schema, table)) {
                continue;
            }
            let (first, last) = (fitting.first().copied()?, fitting.last().copied()?);
            let (first, last) = (schema.spoken_column(first), schema.spoken_column(last));
            let why = format!(
                "“{}” may mean a column, for {} keeps times as columns ({first} to {last}); ask for the column by its name",
                chunk.text,
                schema.table(table).name.name
            );
            return Some(Unsure::new(why).with([table]));
        }
    }
    None
}

/// The times that a chunk may speak of.
fn asked(chunks: &[Chunk], at: usize, chunk: &Chunk) -> Vec<Slot> {
    let time = chunk.time.or_else(|| chunk.year.and_then(Span::year).map(Time::Span));
    let mut out = Vec::new();
    match time {
        Some(Time::Month(month)) => out.push(Slot::Month(month)),
        Some(Time::Span(span)) => {
            out.push(Slot::Year(span.from.year));
            if Span::month(span.from.year, span.from.month) == Some(span) {
                out.push(Slot::Month(span.from.month));
            }
        }
        None => {}
    }
    match chunk.kw {
        Some(Kw::Part(Part::Year)) => out.push(Slot::Year(0)),
        Some(Kw::Part(Part::Month | Part::YearMonth)) => out.push(Slot::Month(0)),
        Some(Kw::Part(Part::Quarter)) => out.push(Slot::Quarter(0)),
        Some(Kw::Part(Part::Weekday)) => out.push(Slot::Weekday(0)),
        _ => {}
    }
    let words: Vec<String> = chunk.words.iter().flat_map(|w| pieces(w)).collect();
    if chunk.number.is_none() && !chunk.quoted {
        out.extend(
            slot(&words).filter(|s| !matches!(s, Slot::Month(_)) || chunk.capital || !may_be_a_verb(&words)),
        );
    }
    // `the year 2010`: the word only says what the number is.
    let behind = chunks.get(at + 1).is_some_and(|c| c.year.is_some() || c.time.is_some());
    if behind && matches!(chunk.kw, Some(Kw::Part(_))) {
        out.clear();
    }
    out
}

/// `may` and `march` are months where nothing else makes them so only in capitals.
fn may_be_a_verb(words: &[String]) -> bool {
    words.iter().any(|w| ["may", "march", "mar", "sun", "sat", "wed"].contains(&w.as_str()))
}
