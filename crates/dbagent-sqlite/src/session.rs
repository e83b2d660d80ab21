//! The session: everything that dbagent asks of a SQLite database.

use std::time::Duration;

use dbagent_core::account::Probe;
use dbagent_core::catalog::{Described, ObjectPage, Page};
use dbagent_core::context::CallContext;
use dbagent_core::estimate::{Estimate, Plan};
use dbagent_core::guard::{Needs, Resolution, StatementClass};
use dbagent_core::rows::Sink;
use dbagent_core::session::Outcome;
use dbagent_core::{
    Cleared, Error, ErrorKind, ObjectName, OpenContext, Policy, Result, Session, Settings, Target,
    async_trait,
};
use rusqlite::Connection;

use crate::compile::{bind, compile};
use crate::connect::{Conn, Opener, harden};
use crate::error::{Phase, translate, translate_under};
use crate::location::Location;
use crate::pool::Pool;
use crate::resolve::Resolver;
use crate::{account, catalog, parse, read, scans, schema};

/// Connections of one session to one file.
pub(crate) const CONNECTIONS: u32 = 4;
/// How long a lock is waited for where the credential `connect_timeout` says nothing.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// An open SQLite database.
pub(crate) struct SqliteSession {
    pool: Pool,
    resolver: Resolver,
    policy: Policy,
    /// `main`, `temp`, and what the host had attached.
    schemas: Vec<String>,
}

impl SqliteSession {
    /// Opens the file that the target's URL names.
    pub(crate) async fn open(target: &Target, context: &OpenContext) -> Result<Self> {
        schema::check_rules(&target.policy)?;
        let timeout = target.credential.seconds("connect_timeout")?;
        let opener =
            Opener::new(Location::of(&target.url)?, target.policy.clone(), timeout.unwrap_or(LOCK_WAIT))?;
        let (opening, call) = (opener.clone(), context.call.clone());
        let first = tokio::task::spawn_blocking(move || opening.open(&call)).await.map_err(|e| {
            Error::new(ErrorKind::Internal, "opening the database ended in a panic").op("open").source(e)
        })??;
        let wait = timeout.unwrap_or(Duration::from_secs(context.guardrails.connect_timeout_s));
        let pool = Pool::new(opener, first, CONNECTIONS as usize, wait);
        let schemas = vec![schema::MAIN.to_owned(), schema::TEMP.to_owned()];
        Ok(Self { pool, resolver: Resolver::default(), policy: target.policy.clone(), schemas })
    }

    /// Works over a connection that the host brought.
    pub(crate) fn over(connection: Connection, target: &Target) -> Result<Self> {
        schema::check_rules(&target.policy)?;
        let timeout = target.credential.seconds("connect_timeout")?;
        let conn = harden(connection, &target.policy, timeout.unwrap_or(LOCK_WAIT))
            .map_err(|e| translate(e, Phase::Open))?;
        conn.watch.set_catalogue(true);
        let schemas = schema::schemas(&conn.db);
        conn.watch.set_catalogue(false);
        let mut schemas = schemas.map_err(|e| translate(e, Phase::Open))?;
        // The first one is proposed to whoever writes a rule for none of them.
        schemas.sort_by_key(|s| s != schema::MAIN);
        let wait = timeout.unwrap_or(Duration::from_secs(target.guardrails.connect_timeout_s));
        Ok(Self {
            pool: Pool::of_one(conn, wait),
            resolver: Resolver::default(),
            policy: target.policy.clone(),
            schemas,
        })
    }

    /// Runs a statement of the catalogue, again and again while the database is locked.
    async fn catalogue<T: Send + 'static>(
        &self,
        call: &CallContext,
        operation: &'static str,
        work: impl Fn(&Conn) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        self.pool
            .run(call, operation, move |conn, call| {
                conn.watch.set_catalogue(true);
                let outcome = conn.patiently(call, || work(conn));
                conn.watch.set_catalogue(false);
                outcome.map_err(|e| translate_under(e, Phase::Run, call).op(operation))
            })
            .await
    }
}

#[async_trait]
impl Session for SqliteSession {
    fn settings(&self) -> Settings {
        Settings::new().with(Settings::DEFAULT_NAMESPACE, schema::MAIN).with("version", rusqlite::version())
    }

    fn namespaces(&self) -> Vec<String> {
        self.schemas.clone()
    }

    async fn resolve(&self, needs: &Needs, call: &CallContext) -> Result<Resolution> {
        let (resolver, needs) = (self.resolver.clone(), needs.clone());
        self.catalogue(call, "resolve", move |conn| resolver.resolve(conn, &needs)).await
    }

    async fn objects(&self, pattern: Option<&str>, page: Page, call: &CallContext) -> Result<ObjectPage> {
        let pattern = pattern.map(str::to_owned);
        self.catalogue(call, "list", move |conn| catalog::objects(&conn.db, pattern.as_deref(), page)).await
    }

    async fn describe(&self, names: &[ObjectName], call: &CallContext) -> Result<Described> {
        let names = names.to_vec();
        self.catalogue(call, "describe", move |conn| catalog::describe(&conn.db, &names)).await
    }

    async fn estimate(&self, cleared: &Cleared, call: &CallContext) -> Result<Outcome<Estimate>> {
        let (resolver, policy) = (self.resolver.clone(), self.policy.clone());
        let (text, parsed) = (cleared.text().to_owned(), cleared.parsed().clone());
        self.pool
            .run(call, "estimate", move |conn, call| {
                let compiled = compile(conn, &resolver, &text, &parsed, &policy, call)?;
                // SQLite plans by costs that it keeps to itself: how many rows come is not known before.
                Ok(compiled.map(|_| Estimate::UNKNOWN))
            })
            .await
    }

    async fn read(&self, cleared: Cleared, sink: Sink, call: &CallContext) -> Result<Outcome<()>> {
        let (resolver, policy) = (self.resolver.clone(), self.policy.clone());
        self.pool
            .run(call, "read", move |conn, call| {
                let parsed = cleared.parsed();
                match compile(conn, &resolver, cleared.text(), parsed, &policy, call)? {
                    Err(refusal) => Ok(Err(refusal)),
                    Ok(mut statement) => {
                        bind(&mut statement, cleared.params())?;
                        read::stream(conn, &mut statement, sink, call).map(Ok)
                    }
                }
            })
            .await
    }

    async fn explain(&self, cleared: &Cleared, call: &CallContext) -> Result<Outcome<Plan>> {
        if cleared.parsed().class != StatementClass::Read {
            return Err(Error::new(ErrorKind::Unsupported, "only a SELECT has a plan")
                .op("explain")
                .hint("give the SELECT itself; EXPLAIN and PRAGMA are run as queries"));
        }
        let (resolver, policy) = (self.resolver.clone(), self.policy.clone());
        let (text, parsed) = (cleared.text().to_owned(), cleared.parsed().clone());
        let params = cleared.params().clone();
        self.pool
            .run(call, "explain", move |conn, call| {
                match compile(conn, &resolver, &text, &parsed, &policy, call)? {
                    Err(refusal) => return Ok(Err(refusal)),
                    Ok(statement) => drop(statement),
                }
                // The judged text, from its first word on, behind the words that ask for its plan.
                let statement_text = parse::from_first_word(&text);
                let sql = format!("EXPLAIN QUERY PLAN {statement_text}");
                let mut statement = conn
                    .patiently(call, || conn.db.prepare(&sql))
                    .map_err(|e| translate_under(e, Phase::Compile, call))?;
                bind(&mut statement, &params)?;
                let plan = read::plan(&mut statement, call)?;
                conn.watch.set_catalogue(true);
                let warnings = conn.patiently(call, || scans::warnings(&conn.db, statement_text));
                conn.watch.set_catalogue(false);
                let warnings =
                    warnings.map_err(|e| translate_under(e, Phase::Compile, call).op("explain"))?;
                Ok(Ok(Plan { text: plan, warnings, ..Plan::default() }))
            })
            .await
    }

    async fn server(&self, _call: &CallContext) -> Result<String> {
        Ok(format!("SQLite {}", rusqlite::version()))
    }

    async fn probe(&self, call: &CallContext) -> Result<Probe> {
        self.pool
            .run(call, "probe", |conn, call| {
                conn.patiently(call, || account::probe(conn))
                    .map_err(|e| translate_under(e, Phase::Run, call).op("probe"))
            })
            .await
    }

    async fn ping(&self, call: &CallContext) -> Result<()> {
        self.catalogue(call, "ping", |conn| {
            conn.db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
        })
        .await
    }

    async fn close(&self) {
        self.pool.close();
    }
}
