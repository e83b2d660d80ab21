//! Reads the schema through the tools: the list of objects, then descriptions of those that matter.

use std::collections::{BTreeMap, BTreeSet};

use dbagent_core::catalog::{ObjectDetail, ObjectKind, ObjectSummary};
use dbagent_core::observe::{read_descriptions, read_list};
use serde_json::json;

use crate::knowledge::{Call, Knowledge};
use crate::schema::{Schema, build};
use crate::words::{Kind, label, same_meaning, singular, tokens};

/// Databases of up to this many tables are described whole.
const ALL: usize = 60;
/// Objects of one description.
const BATCH: usize = 10;
/// Most descriptions asked for at once.
const AT_ONCE: usize = 6;
/// Most pages of the list.
const PAGES: u64 = 20;

/// What is known of the schema, or the calls that would tell.
pub(crate) enum Survey {
    Ask(Vec<Call>),
    Known(Box<Surveyed>),
    /// The list could not be read; why.
    Failed(String),
}

/// A schema and what was left out of it.
pub(crate) struct Surveyed {
    pub(crate) schema: Schema,
    /// Everything that is there, described or not.
    pub(crate) objects: Vec<ObjectSummary>,
    pub(crate) described: Vec<ObjectDetail>,
}

/// Surveys the schema for some questions.
pub(crate) fn survey(questions: &[String], known: &Knowledge) -> Survey {
    let mut objects: Vec<ObjectSummary> = Vec::new();
    for page in 1..=PAGES {
        let arguments = if page == 1 { json!({}) } else { json!({ "page": page }) };
        let call = Call::new("list_objects", arguments);
        let Some(observation) = known.get(&call) else { return Survey::Ask(vec![call]) };
        if observation.is_error {
            return Survey::Failed(observation.text.clone());
        }
        objects.extend(read_list(&observation.text));
        let first_line = observation.text.lines().next().unwrap_or_default();
        if !first_line.contains(&format!("More: page {}", page + 1)) {
            break;
        }
    }
    objects.retain(|o| o.kind != ObjectKind::System && !o.name.name.starts_with("sqlite_"));
    let mut wanted = chosen(&objects, questions);
    let mut described: BTreeMap<String, ObjectDetail> = BTreeMap::new();
    // Descriptions name the tables they link to, so a second round may follow in large schemas.
    for _ in 0..3 {
        let mut open: Vec<Call> = Vec::new();
        for batch in wanted.chunks(BATCH) {
            let mut names: Vec<&String> = batch.iter().collect();
            // What did not fit is asked for again, in smaller and smaller parts.
            while !names.is_empty() {
                let call = Call::new("describe_objects", json!({ "names": names }));
                let Some(observation) = known.get(&call) else {
                    open.push(call);
                    break;
                };
                let found = read_descriptions(&observation.text);
                let mut got: BTreeSet<String> = BTreeSet::new();
                for o in found {
                    got.insert(o.summary.name.to_string());
                    described.insert(o.summary.name.to_string(), o);
                }
                let before = names.len();
                names.retain(|n| !got.contains(*n));
                if names.len() == before || !observation.text.contains("INCOMPLETE") {
                    break;
                }
            }
        }
        if !open.is_empty() {
            open.truncate(AT_ONCE);
            return Survey::Ask(open);
        }
        let linked: Vec<String> = objects
            .iter()
            .filter(|o| !wanted.contains(&o.name.to_string()))
            .filter(|o| {
                described.values().flat_map(|d| &d.foreign_keys).any(|k| k.target.name == o.name.name)
            })
            .map(|o| o.name.to_string())
            .take(ALL)
            .collect();
        if linked.is_empty() {
            break;
        }
        wanted.extend(linked);
    }
    let described: Vec<ObjectDetail> = described.into_values().collect();
    Survey::Known(Box::new(Surveyed { schema: build(&described), objects, described }))
}

/// The objects that are described: all tables of a small schema, those whose names share a word with the
/// questions in a large one; views only where the question names them.
fn chosen(objects: &[ObjectSummary], questions: &[String]) -> Vec<String> {
    let words: Vec<String> = questions
        .iter()
        .flat_map(|q| tokens(q))
        .filter(|t| t.kind != Kind::Symbol)
        .flat_map(|t| t.lower.split_whitespace().map(singular).collect::<Vec<_>>())
        .collect();
    let spoken = words.join(" ");
    let tables: Vec<&ObjectSummary> = objects.iter().filter(|o| o.kind != ObjectKind::View).collect();
    let none = BTreeSet::new();
    let shares_word = |o: &ObjectSummary| {
        label(&o.name.name, &none).words.iter().any(|w| {
            w.len() > 2
                && words.iter().any(|q| {
                    same_meaning(q, w)
                        || q == w
                        || (w.len() > 4 && q.len() > 4 && (w.contains(q.as_str()) || q.contains(w.as_str())))
                })
        })
    };
    let small = tables.len() <= ALL;
    let mut out: Vec<String> =
        tables.iter().filter(|o| small || shares_word(o)).map(|o| o.name.to_string()).take(ALL).collect();
    let named_view = |o: &&ObjectSummary| {
        let name = label(&o.name.name, &none).words.join(" ");
        o.kind == ObjectKind::View && !name.is_empty() && format!(" {spoken} ").contains(&format!(" {name} "))
    };
    out.extend(objects.iter().filter(named_view).map(|o| o.name.to_string()).take(10));
    out
}
