//! Colours, where the reader is a terminal that wants them.

use std::fmt::Display;

use anstyle::{AnsiColor, Effects, Style};

/// Writes styles, or nothing but the text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    /// Styles when `on`.
    pub(crate) const fn new(on: bool) -> Self {
        Self { on }
    }

    /// No styles.
    pub(crate) const PLAIN: Paint = Paint { on: false };

    /// Whether styles are written.
    pub(crate) const fn is_on(self) -> bool {
        self.on
    }

    fn with(self, style: Style, text: impl Display) -> String {
        if self.on { format!("{style}{text}{style:#}") } else { text.to_string() }
    }

    fn colour(self, colour: AnsiColor, text: impl Display) -> String {
        self.with(Style::new().fg_color(Some(colour.into())), text)
    }

    pub(crate) fn bold(self, text: impl Display) -> String {
        self.with(Style::new().effects(Effects::BOLD), text)
    }

    pub(crate) fn dim(self, text: impl Display) -> String {
        self.with(Style::new().effects(Effects::DIMMED), text)
    }

    pub(crate) fn red(self, text: impl Display) -> String {
        self.colour(AnsiColor::Red, text)
    }

    pub(crate) fn green(self, text: impl Display) -> String {
        self.colour(AnsiColor::Green, text)
    }

    pub(crate) fn yellow(self, text: impl Display) -> String {
        self.colour(AnsiColor::Yellow, text)
    }

    pub(crate) fn cyan(self, text: impl Display) -> String {
        self.colour(AnsiColor::Cyan, text)
    }

    pub(crate) fn blue(self, text: impl Display) -> String {
        self.colour(AnsiColor::Blue, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_is_the_text_alone() {
        assert_eq!(Paint::PLAIN.red("x"), "x");
        assert_eq!(Paint::new(true).red("x"), "\u{1b}[31mx\u{1b}[0m");
    }
}
