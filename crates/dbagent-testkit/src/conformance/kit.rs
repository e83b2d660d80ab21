//! What every scenario works with: sessions on the scratch database, the guarded road, plain failures.

use std::time::Duration;

use dbagent_core::rows::Rows;
use dbagent_core::session::Verdict;
use dbagent_core::{
    CallContext, Capabilities, Cleared, Dialect, Error, GuardedSession, Refusal, Request, Target,
};

use super::fixture::Fixture;
use super::material::{Expected, Material};
use super::value::Table;

/// Why a scenario did not pass.
#[derive(Debug)]
pub(super) enum Stop {
    /// The dialect does not do what it must.
    Failed(String),
    /// The fixture has no material for it.
    Missing(&'static str),
    /// The fixture itself does not work, so that nothing was tested.
    Broken(String),
}

pub(super) type Outcome = Result<(), Stop>;

/// Fails the scenario with a message.
macro_rules! fail {
    ($($message:tt)+) => { return Err($crate::conformance::kit::Stop::Failed(format!($($message)+))) };
}

/// Fails the scenario unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition { $crate::conformance::kit::fail!($($message)+) }
    };
}

pub(super) use {ensure, fail};

/// How long things may take. Generous: only something that hangs runs into it.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// One call.
    pub call: Duration,
    /// One scenario.
    pub scenario: Duration,
}

impl Default for Patience {
    /// Half a minute for a call, three minutes for a scenario.
    fn default() -> Self {
        Self { call: Duration::from_secs(30), scenario: Duration::from_secs(180) }
    }
}

/// What came of a read on the guarded road.
#[derive(Debug)]
pub(super) enum Came {
    Rows(Table),
    Proposed,
    Refused(Refusal),
    Failed(Error),
}

/// A fixture, prepared, and what scenarios do with it.
pub(super) struct Kit {
    pub(super) fixture: Box<dyn Fixture>,
    pub(super) material: Material,
    pub(super) patience: Patience,
}

impl Kit {
    pub(super) fn new(fixture: Box<dyn Fixture>, patience: Patience) -> Self {
        let material = fixture.material();
        Self { fixture, material, patience }
    }

    pub(super) fn dialect(&self) -> &'static Dialect {
        self.fixture.dialect()
    }

    pub(super) fn can(&self) -> &'static Capabilities {
        self.fixture.dialect().can()
    }

    /// A call with the usual patience.
    pub(super) fn call(&self) -> CallContext {
        CallContext::within(self.patience.call)
    }

    pub(super) async fn target(&self) -> Result<Target, Stop> {
        let mut target =
            self.fixture.target().await.map_err(|e| {
                Stop::Broken(format!("the scratch database cannot be prepared: {}", told(&e)))
            })?;
        // Scenarios stop endless statements by themselves; this only must not be what stops them.
        target.guardrails.query_timeout_s = self.patience.scenario.as_secs();
        Ok(target)
    }

    /// A session on the scratch database.
    pub(super) async fn open(&self) -> Result<GuardedSession, Stop> {
        self.open_with(|_| {}).await
    }

    /// A session on the scratch database with another policy, access or limits.
    pub(super) async fn open_with(&self, change: impl FnOnce(&mut Target)) -> Result<GuardedSession, Stop> {
        let mut target = self.target().await?;
        change(&mut target);
        GuardedSession::open(self.dialect(), target, &self.call())
            .await
            .map_err(|e| Stop::Broken(format!("the scratch database cannot be opened: {}", told(&e))))
    }

    /// Clears a request that is an honest read.
    pub(super) async fn clear(
        &self,
        session: &GuardedSession,
        request: &Request,
        rows: Option<u64>,
    ) -> Result<Cleared, Stop> {
        match session.judge(request.clone(), rows, &self.call()).await {
            Ok(Verdict::Cleared(cleared)) => Ok(cleared),
            Ok(Verdict::Proposed(_)) => fail!("an honest read was taken for a write: {}", short(request)),
            Ok(Verdict::Refused(refusal)) => {
                fail!("an honest read was refused: {}: {refusal}", short(request))
            }
            Err(e) => fail!("judging failed: {}: {}", short(request), told(&e)),
        }
    }

    /// Starts an honest read.
    pub(super) async fn start(
        &self,
        session: &GuardedSession,
        request: &Request,
        rows: Option<u64>,
        call: &CallContext,
    ) -> Result<Rows, Stop> {
        let cleared = self.clear(session, request, rows).await?;
        session.read(cleared, call).map_err(|e| Stop::Failed(format!("read refused to start: {}", told(&e))))
    }

    /// Reads an honest read to its end.
    pub(super) async fn table(
        &self,
        session: &GuardedSession,
        request: &Request,
        rows: Option<u64>,
    ) -> Result<Table, Stop> {
        match self.came(session, request, rows).await {
            Came::Rows(table) => Ok(table),
            Came::Proposed => fail!("an honest read was taken for a write: {}", short(request)),
            Came::Refused(refusal) => fail!("an honest read was refused: {}: {refusal}", short(request)),
            Came::Failed(e) => fail!("an honest read failed: {}: {}", short(request), told(&e)),
        }
    }

    /// Judges a request and reads it to its end if it is cleared.
    pub(super) async fn came(&self, session: &GuardedSession, request: &Request, rows: Option<u64>) -> Came {
        let call = self.call();
        let cleared = match session.judge(request.clone(), rows, &call).await {
            Ok(Verdict::Cleared(cleared)) => cleared,
            Ok(Verdict::Proposed(_)) => return Came::Proposed,
            Ok(Verdict::Refused(refusal)) => return Came::Refused(refusal),
            Err(e) => return Came::Failed(e),
        };
        match session.estimate(&cleared, &call).await {
            Ok(Ok(_)) => {}
            Ok(Err(refusal)) => return Came::Refused(refusal),
            Err(e) => return Came::Failed(e),
        }
        match session.read(cleared, &call) {
            Ok(rows) => read_to_end(rows).await,
            Err(e) => Came::Failed(e),
        }
    }

    /// Compares a read with what must come back.
    pub(super) async fn expect(&self, session: &GuardedSession, expected: &Expected) -> Outcome {
        let table = self.table(session, &expected.request, None).await?;
        let what = short(&expected.request);
        ensure!(
            table.columns == expected.columns,
            "{what} announced the columns {:?}, expected {:?}",
            table.columns,
            expected.columns
        );
        ensure!(
            table.rows.len() == expected.rows.len(),
            "{what} returned {} rows, expected {}",
            table.rows.len(),
            expected.rows.len()
        );
        for (number, (row, wanted)) in table.rows.iter().zip(&expected.rows).enumerate() {
            for ((column, value), wanted) in table.columns.iter().zip(row).zip(wanted) {
                ensure!(
                    value == wanted,
                    "{what} returned {value:?} as {column:?} of row {}, expected {wanted:?}",
                    number + 1
                );
            }
        }
        ensure!(table.ending.is_complete(), "{what} returned everything, and says that more exists");
        Ok(())
    }

    /// Shows that a session works: a small read returns its rows.
    pub(super) async fn works(&self, session: &GuardedSession, after: &str) -> Outcome {
        let request = need(self.material.read_name.as_ref(), "read_name")?;
        let table = self.table(session, request, Some(100)).await.map_err(|stop| match stop {
            Stop::Failed(why) => Stop::Failed(format!("the session does not work {after}: {why}")),
            other => other,
        })?;
        ensure!(!table.rows.is_empty(), "the session returns no rows {after}");
        Ok(())
    }

    /// Everything that the scratch database holds of the objects that the suite knows.
    pub(super) async fn fingerprint(&self) -> Result<String, Stop> {
        let session = self.open().await?;
        let listed = session
            .objects(None, dbagent_core::catalog::Page { offset: 0, size: 10_000 }, &self.call())
            .await
            .map_err(|e| Stop::Failed(format!("listing objects failed: {}", told(&e))))?;
        let mut print = String::new();
        for object in &listed.objects {
            print.push_str(&format!("{} {:?}\n", object.name, object.kind));
        }
        let described = session
            .describe(
                &[&self.material.users, &self.material.orders]
                    .into_iter()
                    .flatten()
                    .cloned()
                    .collect::<Vec<_>>(),
                &self.call(),
            )
            .await
            .map_err(|e| Stop::Failed(format!("describing objects failed: {}", told(&e))))?;
        for object in &described.found {
            print.push_str(&format!("{:?}\n", object.columns));
        }
        for request in [&self.material.read_users, &self.material.read_orders].into_iter().flatten() {
            let rows = match self.came(&session, request, None).await {
                Came::Rows(table) => format!("{:?}\n", table.rows),
                other => format!("{other:?}\n"),
            };
            print.push_str(&rows);
        }
        Ok(print)
    }
}

/// Takes everything that a read hands on.
pub(super) async fn read_to_end(mut rows: Rows) -> Came {
    let mut table = Table::default();
    loop {
        match rows.next().await {
            Ok(Some(batch)) => table.add(&batch),
            Ok(None) => break,
            Err(e) => return Came::Failed(e),
        }
    }
    if let Some(refusal) = rows.refusal() {
        return Came::Refused(refusal.clone());
    }
    if let Some(schema) = rows.schema() {
        table.columns = schema.fields().iter().map(|f| f.name().clone()).collect();
    }
    table.ending = rows.ending();
    Came::Rows(table)
}

/// The material, or the skip that its absence is.
pub(super) fn need<T>(material: Option<T>, name: &'static str) -> Result<T, Stop> {
    material.ok_or(Stop::Missing(name))
}

/// The same for lists.
pub(super) fn need_some<'a, T>(material: &'a [T], name: &'static str) -> Result<&'a [T], Stop> {
    if material.is_empty() { Err(Stop::Missing(name)) } else { Ok(material) }
}

/// The start of a request, for messages.
pub(super) fn short(request: &Request) -> String {
    format!("`{}`", dbagent_core::text::shorten(request.as_str(), 120))
}

/// An error as a person who mends the dialect wants to read it.
pub(super) fn told(error: &Error) -> String {
    let hint = error.hint_text().map(|h| format!("; {h}")).unwrap_or_default();
    format!("{} [{}]{hint}", error, error.kind())
}

/// Whether the dialect stopped by itself, and did not have to be dropped after the core's grace.
pub(super) fn stopped_by_itself(error: &Error) -> bool {
    !error.context().iter().any(|(key, _)| *key == dbagent_core::rows::GRACE_KEY)
}
