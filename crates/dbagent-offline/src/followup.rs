//! Questions that refer to the one before: `and in Canada?`, `the same for 2011`, `how many of those …`.

use crate::intent::{Chunks, Hits, Kw};
use crate::knowledge::Knowledge;
use crate::link::FULL;
use crate::meaning::{Cond, Form, Intent, Output, Test, Unsure};
use crate::plan::Agg;
use crate::schema::Schema;
use crate::sql::Dialect;
use crate::understand::{Understood, alone};
use crate::words::plural;

/// How many questions back are looked at.
const MAX_BACK: usize = 6;

/// How a question refers to the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Reference {
    /// The same with something else: what follows.
    Same(String),
    /// Only those rows: what is asked of them.
    Those(String),
    /// The rows themselves.
    ListThem,
    None,
}

/// Understands a question, with the earlier ones of its thread at hand.
pub(crate) fn understand(
    schema: &Schema,
    questions: &[String],
    question: &str,
    dialect: Dialect,
    known: &Knowledge,
) -> Understood {
    let earlier = questions.split_last().map(|(_, e)| e).unwrap_or_default();
    let earlier = earlier.get(earlier.len().saturating_sub(MAX_BACK)..).unwrap_or_default();
    let reference = reference(schema, question);
    if reference == Reference::None {
        return alone(schema, question, dialect, known);
    }
    let Some(last) = earlier.last() else {
        return match &reference {
            Reference::Same(_) => alone(schema, question, dialect, known),
            _ => Understood::Unsure(Unsure::new("there is no question before that this one could refer to")),
        };
    };
    let before = match understand(schema, earlier, last, dialect, known) {
        Understood::Intent(intent) => *intent,
        Understood::Ask(calls) => return Understood::Ask(calls),
        Understood::Unsure(_) => {
            return Understood::Unsure(Unsure::new("this refers to a question that was not understood"));
        }
    };
    let subject = {
        let mut words = schema.table(before.subject).label.words.clone();
        if let Some(word) = words.last_mut() {
            *word = plural(word);
        }
        words.join(" ")
    };
    match reference {
        Reference::Same(rest) => {
            let fragment = match alone(schema, &format!("{subject} {rest}"), dialect, known) {
                Understood::Intent(intent) => *intent,
                other => return other,
            };
            same(schema, before, fragment)
        }
        Reference::Those(rest) => {
            let asked = rest.replacen("{}", &subject, 1);
            let fragment = match alone(schema, &asked, dialect, known) {
                Understood::Intent(intent) => *intent,
                other => return other,
            };
            those(before, fragment)
        }
        Reference::ListThem => list_them(before),
        Reference::None => Understood::Unsure(Unsure::new("nothing was asked")),
    }
}

fn reference(schema: &Schema, question: &str) -> Reference {
    let text = question.trim().trim_end_matches(['?', '.', '!']).trim();
    let lower = text.to_lowercase();
    let listing = [
        "list them",
        "show them",
        "show me them",
        "name them",
        "who are they",
        "which ones",
        "what are they",
        "list those",
        "show those",
        "which are they",
        "give me the list",
        "which ones are they",
        "list these",
    ];
    if listing.contains(&lower.trim_start_matches("and ").trim()) {
        return Reference::ListThem;
    }
    let starts = [
        ("how many of those", "how many {}"),
        ("how many of these", "how many {}"),
        ("how many of them", "how many {}"),
        ("which of those", "which {}"),
        ("which of these", "which {}"),
        ("which of them", "which {}"),
        ("of those, how many", "how many {}"),
        ("of those how many", "how many {}"),
        ("of these, how many", "how many {}"),
        ("of those, which", "which {}"),
        ("of those", "which {}"),
        ("of these", "which {}"),
        ("among them", "which {}"),
        ("among those", "which {}"),
    ];
    let bare = lower.trim_start_matches("and ").trim_start_matches("so ");
    for (start, put) in starts {
        if let Some(rest) = strip(text, bare.len(), start) {
            return Reference::Those(format!("{put} {}", rest.trim_start_matches([',', ' '])));
        }
    }
    let markers = [
        "and what about",
        "what about",
        "and how about",
        "how about",
        "and the same for",
        "the same for",
        "same for",
        "the same but for",
        "same but for",
        "the same but",
        "same but",
        "the same",
        "now for",
        "and now for",
        "now only",
        "only for",
        "and only",
        "only",
        "and for",
        "and",
        "but",
    ];
    for marker in markers {
        let Some(rest) = strip(text, lower.len(), marker) else { continue };
        let rest = rest.trim_start_matches([',', ':', ' ']).trim();
        if rest.is_empty() || !is_fragment(schema, rest) {
            return Reference::None;
        }
        let prepositions = [
            "in", "on", "for", "from", "by", "with", "without", "of", "at", "before", "after", "since",
            "between", "during", "not", "per", "until", "in the",
        ];
        let first = rest.split_whitespace().next().unwrap_or_default().to_lowercase();
        return Reference::Same(if prepositions.contains(&first.as_str()) {
            rest.to_owned()
        } else {
            format!("in {rest}")
        });
    }
    Reference::None
}

/// The text behind `start`, which its last `length` bytes begin with, as a whole word.
fn strip<'a>(text: &'a str, length: usize, start: &str) -> Option<&'a str> {
    let tail = text.get(text.len().checked_sub(length)?..)?;
    let head = tail.get(..start.len())?;
    let rest = tail.get(start.len()..)?;
    (head.eq_ignore_ascii_case(start) && (rest.is_empty() || rest.starts_with([' ', ',', ':'])))
        .then_some(rest)
}

/// Whether a text only narrows: it asks nothing of its own and names no table.
fn is_fragment(schema: &Schema, rest: &str) -> bool {
    let chunks = Chunks::new(rest, schema, &Hits::new());
    let asks = chunks.list.iter().any(|c| {
        matches!(
            c.kw,
            Some(
                Kw::HowMany
                    | Kw::HowMuch
                    | Kw::What
                    | Kw::Which
                    | Kw::Who
                    | Kw::When
                    | Kw::Where
                    | Kw::Show
                    | Kw::CountOf
            )
        )
    });
    let grouped = chunks.list.iter().any(|c| matches!(c.kw, Some(Kw::Per | Kw::By | Kw::Each)));
    let names_table = chunks.list.iter().any(|c| c.link.table_score() >= FULL);
    !asks && (grouped || !names_table || chunks.list.len() <= 3) && chunks.tokens.len() <= 10
}

/// The question before with the conditions and groups of the fragment in place of its own.
fn same(schema: &Schema, mut before: Intent, fragment: Intent) -> Understood {
    if fragment.conds.is_empty() && fragment.keys.is_empty() {
        return Understood::Unsure(Unsure::new(
            "what is to be different from the question before is not clear",
        ));
    }
    if fragment.rank.is_some()
        || fragment.limit.is_some()
        || !fragment.having.is_empty()
        || !fragment.order.is_empty()
        || fragment.figures.len() > usize::from(!fragment.keys.is_empty())
    {
        return Understood::Unsure(Unsure::new(
            "what is to be different from the question before is more than a condition; ask it in full",
        ));
    }
    for cond in fragment.conds {
        let slot = before.conds.iter().position(|c| same_slot(&c.test, &cond.test));
        let branch = slot.and_then(|i| before.conds.get(i)).map_or(usize::MAX, |c| c.branch);
        let share = slot.and_then(|i| before.conds.get(i)).is_some_and(|c| c.share);
        let cond = Cond { branch, share, ..cond };
        match slot.and_then(|i| before.conds.get_mut(i)) {
            Some(place) => *place = cond,
            None => before.conds.push(cond),
        }
    }
    if !fragment.keys.is_empty() {
        before.keys = fragment.keys;
    }
    before.hints.extend(fragment.hints);
    before.stored.extend(fragment.stored);
    before.notes.push("the rest is as in the question before".to_owned());
    // A sum over rows that a condition only touches would count too much.
    let sums =
        before.figures.iter().filter(|m| matches!(m.agg, Agg::Sum | Agg::Avg)).copied().collect::<Vec<_>>();
    for m in sums {
        for c in &before.conds {
            if let Some(table) = c.test.table()
                && schema.distance(m.of.table(), table).is_none()
            {
                return Understood::Unsure(
                    Unsure::new(
                        "the figure of the question before cannot be narrowed like this; ask it in full",
                    )
                    .with([m.of.table(), table]),
                );
            }
        }
    }
    Understood::Intent(Box::new(before))
}

/// Whether two conditions are about the same: the country, the date.
fn same_slot(a: &Test, b: &Test) -> bool {
    match (a, b) {
        (Test::In(x, _) | Test::Like(x, ..), Test::In(y, _) | Test::Like(y, ..)) => x == y,
        (
            Test::Within(x, ..) | Test::Month(x, _) | Test::Compare(x, ..) | Test::Between(x, ..),
            Test::Within(y, ..) | Test::Month(y, _) | Test::Compare(y, ..) | Test::Between(y, ..),
        ) => x == y,
        _ => false,
    }
}

/// The fragment, asked of the rows of the question before.
fn those(before: Intent, mut fragment: Intent) -> Understood {
    if before.rank.is_some() || before.limit.is_some() || !before.keys.is_empty() || !before.having.is_empty()
    {
        return Understood::Unsure(Unsure::new(
            "which rows “those” are is not clear; ask the question in full",
        ));
    }
    if before.subject != fragment.subject {
        return Understood::Unsure(Unsure::new(
            "“those” are rows of another table; ask the question in full",
        ));
    }
    let behind = fragment.conds.iter().map(|c| c.branch).max().map_or(0, |b| b + 1);
    fragment.conds.extend(before.conds.into_iter().map(|c| Cond { branch: c.branch + behind, ..c }));
    fragment.hints.extend(before.hints);
    fragment.stored.extend(before.stored);
    fragment.notes.extend(before.notes);
    fragment.notes.push("the conditions of the question before hold, too".to_owned());
    Understood::Intent(Box::new(fragment))
}

/// The rows that were counted or spoken of.
fn list_them(mut before: Intent) -> Understood {
    if !before.figures.is_empty() || before.form == Form::Share || before.form == Form::MeanOfGroups {
        return Understood::Unsure(Unsure::new(
            "what is to be listed is not clear; ask the question in full",
        ));
    }
    if let Some(column) = before.counted.take() {
        before.outputs = vec![Output::Column(column)];
        before.distinct = true;
    }
    before.form = Form::Rows;
    before.notes.push("the conditions of the question before hold, too".to_owned());
    Understood::Intent(Box::new(before))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::build;

    #[test]
    fn references_are_told_from_questions() {
        let schema = build(&[]);
        let same = |t: &str| Reference::Same(t.to_owned());
        assert_eq!(reference(&schema, "And in Canada?"), same("in Canada"));
        assert_eq!(reference(&schema, "the same for 2011"), same("in 2011"));
        assert_eq!(reference(&schema, "What about Jazz?"), same("in Jazz"));
        assert_eq!(
            reference(&schema, "How many of those are from Brazil?"),
            Reference::Those("how many {} are from Brazil".into())
        );
        assert_eq!(reference(&schema, "list them"), Reference::ListThem);
        assert_eq!(reference(&schema, "And how many customers are there?"), Reference::None);
        assert_eq!(reference(&schema, "Android phones"), Reference::None);
        assert_eq!(reference(&schema, "och"), Reference::None);
    }
}
