//! The session that misbehaves: everything it does not break goes to the session behind it.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dbagent_core::arrow_array::{RecordBatch, StringArray};
use dbagent_core::arrow_schema::{DataType, Field, Schema};
use dbagent_core::catalog::{Described, ObjectPage, Page};
use dbagent_core::estimate::{Estimate, Plan};
use dbagent_core::guard::{Needs, Resolution};
use dbagent_core::rows::{Cell, ColumnSpec, Flow, RowWriter, Sink};
use dbagent_core::session::{Cleared, Outcome, Session};
use dbagent_core::{
    CallContext, Error, ErrorKind, ObjectName, OpenContext, Param, Params, Result, Target, async_trait,
};
use dbagent_testkit::documents;
use futures_core::future::BoxFuture;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{Fault, vague};

/// What one session's `close` must not do: close all of them.
static ALL_CLOSED: AtomicBool = AtomicBool::new(false);

pub(super) fn open<'a, const F: u8>(
    target: &'a Target,
    context: &'a OpenContext,
) -> BoxFuture<'a, Result<Box<dyn Session>>> {
    Box::pin(async move {
        let fault = Fault::of(F);
        let secret = || {
            let in_url = target.url.password().map(|p| p.expose().to_owned());
            in_url
                .or_else(|| target.credential.get("token").map(|t| t.expose().to_owned()))
                .unwrap_or_default()
        };
        let inner = match documents::open(target, context).await {
            Ok(inner) => inner,
            Err(e) if fault == Fault::OpenFailsVaguely => return Err(vague(&e)),
            Err(e) if fault == Fault::LeaksInErrors => {
                return Err(
                    Error::new(e.kind(), e.message().to_owned()).source(std::io::Error::other(secret()))
                );
            }
            Err(e) => return Err(e),
        };
        let lanes = if fault == Fault::OneLane { 1 } else { 4 };
        Ok(Box::new(Broken {
            inner,
            fault,
            secret: secret(),
            lanes: Arc::new(Semaphore::new(lanes)),
            listed: OnceLock::new(),
        }) as Box<dyn Session>)
    })
}

struct Broken {
    inner: Box<dyn Session>,
    fault: Fault,
    secret: String,
    lanes: Arc<Semaphore>,
    listed: OnceLock<ObjectPage>,
}

/// A lane that comes back only if its read ended well.
struct Leaky(Option<OwnedSemaphorePermit>);

impl Drop for Leaky {
    fn drop(&mut self) {
        if let Some(permit) = self.0.take() {
            permit.forget();
        }
    }
}

#[async_trait]
impl Session for Broken {
    async fn resolve(&self, needs: &Needs, call: &CallContext) -> Result<Resolution> {
        if self.fault == Fault::Blocks {
            std::thread::sleep(Duration::from_secs(3));
        }
        self.inner.resolve(needs, call).await
    }

    async fn objects(&self, pattern: Option<&str>, page: Page, call: &CallContext) -> Result<ObjectPage> {
        if self.fault == Fault::CloseClosesAll && ALL_CLOSED.load(Ordering::SeqCst) {
            return Err(Error::new(ErrorKind::Connection, "closed"));
        }
        let mut listed = self.inner.objects(pattern, page, call).await?;
        match self.fault {
            Fault::CountsPages => listed.total = listed.objects.len(),
            Fault::ListsBackwards => listed.objects.reverse(),
            Fault::SkipsOddNames => {
                listed.objects.retain(|o| !o.name.name.contains('\n'));
                listed.total = listed.objects.len();
            }
            Fault::KeepsOldLists => return Ok(self.listed.get_or_init(|| listed).clone()),
            _ => {}
        }
        Ok(listed)
    }

    async fn describe(&self, names: &[ObjectName], call: &CallContext) -> Result<Described> {
        let mut described = self.inner.describe(names, call).await?;
        match self.fault {
            Fault::DescribesInItsOwnOrder => {
                described.found.sort_by(|a, b| b.summary.name.name.cmp(&a.summary.name.name));
            }
            Fault::LeaksInDescriptions => {
                described.found.iter_mut().for_each(|o| o.notes.push(self.secret.clone()));
            }
            _ => {}
        }
        Ok(described)
    }

    async fn estimate(&self, cleared: &Cleared, call: &CallContext) -> Result<Outcome<Estimate>> {
        match self.fault {
            Fault::EstimatesByRunning if cleared.text().contains("endless") => {
                tokio::time::sleep_until(call.deadline).await;
                Err(call.over("estimate"))
            }
            Fault::EstimatesBlindly => Ok(Ok(Estimate { rows_out: Some(5), ..Estimate::UNKNOWN })),
            _ => self.inner.estimate(cleared, call).await,
        }
    }

    async fn explain(&self, cleared: &Cleared, call: &CallContext) -> Result<Outcome<Plan>> {
        if self.fault == Fault::PlansNothing {
            return Ok(Ok(Plan::default()));
        }
        self.inner.explain(cleared, call).await
    }

    async fn read(&self, cleared: Cleared, sink: Sink, call: &CallContext) -> Result<Outcome<()>> {
        if self.fault == Fault::CloseClosesAll && ALL_CLOSED.load(Ordering::SeqCst) {
            return Err(Error::new(ErrorKind::Connection, "closed"));
        }
        let permit = Arc::clone(&self.lanes).acquire_owned();
        let permit = call.bound("connect", permit).await?.expect("nobody closes the lanes");
        match self.fault {
            Fault::LeaksDroppedLanes => {
                let mut lane = Leaky(Some(permit));
                let result = self.inner.read(cleared, sink, call).await;
                lane.0.take();
                return result;
            }
            Fault::LeaksLanes => {
                let result = self.inner.read(cleared, sink, call).await;
                if result.is_err() || call.is_over() {
                    permit.forget();
                }
                return result;
            }
            _ => {}
        }
        let _permit = permit;
        let text = cleared.text().to_owned();
        let about = |part: &str| text.contains(part);
        match self.fault {
            Fault::RoundsNumbers if about("\"i\":1") => {
                let rows: [[Cell<'_>; 4]; 3] = [
                    [
                        Cell::Float(9_007_199_254_740_992.0),
                        Cell::Float(0.1),
                        Cell::Text("ünï 表"),
                        Cell::Bool(true),
                    ],
                    [
                        Cell::Float(-9_223_372_036_854_775_808.0),
                        Cell::Float(1e300),
                        Cell::Text(""),
                        Cell::Bool(false),
                    ],
                    [Cell::Float(0.0), Cell::Float(-0.0), Cell::Text("line\nbreak"), Cell::Bool(true)],
                ];
                canned(sink, &["i", "f", "t", "b"], rows.iter().map(<[_; 4]>::as_slice)).await
            }
            Fault::ForgetsNulls if about("absent") => {
                let rows =
                    [["Ada", "ada@example.org", ""], ["Grace", "", ""], ["Edsger", "edsger@example.org", ""]]
                        .map(|row| row.map(Cell::Text));
                canned(sink, &["name", "email", "absent"], rows.iter().map(<[_; 3]>::as_slice)).await
            }
            Fault::ForgetsColumns => {
                drop(sink);
                Ok(Ok(()))
            }
            Fault::FlattensMixed if about("mix") => {
                let rows = ["1", "one", "[1.50,true]"].map(|t| [Cell::Text(t)]);
                canned(sink, &["mix"], rows.iter().map(<[_; 1]>::as_slice)).await
            }
            Fault::CutsNested if about("nest") => {
                let rows = ["{\"b\":1}", "[]", "\"flat\""].map(|t| [Cell::Json(t)]);
                canned(sink, &["nest"], rows.iter().map(<[_; 1]>::as_slice)).await
            }
            Fault::StopsAtTheCapQuietly => {
                let most = sink.limits().rows.unwrap_or(20_000).min(20_000);
                numbers(sink, most).await
            }
            Fault::StopsAfterSomeRows if about("many") => numbers(sink, 100).await,
            Fault::ShortensValues if about("\"big\"") => {
                let most = usize::try_from(sink.limits().cell_bytes).unwrap_or(usize::MAX).min(65_536);
                let value = "x".repeat(most);
                canned(sink, &["body"], std::iter::once([Cell::Text(&value)].as_slice())).await
            }
            Fault::IgnoresStop if about("endless") => {
                // Rows are made for ever, and nobody listens to the sink.
                let mut writer = writer(sink, &["n", "t"]);
                loop {
                    if writer.begin_row() == Flow::More {
                        put(&mut writer, &[Cell::Int(1), Cell::Text("a")])?;
                        _ = writer.end_row().await?;
                    }
                    tokio::task::yield_now().await;
                }
            }
            Fault::CollectsFirst if about("endless") => {
                // A result without end is never collected.
                tokio::time::sleep_until(call.deadline).await;
                Err(call.over("read"))
            }
            Fault::GiantBatches if about("endless") => giant(sink).await,
            Fault::IgnoresTheCall if about("$count") => std::future::pending().await,
            Fault::TrimsParameters if about("\"echo\"") => {
                let value = match cleared.params() {
                    Params::Positional(values) => values.first().cloned(),
                    Params::Named(values) => values.first().map(|(_, value)| value.clone()),
                    Params::None => None,
                };
                let Some(Param::Text(value)) = value else { unreachable!("the scenario binds a text") };
                canned(sink, &["v"], std::iter::once([Cell::Text(value.trim())].as_slice())).await
            }
            Fault::EverythingIsAnEngineError => {
                self.inner.read(cleared, sink, call).await.map_err(|e| vague(&e))
            }
            _ => self.inner.read(cleared, sink, call).await,
        }
    }

    async fn close(&self) {
        if self.fault == Fault::CloseClosesAll {
            ALL_CLOSED.store(true, Ordering::SeqCst);
        }
        self.inner.close().await;
    }
}

fn writer(sink: Sink, columns: &[&str]) -> RowWriter {
    sink.into_writer(columns.iter().map(|c| ColumnSpec { name: (*c).to_owned(), declared: None }).collect())
}

fn put(writer: &mut RowWriter, row: &[Cell<'_>]) -> Result<()> {
    for cell in row {
        match cell {
            Cell::Null => writer.null()?,
            Cell::Int(n) => writer.int(*n)?,
            Cell::Float(x) => writer.float(*x)?,
            Cell::Bool(b) => writer.bool(*b)?,
            Cell::Json(t) => writer.json(t)?,
            Cell::Text(t) => writer.text(t)?,
            other => unreachable!("{other:?}"),
        }
    }
    Ok(())
}

async fn canned<'a>(
    sink: Sink,
    columns: &[&str],
    rows: impl Iterator<Item = &'a [Cell<'a>]>,
) -> Result<Outcome<()>> {
    let mut writer = writer(sink, columns);
    for row in rows {
        if writer.begin_row() == Flow::Stop {
            break;
        }
        put(&mut writer, row)?;
        if writer.end_row().await? == Flow::Stop {
            break;
        }
    }
    writer.finish().await?;
    Ok(Ok(()))
}

async fn numbers(sink: Sink, most: u64) -> Result<Outcome<()>> {
    let rows: Vec<[Cell<'_>; 2]> =
        (0..most).map(|n| [Cell::Int(i64::try_from(n).unwrap()), Cell::Text("a")]).collect();
    canned(sink, &["n", "t"], rows.iter().map(<[_; 2]>::as_slice)).await
}

async fn giant(mut sink: Sink) -> Result<Outcome<()>> {
    let schema = Arc::new(Schema::new(vec![Field::new("t", DataType::Utf8, true)]));
    let texts = StringArray::from_iter_values(std::iter::repeat_n("a text of some length", 500_000));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(texts)]).unwrap();
    sink.begin(schema);
    while sink.push(batch.clone()).await? == Flow::More {}
    Ok(Ok(()))
}
