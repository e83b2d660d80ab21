//! From the words of a question to its meaning: looks values up, reads the sentence, resolves it.

use std::collections::BTreeMap;

use dbagent_core::observe::ReadTable;

use crate::account::{account, times_as_columns};
use crate::compile::compile;
use crate::intent::{Chunks, Hits, Kw, parse};
use crate::knowledge::{Call, Knowledge};
use crate::meaning::{Facts, Intent, Stop, Unsure, resolve};
use crate::plan::{Expr, Ident, Item, Pred, Select, Source};
use crate::schema::{ColumnId, Schema};
use crate::sql::{Dialect, print};
use crate::tools::query;
use crate::values::{Lookup, parts, wanted, whole};

/// What is known of a question's meaning.
pub(crate) enum Understood {
    Intent(Box<Intent>),
    /// Calls that must be answered first.
    Ask(Vec<Call>),
    Unsure(Unsure),
}

/// Most columns that are looked at for one question.
const MAX_PROBES: usize = 6;

/// Understands the last of some questions; the earlier ones are what it may refer to.
pub(crate) fn understand(
    schema: &Schema,
    questions: &[String],
    dialect: Dialect,
    known: &Knowledge,
) -> Understood {
    let Some(question) = questions.last() else {
        return Understood::Unsure(Unsure::new("nothing was asked"));
    };
    crate::followup::understand(schema, questions, question, dialect, known)
}

/// The chunks of a question with the values that were found and whether looking some up failed, or the
/// calls that find them.
pub(crate) fn chunks(
    schema: &Schema,
    question: &str,
    dialect: Dialect,
    known: &Knowledge,
) -> Result<(Chunks, bool), Vec<Call>> {
    let first = Chunks::new(question, schema, &Hits::new());
    let texts = wanted(schema, &first);
    let (mut hits, failed) = match whole(schema, dialect, &texts, known) {
        Lookup::Known { hits, failed } => (hits, failed),
        Lookup::Ask(calls) => return Err(calls),
    };
    let chunks = Chunks::new(question, schema, &hits);
    let open = unexplained(&chunks);
    if open.is_empty() {
        return Ok((chunks, failed));
    }
    match parts(schema, dialect, &open, known) {
        Lookup::Known { hits: more, .. } => {
            for (text, list) in more {
                hits.entry(text).or_insert(list);
            }
        }
        Lookup::Ask(calls) => return Err(calls),
    }
    Ok((Chunks::new(question, schema, &hits), failed))
}

/// Texts that no whole value explains: quoted ones, and runs of words that mean nothing else.
fn unexplained(chunks: &Chunks) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut run: Option<(usize, usize)> = None;
    let mut close = |run: &mut Option<(usize, usize)>| {
        if let Some((first, behind)) = run.take() {
            let text = chunks.source(first, behind).to_lowercase();
            if text.chars().count() >= 4 && !out.contains(&text) {
                out.push(text);
            }
        }
    };
    let mut before: Option<Kw> = None;
    for chunk in &chunks.list {
        let part_of_text = matches!(before, Some(Kw::Starts | Kw::Ends | Kw::Contains));
        let unknown = (chunk.is_unknown() && chunk.capital)
            || (chunk.quoted && chunk.hits.is_empty() && chunk.link.score() < crate::link::FULL);
        if unknown && !part_of_text && !chunk.symbol {
            run = match run {
                Some((first, behind)) if behind == chunk.first && !chunk.quoted => {
                    Some((first, chunk.behind))
                }
                _ => {
                    close(&mut run);
                    Some((chunk.first, chunk.behind))
                }
            };
        } else {
            close(&mut run);
        }
        if !matches!(chunk.kw, Some(Kw::Skip)) {
            before = chunk.kw;
        }
    }
    close(&mut run);
    out
}

/// Understands a question that stands for itself.
pub(crate) fn alone(schema: &Schema, question: &str, dialect: Dialect, known: &Knowledge) -> Understood {
    let (chunks, failed) = match chunks(schema, question, dialect, known) {
        Ok(found) => found,
        Err(calls) => return Understood::Ask(calls),
    };
    let sentence = parse(&chunks);
    let mut facts = Facts { seen: BTreeMap::new() };
    for _ in 0..=MAX_PROBES {
        match resolve(schema, &chunks, &sentence, dialect, &facts) {
            Ok(intent) => {
                let accounted = compile(schema, &intent)
                    .map_err(|why| times_as_columns(schema, &chunks).unwrap_or(why))
                    .and_then(|select| account(schema, &chunks, &sentence, &intent, &select));
                return match accounted {
                    Ok(()) => Understood::Intent(Box::new(intent)),
                    Err(why) => Understood::Unsure(why),
                };
            }
            Err(Stop::Unsure(why)) => {
                // That a table keeps months as columns says more than that no date fits.
                let mut why = times_as_columns(schema, &chunks).unwrap_or(why);
                if failed && !sentence.unknown.is_empty() {
                    why.reason.push_str("; some columns could not be searched for it");
                }
                return Understood::Unsure(why);
            }
            Err(Stop::Probe(column)) => {
                let call = probe(schema, column, dialect);
                let Some(observation) = known.get(&call) else { return Understood::Ask(vec![call]) };
                let Some(table) =
                    ReadTable::from_observation(&observation.text).filter(|_| !observation.is_error)
                else {
                    let name = schema.spoken_column(column);
                    return Understood::Unsure(Unsure::new(format!(
                        "the values of {name} could not be looked at"
                    )));
                };
                let values = table.rows.into_iter().filter_map(|r| r.into_iter().next().flatten()).collect();
                facts.seen.insert(column, values);
            }
        }
    }
    Understood::Unsure(Unsure::new("too many columns would have to be looked at"))
}

/// The call that shows a few different values of a column.
fn probe(schema: &Schema, column: ColumnId, dialect: Dialect) -> Call {
    let table = schema.table(column.table).name.clone();
    let of = Ident::new(table.name.clone());
    let expr = Expr::Column { of: of.clone(), name: Ident::new(schema.column(column).name.clone()) };
    let select = Select {
        distinct: true,
        items: vec![Item { expr: expr.clone(), alias: None }],
        from: Some(Source::Table { name: table, alias: of }),
        filter: vec![Pred::Null { expr, negated: true }],
        limit: Some(6),
        ..Select::default()
    };
    query(&print(&select, dialect), None)
}
