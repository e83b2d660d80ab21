//! One open database, a few calls at a time, each on a thread and a connection of its own.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dbagent_core::context::CallContext;
use dbagent_core::permits::{Permits, closed};
use dbagent_core::workers::{IDLE, Workers};
use dbagent_core::{Error, ErrorKind, Result};
use duckdb::Connection;

use crate::connect::{Database, Opener};
use crate::watch::{Waiting, Watch, Working};

/// The stack of a thread that works for a call: planning recurses as deep as a statement is nested.
const STACK: usize = 64 << 20;
/// How long closing waits for calls that are still being stopped.
const GRACE: Duration = Duration::from_secs(1);

/// What one call works with.
pub(crate) struct Conn {
    pub(crate) db: Connection,
    pub(crate) database: Arc<Database>,
}

/// The database of one session.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    permits: Permits,
    workers: Workers,
}

struct Shared {
    /// How to open the database again; none when the host brought the connection.
    opener: Option<Opener>,
    current: Mutex<Option<Arc<Database>>>,
}

impl Pool {
    pub(crate) fn new(opener: Option<Opener>, database: Database, size: usize, wait: Duration) -> Self {
        let current = Mutex::new(Some(Arc::new(database)));
        Self {
            shared: Arc::new(Shared { opener, current }),
            permits: Permits::new(size, wait),
            workers: Workers::new("duckdb", STACK, IDLE),
        }
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
        let watch = Arc::new(Watch::default());
        let working = Working(Arc::clone(&watch));
        // On a thread that the engine knows: its first statement on a new one takes several times as long.
        let started = self.workers.start(true, permit, move || {
            // Dropped last, whatever becomes of the work.
            let working = working;
            let mut conn = shared.take()?;
            working.0.begin(conn.db.interrupt_handle());
            work(&mut conn, &own_call)
        });
        let outcome = started.map_err(|e| {
            Error::new(ErrorKind::Exhausted, "no thread could be started for a statement")
                .op(operation)
                .source(e)
        })?;
        let waiting = Waiting(Arc::clone(&watch));
        tokio::spawn(watch.guard(call.clone()));
        let outcome = outcome.await;
        drop(waiting);
        match outcome {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) | Err(_) => {
                Err(Error::new(ErrorKind::Internal, "a statement of DuckDB ended in a panic").op(operation))
            }
        }
    }

    /// Closes the database. A statement that nobody waits for any more takes a moment to stop: it is waited
    /// for, so that neither a lock on the file nor the private folder outlives a process that ends after this.
    /// One that is still read from goes on, and closes the database when it ends.
    pub(crate) async fn close(&self) {
        self.shared.lock().take();
        self.permits.settle(GRACE).await;
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Option<Arc<Database>>> {
        // A panic while holding the lock leaves a whole database, or none.
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new connection to the database, opened again when another file took its place.
    fn take(&self) -> Result<Conn> {
        // Held while opening, so that calls that come meanwhile do not open it again.
        let mut current = self.lock();
        let Some(open) = current.as_ref().map(Arc::clone) else { return Err(closed()) };
        let database = match &self.opener {
            Some(opener) if opener.is_stale(&open)? => {
                let database = Arc::new(opener.open()?);
                *current = Some(Arc::clone(&database));
                database
            }
            _ => open,
        };
        drop(current);
        Ok(Conn { db: database.connect()?, database })
    }
}
