//! Streams the rows of a judged statement into the sink.
//!
//! The text is prepared first, so that the columns are known also of a result without rows and parameters
//! are bound as what the server takes them for. The rows arrive in binary; the driver is only polled while
//! the sink takes them, so a slow reader slows the server.

use std::pin::pin;

use dbagent_core::context::CallContext;
use dbagent_core::rows::{ColumnSpec, Flow, RowWriter, Sink};
use dbagent_core::{Cleared, Error, ErrorKind, Params, Result, guard};
use futures_util::StreamExt as _;
use sqlx::postgres::{PgRow, PgStatement};
use sqlx::{
    AssertSqlSafe, Column as _, Executor as _, Row as _, SqlSafeStr as _, Statement as _, ValueRef as _,
};

use crate::error::{self, sqlstate, stopped};
use crate::pool::Link;
use crate::types::{Shape, binary};
use crate::{bind, cursor};

/// How many names are tried after the first for a prepared statement.
pub(crate) const NAMES: u32 = 8;

/// Runs a cleared statement until its rows are done or the sink has enough.
///
/// # Errors
/// What the server says; [`ErrorKind::TooLarge`] for a value over the cap.
pub(crate) async fn stream(
    link: &mut Link,
    cleared: &Cleared,
    sink: Sink,
    money: i64,
    call: &CallContext,
) -> Result<()> {
    let text = cleared.text();
    let is_query = cleared.parsed().class == guard::StatementClass::Read;
    let mut sink = Some(sink);
    // What was prepared earlier may have become stale, for which the server has codes of its own.
    for last in [false, true] {
        let statement = match prepare(link, text, call).await? {
            Ok(statement) => statement,
            Err(e) if is_stale(&e) && !last => {
                link.renew(call).await?;
                continue;
            }
            Err(e) if is_query && is_unreadable(&e) => {
                // The driver does not know a type of the result; the server does.
                forget(link, text, call).await?;
                let sink = sink.take().ok_or_else(used_twice)?;
                return cursor::stream(link, text, cleared.params(), None, sink, money, call).await;
            }
            Err(e) => return Err(failed(link, e, text, 0, call)),
        };
        let shapes: Vec<Shape> =
            statement.columns().iter().map(|c| Shape::of(c.type_info(), money)).collect();
        let columns = announce(statement.columns().iter().map(|c| c.name().to_owned()), &shapes);
        if is_query && shapes.contains(&Shape::Opaque) {
            let sink = sink.take().ok_or_else(used_twice)?;
            return cursor::stream(link, text, cleared.params(), Some((columns, shapes)), sink, money, call)
                .await;
        }
        match run(link, cleared.params(), &statement, columns, &shapes, &mut sink, call).await? {
            Ran::Done => return Ok(()),
            Ran::Stale if !last => link.renew(call).await?,
            Ran::Stale => {}
        }
    }
    Err(Error::new(ErrorKind::Conflict, "the tables of the statement keep changing").hint("try again"))
}

enum Ran {
    Done,
    /// Nothing was handed on, and preparing the text again may help.
    Stale,
}

async fn run(
    link: &mut Link,
    params: &Params,
    statement: &PgStatement,
    columns: Vec<ColumnSpec>,
    shapes: &[Shape],
    sink: &mut Option<Sink>,
    call: &CallContext,
) -> Result<Ran> {
    let arguments = bind::arguments(params, parameters(statement))?;
    let text = statement.sql().as_str();
    let query = sqlx::query_with(statement.sql().clone(), arguments);
    let outcome = {
        let mut rows = query.fetch(link.start()?);
        let mut over = pin!(over(call));
        let mut first = tokio::select! {
            biased;
            row = rows.next() => row,
            () = &mut over => return Err(stopped(call, "read")),
        };
        if let Some(Err(e)) = &first
            && is_stale(e)
        {
            drop(rows);
            _ = link.done(Ok(()), call, "read");
            return Ok(Ran::Stale);
        }
        let mut writer = sink.take().ok_or_else(used_twice)?.into_writer(columns);
        let mut scratch = String::new();
        loop {
            match first {
                Some(Ok(row)) => {
                    if writer.begin_row() == Flow::Stop {
                        // The statement still runs: dropping the link cancels it.
                        return writer.finish().await.map(|()| Ran::Done);
                    }
                    write_row(&row, shapes, &mut writer, &mut scratch)?;
                    if writer.end_row().await? == Flow::Stop {
                        return writer.finish().await.map(|()| Ran::Done);
                    }
                }
                Some(Err(e)) => break Err(e),
                None => {
                    writer.finish().await?;
                    break Ok(Ran::Done);
                }
            }
            first = tokio::select! {
                biased;
                row = rows.next() => row,
                () = &mut over => return Err(stopped(call, "read")),
            };
        }
    };
    match outcome {
        Ok(ran) => link.done(Ok(ran), call, "read"),
        Err(e) => Err(failed(link, e, text, 0, call)),
    }
}

fn write_row(row: &PgRow, shapes: &[Shape], writer: &mut RowWriter, scratch: &mut String) -> Result<()> {
    for (index, shape) in shapes.iter().enumerate() {
        let value = row.try_get_raw(index).map_err(|e| error::translate(e, error::Phase::Run))?;
        match value.as_bytes() {
            Ok(bytes) if !value.is_null() => binary::write(shape, bytes, writer, scratch)?,
            _ => writer.null()?,
        }
    }
    Ok(())
}

/// Names and types of the columns.
pub(crate) fn announce(names: impl Iterator<Item = String>, shapes: &[Shape]) -> Vec<ColumnSpec> {
    names.zip(shapes).map(|(name, shape)| ColumnSpec { name, declared: shape.declared() }).collect()
}

/// The types that the server inferred for the parameters.
pub(crate) fn parameters(statement: &PgStatement) -> &[sqlx::postgres::PgTypeInfo] {
    match statement.parameters() {
        Some(sqlx::Either::Left(types)) => types,
        _ => &[],
    }
}

/// Prepares a text. The outer error is the call's end.
///
/// Behind a pooler somebody may have left a statement under the name that the driver takes next: then the next
/// name is tried, in another transaction.
pub(crate) async fn prepare(
    link: &mut Link,
    text: &str,
    call: &CallContext,
) -> Result<sqlx::Result<PgStatement>> {
    let mut left = NAMES;
    loop {
        let sql = AssertSqlSafe(text.to_owned()).into_sql_str();
        let prepared =
            call.bound("read", link.start()?.prepare(sql)).await.map_err(|_| stopped(call, "read"))?;
        link.done(Ok(()), call, "read")?;
        match prepared {
            Err(e) if left > 0 && sqlstate(&e).as_deref() == Some("42P05") => {
                left -= 1;
                link.renew(call).await?;
            }
            prepared => return Ok(prepared),
        }
    }
}

/// The error for a statement, with its place in the judged text, which stood behind `before` characters.
pub(crate) fn failed(
    link: &mut Link,
    e: sqlx::Error,
    text: &str,
    before: usize,
    call: &CallContext,
) -> Error {
    let place = error::place(&e);
    match link.done::<()>(Err(e), call, "read") {
        Err(error) => error::at(error, place, text, before),
        Ok(()) => used_twice(),
    }
}

/// Whether a statement that was prepared earlier does not fit any more: a table was changed, or the server
/// lost it.
fn is_stale(e: &sqlx::Error) -> bool {
    matches!(sqlstate(e).as_deref(), Some("0A000" | "26000"))
}

/// Whether it is the driver that cannot read what the server told of the statement's types.
fn is_unreadable(e: &sqlx::Error) -> bool {
    matches!(e, sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) | sqlx::Error::Protocol(_))
}

/// Removes from the server what the driver prepared and then could not read.
async fn forget(link: &mut Link, text: &str, call: &CallContext) -> Result<()> {
    const LEFT: &str =
        "SELECT name FROM pg_catalog.pg_prepared_statements WHERE statement = $1 AND NOT from_sql";
    let left = sqlx::query_scalar::<_, String>(LEFT).bind(text).persistent(false);
    let names = call.bound("read", left.fetch_all(link.start()?)).await?;
    for name in link.done(names, call, "read")? {
        let sql = AssertSqlSafe(format!("DEALLOCATE {}", crate::ident::Ident(&name)));
        let gone = call.bound("read", link.start()?.execute(sqlx::raw_sql(sql))).await?;
        link.done(gone, call, "read")?;
    }
    Ok(())
}

/// Waits for the end of a call.
pub(crate) async fn over(call: &CallContext) {
    tokio::select! {
        () = call.cancel.cancelled() => {}
        () = tokio::time::sleep_until(call.deadline) => {}
    }
}

pub(crate) fn used_twice() -> Error {
    Error::new(ErrorKind::Internal, "a result was begun twice")
}
