//! The session that hosts hold: everything that reaches the dialect was judged here.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::parse::ParsePool;
use super::sealed::{Caps, Cleared, Seal};
use super::{Outcome, Session, rules};
use crate::account::Probe;
use crate::catalog::{Described, ObjectPage, Page};
use crate::context::CallContext;
use crate::dialect::{Dialect, OpenContext, Settings};
use crate::error::{Error, ErrorKind, Result};
use crate::estimate::{Estimate, Plan};
use crate::guard::{Judgement, Parsed, Refusal, Resolution, Rule, Scope, judge};
use crate::name::ObjectName;
use crate::request::{Params, Request};
use crate::rows::{Rows, SinkLimits};
use crate::target::{Access, Target};
use crate::text::counted;

/// What the judge decided of one request.
#[derive(Debug)]
pub enum Verdict {
    /// A pure read; it may run once.
    Cleared(Cleared),
    /// A write that a person must approve first.
    Proposed(Proposal),
    /// It must not run.
    Refused(Refusal),
}

/// A write that nobody has approved yet.
#[derive(Debug)]
pub struct Proposal {
    request: Request,
    parsed: Arc<Parsed>,
}

impl Proposal {
    /// The request as judged.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// What the grammar said of it.
    pub fn parsed(&self) -> &Parsed {
        &self.parsed
    }
}

/// An open, guarded session. Cheap to clone.
#[derive(Clone)]
pub struct GuardedSession {
    inner: Arc<Inner>,
}

struct Inner {
    dialect: &'static Dialect,
    session: Arc<dyn Session>,
    target: Target,
    parser: ParsePool,
    seal: Seal,
    /// The namespace of names without one.
    namespace: Option<String>,
}

/// How long a dialect may go on opening after its deadline before it is dropped.
const OPEN_GRACE: Duration = Duration::from_secs(1);

/// Tells the sessions of one process apart. It is an identity, not a state that anyone reads.
static NEXT_NONCE: AtomicU64 = AtomicU64::new(1);

impl GuardedSession {
    /// Checks the target's credentials and opens a session on it.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] for wrong credentials and for rules that can hold for nothing; what the dialect says when the database cannot be
    /// opened; [`ErrorKind::Timeout`] after `connect_timeout_s`.
    pub async fn open(dialect: &'static Dialect, mut target: Target, call: &CallContext) -> Result<Self> {
        target.guardrails.check().map_err(|e| e.with("database", &target.name))?;
        target.credential = target.credential.normalise(dialect.id(), dialect.known_credentials())?;
        // A user in the URL and a password beside it belong together.
        let in_url = [("user", target.url.user().is_some()), ("password", target.url.password().is_some())];
        let twice = |(key, there): &&(&str, bool)| *there && target.credential.get(key).is_some();
        if let Some((key, _)) = in_url.iter().find(twice) {
            return Err(Error::new(
                ErrorKind::Config,
                format!("the {key} of {:?} is given twice: in the URL and as a credential", target.name),
            )
            .hint("give it in one place; outside the URL is safer"));
        }
        let limit = target
            .credential
            .seconds("connect_timeout")?
            .unwrap_or(Duration::from_secs(target.guardrails.connect_timeout_s));
        let context = OpenContext {
            call: call.limited(limit),
            access: target.access,
            guardrails: target.guardrails.clone(),
        };
        // A dialect gives up at the deadline and can say what it waited for; this only stops one that does not.
        let deadline = context.call.deadline.checked_add(OPEN_GRACE).unwrap_or(context.call.deadline);
        let backstop = CallContext { deadline, cancel: context.call.cancel.clone() };
        let session = backstop
            .bound("open", dialect.open(&target, &context))
            .await
            .and_then(|opened| opened)
            .map_err(|e| e.with("database", &target.name))?;
        Self::over(dialect, target, session)
    }

    /// Guards a session that the host opened itself, such as one over its own pool or connection. What the
    /// dialect's opening would have hardened is the host's business then; the dialect's own constructor
    /// documents which guarantees are lost.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] for a limit of 0, and for a rule of the policy that names a namespace which the
    /// session cannot have.
    pub fn over(dialect: &'static Dialect, target: Target, session: Box<dyn Session>) -> Result<Self> {
        target.guardrails.check().map_err(|e| e.with("database", &target.name))?;
        rules::check(dialect, &target.policy, &session.namespaces())
            .map_err(|e| e.with("database", &target.name))?;
        let session: Arc<dyn Session> = Arc::from(session);
        let settings = session.settings();
        let namespace = settings.get(Settings::DEFAULT_NAMESPACE).map(str::to_owned);
        let context = dialect.parse_context(target.guardrails.statement_limits(), settings);
        let seal = Seal {
            nonce: NEXT_NONCE.fetch_add(1, Ordering::Relaxed),
            digest: target.policy.digest(),
            access: target.access,
        };
        let parser = ParsePool::new(dialect, context);
        Ok(Self { inner: Arc::new(Inner { dialect, session, target, parser, seal, namespace }) })
    }

    /// The dialect.
    pub fn dialect(&self) -> &'static Dialect {
        self.inner.dialect
    }

    /// The target, credentials unprintable.
    pub fn target(&self) -> &Target {
        &self.inner.target
    }

    /// What the grammar says of a request.
    ///
    /// # Errors
    /// See [`ParsePool::parse`].
    pub async fn parse(&self, request: &Request, call: &CallContext) -> Result<Parsed> {
        self.inner.parser.parse(request, call).await
    }

    /// Judges a request: parse, resolve, judge. Nothing of it is run. `rows` is the row cap that a cleared
    /// read will run under.
    ///
    /// # Errors
    /// When judging itself failed; a refusal is a verdict, not an error.
    pub async fn judge(&self, request: Request, rows: Option<u64>, call: &CallContext) -> Result<Verdict> {
        let call = &call.limited(self.inner.target.guardrails.query_timeout());
        let parsed = self.parse(&request, call).await?;
        let needs = parsed.needs();
        // What is refused anyhow needs no catalogue; an objection that the policy allows does not refuse.
        let refused = parsed.findings.iter().any(|f| !self.inner.target.policy.allows(f));
        let resolution = if needs.is_empty() || refused {
            Resolution::live()
        } else {
            call.bound("resolve", self.inner.session.resolve(&needs, call)).await??
        };
        let parsed = Arc::new(parsed);
        Ok(match judge(&parsed, &resolution, &self.inner.target.policy, self.inner.dialect.case()) {
            Judgement::Refused(refusal) => Verdict::Refused(refusal),
            Judgement::Write if self.inner.target.access == Access::Propose => {
                Verdict::Proposed(Proposal { request, parsed })
            }
            Judgement::Write => Verdict::Refused(refuse_write(&parsed)),
            Judgement::Read => {
                if let Some(refusal) = parameters(&parsed, &request.params) {
                    Verdict::Refused(refusal)
                } else {
                    Verdict::Cleared(Cleared::new(request, parsed, self.caps(rows), self.inner.seal))
                }
            }
        })
    }

    fn caps(&self, rows: Option<u64>) -> Caps {
        let g = &self.inner.target.guardrails;
        // Without a row cap the rows are streamed on, so that the bytes of one result in memory say nothing.
        let bytes = rows.map(|_| g.max_result_bytes);
        Caps { rows, bytes, cell_bytes: g.max_cell_bytes, timeout: g.query_timeout() }
    }

    /// A value of another session, another policy or another access does not run here.
    fn check(&self, cleared: &Cleared) -> Result<()> {
        if cleared.seal() == self.inner.seal {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Internal,
            "a statement that was judged for another session was given to this one",
        )
        .hint("judge it again on this session"))
    }

    /// Estimates a cleared read and holds it against the thresholds.
    ///
    /// # Errors
    /// What the dialect says.
    pub async fn estimate(&self, cleared: &Cleared, call: &CallContext) -> Result<Outcome<Estimate>> {
        self.check(cleared)?;
        let call = call.limited(cleared.caps().timeout);
        let estimated = call.bound("estimate", self.inner.session.estimate(cleared, &call)).await??;
        Ok(estimated.and_then(|estimate| match self.over_threshold(&estimate) {
            Some(refusal) => Err(refusal),
            None => Ok(estimate),
        }))
    }

    fn over_threshold(&self, estimate: &Estimate) -> Option<Refusal> {
        let g = &self.inner.target.guardrails;
        let over = |value: Option<u64>, limit: Option<u64>| value.zip(limit).filter(|(v, l)| v > l);
        let (what, (value, limit), setting) =
            if let Some(pair) = over(estimate.rows_out, Some(g.explain_row_threshold)) {
                ("return", pair, "explain_row_threshold")
            } else {
                ("read", over(estimate.rows_scanned, g.max_scan_rows)?, "max_scan_rows")
            };
        Some(Refusal::new(
            Rule::EstimateOverThreshold,
            format!(
                "the database estimates that this would {what} {} rows, over {setting} = {}",
                crate::text::thousands(value),
                crate::text::thousands(limit)
            ),
        ))
    }

    /// Starts a cleared read. Rows arrive as they are polled; dropping them stops the statement.
    ///
    /// # Errors
    /// When the value was judged for another session.
    pub fn read(&self, cleared: Cleared, call: &CallContext) -> Result<Rows> {
        self.check(&cleared)?;
        let caps = cleared.caps();
        let call =
            CallContext { deadline: call.limited(caps.timeout).deadline, cancel: call.cancel.child_token() };
        let limits = SinkLimits { rows: caps.rows, bytes: caps.bytes, cell_bytes: caps.cell_bytes };
        let session = Arc::clone(&self.inner.session);
        Ok(Rows::start(limits, call, move |sink, call| {
            Box::pin(async move { session.read(cleared, sink, &call).await })
        }))
    }

    /// Shows the plan of a cleared read.
    ///
    /// # Errors
    /// What the dialect says.
    pub async fn explain(&self, cleared: &Cleared, call: &CallContext) -> Result<Outcome<Plan>> {
        self.check(cleared)?;
        let call = call.limited(cleared.caps().timeout);
        call.bound("explain", self.inner.session.explain(cleared, &call)).await?
    }

    /// Lists the objects that the policy lets anyone see.
    ///
    /// # Errors
    /// What the dialect says.
    pub async fn objects(&self, pattern: Option<&str>, page: Page, call: &CallContext) -> Result<ObjectPage> {
        let policy = &self.inner.target.policy;
        let call = call.limited(self.inner.target.guardrails.query_timeout());
        let session = &self.inner.session;
        if policy.allow.is_empty() && policy.deny.is_empty() {
            return call.bound("list", session.objects(pattern, page, &call)).await?;
        }
        // Under rules the page is cut after filtering, so that offsets and totals count what is visible.
        let mut visible = Vec::new();
        let mut offset = 0;
        loop {
            let chunk =
                call.bound("list", session.objects(pattern, Page { offset, size: 1_000 }, &call)).await??;
            if chunk.objects.is_empty() {
                break;
            }
            offset += chunk.objects.len();
            let case = self.inner.dialect.case();
            visible
                .extend(chunk.objects.into_iter().filter(|o| policy.scope(&o.name, case) != Scope::Nothing));
            if offset >= chunk.total {
                break;
            }
        }
        let total = visible.len();
        let objects = visible.into_iter().skip(page.offset).take(page.size).collect();
        Ok(ObjectPage { objects, total })
    }

    /// What may be seen of an object.
    fn scope(&self, name: &ObjectName) -> Scope {
        self.inner.target.policy.scope(&self.qualified(name), self.inner.dialect.case())
    }

    /// The name with its namespace.
    fn qualified(&self, name: &ObjectName) -> ObjectName {
        let namespace = name.namespace.clone().or_else(|| self.inner.namespace.clone());
        ObjectName { namespace, name: name.name.clone() }
    }

    /// Describes objects. What the policy hides is missing, columns included.
    ///
    /// # Errors
    /// What the dialect says.
    pub async fn describe(&self, names: &[ObjectName], call: &CallContext) -> Result<Described> {
        let call = call.limited(self.inner.target.guardrails.query_timeout());
        let mut described = call.bound("describe", self.inner.session.describe(names, &call)).await??;
        let (policy, case) = (&self.inner.target.policy, self.inner.dialect.case());
        let mut found = Vec::with_capacity(described.found.len());
        for mut object in std::mem::take(&mut described.found) {
            let scope = self.scope(&object.summary.name);
            if scope == Scope::Nothing {
                // As it was asked for: the catalogue's own spelling would tell that it is there.
                let name = object.summary.name;
                let asked = names.iter().find(|n| self.inner.dialect.case().same(&n.name, &name.name));
                described.missing.push(asked.cloned().unwrap_or(name));
                continue;
            }
            // Links to what is hidden would name it.
            object.foreign_keys.retain(|k| {
                let target = self.qualified(&k.target);
                self.scope(&target) != Scope::Nothing
                    && k.target_columns.iter().all(|c| policy.column(&target, c, case))
            });
            if scope == Scope::Columns {
                let name = self.qualified(&object.summary.name);
                let open = |c: &str| policy.column(&name, c, case);
                object.columns.retain(|c| open(&c.name));
                object.primary_key.retain(|c| open(c));
                object.foreign_keys.retain(|k| k.columns.iter().all(|c| open(c)));
                // An expression is in the engine's own words, and may name what is hidden.
                let columns = &object.columns;
                let shown = |name: &String| columns.iter().any(|c| c.name == *name);
                object.indexes.retain(|i| i.condition.is_none() && i.columns.iter().all(shown));
                for column in &mut object.columns {
                    column.generated = column.generated.take().map(|_| String::new());
                }
            }
            // The engine's own text of the definition names everything, what is hidden too, and so may its
            // notes: partitions, what is inherited, why a view cannot be read.
            if policy.hides() {
                object.definition = None;
                object.notes.clear();
            }
            found.push(object);
        }
        described.found = found;
        Ok(described)
    }

    /// A word about the server for people.
    ///
    /// # Errors
    /// What the dialect says.
    pub async fn server(&self, call: &CallContext) -> Result<String> {
        call.bound("server", self.inner.session.server(call)).await?
    }

    /// Tries what the account can do beyond reading. Nothing stays of it: the dialect's own fixed statements
    /// run in transactions that are rolled back, beside the sessions that read.
    ///
    /// # Errors
    /// [`Unsupported`](crate::ErrorKind::Unsupported) where a dialect does not probe what it opens;
    /// what the dialect says.
    pub async fn probe(&self, call: &CallContext) -> Result<Probe> {
        call.bound("probe", self.inner.session.probe(call)).await?
    }

    /// Checks that the database answers.
    ///
    /// # Errors
    /// What the dialect says.
    pub async fn ping(&self, call: &CallContext) -> Result<()> {
        call.bound("ping", self.inner.session.ping(call)).await?
    }

    /// Closes connections.
    pub async fn close(&self) {
        self.inner.session.close().await;
    }
}

fn refuse_write(parsed: &Parsed) -> Refusal {
    let schema = parsed.effects.contains(crate::Effects::SCHEMA);
    let rule = if schema { Rule::SchemaChange } else { Rule::Write };
    let span = parsed.objects.iter().find(|o| o.written).and_then(|o| o.span);
    let what = if schema { "changes the schema" } else { "changes data" };
    Refusal::new(rule, format!("the statement {what}, and this database is open for reading only")).at(span)
}

/// Compares the parameters of the text with the values given.
fn parameters(parsed: &Parsed, given: &Params) -> Option<Refusal> {
    let refuse = |m: String| Some(Refusal::new(Rule::Parameters, m));
    let wanted = &parsed.parameters;
    match given {
        Params::Named(values) => {
            if wanted.positional > 0 {
                return refuse(
                    "the statement takes parameters by position, the values are given by name".into(),
                );
            }
            if let Some(name) = wanted.named.iter().find(|n| !values.iter().any(|(k, _)| k == *n)) {
                return refuse(format!("no value is given for the parameter {name}"));
            }
            if let Some((name, _)) = values.iter().find(|(k, _)| !wanted.named.contains(k)) {
                return refuse(format!("the statement has no parameter {name}"));
            }
            None
        }
        given if !wanted.named.is_empty() => refuse(format!(
            "the statement names its parameters ({}), give params as an object{}",
            wanted.named.join(", "),
            if given.is_empty() { "" } else { " instead of an array" }
        )),
        given if given.len() != wanted.positional => refuse(format!(
            "the statement takes {}, but {} given",
            counted(wanted.positional as u64, "parameter", "parameters"),
            counted(given.len() as u64, "value is", "values are")
        )),
        _ => None,
    }
}
