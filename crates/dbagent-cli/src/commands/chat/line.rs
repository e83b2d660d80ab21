//! Lines that a person types: with editing, history and completion on a terminal, as they come otherwise.

use std::borrow::Cow;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _};
use std::path::PathBuf;

use dbagent::{Error, ErrorKind};
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, Helper};

use crate::config;
use crate::input::{self, invalid};
use crate::mask::holds_password;
use crate::paint::Paint;

/// What came of one prompt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// A line, joined where it went on.
    Text(String),
    /// Ctrl-C: nothing was said.
    Cleared,
    /// Ctrl-D, or the end of the input.
    End,
}

/// Where lines come from.
pub(super) enum Lines {
    /// A terminal.
    Terminal { editor: Box<Editor<Line, DefaultHistory>>, history: Option<PathBuf>, prompt: (String, String) },
    /// Anything else.
    Pipe,
}

const PROMPT: &str = "> ";

impl Lines {
    /// Standard input. `names` complete what is typed.
    pub(super) fn open(names: Vec<String>, paint: Paint) -> Self {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Self::Pipe;
        }
        let config = Config::builder().history_ignore_space(true).build();
        let Ok(mut editor) = Editor::<Line, DefaultHistory>::with_config(config) else { return Self::Pipe };
        editor.set_helper(Some(Line { names }));
        let history = history_file();
        if let Some(path) = &history {
            // The first time there is none.
            _ = editor.load_history(path);
        }
        let prompt = (PROMPT.to_owned(), paint.bold(paint.cyan(PROMPT)));
        Self::Terminal { editor: Box::new(editor), history, prompt }
    }

    /// Whether a person is there.
    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Self::Terminal { .. })
    }

    /// The next line.
    pub(super) fn next(&mut self) -> Result<Input, Error> {
        match self {
            Self::Pipe => from_pipe(&mut io::stdin().lock()),
            Self::Terminal { editor, history, prompt } => match editor.readline(&*prompt) {
                Ok(text) => {
                    if !text.trim().is_empty() && !holds_password(&text) {
                        // A history that cannot be kept is no reason to stop.
                        _ = editor.add_history_entry(text.as_str());
                        if let Some(path) = history {
                            _ = editor.save_history(path);
                        }
                    }
                    Ok(Input::Text(joined(&text)))
                }
                Err(ReadlineError::Interrupted) => Ok(Input::Cleared),
                Err(ReadlineError::Eof) => Ok(Input::End),
                Err(e) => Err(Error::new(ErrorKind::Io, "the terminal cannot be read")
                    .source(io::Error::other(e.to_string()))),
            },
        }
    }
}

/// The file of the history; its folder is the user's alone.
fn history_file() -> Option<PathBuf> {
    let folder = config::state_folder(&config::environment)?;
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&folder).ok()?;
    Some(folder.join("history"))
}

/// A line and those that it goes on in.
fn from_pipe(stdin: &mut impl io::BufRead) -> Result<Input, Error> {
    let mut text = String::new();
    loop {
        let mut bytes = Vec::new();
        stdin
            .by_ref()
            .take(input::MAX_QUESTION as u64 + 2)
            .read_until(b'\n', &mut bytes)
            .map_err(|e| Error::new(ErrorKind::Io, "standard input cannot be read").source(e))?;
        if bytes.is_empty() {
            return Ok(if text.is_empty() { Input::End } else { Input::Text(joined(&text)) });
        }
        let line = String::from_utf8(bytes).map_err(|_| invalid("standard input is not UTF-8 text"))?;
        text.push_str(line.strip_suffix('\n').unwrap_or(&line));
        if text.len() > input::MAX_QUESTION {
            return Err(invalid("a line of standard input is too long"));
        }
        if !goes_on(&text) {
            return Ok(Input::Text(joined(&text)));
        }
        text.push('\n');
    }
}

/// Whether a text goes on in the next line: a backslash at its end, or an open quote. Single quotes count in
/// statements only: in a question they are apostrophes.
fn goes_on(text: &str) -> bool {
    if text.ends_with('\\') && !text.ends_with("\\\\") {
        return true;
    }
    let statement = text.trim_start().strip_prefix("/sql");
    let mut open = None;
    for c in statement.unwrap_or(text).chars() {
        match open {
            Some(quote) if c == quote => open = None,
            None if c == '"' || (c == '\'' && statement.is_some()) => open = Some(c),
            _ => {}
        }
    }
    open.is_some()
}

/// The text without the backslashes by which it went on.
fn joined(text: &str) -> String {
    text.replace("\\\n", "\n")
}

/// What helps while a line is typed.
pub(super) struct Line {
    names: Vec<String>,
}

const COMMANDS: &[&str] = &["/help", "/schema", "/sql", "/new", "/exit"];

impl Completer for Line {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = line.get(..at).unwrap_or(line);
        let start = before.rfind(|c: char| c.is_whitespace() || matches!(c, ',' | '(')).map_or(0, |i| i + 1);
        let typed = before.get(start..).unwrap_or_default().to_lowercase();
        if typed.is_empty() {
            return Ok((at, Vec::new()));
        }
        let names = self.names.iter().map(String::as_str);
        let words = COMMANDS.iter().copied().filter(|_| start == 0).chain(names);
        let found = words
            .filter(|w| w.to_lowercase().starts_with(&typed) && !w.chars().any(dbagent::text::is_unsafe))
            .map(|w| Pair { display: w.to_owned(), replacement: w.to_owned() })
            .collect();
        Ok((start, found))
    }
}

impl Hinter for Line {
    type Hint = String;
}

impl Highlighter for Line {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Borrowed(prompt)
    }
}

impl Validator for Line {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if goes_on(context.input()) {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Valid(None)
        })
    }
}

impl Helper for Line {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_on_where_they_are_not_done() {
        for (text, on) in [
            ("how many?", false),
            ("how many \\", true),
            ("what's new", false),
            ("the artist \"AC/DC", true),
            ("the artist \"AC/DC\"", false),
            ("/sql SELECT 'a", true),
            ("/sql SELECT 'a''b'", false),
            ("/sql SELECT \"x", true),
        ] {
            assert_eq!(goes_on(text), on, "{text}");
        }
    }

    #[test]
    fn a_pipe_gives_joined_lines_and_its_end() {
        let mut pipe = io::Cursor::new("one\ntwo \\\nthree\nlast");
        let mut next = || from_pipe(&mut pipe).unwrap();
        assert_eq!(next(), Input::Text("one".into()));
        assert_eq!(next(), Input::Text("two \nthree".into()));
        assert_eq!(next(), Input::Text("last".into()));
        assert_eq!(next(), Input::End);
    }

    #[test]
    fn what_is_no_line_is_an_error() {
        assert!(from_pipe(&mut io::Cursor::new([0xff, b'\n'])).unwrap_err().to_string().contains("UTF-8"));
        let long = "x".repeat(1 << 20);
        assert!(from_pipe(&mut io::Cursor::new(long)).unwrap_err().to_string().contains("too long"));
    }

    #[test]
    fn names_and_commands_complete() {
        let line = Line { names: vec!["Album".into(), "Artist".into()] };
        let history = DefaultHistory::new();
        let complete = |text: &str| {
            let (start, found) = line.complete(text, text.len(), &Context::new(&history)).unwrap();
            (start, found.into_iter().map(|p| p.replacement).collect::<Vec<_>>())
        };
        assert_eq!(complete("/s"), (0, vec!["/schema".to_owned(), "/sql".to_owned()]));
        assert_eq!(complete("/schema al"), (8, vec!["Album".to_owned()]));
        assert_eq!(complete("how many "), (9, Vec::new()));
    }
}
