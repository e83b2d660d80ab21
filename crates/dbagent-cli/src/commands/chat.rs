//! `dbagent chat`: questions one after the other on one thread.

mod line;

use std::time::Instant;

use dbagent::catalog::Page;
use dbagent::request::Params;
use dbagent::text::printable;
use dbagent::{GuardedSession, LightAgent};

use crate::answer;
use crate::app::{App, Running, cancellable, droppable};
use crate::asking::{self, Findings, Status};
use crate::exit::{Exit, Failure, Outcome};
use crate::format::Format;
use crate::input;
use crate::model::{self, ModelArgs};
use crate::out::Out;
use crate::place::{self, Access};
use crate::statement::{self, Wanted};
use crate::steps::time;

use line::{Input, Lines};

/// Ask questions one after the other; each may refer to the ones before
///
/// Ctrl-C cancels what runs, Ctrl-D leaves. A line goes on when it ends in a backslash or has an open double
/// quote. The history is kept in the user's state folder; lines with a password in a URL, and lines that begin
/// with a space, are not.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The database: a URL, a file, or a name of the configuration
    #[arg(value_name = "URL")]
    place: String,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    access: Access,
}

const HELP: &str = "\
/help             this help
/schema [TABLE]   what the database holds, or one table of it
/sql STATEMENT    run a statement of your own, through the same guard
/new              start a new conversation
/exit             leave (also Ctrl-D)
Everything else is a question. Ctrl-C cancels what runs.";

/// Rows that `/sql` shows.
const SQL_ROWS: u64 = 100;

pub(crate) fn run(app: &App, args: &Args) -> Outcome {
    let place = place::find(app, &args.place, &args.access)?;
    let mut out = app.stdout();
    let running = Running::new()?;
    let (agent, session) = running.run(droppable(async {
        let chosen = model::choose(app, &args.model).await?;
        Ok(asking::agent(app, place, chosen).await?)
    }))?;
    talk(app, &running, &agent, &session, &mut out)
}

/// Talks until the person leaves.
pub(crate) fn talk(
    app: &App,
    running: &Running,
    agent: &LightAgent,
    session: &GuardedSession,
    out: &mut Out,
) -> Outcome {
    let names = running.run(async {
        let page = session.objects(None, Page { offset: 0, size: 500 }, &statement::call()).await;
        // They only complete what is typed.
        Ok(page.map(|p| p.objects.into_iter().map(|o| o.name.name).collect()).unwrap_or_default())
    })?;
    let mut lines = Lines::open(names, app.ui.paint);
    if lines.is_terminal() {
        app.ui.note(&format!("{}. Ask a question, or /help.", session.dialect().display_name()));
    }
    let mut thread = agent.new_thread();
    loop {
        let text = match lines.next() {
            Ok(Input::Text(text)) => text,
            Ok(Input::Cleared) => {
                app.ui.note("Ctrl-D or /exit leaves.");
                continue;
            }
            Ok(Input::End) => break,
            Err(e) => return Err(e.into()),
        };
        let said = match word(&text) {
            ("", _) => Ok(()),
            ("/exit" | "/quit", _) => break,
            ("/help", _) => {
                out.line(HELP)?;
                Ok(())
            }
            ("/new", _) => {
                thread = agent.new_thread();
                app.ui.note("A new conversation; what was said before is forgotten.");
                Ok(())
            }
            ("/schema", rest) => running.run(schema(session, rest, out)),
            ("/sql", rest) => running.run(sql(app, session, rest, out)),
            (command, _) if command.starts_with('/') => {
                app.ui.warn(&format!("there is no command {}; /help lists them", printable(command)));
                Ok(())
            }
            _ => running.run(question(app, agent, session, &thread, &text, out)),
        };
        // What goes wrong with one line is said; only a lost output ends the conversation.
        match said {
            Ok(()) => {}
            Err(failure @ (Failure::Output(_) | Failure::ReaderGone | Failure::Said(_))) => {
                return Err(failure);
            }
            Err(failure) => app.ui.failure(&failure),
        }
        out.flush()?;
    }
    running.run(async {
        session.close().await;
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// The first word of a line and the rest.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim();
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim()))
}

async fn question(
    app: &App,
    agent: &LightAgent,
    session: &GuardedSession,
    thread: &str,
    text: &str,
    out: &mut Out,
) -> Result<(), Failure> {
    let text = input::question(text)?;
    let started = Instant::now();
    let before = agent.metrics().summary();
    let answer = asking::ask(app, agent, session.dialect(), thread, &text).await?;
    let findings = Findings::of(&answer);
    app.ui.gap(out);
    answer::write(&findings.text, out)?;
    out.flush()?;
    app.ui.note(&format!("{}, {}", asking::summary(agent, &before), time(started.elapsed())));
    if findings.status == Status::Incomplete {
        app.ui.always("INCOMPLETE: the run ended before the answer was complete.");
    }
    Ok(())
}

async fn schema(session: &GuardedSession, name: &str, out: &mut Out) -> Result<(), Failure> {
    let call = statement::call();
    let work = async {
        if name.is_empty() || name.contains(['*', '?']) {
            let pattern = (!name.is_empty()).then_some(name);
            super::schema::list(session, pattern, Format::Table, out, &call).await
        } else {
            super::schema::describe(session, &[&name.to_owned()], Format::Table, out, &call).await
        }
    };
    cancellable(&call, work).await.map(|_| ())
}

async fn sql(app: &App, session: &GuardedSession, text: &str, out: &mut Out) -> Result<(), Failure> {
    if text.is_empty() {
        app.ui.warn("/sql takes a statement, such as /sql SELECT 1");
        return Ok(());
    }
    let request = statement::request(session.dialect(), text, Params::None);
    let wanted = Wanted { limit: Some(SQL_ROWS), format: Format::Table };
    statement::execute(app, session, request, wanted, out).await.map(|_| ())
}
