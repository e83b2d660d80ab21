//! What went wrong, as a text for a person.

use std::fmt::{self, Display};

/// Why a server cannot be had: what happened, where, and what to do.
///
/// There is nothing to match on: a test prints it after `SKIPPED`, xtask prints it and stops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(String);

/// What everything in here returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// Says what was being done when another error came up.
pub(crate) trait Doing<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Display> Doing<T> for std::result::Result<T, E> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| Error(format!("{}: {error}", what())))
    }
}
