//! `dbagent dialects`: the kinds of databases in this build, from what they declare of themselves.

use dbagent::text::printable;
use dbagent::{Dialect, Error, Registry};
use serde_json::{Value, json};

use crate::app::App;
use crate::exit::{Exit, Outcome, usage};
use crate::format::{Column, Format, Grid, Layout, Text, safe_json};
use crate::mask::mask_name;

/// List the kinds of databases in this build and what each can do
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these, by their ids
    #[arg(value_name = "DIALECT")]
    ids: Vec<String>,
    /// How the list is written
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(app: &App, args: &Args) -> Outcome {
    let registry = Registry::collected().map_err(dbagent::Error::from)?;
    let dialects = chosen(&registry, &args.ids)?;
    let mut out = app.stdout();
    match args.format {
        Format::Json => {
            let all: Vec<Value> = dialects.iter().map(|d| as_json(d)).collect();
            out.line(safe_json(&Value::Array(all).to_string()))?;
        }
        Format::Jsonl => {
            for dialect in dialects {
                out.line(safe_json(&as_json(dialect).to_string()))?;
            }
        }
        Format::Csv => {
            out.line("dialect,what,value")?;
            for dialect in dialects {
                for (what, value) in figures(dialect) {
                    out.line(format!("{},\"{}\",\"{}\"", dialect.id(), what, value.replace('"', "\"\"")))?;
                }
            }
        }
        Format::Table => {
            grid(&dialects).write(&mut out, Layout::Table)?;
        }
        Format::Markdown => {
            grid(&dialects).write(&mut out, Layout::Markdown)?;
        }
    }
    out.flush()?;
    if registry.ids().is_empty() {
        app.ui.warn("this build has no dialect; build with a feature such as `sqlite`");
    }
    Ok(Exit::Done)
}

/// Those of the given ids, in that order; all of them without any.
fn chosen(registry: &Registry, ids: &[String]) -> Result<Vec<&'static Dialect>, Error> {
    if ids.is_empty() {
        return Ok(registry.iter().collect());
    }
    let one = |id: &String| {
        registry.get(id).ok_or_else(|| {
            usage(format!("this build has no dialect {:?}", mask_name(&printable(id))))
                .hint(format!("it has {}", registry.ids().join(", ")))
        })
    };
    ids.iter().map(one).collect()
}

/// What is known of a dialect, in a fixed order.
fn figures(dialect: &Dialect) -> Vec<(&'static str, String)> {
    let schemes: Vec<String> = dialect.url_schemes().iter().map(|s| format!("{s}://")).collect();
    let keys: Vec<&str> = dialect.known_credentials().iter().map(|k| k.name).collect();
    let mut figures = vec![
        ("id", dialect.id().to_owned()),
        ("URL", schemes.join(" ")),
        ("default port", dialect.port().map_or_else(|| "none".to_owned(), |p| p.to_string())),
        ("language", dialect.query_language().to_owned()),
        ("objects", dialect.nouns().plural.to_owned()),
        ("credential keys", if keys.is_empty() { "none".to_owned() } else { keys.join(", ") }),
    ];
    figures.extend(dialect.can().table().into_iter().map(|(what, support)| (what, support.to_string())));
    figures.push(("reads at once on one session", dialect.can().max_concurrent_reads.to_string()));
    figures
}

/// One column a dialect.
fn grid(dialects: &[&'static Dialect]) -> Grid {
    let columns = dialects.iter().map(|d| Column::left(d.display_name()));
    let mut grid = Grid::new(std::iter::once(Column::left("")).chain(columns).collect());
    let all: Vec<_> = dialects.iter().map(|d| figures(d)).collect();
    for (i, (what, _)) in all.first().into_iter().flatten().enumerate() {
        let values = all.iter().map(|f| f.get(i).map(|(_, value)| value.clone()).unwrap_or_default());
        grid.row(std::iter::once(Text::of(what)).chain(values.map(Text::of)));
    }
    grid
}

fn as_json(dialect: &Dialect) -> Value {
    let capabilities: serde_json::Map<String, Value> = dialect
        .can()
        .table()
        .into_iter()
        .map(|(what, support)| (what.to_owned(), json!(support.to_string())))
        .collect();
    json!({
        "id": dialect.id(),
        "name": dialect.display_name(),
        "schemes": dialect.url_schemes(),
        "default_port": dialect.port(),
        "language": dialect.query_language(),
        "objects": dialect.nouns().plural,
        "credential_keys": dialect.known_credentials().iter().map(|k| k.name).collect::<Vec<_>>(),
        "capabilities": capabilities,
        "max_concurrent_reads": dialect.can().max_concurrent_reads,
    })
}
