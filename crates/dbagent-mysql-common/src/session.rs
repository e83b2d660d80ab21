//! The session: everything that dbagent asks of a server.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use dbagent_core::account::Probe;
use dbagent_core::catalog::{Described, ObjectPage, Page};
use dbagent_core::context::CallContext;
use dbagent_core::estimate::{Estimate, Hint, Plan};
use dbagent_core::guard::{Needs, Resolution, StatementClass};
use dbagent_core::guardrails::StatementLimits;
use dbagent_core::rows::Sink;
use dbagent_core::session::Outcome;
use dbagent_core::{
    Cleared, Error, ErrorKind, Guardrails, ObjectName, OpenContext, Result, Session, Settings, Target,
    async_trait,
};
use futures_core::future::BoxFuture;
use futures_util::FutureExt as _;
use sqlx::{Connection as _, MySqlConnection, MySqlPool};

use crate::catalog::{self, Scope};
use crate::connect::Opener;
use crate::error;
use crate::estimate::Candidate;
use crate::flavor::{Flavor, Server};
use crate::pool::{For, Left, Pool};
use crate::read::{self, Ended, Failed};
use crate::{account, bind, estimate, resolve};

/// Connections of one session, beside the one that stops statements.
pub(crate) const CONNECTIONS: u32 = 4;
/// Most resolutions that are remembered.
const REMEMBERED: usize = 256;

/// An open database of MySQL or MariaDB.
pub(crate) struct MySqlSession {
    flavor: &'static Flavor,
    pool: Pool,
    limits: StatementLimits,
    /// What names were found to be, and until when that may be used.
    known: Mutex<HashMap<Needs, (Instant, Resolution)>>,
    keep: Duration,
}

impl MySqlSession {
    /// Connects to the server that the target's URL names.
    pub(crate) async fn open(
        flavor: &'static Flavor,
        target: &Target,
        context: &OpenContext,
    ) -> Result<Self> {
        let opener = Opener::new(flavor.server(), target)?;
        let given = opener.location().and_then(|location| location.connect_timeout);
        let wait = given.unwrap_or(Duration::from_secs(context.guardrails.connect_timeout_s));
        let first = opener.open(&context.call.limited(wait), context.call.remaining()).await?;
        let pool = Pool::new(opener, Some(first), CONNECTIONS as usize, wait);
        Ok(Self::over(flavor, pool, &context.guardrails))
    }

    /// Works over a pool that the host brought. One of its connections tells what the texts of all will mean.
    pub(crate) async fn over_pool(flavor: &'static Flavor, host: MySqlPool, target: &Target) -> Result<Self> {
        let wait = Duration::from_secs(target.guardrails.connect_timeout_s);
        let size = host.options().get_max_connections().clamp(1, CONNECTIONS);
        let opener = Opener::over(flavor.server(), host, target);
        let pool = Pool::new(opener, None, size as usize, wait);
        pool.lease(&CallContext::within(wait), "open", For::Nothing).await?.release(Left::Clean);
        Ok(Self::over(flavor, pool, &target.guardrails))
    }

    fn over(flavor: &'static Flavor, pool: Pool, guardrails: &Guardrails) -> Self {
        Self {
            flavor,
            pool,
            limits: guardrails.statement_limits(),
            known: Mutex::default(),
            keep: Duration::from_secs(guardrails.catalogue_ttl_s),
        }
    }

    fn server_kind(&self) -> Server {
        self.flavor.server()
    }

    /// Which database names without one are in, and how names compare.
    fn scope(&self) -> Scope {
        let pinned = self.pool.opener().pinned();
        Scope {
            server: self.server_kind(),
            database: pinned.and_then(|p| p.database.clone()),
            exact: pinned.is_none_or(|p| p.lower_case_table_names == 0),
        }
    }

    /// Runs statements of the catalogue on a connection.
    async fn catalogue<T: Send>(
        &self,
        call: &CallContext,
        operation: &'static str,
        work: impl for<'c> FnOnce(&'c mut MySqlConnection) -> BoxFuture<'c, Result<T, Failed>> + Send,
    ) -> Result<T> {
        self.aside(For::Catalogue, call, operation, work).await
    }

    /// Does something else than running a judged text on a connection.
    async fn aside<T: Send>(
        &self,
        purpose: For,
        call: &CallContext,
        operation: &'static str,
        work: impl for<'c> FnOnce(&'c mut MySqlConnection) -> BoxFuture<'c, Result<T, Failed>> + Send,
    ) -> Result<T> {
        let mut lease = self.pool.lease(call, operation, purpose).await?;
        let outcome = tokio::select! {
            biased;
            outcome = unbroken(work(&mut lease.conn.inner)) => outcome,
            () = over(call) => return Err(call.over(operation)),
        };
        match outcome {
            Ok(value) => {
                lease.release(Left::Clean);
                Ok(value)
            }
            Err(Failed::Driver(e)) => {
                lease.release_after(&e, Left::Clean);
                Err(if call.is_over() {
                    call.over(operation)
                } else {
                    error::translate(e, None).op(operation)
                })
            }
            Err(Failed::Ours(e)) => {
                lease.release(Left::Clean);
                Err(e)
            }
        }
    }

    /// The rows of an EXPLAIN of a judged text, with its parameters bound.
    async fn explained(
        &self,
        call: &CallContext,
        operation: &'static str,
        how: &str,
        cleared: &Cleared,
    ) -> Result<Vec<Vec<(String, Option<String>)>>> {
        let mut lease = self.pool.lease(call, operation, For::Judged).await?;
        let arguments = match bind::arguments(cleared.params(), &lease.conn.decimal) {
            Ok(arguments) => arguments,
            Err(e) => {
                lease.release(Left::Clean);
                return Err(e.op(operation));
            }
        };
        // The judged text behind the words that ask for its plan.
        let text = format!("{how} {}", cleared.text());
        let outcome = tokio::select! {
            biased;
            outcome = unbroken(async {
                let keep = lease.conn.inner.keeps_statements();
                read::texts(&mut lease.conn.inner, &text, arguments, keep).await.map_err(Failed::Driver)
            }) => outcome,
            () = over(call) => return Err(error::stopped(call, operation)),
        };
        match outcome {
            Ok(rows) => {
                lease.release(left(cleared));
                Ok(rows)
            }
            Err(Failed::Driver(e)) => {
                lease.release_after(&e, left(cleared));
                Err(error::translate_under(e, cleared.text(), call, operation))
            }
            // Only streams have something of their own to say.
            Err(Failed::Ours(e)) => {
                lease.release(Left::Running);
                Err(e.op(operation))
            }
        }
    }

    /// The estimate of a read by the server's plan of it.
    async fn planned(&self, cleared: &Cleared, call: &CallContext) -> Result<Estimate> {
        if cleared.parsed().class != StatementClass::Read {
            return Ok(Estimate::UNKNOWN);
        }
        let rows = match self.explained(call, "estimate", "EXPLAIN FORMAT=JSON", cleared).await {
            Ok(rows) => rows,
            // A read that the server has no plan for.
            Err(e) if e.kind() == ErrorKind::Unsupported => return Ok(Estimate::UNKNOWN),
            Err(e) => return Err(e),
        };
        Ok(first(rows).map_or(Estimate::UNKNOWN, |json| estimate::read(&json, cleared.text())))
    }

    /// The hints among the candidates: those whose columns have no index yet. One question about all their tables,
    /// and none where there are no candidates.
    async fn hints(&self, candidates: Vec<Candidate>, call: &CallContext) -> Result<Vec<Hint>> {
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        let scope = self.scope();
        let name = |c: &Candidate| ObjectName { namespace: c.schema.clone(), name: c.table.clone() };
        let names: Vec<ObjectName> = candidates.iter().map(name).collect();
        let known = self.catalogue(call, "explain", move |connection| {
            Box::pin(async move { Ok(catalog::indexed(connection, &scope, &names).await?) })
        });
        let known = known.await?;
        let helps = candidates.into_iter().zip(known).filter(|(c, columns)| estimate::would_help(c, columns));
        Ok(helps.map(|(candidate, _)| candidate.hint).collect())
    }

    /// The error about a VECTOR with the columns that it may be, and what to write for each: those that the
    /// statement names, and all where it says `*`.
    async fn with_vectors(&self, e: Error, cleared: &Cleared, call: &CallContext) -> Error {
        let (scope, parsed) = (self.scope(), cleared.parsed());
        let objects: Vec<ObjectName> = parsed.objects.iter().map(|used| used.name.clone()).collect();
        let found = self.catalogue(call, "read", move |connection| {
            Box::pin(async move { Ok(catalog::vectors(connection, &scope, &objects).await?) })
        });
        // Without an answer the error stays as it is.
        let mut found = found.await.unwrap_or_default();
        found.retain(|(_, column)| {
            let is_it = |used: &str| Flavor::NAME_CASE.same(used, column);
            parsed.columns.iter().any(|used| used.column.as_deref().is_none_or(is_it))
        });
        if found.is_empty() {
            return e;
        }
        let columns = found.iter().map(|(object, column)| format!("VECTOR_TO_STRING({column}) of {object}"));
        let columns: Vec<String> = columns.collect();
        e.hint(format!("select {} instead of the column itself", columns.join(", ")))
    }

    fn remembered(&self, needs: &Needs) -> Option<Resolution> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        known.retain(|_, (until, _)| *until > now);
        known.get(needs).map(|(_, resolution)| resolution.clone())
    }

    /// Remembers what names are for a short time. Functions and views are asked for again every time: what
    /// they do is somewhere else than in their name.
    fn remember(&self, needs: &Needs, resolution: &Resolution, asked: Instant) {
        let steady = needs.functions.is_empty() && resolution.objects.iter().all(|(_, o)| o.body.is_none());
        let Some(until) = asked.checked_add(self.keep) else { return };
        if !steady || self.keep.is_zero() {
            return;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < REMEMBERED {
            known.insert(needs.clone(), (until, resolution.clone()));
        }
    }
}

/// The one value of the one row.
fn first(rows: Vec<Vec<(String, Option<String>)>>) -> Option<String> {
    rows.into_iter().next()?.into_iter().next()?.1
}

/// The tables that a statement names, each once.
fn tables(cleared: &Cleared) -> Vec<String> {
    let mut names: Vec<String> = cleared.parsed().objects.iter().map(|o| o.name.name.clone()).collect();
    names.sort();
    names.dedup();
    names
}

/// What a judged statement may leave on its connection. A pure read leaves nothing; what a policy allowed
/// beside that (a user variable, a lock, a stored function) may leave something that the server does not tell.
fn left(cleared: &Cleared) -> Left {
    let parsed = cleared.parsed();
    let pure = parsed.effects.is_pure_read()
        && parsed.findings.is_empty()
        && parsed.functions.iter().all(|f| f.effects.is_pure_read());
    if pure { Left::Clean } else { Left::Unsure }
}

/// Turns a panic of the driver, which trusts the lengths that a server sends, into an error.
async fn unbroken<T>(work: impl Future<Output = Result<T, Failed>>) -> Result<T, Failed> {
    // Nothing of the connection is looked at after that: the lease is given up.
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(outcome) => outcome,
        Err(_) => Err(Failed::Driver(sqlx::Error::WorkerCrashed)),
    }
}

/// Waits for the end of a call.
async fn over(call: &CallContext) {
    tokio::select! {
        () = call.cancel.cancelled() => {}
        () = tokio::time::sleep_until(call.deadline) => {}
    }
}

#[async_trait]
impl Session for MySqlSession {
    fn settings(&self) -> Settings {
        self.pool.opener().settings()
    }

    async fn resolve(&self, needs: &Needs, call: &CallContext) -> Result<Resolution> {
        if let Some(resolution) = self.remembered(needs) {
            return Ok(resolution);
        }
        let asked = Instant::now();
        let (flavor, limits, wanted) = (self.flavor, self.limits, needs.clone());
        let resolution = self
            .catalogue(call, "resolve", move |connection| {
                Box::pin(async move {
                    resolve::resolve(flavor, connection, &wanted, limits).await.map_err(Failed::Ours)
                })
            })
            .await?;
        self.remember(needs, &resolution, asked);
        Ok(resolution)
    }

    async fn objects(&self, pattern: Option<&str>, page: Page, call: &CallContext) -> Result<ObjectPage> {
        let (scope, pattern) = (self.scope(), pattern.map(str::to_owned));
        self.catalogue(call, "list", move |connection| {
            Box::pin(async move { Ok(catalog::objects(connection, &scope, pattern.as_deref(), page).await?) })
        })
        .await
    }

    async fn describe(&self, names: &[ObjectName], call: &CallContext) -> Result<Described> {
        let (scope, names) = (self.scope(), names.to_vec());
        self.catalogue(call, "describe", move |connection| {
            Box::pin(async move { Ok(catalog::describe(connection, &scope, &names).await?) })
        })
        .await
    }

    async fn estimate(&self, cleared: &Cleared, call: &CallContext) -> Result<Outcome<Estimate>> {
        self.planned(cleared, call).await.map(Ok)
    }

    async fn read(&self, cleared: Cleared, sink: Sink, call: &CallContext) -> Result<Outcome<()>> {
        let mut lease = self.pool.lease(call, "read", For::Judged).await?;
        let arguments = match bind::arguments(cleared.params(), &lease.conn.decimal) {
            Ok(arguments) => arguments,
            Err(e) => {
                lease.release(Left::Clean);
                return Err(e.op("read"));
            }
        };
        let wait = self.pool.opener().location().and_then(|location| location.read_timeout);
        let outcome = tokio::select! {
            biased;
            outcome = unbroken(read::stream(&mut lease.conn.inner, cleared.text(), arguments, sink, wait)) => outcome,
            // Dropping the lease ends the statement on the server.
            () = over(call) => return Err(error::stopped(call, "read")),
        };
        // What may have left something is not used again, and is not worth stopping gently.
        let stop = |lease: crate::pool::Lease| match left(&cleared) {
            Left::Clean => lease.release(Left::Running),
            _ => drop(lease),
        };
        match outcome {
            Ok(Ended::Whole) => lease.release(left(&cleared)),
            Ok(Ended::Stopped) => stop(lease),
            Err(Failed::Driver(e)) => {
                lease.release_after(&e, left(&cleared));
                let vector = error::is_vector(&e);
                let e = error::translate_under(e, cleared.text(), call, "read");
                return Err(if vector { self.with_vectors(e, &cleared, call).await } else { e });
            }
            Err(Failed::Ours(e)) => {
                stop(lease);
                return Err(e.op("read"));
            }
        }
        Ok(Ok(()))
    }

    async fn explain(&self, cleared: &Cleared, call: &CallContext) -> Result<Outcome<Plan>> {
        if cleared.parsed().class != StatementClass::Read {
            return Err(Error::new(ErrorKind::Unsupported, "only a SELECT has a plan")
                .op("explain")
                .hint("give the SELECT itself; EXPLAIN and SHOW are run as queries"));
        }
        let json = match self.explained(call, "explain", "EXPLAIN FORMAT=JSON", cleared).await {
            Ok(rows) => first(rows).unwrap_or_default(),
            // A read that the server has no plan of this kind for.
            Err(e) if e.kind() == ErrorKind::Unsupported => String::new(),
            Err(e) => return Err(e),
        };
        let (estimate, worth) = estimate::read_closely(&json, cleared.text(), tables(cleared));
        let rows = match self.server_kind() {
            Server::MySql => match self.explained(call, "explain", "EXPLAIN FORMAT=TREE", cleared).await {
                Err(e) if e.kind() == ErrorKind::Unsupported => {
                    self.explained(call, "explain", "EXPLAIN", cleared).await?
                }
                other => other?,
            },
            Server::MariaDb => self.explained(call, "explain", "EXPLAIN", cleared).await?,
        };
        let hints = self.hints(worth.candidates, call).await?;
        Ok(Ok(Plan { text: estimate::plan_text(&rows), estimate, warnings: worth.warnings, hints }))
    }

    async fn server(&self, _call: &CallContext) -> Result<String> {
        let version = self.pool.opener().pinned().map(|p| p.version.clone()).unwrap_or_default();
        Ok(format!("{} {version}", self.server_kind().title()))
    }

    async fn probe(&self, call: &CallContext) -> Result<Probe> {
        let opener = self.pool.opener();
        let mut apart = opener.connect(call).await?;
        let database = opener.pinned().and_then(|pinned| pinned.database.as_deref());
        let probed = call.bound("probe", account::probe(&mut apart, database)).await?;
        // The server notices by itself when nobody says goodbye.
        _ = call.bound("probe", apart.close()).await;
        probed.map_err(|e| error::without_secrets(error::translate(e, None), opener.secrets()).op("probe"))
    }

    async fn ping(&self, call: &CallContext) -> Result<()> {
        self.aside(For::Nothing, call, "ping", |connection| {
            Box::pin(async move { Ok(connection.ping().await?) })
        })
        .await
    }

    async fn close(&self) {
        self.pool.close().await;
    }
}
