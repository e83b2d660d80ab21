//! `dbagent schema`: what a database holds.

use dbagent::catalog::{ObjectSummary, Page};
use dbagent::text::printable;
use dbagent::{CallContext, Error, ErrorKind, GuardedSession, ObjectName};

use crate::app::{App, Running, cancellable, droppable};
use crate::describe;
use crate::exit::{Exit, Failure, Outcome, usage};
use crate::format::{Format, Layout, NO_ROWS, only, safe_json};
use crate::mask::mask_name;
use crate::out::Out;
use crate::place::{self, Access};
use crate::statement;

/// Show what a database holds: its tables, or the columns, keys and indexes of some of them
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The database: a URL, a file, or a name of the configuration
    #[arg(value_name = "URL")]
    place: String,
    /// What to describe; a name with a * or ? lists what matches
    #[arg(value_name = "TABLE")]
    names: Vec<String>,
    /// How it is written
    #[arg(long, short, default_value = "table", value_parser = only(NO_ROWS))]
    format: Format,
    #[command(flatten)]
    access: Access,
}

/// Objects that are asked for at once.
const PAGE: usize = 1_000;

pub(crate) fn run(app: &App, args: &Args) -> Outcome {
    let place = place::find(app, &args.place, &args.access)?;
    let mut out = app.stdout();
    Running::new()?.run(async {
        let call = statement::call();
        let opening = async { Ok(GuardedSession::open(place.dialect, place.target, &call).await?) };
        let session = droppable(opening).await?;
        let (patterns, names): (Vec<&String>, Vec<&String>) =
            args.names.iter().partition(|name| name.contains(['*', '?']));
        let work = async {
            match (patterns.as_slice(), names.as_slice()) {
                ([], []) => list(&session, None, args.format, &mut out, &call).await,
                ([pattern], []) => list(&session, Some(pattern), args.format, &mut out, &call).await,
                ([], names) => describe(&session, names, args.format, &mut out, &call).await,
                _ => Err(usage("one pattern lists, several names describe; not both at once").into()),
            }
        };
        let shortened = cancellable(&call, work).await?;
        out.flush()?;
        app.ui.shortened(shortened);
        session.close().await;
        Ok(Exit::Done)
    })
}

/// Writes the list of objects; how many values were shortened.
///
/// # Errors
/// What the dialect says.
pub(crate) async fn list(
    session: &GuardedSession,
    pattern: Option<&str>,
    format: Format,
    out: &mut Out,
    call: &CallContext,
) -> Result<usize, Failure> {
    let objects = all(session, pattern, call).await?;
    match format {
        Format::Json => out.line(safe_json(&json(&objects)?)).map(|()| 0),
        Format::Jsonl => objects.iter().try_for_each(|o| out.line(safe_json(&json(o)?))).map(|()| 0),
        Format::Table if objects.is_empty() => {
            let which = pattern.map(|p| format!(" like {}", printable(p))).unwrap_or_default();
            out.line(format!("There are no {}{which} here.", session.dialect().nouns().plural)).map(|()| 0)
        }
        format => {
            let layout = if format == Format::Markdown { Layout::Markdown } else { Layout::Table };
            describe::list(&objects, session.dialect().nouns()).write(out, layout)
        }
    }
}

/// Every object that the policy lets anyone see.
///
/// # Errors
/// What the dialect says.
pub(crate) async fn all(
    session: &GuardedSession,
    pattern: Option<&str>,
    call: &CallContext,
) -> Result<Vec<ObjectSummary>, Error> {
    let mut objects = Vec::new();
    loop {
        let page = session.objects(pattern, Page { offset: objects.len(), size: PAGE }, call).await?;
        let done = page.objects.is_empty();
        objects.extend(page.objects);
        if done || objects.len() >= page.total {
            return Ok(objects);
        }
    }
}

/// Describes objects by name; those that do not exist are an error with the nearest names.
///
/// # Errors
/// What the dialect says, and names that mean nothing.
pub(crate) async fn describe(
    session: &GuardedSession,
    names: &[&String],
    format: Format,
    out: &mut Out,
    call: &CallContext,
) -> Result<usize, Failure> {
    let wanted: Vec<ObjectName> =
        names.iter().map(|n| ObjectName::parse(n).unwrap_or_else(|| ObjectName::new(n.as_str()))).collect();
    let described = session.describe(&wanted, call).await?;
    let mut shortened = 0;
    match format {
        Format::Json => out.line(safe_json(&json(&described.found)?))?,
        Format::Jsonl => described.found.iter().try_for_each(|o| out.line(safe_json(&json(o)?)))?,
        format => {
            let layout = if format == Format::Markdown { Layout::Markdown } else { Layout::Table };
            for (i, object) in described.found.iter().enumerate() {
                if i > 0 {
                    out.line("")?;
                }
                shortened += describe::detail(object, layout, out)?;
            }
        }
    }
    out.flush()?;
    let Some(missing) = described.missing.first() else { return Ok(shortened) };
    let existing = all(session, None, call).await?;
    let existing: Vec<String> = existing.iter().map(|o| o.name.to_string()).collect();
    let near = dbagent::text::near_misses(&missing.to_string(), existing.iter().map(String::as_str), 3);
    let noun = session.dialect().nouns().singular;
    let missing: Vec<String> = described.missing.iter().map(|name| mask_name(&name.to_string())).collect();
    let e = Error::new(ErrorKind::UnknownObject, format!("there is no {noun} {}", missing.join(", ")));
    Err(match near.as_slice() {
        [] => e.hint("without a name all are listed"),
        near => e.hint(format!("did you mean {}?", near.join(" or "))),
    }
    .into())
}

fn json(value: &impl serde::Serialize) -> Result<String, Error> {
    serde_json::to_string(value)
        .map_err(|e| Error::new(ErrorKind::Internal, "a description cannot be written as JSON").source(e))
}
