//! `dbagent judge`: what the guard says of a statement, or of every row of a corpus. Nothing is ever run.

use std::path::{Path, PathBuf};

use dbagent::guard::corpus::{self, Judged, Report, RowOutcome, Runner};
use dbagent::guard::{Judgement, Parsed, Resolution, judge};
use dbagent::guardrails::StatementLimits;
use dbagent::request::Params;
use dbagent::session::{ParsePool, Verdict};
use dbagent::{
    CallContext, Dialect, Error, ErrorKind, GuardedSession, Param, Policy, Refusal, Registry, Request,
    Settings,
};
use serde_json::{Value, json};

use crate::app::{App, Running};
use crate::caret;
use crate::exit::{Exit, Failure, Outcome, usage};
use crate::format::{Format, only, safe_json};
use crate::input;
use crate::mask::{mask_name, mask_user_info, shown_path};
use crate::out::Out;
use crate::place::{self, Access};
use crate::statement;

/// Say what the guard makes of a statement, or of a corpus of statements; nothing is run
///
/// With --dialect the judge works from the grammar alone; with --url it also resolves names in the live
/// catalogue, under the database's policy. The exit code is 0 when the statement is cleared (or all rows
/// agree), else 1.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("what").args(["statement", "corpus"]).required(true),
    group = clap::ArgGroup::new("against").args(["dialect", "url"]).required(true),
    override_usage = "dbagent judge [OPTIONS] <--dialect <ID>|--url <URL>> <STATEMENT>\n       \
        dbagent judge [OPTIONS] <--dialect <ID>|--url <URL>> --corpus <FILE.jsonl>",
    after_long_help = "Examples:
  dbagent judge --dialect sqlite 'DELETE FROM invoice'
  dbagent judge --url shop.db - < report.sql
  dbagent judge --dialect sqlite --corpus statements.jsonl",
)]
pub(crate) struct Args {
    /// The statement; - reads it from standard input
    #[arg(value_name = "STATEMENT")]
    statement: Option<String>,
    /// Judge by the grammar of this dialect, without a database
    #[arg(long, value_name = "ID")]
    dialect: Option<String>,
    /// Judge against the live catalogue of this database
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Judge every row of a corpus: one JSON object a line with id, statement, verdict (allow or deny), why
    #[arg(long, value_name = "FILE.jsonl")]
    corpus: Option<PathBuf>,
    /// How verdicts are written: table for people, json or jsonl for programs
    #[arg(long, short, default_value = "table", value_parser = only(VERDICTS))]
    format: Format,
    #[command(flatten)]
    access: Access,
}

/// The forms of a verdict.
const VERDICTS: &[Format] = &[Format::Table, Format::Json, Format::Jsonl];
/// The largest corpus.
const MAX_CORPUS: u64 = 256 << 20;

pub(crate) fn run(app: &App, args: &Args) -> Outcome {
    let as_json = args.format != Format::Table;
    let rows = args.corpus.as_deref().map(read_corpus).transpose()?;
    let text = match args.statement.as_deref() {
        Some("-") => Some(input::from_stdin("statement", input::MAX_STATEMENT)?),
        other => other.map(str::to_owned),
    };
    let mut out = app.stdout();
    Running::new()?.run(async {
        let call = statement::call();
        let bench = crate::app::droppable(async { Ok(Bench::open(app, args, &call).await?) }).await?;
        let exit = match (rows, text) {
            (Some(rows), _) => judge_corpus(app, &bench, &rows, as_json, &mut out, &call).await?,
            (None, Some(text)) => judge_one(app, &bench, &text, as_json, &mut out, &call).await?,
            (None, None) => return Err(usage("there is nothing to judge").into()),
        };
        out.flush()?;
        Ok(exit)
    })
}

fn no_dialect(id: &str, registry: &Registry) -> Error {
    let ids = registry.ids();
    let known = if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
    // What was given may be a URL with a password.
    let e = usage(format!("there is no dialect {:?} in this build", mask_name(id))).with("registered", known);
    match dbagent::text::near_misses(id, ids.iter().copied(), 1).first() {
        _ if id.contains(['/', ':']) => e.hint("a database is named by --url"),
        Some(near) => e.hint(format!("did you mean {near}?")),
        None => e.hint(format!("build with the feature `{id}`, if that is a dialect")),
    }
}

/// What judges: a grammar alone, or a session.
enum Bench {
    Offline { dialect: &'static Dialect, parser: ParsePool },
    Live(GuardedSession),
}

impl Bench {
    async fn open(app: &App, args: &Args, call: &CallContext) -> Result<Self, Error> {
        if let Some(url) = &args.url {
            let place = place::find(app, url, &args.access)?;
            return Ok(Self::Live(GuardedSession::open(place.dialect, place.target, call).await?));
        }
        let id = args.dialect.as_deref().unwrap_or_default();
        let registry = Registry::collected()?;
        let dialect = registry.get(id).ok_or_else(|| no_dialect(id, &registry))?;
        let parser =
            ParsePool::new(dialect, dialect.parse_context(StatementLimits::default(), Settings::new()));
        Ok(Self::Offline { dialect, parser })
    }

    fn dialect(&self) -> &'static Dialect {
        match self {
            Self::Offline { dialect, .. } => dialect,
            Self::Live(session) => session.dialect(),
        }
    }

    /// What the grammar and the judge say. The text has no values for its parameters; that is no reason to
    /// refuse it.
    async fn judge(&self, request: Request, call: &CallContext) -> Result<(Parsed, Judgement), Error> {
        match self {
            Self::Offline { dialect, parser } => {
                let parsed = parser.parse(&request, call).await?;
                let judgement = judge(&parsed, &Resolution::offline(), &Policy::default(), dialect.case());
                Ok((parsed, judgement))
            }
            Self::Live(session) => {
                let parsed = session.parse(&request, call).await?;
                let wanted = &parsed.parameters;
                let params = if wanted.named.is_empty() {
                    Params::Positional(vec![Param::Null; wanted.positional])
                } else {
                    Params::Named(wanted.named.iter().map(|name| (name.clone(), Param::Null)).collect())
                };
                let judgement = match session.judge(request.with_params(params), None, call).await? {
                    Verdict::Cleared(_) => Judgement::Read,
                    Verdict::Proposed(_) => Judgement::Write,
                    Verdict::Refused(refusal) => Judgement::Refused(refusal),
                };
                Ok((parsed, judgement))
            }
        }
    }
}

/// Says that a statement which may run would fail, since what it reads is not there.
async fn unknown(
    app: &App,
    session: &GuardedSession,
    parsed: &Parsed,
    call: &CallContext,
) -> Result<(), Error> {
    let names: Vec<_> = parsed.objects.iter().map(|o| o.name.clone()).collect();
    if names.is_empty() {
        return Ok(());
    }
    let missing = unique(session.describe(&names, call).await?.missing.iter().map(ToString::to_string));
    if !missing.is_empty() {
        let noun = session.dialect().nouns().singular;
        let missing = missing.join(", ");
        app.ui.warn(&format!("the database has no {noun} {missing}; the statement may run, and will fail"));
    }
    Ok(())
}

async fn judge_one(
    app: &App,
    bench: &Bench,
    text: &str,
    as_json: bool,
    out: &mut Out,
    call: &CallContext,
) -> Outcome {
    let request = statement::request(bench.dialect(), text, Params::None);
    let (parsed, judgement) = bench.judge(request, call).await?;
    if let (Bench::Live(session), Judgement::Read) = (bench, &judgement) {
        unknown(app, session, &parsed, call).await?;
    }
    if as_json {
        out.line(safe_json(&verdict_json(bench.dialect(), text, &parsed, &judgement).to_string()))?;
    } else {
        for line in verdict_lines(text, &parsed, &judgement, out) {
            out.line(line)?;
        }
    }
    Ok(if judgement == Judgement::Read { Exit::Done } else { Exit::Negative })
}

const WRITE: &str =
    "a write: a person would have to approve it, and a database that is open for reading refuses it";

fn verdict_lines(text: &str, parsed: &Parsed, judgement: &Judgement, out: &Out) -> Vec<String> {
    let paint = out.paint;
    let mut lines = match judgement {
        Judgement::Read => vec![format!("{} a pure read", paint.green("cleared:"))],
        Judgement::Write => vec![format!("{} {WRITE}", paint.yellow("proposed:"))],
        Judgement::Refused(refusal) => return statement::refusal_lines(paint, out.width, refusal, text),
    };
    let (printable, mask_urls) = (dbagent::text::printable, dbagent::text::mask_urls);
    let list = |title: &str, names: Vec<String>| {
        (!names.is_empty())
            .then(|| format!("  {title} {}", printable(&mask_urls(&names.join(", "))).replace('\n', " ")))
    };
    let objects =
        parsed.objects.iter().map(|o| format!("{}{}", o.name, if o.written { " (written)" } else { "" }));
    lines.extend(list("uses", unique(objects)));
    lines.extend(list("calls", unique(parsed.functions.iter().map(|f| f.name.clone()))));
    lines
}

fn unique(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for name in names {
        if !out.contains(&name) {
            out.push(name);
        }
    }
    out
}

fn verdict_json(dialect: &Dialect, text: &str, parsed: &Parsed, judgement: &Judgement) -> Value {
    let (verdict, refusal) = match judgement {
        Judgement::Read => ("cleared", Value::Null),
        Judgement::Write => ("proposed", Value::Null),
        Judgement::Refused(refusal) => ("refused", refusal_json(refusal, text)),
    };
    json!({
        "verdict": verdict,
        "dialect": dialect.id(),
        "class": parsed.class,
        "effects": parsed.effects,
        "objects": unique(parsed.objects.iter().map(|o| o.name.to_string())),
        "functions": unique(parsed.functions.iter().map(|f| f.name.clone())),
        "refusal": refusal,
    })
}

fn refusal_json(refusal: &Refusal, text: &str) -> Value {
    let place = refusal.span.map(|span| {
        let (line, column) = caret::position(text, span.start);
        json!({"start": span.start, "end": span.end, "line": line, "column": column})
    });
    json!({
        "code": refusal.rule.code(),
        "rule": refusal.rule.name(),
        "message": mask_user_info(&refusal.message),
        "advice": refusal.advice,
        "place": place,
    })
}

fn read_corpus(path: &Path) -> Result<Vec<corpus::Row>, Error> {
    let failed = |e: std::io::Error| {
        Error::new(ErrorKind::Io, format!("the corpus cannot be read: {}", input::reason(&e)))
            .with("file", shown_path(path))
            .source(e)
    };
    if std::fs::metadata(path).map_err(failed)?.len() > MAX_CORPUS {
        return Err(Error::new(ErrorKind::Io, "the corpus is too large").with("file", shown_path(path)));
    }
    let bytes = std::fs::read(path).map_err(failed)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Error::new(ErrorKind::Io, "the corpus is not UTF-8 text").with("file", shown_path(path))
    })?;
    corpus::read(&text).map_err(|e| e.with("file", shown_path(path)))
}

async fn judge_corpus(
    app: &App,
    bench: &Bench,
    rows: &[corpus::Row],
    as_json: bool,
    out: &mut Out,
    call: &CallContext,
) -> Outcome {
    let runner = match bench {
        Bench::Offline { dialect, .. } => {
            Runner::offline(dialect, Policy::default(), StatementLimits::default())
        }
        Bench::Live(session) => Runner::live(session),
    };
    let busy = app.ui.busy_beside(out, "judging");
    let mut report = Report::default();
    for (i, row) in rows.iter().enumerate() {
        busy.update(&format!("judging row {} of {}", i + 1, rows.len()));
        let judged = tokio::select! {
            judged = runner.judge(row, call) => judged,
            () = crate::app::interrupted() => return Err(Failure::Said(Exit::Cancelled)),
        };
        report.add(row.clone(), judged);
        if let Some(outcome) = report.outcomes().last().filter(|o| !o.agrees()) {
            out.line(if as_json {
                safe_json(&outcome_json(outcome).to_string())
            } else {
                dbagent::text::printable(&outcome.to_string()).replace('\n', " ")
            })?;
        }
    }
    drop(busy);
    let totals = report.totals();
    let disagree = totals.disagreements();
    let agree = totals.rows - disagree;
    app.ui.detail(&totals.to_string());
    out.line(if as_json {
        json!({"rows": totals.rows, "agree": agree, "disagree": disagree}).to_string()
    } else {
        format!("{} rows, {agree} agree, {disagree} disagree", totals.rows)
    })?;
    Ok(if disagree == 0 { Exit::Done } else { Exit::Negative })
}

fn outcome_json(outcome: &RowOutcome) -> Value {
    let row = &outcome.row;
    let (got, reason) = match &outcome.judged {
        Judged::Cleared => ("cleared", Value::Null),
        Judged::Proposed => ("proposed", Value::Null),
        Judged::Refused(refusal) => ("refused", json!(format!("{}: {}", refusal.rule, refusal.message))),
        Judged::Failed(e) => ("failed", json!(e.to_string())),
    };
    json!({
        "id": row.id,
        "line": row.line,
        "expected": row.expected.to_string(),
        "got": got,
        "reason": reason,
        "why": row.why,
    })
}
