//! `dbagent run`: a person's own statement through the same guard.

use dbagent::GuardedSession;

use crate::app::{App, Running, droppable};
use crate::exit::{Outcome, usage};
use crate::format::Format;
use crate::input;
use crate::place::{self, Access};
use crate::statement::{self, Wanted};

/// Run a statement of your own, through the same guard as a model's
///
/// Only reads run. What is refused says which rule refused it, where, and what to do instead.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Examples:
  dbagent run shop.db 'SELECT * FROM customer WHERE country = ?' --param Norway
  dbagent run shop.db 'SELECT * FROM invoice' --all --format csv > invoices.csv
  echo 'SELECT 1' | dbagent run shop.db -")]
pub(crate) struct Args {
    /// The database: a URL, a file, or a name of the configuration
    #[arg(value_name = "URL")]
    place: String,
    /// The statement; - reads it from standard input, which holds one statement
    #[arg(value_name = "STATEMENT")]
    statement: String,
    /// A value for a parameter: VALUE by position, 3=VALUE by number, name=VALUE by name
    ///
    /// A value is JSON where it can be read as such: 5, "5", true, null, {"$date": "2024-05-01"},
    /// {"$decimal": "1.50"}, {"$bytes": "base64"}, {"$uuid": "…"}. Anything else is a text.
    #[arg(long = "param", short = 'p', value_name = "VALUE", allow_hyphen_values = true)]
    params: Vec<String>,
    /// Most rows; more are marked INCOMPLETE on standard error
    #[arg(long, value_name = "ROWS", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
    /// Every row, however many, streamed; with --format csv, jsonl or json
    ///
    /// The statement may take 600 seconds then, unless --timeout says otherwise, and is not refused because of
    /// the estimated number of its rows.
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// How rows are written
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    access: Access,
}

/// Seconds of a statement whose every row is wanted.
const ALL_TIMEOUT_S: u64 = 600;

pub(crate) fn run(app: &App, args: &Args) -> Outcome {
    if args.all && matches!(args.format, Format::Table | Format::Markdown) {
        return Err(usage("--all streams rows, which a table cannot")
            .hint("add --format csv, jsonl or json, or use --limit")
            .into());
    }
    let mut place = place::find(app, &args.place, &args.access)?;
    let guardrails = &mut place.target.guardrails;
    if args.all {
        guardrails.explain_row_threshold = u64::MAX;
        guardrails.query_timeout_s =
            args.access.timeout.unwrap_or(ALL_TIMEOUT_S.max(guardrails.query_timeout_s));
    }
    let params = crate::params::read(&args.params)?;
    let text = if args.statement == "-" {
        input::from_stdin("statement", input::MAX_STATEMENT)?
    } else {
        args.statement.clone()
    };
    let mut out = app.stdout();
    Running::new()?.run(async {
        let call = statement::call();
        let opening = async { Ok(GuardedSession::open(place.dialect, place.target, &call).await?) };
        let session = droppable(opening).await?;
        let request = statement::request(session.dialect(), &text, params);
        let limit = (!args.all).then_some(args.limit);
        let done =
            statement::execute(app, &session, request, Wanted { limit, format: args.format }, &mut out).await;
        session.close().await;
        done
    })
}
