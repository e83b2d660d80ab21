//! The descriptor of a dialect: plain static data, written as a `const` by whoever makes one.

mod capability;
mod registry;

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use futures_core::future::BoxFuture;

pub use capability::{Capabilities, Support};
pub use registry::{FILE_HEAD, Registry, RegistryError};

use crate::account::RoleSetup;
use crate::context::CallContext;
use crate::error::Result;
use crate::estimate::PlanWarning;
use crate::guard::Parsed;
use crate::guardrails::{Guardrails, StatementLimits};
use crate::json::Json;
use crate::name::{NameCase, ObjectName};
use crate::request::Request;
use crate::session::Session;
use crate::target::{Access, CredentialKey, Target};

/// Reads a request by the engine's own grammar. Pure: the same text and settings give the same value.
///
/// An `Err` of kind [`Syntax`](crate::ErrorKind::Syntax) means that the grammar does not accept the text.
pub type ParseFn = fn(&Request, &ParseContext) -> Result<Parsed>;

/// Opens a session on a target.
pub type OpenFn = for<'a> fn(&'a Target, &'a OpenContext) -> BoxFuture<'a, Result<Box<dyn Session>>>;

/// Reads what a statement that explains another one printed, one line or one document after the other. Pure.
pub type PlanFn = fn(&str) -> Vec<PlanWarning>;

/// Everything dbagent knows of one kind of database.
///
/// ```
/// use dbagent_core::{Dialect, Noun};
/// # use dbagent_core::{OpenContext, ParseContext, Parsed, Request, Result, Session, Target};
/// # fn parse(_: &Request, _: &ParseContext) -> Result<Parsed> { unreachable!() }
/// # fn open<'a>(_: &'a Target, _: &'a OpenContext) -> futures_core::future::BoxFuture<'a, Result<Box<dyn Session>>> { unreachable!() }
/// pub const DIALECT: Dialect = Dialect::new("mydb", parse, open)
///     .name("MyDB")
///     .schemes(&["mydb"])
///     .language("SQL")
///     .noun(Noun::TABLES);
/// dbagent_core::inventory::submit! { DIALECT }
/// ```
#[derive(Clone, Copy)]
pub struct Dialect {
    id: &'static str,
    name: &'static str,
    schemes: &'static [&'static str],
    default_port: Option<u16>,
    language: &'static str,
    noun: Noun,
    credential_keys: &'static [CredentialKey],
    capabilities: Capabilities,
    case: NameCase,
    prompt: &'static str,
    verbs: &'static [Verb],
    parse: ParseFn,
    open: OpenFn,
    scratch: Option<fn() -> Arc<dyn Any + Send + Sync>>,
    count: Option<fn(&ObjectName) -> Request>,
    sample: Option<fn(&ObjectName) -> Request>,
    role_setup: Option<RoleSetup>,
    extensions: &'static [&'static str],
    magic: &'static [Magic],
    plan_reader: Option<PlanFn>,
}

inventory::collect!(Dialect);

/// What the objects of a database are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noun {
    /// One of them.
    pub singular: &'static str,
    /// Several.
    pub plural: &'static str,
    /// What they hold, several.
    pub rows: &'static str,
}

impl Noun {
    /// Tables of rows.
    pub const TABLES: Noun = Noun { singular: "table", plural: "tables", rows: "rows" };
    /// Collections of documents.
    pub const COLLECTIONS: Noun = Noun { singular: "collection", plural: "collections", rows: "documents" };

    /// `1 row`, `1,000 rows`, with the word of this noun.
    pub fn counted(&self, rows: u64) -> String {
        crate::text::counted(rows, self.rows.strip_suffix('s').unwrap_or(self.rows), self.rows)
    }
}

/// Bytes at a place of a file that tell what it is, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Magic {
    /// Bytes before them.
    pub at: usize,
    /// The bytes.
    pub bytes: &'static [u8],
}

impl Magic {
    /// These bytes at that place.
    pub const fn new(at: usize, bytes: &'static [u8]) -> Self {
        Self { at, bytes }
    }

    /// Whether the beginning of a file has them.
    pub fn is_in(&self, head: &[u8]) -> bool {
        head.get(self.at..).is_some_and(|rest| rest.starts_with(self.bytes))
    }
}

/// A tool by which a database is asked, where `query(statement, params)` does not fit.
#[derive(Clone, Copy)]
pub struct Verb {
    /// The tool's name, such as `find`.
    pub name: &'static str,
    /// What the model is told, without the limits: the core adds those.
    pub description: &'static str,
    /// The JSON schema of the arguments, an object; `limit` is added by the core.
    pub parameters: fn() -> serde_json::Value,
    /// Makes the request's one normal form from the arguments.
    pub compile: fn(&Json) -> Result<Request>,
}

impl Dialect {
    /// A dialect of that id, with everything else at its default: the id as name and scheme, SQL, tables,
    /// no credential keys, no capabilities.
    pub const fn new(id: &'static str, parse: ParseFn, open: OpenFn) -> Self {
        Self {
            id,
            name: id,
            schemes: &[],
            default_port: None,
            language: "SQL",
            noun: Noun::TABLES,
            credential_keys: &[],
            capabilities: Capabilities::NONE,
            case: NameCase::Sensitive,
            prompt: "",
            verbs: &[],
            parse,
            open,
            scratch: None,
            count: None,
            sample: None,
            role_setup: None,
            extensions: &[],
            magic: &[],
            plan_reader: None,
        }
    }

    /// Sets the name for people.
    pub const fn name(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// Sets the URL schemes; without them the id is the scheme.
    pub const fn schemes(mut self, schemes: &'static [&'static str]) -> Self {
        self.schemes = schemes;
        self
    }

    /// Sets the port where a URL names none.
    pub const fn default_port(mut self, port: u16) -> Self {
        self.default_port = Some(port);
        self
    }

    /// Sets the language that statements are written in.
    pub const fn language(mut self, language: &'static str) -> Self {
        self.language = language;
        self
    }

    /// Sets what objects are called.
    pub const fn noun(mut self, noun: Noun) -> Self {
        self.noun = noun;
        self
    }

    /// Sets the credential keys; any other key is an error.
    pub const fn credential_keys(mut self, keys: &'static [CredentialKey]) -> Self {
        self.credential_keys = keys;
        self
    }

    /// Sets what reads a plan that the model had printed with its real figures, as `EXPLAIN ANALYZE` does.
    pub const fn plan_reader(mut self, read: PlanFn) -> Self {
        self.plan_reader = Some(read);
        self
    }

    /// Declares what the dialect can do. The conformance kit holds it to that.
    pub const fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Sets how names compare.
    pub const fn name_case(mut self, case: NameCase) -> Self {
        self.case = case;
        self
    }

    /// Sets the part of the system prompt that is about this database.
    pub const fn prompt(mut self, prompt: &'static str) -> Self {
        self.prompt = prompt;
        self
    }

    /// Replaces `query` by other verbs.
    pub const fn verbs(mut self, verbs: &'static [Verb]) -> Self {
        self.verbs = verbs;
        self
    }

    /// Sets what makes the parse scratch: an engine or compiled grammar that never touches the target.
    pub const fn scratch(mut self, make: fn() -> Arc<dyn Any + Send + Sync>) -> Self {
        self.scratch = Some(make);
        self
    }

    /// Sets how the rows of one object are counted.
    pub const fn count(mut self, make: fn(&ObjectName) -> Request) -> Self {
        self.count = Some(make);
        self
    }

    /// Sets how rows of one object are read without order or condition.
    pub const fn sample(mut self, make: fn(&ObjectName) -> Request) -> Self {
        self.sample = Some(make);
        self
    }

    /// Sets how an account is set up that can only read; without it there are no accounts to set up.
    pub const fn role_setup(mut self, setup: RoleSetup) -> Self {
        self.role_setup = Some(setup);
        self
    }

    /// Says which files are databases of this kind: by the ends of their names (lower case, without the dot)
    /// and, stronger, by bytes that stand in them. Such a file is opened by the URL `scheme:///path`, with the
    /// first scheme.
    pub const fn files(mut self, extensions: &'static [&'static str], magic: &'static [Magic]) -> Self {
        self.extensions = extensions;
        self.magic = magic;
        self
    }

    /// The id, such as `sqlite`.
    pub const fn id(&self) -> &'static str {
        self.id
    }

    /// The name for people, such as `SQLite`.
    pub const fn display_name(&self) -> &'static str {
        self.name
    }

    /// The URL schemes.
    pub fn url_schemes(&self) -> Vec<&'static str> {
        if self.schemes.is_empty() { vec![self.id] } else { self.schemes.to_vec() }
    }

    /// The port where a URL names none.
    pub const fn port(&self) -> Option<u16> {
        self.default_port
    }

    /// The language of statements.
    pub const fn query_language(&self) -> &'static str {
        self.language
    }

    /// What objects are called.
    pub const fn nouns(&self) -> Noun {
        self.noun
    }

    /// The credential keys.
    pub const fn known_credentials(&self) -> &'static [CredentialKey] {
        self.credential_keys
    }

    /// What it can do.
    pub const fn can(&self) -> &Capabilities {
        &self.capabilities
    }

    /// How names compare.
    pub const fn case(&self) -> NameCase {
        self.case
    }

    /// The part of the system prompt about this database.
    pub const fn prompt_text(&self) -> &'static str {
        self.prompt
    }

    /// The verbs beside the common tools; empty means `query`.
    pub const fn own_verbs(&self) -> &'static [Verb] {
        self.verbs
    }

    /// The ends of names of files that are databases of this kind.
    pub const fn file_extensions(&self) -> &'static [&'static str] {
        self.extensions
    }

    /// Bytes that stand in files that are databases of this kind; one of these is enough.
    pub const fn file_magic(&self) -> &'static [Magic] {
        self.magic
    }

    /// What a printed plan with real figures tells; nothing where the dialect does not read any.
    pub fn read_plan(&self, printed: &str) -> Vec<PlanWarning> {
        self.plan_reader.map(|read| read(printed)).unwrap_or_default()
    }

    /// A request that counts the rows of an object, where the dialect has one.
    pub fn count_request(&self, name: &ObjectName) -> Option<Request> {
        self.count.map(|make| make(name))
    }

    /// A request that reads rows of an object, where the dialect has one.
    pub fn sample_request(&self, name: &ObjectName) -> Option<Request> {
        self.sample.map(|make| make(name))
    }

    /// How an account is set up that can only read, where the database has accounts.
    pub const fn account_setup(&self) -> Option<&RoleSetup> {
        self.role_setup.as_ref()
    }

    /// A parse context with fresh scratch.
    pub fn parse_context(&self, limits: StatementLimits, settings: Settings) -> ParseContext {
        ParseContext { limits, settings, scratch: self.scratch.map(|make| make()) }
    }

    /// Runs the parser on the calling thread, without the checks that come before any parser. Meant for a
    /// dialect's own tests; everything else parses off the async threads, through
    /// [`ParsePool`](crate::session::ParsePool).
    ///
    /// # Errors
    /// What the dialect's parser says.
    pub fn parse(&self, request: &Request, context: &ParseContext) -> Result<Parsed> {
        (self.parse)(request, context)
    }

    /// Opens a session. Hosts use [`GuardedSession::open`](crate::session::GuardedSession::open), which
    /// checks credentials first and lets nothing through that was not judged.
    pub(crate) fn open<'a>(
        &self,
        target: &'a Target,
        context: &'a OpenContext,
    ) -> BoxFuture<'a, Result<Box<dyn Session>>> {
        (self.open)(target, context)
    }
}

impl std::fmt::Debug for Dialect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dialect")
            .field("id", &self.id)
            .field("schemes", &self.url_schemes())
            .finish_non_exhaustive()
    }
}

/// Language settings that change what a text means, pinned for a session: server version, `sql_mode`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings(BTreeMap<String, String>);

impl Settings {
    /// Key of the namespace that a name without one is in, for engines that have namespaces.
    pub const DEFAULT_NAMESPACE: &str = "default_namespace";

    /// None: the dialect's documented defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets one.
    pub fn with(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.insert(key.into(), value.into());
        self
    }

    /// The value of one.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }
}

/// What a parser works under.
#[derive(Clone)]
pub struct ParseContext {
    limits: StatementLimits,
    settings: Settings,
    scratch: Option<Arc<dyn Any + Send + Sync>>,
}

impl ParseContext {
    /// The limits. The core has checked the bytes; a dialect checks the tokens with its own lexer before
    /// its parser runs.
    pub fn limits(&self) -> StatementLimits {
        self.limits
    }

    /// The session's pinned language settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The scratch that the dialect's own `scratch` function made.
    pub fn scratch<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.scratch.as_deref().and_then(|s| s.downcast_ref())
    }
}

/// What opening a session works under.
#[derive(Debug, Clone)]
pub struct OpenContext {
    /// When it must be open, and whether anybody still wants it.
    pub call: CallContext,
    /// What the session may do at most. A dialect opens read-only unless this says more.
    pub access: Access,
    /// The limits.
    pub guardrails: Guardrails,
}
