//! Standard error: what a person is told while and around the work. Never results.

use std::error::Error as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use dbagent::Error;
use dbagent::text::printable;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::exit::Failure;
use crate::mask::mask_user_info;
use crate::paint::Paint;

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
    spinner: bool,
    bar: Mutex<Option<ProgressBar>>,
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
            spinner: terminal && colour && !level.quiet && level.verbose == 0,
            bar: Mutex::new(None),
        }
    }

    /// Whether only errors are shown.
    pub(crate) fn is_quiet(&self) -> bool {
        self.level.quiet
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
        self.write(text);
    }

    /// A remark in passing, with `-v`.
    pub(crate) fn detail(&self, text: &str) {
        if self.level.verbose > 0 {
            self.say(&self.paint.dim(printable(text)));
        }
    }

    /// A remark in passing.
    pub(crate) fn note(&self, text: &str) {
        self.say(&self.paint.dim(printable(text)));
    }

    /// Something that should be done differently.
    pub(crate) fn warn(&self, text: &str) {
        self.say(&format!("{} {}", self.paint.yellow("warning:"), printable(text)));
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
        let mut text = format!("{} {}", self.paint.red("error:"), safe(&e.to_string()));
        if let Some(hint) = e.hint_text() {
            text.push_str(&format!("\n  {} {}", self.paint.cyan("hint:"), safe(hint)));
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
        let bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let write = || {
            // There is nowhere left to say that standard error cannot be written.
            _ = io::stderr().write_all(format!("{text}\n").as_bytes());
        };
        match bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Shows that something goes on, on a terminal. It ends with the value.
    pub(crate) fn busy(&self, message: &str) -> Busy<'_> {
        if self.spinner {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{spinner:.cyan} {msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(100));
            *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar);
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
        if let Some(bar) = &*self.ui.bar.lock().unwrap_or_else(PoisonError::into_inner) {
            let room = self.ui.width.unwrap_or(80).saturating_sub(4);
            bar.set_message(crate::width::shorten(&printable(message).replace(['\n', '\t'], " "), room));
        }
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        if let Some(bar) = self.ui.bar.lock().unwrap_or_else(PoisonError::into_inner).take() {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbagent::ErrorKind;

    fn ui(verbose: u8) -> Ui {
        Ui {
            paint: Paint::PLAIN,
            width: None,
            level: Level { quiet: true, verbose },
            spinner: false,
            bar: Mutex::new(None),
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
