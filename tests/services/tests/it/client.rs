//! Clients: a real driver, and as much of a protocol as it takes to see that nobody answers.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use sqlx::mysql::{MySqlConnectOptions, MySqlSslMode};
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::{ConnectOptions as _, Connection as _};

/// What comes of a statement: the text in its one cell, or how the server refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    Text(String),
    Nothing,
    /// SQLSTATE, and on MySQL also its own number.
    Refused(String),
    /// There was no connection, or TLS failed.
    Failed(String),
}

impl Answer {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    pub(crate) fn refused(code: &str) -> Self {
        Self::Refused(code.to_owned())
    }
}

/// Runs one statement on a connection of its own.
pub(crate) fn postgres(options: &PgConnectOptions, sql: &'static str) -> Answer {
    wait(async {
        let mut connection = options.connect().await?;
        let cell = sqlx::query_scalar(sql).fetch_optional(&mut connection).await?;
        connection.close().await?;
        Ok(cell)
    })
}

/// Runs one statement on a connection of its own, on MySQL or MariaDB.
pub(crate) fn mysql(options: &MySqlConnectOptions, sql: &'static str) -> Answer {
    wait(async {
        let mut connection = options.connect().await?;
        let cell = sqlx::query_scalar(sql).fetch_optional(&mut connection).await?;
        connection.close().await?;
        Ok(cell)
    })
}

pub(crate) fn postgres_url(url: &str) -> PgConnectOptions {
    url.parse().unwrap()
}

/// A URL of MySQL or MariaDB; nothing is asked of TLS.
pub(crate) fn mysql_url(url: &str) -> MySqlConnectOptions {
    url.parse::<MySqlConnectOptions>().unwrap().ssl_mode(MySqlSslMode::Preferred)
}

/// With a server that must be who it says.
pub(crate) fn postgres_verified(url: &str, authority: &str) -> PgConnectOptions {
    postgres_url(url).ssl_mode(PgSslMode::VerifyFull).ssl_root_cert(authority)
}

/// With a server that must be who it says.
pub(crate) fn mysql_verified(url: &str, authority: &str) -> MySqlConnectOptions {
    mysql_url(url).ssl_mode(MySqlSslMode::VerifyIdentity).ssl_ca(authority)
}

fn wait(work: impl Future<Output = Result<Option<String>, sqlx::Error>>) -> Answer {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let done = runtime.block_on(async { tokio::time::timeout(Duration::from_mins(1), work).await });
    // An answer takes less than a minute.
    match done.unwrap() {
        Ok(Some(text)) => Answer::Text(text),
        Ok(None) => Answer::Nothing,
        Err(sqlx::Error::Database(error)) => Answer::Refused(code(error.as_ref())),
        Err(error) => Answer::Failed(error.to_string()),
    }
}

fn code(error: &dyn sqlx::error::DatabaseError) -> String {
    match error.try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>() {
        Some(error) => error.number().to_string(),
        None => error.code().unwrap_or_default().into_owned(),
    }
}

/// A connection to a Postgres server on this machine, which has been asked whether it speaks TLS.
pub(crate) struct Asked(TcpStream);

pub(crate) fn ask_postgres(port: u16) -> std::io::Result<Asked> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.write_all(&[0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])?;
    Ok(Asked(stream))
}

/// A connection to a MySQL server on this machine, which speaks first.
pub(crate) fn ask_mysql(port: u16) -> std::io::Result<Asked> {
    Ok(Asked(TcpStream::connect(("127.0.0.1", port))?))
}

impl Asked {
    /// Whether no answer comes for a moment.
    pub(crate) fn is_silent(&mut self) -> bool {
        self.0.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        let answer = self.0.read(&mut [0]);
        matches!(answer, Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
    }

    /// Whether an answer comes.
    pub(crate) fn is_answered(&mut self) -> bool {
        self.0.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        self.0.read(&mut [0]).is_ok_and(|read| read == 1)
    }
}

/// Whether nobody listens on a port of this machine.
pub(crate) fn nobody_listens(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}
