//! Words around results: the answer for a person and the line that says how the question was understood.

mod figures;
mod understood;
mod unsure;

use dbagent_core::observe::ReadTable;
use dbagent_core::text::printable;

use crate::compile::Taken;
use crate::intent::Dir;
use crate::meaning::{Form, Intent};
use crate::schema::Schema;
use figures::cell;

pub(crate) use understood::understood;
pub(crate) use unsure::{about, only_reads, unsure};

/// Most rows that an answer shows.
const MAX_ROWS: usize = 100;

/// A result as the tool showed it.
pub(crate) struct Outcome {
    pub(crate) table: ReadTable,
    /// The first line of the observation, where it says that there is more.
    pub(crate) incomplete: Option<String>,
}

/// Writes the answer to a question.
pub(crate) fn write(schema: &Schema, intent: &Intent, outcome: &Outcome, taken: &Taken) -> String {
    let mut out = body(schema, intent, outcome);
    out.push_str("\n\n");
    out.push_str(&understood(schema, intent, taken));
    out
}

fn body(schema: &Schema, intent: &Intent, outcome: &Outcome) -> String {
    let rows = &outcome.table.rows;
    let what = understood::subject(schema, intent);
    match intent.form {
        Form::Exists => {
            let Some(first) = rows.first() else { return format!("No: there is no such row ({what}).") };
            let line = row_text(first);
            return match rows.len() {
                1 if outcome.incomplete.is_none() => format!("Yes: {line}."),
                n => format!(
                    "Yes, {}{n}:\n\n{}",
                    if outcome.incomplete.is_some() { "at least " } else { "" },
                    table(outcome)
                ),
            };
        }
        Form::Share => {
            let value = rows.first().and_then(|r| r.first()).cloned().flatten();
            return match value {
                Some(v) => format!("{} % ({what}).", cell(&v)),
                None => format!("There is nothing to take a share of ({what})."),
            };
        }
        Form::Versus => return versus(intent, outcome),
        Form::Rows | Form::Count | Form::MeanOfGroups => {}
    }
    if rows.is_empty() {
        return format!("Nothing was found ({what}).");
    }
    let scalar = rows.len() == 1 && outcome.table.columns.len() == 1;
    if let (true, Some(first)) = (scalar, rows.first()) {
        let (name, _) = outcome.table.columns.first().cloned().unwrap_or_default();
        let value = first.first().cloned().flatten();
        return match value {
            Some(v) => format!("{}: {}.", heading(&name), cell(&v)),
            None => format!("{}: there is no value, because no row fits.", heading(&name)),
        };
    }
    if let (1, Some(first)) = (rows.len(), rows.first()) {
        return format!("{}.", named_row(outcome, first));
    }
    table(outcome)
}

/// `Iron Maiden (number of albums: 21)`.
fn named_row(outcome: &Outcome, row: &[Option<String>]) -> String {
    let cells: Vec<String> = outcome
        .table
        .columns
        .iter()
        .zip(row)
        .map(|((name, _), value)| format!("{}: {}", heading(name), shown(value.as_deref())))
        .collect();
    cells.join(", ")
}

fn row_text(row: &[Option<String>]) -> String {
    row.iter().map(|v| shown(v.as_deref())).collect::<Vec<_>>().join(", ")
}

fn versus(intent: &Intent, outcome: &Outcome) -> String {
    let rows = &outcome.table.rows;
    let figure = |row: &Vec<Option<String>>| row.last().cloned().flatten();
    let name = |row: &Vec<Option<String>>| shown(row.first().and_then(|v| v.as_deref()));
    let more = if intent.rank.is_some_and(|r| !r.descending) { "fewer" } else { "more" };
    _ = Dir::Most;
    match rows.as_slice() {
        [] => "Neither has any.".to_owned(),
        [only] => {
            format!("{} has {more}: {}. The other has none.", name(only), shown(figure(only).as_deref()))
        }
        [first, second, ..] if figure(first) == figure(second) => {
            format!("Both are equal.\n\n{}", table(outcome))
        }
        [first, ..] => format!("{} has {more}.\n\n{}", name(first), table(outcome)),
    }
}

/// A heading for people.
pub(crate) fn heading(name: &str) -> String {
    let text = printable(name).replace('_', " ").replace(['\n', '\t'], " ");
    let mut chars = text.chars();
    chars.next().map(|c| c.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn shown(value: Option<&str>) -> String {
    value.map_or_else(|| "(none)".to_owned(), cell)
}

/// The rows as a Markdown table, with a note where there are more.
fn table(outcome: &Outcome) -> String {
    let escape = |text: String| text.replace('\\', "\\\\").replace('|', "\\|").replace(['\n', '\t'], " ");
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut out = line(outcome.table.columns.iter().map(|(n, _)| escape(heading(n))).collect());
    out.push_str(&line(vec!["---".to_owned(); outcome.table.columns.len()]));
    for row in outcome.table.rows.iter().take(MAX_ROWS) {
        out.push_str(&line(row.iter().map(|v| escape(shown(v.as_deref()))).collect()));
    }
    let count = outcome.table.rows.len();
    let note = match (&outcome.incomplete, count > MAX_ROWS) {
        (Some(line), _) => {
            format!("\nThis is not all: {}. Shown: {}.", line.trim_end_matches('.'), count.min(MAX_ROWS))
        }
        (None, true) => format!("\n{count} rows in all; the first {MAX_ROWS} are shown."),
        (None, false) => format!("\n{count} rows."),
    };
    out.push_str(&note);
    out
}
