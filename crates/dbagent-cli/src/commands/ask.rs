//! `dbagent ask`: one question, or a file of them.

mod batch;

use std::path::PathBuf;
use std::time::Instant;

use dbagent::text::printable;

use crate::answer;
use crate::app::{App, Running, droppable};
use crate::asking::{self, Findings, Status};
use crate::exit::{Outcome, usage};
use crate::format::{Format, RowsWriter};
use crate::input;
use crate::model::{self, ModelArgs};
use crate::out::Out;
use crate::place::{self, Access};
use crate::steps::time;

/// Ask a question; the answer comes with the steps that led to it
///
/// The answer goes to standard output, the steps to standard error. With --format csv, json, jsonl or markdown
/// the rows of the last query go with it or instead of it.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("what").args(["question", "batch"]).required(true),
    override_usage = "dbagent ask [OPTIONS] <URL> <QUESTION>...\n       dbagent ask [OPTIONS] <URL> --batch <FILE.jsonl>",
    after_long_help = "Examples:
  dbagent ask shop.db 'Which five customers spent the most?'
  dbagent ask shop.db 'Revenue per month in 2024' --format csv > revenue.csv
  dbagent ask shop.db --batch questions.jsonl --jobs 4 > answers.jsonl

Each line of a batch is {\"id\": …, \"question\": \"…\"}. Each line of its answers is {id, answer, statements,
columns, rows, complete, status, usage}; rows are those of the last query that succeeded. Status is answered,
unsure (the offline planner did not know what was meant), incomplete (a budget was used up) or error, and then
there is an object `error` with kind, message and hint. Each question is on a thread of its own. The exit code
is 0 when every line is answered."
)]
pub(crate) struct Args {
    /// The database: a URL, a file, or a name of the configuration
    #[arg(value_name = "URL")]
    place: String,
    /// The question; several words are joined, - reads it from standard input
    #[arg(value_name = "QUESTION")]
    question: Vec<String>,
    /// Answer every line of a file instead; - reads standard input
    #[arg(long, value_name = "FILE.jsonl")]
    batch: Option<PathBuf>,
    /// Questions of a batch that are answered at once; their order is kept
    #[arg(long, value_name = "N", default_value_t = 1, requires = "batch", value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: u16,
    /// What goes to standard output: the answer (table), the answer and the last rows (markdown, json, jsonl),
    /// or the last rows alone (csv)
    #[arg(long, short, value_enum, default_value_t, conflicts_with = "batch")]
    format: Format,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    access: Access,
}

pub(crate) fn run(app: &App, args: &Args) -> Outcome {
    let place = place::find(app, &args.place, &args.access)?;
    let question = match (&args.batch, args.question.as_slice()) {
        (Some(_), _) => None,
        (None, [dash]) if dash == "-" => {
            Some(input::question(&input::from_stdin("question", input::MAX_QUESTION)?)?)
        }
        (None, words) => Some(input::question(&words.join(" "))?),
    };
    let source = args.batch.as_deref().map(batch::Source::open).transpose()?;
    let mut out = app.stdout();
    Running::new()?.run(async {
        let dialect = place.dialect;
        let opening = async {
            let chosen = model::choose(app, &args.model).await?;
            Ok(asking::agent(app, place, chosen).await?)
        };
        let (agent, session) = droppable(opening).await?;
        let done = match (source, question) {
            (Some(source), _) => batch::run(app, &agent, source, usize::from(args.jobs), &mut out).await,
            (None, Some(question)) => one(app, &agent, dialect, &question, args.format, &mut out).await,
            (None, None) => Err(usage("there is no question").into()),
        };
        session.close().await;
        done
    })
}

async fn one(
    app: &App,
    agent: &dbagent::LightAgent,
    dialect: &dbagent::Dialect,
    question: &str,
    format: Format,
    out: &mut Out,
) -> Outcome {
    let started = Instant::now();
    let before = agent.metrics().summary();
    let answer = asking::ask(app, agent, dialect, &agent.new_thread(), question).await?;
    let findings = Findings::of(&answer);
    app.ui.gap(out);
    write(app, &findings, format, out)?;
    app.ui.note(&format!("{}, {}", asking::summary(agent, &before), time(started.elapsed())));
    if findings.status == Status::Incomplete {
        app.ui.always(&format!("INCOMPLETE: {}", end_text(&answer.end)));
    }
    Ok(findings.status.exit())
}

fn end_text(end: &dbagent::fact::RunEnd) -> String {
    match end {
        dbagent::fact::RunEnd::BudgetExhausted(what) => {
            format!("the run's budget was used up: {}", printable(what))
        }
        dbagent::fact::RunEnd::Stopped(why) => format!("the run was stopped: {}", printable(why)),
        _ => "the run did not end with an answer".to_owned(),
    }
}

/// Writes an answer in the form that was asked for.
fn write(app: &App, findings: &Findings, format: Format, out: &mut Out) -> Result<(), crate::exit::Failure> {
    match format {
        Format::Json | Format::Jsonl => out.line(findings.to_json(None)?)?,
        Format::Table => answer::write(&findings.text, out)?,
        Format::Markdown => {
            answer::write(&findings.text, out)?;
            if let Some(rows) = &findings.rows {
                out.line("")?;
                write_rows(rows, Format::Markdown, out)?;
            }
        }
        Format::Csv => {
            app.ui.note(findings.text.trim_end());
            match &findings.rows {
                Some(rows) => write_rows(rows, Format::Csv, out)?,
                None if findings.not_kept.is_some() => {}
                None => {
                    app.ui
                        .always("There are no rows: no query was needed for the answer, or none succeeded.");
                }
            }
        }
    }
    if let Some(gone) = &findings.not_kept
        && format != Format::Table
    {
        app.ui.always(&format!("INCOMPLETE: {gone}."));
    }
    if let Some(rows) = &findings.rows
        && format != Format::Table
        && !rows.ending.is_complete()
    {
        app.ui.always("INCOMPLETE: more rows exist than the agent asked for. `dbagent run` with its statement and --all gives all of them.");
    }
    out.flush()
}

fn write_rows(
    rows: &dbagent::artifact::RowsArtifact,
    format: Format,
    out: &mut Out,
) -> Result<(), crate::exit::Failure> {
    let mut writer = RowsWriter::new(format, out);
    for batch in &rows.batches {
        writer.batch(batch.clone())?;
    }
    writer.finish(&rows.schema, &rows.ending).map(|_| ())
}
