//! `dbagent doctor`: whether a database can be worked with, and what dbagent would do to it at most.

use std::time::Instant;

use dbagent::account::{Found, PowerKind, Probe, Transport};
use dbagent::session::Verdict;
use dbagent::text::{bytes, printable, thousands};
use dbagent::{
    CallContext, Dialect, Error, ErrorKind, GuardedSession, Guardrails, ObjectName, Refusal, Registry,
    Support,
};

use crate::app::{App, Running, cancellable};
use crate::exit::{Exit, Failure, Outcome};
use crate::out::Out;
use crate::paint::Paint;
use crate::place::{self, Access, Place};
use crate::steps::time;
use crate::width::wrap;
use crate::{config, statement};

/// Check that a database can be worked with, and say what dbagent would do to it at most
///
/// Opens the database, asks for its version, lists and describes objects, reads one row through the guard, and
/// tries what the account could do beyond reading, in transactions that are rolled back. Nothing stays changed. The exit code is 0 when it is ready.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The database: a URL, a file, or a name of the configuration; without one only this build is looked at
    #[arg(value_name = "URL")]
    place: Option<String>,
    #[command(flatten)]
    access: Access,
}

pub(crate) fn run(app: &App, args: &Args) -> Outcome {
    let mut out = app.stdout();
    let mut report = Report { out: &mut out, problems: 0, warnings: 0 };
    report.heading("This build")?;
    build(app, &mut report)?;
    let Some(word) = &args.place else {
        report.out.flush()?;
        return Ok(Exit::Done);
    };
    report.heading("The database")?;
    let place = match place::find(app, word, &args.access) {
        Ok(place) => place,
        Err(e) => {
            report.problem("cannot be opened", &e)?;
            return report.verdict(Some(&e));
        }
    };
    Running::new()?.run(async {
        let call = statement::call();
        let mut probe = None;
        let failed = cancellable(&call, database(&mut report, &place, &mut probe, &call)).await?;
        if call.cancel.is_cancelled() {
            return Ok(Exit::Cancelled);
        }
        report.heading("What dbagent would do at most")?;
        at_most(&mut report, place.dialect, &place.target.guardrails, probe.as_ref())?;
        report.verdict(failed.as_ref())
    })
}

/// What is found, line by line.
struct Report<'a> {
    out: &'a mut Out,
    problems: usize,
    warnings: usize,
}

impl Report<'_> {
    fn paint(&self) -> Paint {
        self.out.paint
    }

    /// Shown at once: what comes next may take long.
    fn line(&mut self, text: impl AsRef<str>) -> Result<(), Failure> {
        self.out.line(text)?;
        self.out.flush()
    }

    fn heading(&mut self, text: &str) -> Result<(), Failure> {
        let text = self.paint().bold(text);
        self.line(text)
    }

    /// A text behind its mark, in lines that fit a terminal.
    fn marked(&mut self, mark: &str, text: &str) -> Result<(), Failure> {
        const INDENT: usize = 8;
        let text = printable(text);
        let lines = match self.out.width {
            Some(width) => wrap(&text, width.saturating_sub(INDENT)),
            None => vec![text],
        };
        for (i, line) in lines.iter().enumerate() {
            let begin = if i == 0 { mark } else { "        " };
            self.line(format!("{begin}{line}"))?;
        }
        Ok(())
    }

    fn fine(&mut self, text: &str) -> Result<(), Failure> {
        let mark = self.paint().green("ok");
        self.marked(&format!("  {mark}    "), text)
    }

    fn fact(&mut self, text: &str) -> Result<(), Failure> {
        self.marked("  -     ", text)
    }

    /// Something that works and that somebody should look at.
    fn warning(&mut self, text: &str) -> Result<(), Failure> {
        self.warnings += 1;
        let mark = self.paint().yellow("!");
        self.marked(&format!("  {mark}     "), text)
    }

    /// A statement that an administrator may run.
    fn remedy(&mut self, statement: &str) -> Result<(), Failure> {
        let statement = self.paint().bold(printable(statement));
        self.line(format!("          {statement};"))
    }

    fn problem(&mut self, what: &str, e: &Error) -> Result<(), Failure> {
        self.problems += 1;
        let mark = self.paint().red("FAIL");
        let message = crate::mask::mask_user_info(&printable(&e.to_string()));
        self.marked(&format!("  {mark}  "), &format!("{what}: {message}"))?;
        match e.hint_text() {
            Some(hint) => self.marked("        ", &format!("hint: {hint}")),
            None => Ok(()),
        }
    }

    fn refused(&mut self, what: &str, refusal: &Refusal) -> Result<(), Failure> {
        self.problem(what, &Error::from(refusal.clone()))
    }

    /// The last line, and the exit code.
    fn verdict(&mut self, failed: Option<&Error>) -> Outcome {
        let paint = self.paint();
        let (text, exit) = match (self.problems, failed) {
            (0, _) if self.warnings > 0 => (
                paint.yellow("Ready: questions can be asked. The lines marked ! are worth a look."),
                Exit::Done,
            ),
            (0, _) => (paint.green("Ready: questions can be asked."), Exit::Done),
            (_, Some(e)) => (
                paint.red("Not ready: the database cannot be opened; see the hint above."),
                Exit::of(e.kind()),
            ),
            (n, None) => {
                (paint.yellow(format!("Partly ready: {n} of the checks failed; see above.")), Exit::Negative)
            }
        };
        self.line(text)?;
        Ok(exit)
    }
}

fn build(app: &App, report: &mut Report<'_>) -> Result<(), Failure> {
    report.fact(&format!("dbagent {}", env!("CARGO_PKG_VERSION")))?;
    let registry = Registry::collected().map_err(Error::from)?;
    let dialects: Vec<String> =
        registry.iter().map(|d| format!("{} ({})", d.display_name(), d.url_schemes().join(", "))).collect();
    if dialects.is_empty() {
        report.fact("no dialect is registered; build with a feature such as `sqlite`")?;
    } else {
        report.fact(&format!("dialects: {}", dialects.join(", ")))?;
    }
    match app.config() {
        Ok(config) => {
            match &config.path {
                Some(path) => report.fine(&format!("configuration: {}", path.display()))?,
                None => report.fact("configuration: none, everything is at its default")?,
            }
            let model = config::environment("DBAGENT_MODEL").or_else(|| config.settings.model.clone());
            report.fact(&format!(
                "model: {}",
                model.as_deref().unwrap_or("offline planner, nothing is configured")
            ))
        }
        Err(e) => report.problem("configuration", &e),
    }?;
    #[cfg(feature = "openai")]
    {
        let found =
            Running::new()?.run(async { Ok(crate::model::look(crate::model::Depth::Glance).await) })?;
        let names = found.names();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        report.fact(&format!("language models found: {names}"))?;
    }
    Ok(())
}

/// Looks at the database, and puts down what was found of the account; the error when it cannot even be opened.
async fn database(
    report: &mut Report<'_>,
    place: &Place,
    probed: &mut Option<Probe>,
    call: &CallContext,
) -> Result<Option<Error>, Failure> {
    report.fact(&format!(
        "{} at {}",
        place.dialect.display_name(),
        crate::mask::shown_url(&place.target.url)
    ))?;
    let started = Instant::now();
    let session = match GuardedSession::open(place.dialect, place.target.clone(), call).await {
        Ok(session) => session,
        Err(e) => {
            report.problem("cannot be opened", &e)?;
            return Ok(Some(e));
        }
    };
    report.fine(&format!("opens, {}", time(started.elapsed())))?;
    match session.server(call).await {
        Ok(server) if server.is_empty() => {}
        Ok(server) => report.fine(&server)?,
        Err(e) => report.problem("its version cannot be asked for", &e)?,
    }
    let started = Instant::now();
    match session.ping(call).await {
        Ok(()) => report.fine(&format!("answers, {}", time(started.elapsed())))?,
        Err(e) => report.problem("does not answer", &e)?,
    }
    let nouns = place.dialect.nouns();
    match super::schema::all(&session, None, call).await {
        Err(e) => report.problem(&format!("its {} cannot be listed", nouns.plural), &e)?,
        Ok(objects) => {
            let noun = if objects.len() == 1 { nouns.singular } else { nouns.plural };
            report.fine(&format!("{} {noun}", thousands(objects.len() as u64)))?;
            if let Some(first) = objects.first() {
                look_at(report, &session, &first.name, call).await?;
            }
        }
    }
    *probed = account(report, &session, call).await?;
    session.close().await;
    Ok(None)
}

/// What the account, or the session of a file, can do beyond reading, tried and rolled back.
async fn account(
    report: &mut Report<'_>,
    session: &GuardedSession,
    call: &CallContext,
) -> Result<Option<Probe>, Failure> {
    let probe = match session.probe(call).await {
        Ok(probe) => probe,
        Err(e) if e.kind() == ErrorKind::Unsupported => return Ok(None),
        Err(e) => {
            report.problem("what its account can do cannot be tried", &e)?;
            return Ok(None);
        }
    };
    report.heading(match probe.account {
        Some(_) => "The account",
        None => "The session, with the guard out of the way",
    })?;
    if let Some(account) = &probe.account {
        report.fact(account)?;
    }
    match &probe.transport {
        Transport::Local => report.fine("the connection stays on this machine")?,
        Transport::Encrypted(how) => report.fine(&format!("the connection is encrypted, {how}"))?,
        Transport::Plain => {
            report.warning("the connection is not encrypted: everybody on the way can read it")?;
        }
    }
    for power in &probe.powers {
        let what = power.kind.describe();
        match power.found {
            Found::Cannot => report.fine(&format!("cannot {what} ({})", power.evidence))?,
            // Nothing takes it away, and nothing outlives the session.
            Found::Can if power.kind == PowerKind::TemporaryTables && power.remedy.is_empty() => {
                report.fact(&format!("can {what}: {}", power.evidence))?;
            }
            Found::Unknown => report.warning(&format!("may {what}: {}", power.evidence))?,
            Found::Can => report.warning(&format!("can {what}: {}", power.evidence))?,
        }
        for statement in &power.remedy {
            report.remedy(statement)?;
        }
    }
    // What everybody may call, another account may call as well.
    let another_helps =
        probe.powers.iter().any(|power| power.found != Found::Cannot && power.kind != PowerKind::Functions);
    if another_helps && session.dialect().account_setup().is_some() {
        report.fact(
            "dbagent setup-role, with this URL, writes the statements for an account that can only read",
        )?;
    }
    Ok(Some(probe))
}

/// Describes one object and reads a row of it, the way every question does.
async fn look_at(
    report: &mut Report<'_>,
    session: &GuardedSession,
    name: &ObjectName,
    call: &CallContext,
) -> Result<(), Failure> {
    match session.describe(std::slice::from_ref(name), call).await {
        Err(e) => report.problem(&format!("{name} cannot be described"), &e)?,
        Ok(described) => {
            let columns = described.found.first().map_or(0, |d| d.columns.len());
            report.fine(&format!("{name} can be described: {columns} columns"))?;
        }
    }
    let Some(request) = session.dialect().sample_request(name) else { return Ok(()) };
    let started = Instant::now();
    let read = async {
        let cleared = match session.judge(request, Some(1), call).await? {
            Verdict::Cleared(cleared) => cleared,
            Verdict::Refused(refusal) => return Ok(Some(refusal)),
            Verdict::Proposed(_) => return Ok(None),
        };
        if let Err(refusal) = session.estimate(&cleared, call).await? {
            return Ok(Some(refusal));
        }
        let mut rows = session.read(cleared, call)?;
        while rows.next().await?.is_some() {}
        Ok(rows.refusal().cloned())
    };
    let read: Result<Option<Refusal>, Error> = read.await;
    match read {
        Ok(None) => {
            report.fine(&format!("{name} can be read through the guard, {}", time(started.elapsed())))
        }
        Ok(Some(refusal)) => report.refused(&format!("{name} cannot be read"), &refusal),
        Err(e) => report.problem(&format!("{name} cannot be read"), &e),
    }
}

/// The worst that can happen, from the limits, what the dialect declares and what was tried.
fn at_most(
    report: &mut Report<'_>,
    dialect: &Dialect,
    g: &Guardrails,
    probe: Option<&Probe>,
) -> Result<(), Failure> {
    let can = dialect.can();
    let reaches_files = |p: &Probe| {
        p.powers.iter().any(|power| power.kind == PowerKind::ServerFiles && power.found != Found::Cannot)
    };
    report.fact(match can.read_only_session {
        Support::Yes if probe.is_some_and(reaches_files) => {
            "reads only; the database itself refuses to change tables on these sessions, beside the guard; files \
             are kept by the guard alone"
        }
        Support::Yes => "reads only; the database itself refuses writes on these sessions, beside the guard",
        Support::Emulated => "reads only; the dialect refuses writes, beside the guard",
        Support::No => "reads only, by the guard alone: give dbagent an account that cannot write",
    })?;
    report.fact(&format!(
        "one statement: {} s{}",
        g.query_timeout_s,
        match can.cancel {
            Support::No => ", and it cannot be stopped in the database",
            _ => ", then it is stopped in the database",
        }
    ))?;
    report.fact(&format!(
        "one result for a model: {} {} ({} unless it asks for more), {} tokens",
        thousands(g.hard_max_rows),
        dialect.nouns().rows,
        thousands(g.default_rows),
        thousands(g.max_result_tokens)
    ))?;
    report.fact(&format!(
        "one result in memory: {}; one value: {}",
        bytes(g.max_result_bytes),
        bytes(g.max_cell_bytes)
    ))?;
    report.fact(&format!("one conversation: {} {}", thousands(g.row_budget), dialect.nouns().rows))?;
    report.fact(&match can.estimate_rows {
        Support::No => {
            "a result's size is not known before it runs; the limits above hold all the same".to_owned()
        }
        _ => format!(
            "a result estimated over {} {} is refused before it runs",
            thousands(g.explain_row_threshold),
            dialect.nouns().rows
        ),
    })?;
    report.fact(&format!("up to {} reads at once", can.max_concurrent_reads))
}
