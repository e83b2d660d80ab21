//! SQLSTATE to kind. The server's words are kept whole and never decide anything.

use std::borrow::Cow;
use std::io;

use dbagent_core::context::CallContext;
use dbagent_core::{Error, ErrorKind, Retry};
use sqlx::postgres::{PgDatabaseError, PgErrorPosition};

/// What was being done when an error came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Making a connection, up to its first answer.
    Open,
    /// Asking the catalogue or preparing a transaction.
    Catalogue,
    /// Running a judged statement.
    Run,
}

impl Phase {
    const fn operation(self) -> &'static str {
        match self {
            Phase::Open => "open",
            Phase::Catalogue => "catalogue",
            Phase::Run => "run",
        }
    }
}

/// What a PostgreSQL server said, field by field, as the source of an [`Error`].
///
/// It is a copy without the values of the credentials: some servers repeat the account in their words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerError {
    /// The SQLSTATE, five characters.
    pub code: String,
    /// The sentence.
    pub message: String,
    /// More about it; may hold values of rows.
    pub detail: Option<String>,
    /// The server's own advice.
    pub hint: Option<String>,
    /// Where it happened inside functions.
    pub context: Option<String>,
    /// The constraint that was violated.
    pub constraint: Option<String>,
}

impl std::fmt::Display for ServerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (SQLSTATE {})", self.message, self.code)
    }
}

impl std::error::Error for ServerError {}

/// What of the account must not be seen in the server's words.
#[derive(Clone, Default)]
pub(crate) struct Hidden(pub(crate) Vec<String>);

impl std::fmt::Debug for Hidden {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("****")
    }
}

impl Hidden {
    fn hide(&self, text: &str) -> String {
        let mut text = Cow::Borrowed(text);
        // What is shorter stands in many words by chance.
        for secret in self.0.iter().filter(|s| s.len() > 3) {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), "****"));
            }
        }
        text.into_owned()
    }
}

/// The error for something that the driver says.
pub(crate) fn translate(e: sqlx::Error, phase: Phase) -> Error {
    translate_hiding(e, phase, &Hidden::default())
}

/// The same, for errors that may repeat the credentials.
pub(crate) fn translate_hiding(e: sqlx::Error, phase: Phase, hidden: &Hidden) -> Error {
    match e {
        sqlx::Error::Database(e) => match e.try_downcast::<PgDatabaseError>() {
            Ok(e) => server(&e, phase, hidden),
            Err(e) => Error::new(ErrorKind::Engine, hidden.hide(e.message())).op(phase.operation()),
        },
        sqlx::Error::Io(e) => io_error(e, phase),
        sqlx::Error::Tls(e) => tls(&hidden.hide(&e.to_string())),
        sqlx::Error::Protocol(what) if phase == Phase::Open => Error::new(
            ErrorKind::NotADatabase,
            "what answers there hangs up, or does not speak the protocol of PostgreSQL",
        )
        .op("open")
        .with("seen", hidden.hide(&what))
        .hint("check the host and the port: a server of another kind listens there"),
        sqlx::Error::Configuration(e) => {
            Error::new(ErrorKind::Config, hidden.hide(&e.to_string())).op(phase.operation())
        }
        sqlx::Error::PoolTimedOut => {
            Error::new(ErrorKind::TooManyConnections, "no connection of the host's pool became free in time")
                .op(phase.operation())
                .retry(Retry::Later)
                .hint("wait for other questions to end, or give the pool more connections")
        }
        sqlx::Error::PoolClosed => dbagent_core::permits::closed().op(phase.operation()),
        other => Error::new(ErrorKind::Internal, "the driver could not read what the server sent")
            .op(phase.operation())
            .with("driver", hidden.hide(&other.to_string())),
    }
}

/// The error for a statement that was stopped: by the caller, or by its time.
pub(crate) fn stopped(call: &CallContext, operation: &'static str) -> Error {
    if call.cancel.is_cancelled() {
        return call.over(operation);
    }
    Error::new(ErrorKind::Timeout, "the statement ran past its time limit and was cancelled on the server")
        .op(operation)
        .code("57014")
        .hint("ask for less: filter on an indexed column, aggregate, or leave out a join")
}

/// Whether the server itself cancelled the statement.
pub(crate) fn is_cancelled(e: &sqlx::Error) -> bool {
    sqlstate(e).as_deref() == Some("57014")
}

/// Whether the connection is of no use any more.
pub(crate) fn is_lost(e: &sqlx::Error) -> bool {
    match e {
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => true,
        other => sqlstate(other).is_some_and(|code| {
            matches!(code.as_ref(), "57P01" | "57P02" | "57P03" | "57P05" | "25P03" | "25P04")
                || code.starts_with("08")
        }),
    }
}

/// The SQLSTATE of an error.
pub(crate) fn sqlstate(e: &sqlx::Error) -> Option<Cow<'_, str>> {
    e.as_database_error().and_then(sqlx::error::DatabaseError::code)
}

/// The place that the server points at, as a count of characters from 0.
pub(crate) fn place(e: &sqlx::Error) -> Option<usize> {
    let e = e.as_database_error()?.try_downcast_ref::<PgDatabaseError>()?;
    match e.position()? {
        PgErrorPosition::Original(at) => at.checked_sub(1),
        PgErrorPosition::Internal { .. } => None,
    }
}

/// Puts the place of an error into the judged text, which stood behind `before` characters of ours.
pub(crate) fn at(error: Error, place: Option<usize>, text: &str, before: usize) -> Error {
    let Some(characters) = place.and_then(|p| p.checked_sub(before)) else { return error };
    let offset = text.char_indices().nth(characters).map_or(text.len(), |(i, _)| i);
    error.at(offset)
}

fn server(e: &PgDatabaseError, phase: Phase, hidden: &Hidden) -> Error {
    let said = ServerError {
        code: e.code().to_owned(),
        message: hidden.hide(e.message()),
        detail: e.detail().map(|t| hidden.hide(t)),
        hint: e.hint().map(|t| hidden.hide(t)),
        context: e.r#where().map(|t| hidden.hide(t)),
        constraint: e.constraint().map(str::to_owned),
    };
    let kind = kind(&said.code);
    let mut error = Error::new(kind, said.message.clone()).op(phase.operation()).code(said.code.clone());
    if let Some(detail) = &said.detail {
        error = error.with("detail", dbagent_core::text::shorten(detail, 300));
    }
    if let Some(hint) = said.hint.clone().or_else(|| hint(kind, &said.code).map(str::to_owned)) {
        error = error.hint(hint);
    }
    if matches!(kind, ErrorKind::Conflict | ErrorKind::Locked | ErrorKind::TooManyConnections)
        || matches!(said.code.as_str(), "57P01" | "57P02" | "57P03")
    {
        error = error.retry(Retry::Later);
    }
    error.source(said)
}

/// The kind of a SQLSTATE: single codes first, then classes.
fn kind(code: &str) -> ErrorKind {
    match code {
        "28000" | "28P01" => return ErrorKind::Authentication,
        "3D000" => return ErrorKind::DatabaseNotFound,
        "53300" => return ErrorKind::TooManyConnections,
        "57014" | "25P03" | "25P04" => return ErrorKind::Timeout,
        "57P01" | "57P02" | "57P03" | "57P04" | "57P05" => return ErrorKind::Connection,
        "25006" => return ErrorKind::Refused,
        "42501" => return ErrorKind::Permission,
        "42P01" | "3F000" | "42704" => return ErrorKind::UnknownObject,
        "42703" => return ErrorKind::UnknownColumn,
        "42883" => return ErrorKind::UnknownFunction,
        "42P02" => return ErrorKind::InvalidRequest,
        "42804" | "42846" | "42P18" | "42P21" | "42P22" => return ErrorKind::Data,
        "55P03" => return ErrorKind::Locked,
        "58030" | "58P01" | "58P02" => return ErrorKind::Io,
        "XX001" | "XX002" => return ErrorKind::Corrupt,
        _ => {}
    }
    match code.get(..2).unwrap_or_default() {
        "08" => ErrorKind::Connection,
        "0A" => ErrorKind::Unsupported,
        "21" | "22" => ErrorKind::Data,
        "23" => ErrorKind::Constraint,
        "28" => ErrorKind::Authentication,
        "40" => ErrorKind::Conflict,
        "42" => ErrorKind::Syntax,
        "53" => ErrorKind::Exhausted,
        "54" => ErrorKind::TooLarge,
        _ => ErrorKind::Engine,
    }
}

fn hint(kind: ErrorKind, code: &str) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::Authentication if code == "28P01" => {
            "do not retry: check the user and the password of the target"
        }
        ErrorKind::Authentication => {
            "do not retry: check the user, and the server's pg_hba.conf for this host, user and database"
        }
        ErrorKind::DatabaseNotFound => "do not retry: check the name of the database in the URL",
        ErrorKind::TooManyConnections => {
            "the server has no connection left: wait, or raise its max_connections or the account's limit"
        }
        ErrorKind::Permission => "the account lacks the right: use other objects, or grant SELECT to it",
        ErrorKind::UnknownObject => {
            "list the objects, and write the schema before the name where it needs one"
        }
        ErrorKind::UnknownColumn => "describe the table and use one of its columns",
        ErrorKind::UnknownFunction => {
            "check the function's name and cast its arguments to the types that it takes"
        }
        ErrorKind::Conflict => {
            "another transaction was in the way; the same statement may work a moment later"
        }
        ErrorKind::Locked => "another transaction holds a lock on the table; try again when it is done",
        ErrorKind::Exhausted => {
            "the server ran out of memory, disk or another resource: ask for less at once"
        }
        ErrorKind::Refused => "the session is read-only",
        ErrorKind::Connection => "the server is stopping, starting or restarting; try again in a moment",
        _ => return None,
    })
}

fn io_error(e: io::Error, phase: Phase) -> Error {
    let operation = phase.operation();
    match e.kind() {
        // What rustls says of a certificate or a handshake comes in this kind.
        io::ErrorKind::InvalidData if phase == Phase::Open => tls(&e.to_string()),
        io::ErrorKind::ConnectionRefused => {
            Error::new(ErrorKind::Connection, "the server refused the connection")
                .op(operation)
                .with("reason", &e)
                .hint("do not retry: check that the server runs, and the host and port of the URL")
                .source(e)
        }
        io::ErrorKind::NotFound if phase == Phase::Open => {
            Error::new(ErrorKind::Connection, "there is no such socket or file")
                .op(operation)
                .with("reason", &e)
                .hint("check the folder of the socket, or the path of the certificate or key")
                .source(e)
        }
        _ if phase == Phase::Open => Error::new(
            ErrorKind::Connection,
            "no connection to the server could be made",
        )
        .op(operation)
        .with("reason", &e)
        .hint("check the host and the port of the URL, and that the network lets the connection through")
        .source(e),
        _ => Error::new(ErrorKind::Connection, "the connection to the server was lost")
            .op(operation)
            .with("reason", &e)
            .retry(Retry::Later)
            .hint("the server stopped or the network broke; the next call makes a new connection")
            .source(e),
    }
}

fn tls(reason: &str) -> Error {
    Error::new(ErrorKind::Tls, "no encrypted connection to the server could be made")
        .op("open")
        .with("reason", reason)
        .hint(
            "do not retry: check sslmode, and that sslrootcert names the certificate authority of the server and \
             the host is the one in its certificate",
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_decide() {
        for (code, expected) in [
            ("28P01", ErrorKind::Authentication),
            ("3D000", ErrorKind::DatabaseNotFound),
            ("53300", ErrorKind::TooManyConnections),
            ("53200", ErrorKind::Exhausted),
            ("57014", ErrorKind::Timeout),
            ("57P03", ErrorKind::Connection),
            ("25006", ErrorKind::Refused),
            ("42501", ErrorKind::Permission),
            ("42P01", ErrorKind::UnknownObject),
            ("42703", ErrorKind::UnknownColumn),
            ("42883", ErrorKind::UnknownFunction),
            ("42601", ErrorKind::Syntax),
            ("22012", ErrorKind::Data),
            ("40001", ErrorKind::Conflict),
            ("40P01", ErrorKind::Conflict),
            ("54001", ErrorKind::TooLarge),
            ("XX001", ErrorKind::Corrupt),
            ("P0001", ErrorKind::Engine),
            ("", ErrorKind::Engine),
        ] {
            assert_eq!(kind(code), expected, "{code}");
        }
    }

    #[test]
    fn the_place_is_found_behind_our_own_words_and_other_alphabets() {
        let e = || Error::new(ErrorKind::Syntax, "x");
        assert_eq!(at(e(), Some(2), "é表x", 0).position(), Some(5));
        assert_eq!(at(e(), Some(12), "é表x", 10).position(), Some(5));
        assert_eq!(at(e(), Some(3), "é表x", 10).position(), None);
        assert_eq!(at(e(), Some(99), "é", 0).position(), Some(2));
    }

    #[test]
    fn credentials_are_hidden() {
        let hidden = Hidden(vec!["canary".into(), String::new()]);
        assert_eq!(hidden.hide("role \"canary\" is not permitted"), "role \"****\" is not permitted");
        assert_eq!(format!("{hidden:?}"), "****");
    }
}
