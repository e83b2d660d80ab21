//! A question as chunks: stretches of words that belong together, each with every reading it may have.

use std::collections::{BTreeMap, BTreeSet};

use super::keywords::{Kw, MAX_WORDS, keyword};
use super::time::{self, Time};
use crate::link::{FULL, Link, link};
use crate::schema::{ColumnId, Schema};
use crate::words::{Kind, Token, number_word, spoken, tokens};

/// A value of the database that some words name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Hit {
    /// The column it stands in; first and last name for the full name of a person.
    pub(crate) columns: Vec<ColumnId>,
    /// The value as stored; for a likeness, the words that it holds.
    pub(crate) value: String,
    /// Whether the words are the whole value.
    pub(crate) exact: bool,
}

/// Values by the words (lower case) that name them.
pub(crate) type Hits = BTreeMap<String, Vec<Hit>>;

/// A stretch of the question.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Chunk {
    /// As written.
    pub(crate) text: String,
    /// Its words in lower case.
    pub(crate) words: Vec<String>,
    pub(crate) kw: Option<Kw>,
    pub(crate) link: Link,
    pub(crate) hits: Vec<Hit>,
    pub(crate) number: Option<f64>,
    pub(crate) time: Option<Time>,
    /// The year that a number may be.
    pub(crate) year: Option<i32>,
    pub(crate) quoted: bool,
    pub(crate) symbol: bool,
    pub(crate) capital: bool,
    pub(crate) possessive: bool,
    /// Range of its tokens.
    pub(crate) first: usize,
    pub(crate) behind: usize,
}

impl Chunk {
    /// Its words with a space between.
    pub(crate) fn phrase(&self) -> String {
        self.words.join(" ")
    }

    /// Whether it names something of the schema or a value in it, or adds figures up.
    pub(crate) fn is_mention(&self) -> bool {
        !self.link.is_empty()
            || !self.hits.is_empty()
            || self.quoted
            || matches!(self.kw, Some(Kw::Figure(_)))
    }

    /// Whether nothing is known of it.
    pub(crate) fn is_unknown(&self) -> bool {
        self.kw.is_none()
            && self.link.is_empty()
            && self.hits.is_empty()
            && self.number.is_none()
            && self.time.is_none()
            && !self.symbol
    }
}

/// The chunks of a question in order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chunks {
    pub(crate) list: Vec<Chunk>,
    pub(crate) tokens: Vec<Token>,
    question: String,
}

struct Candidate {
    first: usize,
    behind: usize,
    weight: usize,
    chunk: Chunk,
}

impl Chunks {
    /// Cuts a question into chunks. `hits` holds the values that were found in the database for some of
    /// its words.
    pub(crate) fn new(question: &str, schema: &Schema, hits: &Hits) -> Self {
        let question = written_out(question);
        let question = question.as_str();
        let tokens = tokens(question);
        let mut candidates = Vec::new();
        for first in 0..tokens.len() {
            for behind in first + 1..=(first + 7).min(tokens.len()) {
                if let Some(c) = candidate(question, &tokens, first, behind, schema, hits) {
                    candidates.push(c);
                }
            }
            if let Some((time, n)) = tokens.get(first..).and_then(time::read) {
                let mut chunk = bare(question, &tokens, first, first + n);
                chunk.time = Some(time);
                let weight = n * 10 + if n > 1 { 8 } else { 2 };
                candidates.push(Candidate { first, behind: first + n, weight, chunk });
            }
        }
        candidates.sort_by(|a, b| b.weight.cmp(&a.weight).then(a.first.cmp(&b.first)));
        let mut taken: BTreeSet<usize> = BTreeSet::new();
        let mut list: Vec<Chunk> = Vec::new();
        for c in candidates {
            if (c.first..c.behind).any(|t| taken.contains(&t)) {
                // The same words read otherwise: one chunk holds both readings.
                if let Some(same) = list.iter_mut().find(|x| x.first == c.first && x.behind == c.behind) {
                    merge(same, c.chunk);
                }
                continue;
            }
            taken.extend(c.first..c.behind);
            list.push(c.chunk);
        }
        for first in 0..tokens.len() {
            if !taken.contains(&first) {
                list.push(bare(question, &tokens, first, first + 1));
            }
        }
        list.sort_by_key(|c| c.first);
        Self { list, tokens, question: question.to_owned() }
    }

    /// The question's own text of some tokens.
    pub(crate) fn source(&self, first: usize, behind: usize) -> &str {
        source(&self.question, &self.tokens, first, behind)
    }
}

/// `first and last names` asks for first names and last names.
pub(crate) fn written_out(question: &str) -> String {
    let mut out = question.to_owned();
    for (short, long) in [
        ("first, middle and last name", "first name, middle name and last name"),
        ("first, middle, and last name", "first name, middle name and last name"),
        ("first and last name", "first name and last name"),
        ("last and first name", "last name and first name"),
        ("first and family name", "first name and last name"),
        ("first, last name", "first name, last name"),
    ] {
        let lower = out.to_ascii_lowercase();
        if let Some(at) = lower.find(short)
            && let (Some(head), Some(tail)) = (out.get(..at), out.get(at + short.len()..))
        {
            out = format!("{head}{long}{tail}");
        }
    }
    out
}

fn source<'a>(question: &'a str, tokens: &[Token], first: usize, behind: usize) -> &'a str {
    let start = tokens.get(first).map_or(0, |t| t.start);
    let end = behind.checked_sub(1).and_then(|i| tokens.get(i)).map_or(start, |t| t.end);
    question.get(start..end).unwrap_or_default()
}

fn bare(question: &str, tokens: &[Token], first: usize, behind: usize) -> Chunk {
    let range = tokens.get(first..behind).unwrap_or_default();
    let mut chunk = Chunk {
        text: source(question, tokens, first, behind).to_owned(),
        words: range.iter().filter(|t| t.lower != "-").map(|t| t.lower.clone()).collect(),
        capital: range.first().is_some_and(Token::is_capital),
        possessive: range.last().is_some_and(|t| t.possessive),
        first,
        behind,
        ..Chunk::default()
    };
    if let [only] = range {
        chunk.quoted = only.kind == Kind::Quoted;
        chunk.symbol = only.kind == Kind::Symbol;
        chunk.year = time::year(only);
        chunk.number = match only.kind {
            Kind::Number => only.lower.parse().ok(),
            Kind::Word => number_word(&only.lower).map(|n| n as f64),
            _ => None,
        };
    }
    chunk
}

fn merge(into: &mut Chunk, other: Chunk) {
    into.kw = into.kw.or(other.kw);
    if into.link.is_empty() {
        into.link = other.link;
    }
    if into.hits.is_empty() {
        into.hits = other.hits;
    }
    into.time = into.time.or(other.time);
    into.number = into.number.or(other.number);
}

fn candidate(
    question: &str,
    tokens: &[Token],
    first: usize,
    behind: usize,
    schema: &Schema,
    hits: &Hits,
) -> Option<Candidate> {
    let range = tokens.get(first..behind)?;
    let [start, .., end] = range else {
        return single(question, tokens, first, schema, hits);
    };
    let inner_sign = |t: &Token| {
        t.kind == Kind::Symbol
            && ["-", "/", "&", ".", "'", ",", ":", "!", "?", "(", ")"].contains(&t.lower.as_str())
    };
    if range
        .iter()
        .any(|t| matches!(t.kind, Kind::Quoted | Kind::Date) || (t.kind == Kind::Symbol && !inner_sign(t)))
    {
        return None;
    }
    let mut chunk = bare(question, tokens, first, behind);
    let mut weight = 0;
    let words = chunk.words.len();
    // A number and its scale.
    if let [a, b] = range
        && a.kind == Kind::Number
        && let (Ok(n), Some(scale)) = (a.lower.parse::<f64>(), number_word(&b.lower).filter(|s| *s >= 100))
    {
        chunk.number = Some(n * scale as f64);
        return Some(Candidate { first, behind, weight: 28, chunk });
    }
    let lower = chunk.text.to_lowercase();
    if let Some(found) = hits.get(&lower) {
        chunk.hits.clone_from(found);
        weight = weight.max(words * 10 + if found.iter().any(|h| h.exact) { 7 } else { 2 });
    }
    let only_words = range.iter().all(|t| t.kind == Kind::Word || t.kind == Kind::Number || t.lower == "-");
    if only_words && !(start.kind == Kind::Symbol || end.kind == Kind::Symbol) {
        if words <= MAX_WORDS
            && let Some(kw) = keyword(&chunk.phrase())
            && !(kw == Kw::CountOf
                && start.lower == "amount"
                && link(schema, &spoken(&start.lower)).column_score() >= 60)
            && !(kw == Kw::Whole && link(schema, &spoken(&start.lower)).score() >= FULL)
        {
            chunk.kw = Some(kw);
            weight = weight.max(words * 10 + 4);
        }
        let edge = |t: &Token| {
            let small = [
                "of", "the", "a", "an", "in", "by", "for", "and", "on", "at", "to", "from", "with", "per",
                "as", "is", "are", "or", "not", "no", "was", "were",
            ];
            small.contains(&t.lower.as_str())
        };
        if !edge(start) && !edge(end) && words <= 6 {
            let spoken: Vec<String> = chunk.words.iter().flat_map(|w| spoken(w)).collect();
            let mut found = link(schema, &spoken);
            if counts(range) {
                // `number of professors` counts them, unless a column holds just this figure.
                found.tables.clear();
                found.columns.retain(|(c, _)| schema.column(*c).is_figure());
            }
            // `ids of investors`: the grammar puts a column and its table together.
            let of = range.iter().position(|t| t.lower == "of");
            let owner = of.and_then(|k| chunk.words.get(k + 1..)).is_some_and(|after| {
                let after: Vec<String> = after.iter().flat_map(|w| crate::words::spoken(w)).collect();
                link(schema, &after).table_score() >= FULL
            });
            if owner {
                found = Link::default();
            }
            if found.score() >= 60 {
                weight = weight.max(words * 10 + if found.score() >= FULL { 5 } else { 1 });
                chunk.link = found;
            }
        }
    }
    (weight > 0).then_some(Candidate { first, behind, weight, chunk })
}

fn counts(range: &[Token]) -> bool {
    matches!(range, [a, b, ..] if ["number", "count", "amount"].contains(&a.lower.as_str()) && b.lower == "of")
}

fn single(question: &str, tokens: &[Token], first: usize, schema: &Schema, hits: &Hits) -> Option<Candidate> {
    let token = tokens.get(first)?;
    let mut chunk = bare(question, tokens, first, first + 1);
    let mut weight = 0;
    if let Some(found) = hits.get(&token.lower) {
        chunk.hits.clone_from(found);
        weight = 13;
    }
    match token.kind {
        Kind::Word => {
            chunk.kw = keyword(&token.lower);
            chunk.link = link(schema, &spoken(&token.lower));
            weight = weight.max(match (&chunk.kw, chunk.link.score()) {
                (_, FULL..) => 15,
                (Some(_), _) => 10,
                (None, 60..) => 11,
                (None, 1..) => 6,
                (None, _) if chunk.number.is_some() => 9,
                _ => 0,
            });
            // A verb that reminds of a name (`composed`, `hired`) says how things are linked.
            let verb =
                ["ed", "ing", "en"].iter().any(|end| token.lower.ends_with(end)) && token.lower.len() > 4;
            if chunk.kw.is_none() && verb && (1..=62).contains(&chunk.link.score()) && chunk.hits.is_empty() {
                chunk.kw = Some(Kw::Verb);
            }
            // What a grammar word only reminds of does not count beside its own part.
            if chunk.kw.is_some() && chunk.link.score() < 60 {
                chunk.link = Link::default();
            }
        }
        Kind::Quoted => {
            let spoken: Vec<String> = token.lower.split_whitespace().flat_map(spoken).collect();
            chunk.link = link(schema, &spoken);
            weight = 20;
        }
        Kind::Symbol => {
            chunk.kw = keyword(&token.lower);
            weight = 10;
        }
        Kind::Number => weight = 10,
        Kind::Date => return None,
    }
    (weight > 0).then_some(Candidate { first, behind: first + 1, weight, chunk })
}
