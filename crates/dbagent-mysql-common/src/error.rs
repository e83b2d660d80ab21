//! The server's numbers to kinds. Messages are kept and never decide anything.

mod kind;
mod place;

use std::io;

use dbagent_core::context::CallContext;
use dbagent_core::{Error, ErrorKind, Retry, Secret};
use sqlx::mysql::MySqlDatabaseError;

use crate::flavor::Server;
use crate::location::Location;
use crate::probe::Greeting;
use crate::tls::Mode;

/// The error as the core knows it: kind, the server's own words, its number and SQLSTATE, the place in the
/// text.
pub(crate) fn translate(e: sqlx::Error, text: Option<&str>) -> Error {
    let error = match &e {
        sqlx::Error::Database(_) => match database(&e) {
            Some(said) => server(said, text),
            None => Error::new(ErrorKind::Internal, "the driver reports an error of another database"),
        },
        sqlx::Error::Io(cause) => lost(cause),
        sqlx::Error::Tls(cause) => {
            Error::new(ErrorKind::Tls, format!("the encrypted connection failed: {cause}"))
        }
        sqlx::Error::Protocol(_) if is_vector(&e) => Error::new(
            ErrorKind::Unsupported,
            "a column of the result is a VECTOR, which the driver does not know",
        )
        .hint("select VECTOR_TO_STRING(column) instead of the column"),
        // What the server sent cannot be read: above all a column of a type that the driver does not know.
        sqlx::Error::Protocol(said) => {
            Error::new(ErrorKind::Unsupported, format!("the driver cannot read the answer: {}", words(said)))
                .hint(
                    "a column may be of a type that the driver does not know: convert it in the \
                     statement (HEX, CAST)",
                )
        }
        sqlx::Error::PoolTimedOut => {
            Error::new(ErrorKind::TooManyConnections, "no connection of the host's pool became free in time")
                .hint("wait for other questions to end, or give the pool more connections")
                .retry(Retry::Later)
        }
        sqlx::Error::PoolClosed => Error::new(ErrorKind::Connection, "the host's pool was closed")
            .hint("open a pool again and make a session over it"),
        sqlx::Error::WorkerCrashed => {
            Error::new(ErrorKind::Connection, "the driver cannot go on with what the server sent").hint(
                "something between dbagent and the server changes what is sent, or the server is broken",
            )
        }
        sqlx::Error::Encode(cause) => {
            Error::new(ErrorKind::Data, format!("a parameter does not fit: {cause}"))
        }
        other => Error::new(ErrorKind::Internal, format!("the driver failed: {other}")),
    };
    error.source(e)
}

/// The error for a statement that was stopped by the end of its call.
pub(crate) fn stopped(call: &CallContext, operation: &'static str) -> Error {
    if call.cancel.is_cancelled() {
        return call.over(operation);
    }
    Error::new(
        ErrorKind::Timeout,
        "the statement ran past its time limit, and the server was told to stop it",
    )
    .op(operation)
    .hint("ask for less: filter on an indexed column, aggregate, or leave out a join")
}

/// The same for an error that came while a call was ending: an interruption is the call's doing.
pub(crate) fn translate_under(
    e: sqlx::Error,
    text: &str,
    call: &CallContext,
    operation: &'static str,
) -> Error {
    if call.is_over() { stopped(call, operation).source(e) } else { translate(e, Some(text)).op(operation) }
}

/// Whether nothing more can be done on the connection. What the server itself answers leaves it whole.
pub(crate) fn is_lost(e: &sqlx::Error) -> bool {
    match database(e) {
        Some(said) => kind::ends_the_connection(said.number()),
        None => true,
    }
}

/// Whether the driver gave up at a column of MySQL's type VECTOR. It has no other words for it.
pub(crate) fn is_vector(e: &sqlx::Error) -> bool {
    matches!(e, sqlx::Error::Protocol(said) if said.contains("unknown column type 0xf2"))
}

/// The server's number of an error.
pub(crate) fn number(e: &sqlx::Error) -> Option<u16> {
    database(e).map(MySqlDatabaseError::number)
}

fn database(e: &sqlx::Error) -> Option<&MySqlDatabaseError> {
    match e {
        sqlx::Error::Database(said) => said.try_downcast_ref::<MySqlDatabaseError>(),
        _ => None,
    }
}

fn server(said: &MySqlDatabaseError, text: Option<&str>) -> Error {
    let number = said.number();
    let state = said.code();
    let kind = kind::of(number, state);
    let code = state.map_or_else(|| number.to_string(), |state| format!("{number} ({state})"));
    let mut error = Error::new(kind, said.message()).code(code);
    if let Some(place) = text.and_then(|text| place::find(number, said.message(), text)) {
        error = error.at(place);
    }
    if let Some(hint) = kind::hint(number, kind) {
        error = error.hint(hint);
    }
    if matches!(kind, ErrorKind::Locked | ErrorKind::Conflict | ErrorKind::TooManyConnections) {
        error = error.retry(Retry::Later);
    }
    error
}

fn lost(cause: &io::Error) -> Error {
    Error::new(ErrorKind::Connection, format!("the connection to the server was lost: {cause}"))
        .hint("the server was stopped, the connection was ended there, or the network failed")
        .retry(Retry::Later)
}

/// The words of the driver without the place in its own code.
fn words(said: &str) -> &str {
    said.split(" (/").next().unwrap_or(said).lines().next().unwrap_or(said)
}

/// The error for a connection that did not come about. `None` is a driver that could not go on at all.
pub(crate) fn connecting(
    e: Option<sqlx::Error>,
    location: &Location,
    server: Server,
    greeting: Greeting,
) -> Error {
    let place = location.place();
    let new = |kind, message: String| Error::new(kind, message).op("open").with("server", &place);
    let stranger = || {
        new(ErrorKind::NotADatabase, format!("what listens there does not speak as {} does", server.title()))
            .hint(
                "check host and port; a server of another kind listens there (MySQL's own X protocol, usually on \
                 port 33060, is another kind too)",
            )
    };
    let Some(e) = e else { return stranger() };
    let error = match &e {
        sqlx::Error::Protocol(_) | sqlx::Error::Io(_) if greeting == Greeting::Other => stranger(),
        sqlx::Error::Protocol(said) => new(
            ErrorKind::Authentication,
            format!("the login cannot be done: {}", login_words(said)),
        )
        .hint(
            "dbagent can log in by caching_sha2_password, mysql_native_password and sha256_password: give the account \
             one of these plugins",
        ),
        sqlx::Error::Configuration(said) if location.tls.mode == Mode::Disabled || location.password.is_some() => {
            // The one thing that the driver is not configured for: encrypting a password without TLS.
            new(ErrorKind::Tls, format!("the server wants the password over an encrypted connection ({said})"))
                .hint("use ssl-mode=REQUIRED, and let the server have a certificate")
        }
        sqlx::Error::Io(cause) => unreachable_server(cause, location, &new),
        sqlx::Error::Tls(cause) => certificate(&cause.to_string(), &new),
        sqlx::Error::Database(_) => {
            let error = translate(e, None).op("open").with("server", &place);
            return if error.kind() == ErrorKind::Authentication && location.tls.mode == Mode::Disabled {
                error.hint("check user and password; the account may also require TLS, which ssl-mode=DISABLED turns off")
            } else {
                at_login(error)
            };
        }
        _ => return translate(e, None).op("open").with("server", &place),
    };
    error.source(e)
}

/// The error without what came as a credential, where the server or the system repeats it. The source goes with
/// it: nothing can be taken out of that.
pub(crate) fn without_secrets(e: Error, secrets: &[Secret]) -> Error {
    /// What is shorter is part of other words.
    const SHORTEST: usize = 3;
    let secrets: Vec<&str> = secrets.iter().map(Secret::expose).filter(|s| s.len() >= SHORTEST).collect();
    let mut everything = format!("{e} {e:?} {:?}", e.hint_text());
    let mut source = std::error::Error::source(&e);
    while let Some(inner) = source {
        everything.push_str(&inner.to_string());
        source = inner.source();
    }
    if !secrets.iter().any(|secret| everything.contains(secret)) {
        return e;
    }
    let hide = |text: &str| secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "****"));
    let mut clean = Error::new(e.kind(), hide(e.message())).retry(e.retry_advice());
    if let Some(operation) = e.operation() {
        clean = clean.op(operation);
    }
    for (key, value) in e.context() {
        clean = clean.with(key, hide(value));
    }
    if let Some(code) = e.native_code() {
        clean = clean.code(code);
    }
    match e.hint_text() {
        Some(hint) => clean.hint(hide(hint)),
        None => clean,
    }
}

/// At a login, an unknown database is the target's and no mistake in a statement.
fn at_login(error: Error) -> Error {
    if error.kind() != ErrorKind::UnknownObject {
        return error;
    }
    let mut again = Error::new(ErrorKind::DatabaseNotFound, error.message()).op("open").hint(
        "check the name behind the / of the URL; the account sees only databases that it has a right on",
    );
    for (key, value) in error.context() {
        again = again.with(key, value);
    }
    match error.native_code() {
        Some(code) => again.code(code.to_owned()).source(error),
        None => again.source(error),
    }
}

/// The name of a plugin where the driver gives one, else all of its words.
fn login_words(said: &str) -> String {
    match said.split_once("unknown authentication plugin: ") {
        Some((_, rest)) => {
            let name = rest.split([' ', '\n']).next().unwrap_or(rest);
            format!("the account logs in by the plugin {name}, which the driver does not have")
        }
        None if said.contains("mysql_cleartext_plugin") => {
            "the account logs in by the plugin mysql_clear_password, which would show the password".to_owned()
        }
        None => words(said).to_owned(),
    }
}

fn unreachable_server(
    cause: &io::Error,
    location: &Location,
    new: &dyn Fn(ErrorKind, String) -> Error,
) -> Error {
    let tls = matches!(location.tls.mode, Mode::Required | Mode::VerifyCa | Mode::VerifyIdentity);
    match cause.kind() {
        io::ErrorKind::ConnectionRefused => new(ErrorKind::Connection, "the connection was refused".to_owned())
            .hint("nothing listens there: check host and port, and that the server runs and is not bound to another address"),
        io::ErrorKind::NotFound if location.socket.is_some() => {
            new(ErrorKind::Connection, "the socket does not exist".to_owned())
                .hint("check the path, and that the server runs (SHOW VARIABLES LIKE 'socket' names its own)")
        }
        io::ErrorKind::PermissionDenied => new(ErrorKind::Connection, format!("the connection was not allowed: {cause}"))
            .hint("the system refuses it: check the rights on the socket, or the firewall"),
        // rustls puts what it finds wrong with a certificate into an error of this kind.
        io::ErrorKind::InvalidData => certificate(&cause.to_string(), new),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset if tls => {
            new(ErrorKind::Tls, format!("the server ended the connection while it was being encrypted: {cause}"))
                .hint("the server may want a client certificate (ssl-cert, ssl-key), or no version of TLS fits both")
        }
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
            new(ErrorKind::Connection, format!("the server ended the connection at once: {cause}"))
                .hint("it may be stopping, or refuse this host")
        }
        _ => new(ErrorKind::Connection, format!("the server cannot be reached: {cause}"))
            .hint("check the name of the host, the port and the network"),
    }
}

fn certificate(said: &str, new: &dyn Fn(ErrorKind, String) -> Error) -> Error {
    new(ErrorKind::Tls, format!("the encrypted connection failed: {said}")).hint(
        "the server has no TLS, or its certificate is not for this host or not signed by an authority that is \
         trusted: give its authority by ssl-ca; VERIFY_CA leaves the host's name unchecked, REQUIRED checks nothing",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_as_a_credential_is_not_repeated() {
        let e = Error::new(ErrorKind::Authentication, "Access denied for user 'canary'@'h'")
            .code("1045 (28000)")
            .hint("is canary right?")
            .source(io::Error::other("canary"));
        let e = without_secrets(e, &[Secret::new("canary"), Secret::new("")]);
        assert_eq!(e.to_string(), "Access denied for user '****'@'h' (code: 1045 (28000))");
        assert!(!format!("{e:?} {:?}", e.hint_text()).contains("canary"));
        let e = without_secrets(
            Error::new(ErrorKind::Io, "x").source(io::Error::other("y")),
            &[Secret::new("canary")],
        );
        assert!(e.downcast_source::<io::Error>().is_some());
    }

    #[test]
    fn plugins_are_named() {
        let said = "unknown authentication plugin: client_ed25519 (/src/protocol/auth.rs:36)";
        assert!(login_words(said).contains("the plugin client_ed25519, which"), "{}", login_words(said));
        let said = "encountered unexpected or invalid data: unknown authentication plugin: parsec";
        assert!(login_words(said).contains("the plugin parsec, which"));
        assert!(login_words("mysql_cleartext_plugin disabled").contains("mysql_clear_password"));
        assert_eq!(login_words("expected 21 bytes but found 3 bytes"), "expected 21 bytes but found 3 bytes");
    }
}
