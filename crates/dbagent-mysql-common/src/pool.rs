//! A few connections to one target, each used by one call at a time, and one more that stops statements.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dbagent_core::Result;
use dbagent_core::context::CallContext;
use dbagent_core::permits::{Permit, Permits, closed};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, MySqlConnection};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::connect::{Conn, Opener};
use crate::error;
use crate::host::Held;

/// How long a connection that is on its way back is waited for before another is opened: a call that follows
/// another takes its connection.
const RETURN: Duration = Duration::from_millis(100);
/// How long cleaning a connection up may take before it is closed instead.
const CLEANING: Duration = Duration::from_secs(5);
/// "There is no such connection": it ended by itself.
const NO_SUCH_THREAD: u16 = 1094;

/// The connections of one session.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    permits: Permits,
}

struct Shared {
    opener: Opener,
    idle: Mutex<Idle>,
    /// How many connections are on their way back after a statement that had ended, and who waits for one.
    returning: AtomicUsize,
    returned: Notify,
    /// The connection by which statements on the others are stopped, once one had to be.
    reserve: tokio::sync::Mutex<Option<MySqlConnection>>,
    runtime: Handle,
}

#[derive(Default)]
struct Idle {
    connections: Vec<Conn>,
    closed: bool,
}

/// What a connection is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum For {
    /// A statement that was judged, inside a read-only transaction.
    Judged,
    /// Fixed statements about the catalogue, which stay prepared where that does no harm.
    Catalogue,
    /// No statement at all.
    Nothing,
}

/// What became of a statement, as far as the next one is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// It ended, and was a pure read.
    Clean,
    /// It may still run: it must be stopped first.
    Running,
    /// It ended, and may have left something that the server does not tell.
    Unsure,
}

impl Pool {
    /// A pool that opens up to `size` connections when they are needed.
    ///
    /// Must be called inside a runtime.
    pub(crate) fn new(opener: Opener, first: Option<Conn>, size: usize, wait: Duration) -> Self {
        let shared = Shared {
            opener,
            idle: Mutex::new(Idle { connections: first.into_iter().collect(), closed: false }),
            returning: AtomicUsize::new(0),
            returned: Notify::new(),
            reserve: tokio::sync::Mutex::new(None),
            runtime: Handle::current(),
        };
        Self { shared: Arc::new(shared), permits: Permits::new(size, wait) }
    }

    pub(crate) fn opener(&self) -> &Opener {
        &self.shared.opener
    }

    /// A connection for one call, limited to the call's time.
    ///
    /// # Errors
    /// [`ErrorKind::TooManyConnections`] when none became free in time; why none can be opened.
    pub(crate) async fn lease(
        &self,
        call: &CallContext,
        operation: &'static str,
        purpose: For,
    ) -> Result<Lease> {
        let permit = self.permits.take(call, operation).await?;
        loop {
            let idle = call.bound(operation, self.shared.idle()).await?.map_err(|e| e.op(operation))?;
            let reused = idle.is_some();
            let conn = match idle {
                Some(conn) => conn,
                None => self.open(call, operation).await?,
            };
            let guard = Guard { id: conn.id, shared: Arc::clone(&self.shared), permit: None, armed: true };
            let mut lease = Lease { conn, guard };
            match call.bound(operation, lease.begin(call, purpose)).await? {
                Ok(()) => {
                    lease.guard.permit = Some(permit);
                    return Ok(lease);
                }
                // The server cut it while it waited; nothing of the call was sent yet.
                Err(e) if reused && error::is_lost(&e) => lease.discard(),
                Err(e) => {
                    lease.discard();
                    return Err(error::translate(e, None).op(operation));
                }
            }
        }
    }

    /// Opens one more connection. That it took too long is the server's doing only if it had its time.
    async fn open(&self, call: &CallContext, operation: &'static str) -> Result<Conn> {
        let opened = self.shared.opener.open(&call.limited(self.permits.wait()), call.remaining()).await;
        opened.map_err(|e| if call.is_over() { call.over(operation) } else { e.op(operation) })
    }

    /// Closes idle connections now and the others when their calls end.
    pub(crate) async fn close(&self) {
        self.permits.close();
        let connections = {
            let mut idle = self.shared.lock();
            idle.closed = true;
            std::mem::take(&mut idle.connections)
        };
        let idle = connections.into_iter().filter_map(|conn| match conn.inner {
            Held::Own(connection) => Some(connection),
            // The host's are never idle here.
            Held::Lent(_) => None,
        });
        let reserve = self.shared.reserve.lock().await.take();
        for connection in idle.chain(reserve) {
            // Told or not, the server sees that it is gone.
            _ = tokio::time::timeout(CLEANING, connection.close()).await;
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Idle> {
        // A panic while holding the lock leaves a list of whole connections.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection that is free, or soon will be.
    async fn idle(&self) -> Result<Option<Conn>> {
        let patience = Instant::now() + RETURN;
        loop {
            let found = {
                let mut idle = self.lock();
                if idle.closed {
                    return Err(closed());
                }
                idle.connections.pop()
            };
            let comes = found.is_none() && self.returning.load(Ordering::SeqCst) > 0;
            if !comes || timeout_at(patience, self.returned.notified()).await.is_err() {
                return Ok(found);
            }
        }
    }

    async fn give_back(&self, conn: Conn) {
        let conn = match conn.inner {
            Held::Own(_) => conn,
            Held::Lent(lent) => return lent.give_back().await,
        };
        let mut idle = self.lock();
        if !idle.closed {
            idle.connections.push(conn);
        }
    }

    /// Stops what runs on a connection, or ends the connection with all that it holds.
    async fn kill(&self, id: u64, whole: bool) -> Result<()> {
        // MySQL takes no parameter here. A number is all that there is to put in.
        let what = if whole { "CONNECTION" } else { "QUERY" };
        let sql = format!("KILL {what} {id}");
        let mut reserve = self.reserve.lock().await;
        loop {
            let (mut connection, fresh) = match reserve.take() {
                Some(connection) => (connection, false),
                None => (self.opener.connect(&CallContext::within(CLEANING)).await?, true),
            };
            match connection.execute(AssertSqlSafe(sql.as_str())).await {
                Ok(_) => *reserve = Some(connection),
                Err(e) if error::number(&e) == Some(NO_SUCH_THREAD) => *reserve = Some(connection),
                // The server cut it while it waited.
                Err(e) if error::is_lost(&e) && !fresh => continue,
                Err(e) => return Err(error::translate(e, None)),
            }
            return Ok(());
        }
    }

    /// Stops what still runs, undoes what can be undone, and checks that the session is as it was.
    async fn clean(&self, conn: &mut Conn, left: Left) -> Result<bool> {
        let failed = |e| error::translate(e, None);
        if left == Left::Unsure {
            return Ok(false);
        }
        if left == Left::Running {
            self.kill(conn.id, false).await?;
            // Takes what is still on its way. The interruption may hit the statement or this ping.
            if let Err(e) = conn.inner.ping().await
                && error::is_lost(&e)
            {
                return Err(failed(e));
            }
        }
        // The interruption, where nothing else was there to be hit.
        if let Err(e) = conn.inner.execute("ROLLBACK").await {
            if error::is_lost(&e) {
                return Err(failed(e));
            }
            conn.inner.execute("ROLLBACK").await.map_err(failed)?;
        }
        if !conn.is_as_new(self.opener.server()).await.map_err(failed)? {
            return Ok(false);
        }
        conn.forget_statements().await.map_err(failed)?;
        Ok(true)
    }
}

/// A connection in use. Dropping it in the middle of a statement stops the statement on the server.
pub(crate) struct Lease {
    pub(crate) conn: Conn,
    guard: Guard,
}

impl Lease {
    async fn begin(&mut self, call: &CallContext, purpose: For) -> sqlx::Result<()> {
        let server = self.guard.shared.opener.server();
        let limit = server.time_value(call.remaining());
        if self.conn.limit != Some(limit) {
            sqlx::query(server.limit_time()).bind(limit).execute(&mut *self.conn.inner).await?;
            self.conn.limit = Some(limit);
        }
        match purpose {
            For::Judged => {
                self.conn.inner.execute("START TRANSACTION READ ONLY").await?;
            }
            For::Catalogue => self.conn.inner.gather().await?,
            For::Nothing => {}
        }
        Ok(())
    }

    /// Gives the connection back. Cleaning up goes on beside the caller; the place in the pool is free when
    /// it is done.
    pub(crate) fn release(self, left: Left) {
        let Self { mut conn, mut guard } = self;
        let (shared, permit) = (Arc::clone(&guard.shared), guard.disarm());
        let returning = Returning::new(Arc::clone(&shared), left == Left::Clean);
        guard.shared.runtime.spawn(async move {
            let cleaned = tokio::time::timeout(CLEANING, shared.clean(&mut conn, left)).await;
            match cleaned {
                Ok(Ok(true)) => drop(tokio::time::timeout(CLEANING, shared.give_back(conn)).await),
                // Whatever is on it ends with it.
                _ => drop(tokio::time::timeout(CLEANING, conn.inner.abandon()).await),
            }
            drop(returning);
            drop(permit);
        });
    }

    /// Closes the connection: it is broken, or nothing was done on it.
    pub(crate) fn discard(mut self) {
        self.guard.disarm();
    }

    /// Gives the connection back after an error of the driver, if it is still good for anything.
    pub(crate) fn release_after(self, e: &sqlx::Error, left: Left) {
        if error::is_lost(e) { self.discard() } else { self.release(left) }
    }
}

/// A connection on its way back. Dropped when it is there, or closed: also where the driver panicked.
struct Returning {
    shared: Arc<Shared>,
    /// Whether it will not take long, so that others may wait for it.
    soon: bool,
}

impl Returning {
    fn new(shared: Arc<Shared>, soon: bool) -> Self {
        if soon {
            shared.returning.fetch_add(1, Ordering::SeqCst);
        }
        Self { shared, soon }
    }
}

impl Drop for Returning {
    fn drop(&mut self) {
        if self.soon {
            self.shared.returning.fetch_sub(1, Ordering::SeqCst);
        }
        self.shared.returned.notify_one();
    }
}

/// Ends the connection on the server when the lease is dropped: somebody stopped waiting.
struct Guard {
    id: u64,
    shared: Arc<Shared>,
    permit: Option<Permit>,
    armed: bool,
}

impl Guard {
    fn disarm(&mut self) -> Option<Permit> {
        self.armed = false;
        self.permit.take()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.armed {
            return;
        }
        let (id, shared, permit) = (self.id, Arc::clone(&self.shared), self.permit.take());
        self.shared.runtime.spawn(async move {
            // A server that does not answer now has the statement's own time limit.
            drop(tokio::time::timeout(CLEANING, shared.kill(id, true)).await);
            drop(permit);
        });
    }
}
