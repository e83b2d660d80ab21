//! A store in memory: for light agents and for tests. It forgets with the process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;

use super::{Appended, Decision, Lease, PendingApproval, Store};
use crate::error::{Error, ErrorKind, Result};
use crate::fact::{Fact, FactRecord};

/// A store in memory. Clones share the content.
#[derive(Clone, Default)]
pub struct MemoryStore(Arc<Mutex<Content>>);

#[derive(Default)]
struct Content {
    threads: BTreeMap<String, Vec<FactRecord>>,
    leases: BTreeMap<String, (Lease, Instant)>,
    tokens: u64,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        // Every change is one push or insert, so a panic elsewhere leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn now_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}

impl Content {
    fn push(&mut self, thread: &str, fact: Fact) {
        let log = self.threads.entry(thread.to_owned()).or_default();
        let seq = log.last().map_or(0, |r| r.seq) + 1;
        log.push(FactRecord { seq, at_ms: now_ms(), fact });
    }

    /// Approvals of a thread that were asked and not decided.
    fn open(&self, thread: &str) -> Vec<PendingApproval> {
        let mut open: Vec<PendingApproval> = Vec::new();
        for record in self.threads.get(thread).into_iter().flatten() {
            match &record.fact {
                Fact::CallAsked { key, approval, reason, shown_hash, arguments, expires_ms } => {
                    open.push(PendingApproval {
                        thread: thread.to_owned(),
                        key: key.clone(),
                        approval: approval.clone(),
                        reason: reason.clone(),
                        arguments: arguments.clone(),
                        shown_hash: shown_hash.clone(),
                        expires_ms: *expires_ms,
                    });
                }
                Fact::CallDecided { approval, .. } => open.retain(|p| p.approval != *approval),
                _ => {}
            }
        }
        open
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn load(&self, thread: &str, after: u64) -> Result<Vec<FactRecord>> {
        let content = self.content();
        Ok(content
            .threads
            .get(thread)
            .map(|log| log.iter().filter(|r| r.seq > after).cloned().collect())
            .unwrap_or_default())
    }

    async fn append(&self, thread: &str, expected: u64, records: Vec<FactRecord>) -> Result<Appended> {
        let mut content = self.content();
        let log = content.threads.entry(thread.to_owned()).or_default();
        let last = log.last().map_or(0, |r| r.seq);
        if last != expected {
            return Ok(Appended::Conflict(last));
        }
        if !records.iter().zip(expected + 1..).all(|(r, seq)| r.seq == seq) {
            return Err(
                Error::new(ErrorKind::Internal, "records are not numbered on from the last one").op("append")
            );
        }
        log.extend(records);
        Ok(Appended::At(log.last().map_or(0, |r| r.seq)))
    }

    async fn decide(&self, thread: &str, decision: Decision) -> Result<bool> {
        let mut content = self.content();
        let found = content.open(thread).into_iter().find(|p| p.approval == decision.approval);
        let Some(pending) = found else { return Ok(false) };
        if pending.shown_hash != decision.shown_hash || pending.expires_ms.is_some_and(|e| now_ms() >= e) {
            return Ok(false);
        }
        let fact = Fact::CallDecided {
            key: pending.key,
            approval: decision.approval,
            approved: decision.approved,
            message: decision.message,
            by: decision.by,
            shown_hash: decision.shown_hash,
        };
        content.push(thread, fact);
        Ok(true)
    }

    async fn pending(&self) -> Result<Vec<PendingApproval>> {
        let content = self.content();
        Ok(content.threads.keys().flat_map(|t| content.open(t)).collect())
    }

    async fn lease(&self, thread: &str, owner: &str, ttl: Duration) -> Result<Option<Lease>> {
        let mut content = self.content();
        if let Some((held, until)) = content.leases.get(thread)
            && *until > Instant::now()
            && held.owner != owner
        {
            return Ok(None);
        }
        content.tokens += 1;
        let lease = Lease { thread: thread.to_owned(), owner: owner.to_owned(), token: content.tokens };
        content.leases.insert(thread.to_owned(), (lease.clone(), Instant::now() + ttl));
        Ok(Some(lease))
    }

    async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<bool> {
        let mut content = self.content();
        match content.leases.get_mut(&lease.thread) {
            // One that ran out and that nobody took meanwhile is still its owner's.
            Some((held, until)) if held == lease => {
                *until = Instant::now() + ttl;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    async fn release(&self, lease: &Lease) -> Result<()> {
        let mut content = self.content();
        if content.leases.get(&lease.thread).is_some_and(|(held, _)| held == lease) {
            content.leases.remove(&lease.thread);
        }
        Ok(())
    }

    async fn list(&self) -> Result<Vec<String>> {
        Ok(self.content().threads.keys().cloned().collect())
    }

    async fn fork(&self, thread: &str, at: u64, name: &str) -> Result<()> {
        let mut content = self.content();
        if content.threads.contains_key(name) {
            return Err(
                Error::new(ErrorKind::Conflict, format!("the thread {name:?} exists already")).op("fork")
            );
        }
        let Some(log) = content.threads.get(thread) else {
            return Err(
                Error::new(ErrorKind::InvalidRequest, format!("there is no thread {thread:?}")).op("fork")
            );
        };
        let copy = log.iter().filter(|r| r.seq <= at).cloned().collect();
        content.threads.insert(name.to_owned(), copy);
        Ok(())
    }

    async fn delete(&self, thread: &str) -> Result<bool> {
        let mut content = self.content();
        content.leases.remove(thread);
        Ok(content.threads.remove(thread).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stale_writer_gets_a_conflict() {
        let store = MemoryStore::new();
        let fact = || vec![FactRecord { seq: 1, at_ms: 0, fact: Fact::TurnClosed { turn: 1 } }];
        assert_eq!(store.append("t", 0, fact()).await.unwrap(), Appended::At(1));
        assert_eq!(store.append("t", 0, fact()).await.unwrap(), Appended::Conflict(1));
    }

    #[tokio::test]
    async fn an_approval_is_taken_once_and_only_as_shown() {
        let store = MemoryStore::new();
        let asked = Fact::CallAsked {
            key: "t1c0".into(),
            approval: "a".into(),
            reason: "write".into(),
            shown_hash: "h".into(),
            arguments: "{}".into(),
            expires_ms: None,
        };
        store.append("t", 0, vec![FactRecord { seq: 1, at_ms: 0, fact: asked }]).await.unwrap();
        let decision = |hash: &str| Decision {
            approval: "a".into(),
            shown_hash: hash.into(),
            approved: true,
            message: String::new(),
            by: "ann".into(),
        };
        assert!(!store.decide("t", decision("other")).await.unwrap());
        assert_eq!(store.pending().await.unwrap().len(), 1);
        assert!(store.decide("t", decision("h")).await.unwrap());
        assert!(!store.decide("t", decision("h")).await.unwrap());
        assert!(store.pending().await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_lease_has_one_owner() {
        let store = MemoryStore::new();
        let ttl = Duration::from_secs(60);
        let lease = store.lease("t", "a", ttl).await.unwrap().unwrap();
        assert!(store.lease("t", "b", ttl).await.unwrap().is_none());
        store.release(&lease).await.unwrap();
        assert!(store.lease("t", "b", ttl).await.unwrap().is_some());
        assert!(!store.renew(&lease, ttl).await.unwrap());
    }
}
