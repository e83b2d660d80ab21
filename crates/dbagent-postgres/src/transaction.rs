//! The transaction that every statement runs in: read-only, with limits of its own, and nothing outlives it.

use std::time::Duration;

use sqlx::postgres::PgConnection;
use sqlx::{Executor as _, Row as _};

use crate::connect::Facts;

/// How much longer than the client the server waits before it gives up by itself.
const MARGIN: Duration = Duration::from_millis(250);
/// How long a lock is waited for.
const LOCK_WAIT: Duration = Duration::from_secs(5);
/// How long a transaction of ours may at least be idle: between the parts of a cursor a slow reader leaves it
/// so, and after a call only a client that died.
const IDLE: Duration = Duration::from_secs(60);

/// The first statement of each transaction. It pins everything that decides what a text means or what may be
/// done; the account's own settings, and those of its database, would win otherwise. `set_config(…, true)` is
/// `SET LOCAL` with a bound value. A database in SQL_ASCII knows no encoding: its bytes are taken as they are.
const SETTINGS: &str = "SELECT pg_catalog.pg_backend_pid() AS pid, \
     pg_catalog.set_config('statement_timeout', $1, true), \
     pg_catalog.set_config('lock_timeout', $2, true), \
     pg_catalog.set_config('idle_in_transaction_session_timeout', $3, true), \
     pg_catalog.set_config('search_path', $4, true), pg_catalog.set_config('dbagent.schemas', $5, true), \
     pg_catalog.set_config('client_encoding', CASE pg_catalog.current_setting('server_encoding') \
                           WHEN 'SQL_ASCII' THEN 'SQL_ASCII' ELSE 'UTF8' END, true), \
     pg_catalog.set_config('default_transaction_read_only', 'on', true), \
     pg_catalog.set_config('standard_conforming_strings', 'on', true), \
     pg_catalog.set_config('backslash_quote', 'safe_encoding', true), \
     pg_catalog.set_config('transform_null_equals', 'off', true), \
     pg_catalog.set_config('row_security', 'on', true), \
     pg_catalog.set_config('quote_all_identifiers', 'off', true), \
     pg_catalog.set_config('client_min_messages', 'error', true), \
     pg_catalog.set_config('cursor_tuple_fraction', '1', true), \
     pg_catalog.set_config('DateStyle', 'ISO, MDY', true), \
     pg_catalog.set_config('IntervalStyle', 'postgres', true), \
     pg_catalog.set_config('TimeZone', 'UTC', true), \
     pg_catalog.set_config('bytea_output', 'hex', true), \
     pg_catalog.set_config('extra_float_digits', '1', true)";

/// Where our own texts find functions and operators: an exact match of a user's would win over one of Postgres'
/// own that only fits.
pub(crate) const OWN_PATH: &str = "pg_catalog, pg_temp";

/// What stays after a transaction was rolled back: locks that a session holds by itself, and what it listens
/// to. One message, so that behind a pooler all of it reaches the server that the transaction ran on.
const RESET: &str = "ROLLBACK; SELECT pg_catalog.pg_advisory_unlock_all(); UNLISTEN *";

/// What the texts of a transaction are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Texts {
    /// Those of a request, whose names mean what they mean to the account.
    Judged,
    /// Our own, that the guard relies on: no function or operator of a user is in reach of their names.
    Own,
}

/// Begins a transaction and returns the process of the server that runs it.
///
/// The simple protocol carries constant texts of ours and nothing else.
pub(crate) async fn begin(
    conn: &mut PgConnection,
    facts: &Facts,
    texts: Texts,
    limit: Duration,
    persistent: bool,
) -> sqlx::Result<i32> {
    open(conn).await?;
    let row = sqlx::query(SETTINGS)
        .bind(milliseconds(limit.saturating_add(MARGIN)))
        .bind(milliseconds(LOCK_WAIT.min(limit)))
        .bind(milliseconds(IDLE.max(limit.saturating_add(MARGIN))))
        .bind(match texts {
            Texts::Judged => facts.search_path.as_str(),
            Texts::Own => OWN_PATH,
        })
        .bind(&facts.path)
        .persistent(persistent)
        .fetch_one(conn)
        .await?;
    row.try_get("pid")
}

/// Begins a transaction for one statement of ours outside a call. Behind a pooler the messages of a statement
/// reach the same server only inside one.
pub(crate) async fn open(conn: &mut PgConnection) -> sqlx::Result<()> {
    conn.execute(sqlx::raw_sql("BEGIN READ ONLY")).await.map(|_| ())
}

/// Ends it.
pub(crate) async fn close(conn: &mut PgConnection) -> sqlx::Result<()> {
    conn.execute(sqlx::raw_sql("ROLLBACK")).await.map(|_| ())
}

/// Ends a transaction, whatever state it is in, and takes back what it cannot take back itself.
pub(crate) async fn reset(conn: &mut PgConnection) -> sqlx::Result<()> {
    conn.execute(sqlx::raw_sql(RESET)).await.map(|_| ())
}

/// A time for a setting; zero would mean no limit, and the server counts in 31 bits.
fn milliseconds(time: Duration) -> String {
    i32::try_from(time.as_millis()).unwrap_or(i32::MAX).max(1).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_time_means_no_limit_to_the_server() {
        assert_eq!(milliseconds(Duration::ZERO), "1");
        assert_eq!(milliseconds(Duration::from_secs(30)), "30000");
        assert_eq!(milliseconds(Duration::MAX), i32::MAX.to_string());
    }
}
