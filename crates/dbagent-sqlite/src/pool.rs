//! A few connections to one target, each used by one call at a time on a thread that may block.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dbagent_core::context::CallContext;
use dbagent_core::permits::{Permits, closed};
use dbagent_core::{Error, ErrorKind, Result};
use rusqlite::InterruptHandle;

use crate::connect::{Conn, Opener};
use crate::error;
use crate::file;

/// How many instructions of SQLite's machine run between two looks at the clock.
const LOOK_EVERY: i32 = 1_000;

/// The connections of one session.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    permits: Permits,
}

struct Shared {
    /// How to open another connection; none when the host brought the only one.
    opener: Option<Opener>,
    idle: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    connections: Vec<Conn>,
    closed: bool,
}

impl Pool {
    /// A pool that opens up to `size` connections when they are needed.
    pub(crate) fn new(opener: Opener, first: Conn, size: usize, wait: Duration) -> Self {
        Self::over(Some(opener), first, size, wait)
    }

    /// A pool of the one connection that the host brought.
    pub(crate) fn of_one(connection: Conn, wait: Duration) -> Self {
        Self::over(None, connection, 1, wait)
    }

    fn over(opener: Option<Opener>, first: Conn, size: usize, wait: Duration) -> Self {
        let idle = Mutex::new(Idle { connections: vec![first], closed: false });
        Self { shared: Arc::new(Shared { opener, idle }), permits: Permits::new(size, wait) }
    }

    /// Runs `work` on a connection, off the async threads. The statement is interrupted when the call is
    /// over or the future is dropped.
    ///
    /// # Errors
    /// [`ErrorKind::TooManyConnections`] when none became free in time; what `work` says.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        call: &CallContext,
        operation: &'static str,
        work: impl FnOnce(&mut Conn, &CallContext) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let permit = self.permits.take(call, operation).await?;
        let shared = Arc::clone(&self.shared);
        let own_call = call.clone();
        let running = Arc::new(Running::default());
        let stop = Stop(Arc::clone(&running));
        let task = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let mut conn = shared.take(&own_call)?;
            let outcome = running.during(&mut conn, &own_call, work);
            shared.give_back(conn, outcome.as_ref().err());
            outcome
        });
        tokio::pin!(task);
        let joined = tokio::select! {
            biased;
            joined = &mut task => joined,
            // The handler of SQLite's progress sees it too, but not while SQLite sorts or waits.
            () = over(call) => {
                stop.now();
                task.await
            }
        };
        joined.unwrap_or_else(|e| {
            Err(Error::new(ErrorKind::Internal, "a statement of SQLite ended in a panic")
                .op(operation)
                .source(e))
        })
    }

    /// Closes idle connections now and the others when their calls end.
    pub(crate) fn close(&self) {
        self.permits.close();
        let mut idle = self.shared.lock();
        idle.closed = true;
        idle.connections.clear();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Idle> {
        // A panic while holding the lock leaves a list of whole connections.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An idle connection whose file is still the one that the path leads to, else a new one.
    fn take(&self, call: &CallContext) -> Result<Conn> {
        loop {
            let conn = {
                let mut idle = self.lock();
                if idle.closed {
                    return Err(closed());
                }
                idle.connections.pop()
            };
            let Some(opener) = &self.opener else {
                return conn.ok_or_else(|| Error::new(ErrorKind::Internal, "the connection was lost"));
            };
            let Some(conn) = conn else { return opener.open(call) };
            match file::identity(opener.path()) {
                Ok(now) if conn.identity == Some(now) => return Ok(conn),
                // Another file took its place: what is open is a file that nobody sees any more.
                Ok(_) => drop(conn),
                Err(e) => return Err(e),
            }
        }
    }

    fn give_back(&self, conn: Conn, failed: Option<&Error>) {
        let broken = failed.is_some_and(|e| {
            matches!(
                e.kind(),
                ErrorKind::Corrupt | ErrorKind::Io | ErrorKind::Internal | ErrorKind::Exhausted
            )
        });
        let mut idle = self.lock();
        // The one connection of a host is all there is; any other is cheap to open again.
        if !idle.closed && (!broken || self.opener.is_none()) {
            idle.connections.push(conn);
        }
    }
}

/// The statement that runs for one call, as far as others can stop it.
#[derive(Default)]
struct Running(Mutex<Option<InterruptHandle>>);

impl Running {
    fn lock(&self) -> MutexGuard<'_, Option<InterruptHandle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` so that the call's end interrupts it, and nothing after it.
    fn during<T>(
        &self,
        conn: &mut Conn,
        call: &CallContext,
        work: impl FnOnce(&mut Conn, &CallContext) -> Result<T>,
    ) -> Result<T> {
        *self.lock() = Some(conn.db.get_interrupt_handle());
        let watched = call.clone();
        let set = |e| error::translate(e, error::Phase::Run);
        conn.db.progress_handler(LOOK_EVERY, Some(move || watched.is_over())).map_err(set)?;
        let outcome = work(conn, call);
        // From here on an interrupt would hit the next call.
        self.lock().take();
        conn.db.progress_handler(0, None::<fn() -> bool>).map_err(set)?;
        outcome
    }
}

/// Stops the statement when dropped: nobody waits for it any more.
struct Stop(Arc<Running>);

impl Stop {
    fn now(&self) {
        if let Some(handle) = self.0.lock().as_ref() {
            handle.interrupt();
        }
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.now();
    }
}

/// Waits for the end of a call.
async fn over(call: &CallContext) {
    tokio::select! {
        () = call.cancel.cancelled() => {}
        () = tokio::time::sleep_until(call.deadline) => {}
    }
}

#[cfg(test)]
mod tests {
    use dbagent_core::Policy;
    use rusqlite::Connection;

    use super::*;
    use crate::connect::harden;

    const ENDLESS: &str =
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";

    fn conn() -> Conn {
        harden(Connection::open_in_memory().unwrap(), &Policy::default(), Duration::from_secs(1)).unwrap()
    }

    fn endless(conn: &mut Conn, call: &CallContext) -> Result<()> {
        conn.db
            .query_row(ENDLESS, [], |_| Ok(()))
            .map_err(|e| error::translate_under(e, error::Phase::Run, call))
    }

    // The clock inside and the watchdog outside each stop a statement by themselves.

    #[test]
    fn a_statement_looks_at_the_clock_by_itself() {
        let call = CallContext::within(Duration::from_millis(50));
        let e = Running::default().during(&mut conn(), &call, endless).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Timeout);
    }

    #[test]
    fn a_statement_is_interrupted_from_outside_and_the_next_one_is_not() {
        let call = CallContext::within(Duration::from_secs(600));
        let running = Arc::new(Running::default());
        let stop = Stop(Arc::clone(&running));
        let work = std::thread::spawn(move || {
            let mut conn = conn();
            let first = running.during(&mut conn, &call, endless);
            // An interrupt that comes late has nothing to hit.
            let second: rusqlite::Result<i64> = conn.db.query_row("SELECT 1", [], |row| row.get(0));
            (first, second)
        });
        // Nothing tells from outside that it runs by now; an interrupt before that does nothing.
        while !work.is_finished() {
            stop.now();
            std::thread::yield_now();
        }
        let (first, second) = work.join().unwrap();
        assert_eq!(first.unwrap_err().native_code(), Some("SQLITE_INTERRUPT"));
        assert_eq!(second, Ok(1));
    }
}
