//! SQLite's result codes to kinds. Messages are kept and never decide anything.

use dbagent_core::context::CallContext;
use dbagent_core::{Error, ErrorKind, Retry};
use rusqlite::ffi;

/// What was being done when an error came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Opening the file, up to its first page.
    Open,
    /// Compiling a statement.
    Compile,
    /// Running one.
    Run,
}

impl Phase {
    const fn operation(self) -> &'static str {
        match self {
            Phase::Open => "open",
            Phase::Compile => "compile",
            Phase::Run => "run",
        }
    }
}

/// The error as the core knows it: kind, SQLite's own words, its code, the place in the text.
pub(crate) fn translate(e: rusqlite::Error, phase: Phase) -> Error {
    let (code, message, offset) = parts(&e);
    let kind = match code {
        Some(code) => kind(code, phase),
        None => ErrorKind::Internal,
    };
    let mut error = Error::new(kind, message).op(phase.operation());
    if let Some(code) = code {
        error = error.code(name(code));
    }
    if let Some(offset) = offset {
        error = error.at(offset);
    }
    if let Some(hint) = hint(kind, code, phase) {
        error = error.hint(hint);
    }
    if matches!(kind, ErrorKind::Locked | ErrorKind::Conflict) {
        error = error.retry(Retry::Later);
    }
    error.source(e)
}

/// The same for a statement that ran under a call: an interrupt is the call's doing.
pub(crate) fn translate_under(e: rusqlite::Error, phase: Phase, call: &CallContext) -> Error {
    if primary(&e) == Some(ffi::SQLITE_INTERRUPT) {
        stopped(call, phase.operation())
    } else {
        translate(e, phase)
    }
}

/// The error for a statement that was stopped.
pub(crate) fn stopped(call: &CallContext, operation: &'static str) -> Error {
    if call.cancel.is_cancelled() {
        return call.over(operation);
    }
    Error::new(ErrorKind::Timeout, "the statement ran past its time limit and was stopped")
        .op(operation)
        .code("SQLITE_INTERRUPT")
        .hint("ask for less: filter on an indexed column, aggregate, or leave out a join")
}

/// Whether an error is about the text or the definition, and not about the file or the connection.
pub(crate) fn is_mistake(e: &rusqlite::Error) -> bool {
    primary(e) == Some(ffi::SQLITE_ERROR)
}

/// The primary result code.
pub(crate) fn primary(e: &rusqlite::Error) -> Option<i32> {
    parts(e).0.map(|code| code & 0xff)
}

/// The engine's words, without the statement.
pub(crate) fn words(e: &rusqlite::Error) -> String {
    parts(e).1
}

fn parts(e: &rusqlite::Error) -> (Option<i32>, String, Option<usize>) {
    match e {
        rusqlite::Error::SqliteFailure(error, message) => {
            let message = message.clone().unwrap_or_else(|| error.to_string());
            (Some(error.extended_code), message, None)
        }
        rusqlite::Error::SqlInputError { error, msg, offset, .. } => {
            (Some(error.extended_code), msg.clone(), usize::try_from(*offset).ok())
        }
        other => (None, other.to_string(), None),
    }
}

fn kind(code: i32, phase: Phase) -> ErrorKind {
    // Extended codes that mean something else than their primary code.
    match code {
        ffi::SQLITE_IOERR_SHORT_READ | ffi::SQLITE_IOERR_CORRUPTFS | ffi::SQLITE_IOERR_DATA => {
            return ErrorKind::Corrupt;
        }
        ffi::SQLITE_IOERR_SHMOPEN
        | ffi::SQLITE_IOERR_SHMSIZE
        | ffi::SQLITE_IOERR_SHMMAP
        | ffi::SQLITE_READONLY_CANTINIT
        | ffi::SQLITE_READONLY_CANTLOCK
        | ffi::SQLITE_READONLY_DIRECTORY
        | ffi::SQLITE_READONLY_ROLLBACK
        | ffi::SQLITE_READONLY_RECOVERY => return ErrorKind::Unwritable,
        ffi::SQLITE_IOERR_NOMEM => return ErrorKind::Exhausted,
        ffi::SQLITE_IOERR_ACCESS => return ErrorKind::Permission,
        ffi::SQLITE_CANTOPEN_ISDIR => return ErrorKind::IsDirectory,
        _ => {}
    }
    match code & 0xff {
        ffi::SQLITE_ERROR => match phase {
            Phase::Open => ErrorKind::Engine,
            Phase::Compile => ErrorKind::Syntax,
            Phase::Run => ErrorKind::Data,
        },
        ffi::SQLITE_PERM => ErrorKind::Permission,
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED | ffi::SQLITE_PROTOCOL => ErrorKind::Locked,
        ffi::SQLITE_NOMEM | ffi::SQLITE_FULL => ErrorKind::Exhausted,
        ffi::SQLITE_READONLY | ffi::SQLITE_AUTH => ErrorKind::Refused,
        ffi::SQLITE_INTERRUPT => ErrorKind::Cancelled,
        ffi::SQLITE_IOERR | ffi::SQLITE_NOLFS => ErrorKind::Io,
        ffi::SQLITE_CORRUPT | ffi::SQLITE_FORMAT => ErrorKind::Corrupt,
        // A file that was opened as a database is one: what is wrong with it now is damage.
        ffi::SQLITE_NOTADB => match phase {
            Phase::Open => ErrorKind::NotADatabase,
            Phase::Compile | Phase::Run => ErrorKind::Corrupt,
        },
        ffi::SQLITE_CANTOPEN => match phase {
            Phase::Open => ErrorKind::Unwritable,
            Phase::Compile | Phase::Run => ErrorKind::Io,
        },
        ffi::SQLITE_SCHEMA => ErrorKind::Conflict,
        ffi::SQLITE_TOOBIG => ErrorKind::TooLarge,
        ffi::SQLITE_CONSTRAINT => ErrorKind::Constraint,
        // A function was given an index that it does not have; parameters were counted before.
        ffi::SQLITE_MISMATCH | ffi::SQLITE_RANGE => ErrorKind::Data,
        ffi::SQLITE_MISUSE | ffi::SQLITE_INTERNAL => ErrorKind::Internal,
        _ => ErrorKind::Engine,
    }
}

fn hint(kind: ErrorKind, code: Option<i32>, phase: Phase) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::Corrupt if phase == Phase::Open => {
            "SQLite cannot take in the schema: the file is damaged, or its schema calls functions that a file \
             is not trusted with; restore a backup, or save what can be read with `sqlite3 FILE .recover`"
        }
        ErrorKind::Unwritable if code == Some(ffi::SQLITE_READONLY_ROLLBACK) => {
            "a write to this database was interrupted and must be rolled back first: open it once with a \
             program that may write to it, such as the sqlite3 shell"
        }
        ErrorKind::Locked => "another process holds a lock on the database; try again when it is done",
        ErrorKind::Corrupt => {
            "the file is damaged: restore a backup, or save what can be read with `sqlite3 FILE .recover`"
        }
        ErrorKind::NotADatabase => "check that the URL names a SQLite database",
        ErrorKind::Unwritable => {
            "a database in WAL mode needs to write its -shm file beside it: make the folder writable, or add \
             ?immutable=1 to the URL if nobody changes the file"
        }
        ErrorKind::TooLarge => "ask for a part of the value or for its length",
        ErrorKind::Io => "check the disk and that the file is still there",
        ErrorKind::Conflict => "the schema changed meanwhile; try again",
        _ => return None,
    })
}

/// The name of a code, as SQLite's documentation has it.
fn name(code: i32) -> String {
    let primary = match code & 0xff {
        ffi::SQLITE_ERROR => "SQLITE_ERROR",
        ffi::SQLITE_INTERNAL => "SQLITE_INTERNAL",
        ffi::SQLITE_PERM => "SQLITE_PERM",
        ffi::SQLITE_ABORT => "SQLITE_ABORT",
        ffi::SQLITE_BUSY => "SQLITE_BUSY",
        ffi::SQLITE_LOCKED => "SQLITE_LOCKED",
        ffi::SQLITE_NOMEM => "SQLITE_NOMEM",
        ffi::SQLITE_READONLY => "SQLITE_READONLY",
        ffi::SQLITE_INTERRUPT => "SQLITE_INTERRUPT",
        ffi::SQLITE_IOERR => "SQLITE_IOERR",
        ffi::SQLITE_CORRUPT => "SQLITE_CORRUPT",
        ffi::SQLITE_NOTFOUND => "SQLITE_NOTFOUND",
        ffi::SQLITE_FULL => "SQLITE_FULL",
        ffi::SQLITE_CANTOPEN => "SQLITE_CANTOPEN",
        ffi::SQLITE_PROTOCOL => "SQLITE_PROTOCOL",
        ffi::SQLITE_SCHEMA => "SQLITE_SCHEMA",
        ffi::SQLITE_TOOBIG => "SQLITE_TOOBIG",
        ffi::SQLITE_CONSTRAINT => "SQLITE_CONSTRAINT",
        ffi::SQLITE_MISMATCH => "SQLITE_MISMATCH",
        ffi::SQLITE_MISUSE => "SQLITE_MISUSE",
        ffi::SQLITE_NOLFS => "SQLITE_NOLFS",
        ffi::SQLITE_AUTH => "SQLITE_AUTH",
        ffi::SQLITE_FORMAT => "SQLITE_FORMAT",
        ffi::SQLITE_RANGE => "SQLITE_RANGE",
        ffi::SQLITE_NOTADB => "SQLITE_NOTADB",
        _ => return format!("SQLITE({code})"),
    };
    if code > 0xff { format!("{primary}({code})") } else { primary.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(code: i32) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), Some("words of the engine".into()))
    }

    #[test]
    fn codes_decide_and_words_stay() {
        for (code, phase, expected) in [
            (ffi::SQLITE_BUSY, Phase::Run, ErrorKind::Locked),
            (ffi::SQLITE_BUSY_SNAPSHOT, Phase::Run, ErrorKind::Locked),
            (ffi::SQLITE_NOTADB, Phase::Open, ErrorKind::NotADatabase),
            (ffi::SQLITE_NOTADB, Phase::Run, ErrorKind::Corrupt),
            (ffi::SQLITE_CORRUPT_VTAB, Phase::Run, ErrorKind::Corrupt),
            (ffi::SQLITE_IOERR_SHORT_READ, Phase::Run, ErrorKind::Corrupt),
            (ffi::SQLITE_IOERR_READ, Phase::Run, ErrorKind::Io),
            (ffi::SQLITE_READONLY_DIRECTORY, Phase::Open, ErrorKind::Unwritable),
            (ffi::SQLITE_TOOBIG, Phase::Run, ErrorKind::TooLarge),
            (ffi::SQLITE_ERROR, Phase::Compile, ErrorKind::Syntax),
            (ffi::SQLITE_ERROR, Phase::Run, ErrorKind::Data),
            (ffi::SQLITE_AUTH, Phase::Compile, ErrorKind::Refused),
            (ffi::SQLITE_NOMEM, Phase::Run, ErrorKind::Exhausted),
        ] {
            let e = translate(failure(code), phase);
            assert_eq!(e.kind(), expected, "{code}");
            assert_eq!(e.message(), "words of the engine");
            assert!(e.native_code().unwrap().starts_with("SQLITE_"), "{code}");
            assert!(e.downcast_source::<rusqlite::Error>().is_some());
        }
    }

    #[test]
    fn the_place_in_the_text_is_kept() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let e = connection.prepare("SELECT nothing").unwrap_err();
        let e = translate(e, Phase::Compile);
        assert_eq!((e.kind(), e.position()), (ErrorKind::Syntax, Some(7)));
    }
}
