//! A few connections to one target. Each call has one to itself, in a transaction of its own.
//!
//! A connection comes back only after its transaction was rolled back and reset. What was still running is
//! cancelled on the server first, from a reserve connection; what cannot be settled soon is closed.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dbagent_core::context::CallContext;
use dbagent_core::permits::{Permit, Permits, closed};
use dbagent_core::{Error, ErrorKind, Result};
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnection, PgPool};
use sqlx::{Connection as _, Postgres};
use tokio::sync::Notify;
use tokio::time::{timeout, timeout_at};

use crate::connect::{Facts, connect};
use crate::error::{self, Phase, is_lost, translate_hiding};
use crate::options::Place;
use crate::transaction::{self, Texts};

/// An idle connection that was not used for this long is asked whether it still lives.
const STALE: Duration = Duration::from_secs(30);
/// How long a connection that is on its way back is waited for before a new one is made: a call that follows
/// another takes its connection.
const RETURN: Duration = Duration::from_millis(100);
/// How long the server has to answer a cancellation.
const CANCEL: Duration = Duration::from_secs(2);
/// A server that cancels this shortly before the deadline does so because of it.
const NEARLY: Duration = Duration::from_millis(100);
/// How long a connection may take to come back.
const RECOVERY: Duration = Duration::from_secs(5);

/// The connections of one session.
#[derive(Clone)]
pub(crate) struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    source: Source,
    facts: Facts,
    permits: Permits,
    idle: Mutex<Idle>,
    /// How many connections are on their way back after a statement that had ended, and who waits for one.
    returning: AtomicUsize,
    returned: Notify,
    /// The connection that cancels what the others run.
    reserve: tokio::sync::Mutex<Option<PgConnection>>,
}

/// Where connections come from.
pub(crate) enum Source {
    /// Our own, made when needed.
    Place(Box<Place>),
    /// The host's pool.
    Host(PgPool),
}

#[derive(Default)]
struct Idle {
    connections: Vec<(PgConnection, Instant)>,
    closed: bool,
}

enum Conn {
    Own(PgConnection),
    Host(PoolConnection<Postgres>),
}

impl Deref for Conn {
    type Target = PgConnection;
    fn deref(&self) -> &PgConnection {
        match self {
            Conn::Own(conn) => conn,
            Conn::Host(conn) => conn,
        }
    }
}

impl DerefMut for Conn {
    fn deref_mut(&mut self) -> &mut PgConnection {
        match self {
            Conn::Own(conn) => conn,
            Conn::Host(conn) => conn,
        }
    }
}

impl Pool {
    /// A pool over a source, with a first connection that becomes the reserve.
    pub(crate) fn new(
        source: Source,
        first: PgConnection,
        facts: Facts,
        size: usize,
        wait: Duration,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                source,
                facts,
                permits: Permits::new(size, wait),
                idle: Mutex::default(),
                returning: AtomicUsize::new(0),
                returned: Notify::new(),
                reserve: tokio::sync::Mutex::new(Some(first)),
            }),
        }
    }

    /// What the first connection told of the server.
    pub(crate) fn facts(&self) -> &Facts {
        &self.shared.facts
    }

    /// A connection in a fresh read-only transaction that may take as long as the call.
    ///
    /// # Errors
    /// [`ErrorKind::TooManyConnections`] when none became free in time; what the server says.
    pub(crate) async fn link(&self, call: &CallContext, operation: &'static str) -> Result<Link> {
        self.link_for(Texts::Judged, call, operation).await
    }

    /// The same for texts of our own that the guard relies on.
    ///
    /// # Errors
    /// As [`link`](Self::link).
    pub(crate) async fn own_link(&self, call: &CallContext, operation: &'static str) -> Result<Link> {
        self.link_for(Texts::Own, call, operation).await
    }

    async fn link_for(&self, texts: Texts, call: &CallContext, operation: &'static str) -> Result<Link> {
        let shared = &self.shared;
        let permit = shared.permits.take(call, operation).await?;
        let opened = call.bound(operation, async {
            loop {
                let (mut conn, reused) = shared.take().await?;
                let (facts, keeps) = (&shared.facts, shared.keeps_statements());
                match transaction::begin(&mut conn, facts, texts, call.remaining(), keeps).await {
                    Ok(pid) => return Ok((conn, pid)),
                    // It was cut while it was idle: the next one, or a new one.
                    Err(e) if reused && is_lost(&e) => {}
                    Err(e) => return Err(shared.translate(e, Phase::Catalogue)),
                }
            }
        });
        let (conn, pid) = opened.await??;
        let shared = Arc::clone(shared);
        Ok(Link { conn: Some(conn), pid, texts, running: false, shared, permit: Some(permit) })
    }

    /// A connection beside the pool, without limits and without a transaction, that nobody gives back: to try
    /// what an account can do.
    ///
    /// # Errors
    /// What the server says.
    pub(crate) async fn apart(&self) -> Result<PgConnection> {
        match &self.shared.source {
            Source::Place(place) => connect(place).await,
            Source::Host(pool) => PgConnection::connect_with(&pool.connect_options())
                .await
                .map_err(|e| self.shared.translate(e, Phase::Open)),
        }
    }

    /// The error that a catalogue statement on such a connection failed with.
    pub(crate) fn failed(&self, e: sqlx::Error, operation: &'static str) -> Error {
        self.shared.translate(e, Phase::Catalogue).op(operation)
    }

    /// Closes idle connections now and the others when their calls end. A host's pool stays open.
    pub(crate) async fn close(&self) {
        self.shared.permits.close();
        let connections = {
            let mut idle = self.shared.lock();
            idle.closed = true;
            std::mem::take(&mut idle.connections)
        };
        let reserve = self.shared.reserve.lock().await.take();
        for conn in connections.into_iter().map(|(conn, _)| conn).chain(reserve) {
            // The server sees a closed socket as well; saying goodbye is a courtesy.
            _ = timeout(CANCEL, conn.close()).await;
        }
    }
}

impl Shared {
    fn keeps_statements(&self) -> bool {
        match &self.source {
            Source::Place(place) => !place.pooler,
            // Nobody knows what stands between a host's pool and the server.
            Source::Host(_) => false,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Idle> {
        // A panic while holding the lock leaves a list of whole connections.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn translate(&self, e: sqlx::Error, phase: Phase) -> Error {
        match &self.source {
            Source::Place(place) => translate_hiding(e, phase, &place.hidden),
            Source::Host(_) => error::translate(e, phase),
        }
    }

    /// An idle connection, or a new one; and whether it was used before.
    async fn take(&self) -> Result<(Conn, bool)> {
        let place = match &self.source {
            Source::Host(pool) => {
                let conn = pool.acquire().await.map_err(|e| error::translate(e, Phase::Open))?;
                return Ok((Conn::Host(conn), false));
            }
            Source::Place(place) => place,
        };
        let patience = tokio::time::Instant::now() + RETURN;
        loop {
            let idle = {
                let mut idle = self.lock();
                if idle.closed {
                    return Err(closed());
                }
                idle.connections.pop()
            };
            let Some((mut conn, since)) = idle else {
                let comes = self.returning.load(Ordering::SeqCst) > 0;
                if comes && timeout_at(patience, self.returned.notified()).await.is_ok() {
                    continue;
                }
                return Ok((Conn::Own(connect(place).await?), false));
            };
            let lives = since.elapsed() < STALE || matches!(timeout(CANCEL, conn.ping()).await, Ok(Ok(())));
            if lives {
                return Ok((Conn::Own(conn), true));
            }
        }
    }

    /// Brings a connection back to where the next call can use it, or closes it.
    async fn recover(self: Arc<Self>, mut conn: Conn, pid: i32, running: bool, permit: Permit) {
        let settled = async {
            if running && !self.settle(&mut conn, pid).await {
                return false;
            }
            if !self.keeps_statements() && conn.clear_cached_statements().await.is_err() {
                return false;
            }
            transaction::reset(&mut conn).await.is_ok()
        };
        let usable = matches!(timeout(RECOVERY, settled).await, Ok(true));
        match conn {
            Conn::Own(conn) if usable => {
                let mut idle = self.lock();
                if !idle.closed {
                    idle.connections.push((conn, Instant::now()));
                }
            }
            Conn::Own(_) => {}
            Conn::Host(conn) if usable => drop(conn),
            // The host's pool must not get it back in the middle of something.
            Conn::Host(conn) => drop(conn.detach()),
        }
        if !running {
            self.returning.fetch_sub(1, Ordering::SeqCst);
        }
        // Also when it was closed: then there is nothing to wait for.
        self.returned.notify_one();
        drop(permit);
    }

    /// Cancels what runs on a connection and takes what the server still sends of it.
    ///
    /// Cancelling comes first: the driver reads the rest of a result without a pause for anybody else as long
    /// as there is something to read, so the rest must be little. A statement that has just ended does not
    /// notice.
    async fn settle(&self, conn: &mut PgConnection, pid: i32) -> bool {
        self.cancel(pid).await && matches!(timeout(CANCEL, answered(conn)).await, Ok(true))
    }

    /// Cancels what a process of the server runs. Its transaction is still ours, so nothing else is hit.
    async fn cancel(&self, pid: i32) -> bool {
        let attempt = async {
            let mut reserve = self.reserve.lock().await;
            // The second time with a new connection: the first may have been cut.
            for _ in 0..2 {
                let mut conn = match reserve.take() {
                    Some(conn) => conn,
                    None => match self.another().await {
                        Ok(conn) => conn,
                        Err(_) => return false,
                    },
                };
                let said = async {
                    transaction::open(&mut conn).await?;
                    let query = sqlx::query_scalar("SELECT pg_catalog.pg_cancel_backend($1)").bind(pid);
                    let done: bool = query.persistent(false).fetch_one(&mut conn).await?;
                    transaction::close(&mut conn).await?;
                    Ok(done)
                };
                let said = said.await;
                match said {
                    Ok(done) => {
                        // A session that was closed meanwhile keeps nothing open.
                        *reserve = Some(conn).filter(|_| !self.lock().closed);
                        return done;
                    }
                    Err(e) if is_lost(&e) => {}
                    Err(_) => {
                        *reserve = Some(conn);
                        return false;
                    }
                }
            }
            false
        };
        timeout(CANCEL, attempt).await.unwrap_or(false)
    }

    async fn another(&self) -> Result<PgConnection> {
        match &self.source {
            Source::Place(place) => connect(place).await,
            Source::Host(pool) => PgConnection::connect_with(&pool.connect_options())
                .await
                .map_err(|e| error::translate(e, Phase::Open)),
        }
    }
}

/// Reads what the server still sends until it is ready; an error in between is the end of a statement.
async fn answered(conn: &mut PgConnection) -> bool {
    for _ in 0..4 {
        match conn.ping().await {
            Ok(()) => return true,
            Err(e) if is_lost(&e) => return false,
            Err(_) => {}
        }
    }
    false
}

/// A connection in a transaction, for one call. Dropping it ends the transaction, also in the middle of a
/// statement, and brings the connection back in the background.
pub(crate) struct Link {
    conn: Option<Conn>,
    pid: i32,
    texts: Texts,
    running: bool,
    shared: Arc<Shared>,
    permit: Option<Permit>,
}

impl Link {
    /// The connection, for a statement that begins now: dropping the link before [`done`](Self::done) cancels
    /// it on the server.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] never happens: a link has its connection until it is dropped.
    pub(crate) fn start(&mut self) -> Result<&mut PgConnection> {
        self.running = true;
        let conn = self.conn.as_deref_mut();
        conn.ok_or_else(|| Error::new(ErrorKind::Internal, "a connection was used after its call"))
    }

    /// Takes what came of a statement that ended, well or not: the server waits for the next one.
    ///
    /// # Errors
    /// What the server says; [`ErrorKind::Timeout`] or [`ErrorKind::Cancelled`] when it was stopped.
    pub(crate) fn done<T>(
        &mut self,
        outcome: sqlx::Result<T>,
        call: &CallContext,
        operation: &'static str,
    ) -> Result<T> {
        self.running = false;
        outcome.map_err(|e| {
            if error::is_cancelled(&e) && (call.is_over() || call.remaining() < NEARLY) {
                error::stopped(call, operation)
            } else if error::is_cancelled(&e) {
                self.failed(e, operation).hint("somebody cancelled it on the server; it may be tried again")
            } else {
                self.failed(e, operation)
            }
        })
    }

    /// Whether statements of ours may be kept prepared on the server.
    pub(crate) fn keeps_statements(&self) -> bool {
        self.shared.keeps_statements()
    }

    /// Ends the transaction, forgets what is prepared on the connection, and begins another.
    ///
    /// # Errors
    /// What the server says.
    pub(crate) async fn renew(&mut self, call: &CallContext) -> Result<()> {
        let (shared, texts) = (Arc::clone(&self.shared), self.texts);
        let conn = self.start()?;
        let begun = call.bound("read", async {
            conn.clear_cached_statements().await?;
            transaction::reset(conn).await?;
            transaction::begin(conn, &shared.facts, texts, call.remaining(), shared.keeps_statements()).await
        });
        let begun = begun.await?;
        self.pid = self.done(begun, call, "read")?;
        Ok(())
    }

    /// The error for what the driver says on this connection.
    pub(crate) fn failed(&self, e: sqlx::Error, operation: &'static str) -> Error {
        self.shared.translate(e, Phase::Run).op(operation)
    }
}

#[cfg(feature = "testing")]
impl Link {
    /// Brings the connection back and waits for it, so that a test sees what is left.
    pub(crate) async fn finish(mut self) {
        if let (Some(conn), Some(permit)) = (self.conn.take(), self.permit.take()) {
            let shared = Arc::clone(&self.shared);
            if !self.running {
                shared.returning.fetch_add(1, Ordering::SeqCst);
            }
            shared.recover(conn, self.pid, self.running, permit).await;
        }
    }

    /// The process of the server that runs the transaction.
    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let (Some(conn), Some(permit)) = (self.conn.take(), self.permit.take()) else { return };
        let shared = Arc::clone(&self.shared);
        // Without a runtime nobody can talk to the server any more, and the socket closes.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            if !self.running {
                shared.returning.fetch_add(1, Ordering::SeqCst);
            }
            runtime.spawn(shared.recover(conn, self.pid, self.running, permit));
        }
    }
}
