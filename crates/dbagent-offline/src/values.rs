//! Values of the database that words of a question name: which words to look up, in which columns, and
//! what came back. A few bounded queries; the words travel as parameters.

use std::collections::{BTreeMap, BTreeSet};

use dbagent_core::catalog::ObjectKind;
use dbagent_core::observe::ReadTable;
use serde_json::json;

use crate::intent::{Chunk, Chunks, Hit, Hits, Kw};
use crate::knowledge::{Call, Knowledge};
use crate::link::{FULL, same_stem};
use crate::plan::{Agg, Expr, Ident, Item, Place, Pred, Select, Source, Value};
use crate::schema::{Class, ColumnId, Schema};
use crate::sql::{Dialect, print};
use crate::words::{Kind, demonym, place_names, plural, singular};

/// Most texts that are looked up for one question.
const MAX_TEXTS: usize = 40;
/// Most columns that are searched.
const MAX_COLUMNS: usize = 120;
/// Most columns of one statement.
const BATCH: usize = 40;
/// Words and signs of one statement, well under what the guard lets through.
const BATCH_TOKENS: usize = 8_000;
/// Tables with more rows are not searched.
const MAX_ROWS: u64 = 5_000_000;

/// Texts that may be values: what is quoted, capitals inside the sentence, and words that nothing else
/// explains, each with its neighbours.
pub(crate) fn wanted(schema: &Schema, chunks: &Chunks) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut add = |text: &str| {
        let text = text.trim().to_lowercase();
        if !text.is_empty() && text.chars().count() <= 100 && !out.contains(&text) {
            out.push(text);
        }
    };
    for chunk in chunks.list.iter().filter(|c| c.quoted) {
        add(&chunk.text);
    }
    let count = chunks.tokens.len();
    let mut interesting = vec![false; count];
    for (i, chunk) in chunks.list.iter().enumerate() {
        if is_interesting(chunk, i == 0) || is_state(schema, &chunks.list, i) {
            for flag in interesting.iter_mut().take(chunk.behind).skip(chunk.first) {
                *flag = true;
            }
        }
    }
    // Longer texts first: they say more.
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for first in 0..count {
        for behind in (first + 1..=(first + 7).min(count)).rev() {
            let range = chunks.tokens.get(first..behind).unwrap_or_default();
            let hit = interesting.get(first..behind).unwrap_or_default();
            let known: usize = hit.iter().filter(|i| !**i).count();
            let joins = |t: &&crate::words::Token| {
                t.kind == Kind::Word
                    || t.kind == Kind::Number
                    || ["-", "/", "&", "."].contains(&t.text.as_str())
            };
            let all_words = range.iter().all(|t| joins(&t));
            let edge = |at: Option<usize>| {
                let Some((i, t)) = at.and_then(|i| Some((i, chunks.tokens.get(i)?))) else { return false };
                // `chai but live`: no value begins or ends with a word that joins or does something.
                let joins = behind - first > 1
                    && chunks.list.iter().any(|c| {
                        c.first <= i
                            && i < c.behind
                            && c.hits.is_empty()
                            && matches!(
                                c.kw,
                                Some(
                                    Kw::Verb
                                        | Kw::And
                                        | Kw::But
                                        | Kw::Or
                                        | Kw::Not
                                        | Kw::No
                                        | Kw::Have
                                        | Kw::Named
                                )
                            )
                    });
                t.kind == Kind::Symbol || (!t.is_capital() && (is_small(&t.lower) || joins))
            };
            if hit.contains(&true)
                && known <= 2
                && all_words
                && !edge(Some(first))
                && !edge(behind.checked_sub(1))
            {
                spans.push((first, behind));
            }
        }
    }
    spans.sort_by_key(|(first, behind)| (std::cmp::Reverse(behind - first), *first));
    // Several plain words side by side may be one value, even where each means something else.
    let content: Vec<bool> = chunks
        .tokens
        .iter()
        .enumerate()
        .map(|(i, t)| {
            let structural =
                chunks.list.iter().find(|c| c.first <= i && i < c.behind).is_some_and(is_structural);
            t.kind == Kind::Word && !is_small(&t.lower) && !structural
        })
        .collect();
    let mut plain: Vec<(usize, usize)> = Vec::new();
    for first in 0..count {
        for behind in first + 2..=(first + 4).min(count) {
            let all = content.get(first..behind).is_some_and(|c| c.iter().all(|x| *x));
            let open =
                chunks.list.iter().filter(|c| c.first < behind && first < c.behind).any(|c| !is_settled(c));
            if all && open && !spans.contains(&(first, behind)) {
                plain.push((first, behind));
            }
        }
    }
    // One word alone is the likeliest value of all, so it is never crowded out.
    let (long, short): (Vec<_>, Vec<_>) = spans.into_iter().partition(|(first, behind)| behind - first > 2);
    for (first, behind) in short.into_iter().chain(long).chain(plain) {
        add(chunks.source(first, behind));
    }
    out.truncate(MAX_TEXTS);
    out
}

/// Whether it is clear what a chunk is: a number, a date, the name of a table or column, or a word of the
/// grammar that is seldom part of a name.
fn is_settled(chunk: &Chunk) -> bool {
    let grammar = !matches!(
        chunk.kw,
        None | Some(
            Kw::Figure(_) | Kw::Manager | Kw::Subordinates | Kw::Reports | Kw::Part(_) | Kw::First | Kw::Last
        )
    );
    grammar || chunk.number.is_some() || chunk.time.is_some() || chunk.link.score() >= FULL
}

fn is_small(word: &str) -> bool {
    const SMALL: [&str; 46] = [
        "of", "the", "a", "an", "in", "on", "by", "for", "and", "or", "to", "from", "at", "with", "is",
        "are", "was", "were", "do", "does", "did", "has", "have", "had", "not", "no", "that", "who", "which",
        "what", "how", "many", "all", "each", "per", "than", "more", "less", "list", "show", "there",
        "their", "when", "where", "as", "it",
    ];
    SMALL.contains(&word)
}

/// Whether a chunk is there for the grammar alone.
fn is_structural(chunk: &Chunk) -> bool {
    matches!(
        chunk.kw,
        Some(
            Kw::HowMany
                | Kw::What
                | Kw::Which
                | Kw::Who
                | Kw::When
                | Kw::Where
                | Kw::Show
                | Kw::Cop
                | Kw::Aux
                | Kw::Skip
                | Kw::HowMuch
                | Kw::CountOf
                | Kw::Agg(_)
                | Kw::Cmp(_)
                | Kw::Have
                | Kw::Each
                | Kw::Per
                | Kw::All
                | Kw::Sort
                | Kw::Most
                | Kw::Fewest
                | Kw::Extreme(_)
                | Kw::Superl(..)
                | Kw::Top
                | Kw::Distinct
        )
    )
}

fn is_interesting(chunk: &Chunk, begins: bool) -> bool {
    if chunk.symbol || chunk.time.is_some() || chunk.quoted {
        return false;
    }
    let letters = chunk.text.chars().any(char::is_alphabetic);
    if !chunk.capital
        && chunk.words.len() == 1
        && chunk.words.iter().any(|w| crate::words::ordinal(w).is_some())
    {
        return false;
    }
    let capital = chunk.capital && !begins && letters;
    let structural = matches!(
        chunk.kw,
        Some(
            Kw::HowMany
                | Kw::What
                | Kw::Which
                | Kw::Who
                | Kw::When
                | Kw::Where
                | Kw::Show
                | Kw::Cop
                | Kw::Aux
                | Kw::Skip
        )
    );
    if capital {
        return !structural
            || chunk.words.len() == 1 && !begins && !matches!(chunk.kw, Some(Kw::Cop | Kw::Aux));
    }
    // What is linked only by likeness may still be a value.
    chunk.kw.is_none() && chunk.number.is_none() && chunk.link.score() < FULL && letters
}

/// `are not open`, `supply drink`: a verb that stands where what something is, or a thing, is named. One that
/// the schema knows speaks of its table.
fn is_state(schema: &Schema, chunks: &[Chunk], at: usize) -> bool {
    let Some(chunk) = chunks.get(at).filter(|c| c.kw == Some(Kw::Verb) && c.words.len() == 1) else {
        return false;
    };
    let kw = |i: usize| chunks.get(i).and_then(|c| c.kw);
    let mut before = at;
    let behind_what_it_says = loop {
        let Some(b) = before.checked_sub(1) else { break false };
        match kw(b) {
            Some(Kw::Not | Kw::Skip | Kw::Or) => before = b,
            other => break matches!(other, Some(Kw::Cop | Kw::Verb)),
        }
    };
    let ends = chunks.get(at + 1).is_none_or(|c| {
        c.symbol
            || matches!(c.kw, Some(Kw::And | Kw::But | Kw::Or | Kw::That | Kw::Who | Kw::Which | Kw::Cop))
    });
    let known =
        |label: &crate::words::Label| chunk.words.iter().any(|w| label.words.iter().any(|l| same_stem(w, l)));
    behind_what_it_says
        && ends
        && !schema.tables().any(|(_, t)| known(&t.label) || t.columns.iter().any(|c| known(&c.label)))
}

/// A column that is searched, or two that make a full name.
type Place_ = Vec<ColumnId>;

fn places(schema: &Schema, texts: &[String]) -> Vec<Place_> {
    let mut out = Vec::new();
    // Numbers of phones and houses are searched only for texts that may be one.
    let digits = texts.iter().any(|t| t.chars().any(|c| c.is_ascii_digit()));
    let at = texts.iter().any(|t| t.contains('@'));
    for (id, table) in schema.tables() {
        if table.kind != ObjectKind::Table || table.rows.is_some_and(|r| r > MAX_ROWS) || schema.is_bridge(id)
        {
            continue;
        }
        for (column, c) in schema.columns(id) {
            let skipped =
                ["url", "path", "password", "hash", "token", "photo", "picture", "image", "link", "file"];
            let numbered = ["phone", "fax", "postal", "zip", "address", "street", "mobile"];
            if (!digits && c.label.has_any(&numbered)) || (!at && c.label.has_any(&["email", "mail"])) {
                continue;
            }
            let text = matches!(c.class, Class::Text | Class::Unknown);
            if text && !c.label.has_any(&skipped) && !(c.links && c.label.has("id")) {
                out.push(vec![column]);
            }
        }
        let names = schema.name_columns(id);
        if names.len() == 2 {
            // As people say it: the first name first.
            let mut names = names;
            names.sort_by_key(|c| !schema.column(*c).label.has("first"));
            out.push(names);
        }
    }
    out.truncate(MAX_COLUMNS);
    out
}

fn expression(schema: &Schema, place: &[ColumnId]) -> Expr {
    let one = |c: &ColumnId| Expr::Column {
        of: Ident::new(schema.table(c.table).name.name.clone()),
        name: Ident::new(schema.column(*c).name.clone()),
    };
    match place {
        [only] => one(only),
        several => Expr::Spaced(several.iter().map(one).collect()),
    }
}

/// Other ways to write a text: a country for its people, another name of a country, one for many.
fn writings(text: &str) -> Vec<String> {
    let mut out = vec![text.to_owned()];
    let mut add = |t: String| {
        if !out.contains(&t) {
            out.push(t);
        }
    };
    add(text.to_ascii_lowercase());
    add(text.trim_end_matches(['.', ',', '!', '?', ';']).to_owned());
    let country = demonym(text).map(str::to_lowercase);
    for name in country.iter().map(String::as_str).chain(std::iter::once(text)) {
        add(name.to_owned());
        for other in place_names(name) {
            add(other.to_lowercase());
        }
    }
    if text.chars().count() < 3 {
        // A letter or two is no word that has a plural.
    } else if let Some((head, last)) = text.rsplit_once(' ') {
        add(format!("{head} {}", singular(last)));
    } else {
        add(singular(text));
        add(plural(text));
    }
    match text {
        "female" | "females" | "woman" | "women" => add("f".into()),
        "male" | "males" | "man" | "men" => add("m".into()),
        _ => {}
    }
    out
}

/// What is known of the values, or the calls that would tell.
pub(crate) enum Lookup {
    Known { hits: Hits, failed: bool },
    Ask(Vec<Call>),
}

struct Question {
    call: Call,
    /// What the branches of the statement stand for.
    branches: Vec<(Place_, Option<String>)>,
}

/// Looks texts up as whole values.
pub(crate) fn whole(schema: &Schema, dialect: Dialect, texts: &[String], known: &Knowledge) -> Lookup {
    if texts.is_empty() {
        return Lookup::Known { hits: Hits::new(), failed: false };
    }
    let all: BTreeSet<String> = texts.iter().flat_map(|t| writings(t)).collect();
    let values: Vec<Value> = all.into_iter().map(Value::Text).collect();
    // Each column is asked for all values: about thirty words, and a sign and a comma for each value.
    let batch = (BATCH_TOKENS / (30 + 2 * values.len())).clamp(1, BATCH);
    let questions: Vec<Question> = places(schema, texts)
        .chunks(batch)
        .map(|batch| {
            let branches: Vec<(Place_, Option<String>)> = batch.iter().map(|p| (p.clone(), None)).collect();
            let queries = branches.iter().enumerate().map(|(i, (place, _))| {
                let expr = expression(schema, place);
                Select {
                    distinct: true,
                    items: items(i, expr.clone()),
                    from: table(schema, place),
                    filter: vec![Pred::In {
                        expr: Expr::Lower(Box::new(expr)),
                        values: values.clone(),
                        negated: false,
                    }],
                    ..Select::default()
                }
            });
            question(queries.collect(), branches, dialect)
        })
        .collect();
    ask(&questions, known, |rows, branches, hits| {
        for (source, value) in rows {
            let Some((place, _)) = branches.get(source) else { continue };
            let lower = value.to_lowercase();
            for text in texts {
                let fits = writings(text).iter().any(|w| *w == lower || *w == value.to_ascii_lowercase());
                let letter = lower.len() == 1 && lower != *text;
                let gender = place.iter().any(|c| schema.column(*c).label.has_any(&["sex", "gender"]));
                if fits && (!letter || gender) {
                    let hit = Hit { columns: place.clone(), value: value.clone(), exact: true };
                    let list: &mut Vec<Hit> = hits.entry(text.clone()).or_default();
                    // What is written the same way is meant before another way to write it.
                    if list.iter().any(|h| h.columns == hit.columns && h.value.to_lowercase() == *text)
                        && lower != *text
                    {
                        continue;
                    }
                    if lower == *text {
                        list.retain(|h| h.columns != hit.columns || h.value.to_lowercase() == *text);
                    }
                    list.push(hit);
                }
            }
        }
    })
}

/// Looks texts up as parts of values: how many rows of each column hold them.
pub(crate) fn parts(schema: &Schema, dialect: Dialect, texts: &[String], known: &Knowledge) -> Lookup {
    let mut branches: Vec<(Place_, Option<String>)> = Vec::new();
    for text in texts.iter().take(4) {
        branches.extend(
            places(schema, texts).into_iter().filter(|p| p.len() == 1).map(|p| (p, Some(text.clone()))),
        );
    }
    let questions: Vec<Question> = branches
        .chunks(BATCH)
        .map(|batch| {
            let queries = batch.iter().enumerate().map(|(i, (place, text))| {
                let expr = expression(schema, place);
                let count = Expr::Agg { f: Agg::Count, distinct: true, arg: Box::new(expr.clone()) };
                Select {
                    items: items(i, count),
                    from: table(schema, place),
                    filter: vec![Pred::Like {
                        expr,
                        text: text.clone().unwrap_or_default(),
                        place: Place::Anywhere,
                        negated: false,
                    }],
                    ..Select::default()
                }
            });
            question(queries.collect(), batch.to_vec(), dialect)
        })
        .collect();
    ask(&questions, known, |rows, branches, hits| {
        for (source, count) in rows {
            if let Some((place, Some(text))) = branches.get(source)
                && count != "0"
            {
                let hit = Hit { columns: place.clone(), value: text.clone(), exact: false };
                hits.entry(text.clone()).or_default().push(hit);
            }
        }
    })
}

fn items(source: usize, value: Expr) -> Vec<Item> {
    let source = Expr::Constant(u32::try_from(source).unwrap_or_default());
    vec![
        Item { expr: source, alias: Some(Ident::new("source")) },
        Item { expr: value, alias: Some(Ident::new("found")) },
    ]
}

fn table(schema: &Schema, place: &[ColumnId]) -> Option<Source> {
    let name = schema.table(place.first()?.table).name.clone();
    Some(Source::Table { alias: Ident::new(name.name.clone()), name })
}

fn question(queries: Vec<Select>, branches: Vec<(Place_, Option<String>)>, dialect: Dialect) -> Question {
    let alias = |name: &str| Item { expr: Expr::Alias(Ident::new(name)), alias: None };
    let select = Select {
        items: vec![alias("source"), alias("found")],
        from: Some(Source::Union { queries, alias: Ident::new("searched") }),
        ..Select::default()
    };
    let statement = print(&select, dialect);
    let arguments = json!({ "statement": statement.text, "params": statement.params });
    Question { call: Call::new("query", arguments), branches }
}

fn ask(
    questions: &[Question],
    known: &Knowledge,
    mut read: impl FnMut(Vec<(usize, String)>, &[(Place_, Option<String>)], &mut Hits),
) -> Lookup {
    let open: Vec<Call> =
        questions.iter().filter(|q| known.get(&q.call).is_none()).map(|q| q.call.clone()).collect();
    if !open.is_empty() {
        return Lookup::Ask(open);
    }
    let mut hits: Hits = BTreeMap::new();
    let mut failed = false;
    for q in questions {
        let Some(observation) = known.get(&q.call) else { continue };
        match ReadTable::from_observation(&observation.text).filter(|_| !observation.is_error) {
            Some(table) => {
                let rows = table.rows.into_iter().filter_map(|row| {
                    let mut cells = row.into_iter();
                    let source = cells.next().flatten()?.parse().ok()?;
                    Some((source, cells.next().flatten()?))
                });
                read(rows.collect(), &q.branches, &mut hits);
            }
            None => failed |= observation.is_error,
        }
    }
    Lookup::Known { hits, failed }
}
