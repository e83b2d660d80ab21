//! What the planner says when it does not answer: why, what fits, and how a language model is connected.

use dbagent_core::catalog::ObjectSummary;
use dbagent_core::text::printable;

use crate::meaning::Unsure;
use crate::schema::{Schema, TableId};

/// How to connect a language model, in two lines that hold for the library and the command line.
const CONNECT: &str = "A language model can take on questions like this. Command line: `--model ollama:qwen3` (local, no key), or in \
`dbagent.toml`: `model = \"openai:gpt-5\"`.\nLibrary: give the builder a model with `.model(…)`; nothing else changes.";

/// Most tables that are shown.
const MAX_TABLES: usize = 8;
/// Most columns of each.
const MAX_COLUMNS: usize = 12;

/// Says why the question is not answered and what may fit.
pub(crate) fn unsure(
    schema: Option<&Schema>,
    objects: &[ObjectSummary],
    why: &Unsure,
    named: &[TableId],
) -> String {
    let mut out = format!("I am not sure, so I do not guess: {}.\n", why.reason.trim_end_matches('.'));
    if why.tables.is_empty() && named.is_empty() {
        // Nothing of the question fits: it may not be about the database at all.
        out.push_str(
            "I am the offline planner of dbagent, a set of rules and no language model; I answer questions about this database \
             only.\n",
        );
    }
    let mut tables: Vec<TableId> = why.tables.iter().copied().collect();
    tables.extend(named.iter().filter(|t| !why.tables.contains(t)));
    tables.truncate(MAX_TABLES);
    match schema {
        Some(schema) if !tables.is_empty() => {
            out.push_str("\nWhat may fit:\n");
            for id in tables {
                let table = schema.table(id);
                let mut columns: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
                let more = columns.len().saturating_sub(MAX_COLUMNS);
                columns.truncate(MAX_COLUMNS);
                let more = if more > 0 { format!(", and {more} more") } else { String::new() };
                out.push_str(&format!("- {}: {}{more}\n", table.name.name, columns.join(", ")));
            }
        }
        _ if !objects.is_empty() => {
            let names: Vec<String> = objects.iter().map(|o| o.name.name.clone()).take(40).collect();
            let more = objects.len().saturating_sub(names.len());
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            out.push_str(&format!("\nThe database has: {}{more}.\n", names.join(", ")));
        }
        _ => {}
    }
    out.push('\n');
    out.push_str(CONNECT);
    printable(&out)
}

/// What the planner says of itself.
pub(crate) fn about() -> String {
    format!(
        "I am the offline planner of dbagent: a fixed set of rules, not a language model. I read the schema, turn plain \
         English questions about the data into one query, run it and say how I understood it: lists, counts, sums, \
         averages, the highest and lowest, top lists, groups, filters by values, numbers and dates. I only read.\n\n{CONNECT}"
    )
}

/// What it says when it is asked to change something.
pub(crate) fn only_reads(what: &str) -> String {
    format!(
        "I only read: I will not {what} anything, and I passed nothing to the database. Ask what the data says, or make the \
         change with your own tools.\n\n{CONNECT}"
    )
}
