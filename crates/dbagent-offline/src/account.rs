//! Accounts for every word of a question: each number, text, date, comparison, superlative, negation, order
//! and name must have its place in the query that would run. This check does not trust the reading of the
//! sentence. It goes through the words once more and claims from the finished plan what each of them asks
//! for; what is claimed once is not there a second time. A word whose claim fails was lost on the way, and an
//! answer without it would be an answer to another question.

mod claim;
mod evidence;
mod polarity;
mod series;
mod walk;

use crate::intent::{Chunk, Chunks, Sentence};
use crate::meaning::{Intent, Unsure};
use crate::plan::Select;
use crate::schema::{Schema, TableId};

use claim::Auditor;
use evidence::Evidence;

/// Whether everything that a question says is in the query; else which words are not.
pub(crate) fn account(
    schema: &Schema,
    chunks: &Chunks,
    sentence: &Sentence,
    intent: &Intent,
    select: &Select,
) -> Result<(), Unsure> {
    let evidence = Evidence::new(schema, intent, select);
    if let Some(why) = series::columns_of_time(schema, &chunks.list, Some(intent), Some(&evidence)) {
        return Err(why);
    }
    let lost = Auditor::new(schema, &chunks.list, sentence, intent, evidence).lost();
    if lost.is_empty() {
        return match polarity::turned(schema, &chunks.list, intent) {
            Some(chunk) => Err(Unsure::new(format!("whether “{}” is denied is not clear", chunk.text))
                .with([intent.subject])
                .with(named(schema, chunk))),
            None => Ok(()),
        };
    }
    let words: Vec<String> = lost.iter().map(|c| format!("“{}”", c.text)).collect();
    let (has, it) = if words.len() == 1 { ("has", "it") } else { ("have", "them") };
    let reason = format!(
        "{} {has} no place in the query that came out, and without {it} another question would be answered",
        words.join(", ")
    );
    let tables: Vec<TableId> = lost.iter().flat_map(|c| named(schema, c)).collect();
    Err(Unsure::new(reason).with(tables).with([intent.subject]))
}

/// Why a question that has no meaning may ask for a time that a table keeps as columns.
pub(crate) fn times_as_columns(schema: &Schema, chunks: &Chunks) -> Option<Unsure> {
    series::columns_of_time(schema, &chunks.list, None, None)
}

/// The tables that a lost word may mean.
fn named(schema: &Schema, chunk: &Chunk) -> Vec<TableId> {
    let best = chunk.link.score();
    let tables = chunk.link.tables.iter().filter(|(_, s)| *s == best).map(|(t, _)| *t);
    let columns = chunk.link.columns.iter().filter(|(_, s)| *s == best).map(|(c, _)| c.table);
    let mut out: Vec<TableId> = tables.chain(columns.take(3)).collect();
    out.retain(|t| schema.tables().any(|(id, _)| id == *t));
    out.dedup();
    out
}
