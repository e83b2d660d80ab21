//! Streams the engine's Arrow batches into the sink, and shows plans.

use arrow_array::RecordBatch;
use dbagent_core::context::CallContext;
use dbagent_core::estimate::{Estimate, PlanWarning};
use dbagent_core::rows::{Flow, Sink};
use dbagent_core::{Params, Result};
use duckdb::{Connection, params_from_iter};
use serde_json::Value;

use crate::bind;
use crate::convert::Converter;
use crate::error::{Phase, stopped, translate_under};
use crate::plan;
use crate::pool::Conn;

/// Runs the statement until its rows are done or the sink has enough. Memory holds one batch of the engine.
///
/// # Errors
/// What the engine says; [`TooLarge`](dbagent_core::ErrorKind::TooLarge) for a value over the cap.
pub(crate) fn stream(conn: &Conn, text: &str, params: &Params, sink: Sink, call: &CallContext) -> Result<()> {
    streamed(&conn.db, text, params, sink, call, |_| ())
}

/// The same on any connection; `seen` is shown each batch as the engine gave it.
fn streamed(
    db: &Connection,
    text: &str,
    params: &Params,
    mut sink: Sink,
    call: &CallContext,
    mut seen: impl FnMut(&RecordBatch),
) -> Result<()> {
    let mut statement = db.prepare(text).map_err(|e| translate_under(e, Phase::Compile, call))?;
    let values = bind::values(&statement, params)?;
    let stream =
        statement.stream_arrow(params_from_iter(values)).map_err(|e| translate_under(e, Phase::Run, call))?;
    let converter = Converter::new(&stream.get_schema());
    sink.begin(converter.schema());
    for batch in stream {
        let batch = batch.map_err(|e| translate_under(e, Phase::Run, call))?;
        seen(&batch);
        if sink.push_blocking(converter.convert(batch)?)? == Flow::Stop {
            return if call.is_over() { Err(stopped(call, "read")) } else { Ok(()) };
        }
    }
    Ok(())
}

/// The plan of a query as text, for people and models.
///
/// # Errors
/// What the engine says.
pub(crate) fn plan(conn: &Conn, text: &str, params: &Params, call: &CallContext) -> Result<String> {
    explained(conn, "EXPLAIN", text, params, call)
}

/// What the engine expects of a query, and what in its plan is worth a word.
///
/// # Errors
/// What the engine says.
pub(crate) fn planned(
    conn: &Conn,
    text: &str,
    params: &Params,
    call: &CallContext,
) -> Result<(Estimate, Vec<PlanWarning>)> {
    let plan = explained(conn, "EXPLAIN (FORMAT JSON)", text, params, call)?;
    let mut reader = serde_json::Deserializer::from_str(&plan);
    reader.disable_recursion_limit();
    let plan = <Value as serde::Deserialize>::deserialize(&mut reader).unwrap_or_default();
    Ok(plan.as_array().and_then(|steps| steps.first()).map(plan::read).unwrap_or_default())
}

/// The plan by the words that ask for it.
fn explained(conn: &Conn, how: &str, text: &str, params: &Params, call: &CallContext) -> Result<String> {
    // The judged text behind the words that ask for its plan.
    let sql = format!("{how} {text}");
    let mut statement =
        conn.db.prepare(&sql).map_err(|e| translate_under(e, Phase::Compile, call).op("explain"))?;
    let values = bind::values(&statement, params)?;
    let read = statement.query_map(params_from_iter(values), |row| row.get::<_, String>(1));
    let plans: duckdb::Result<Vec<String>> = read.and_then(Iterator::collect);
    let plans = plans.map_err(|e| translate_under(e, Phase::Run, call).op("explain"))?;
    Ok(plans.into_iter().next_back().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use dbagent_core::catalog::{Described, ObjectPage, Page};
    use dbagent_core::guard::{Needs, Resolution};
    use dbagent_core::session::{Outcome, Verdict};
    use dbagent_core::{
        Cleared, ConnUrl, GuardedSession, ObjectName, Request, Session, Settings, Target, async_trait,
    };
    use duckdb::arrow::array::{Array as _, ArrayData};

    use super::*;

    /// The addresses of the buffers of a column.
    type Addresses = Vec<usize>;

    /// A session that notes where the buffers are that the engine gives.
    struct Noting {
        inner: Box<dyn Session>,
        db: Mutex<Connection>,
        given: Arc<Mutex<Vec<Vec<Addresses>>>>,
    }

    fn note(data: &ArrayData, addresses: &mut Addresses) {
        addresses.extend(data.nulls().map(|nulls| nulls.buffer().as_ptr() as usize));
        addresses.extend(data.buffers().iter().map(|buffer| buffer.as_ptr() as usize));
        data.child_data().iter().for_each(|child| note(child, addresses));
    }

    fn addresses(batch: &RecordBatch) -> Vec<Addresses> {
        let of = |column: &arrow_array::ArrayRef| {
            let mut addresses = Addresses::new();
            note(&column.to_data(), &mut addresses);
            addresses
        };
        batch.columns().iter().map(of).collect()
    }

    #[async_trait]
    impl Session for Noting {
        fn settings(&self) -> Settings {
            self.inner.settings()
        }

        async fn resolve(&self, needs: &Needs, call: &CallContext) -> Result<Resolution> {
            self.inner.resolve(needs, call).await
        }

        async fn objects(&self, pattern: Option<&str>, page: Page, call: &CallContext) -> Result<ObjectPage> {
            self.inner.objects(pattern, page, call).await
        }

        async fn describe(&self, names: &[ObjectName], call: &CallContext) -> Result<Described> {
            self.inner.describe(names, call).await
        }

        async fn estimate(&self, cleared: &Cleared, call: &CallContext) -> Result<Outcome<Estimate>> {
            self.inner.estimate(cleared, call).await
        }

        async fn read(&self, cleared: Cleared, sink: Sink, call: &CallContext) -> Result<Outcome<()>> {
            let db = self.db.lock().unwrap().try_clone().unwrap();
            let (given, call) = (Arc::clone(&self.given), call.clone());
            let read = move || {
                streamed(&db, cleared.text(), cleared.params(), sink, &call, |batch| {
                    given.lock().unwrap().push(addresses(batch));
                })
            };
            tokio::task::spawn_blocking(read).await.unwrap().map(Ok)
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_the_engine_gave_is_what_arrives_and_no_copy_of_it() {
        const SQL: &str = "SELECT i, i::SMALLINT, i / 7.0::DOUBLE, (i * 0.25)::DECIMAL(14,2), DATE '2024-01-01' + i::INTEGER, \
             TIMESTAMP '2024-01-01' + to_seconds(i), CASE WHEN i % 3 = 0 THEN NULL ELSE 'a text of some length ' || i END, \
             ('x' || i)::BLOB, [i, NULL, i + 1], {'a': i, 'b': 's' || i}, i % 2 = 0 FROM range(6000) t(i)";
        let target = Target::new("x", ConnUrl::parse("duckdb:///x.db").unwrap());
        let db = Connection::open_in_memory().unwrap();
        let inner = crate::from_connection(db.try_clone().unwrap(), &target).unwrap();
        let given = Arc::new(Mutex::new(Vec::new()));
        let noting = Noting { inner, db: Mutex::new(db), given: Arc::clone(&given) };
        let session = GuardedSession::over(&crate::DIALECT, target, Box::new(noting)).unwrap();
        let call = CallContext::within(Duration::from_secs(60));
        let Verdict::Cleared(cleared) = session.judge(Request::text(SQL), None, &call).await.unwrap() else {
            panic!("not cleared");
        };
        let mut rows = session.read(cleared, &call).unwrap();
        // All are kept until the end: what is freed could come again at the same address.
        let mut arrived = Vec::new();
        while let Some(batch) = rows.next().await.unwrap() {
            arrived.push(batch);
        }
        assert_eq!(arrived.iter().map(RecordBatch::num_rows).sum::<usize>(), 6_000);
        let (given, arrived) = (given.lock().unwrap(), arrived.iter().map(addresses).collect::<Vec<_>>());
        assert!(arrived.len() > 2 && arrived.len() == given.len(), "{} of {}", arrived.len(), given.len());
        for (arrived, given) in arrived.iter().zip(given.iter()) {
            let (flag, others) = arrived.split_last().unwrap();
            let (as_bytes, as_given) = given.split_last().unwrap();
            assert_eq!(others, as_given);
            assert!(others.iter().all(|column| !column.is_empty()));
            // Truth values are the exception, which shows that a copy would be seen.
            assert_ne!(flag, as_bytes);
        }
    }
}
