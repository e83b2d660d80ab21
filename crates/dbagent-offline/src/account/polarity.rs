//! Whether each value is denied where the question denies it, and nowhere else: `who did not order Wine but
//! live in France` denies the Wine alone.

use crate::intent::{Chunk, Kw};
use crate::meaning::{Cond, Intent, Test};
use crate::plan::{Op, Value};
use crate::schema::Schema;

/// The first value that the plan denies and the question does not, or the other way round.
pub(super) fn turned<'a>(schema: &Schema, chunks: &'a [Chunk], intent: &Intent) -> Option<&'a Chunk> {
    let said = said(chunks);
    chunks
        .iter()
        .zip(said)
        .find(|(chunk, said)| differs(schema, chunk, *said, intent))
        .map(|(chunk, _)| chunk)
}

/// What a question says of each of its chunks: denied, not denied, or open.
fn said(chunks: &[Chunk]) -> Vec<Option<bool>> {
    let mut out = Vec::with_capacity(chunks.len());
    let mut denied = Some(false);
    for (at, chunk) in chunks.iter().enumerate() {
        match chunk.kw {
            Some(Kw::Not | Kw::No | Kw::Without | Kw::Except) => denied = Some(true),
            Some(Kw::But) => {
                denied = match begins(chunks, at) {
                    Begins::Clause | Begins::Values => Some(false),
                    Begins::Link => None,
                };
            }
            Some(Kw::And) => {
                denied = match begins(chunks, at) {
                    Begins::Clause => Some(false),
                    Begins::Values => denied,
                    Begins::Link => denied.filter(|d| !d),
                };
            }
            // `without orders that hold Wine`: it is denied, or what it stands in is.
            Some(Kw::That | Kw::Which | Kw::Who | Kw::Whose | Kw::Or | Kw::Where) => {
                denied = denied.filter(|d| !d);
            }
            _ if chunk.symbol && ["?", ".", "!", ";"].contains(&chunk.text.as_str()) => denied = Some(false),
            // `who never bought Rock, …`: a list goes on, anything else is open.
            _ if chunk.symbol && chunk.text == "," && begins(chunks, at) != Begins::Values => {
                denied = denied.filter(|d| !d);
            }
            _ => {}
        }
        out.push(denied);
    }
    out
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Begins {
    /// A clause with a verb of its own.
    Clause,
    /// A preposition, which may go on with the verb before.
    Link,
    /// More of what stands before.
    Values,
}

/// What begins behind a chunk.
fn begins(chunks: &[Chunk], at: usize) -> Begins {
    let mut link = false;
    for chunk in chunks.iter().skip(at + 1) {
        match chunk.kw {
            Some(
                Kw::Starts
                | Kw::Ends
                | Kw::Contains
                | Kw::Named
                | Kw::Cop
                | Kw::Aux
                | Kw::Have
                | Kw::Verb
                | Kw::Comparative(..)
                | Kw::Cmp(_)
                | Kw::MoreOf(_),
            ) => {
                return Begins::Clause;
            }
            Some(Kw::Prep | Kw::By) => link = true,
            Some(Kw::Skip | Kw::And | Kw::Who | Kw::That | Kw::Which) => {}
            _ => break,
        }
    }
    if link { Begins::Link } else { Begins::Values }
}

/// Whether all conditions with the value of a chunk are denied although it is not, or the other way round.
fn differs(schema: &Schema, chunk: &Chunk, said: Option<bool>, intent: &Intent) -> bool {
    let Some(said) = said else { return false };
    let texts: Vec<String> = chunk
        .hits
        .iter()
        .map(|h| h.value.to_lowercase())
        .chain((chunk.number.is_none() && !chunk.symbol).then(|| chunk.text.to_lowercase()))
        .collect();
    let mut signs = intent.conds.iter().filter_map(|c| {
        let figure = chunk.number.is_some_and(|n| figures(&c.test).contains(&n)) && texts.is_empty();
        // What a figure is not, is said by its comparison, too.
        if figure {
            return c.neg.then_some(true).filter(|_| !said);
        }
        holds(&c.test, &texts).then(|| denies(schema, intent, c))
    });
    let Some(first) = signs.next() else { return false };
    first != said && signs.all(|s| s == first)
}

/// Whether a condition is denied: itself, or with the related row that it is about (`without orders in France`).
fn denies(schema: &Schema, intent: &Intent, cond: &Cond) -> bool {
    let related = |c: &Cond| c.test.table().is_some_and(|t| schema.distance(intent.subject, t).is_none());
    let with_its_row =
        related(cond) && intent.conds.iter().any(|c| c.branch == cond.branch && c.neg && related(c));
    with_its_row || cond.neg != matches!(cond.test, Test::Compare(_, Op::Ne, _))
}

fn holds(test: &Test, texts: &[String]) -> bool {
    match test {
        Test::In(_, values) | Test::Parent { values, .. } => {
            values.iter().any(|v| matches!(v, Value::Text(t) if texts.contains(&t.to_lowercase())))
        }
        Test::Compare(_, Op::Eq | Op::Ne, Value::Text(t)) | Test::Like(_, _, t) => {
            texts.contains(&t.to_lowercase())
        }
        Test::Value(_, inner) => holds(inner, texts),
        Test::Any(tests) => tests.iter().any(|t| holds(t, texts)),
        _ => false,
    }
}

fn figures(test: &Test) -> Vec<f64> {
    let of = |v: &Value| match v {
        Value::Int(n) => Some(*n as f64),
        Value::Real(x) => Some(*x),
        _ => None,
    };
    match test {
        Test::Compare(_, _, v) => of(v).into_iter().collect(),
        Test::Between(_, a, b) => [a, b].into_iter().filter_map(of).collect(),
        Test::Any(tests) => tests.iter().flat_map(figures).collect(),
        _ => Vec::new(),
    }
}
