//! The session: each call on a connection and a thread of its own.

use std::{path::PathBuf, pin::Pin};

use dbagent_core::catalog::{Described, ObjectDetail, ObjectPage, Page};
use dbagent_core::guard::{Needs, Parsed, Resolution, ResolvedObject};
use dbagent_core::rows::{ColumnSpec, Flow, Sink};
use dbagent_core::{CallContext, Cleared, OpenContext, Session, Target, async_trait, estimate::Estimate};
use dbagent_core::{Error, ErrorKind, ObjectName, Refusal, Result, Rule, session::Outcome};
use rusqlite::{Connection, Statement, types::ValueRef};

use crate::engine::{connect, tables, told};

struct Ledger(PathBuf);

type Opening<'a> = Pin<Box<dyn Future<Output = Result<Box<dyn Session>>> + Send + 'a>>;

pub(crate) fn open<'a>(target: &'a Target, context: &'a OpenContext) -> Opening<'a> {
    Box::pin(async {
        let ledger = Ledger(PathBuf::from(target.url.decoded_rest()?));
        ledger.with(&context.call, |_| Ok(())).await?;
        Ok(Box::new(ledger) as Box<dyn Session>)
    })
}

impl Ledger {
    /// Works on a connection of its own, on a thread that may block.
    async fn with<T: Send + 'static>(
        &self,
        call: &CallContext,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (path, limits) = (self.0.clone(), call.clone());
        match tokio::task::spawn_blocking(move || work(&connect(&path, &limits)?)).await {
            Ok(Err(e)) if e.kind() == ErrorKind::Cancelled => Err(call.over("ledger")),
            Ok(done) => done,
            Err(e) => Err(Error::new(ErrorKind::Internal, "the engine's thread died").source(e)),
        }
    }

    /// Looks names up: each with its table, if there is one.
    async fn look_up(&self, names: &[ObjectName], call: &CallContext) -> Result<Found> {
        let names = names.to_vec();
        let find = |db: &Connection, name: ObjectName| Ok((name.clone(), find(db, &name)?));
        self.with(call, move |db| names.into_iter().map(|name| find(db, name)).collect()).await
    }
}

type Found = Vec<(ObjectName, Option<ObjectDetail>)>;

fn literal(pattern: &str) -> String {
    pattern.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}

fn find(db: &Connection, name: &ObjectName) -> Result<Option<ObjectDetail>> {
    Ok(tables(db, &literal(&name.name))?.pop().filter(|_| name.namespace.is_none()))
}

/// Compiles what was judged, once every name in it is a table's. The engine says whether it only reads.
fn compile<'db>(db: &'db Connection, text: &str, parsed: &Parsed) -> Result<Outcome<Statement<'db>>> {
    let mut columns = Vec::new();
    for object in &parsed.objects {
        let missing = || Error::new(ErrorKind::UnknownObject, format!("there is no table {}", object.name));
        columns.extend(find(db, &object.name)?.ok_or_else(missing)?.columns);
    }
    let has = |name: &String| columns.iter().any(|c| c.name.eq_ignore_ascii_case(name));
    let of_a_table = parsed.columns.iter().filter(|used| !used.candidates.is_empty());
    let known = of_a_table.filter_map(|used| used.column.as_ref()).all(has);
    let other = if known { ErrorKind::Syntax } else { ErrorKind::UnknownColumn };
    let statement = db.prepare(text).map_err(|e| told(e, other))?;
    let refusal = || Refusal::new(Rule::EngineDisagrees, "the engine says that this writes");
    Ok(statement.readonly().then_some(statement).ok_or_else(refusal))
}

#[async_trait]
impl Session for Ledger {
    async fn resolve(&self, needs: &Needs, call: &CallContext) -> Result<Resolution> {
        let mut resolution = Resolution::live();
        for (asked, table) in self.look_up(&needs.objects, call).await? {
            let Some(ObjectDetail { summary, columns, .. }) = table else { continue };
            let columns: Vec<String> = columns.into_iter().map(|column| column.name).collect();
            // Each name of the row id may be any column by another name.
            let aliases = |of: &String| ["rowid", "oid", "_rowid_"].map(|id| (id.to_owned(), of.clone()));
            let column_aliases = columns.iter().flat_map(aliases).collect();
            let (name, kind, body) = (summary.name, summary.kind, None);
            resolution.objects.push((asked, ResolvedObject { name, kind, columns, column_aliases, body }));
        }
        Ok(resolution)
    }

    async fn objects(&self, pattern: Option<&str>, page: Page, call: &CallContext) -> Result<ObjectPage> {
        // A part of a name, or with `*` and `?` the whole of it.
        let pattern = literal(pattern.unwrap_or_default());
        let wild = pattern.contains(['*', '?']);
        let like = if wild { pattern.replace('*', "%").replace('?', "_") } else { format!("%{pattern}%") };
        let all = self.with(call, move |db| tables(db, &like)).await?;
        let objects = all.iter().skip(page.offset).take(page.size).map(|t| t.summary.clone()).collect();
        Ok(ObjectPage { objects, total: all.len() })
    }

    async fn describe(&self, names: &[ObjectName], call: &CallContext) -> Result<Described> {
        let mut described = Described::default();
        for (name, table) in self.look_up(names, call).await? {
            match table {
                Some(table) => described.found.push(table),
                None => described.missing.push(name),
            }
        }
        Ok(described)
    }

    async fn estimate(&self, _: &Cleared, _: &CallContext) -> Result<Outcome<Estimate>> {
        Ok(Ok(Estimate::UNKNOWN))
    }

    async fn read(&self, cleared: Cleared, sink: Sink, call: &CallContext) -> Result<Outcome<()>> {
        let read = move |db: &Connection| match compile(db, cleared.text(), cleared.parsed())? {
            Ok(statement) => stream(statement, sink).map(Ok),
            Err(refusal) => Ok(Err(refusal)),
        };
        self.with(call, read).await
    }
}

fn stream(mut statement: Statement<'_>, sink: Sink) -> Result<()> {
    let failed = |e| told(e, ErrorKind::Data);
    let column = |name: &str| ColumnSpec { name: name.to_owned(), declared: None };
    let columns: Vec<_> = statement.column_names().map(column).collect();
    let (width, mut writer) = (columns.len(), sink.into_writer(columns));
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next().map_err(failed)?
        && writer.begin_row() == Flow::More
    {
        for index in 0..width {
            match row.get_ref(index).map_err(failed)? {
                ValueRef::Null => writer.null()?,
                ValueRef::Integer(n) => writer.int(n)?,
                ValueRef::Real(x) => writer.float(x)?,
                ValueRef::Blob(bytes) => writer.bytes(bytes)?,
                ValueRef::Text(text) => {
                    writer.text(std::str::from_utf8(text).map_err(|e| failed(e.into()))?)?
                }
            }
        }
        if writer.end_row_blocking()? == Flow::Stop {
            break;
        }
    }
    writer.finish_blocking()
}
