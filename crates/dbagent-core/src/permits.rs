//! How many calls of one session work at once.
//!
//! For authors of a dialect: whatever a call works with, a connection of a pool or a thread, it first takes a
//! permit, and keeps it until that is free again. Waiting ends with the call, with its own limit, and when the
//! session is closed, each with an error that says so.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::context::CallContext;
use crate::error::{Error, ErrorKind, Result, Retry};

/// The permits of one session.
#[derive(Debug, Clone)]
pub struct Permits {
    semaphore: Arc<Semaphore>,
    size: usize,
    wait: Duration,
}

/// The right to work, given back when it is dropped.
#[derive(Debug)]
pub struct Permit {
    #[expect(dead_code, reason = "held, and given back when it is dropped")]
    permit: OwnedSemaphorePermit,
}

impl Permits {
    /// `size` permits, each waited for as long as `wait`, which is the time to connect.
    pub fn new(size: usize, wait: Duration) -> Self {
        Self { semaphore: Arc::new(Semaphore::new(size)), size, wait }
    }

    /// Takes one; calls are served in the order in which they came.
    ///
    /// # Errors
    /// [`ErrorKind::TooManyConnections`] when none became free in time, [`closed`] after [`close`](Self::close);
    /// what became of the call when that ended first.
    pub async fn take(&self, call: &CallContext, operation: &'static str) -> Result<Permit> {
        let acquire = tokio::time::timeout(self.wait, Arc::clone(&self.semaphore).acquire_owned());
        match call.bound(operation, acquire).await? {
            Ok(Ok(permit)) => Ok(Permit { permit }),
            Ok(Err(_)) => Err(closed().op(operation)),
            Err(_) => Err(Error::new(
                ErrorKind::TooManyConnections,
                format!("all {} connections of this session are busy", self.size),
            )
            .op(operation)
            .with("waited", format!("{:?}", self.wait))
            .hint("wait for other questions to end, or run fewer at once")
            .retry(Retry::Later)),
        }
    }

    /// How long a permit is waited for.
    pub const fn wait(&self) -> Duration {
        self.wait
    }

    /// Waits until all are back, at most for as long as `grace`, and gives no more then.
    pub async fn settle(&self, grace: Duration) {
        let all = u32::try_from(self.size).unwrap_or(u32::MAX);
        // Whoever does not come back in time keeps a permit that is good.
        _ = tokio::time::timeout(grace, self.semaphore.acquire_many(all)).await;
        self.close();
    }

    /// Gives no more, also to those who wait. Those that are out stay good.
    pub fn close(&self) {
        self.semaphore.close();
    }
}

/// The error for a call on a session that was closed.
pub fn closed() -> Error {
    Error::new(ErrorKind::Connection, "the session was closed").hint("open the target again")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> CallContext {
        CallContext::within(Duration::from_secs(60))
    }

    #[tokio::test(start_paused = true)]
    async fn who_finds_none_is_told_how_many_there_are_and_may_come_again() {
        let permits = Permits::new(2, Duration::from_secs(3));
        let (first, _second) =
            (permits.take(&call(), "read").await.unwrap(), permits.take(&call(), "read").await);
        let error = permits.take(&call(), "read").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooManyConnections);
        assert!(
            error.to_string().contains("all 2 connections") && error.to_string().contains("3s"),
            "{error}"
        );
        drop(first);
        permits.take(&call(), "read").await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_ends_with_the_call() {
        let permits = Permits::new(1, Duration::from_secs(3));
        let _held = permits.take(&call(), "read").await.unwrap();
        let short = CallContext::within(Duration::from_secs(1));
        assert_eq!(permits.take(&short, "read").await.unwrap_err().kind(), ErrorKind::Timeout);
    }

    #[tokio::test(start_paused = true)]
    async fn settling_waits_for_those_that_are_out_and_no_longer_than_it_may() {
        let permits = Permits::new(2, Duration::from_secs(3));
        let held = permits.take(&call(), "read").await.unwrap();
        let own = permits.clone();
        let settled = tokio::spawn(async move { own.settle(Duration::from_secs(60)).await });
        tokio::task::yield_now().await;
        assert!(!settled.is_finished());
        drop(held);
        settled.await.unwrap();
        assert_eq!(permits.take(&call(), "read").await.unwrap_err().kind(), ErrorKind::Connection);
        let permits = Permits::new(1, Duration::from_secs(3));
        let _held = permits.take(&call(), "read").await.unwrap();
        permits.settle(Duration::from_secs(1)).await;
        assert_eq!(permits.take(&call(), "read").await.unwrap_err().kind(), ErrorKind::Connection);
    }

    #[tokio::test]
    async fn closing_reaches_those_who_wait() {
        let permits = Permits::new(1, Duration::from_secs(60));
        let held = permits.take(&call(), "read").await.unwrap();
        let (waiting, own) = (call(), permits.clone());
        let waiter = tokio::spawn(async move { own.take(&waiting, "read").await });
        permits.close();
        let error = waiter.await.unwrap().unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::Connection, "the session was closed"));
        drop(held);
        assert!(permits.take(&call(), "read").await.is_err());
    }
}
