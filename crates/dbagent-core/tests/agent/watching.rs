//! Whoever watches a run is told what it missed, and how the run ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::support::{Answerer, Script, asks, database, says, soon};
use dbagent_core::artifact::Artifact;
use dbagent_core::budget::Budgets;
use dbagent_core::event::{Event, EventKind};
use dbagent_core::fact::{Fact, FactRecord};
use dbagent_core::model::{Reply, ToolCall};
use dbagent_core::store::{Appended, Decision, Lease, MemoryStore, PendingApproval, Store};
use dbagent_core::{Agent, Error, ErrorKind, Guardrails, Result, async_trait};

/// A store that can be read once, or written a number of times.
struct Failing {
    inner: MemoryStore,
    unreadable: AtomicBool,
    writes: AtomicU64,
}

impl Failing {
    fn new(writes: u64) -> Self {
        Self { inner: MemoryStore::new(), unreadable: AtomicBool::new(false), writes: AtomicU64::new(writes) }
    }
}

#[async_trait]
impl Store for Failing {
    async fn load(&self, thread: &str, after: u64) -> Result<Vec<FactRecord>> {
        if self.unreadable.swap(true, Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Io, "the disk is away"));
        }
        self.inner.load(thread, after).await
    }
    async fn append(&self, thread: &str, expected: u64, records: Vec<FactRecord>) -> Result<Appended> {
        let left = self.writes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        left.map_err(|_| Error::new(ErrorKind::Io, "the disk is full"))?;
        self.inner.append(thread, expected, records).await
    }
    async fn decide(&self, thread: &str, decision: Decision) -> Result<bool> {
        self.inner.decide(thread, decision).await
    }
    async fn pending(&self) -> Result<Vec<PendingApproval>> {
        self.inner.pending().await
    }
    async fn lease(&self, thread: &str, owner: &str, ttl: Duration) -> Result<Option<Lease>> {
        self.inner.lease(thread, owner, ttl).await
    }
    async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<bool> {
        self.inner.renew(lease, ttl).await
    }
    async fn release(&self, lease: &Lease) -> Result<()> {
        self.inner.release(lease).await
    }
    async fn list(&self) -> Result<Vec<String>> {
        self.inner.list().await
    }
    async fn fork(&self, thread: &str, at: u64, name: &str) -> Result<()> {
        self.inner.fork(thread, at, name).await
    }
    async fn delete(&self, thread: &str) -> Result<bool> {
        self.inner.delete(thread).await
    }
}

async fn all(run: &dbagent_core::agent::Run) -> Vec<Event> {
    let mut events = run.events();
    let mut seen = Vec::new();
    while let Some(event) = soon(events.next()).await {
        seen.push(event);
    }
    seen
}

#[tokio::test]
async fn a_watcher_that_lags_over_a_broken_store_is_told_and_still_sees_the_end() {
    let steps = (0..46).map(|_| -> Answerer {
        Box::new(|_| Ok(Reply::calls((0..32).map(|_| ToolCall::new("nope", "{}")).collect())))
    });
    let script = Script::new(steps.chain([says("done")]));
    let budgets = Budgets { tool_calls: 10_000, ..Budgets::default() };
    let store = Arc::new(Failing::new(u64::MAX));
    let agent = Agent::builder(Arc::new(script)).budgets(budgets).store(store).build().unwrap();
    let run = agent.start("t", "q");
    let mut events = run.events();
    assert_eq!(soon(run.outcome()).await.unwrap().text, "done");
    let mut seen = Vec::new();
    while let Some(event) = soon(events.next()).await {
        seen.push(event);
    }
    match &seen[0].kind {
        EventKind::Missed { after: 0, reason } => assert_eq!(reason, "the disk is away"),
        other => panic!("{other:?}"),
    }
    assert!(seen[1..].iter().all(|e| !matches!(e.kind, EventKind::Missed { .. })));
    let last = seen.last().unwrap();
    assert!(matches!(&last.kind, EventKind::Fact(r) if matches!(r.fact, Fact::RunEnded { .. })), "{last:?}");
}

#[tokio::test]
async fn a_run_that_cannot_begin_or_cannot_write_its_end_says_so_to_its_watchers() {
    for writes in [0, 2] {
        let agent = Agent::builder(Arc::new(Script::new([says("done")])))
            .store(Arc::new(Failing::new(writes)))
            .build()
            .unwrap();
        let run = agent.start("t", "q");
        let seen = all(&run).await;
        match &seen.last().unwrap().kind {
            EventKind::Failed { kind, message } => {
                assert_eq!((*kind, message.as_str()), (ErrorKind::Io, "the disk is full"));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(run.outcome().await.unwrap_err().kind(), ErrorKind::Io);
    }
}

#[tokio::test]
async fn an_end_that_is_in_the_log_is_the_last_event() {
    let agent = Agent::builder(Arc::new(Script::new([crate::support::fails(
        dbagent_core::model::ModelErrorKind::Auth,
    )])))
    .build()
    .unwrap();
    let run = agent.start("t", "q");
    let seen = all(&run).await;
    assert!(
        matches!(&seen.last().unwrap().kind, EventKind::Fact(r) if matches!(r.fact, Fact::RunEnded { .. }))
    );
}

#[tokio::test]
async fn a_warning_about_a_plan_follows_the_end_of_its_statement() {
    let script = Script::new([asks("slow 21 1 2"), says("done")]);
    let agent = Agent::builder(Arc::new(script)).database(database(Guardrails::default())).build().unwrap();
    let run = agent.start("t", "q");
    let mut seen = Vec::new();
    for event in all(&run).await {
        match event.kind {
            EventKind::Ran { rows, .. } => seen.push(format!("ran {rows}")),
            EventKind::Warned { key, warning } => seen.push(format!("{key}: {warning}")),
            _ => {}
        }
    }
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert_eq!(seen[0], "ran 21");
    assert!(seen[1].starts_with("t1c0: about 2 rows were expected and 21 came"), "{seen:?}");
    let answer = soon(run.outcome()).await.unwrap();
    let Some((_, Artifact::Rows(rows))) = answer.artifacts.first() else { panic!("{answer:?}") };
    assert_eq!(rows.warnings.len(), 1);
}
