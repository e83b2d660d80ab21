//! Standard error: what a person is told while and around the work. Never results.

use std::error::Error as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dbagent::Error;
use dbagent::text::printable;

use crate::exit::Failure;
use crate::mask::mask_user_info;
use crate::paint::Paint;
use crate::spinner::Spinner;

/// How much a person wants to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Level {
    /// Errors only.
    pub(crate) quiet: bool,
    /// How many `-v` there were.
    pub(crate) verbose: u8,
}

/// Standard error.
pub(crate) struct Ui {
    /// How to write styles.
    pub(crate) paint: Paint,
    /// Columns of the terminal.
    pub(crate) width: Option<usize>,
    level: Level,
    moves: bool,
    spinner: Mutex<Option<Spinner>>,
}

/// The columns of a terminal that is wide enough to be one.
pub(crate) fn columns(size: Option<(terminal_size::Width, terminal_size::Height)>) -> Option<usize> {
    size.map(|(width, _)| usize::from(width.0)).filter(|w| *w > 0).map(|w| w.max(20))
}

impl Ui {
    /// The process's standard error.
    pub(crate) fn stderr(colour: bool, level: Level) -> Self {
        let stderr = io::stderr();
        let terminal = stderr.is_terminal();
        let choice = anstream::AutoStream::choice(&stderr);
        let colour = colour && terminal && choice != anstream::ColorChoice::Never;
        Self {
            paint: Paint::new(colour),
            width: if terminal { columns(terminal_size::terminal_size_of(&stderr)) } else { None },
            level,
            moves: terminal && colour && !level.quiet && level.verbose == 0,
            spinner: Mutex::new(None),
        }
    }

    /// Whether only errors are shown.
    pub(crate) fn is_quiet(&self) -> bool {
        self.level.quiet
    }

    /// Whether a person wants to know more.
    pub(crate) fn is_verbose(&self) -> bool {
        self.level.verbose > 0
    }

    /// Writes lines that are shown unless a person wants errors only. A standard error that is closed
    /// loses them, which nobody could be told.
    pub(crate) fn say(&self, text: &str) {
        if !self.level.quiet {
            self.write(text);
        }
    }

    /// Writes what must be known even by a person who wants errors only, such as that a result is incomplete.
    pub(crate) fn always(&self, text: &str) {
        self.write(&self.fitted(text, ""));
    }

    /// Writes lines that are laid out and coloured already.
    pub(crate) fn always_lines(&self, lines: &[String]) {
        self.write(&lines.join("\n"));
    }

    /// A remark in passing, with `-v`.
    pub(crate) fn detail(&self, text: &str) {
        if self.level.verbose > 0 {
            self.note(text);
        }
    }

    /// A remark in passing.
    pub(crate) fn note(&self, text: &str) {
        self.say(&self.lines(text, "").map(|line| self.paint.dim(line)).collect::<Vec<_>>().join("\n"));
    }

    /// That values were shortened, where any were: nothing is cut in silence.
    pub(crate) fn shortened(&self, values: usize) {
        if values > 0 {
            let values = crate::width::counted(values as u64, "value is", "values are");
            self.note(&format!("{values} shortened to fit the terminal; a pipe shows all of it"));
        }
    }

    /// A text, made printable, in lines that fit the terminal; the later ones are indented.
    fn lines(&self, text: &str, indent: &'static str) -> impl Iterator<Item = String> + use<> {
        let text = printable(text);
        let lines = match self.width {
            Some(width) => crate::width::wrap(&text, width.saturating_sub(indent.len() + 1)),
            None => vec![text],
        };
        lines
            .into_iter()
            .enumerate()
            .map(move |(i, line)| if i == 0 { line } else { format!("{indent}{line}") })
    }

    /// The same as one text.
    fn fitted(&self, text: &str, indent: &'static str) -> String {
        self.lines(text, indent).collect::<Vec<_>>().join("\n")
    }

    /// An empty line between the steps and an answer that a person sees on the same terminal.
    pub(crate) fn gap(&self, out: &crate::out::Out) {
        if self.width.is_some() && out.terminal {
            self.say("");
        }
    }

    /// Something that should be done differently.
    pub(crate) fn warn(&self, text: &str) {
        self.say(&self.labelled(self.paint.yellow("warning:"), text));
    }

    /// A text after a word that stands out.
    fn labelled(&self, label: String, text: &str) -> String {
        // The label's own columns are kept free by the indent.
        format!("{label} {}", self.fitted(text, "         "))
    }

    /// What went wrong. Always shown.
    pub(crate) fn failure(&self, failure: &Failure) {
        match failure {
            Failure::Error(e) => self.error(e),
            Failure::Output(e) => {
                self.write(&format!("{} the output could not be written: {e}", self.paint.red("error:")));
            }
            Failure::ReaderGone | Failure::Said(_) => {}
        }
    }

    /// An error with its circumstances, what to do, and with `-v` its causes.
    pub(crate) fn error(&self, e: &Error) {
        self.write(&self.error_text(e));
    }

    fn error_text(&self, e: &Error) -> String {
        let safe = |text: &str| mask_user_info(&printable(text));
        let mut text = self.labelled(self.paint.red("error:"), &safe(&e.to_string()));
        if let Some(hint) = e.hint_text() {
            text.push_str(&format!("\n  {}", self.labelled(self.paint.cyan("hint:"), &safe(hint))));
        }
        if self.level.verbose > 0 {
            let operation = e.operation().map(|o| format!(" while: {o}")).unwrap_or_default();
            text.push_str(&format!("\n  {} {}{operation}", self.paint.dim("kind:"), e.kind()));
            let mut source = e.source();
            while let Some(cause) = source {
                text.push_str(&format!("\n  {} {}", self.paint.dim("cause:"), safe(&cause.to_string())));
                source = cause.source();
            }
        }
        text
    }

    fn write(&self, text: &str) {
        let write = || {
            // There is nowhere left to say that standard error cannot be written.
            _ = io::stderr().write_all(format!("{text}\n").as_bytes());
        };
        match &*self.spinner() {
            Some(spinner) => spinner.aside(write),
            None => write(),
        }
    }

    fn spinner(&self) -> MutexGuard<'_, Option<Spinner>> {
        self.spinner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same while results are written, which must not meet on one terminal.
    pub(crate) fn busy_beside(&self, out: &crate::out::Out, message: &str) -> Busy<'_> {
        if out.terminal { Busy { ui: self } } else { self.busy(message) }
    }

    /// Shows that something goes on, on a terminal. It ends with the value.
    pub(crate) fn busy(&self, message: &str) -> Busy<'_> {
        if self.moves {
            *self.spinner() = Some(Spinner::start(self.paint));
        }
        let busy = Busy { ui: self };
        busy.update(message);
        busy
    }
}

/// Something goes on.
pub(crate) struct Busy<'a> {
    ui: &'a Ui,
}

impl Busy<'_> {
    /// What goes on now.
    pub(crate) fn update(&self, message: &str) {
        if let Some(spinner) = &*self.ui.spinner() {
            let room = self.ui.width.unwrap_or(80).saturating_sub(4);
            spinner.message(crate::width::shorten(&printable(message).replace(['\n', '\t'], " "), room));
        }
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        // Its line goes with it.
        drop(self.ui.spinner().take());
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use dbagent::ErrorKind;

    pub(crate) fn ui(verbose: u8) -> Ui {
        Ui {
            paint: Paint::PLAIN,
            width: None,
            level: Level { quiet: true, verbose },
            moves: false,
            spinner: Mutex::new(None),
        }
    }

    fn error() -> Error {
        Error::new(ErrorKind::Connection, "no answer from postgres://bob:canary@db/x\u{1b}[31m")
            .op("open")
            .with("host", "db")
            .hint("is the server up?")
            .source(io::Error::other("refused"))
    }

    #[test]
    fn an_error_says_what_where_and_what_to_do() {
        let text = ui(0).error_text(&error());
        assert_eq!(
            text,
            "error: no answer from postgres://****@db/x\\u{1b}[31m (host: db)\n  hint: is the server up?"
        );
    }

    #[test]
    fn verbose_adds_kind_and_causes() {
        let text = ui(1).error_text(&error());
        assert!(text.ends_with("\n  kind: connection_error while: open\n  cause: refused"), "{text}");
    }
}
