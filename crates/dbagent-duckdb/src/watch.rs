//! Stops a statement when its call is over, or when nobody waits for it any more.
//!
//! The engine looks at an interrupt between two pieces of its work, and forgets one that comes before a
//! statement begins. So it is interrupted again and again until it has stopped.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dbagent_core::context::CallContext;
use duckdb::InterruptHandle;
use tokio::sync::Notify;

/// Time between two interrupts.
const AGAIN: Duration = Duration::from_millis(10);

/// The statement that runs for one call, as far as others can stop it.
#[derive(Default)]
pub(crate) struct Watch {
    handle: Mutex<Option<Arc<InterruptHandle>>>,
    ended: Notify,
    abandoned: Notify,
}

impl Watch {
    fn lock(&self) -> MutexGuard<'_, Option<Arc<InterruptHandle>>> {
        self.handle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says which connection works for the call.
    pub(crate) fn begin(&self, handle: Arc<InterruptHandle>) {
        *self.lock() = Some(handle);
    }

    /// Says that the work is done: from here on nothing is interrupted.
    pub(crate) fn end(&self) {
        self.lock().take();
        self.ended.notify_one();
    }

    /// Waits for the end of the work, and stops it when the call is over before.
    pub(crate) async fn guard(self: Arc<Self>, call: CallContext) {
        tokio::select! {
            biased;
            () = self.ended.notified() => return,
            () = self.abandoned.notified() => {}
            () = call.cancel.cancelled() => {}
            () = tokio::time::sleep_until(call.deadline) => {}
        }
        loop {
            if let Some(handle) = self.lock().as_ref() {
                handle.interrupt();
            }
            if tokio::time::timeout(AGAIN, self.ended.notified()).await.is_ok() {
                return;
            }
        }
    }
}

/// Says when dropped that the work is done, also where it panicked.
pub(crate) struct Working(pub(crate) Arc<Watch>);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Stops the statement when dropped: nobody waits for it any more.
pub(crate) struct Waiting(pub(crate) Arc<Watch>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.abandoned.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::exception;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_statement_is_stopped_from_outside_and_the_next_one_is_not() {
        let call = CallContext::within(Duration::from_millis(50));
        let watch = Arc::new(Watch::default());
        let guard = tokio::spawn(Arc::clone(&watch).guard(call));
        let work = tokio::task::spawn_blocking(move || {
            let connection = duckdb::Connection::open_in_memory().unwrap();
            watch.begin(connection.interrupt_handle());
            let endless =
                "SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE a.range + b.range < 0";
            let first = connection.query_row(endless, [], |row| row.get::<_, i64>(0));
            watch.end();
            let second: duckdb::Result<i64> = connection.query_row("SELECT 1", [], |row| row.get(0));
            (exception(&first.unwrap_err()).kind, second)
        });
        let (kind, second) = work.await.unwrap();
        assert_eq!(kind.to_ascii_uppercase(), "INTERRUPT");
        assert_eq!(second.unwrap(), 1);
        guard.await.unwrap();
    }

    #[tokio::test]
    async fn the_guard_ends_with_work_that_panics() {
        let watch = Arc::new(Watch::default());
        let guard = tokio::spawn(Arc::clone(&watch).guard(CallContext::within(Duration::from_secs(3600))));
        let working = Working(Arc::clone(&watch));
        let work = tokio::task::spawn_blocking(move || {
            let _working = working;
            panic!("on purpose");
        });
        assert!(work.await.is_err());
        drop(Waiting(watch));
        guard.await.unwrap();
    }

    #[tokio::test]
    async fn the_guard_ends_with_the_work() {
        let watch = Arc::new(Watch::default());
        let guard = tokio::spawn(Arc::clone(&watch).guard(CallContext::within(Duration::from_secs(3600))));
        watch.end();
        guard.await.unwrap();
        // A drop of what waits, after the end, stops nothing and hangs nothing.
        drop(Waiting(watch));
    }
}
