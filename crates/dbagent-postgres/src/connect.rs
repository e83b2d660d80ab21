//! Makes connections, with libpq's second tries, and reads once what a session has to know of its server.

use dbagent_core::{Error, ErrorKind, Result};
use sqlx::postgres::{PgConnection, PgSslMode};
use sqlx::{Connection as _, Row as _};

use crate::error::{Phase, sqlstate, translate, translate_hiding};
use crate::options::{Host, Place, TlsMode, Wanted};
use crate::transaction;

/// What a session knows of its server from its first connection on.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    /// Such as `18.6`, in the server's own words.
    pub(crate) version: String,
    /// Such as `180006`.
    pub(crate) version_number: i32,
    /// Whether it is a standby.
    pub(crate) standby: bool,
    /// The schemas in which names without one are looked up, as the account has them.
    pub(crate) schemas: Vec<String>,
    /// The search path that every transaction pins: the catalogue first, temporary objects last.
    pub(crate) search_path: String,
    /// The schemas of that path without the temporary ones, as an array of the server's own spelling.
    pub(crate) path: String,
    /// How many of its smallest units make one of `money`.
    pub(crate) money: i64,
    /// The encoding that the database keeps names and texts in.
    pub(crate) encoding: String,
}

/// `money` is read as its bytes, since its text depends on the locale.
const FACTS: &str = "SELECT pg_catalog.current_setting('server_version') AS version, \
     pg_catalog.current_setting('server_version_num')::pg_catalog.int4 AS number, \
     pg_catalog.pg_is_in_recovery() AS standby, \
     ARRAY(SELECT s::pg_catalog.text FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) AS s \
           WHERE pg_catalog.left(s::pg_catalog.text, 3) OPERATOR(pg_catalog.<>) 'pg_') AS schemas, \
     pg_catalog.concat_ws(', ', 'pg_catalog', (SELECT pg_catalog.string_agg(pg_catalog.quote_ident(s), ', ') \
           FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) AS s \
           WHERE pg_catalog.left(s::pg_catalog.text, 3) OPERATOR(pg_catalog.<>) 'pg_'), 'pg_temp') AS search_path, \
     pg_catalog.array_prepend('pg_catalog'::pg_catalog.text, \
           ARRAY(SELECT s::pg_catalog.text FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) AS s \
                 WHERE pg_catalog.left(s::pg_catalog.text, 3) OPERATOR(pg_catalog.<>) 'pg_'))::pg_catalog.text AS path, \
     pg_catalog.money(1) AS money, pg_catalog.current_setting('server_encoding') AS encoding";

/// Opens one connection to the first host that will do.
///
/// # Errors
/// What is wrong, each with a kind of its own; of several hosts, that of the last one.
pub(crate) async fn connect(place: &Place) -> Result<PgConnection> {
    let mut failed = Error::new(ErrorKind::Config, "the URL names no host");
    for host in &place.hosts {
        match connect_to(place, host).await {
            Ok(mut conn) => match fits(place, host, &mut conn).await {
                Ok(()) => return Ok(conn),
                Err(e) => failed = e,
            },
            Err(e) => {
                let elsewhere = matches!(e.kind(), ErrorKind::Connection | ErrorKind::TooManyConnections);
                failed = e;
                if !elsewhere {
                    break;
                }
            }
        }
    }
    Err(failed)
}

async fn connect_to(place: &Place, host: &Host) -> Result<PgConnection> {
    let named = |e: Error| e.with("host", &host.name).with("port", host.port);
    let mut attempts = place.tls.mode.attempts().iter().peekable();
    while let Some(mode) = attempts.next() {
        match PgConnection::connect_with(&place.connect_options(host, *mode)).await {
            Ok(conn) => return Ok(conn),
            Err(e) if attempts.peek().is_some() && encryption_may_help(&e) => {}
            Err(e) => return Err(named(explained(place, host, e).await)),
        }
    }
    Err(Error::new(ErrorKind::Internal, "no way of encryption was tried"))
}

/// Whether the other way of encryption may get further.
fn encryption_may_help(e: &sqlx::Error) -> bool {
    match e {
        sqlx::Error::Tls(_) => true,
        sqlx::Error::Io(e) => {
            matches!(e.kind(), std::io::ErrorKind::InvalidData | std::io::ErrorKind::UnexpectedEof)
        }
        other => sqlstate(other).as_deref() == Some("28000"),
    }
}

/// The error for a connection that failed. Where encryption is switched off, the server is asked once more
/// with it, without the password: how it answers tells what is wrong, where its own words would have to be
/// understood.
async fn explained(place: &Place, host: &Host, e: sqlx::Error) -> Error {
    let refused = sqlstate(&e).as_deref() == Some("28000");
    let cut = matches!(&e, sqlx::Error::Io(e) if e.kind() == std::io::ErrorKind::UnexpectedEof);
    if place.tls.mode == TlsMode::Disable && (refused || cut) {
        let mode = if refused { PgSslMode::Require } else { PgSslMode::Prefer };
        match PgConnection::connect_with(&place.probe_options(host, mode)).await {
            Err(answer) if cut && matches!(answer, sqlx::Error::Protocol(_)) => {
                return translate_hiding(answer, Phase::Open, &place.hidden);
            }
            Err(answer) if refused && sqlstate(&answer).as_deref() == Some("28P01") => return needs_tls(),
            Ok(_) if refused => return needs_tls(),
            _ => {}
        }
    }
    translate_hiding(e, Phase::Open, &place.hidden)
}

fn needs_tls() -> Error {
    Error::new(ErrorKind::Tls, "the server admits this account only over an encrypted connection")
        .op("open")
        .code("28000")
        .hint("do not retry: write sslmode=require, or better verify-full, in the URL")
}

/// Whether the server is of the kind that `target_session_attrs` wants.
async fn fits(place: &Place, host: &Host, conn: &mut PgConnection) -> Result<()> {
    if place.wanted == Wanted::Any {
        return Ok(());
    }
    let standby = facts(conn).await?.standby;
    let (wanted, is) = match (place.wanted, standby) {
        (Wanted::Primary, true) => ("a primary server", "a read-only replica"),
        (Wanted::Standby, false) => ("a standby", "the primary server"),
        _ => return Ok(()),
    };
    Err(Error::new(
        ErrorKind::Unwritable,
        format!("the server is {is}, and target_session_attrs wants {wanted}"),
    )
    .op("open")
    .with("host", &host.name)
    .with("port", host.port)
    .hint("name another host, or leave target_session_attrs out: dbagent only reads"))
}

/// Reads what a session has to know.
///
/// # Errors
/// What the server says.
pub(crate) async fn facts(conn: &mut PgConnection) -> Result<Facts> {
    let read = |row: sqlx::postgres::PgRow| {
        let money =
            row.try_get_raw("money")?.as_bytes().ok().and_then(|b| b.try_into().ok()).map(i64::from_be_bytes);
        Ok(Facts {
            version: row.try_get("version")?,
            version_number: row.try_get("number")?,
            standby: row.try_get("standby")?,
            schemas: row.try_get("schemas")?,
            search_path: row.try_get("search_path")?,
            path: row.try_get("path")?,
            money: money.filter(|units| *units > 0).unwrap_or(100),
            encoding: row.try_get("encoding")?,
        })
    };
    let asked = async {
        transaction::open(conn).await?;
        let row = sqlx::query(FACTS).persistent(false).fetch_one(&mut *conn).await?;
        transaction::close(conn).await?;
        read(row)
    };
    asked.await.map_err(|e| translate(e, Phase::Catalogue).op("open"))
}
