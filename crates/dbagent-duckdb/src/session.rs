//! The session: everything that dbagent asks of a DuckDB database.

use std::time::Duration;

use dbagent_core::account::Probe;
use dbagent_core::catalog::{Described, ObjectPage, Page};
use dbagent_core::context::CallContext;
use dbagent_core::estimate::{Estimate, Plan};
use dbagent_core::guard::{Judgement, Needs, Parsed, Resolution, StatementClass, judge};
use dbagent_core::rows::Sink;
use dbagent_core::session::Outcome;
use dbagent_core::{
    Cleared, Error, ErrorKind, NameCase, ObjectName, OpenContext, Policy, Refusal, Result, Retry, Rule,
    Session, Settings, Target, async_trait,
};
use duckdb::Connection;

use crate::connect::{Database, Opener, harden};
use crate::error::{Phase, translate};
use crate::location::Location;
use crate::parse::{CATALOG_SETTING, MACROS_SETTING, has_plan};
use crate::pool::{Conn, Pool};
use crate::resolve::Resolver;
use crate::schema::{MAIN, Snapshot};
use crate::{account, catalog, read};

/// Calls of one session that work at once.
pub(crate) const CONNECTIONS: u32 = 4;

/// An open DuckDB database, or a folder of data files.
pub(crate) struct DuckdbSession {
    pool: Pool,
    resolver: Resolver,
    settings: Settings,
    policy: Policy,
}

impl DuckdbSession {
    /// Opens what the target's URL names.
    pub(crate) async fn open(target: &Target, context: &OpenContext) -> Result<Self> {
        let opener = Opener::new(Location::of(&target.url)?)?;
        let opening = opener.clone();
        let opened = tokio::task::spawn_blocking(move || opening.open());
        let database = context.call.bound("open", opened).await?.map_err(|e| {
            Error::new(ErrorKind::Internal, "opening the database ended in a panic").op("open").source(e)
        })??;
        let wait = Duration::from_secs(context.guardrails.connect_timeout_s);
        Ok(Self::new(Some(opener), database, target.policy.clone(), wait))
    }

    /// Works over a connection that the host brought.
    pub(crate) fn over(connection: Connection, target: &Target) -> Result<Self> {
        harden(&connection)?;
        let snapshot = Snapshot::read(&connection).map_err(|e| translate(e, Phase::Open))?;
        let wait = Duration::from_secs(target.guardrails.connect_timeout_s);
        let database = Database::new(connection, snapshot, None, None);
        Ok(Self::new(None, database, target.policy.clone(), wait))
    }

    fn new(opener: Option<Opener>, database: Database, policy: Policy, wait: Duration) -> Self {
        let snapshot = database.snapshot();
        let settings = Settings::new()
            .with(Settings::DEFAULT_NAMESPACE, MAIN)
            .with(CATALOG_SETTING, snapshot.catalog())
            .with(MACROS_SETTING, functions(snapshot));
        let resolver = Resolver::new(&settings);
        Self { pool: Pool::new(opener, database, CONNECTIONS as usize, wait), resolver, settings, policy }
    }

    /// Looks into what the catalogue holds.
    async fn catalogue<T: Send + 'static>(
        &self,
        call: &CallContext,
        operation: &'static str,
        work: impl FnOnce(&Snapshot) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.pool.run(call, operation, move |conn, _| work(conn.database.snapshot())).await
    }

    /// Runs a judged statement on the database that is open now. Another file may have taken the place of
    /// the one that it was judged on, so what its names mean is judged once more.
    async fn judged<T: Send + 'static>(
        &self,
        call: &CallContext,
        operation: &'static str,
        parsed: Parsed,
        work: impl FnOnce(&Conn, &CallContext) -> Result<T> + Send + 'static,
    ) -> Result<Outcome<T>> {
        let known = self.settings.get(MACROS_SETTING).unwrap_or_default().to_owned();
        let catalog = self.settings.get(CATALOG_SETTING).unwrap_or_default().to_owned();
        let (resolver, policy) = (self.resolver.clone(), self.policy.clone());
        self.pool
            .run(call, operation, move |conn, call| {
                let snapshot = conn.database.snapshot();
                if functions(snapshot) != known || snapshot.catalog() != catalog {
                    return Err(Error::new(
                        ErrorKind::Conflict,
                        "another database took the place of the file, and it defines other functions",
                    )
                    .op(operation)
                    .hint("open the target again")
                    .retry(Retry::Never));
                }
                let resolution = resolver.resolve(snapshot, &parsed.needs())?;
                match judge(&parsed, &resolution, &policy, NameCase::AsciiInsensitive) {
                    Judgement::Read => work(conn, call).map(Ok),
                    Judgement::Refused(refusal) => Ok(Err(refusal)),
                    Judgement::Write => {
                        let message = "what the names of the statement mean has changed since it was judged";
                        Ok(Err(Refusal::new(Rule::EngineDisagrees, message)))
                    }
                }
            })
            .await
    }
}

/// The names of the functions that a database defines, one a line.
fn functions(snapshot: &Snapshot) -> String {
    let mut names: Vec<String> = snapshot.macros().iter().map(|m| m.name.to_ascii_lowercase()).collect();
    names.sort();
    names.dedup();
    names.join("\n")
}

#[async_trait]
impl Session for DuckdbSession {
    fn settings(&self) -> Settings {
        self.settings.clone()
    }

    async fn resolve(&self, needs: &Needs, call: &CallContext) -> Result<Resolution> {
        let (resolver, needs) = (self.resolver.clone(), needs.clone());
        self.catalogue(call, "resolve", move |snapshot| resolver.resolve(snapshot, &needs)).await
    }

    async fn objects(&self, pattern: Option<&str>, page: Page, call: &CallContext) -> Result<ObjectPage> {
        let pattern = pattern.map(str::to_owned);
        self.catalogue(call, "list", move |snapshot| Ok(catalog::objects(snapshot, pattern.as_deref(), page)))
            .await
    }

    async fn describe(&self, names: &[ObjectName], call: &CallContext) -> Result<Described> {
        let names = names.to_vec();
        self.catalogue(call, "describe", move |snapshot| Ok(catalog::describe(snapshot, &names))).await
    }

    async fn estimate(&self, cleared: &Cleared, call: &CallContext) -> Result<Outcome<Estimate>> {
        if cleared.parsed().class != StatementClass::Read || !has_plan(cleared.text()) {
            return Ok(Ok(Estimate::UNKNOWN));
        }
        let (text, params) = (cleared.text().to_owned(), cleared.params().clone());
        self.judged(call, "estimate", cleared.parsed().clone(), move |conn, call| {
            Ok(read::planned(conn, &text, &params, call)?.0)
        })
        .await
    }

    async fn read(&self, cleared: Cleared, sink: Sink, call: &CallContext) -> Result<Outcome<()>> {
        self.judged(call, "read", cleared.parsed().clone(), move |conn, call| {
            read::stream(conn, cleared.text(), cleared.params(), sink, call)
        })
        .await
    }

    async fn explain(&self, cleared: &Cleared, call: &CallContext) -> Result<Outcome<Plan>> {
        if cleared.parsed().class != StatementClass::Read || !has_plan(cleared.text()) {
            return Err(Error::new(ErrorKind::Unsupported, "only a query has a plan").op("explain").hint(
                "give the SELECT itself; EXPLAIN, DESCRIBE, PRAGMA and a PIVOT without IN are run as queries",
            ));
        }
        let (text, params) = (cleared.text().to_owned(), cleared.params().clone());
        self.judged(call, "explain", cleared.parsed().clone(), move |conn, call| {
            let (estimate, warnings) = read::planned(conn, &text, &params, call)?;
            let text = read::plan(conn, &text, &params, call)?;
            Ok(Plan { text, estimate, warnings, ..Plan::default() })
        })
        .await
    }

    async fn server(&self, call: &CallContext) -> Result<String> {
        self.pool
            .run(call, "server", |conn, _| {
                let version: String = conn
                    .db
                    .query_row("SELECT version()", [], |row| row.get(0))
                    .map_err(|e| translate(e, Phase::Run))?;
                Ok(format!("DuckDB {}", version.trim_start_matches('v')))
            })
            .await
    }

    async fn probe(&self, call: &CallContext) -> Result<Probe> {
        self.pool.run(call, "probe", |conn, _| account::probe(conn)).await
    }

    async fn ping(&self, call: &CallContext) -> Result<()> {
        let alive = |conn: &mut Conn, _: &CallContext| {
            let one: duckdb::Result<i64> = conn.db.query_row("SELECT 1::BIGINT", [], |row| row.get(0));
            one.map(|_| ()).map_err(|e| translate(e, Phase::Run))
        };
        self.pool.run(call, "ping", alive).await
    }

    async fn close(&self) {
        self.pool.close().await;
    }
}
