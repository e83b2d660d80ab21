//! The session: a few lanes over one file, each read on a thread of its own.

use std::sync::Arc;

use dbagent_core::catalog::{Described, ObjectPage, Page};
use dbagent_core::estimate::Estimate;
use dbagent_core::guard::{Needs, Resolution};
use dbagent_core::json::Json;
use dbagent_core::rows::{ColumnSpec, Flow, RowWriter, Sink};
use dbagent_core::session::{Cleared, Outcome, Session};
use dbagent_core::{
    CallContext, Error, ErrorKind, ObjectName, OpenContext, Request, Result, Target, async_trait,
};
use futures_core::future::BoxFuture;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::catalogue;
use super::engine::{Connection, Mode, Ran};
use super::run::Stop;

/// Reads that run at once.
pub(super) const LANES: u32 = 4;

/// Opens a session for reading. Public for dialects that wrap this one; hosts use `GuardedSession::open`.
pub fn open<'a>(target: &'a Target, _: &'a OpenContext) -> BoxFuture<'a, Result<Box<dyn Session>>> {
    Box::pin(async move {
        let path = target.url.decoded_rest()?;
        let connection = Connection::open(path, target.credential.get("token"), Mode::ReadOnly)?;
        let lanes = Arc::new(Semaphore::new(LANES as usize));
        Ok(Box::new(DocumentsSession { connection, lanes }) as Box<dyn Session>)
    })
}

struct DocumentsSession {
    connection: Connection,
    lanes: Arc<Semaphore>,
}

impl DocumentsSession {
    async fn lane(&self, call: &CallContext) -> Result<OwnedSemaphorePermit> {
        let permit = call.bound("connect", Arc::clone(&self.lanes).acquire_owned()).await?;
        permit.map_err(|e| Error::new(ErrorKind::Connection, "the session is closed").op("connect").source(e))
    }
}

#[async_trait]
impl Session for DocumentsSession {
    async fn resolve(&self, needs: &Needs, _: &CallContext) -> Result<Resolution> {
        Ok(catalogue::resolve(&self.connection.store()?, needs))
    }

    async fn objects(&self, pattern: Option<&str>, page: Page, _: &CallContext) -> Result<ObjectPage> {
        Ok(catalogue::list(&self.connection.store()?, pattern, page))
    }

    async fn describe(&self, names: &[ObjectName], _: &CallContext) -> Result<Described> {
        Ok(catalogue::describe(&self.connection.store()?, names))
    }

    async fn estimate(&self, _: &Cleared, _: &CallContext) -> Result<Outcome<Estimate>> {
        Ok(Ok(Estimate::UNKNOWN))
    }

    async fn read(&self, cleared: Cleared, sink: Sink, call: &CallContext) -> Result<Outcome<()>> {
        let lane = self.lane(call).await?;
        let (connection, call) = (self.connection.clone(), call.clone());
        let reading = tokio::task::spawn_blocking(move || {
            let _lane = lane;
            read(&connection, &Request::json(cleared.text()), sink, call)
        });
        match reading.await {
            Ok(result) => result.map(Ok),
            Err(e) => Err(Error::new(ErrorKind::Internal, "the reading thread died").op("read").source(e)),
        }
    }

    async fn close(&self) {
        self.lanes.close();
    }
}

fn read(connection: &Connection, request: &Request, sink: Sink, call: CallContext) -> Result<()> {
    let stop: Stop = Arc::new({
        let call = call.clone();
        move || call.is_over().then(|| call.over("read"))
    });
    let Ran::Documents(columns, documents) = connection.run(request, stop)? else {
        return Err(Error::new(ErrorKind::Internal, "a cleared request changed something").op("read"));
    };
    let specs = columns.iter().map(|name| ColumnSpec { name: name.clone(), declared: None }).collect();
    let mut writer = sink.into_writer(specs);
    for document in documents {
        let document = document?;
        if writer.begin_row() == Flow::Stop {
            break;
        }
        for column in &columns {
            write(&mut writer, document.get(column))?;
        }
        if writer.end_row_blocking()? == Flow::Stop {
            break;
        }
    }
    writer.finish_blocking()
}

fn write(writer: &mut RowWriter, value: Option<&Json>) -> Result<()> {
    match value {
        None | Some(Json::Null) => writer.null(),
        Some(Json::Bool(b)) => writer.bool(*b),
        Some(Json::String(text)) => writer.text(text),
        Some(nested @ (Json::Array(_) | Json::Object(_))) => writer.json(&nested.to_string()),
        Some(number @ Json::Number(digits)) => match number.as_i64() {
            Some(n) => writer.int(n),
            // A double that does not read back as these digits would be another number.
            None => match number.as_f64().filter(|x| same_number(*x, digits)) {
                Some(x) => writer.float(x),
                None => writer.json(digits),
            },
        },
    }
}

/// Whether a double prints as the digits, but for the form: up to 15 significant digits always do.
fn same_number(x: f64, digits: &str) -> bool {
    let significant = digits
        .split(['e', 'E'])
        .next()
        .unwrap_or_default()
        .chars()
        .filter(char::is_ascii_digit)
        .collect::<String>();
    x.is_finite() && significant.trim_start_matches('0').trim_end_matches('0').len() <= 15
}
