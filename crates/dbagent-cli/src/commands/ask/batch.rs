//! Many questions: one line in, one line out, in order, several at once, nothing lost by a broken line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::Path;

use dbagent::json::{Json, JsonLimits};
use dbagent::text::thousands;
use dbagent::{Error, ErrorKind, LightAgent};
use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::app::{App, interrupted};
use crate::asking::{self, Findings, Status};
use crate::exit::{Exit, Failure, Outcome};
use crate::input::{self, invalid};
use crate::mask::shown_path;
use crate::out::Out;
use crate::width::counted;

/// Where the questions come from.
pub(super) struct Source(Box<dyn BufRead + Send>);

/// The most bytes of a line; longer ones are passed over up to their end.
const MAX_LINE: usize = 256 << 10;

impl Source {
    /// A file, or standard input for `-`.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        if path == Path::new("-") {
            return Ok(Self(Box::new(BufReader::new(io::stdin()))));
        }
        // Where a folder can be opened like a file, only reading it would fail.
        let open = || match File::open(path)? {
            file if file.metadata()?.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            file => Ok(file),
        };
        let file = open().map_err(|e| {
            Error::new(ErrorKind::Io, format!("the questions cannot be read: {}", input::reason(&e)))
                .with("file", shown_path(path))
                .source(e)
        })?;
        Ok(Self(Box::new(BufReader::new(file))))
    }
}

/// One line, read.
struct Line {
    number: usize,
    /// What it is known by, where that could be read.
    id: Value,
    question: Result<String, Error>,
}

/// Answers all lines.
pub(super) async fn run(
    app: &App,
    agent: &LightAgent,
    source: Source,
    jobs: usize,
    out: &mut Out,
) -> Outcome {
    let (tx, rx) = mpsc::channel(jobs);
    // Reading may block for as long as whoever writes the questions likes.
    std::thread::Builder::new().name("questions".into()).spawn(move || read_lines(source, &tx)).map_err(
        |e| Error::new(ErrorKind::Exhausted, "no thread could be started to read the questions").source(e),
    )?;
    let lines = stream::unfold(rx, |mut rx| async move { rx.recv().await.map(|line| (line, rx)) });
    let answers = lines.map(|line| answer(agent, line)).buffered(jobs);
    tokio::pin!(answers);
    let busy = app.ui.busy_beside(out, "answering");
    let (mut all, mut answered) = (0_u64, 0_u64);
    let cancelled = interrupted();
    tokio::pin!(cancelled);
    loop {
        let (line, status) = tokio::select! {
            biased;
            () = &mut cancelled => {
                app.ui.always(&format!("cancelled after {}", counted(all, "line", "lines")));
                return Err(Failure::Said(Exit::Cancelled));
            }
            next = answers.next() => match next {
                Some(next) => next?,
                None => break,
            },
        };
        all += 1;
        answered += u64::from(status == Status::Answered);
        out.line(line)?;
        out.flush()?;
        busy.update(&format!("{} answered", thousands(all)));
    }
    drop(busy);
    app.ui.note(&format!("{}, {} answered", counted(all, "question", "questions"), thousands(answered)));
    Ok(if answered == all { Exit::Done } else { Exit::Negative })
}

/// Answers one line on a thread of its own. Whatever goes wrong with it becomes its line.
async fn answer(agent: &LightAgent, line: Result<Line, Error>) -> Result<(String, Status), Failure> {
    let line = line?;
    let question = match line.question {
        Ok(question) => question,
        Err(e) => return Ok((asking::error_json(&line.id, &e.with("line", line.number))?, Status::Error)),
    };
    let thread = agent.new_thread();
    let answered = agent.ask_on(&thread, question).await;
    // The thread is not continued; its facts would pile up.
    agent.agent().store().delete(&thread).await?;
    Ok(match answered {
        Ok(answer) => {
            let findings = Findings::of(&answer);
            (findings.to_json(Some(&line.id))?, findings.status)
        }
        Err(e) => (asking::error_json(&line.id, &e)?, Status::Error),
    })
}

fn read_lines(mut source: Source, tx: &mpsc::Sender<Result<Line, Error>>) {
    let mut number = 0;
    loop {
        number += 1;
        let line = match read_line(&mut *source.0) {
            Ok(None) => return,
            Ok(Some(bytes)) if bytes.iter().all(u8::is_ascii_whitespace) => continue,
            Ok(Some(bytes)) => Ok(line(&bytes, number)),
            Err(e) => Err(Error::new(ErrorKind::Io, "the questions cannot be read on")
                .with("line", number)
                .source(e)),
        };
        let last = line.is_err();
        // A receiver that is gone has been cancelled.
        if tx.blocking_send(line).is_err() || last {
            return;
        }
    }
}

/// The next line without its end; one byte over the most for a longer one, whose rest is passed over.
fn read_line(source: &mut (dyn BufRead + Send)) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    source.take(MAX_LINE as u64 + 1).read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    } else if bytes.len() > MAX_LINE {
        skip_line(source)?;
    }
    Ok(Some(bytes))
}

fn skip_line(source: &mut (dyn BufRead + Send)) -> io::Result<()> {
    loop {
        let buffer = source.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let end = buffer.iter().position(|b| *b == b'\n');
        let used = end.map_or(buffer.len(), |at| at + 1);
        source.consume(used);
        if end.is_some() {
            return Ok(());
        }
    }
}

fn line(bytes: &[u8], number: usize) -> Line {
    let mut id = Value::Null;
    let question = read(bytes, &mut id);
    Line { number, id, question }
}

fn read(bytes: &[u8], id: &mut Value) -> Result<String, Error> {
    if bytes.len() > MAX_LINE {
        return Err(invalid(format!("the line has more than {} bytes", thousands(MAX_LINE as u64))));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| invalid("the line is not UTF-8 text"))?;
    let json = Json::parse(text, JsonLimits::default()).map_err(|e| {
        invalid(format!("the line is not JSON: {}", e.message))
            .with("byte", e.at)
            .hint("one object a line: {\"id\": 1, \"question\": \"…\"}")
    })?;
    if let Some(given) = json.get("id") {
        *id = serde_json::from_str(&given.to_string()).unwrap_or(Value::Null);
    }
    let question = json.get("question").and_then(Json::as_str);
    let question = question.ok_or_else(|| {
        invalid("the line has no text \"question\"")
            .hint("one object a line: {\"id\": 1, \"question\": \"…\"}")
    })?;
    input::question(question)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &[u8]) -> (Value, Result<String, String>) {
        let line = line(text, 1);
        (line.id, line.question.map_err(|e| e.to_string()))
    }

    #[test]
    fn lines_are_questions_or_say_why_not() {
        assert_eq!(
            parse(b"{\"id\":\"a\",\"question\":\" how many? \"}"),
            ("a".into(), Ok("how many?".into()))
        );
        assert_eq!(parse(b"{\"question\":\"x\"}").0, Value::Null);
        let (id, wrong) = parse(b"{\"id\":7,\"question\":\"\"}");
        assert_eq!(id, 7);
        assert!(wrong.unwrap_err().contains("empty"));
        assert!(parse(b"{\"id\":1").1.unwrap_err().contains("not JSON"));
        assert!(parse(b"{\"id\":1,\"id\":2,\"question\":\"x\"}").1.is_err());
        assert!(parse(b"{\"id\":1,\"frage\":\"x\"}").1.unwrap_err().contains("\"question\""));
        assert!(parse(b"\xff").1.unwrap_err().contains("UTF-8"));
    }

    #[test]
    fn a_line_that_is_too_long_does_not_swallow_the_next() {
        let mut text = vec![b'x'; MAX_LINE * 3];
        text.extend_from_slice(b"\nnext");
        let mut source: Box<dyn BufRead + Send> = Box::new(io::Cursor::new(text));
        assert_eq!(read_line(&mut *source).unwrap().unwrap().len(), MAX_LINE + 1);
        assert_eq!(read_line(&mut *source).unwrap().unwrap(), b"next");
        assert_eq!(read_line(&mut *source).unwrap(), None);
        let mut exact: Box<dyn BufRead + Send> =
            Box::new(io::Cursor::new([vec![b'y'; MAX_LINE], b"\nz".to_vec()].concat()));
        assert_eq!(read_line(&mut *exact).unwrap().unwrap().len(), MAX_LINE);
        assert_eq!(read_line(&mut *exact).unwrap().unwrap(), b"z");
    }
}
