//! A person's own statement, on the same road as a model's: judge → estimate → read.

use std::time::{Duration, Instant};

use dbagent::guard::Span;
use dbagent::request::Params;
use dbagent::session::Verdict;
use dbagent::text::thousands;
use dbagent::{CallContext, Dialect, Error, ErrorKind, GuardedSession, Refusal, Request, Rule};

use crate::app::{App, cancellable};
use crate::caret;
use crate::exit::{Exit, Failure, Outcome};
use crate::format::{Format, RowsWriter};
use crate::mask::mask_user_info;
use crate::out::Out;
use crate::steps::time;
use crate::width::{counted, wrap};

/// The longest that a command may take altogether; statements have limits of their own.
const WHOLE: Duration = Duration::from_secs(24 * 3600);

/// A call that nobody has cancelled yet.
pub(crate) fn call() -> CallContext {
    CallContext::within(WHOLE)
}

/// The request that a text means: JSON where the dialect has verbs of its own, else its own language.
pub(crate) fn request(dialect: &Dialect, text: &str, params: Params) -> Request {
    let request = if dialect.own_verbs().is_empty() { Request::text(text) } else { Request::json(text) };
    request.with_params(params)
}

/// How a statement's rows are wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    /// Most rows; all of them when absent.
    pub(crate) limit: Option<u64>,
    /// In which form.
    pub(crate) format: Format,
}

/// Runs a statement and writes its rows. Ctrl-C cancels it, in the database too.
pub(crate) async fn execute(
    app: &App,
    session: &GuardedSession,
    request: Request,
    wanted: Wanted,
    out: &mut Out,
) -> Outcome {
    let call = call();
    let statement = request.as_str().to_owned();
    let done = cancellable(&call, run(app, session, request, wanted, out, &call)).await;
    match done {
        Err(Failure::Error(e)) if e.position().is_some() => {
            app.ui.error(&e);
            let at = e.position().unwrap_or_default();
            let room = app.ui.width.unwrap_or(100).saturating_sub(4);
            let shown = caret::lines(&statement, Span::new(at, at), room);
            app.ui.always_lines(&shown.into_iter().map(|line| format!("  {line}")).collect::<Vec<_>>());
            Ok(Exit::of(e.kind()))
        }
        done => done,
    }
}

async fn run(
    app: &App,
    session: &GuardedSession,
    request: Request,
    wanted: Wanted,
    out: &mut Out,
    call: &CallContext,
) -> Outcome {
    let statement = request.as_str().to_owned();
    let busy = match wanted.format {
        Format::Table | Format::Markdown => app.ui.busy("running"),
        _ => app.ui.busy_beside(out, "running"),
    };
    let cleared = match session.judge(request, wanted.limit, call).await? {
        Verdict::Cleared(cleared) => cleared,
        Verdict::Refused(refusal) => return Ok(refused(app, &refusal, &statement)),
        Verdict::Proposed(_) => {
            let refusal =
                Refusal::new(Rule::Write, "the statement changes data, and this command only reads");
            return Ok(refused(app, &refusal, &statement));
        }
    };
    let estimate = match session.estimate(&cleared, call).await? {
        Ok(estimate) => estimate,
        Err(refusal) => return Ok(refused(app, &refusal, &statement)),
    };
    let started = Instant::now();
    let mut rows = session.read(cleared, call)?;
    let mut writer = RowsWriter::new(wanted.format, out);
    while let Some(batch) = rows.next().await? {
        writer.batch(batch)?;
        // A database that is always faster than the output would leave no moment to see Ctrl-C in.
        tokio::task::yield_now().await;
        busy.update(&format!(
            "{} rows, {:.1} s",
            thousands(rows.ending().rows),
            started.elapsed().as_secs_f32()
        ));
    }
    if let Some(refusal) = rows.refusal() {
        return Ok(refused(app, refusal, &statement));
    }
    let (Some(schema), ending) = (rows.schema(), rows.ending()) else {
        return Err(Error::new(ErrorKind::Internal, "the dialect announced no columns").op("read").into());
    };
    let elapsed = started.elapsed();
    drop(busy);
    let written = writer.finish(&schema, &ending)?;
    app.ui.note(&format!("{}, {}", counted(ending.rows, "row", "rows"), time(elapsed)));
    if let Some(warning) = estimate.review(ending.rows, ending.is_complete(), elapsed) {
        app.ui.note(&warning.to_string());
    }
    app.ui.shortened(written.shortened);
    if ending.more_rows {
        app.ui.always(&format!(
            "INCOMPLETE: more than {} rows exist; these are the first ones that the database returned. \
             --limit N shows more, --all streams every row.",
            thousands(ending.rows)
        ));
    }
    if ending.over_bytes {
        app.ui.always(&format!(
            "INCOMPLETE: the result is larger than {}; these are its first {} rows. \
             --all streams every row, or raise guardrails.max_result_bytes.",
            dbagent::text::bytes(session.target().guardrails.max_result_bytes),
            thousands(ending.rows)
        ));
    }
    Ok(Exit::Done)
}

/// Says why a statement did not run.
pub(crate) fn refused(app: &App, refusal: &Refusal, statement: &str) -> Exit {
    app.ui.always_lines(&refusal_lines(app.ui.paint, app.ui.width, refusal, statement));
    match refusal.rule {
        Rule::EstimateOverThreshold => Exit::Limit,
        _ => Exit::Negative,
    }
}

/// A refusal with its rule, its place and what to do instead.
pub(crate) fn refusal_lines(
    paint: crate::paint::Paint,
    width: Option<usize>,
    refusal: &Refusal,
    statement: &str,
) -> Vec<String> {
    let room = width.unwrap_or(100).saturating_sub(4);
    let printable = dbagent::text::printable;
    let mut lines = vec![format!("{} {}", paint.red("refused:"), paint.bold(refusal.rule))];
    if let Some(span) = refusal.span {
        let shown = caret::lines(statement, span, room);
        if let [line, marks] = shown.as_slice() {
            lines.push(format!("  {line}"));
            lines.push(format!("  {}", paint.red(marks)));
        }
    }
    let indented = |text: &str| {
        wrap(&mask_user_info(&printable(text)), room)
            .into_iter()
            .map(|l| format!("  {l}"))
            .collect::<Vec<_>>()
    };
    lines.extend(indented(&refusal.message));
    lines.extend(indented(&format!("Instead: {}", refusal.advice)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paint::Paint;

    #[test]
    fn a_refusal_shows_rule_place_and_advice() {
        let refusal = Refusal::new(Rule::Write, "the statement changes data").at(Some(Span::new(0, 6)));
        assert_eq!(
            refusal_lines(Paint::PLAIN, None, &refusal, "DELETE FROM t"),
            [
                "refused: G010 write",
                "  DELETE FROM t",
                "  ^^^^^^",
                "  the statement changes data",
                "  Instead: Only reads are allowed here. Answer from what can be read.",
            ]
        );
    }
}
