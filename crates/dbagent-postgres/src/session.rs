//! The session: everything that dbagent asks of a PostgreSQL database.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use dbagent_core::account::Probe;
use dbagent_core::catalog::{Described, ObjectKind, ObjectPage, Page};
use dbagent_core::context::CallContext;
use dbagent_core::estimate::{Estimate, Plan};
use dbagent_core::guard::{Needs, Resolution, StatementClass};
use dbagent_core::guardrails::StatementLimits;
use dbagent_core::rows::Sink;
use dbagent_core::session::Outcome;
use dbagent_core::{
    Cleared, Error, ErrorKind, ObjectName, OpenContext, Result, Session, Settings, Target, async_trait,
};
use sqlx::Connection as _;
use sqlx::postgres::{PgConnection, PgPool};

use crate::connect::{Facts, connect, facts};
use crate::error::{Phase, translate};
use crate::options::Place;
use crate::parse::{CONFORMING, ENCODING};
use crate::pool::{Pool, Source};
use crate::{account, catalog, plan, read, resolve};

/// Connections of one session that run statements; one more cancels them.
pub(crate) const CONNECTIONS: u32 = 4;
/// The encoding of a database that knows none: bytes are what they are.
const SQL_ASCII: &str = "SQL_ASCII";
/// How many resolutions are kept at most.
const KEPT: usize = 128;

/// An open PostgreSQL database.
pub(crate) struct PostgresSession {
    pool: Pool,
    limits: StatementLimits,
    ttl: Duration,
    kept: Mutex<Vec<(Needs, Resolution, Instant)>>,
}

impl PostgresSession {
    /// Opens the database that the target names.
    pub(crate) async fn open(target: &Target, context: &OpenContext) -> Result<Self> {
        let place = Place::of(target)?;
        let call = match place.connect_timeout {
            Some(limit) => context.call.limited(limit),
            None => context.call.clone(),
        };
        let opening = async {
            let mut first = connect(&place).await?;
            let facts = facts(&mut first).await?;
            Ok::<_, Error>((first, facts))
        };
        let (first, facts) = call.bound("open", opening).await.map_err(|e| unanswered(e, &place))??;
        let wait = Duration::from_secs(context.guardrails.connect_timeout_s);
        Ok(Self::over(Source::Place(Box::new(place)), first, facts, CONNECTIONS as usize, wait, target))
    }

    /// Works over a pool that the host brought.
    pub(crate) async fn over_pool(pool: PgPool, target: &Target) -> Result<Self> {
        let wait = Duration::from_secs(target.guardrails.connect_timeout_s);
        let opening = async {
            let mut first = PgConnection::connect_with(&pool.connect_options()).await?;
            let facts = facts(&mut first).await;
            Ok::<_, sqlx::Error>((first, facts))
        };
        let opened = CallContext::within(wait).bound("open", opening).await?;
        let (first, facts) = opened.map_err(|e| translate(e, Phase::Open))?;
        let facts = facts?;
        let size = pool.options().get_max_connections().clamp(1, CONNECTIONS);
        Ok(Self::over(Source::Host(pool), first, facts, size as usize, wait, target))
    }

    fn over(
        source: Source,
        first: PgConnection,
        facts: Facts,
        size: usize,
        wait: Duration,
        target: &Target,
    ) -> Self {
        Self {
            pool: Pool::new(source, first, facts, size, wait),
            limits: target.guardrails.statement_limits(),
            ttl: Duration::from_secs(target.guardrails.catalogue_ttl_s),
            kept: Mutex::default(),
        }
    }

    /// The pool, for tests that look behind the session.
    #[cfg(feature = "testing")]
    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// What was resolved lately, if it is of the kind that may be kept.
    fn kept(&self, needs: &Needs) -> Option<Resolution> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(_, _, since)| since.elapsed() < self.ttl);
        kept.iter().find(|(n, _, _)| n == needs).map(|(_, r, _)| r.clone())
    }

    /// Keeps a resolution of plain tables and of functions that are only the server's own. Views and the
    /// functions of users are read again each time, and so is a name that does not exist: it may be made at
    /// any moment.
    fn keep(&self, needs: &Needs, resolution: &Resolution) {
        let plain = resolution.functions.is_empty()
            && resolution.objects.len() == needs.objects.len()
            && resolution.objects.iter().all(|(_, o)| o.kind == ObjectKind::Table && o.body.is_none());
        if !plain || self.ttl.is_zero() {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push((needs.clone(), resolution.clone(), Instant::now()));
    }
}

/// A server that does not answer is out of reach: that is no matter of a statement's time.
fn unanswered(e: Error, place: &Place) -> Error {
    if e.kind() != ErrorKind::Timeout {
        return e;
    }
    let mut error = Error::new(ErrorKind::Connection, "the server did not answer in time")
        .op("open")
        .retry(dbagent_core::Retry::Later)
        .hint("check the host, the port and the network between; a firewall may swallow the connection");
    for host in &place.hosts {
        error = error.with("host", &host.name).with("port", host.port);
    }
    error
}

#[async_trait]
impl Session for PostgresSession {
    fn settings(&self) -> Settings {
        let facts = self.pool.facts();
        let settings = Settings::new()
            .with("version", facts.version_number.to_string())
            .with("search_path", &facts.search_path)
            .with(ENCODING, &facts.encoding)
            // What every transaction sets.
            .with("client_encoding", if facts.encoding == SQL_ASCII { SQL_ASCII } else { "UTF8" })
            .with(CONFORMING, "on");
        match facts.schemas.first() {
            Some(schema) => settings.with(Settings::DEFAULT_NAMESPACE, schema),
            None => settings,
        }
    }

    async fn resolve(&self, needs: &Needs, call: &CallContext) -> Result<Resolution> {
        if let Some(kept) = self.kept(needs) {
            return Ok(kept);
        }
        let mut link = self.pool.own_link(call, "resolve").await?;
        let mut left = read::NAMES;
        let resolution = loop {
            let resolved = call.bound("resolve", resolve::resolve(link.start()?, needs, self.limits)).await?;
            link.done(Ok(()), call, "resolve")?;
            match resolved {
                // Behind a pooler: see `read::prepare`.
                Err(e) if left > 0 && e.native_code() == Some("42P05") => {
                    left -= 1;
                    link.renew(call).await?;
                }
                resolved => break resolved?,
            }
        };
        self.keep(needs, &resolution);
        Ok(resolution)
    }

    async fn objects(&self, pattern: Option<&str>, page: Page, call: &CallContext) -> Result<ObjectPage> {
        let mut link = self.pool.link(call, "list").await?;
        catalog::objects(&mut link, pattern, page, call).await
    }

    async fn describe(&self, names: &[ObjectName], call: &CallContext) -> Result<Described> {
        let mut link = self.pool.link(call, "describe").await?;
        catalog::describe(&mut link, names, &self.pool.facts().schemas, call).await
    }

    async fn estimate(&self, cleared: &Cleared, call: &CallContext) -> Result<Outcome<Estimate>> {
        // SHOW and EXPLAIN have no plan of their own, and little to say.
        if cleared.parsed().class != StatementClass::Read {
            return Ok(Ok(Estimate::UNKNOWN));
        }
        let mut link = self.pool.link(call, "estimate").await?;
        plan::estimate(&mut link, cleared.text(), cleared.params(), call).await.map(Ok)
    }

    async fn read(&self, cleared: Cleared, sink: Sink, call: &CallContext) -> Result<Outcome<()>> {
        let mut link = self.pool.link(call, "read").await?;
        read::stream(&mut link, &cleared, sink, self.pool.facts().money, call).await.map(Ok)
    }

    async fn explain(&self, cleared: &Cleared, call: &CallContext) -> Result<Outcome<Plan>> {
        if cleared.parsed().class != StatementClass::Read {
            return Err(Error::new(ErrorKind::Unsupported, "only a query has a plan")
                .op("explain")
                .hint("give the SELECT itself; EXPLAIN and SHOW are run as queries"));
        }
        let mut link = self.pool.link(call, "explain").await?;
        plan::explain(&mut link, cleared.text(), cleared.params(), call).await.map(Ok)
    }

    async fn server(&self, _call: &CallContext) -> Result<String> {
        let facts = self.pool.facts();
        let role = if facts.standby { ", a read-only replica" } else { "" };
        Ok(format!("PostgreSQL {}{role}", facts.version))
    }

    async fn probe(&self, call: &CallContext) -> Result<Probe> {
        let mut apart = call.bound("probe", self.pool.apart()).await??;
        let probed = call.bound("probe", account::probe(&mut apart)).await?;
        // Dropped without a word, the server would find out by itself.
        _ = call.bound("probe", apart.close()).await;
        probed.map_err(|e| self.pool.failed(e, "probe"))
    }

    async fn ping(&self, call: &CallContext) -> Result<()> {
        // To begin a transaction is to ask the server twice.
        self.pool.link(call, "ping").await.map(drop)
    }

    async fn close(&self) {
        self.pool.close().await;
    }
}
