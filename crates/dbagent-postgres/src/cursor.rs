//! The road for results with a type that only the server can write out.
//!
//! The driver takes rows in binary, and some types have no binary form, or one that is nobody's business:
//! geometries, vectors, `tsvector`, ranges, types of extensions. Their text is what the server's own output
//! says. So the judged text, unchanged, becomes the query of a cursor (in the extended protocol, which takes
//! one statement), and constant FETCHes of ours take its rows in text. The server plans a cursor without
//! parallel workers; that is why this is not the usual road.

use std::pin::pin;

use dbagent_core::context::CallContext;
use dbagent_core::rows::{ColumnSpec, Flow, RowWriter, Sink};
use dbagent_core::{Params, Result};
use futures_util::StreamExt as _;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Column as _, Row as _, ValueRef as _};

use crate::bind;
use crate::error::{self, stopped};
use crate::pool::Link;
use crate::read::{announce, failed, over, parameters, prepare, used_twice};
use crate::types::{Shape, text};

/// What stands before the judged text.
const DECLARE: &str = "DECLARE dbagent_rows NO SCROLL CURSOR FOR ";
/// Rows are taken in parts, so that little is left of one when the reader has enough.
const FETCH: &str = "FETCH FORWARD 500 FROM dbagent_rows";
const PART: usize = 500;
/// Names the columns of a cursor that has no row to show them.
const SCHEMA: &str =
    "SELECT pg_catalog.cursor_to_xmlschema('dbagent_rows', false, true, '')::pg_catalog.text";

/// Runs a query through a cursor until its rows are done or the sink has enough. Where the columns are not
/// known yet the first row tells them.
///
/// # Errors
/// What the server says.
pub(crate) async fn stream(
    link: &mut Link,
    judged: &str,
    params: &Params,
    known: Option<(Vec<ColumnSpec>, Vec<Shape>)>,
    sink: Sink,
    money: i64,
    call: &CallContext,
) -> Result<()> {
    declare(link, judged, params, call).await?;
    let mut out = match known {
        Some((columns, shapes)) => Out::Open(sink.into_writer(columns), shapes),
        None => Out::Waiting(Some(sink)),
    };
    while part(link, judged, &mut out, money, call).await? == Part::Full {}
    if let Out::Waiting(sink) = &mut out {
        let columns = columns_of_nothing(link, call).await?;
        let sink = sink.take().ok_or_else(used_twice)?;
        out = Out::Open(sink.into_writer(columns), Vec::new());
    }
    match out {
        Out::Open(writer, _) => writer.finish().await,
        Out::Waiting(_) => Err(used_twice()),
    }
}

/// Where the rows go.
enum Out {
    /// The columns are not known yet.
    Waiting(Option<Sink>),
    Open(RowWriter, Vec<Shape>),
}

impl Out {
    /// The writer, opened by the first row where it is not yet.
    fn open(&mut self, row: &PgRow, money: i64) -> Result<(&mut RowWriter, &[Shape])> {
        if let Out::Waiting(sink) = self {
            let shapes: Vec<Shape> = row.columns().iter().map(|c| Shape::of(c.type_info(), money)).collect();
            let columns = announce(row.columns().iter().map(|c| c.name().to_owned()), &shapes);
            let sink = sink.take().ok_or_else(used_twice)?;
            *self = Out::Open(sink.into_writer(columns), shapes);
        }
        match self {
            Out::Open(writer, shapes) => Ok((writer, shapes)),
            Out::Waiting(_) => Err(used_twice()),
        }
    }
}

#[derive(PartialEq, Eq)]
enum Part {
    /// There may be more rows.
    Full,
    /// That was the end, or enough.
    Last,
}

async fn declare(link: &mut Link, judged: &str, params: &Params, call: &CallContext) -> Result<()> {
    let text = format!("{DECLARE}{judged}");
    let outcome = if params.is_empty() {
        let query = sqlx::query(AssertSqlSafe(text)).persistent(false);
        call.bound("read", query.execute(link.start()?)).await.map_err(|_| stopped(call, "read"))?
    } else {
        match prepare(link, &text, call).await? {
            Ok(statement) => {
                let query =
                    sqlx::query_with(AssertSqlSafe(text), bind::arguments(params, parameters(&statement))?);
                call.bound("read", query.execute(link.start()?)).await.map_err(|_| stopped(call, "read"))?
            }
            Err(e) => Err(e),
        }
    };
    match outcome {
        Ok(_) => link.done(Ok(()), call, "read"),
        Err(e) => Err(failed(link, e, judged, DECLARE.len(), call)),
    }
}

/// Takes one part of the rows. When the sink has enough the rest of the part is left to be drained.
async fn part(link: &mut Link, judged: &str, out: &mut Out, money: i64, call: &CallContext) -> Result<Part> {
    let mut taken = 0;
    let ended = {
        let mut rows = sqlx::raw_sql(FETCH).fetch(link.start()?);
        let mut over = pin!(over(call));
        loop {
            let next = tokio::select! {
                biased;
                row = rows.next() => row,
                () = &mut over => return Err(stopped(call, "read")),
            };
            let row = match next {
                Some(Ok(row)) => row,
                Some(Err(e)) => break Err(e),
                None => break Ok(()),
            };
            taken += 1;
            let (writer, shapes) = out.open(&row, money)?;
            if writer.begin_row() == Flow::Stop {
                return Ok(Part::Last);
            }
            write_row(&row, shapes, writer)?;
            if writer.end_row().await? == Flow::Stop {
                return Ok(Part::Last);
            }
        }
    };
    match ended {
        Ok(()) => link.done(Ok(()), call, "read")?,
        Err(e) => return Err(failed(link, e, judged, DECLARE.len(), call)),
    }
    Ok(if taken < PART { Part::Last } else { Part::Full })
}

fn write_row(row: &PgRow, shapes: &[Shape], writer: &mut RowWriter) -> Result<()> {
    for (index, shape) in shapes.iter().enumerate() {
        let value = row.try_get_raw(index).map_err(|e| error::translate(e, error::Phase::Run))?;
        match value.as_bytes() {
            Ok(bytes) if !value.is_null() => text::write(shape, bytes, writer)?,
            _ => writer.null()?,
        }
    }
    Ok(())
}

/// The names of the columns, when no row came to show them: the server describes the open cursor.
async fn columns_of_nothing(link: &mut Link, call: &CallContext) -> Result<Vec<ColumnSpec>> {
    let query = sqlx::query_scalar::<_, String>(SCHEMA).persistent(false);
    let schema = call.bound("read", query.fetch_one(link.start()?)).await?;
    let schema = link.done(schema, call, "read")?;
    Ok(elements(&schema).map(|name| ColumnSpec { name, declared: None }).collect())
}

/// The names in `<xsd:element name="…" type=… minOccurs="0">`, of which each column has one.
fn elements(schema: &str) -> impl Iterator<Item = String> {
    schema.lines().filter(|line| line.contains("minOccurs=\"0\"")).filter_map(|line| {
        let (_, rest) = line.split_once("<xsd:element name=\"")?;
        rest.split_once('"').map(|(name, _)| plain(name))
    })
}

/// Undoes the escapes of a name in XML: `_x0020_` is a space.
fn plain(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name;
    while let Some((before, after)) = rest.split_once("_x") {
        out.push_str(before);
        let escaped = after.split_once('_').and_then(|(code, after)| {
            let code = (4..=8).contains(&code.len()).then(|| u32::from_str_radix(code, 16).ok()).flatten()?;
            Some((char::from_u32(code)?, after))
        });
        if let Some((c, after)) = escaped {
            out.push(c);
            rest = after;
        } else {
            out.push_str("_x");
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_out_of_a_schema() {
        let schema = "<xsd:complexType name=\"RowType\">\n  <xsd:sequence>\n    <xsd:element name=\"a_x0020_b\" \
                      type=\"x\" minOccurs=\"0\"></xsd:element>\n    <xsd:element name=\"_x005F_x\" type=\"y\" \
                      minOccurs=\"0\"></xsd:element>\n  </xsd:sequence>\n<xsd:element name=\"row\" type=\"RowType\"/>";
        assert_eq!(elements(schema).collect::<Vec<_>>(), ["a b", "_x"]);
        assert_eq!(plain("a_xyz_b"), "a_xyz_b");
    }
}
