//! Streams the rows of a judged statement into the sink.

use std::time::Duration;

use dbagent_core::rows::{Flow, Sink};
use dbagent_core::{Error, ErrorKind, Result};
use futures_util::TryStreamExt as _;
use sqlx::mysql::{MySqlArguments, MySqlRow};
use sqlx::{
    AssertSqlSafe, Connection as _, Executor as _, MySqlConnection, Row as _, SqlSafeStr as _, Statement as _,
};

use crate::host::Held;
use crate::types::{self, Spec, TypedWriter};

/// How a stream of rows ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Every row was read.
    Whole,
    /// The sink had enough; the statement still runs.
    Stopped,
}

/// Why a stream of rows ended early.
pub(crate) enum Failed {
    /// The driver or the server says so.
    Driver(sqlx::Error),
    /// We say so, and the statement still runs.
    Ours(Error),
}

impl From<sqlx::Error> for Failed {
    fn from(e: sqlx::Error) -> Self {
        Self::Driver(e)
    }
}

impl From<Error> for Failed {
    fn from(e: Error) -> Self {
        Self::Ours(e)
    }
}

/// Runs the text as one prepared statement until its rows are done or the sink has enough.
///
/// Rows are taken from the connection only when the sink takes them: a slow reader slows the server.
pub(crate) async fn stream(
    connection: &mut Held,
    text: &str,
    arguments: MySqlArguments,
    sink: Sink,
    read_timeout: Option<Duration>,
) -> Result<Ended, Failed> {
    let keep = connection.keeps_statements();
    let mut sink = Some(sink);
    let mut result: Option<(TypedWriter, Vec<Spec>)> = None;
    let prepared_before = connection.cached_statements_size();
    {
        let query = sqlx::query_with(AssertSqlSafe(text), arguments).persistent(keep);
        let mut rows = query.fetch(&mut **connection);
        while let Some(row) = within(read_timeout, rows.try_next()).await? {
            if result.is_none() {
                let Some(sink) = sink.take() else { break };
                let specs = types::specs(row.columns());
                result = Some((TypedWriter::new(sink, specs.clone()), specs));
            }
            let Some((writer, specs)) = &mut result else { break };
            write(&row, specs, writer)?;
            if writer.end_row().await? == Flow::Stop {
                return Ok(Ended::Stopped);
            }
        }
    }
    match (result, sink) {
        (Some((writer, _)), _) => writer.finish().await?,
        // No row told the columns: the server does.
        (None, Some(sink)) => {
            let is_fresh = connection.cached_statements_size() > prepared_before;
            let specs = columns(connection, text, is_fresh).await?;
            TypedWriter::new(sink, specs).finish().await?;
        }
        (None, None) => {}
    }
    Ok(Ended::Whole)
}

/// The columns of a statement that was run and gave no row, as they were when it was prepared. One that was
/// prepared for an earlier call may have other columns by now.
async fn columns(connection: &mut Held, text: &str, is_fresh: bool) -> sqlx::Result<Vec<Spec>> {
    connection.gather().await?;
    if !is_fresh {
        connection.clear_cached_statements().await?;
    }
    let statement = connection.prepare(AssertSqlSafe(text).into_sql_str()).await?;
    Ok(types::specs(statement.columns()))
}

/// Waits for the next row, but not longer than the host's `read_timeout` for the bytes of one.
async fn within<T>(
    limit: Option<Duration>,
    next: impl Future<Output = sqlx::Result<T>>,
) -> Result<T, Failed> {
    let Some(limit) = limit else { return Ok(next.await?) };
    match tokio::time::timeout(limit, next).await {
        Ok(next) => Ok(next?),
        Err(_) => Err(Failed::Ours(
            Error::new(ErrorKind::Timeout, "the server sent nothing for the time of read_timeout")
                .with("read_timeout", format!("{limit:?}"))
                .hint("ask for less, or let the host raise read_timeout"),
        )),
    }
}

fn write(row: &MySqlRow, specs: &[Spec], writer: &mut TypedWriter) -> Result<()> {
    for (index, spec) in specs.iter().enumerate() {
        writer.value(index, types::bytes(row, index, spec.code)?)?;
    }
    Ok(())
}

/// All rows of a statement, each value as text, for plans: they are short. `keep` is whether it may stay prepared.
pub(crate) async fn texts(
    connection: &mut MySqlConnection,
    text: &str,
    arguments: MySqlArguments,
    keep: bool,
) -> sqlx::Result<Vec<Vec<(String, Option<String>)>>> {
    use sqlx::Column as _;
    let query = sqlx::query_with(AssertSqlSafe(text), arguments).persistent(keep);
    let rows = query.fetch_all(connection).await?;
    let mut found = Vec::with_capacity(rows.len());
    for row in &rows {
        let mut values = Vec::with_capacity(row.len());
        for (index, (column, spec)) in row.columns().iter().zip(types::specs(row.columns())).enumerate() {
            let bytes = types::bytes(row, index, spec.code).map_err(|e| sqlx::Error::Decode(Box::new(e)))?;
            values.push((column.name().to_owned(), bytes.map(|b| types::shown(b, spec.code))));
        }
        found.push(values);
    }
    Ok(found)
}
