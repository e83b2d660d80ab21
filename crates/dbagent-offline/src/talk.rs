//! Talk that is no question about data: greetings, questions about the planner, requests to change
//! something, questions about the schema itself.

use std::collections::BTreeSet;

use dbagent_core::catalog::{ObjectDetail, ObjectKind, RowCount};
use dbagent_core::text::printable;

use crate::intent::{Chunks, Hits};
use crate::link::FULL;
use crate::schema::TableId;
use crate::survey::Surveyed;
use crate::words::{Kind, singular, tokens};

/// What kind of text it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Talk {
    /// A greeting, or a question about the planner.
    About,
    /// Asks for a change; the verb.
    Write(String),
    Question,
}

const GREETINGS: [&str; 24] = [
    "hello",
    "hi",
    "hey",
    "good morning",
    "good evening",
    "good afternoon",
    "thanks",
    "thank you",
    "thank you very much",
    "bye",
    "goodbye",
    "help",
    "help me",
    "who are you",
    "what are you",
    "what can you do",
    "how are you",
    "are you an ai",
    "are you a language model",
    "are you chatgpt",
    "which model are you",
    "what model are you",
    "what is this",
    "how do you work",
];

const WRITES: [&str; 24] = [
    "delete",
    "remove",
    "drop",
    "insert",
    "add",
    "update",
    "change",
    "create",
    "rename",
    "truncate",
    "alter",
    "modify",
    "set",
    "increase",
    "decrease",
    "replace",
    "erase",
    "wipe",
    "clear",
    "purge",
    "edit",
    "grant",
    "revoke",
    "overwrite",
];

/// Words before a request that say nothing.
const POLITE: [&str; 26] = [
    "please", "can", "could", "would", "will", "you", "i", "we", "want", "need", "to", "like", "let", "us",
    "me", "just", "now", "then", "and", "also", "ok", "okay", "kindly", "should", "must", "go",
];

/// Looks at a text before anything else does.
pub(crate) fn read(question: &str) -> Talk {
    let words: Vec<String> =
        tokens(question).into_iter().filter(|t| t.kind == Kind::Word).map(|t| t.lower).collect();
    let text = words.join(" ");
    if words.is_empty() && !question.chars().any(char::is_alphanumeric) || GREETINGS.contains(&text.as_str())
    {
        return Talk::About;
    }
    let mut rest = words.iter().skip_while(|w| POLITE.contains(&w.as_str()));
    if let Some(first) = rest.next().filter(|w| WRITES.contains(&w.as_str()))
        && rest.next().is_some_and(|next| next != "up")
    {
        return Talk::Write(first.clone());
    }
    // `… and then delete them`.
    let unquoted: Vec<String> =
        tokens(question).into_iter().filter(|t| !t.is_capital()).map(|t| t.lower).collect();
    let joined = unquoted.windows(2).find_map(|w| match w {
        [and, verb] if ["and", "then", "also"].contains(&and.as_str()) && strong(verb) => Some(verb.clone()),
        _ => None,
    });
    joined.map_or(Talk::Question, Talk::Write)
}

fn strong(verb: &str) -> bool {
    ["delete", "drop", "insert", "update", "truncate", "remove", "erase"].contains(&verb)
}

/// Words of a question about the schema that say nothing more.
const FILL: [&str; 74] = [
    "what",
    "which",
    "is",
    "are",
    "there",
    "the",
    "a",
    "an",
    "in",
    "of",
    "on",
    "this",
    "that",
    "my",
    "our",
    "your",
    "all",
    "list",
    "show",
    "me",
    "give",
    "display",
    "name",
    "names",
    "tell",
    "about",
    "do",
    "does",
    "have",
    "has",
    "we",
    "you",
    "it",
    "database",
    "db",
    "databases",
    "schema",
    "structure",
    "layout",
    "table",
    "tables",
    "view",
    "views",
    "column",
    "columns",
    "field",
    "fields",
    "describe",
    "explain",
    "how",
    "many",
    "exist",
    "available",
    "see",
    "can",
    "i",
    "please",
    "contain",
    "contains",
    "data",
    "stored",
    "look",
    "like",
    "kind",
    "store",
    "hold",
    "get",
    "overview",
    "definition",
    "attribute",
    "attributes",
    "for",
    "from",
    "type",
];

/// Answers a question about the schema itself.
pub(crate) fn schema_question(question: &str, surveyed: &Surveyed) -> Option<String> {
    let schema = &surveyed.schema;
    let list = tokens(question);
    let words: BTreeSet<&str> =
        list.iter().filter(|t| t.kind == Kind::Word).map(|t| t.lower.as_str()).collect();
    let any = |wanted: &[&str]| wanted.iter().any(|w| words.contains(w));
    let columns = any(&["column", "columns", "field", "fields", "attribute", "attributes"]);
    let structure = any(&["schema", "structure", "describe", "layout", "definition"]);
    let tables = any(&["table", "tables"]);
    let whole = any(&["database", "db", "data"]);
    if !(columns || structure || tables || whole) {
        return None;
    }
    // Where a table is called so, the question may be about its rows.
    let taken = ["table", "column", "field", "schema", "view", "database"];
    if schema.tables().any(|(_, t)| taken.iter().any(|w| t.label.has(w))) {
        return None;
    }
    let chunks = Chunks::new(question, schema, &Hits::new());
    let mut named: Vec<TableId> = Vec::new();
    let mut covered: BTreeSet<usize> = BTreeSet::new();
    for chunk in &chunks.list {
        if chunk.link.table_score() >= FULL
            && let Some((t, _)) = chunk.link.tables.first()
            && !chunk.words.iter().all(|w| FILL.contains(&w.as_str()))
        {
            named.push(*t);
            covered.extend(chunk.first..chunk.behind);
        }
    }
    let rest: Vec<&str> = chunks
        .tokens
        .iter()
        .enumerate()
        .filter(|(i, t)| !covered.contains(i) && t.kind != Kind::Symbol && !FILL.contains(&t.lower.as_str()))
        .map(|(_, t)| t.lower.as_str())
        .collect();
    let counts = words.contains("many");
    if named.is_empty() {
        if columns && tables && !rest.is_empty() {
            return tables_with(&rest, surveyed);
        }
        if !rest.is_empty() || columns || !(tables || structure || whole) {
            return None;
        }
        return Some(overview(surveyed, counts && tables));
    }
    if !rest.is_empty() || !(columns || structure) {
        return None;
    }
    let details: Vec<&ObjectDetail> = named
        .iter()
        .filter_map(|t| surveyed.described.iter().find(|d| d.summary.name == schema.table(*t).name))
        .collect();
    if counts {
        let lines: Vec<String> = details
            .iter()
            .map(|d| format!("{} has {} columns.", d.summary.name.name, d.columns.len()))
            .collect();
        return Some(printable(&lines.join("\n")));
    }
    Some(details.into_iter().map(description).collect::<Vec<_>>().join("\n\n"))
}

fn overview(surveyed: &Surveyed, count: bool) -> String {
    let tables = surveyed.objects.iter().filter(|o| o.kind != ObjectKind::View).count();
    let views = surveyed.objects.len() - tables;
    let and_views = if views > 0 { format!(" and {views} views") } else { String::new() };
    let mut out = format!("The database has {tables} tables{and_views}.");
    if count {
        return out;
    }
    out.push_str("\n\n| Name | Kind | Rows |\n| --- | --- | --- |\n");
    for o in &surveyed.objects {
        let rows = if o.rows == RowCount::Unknown { String::new() } else { o.rows.to_string() };
        out.push_str(&format!("| {} | {} | {rows} |\n", cell(&o.name.name), o.kind.as_str()));
    }
    out.push_str("\nUnderstood as: what the database holds.");
    out
}

fn description(o: &ObjectDetail) -> String {
    let name = cell(&o.summary.name.name);
    let mut out = format!(
        "{} {name}, {} columns.\n\n| Column | Type | Key |\n| --- | --- | --- |\n",
        o.summary.kind.as_str(),
        o.columns.len()
    );
    for c in &o.columns {
        let mut key = Vec::new();
        if o.primary_key.contains(&c.name) {
            key.push("primary key".to_owned());
        }
        for k in o.foreign_keys.iter().filter(|k| k.columns.contains(&c.name)) {
            key.push(format!("references {}", cell(&k.target.name)));
        }
        out.push_str(&format!("| {} | {} | {} |\n", cell(&c.name), cell(&c.data_type), key.join(", ")));
    }
    out.push_str(&format!("\nUnderstood as: the columns of {name}."));
    out
}

/// Which tables have a column of that name.
fn tables_with(rest: &[&str], surveyed: &Surveyed) -> Option<String> {
    let rest: Vec<&str> = rest.iter().copied().filter(|w| !["called", "named"].contains(w)).collect();
    let wanted: Vec<String> = rest.iter().map(|w| singular(w)).collect();
    let found: Vec<String> = surveyed
        .schema
        .tables()
        .flat_map(|(id, t)| surveyed.schema.columns(id).map(move |(_, c)| (t, c)))
        .filter(|(_, c)| c.label.words == wanted || rest.concat() == c.name.to_lowercase())
        .map(|(t, c)| format!("- {}: {}", cell(&t.name.name), cell(&c.name)))
        .collect();
    (!found.is_empty()).then(|| {
        format!(
            "{}\n\nUnderstood as: the tables with a column called “{}”.",
            found.join("\n"),
            rest.join(" ")
        )
    })
}

fn cell(text: &str) -> String {
    printable(text).replace('|', "\\|").replace(['\n', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greetings_are_no_questions() {
        for text in ["", "Hello!", "Who are you?", "help", "thank you", "???"] {
            assert_eq!(read(text), Talk::About, "{text}");
        }
    }

    #[test]
    fn changes_are_told_from_questions() {
        for text in [
            "delete all customers",
            "Please remove the album X",
            "could you add a customer named Bob",
            "DROP TABLE Artist",
            "list customers from Brazil and delete them",
        ] {
            assert!(matches!(read(text), Talk::Write(_)), "{text}");
        }
        for text in [
            "add up the invoice totals",
            "which tracks are called 'Delete'",
            "How many updates are there?",
            "tracks named Love and Delete",
            "who created the playlist",
        ] {
            assert_eq!(read(text), Talk::Question, "{text}");
        }
    }
}
