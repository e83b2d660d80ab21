//! How the program ends: exit codes that scripts can rely on, and what becomes which of them.

use std::io;
use std::process::ExitCode;

use dbagent::{Error, ErrorKind};

/// The exit codes. Stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done: answered, cleared, agreed, ready. Also when the reader of the output went away.
    Done,
    /// A negative verdict: refused, failed in the database, disagreed, not answered.
    Negative,
    /// The command line, the configuration or an input is wrong.
    Usage,
    /// The database is out of reach.
    Database,
    /// The model or its server failed.
    Model,
    /// A time limit, a size limit or a budget ended it.
    Limit,
    /// The output could not be written.
    Output,
    /// A defect of dbagent.
    Internal,
    /// Cancelled by Ctrl-C.
    Cancelled,
    /// Ended by another signal, after cleaning up.
    Terminated,
}

impl Exit {
    /// Every code with what it means, for `--help` and the documentation.
    pub(crate) const TABLE: &'static [(Exit, &'static str)] = &[
        (Self::Done, "done: answered, cleared, agreed, ready (also when a pipe's reader went away)"),
        (Self::Negative, "refused by the guard, failed in the database, disagreeing, or not answered"),
        (Self::Usage, "the command line, the configuration or an input file is wrong"),
        (Self::Database, "the database is out of reach: not found, no login, locked, damaged"),
        (Self::Model, "the language model or its server failed"),
        (Self::Limit, "a time limit, a size limit or a budget was used up"),
        (Self::Output, "the output could not be written, such as on a full disk"),
        (Self::Internal, "a defect of dbagent; please report it"),
        (Self::Cancelled, "cancelled with Ctrl-C"),
        (Self::Terminated, "ended by another signal"),
    ];

    /// The number.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Negative => 1,
            Self::Usage => 2,
            Self::Database => 3,
            Self::Model => 4,
            Self::Limit => 5,
            Self::Output => 6,
            Self::Internal => 70,
            Self::Cancelled => 130,
            Self::Terminated => 143,
        }
    }

    /// What an error of that kind ends with.
    pub(crate) fn of(kind: ErrorKind) -> Self {
        use ErrorKind as K;
        match kind {
            K::Cancelled => Self::Cancelled,
            K::Timeout | K::BudgetExhausted | K::TooLarge | K::Exhausted => Self::Limit,
            K::Model => Self::Model,
            K::Config | K::InvalidRequest | K::Unsupported | K::Io => Self::Usage,
            K::Internal | K::Incompatible => Self::Internal,
            K::Locked => Self::Database,
            kind if kind.is_out_of_reach() => Self::Database,
            _ => Self::Negative,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

/// Why a command did not end as it should.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something went wrong that has a message.
    Error(Error),
    /// The output could not be written.
    Output(io::Error),
    /// Whoever read the output went away; nobody needs a message.
    ReaderGone,
    /// Everything was said already; only the code is left.
    Said(Exit),
}

impl Failure {
    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Error(e) => Exit::of(e.kind()),
            Self::Output(_) => Exit::Output,
            Self::ReaderGone => Exit::Done,
            Self::Said(exit) => *exit,
        }
    }
}

impl From<Error> for Failure {
    fn from(e: Error) -> Self {
        Self::Error(e)
    }
}

/// Only for output: files that are read get errors with their names.
impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Self {
        if e.kind() == io::ErrorKind::BrokenPipe { Self::ReaderGone } else { Self::Output(e) }
    }
}

/// What a command comes to.
pub(crate) type Outcome = Result<Exit, Failure>;

/// A mistake on the command line or in the configuration.
pub(crate) fn usage(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Config, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_documented_once() {
        let mut codes: Vec<u8> = Exit::TABLE.iter().map(|(exit, _)| exit.code()).collect();
        let count = codes.len();
        codes.dedup();
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 70, 130, 143]);
        assert_eq!(count, codes.len());
    }

    #[test]
    fn kinds_end_as_documented() {
        for (kind, exit) in [
            (ErrorKind::DatabaseNotFound, Exit::Database),
            (ErrorKind::Authentication, Exit::Database),
            (ErrorKind::Refused, Exit::Negative),
            (ErrorKind::UnknownObject, Exit::Negative),
            (ErrorKind::Timeout, Exit::Limit),
            (ErrorKind::Model, Exit::Model),
            (ErrorKind::Config, Exit::Usage),
            (ErrorKind::Cancelled, Exit::Cancelled),
            (ErrorKind::Internal, Exit::Internal),
        ] {
            assert_eq!(Exit::of(kind), exit, "{kind}");
        }
        assert_eq!(Failure::from(io::Error::from(io::ErrorKind::BrokenPipe)).exit(), Exit::Done);
        assert_eq!(Failure::from(io::Error::from(io::ErrorKind::StorageFull)).exit(), Exit::Output);
    }
}
