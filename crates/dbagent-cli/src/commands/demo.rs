//! `dbagent demo`: the main job on a sample database, with nothing to set up.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dbagent::budget::BudgetHandle;
use dbagent::event::ProgressSender;
use dbagent::metrics::SessionMetrics;
use dbagent::request::Params;
use dbagent::session::Verdict;
use dbagent::text::printable;
use dbagent::tool::{Arguments, HostObjects, Tool, ToolContext, ToolError};
use dbagent::{Database, Error, ErrorKind, GuardedSession, LightAgent};

use super::chat;
use crate::answer;
use crate::app::{App, Ending, Running};
use crate::asking::{self, Findings};
use crate::exit::{Exit, Failure, Outcome};
use crate::input;
use crate::model::{self, ModelArgs};
use crate::out::Out;
use crate::place::{self, Access};
use crate::sample::Sample;
use crate::statement;
use crate::steps::{statement_lines, time};

/// Answer questions on a sample database, step by step; needs nothing
///
/// Unpacks Chinook, the data of a music shop, into a private folder that is removed at the end, and answers
/// three questions with the offline planner (or with --model). Then it shows a write and an oversized result
/// being refused. On a terminal you can go on asking. With a question it answers that one and ends.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A question of your own, instead of the tour
    #[arg(value_name = "QUESTION")]
    question: Vec<String>,
    #[command(flatten)]
    model: ModelArgs,
}

/// What the tour asks.
const QUESTIONS: &[&str] = &[
    "Which five artists have the most albums?",
    "What were the total sales per year?",
    "How many tracks were never sold?",
];
/// What the guard refuses whoever asks.
const WRITE: &str = "DELETE FROM Invoice WHERE Total > 10";
/// What is too large for any model to read.
const LARGE: &str = "SELECT * FROM Track";

pub(crate) fn run(app: &App, args: &Args) -> Outcome {
    let question = match args.question.as_slice() {
        [] => None,
        words => Some(input::question(&words.join(" "))?),
    };
    let running = Running::new()?;
    // Before the folder is there, so that no signal leaves it behind.
    let ending = Ending::catch(&running);
    let sample = Sample::unpack()?;
    let path = sample.path();
    ending.then(&running, sample.remover());
    let word = path.to_str().ok_or_else(|| {
        Error::new(ErrorKind::Config, "the folder for temporary files has a name that is not UTF-8")
    })?;
    let access = Access { password_file: None, ask_password: false, credentials: Vec::new(), timeout: None };
    let place = place::find(app, word, &access)?;
    let mut out = app.stdout();
    // A demo behaves the same on every machine: only an explicit word brings in another model.
    let wanted = ModelArgs { model: args.model.model.clone().or_else(|| Some("offline".to_owned())) };
    let (agent, session, offline) = running.run(async {
        let chosen = model::choose(app, &wanted).await?;
        let offline = chosen.offline;
        let (agent, session) = asking::agent(app, place, chosen).await?;
        Ok((agent, session, offline))
    })?;
    if let Some(question) = question {
        return running.run(async {
            let exit = ask(app, &agent, &session, &question, &mut out).await?;
            session.close().await;
            Ok(exit)
        });
    }
    if offline {
        app.ui.note("A sample database (Chinook, a music shop) and the offline planner; no network, no key.");
    } else {
        app.ui.note("A sample database (Chinook, a music shop).");
    }
    running.run(tour(app, &agent, &session, &mut out))?;
    if std::io::stdin().is_terminal() && out.terminal {
        app.ui.say("");
        return chat::talk(app, &running, &agent, &session, &mut out);
    }
    app.ui.note("Next: dbagent ask YOUR.db 'a question', or dbagent --help.");
    Ok(Exit::Done)
}

async fn tour(app: &App, agent: &LightAgent, session: &GuardedSession, out: &mut Out) -> Result<(), Failure> {
    for (i, question) in QUESTIONS.iter().enumerate() {
        heading(out, &format!("{}. {question}", i + 1))?;
        ask(app, agent, session, question, out).await?;
        out.line("")?;
    }
    heading(out, &format!("{}. Whatever a model writes, a write is refused:", QUESTIONS.len() + 1))?;
    refused_write(session, out).await?;
    out.line("")?;
    heading(
        out,
        &format!("{}. A result that would flood the model is refused with its size:", QUESTIONS.len() + 2),
    )?;
    refused_result(session, out).await?;
    out.flush()
}

fn heading(out: &mut Out, text: &str) -> Result<(), Failure> {
    let text = out.paint.bold(text);
    out.line(text)?;
    out.flush()
}

async fn ask(
    app: &App,
    agent: &LightAgent,
    session: &GuardedSession,
    question: &str,
    out: &mut Out,
) -> Outcome {
    let started = Instant::now();
    let before = agent.metrics().summary();
    let answer = asking::ask(app, agent, session.dialect(), &agent.new_thread(), question).await?;
    let findings = Findings::of(&answer);
    app.ui.gap(out);
    answer::write(&findings.text, out)?;
    out.flush()?;
    app.ui.note(&format!("{}, {}", asking::summary(agent, &before), time(started.elapsed())));
    Ok(findings.status.exit())
}

async fn refused_write(session: &GuardedSession, out: &mut Out) -> Result<(), Failure> {
    let request = statement::request(session.dialect(), WRITE, Params::None);
    match session.judge(request, None, &statement::call()).await? {
        Verdict::Refused(refusal) => {
            for line in statement::refusal_lines(out.paint, out.width, &refusal, WRITE) {
                out.line(line)?;
            }
            Ok(())
        }
        _ => Err(Error::new(ErrorKind::Internal, "the guard let a write through; please report this").into()),
    }
}

/// Calls the tool that a model would call, with the statement that a careless model would write.
async fn refused_result(session: &GuardedSession, out: &mut Out) -> Result<(), Failure> {
    for line in statement_lines(LARGE, out.width.unwrap_or(100).saturating_sub(4), false, out.paint) {
        out.line(format!("  {line}"))?;
    }
    let missing = || Error::new(ErrorKind::Internal, "the database has no tool `query`");
    let tools = Database::open(session.clone()).tools();
    let tool: &Arc<dyn Tool> = tools.iter().find(|t| t.spec().name == "query").ok_or_else(missing)?;
    let limit = session.target().guardrails.hard_max_rows;
    let arguments = serde_json::json!({"statement": LARGE, "limit": limit}).to_string();
    let arguments = Arguments::parse(&arguments)
        .map_err(|e| Error::new(ErrorKind::Internal, "the demo's arguments cannot be read").source(e))?;
    let call = statement::call().limited(Duration::from_secs(60));
    let context = ToolContext {
        thread: "demo".to_owned(),
        key: "demo".to_owned(),
        attempt: 1,
        cancel: call.cancel.clone(),
        deadline: call.deadline,
        budget: BudgetHandle::unlogged(),
        metrics: SessionMetrics::new(),
        progress: ProgressSender::nowhere(),
        host: HostObjects::default(),
    };
    let output = tool.call(&context, arguments).await.map_err(|e| match e {
        ToolError::Fatal(e) => e,
        ToolError::ForModel(text) | ToolError::Retry { message: text, .. } => {
            Error::new(ErrorKind::Engine, text)
        }
    })?;
    let room = out.width.unwrap_or(100).saturating_sub(4);
    for line in crate::width::wrap(&printable(&output.text), room) {
        out.line(format!("  {line}"))?;
    }
    Ok(())
}
