//! Says what the names of a request are: tables with their columns, views and functions with what they read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dbagent_core::catalog::ObjectKind;
use dbagent_core::guard::{
    Finding, Needs, Parsed, Resolution, ResolvedBody, ResolvedFunction, ResolvedObject, Rule, StatementClass,
    follow_computed,
};
use dbagent_core::{Effects, NameCase, ObjectName, Result, Settings};

use crate::functions;
use crate::parse::{self, CATALOGUE, Engine, Names, ddl, scan};
use crate::schema::{Entry, EntryKind, Found, MAIN, Snapshot};

/// How deep definitions over definitions are followed.
const MAX_DEPTH: usize = 8;
/// How many definitions one request may lead to. Views over views can double at each step.
const MAX_BODIES: usize = 2_000;
/// How many definitions are remembered.
const MAX_CACHED: usize = 10_000;

/// Reads definitions and remembers what they say.
#[derive(Clone)]
pub(crate) struct Resolver {
    engine: Arc<Engine>,
    names: Names,
    /// By the text of the definition: the same text says the same.
    bodies: Arc<Mutex<HashMap<String, Arc<Parsed>>>>,
}

impl Resolver {
    /// A resolver for a session with these settings.
    pub(crate) fn new(settings: &Settings) -> Self {
        Self { engine: Arc::new(Engine::new()), names: Names::of(settings), bodies: Arc::default() }
    }

    /// What these names are. Names that do not exist are left out.
    ///
    /// # Errors
    /// When the engine that reads definitions failed.
    pub(crate) fn resolve(&self, snapshot: &Snapshot, needs: &Needs) -> Result<Resolution> {
        let mut lookup = Lookup { resolver: self, snapshot, left: MAX_BODIES, path: Vec::new() };
        lookup.all(needs, &[MAIN])
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Parsed>>> {
        // What a panic leaves behind is at worst a cache with fewer entries.
        self.bodies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a definition does. One that cannot be read is refused when it is used.
    fn body(&self, text: &str) -> Result<Arc<Parsed>> {
        if let Some(known) = self.lock().get(text) {
            return Ok(Arc::clone(known));
        }
        let parsed = match parse::body(text, &self.names, &self.engine) {
            Ok(parsed) => parsed,
            Err(e) if e.kind() == dbagent_core::ErrorKind::Syntax => unreadable(),
            Err(e) => return Err(e),
        };
        let parsed = Arc::new(parsed);
        let mut bodies = self.lock();
        if bodies.len() >= MAX_CACHED {
            bodies.clear();
        }
        bodies.insert(text.to_owned(), Arc::clone(&parsed));
        Ok(parsed)
    }
}

/// One walk along the definitions.
struct Lookup<'a> {
    resolver: &'a Resolver,
    snapshot: &'a Snapshot,
    left: usize,
    /// The definitions that are being followed, the outermost first.
    path: Vec<String>,
}

impl Lookup<'_> {
    fn all(&mut self, needs: &Needs, schemas: &[&str]) -> Result<Resolution> {
        let mut resolution = Resolution::live();
        for name in &needs.objects {
            if let Some(object) = self.object(name, schemas)? {
                resolution.objects.push((name.clone(), object));
            }
        }
        for name in &needs.functions {
            if let Some(function) = self.function(name, schemas)? {
                resolution.functions.push((name.clone(), function));
            }
        }
        Ok(resolution)
    }

    fn object(&mut self, name: &ObjectName, schemas: &[&str]) -> Result<Option<ResolvedObject>> {
        let entry = match self.snapshot.find(name, schemas) {
            None => return Ok(None),
            Some(Found::Entry(entry)) => entry,
            Some(Found::Engine) => {
                return Ok(Some(ResolvedObject {
                    name: ObjectName::within(CATALOGUE, name.name.to_ascii_lowercase()),
                    kind: ObjectKind::System,
                    columns: Vec::new(),
                    column_aliases: Vec::new(),
                    body: None,
                }));
            }
        };
        let mut object = ResolvedObject {
            name: ObjectName::within(&*entry.schema, &*entry.name),
            kind: match entry.kind {
                EntryKind::Table => ObjectKind::Table,
                EntryKind::View => ObjectKind::View,
            },
            columns: entry.columns.iter().map(|c| c.name.clone()).collect(),
            column_aliases: Vec::new(),
            body: None,
        };
        match entry.kind {
            EntryKind::Table => self.computed(entry, &mut object)?,
            EntryKind::View => {
                let query = entry.sql.as_deref().and_then(ddl::view_query);
                let parsed = match query {
                    Some(query) => self.resolver.body(query)?,
                    None => Arc::new(unreadable()),
                };
                // Names without a schema are looked for beside the view first.
                let body = self.body(&object.name.to_string(), &parsed, &[&entry.schema, MAIN])?;
                object.body = Some(Box::new(body));
            }
        }
        Ok(Some(object))
    }

    /// Generated columns read the columns that they are computed from.
    fn computed(&mut self, entry: &Entry, object: &mut ResolvedObject) -> Result<()> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        let mut calls = Parsed::new(StatementClass::Read, Effects::READ);
        for column in entry.columns.iter().filter(|c| c.generated) {
            let text = format!("SELECT ({}\n)", column.default.as_deref().unwrap_or_default());
            let parsed = self.resolver.body(&text)?;
            calls.findings.extend(parsed.findings.iter().cloned());
            calls.functions.extend(parsed.functions.iter().filter(|f| !f.effects.is_pure_read()).cloned());
            let read = parsed.columns.iter().filter_map(|c| c.column.as_deref());
            pairs.extend(read.map(|from| (column.name.clone(), from.to_owned())));
        }
        if !follow_computed(&mut pairs, NameCase::AsciiInsensitive) {
            calls.findings.push(Finding::new(
                Rule::TooComplex,
                format!("the generated columns of {} are computed from too many others", object.name),
                None,
            ));
        }
        object.column_aliases = pairs;
        if !calls.findings.is_empty() || !calls.functions.is_empty() {
            let name = object.name.to_string();
            object.body = Some(Box::new(self.body(&name, &calls, &[MAIN])?));
        }
        Ok(())
    }

    fn function(&mut self, name: &str, schemas: &[&str]) -> Result<Option<ResolvedFunction>> {
        let vouched = |reason: String| ResolvedFunction { effects: Effects::READ, reason, body: None };
        // A name that would be a file where no table has it.
        if let Some(scanned) = scan::scanned(name) {
            let found = self.snapshot.find(&scanned, schemas);
            return Ok(Some(match found {
                Some(_) => vouched(format!("{scanned} is a table")),
                None => ResolvedFunction {
                    effects: Effects::UNKNOWN,
                    reason: format!("no table is called {scanned}, and files cannot be read by name"),
                    body: None,
                },
            }));
        }
        let (schema, last) = match name.rsplit_once('.') {
            Some((before, last)) => (before.rsplit('.').next(), last),
            None => (None, name),
        };
        let own = |m: &&crate::schema::Macro| {
            let qualified = schema.is_none_or(|s| {
                s.eq_ignore_ascii_case(&m.schema) || s.eq_ignore_ascii_case(self.snapshot.catalog())
            });
            m.name.eq_ignore_ascii_case(last) && qualified
        };
        let definitions: Vec<(bool, Option<String>)> =
            self.snapshot.macros().iter().filter(own).map(|m| (m.table, m.definition.clone())).collect();
        if definitions.is_empty() {
            // A function of the engine behind its schema, such as `main.abs`.
            let known = schema.is_some() && functions::effects(last).is_pure_read();
            return Ok(known.then(|| vouched(format!("{name} is a function of the engine"))));
        }
        // One name may stand for several definitions: which is called depends on types, so all must pass.
        let mut merged = Parsed::new(StatementClass::Read, Effects::READ);
        for (table, definition) in definitions {
            let parsed = match definition {
                Some(text) if table => self.resolver.body(&text)?,
                Some(text) => self.resolver.body(&format!("SELECT ({text}\n)"))?,
                None => Arc::new(unreadable()),
            };
            merge(&mut merged, &parsed);
        }
        let body = self.body(&format!("function {name}"), &merged, schemas)?;
        Ok(Some(ResolvedFunction {
            effects: Effects::READ,
            reason: format!("{name} is defined in the database"),
            body: Some(Box::new(body)),
        }))
    }

    /// A definition with its own names looked up, as far as that goes.
    fn body(&mut self, name: &str, parsed: &Parsed, schemas: &[&str]) -> Result<ResolvedBody> {
        self.left = self.left.saturating_sub(1);
        let why = if self.path.iter().any(|p| p == name) {
            Some(format!("{name} is defined by itself"))
        } else if self.left == 0 {
            Some(format!("more than {MAX_BODIES} definitions stand behind this statement"))
        } else if self.path.len() >= MAX_DEPTH {
            Some(format!("definitions are nested deeper than {MAX_DEPTH} levels"))
        } else {
            None
        };
        if let Some(why) = why {
            let mut parsed = parsed.clone();
            parsed.findings.push(Finding::new(Rule::TooComplex, why, None));
            return Ok(ResolvedBody { parsed, resolution: Resolution::live() });
        }
        self.path.push(name.to_owned());
        let resolution = self.all(&parsed.needs(), schemas);
        self.path.pop();
        Ok(ResolvedBody { parsed: parsed.clone(), resolution: resolution? })
    }
}

/// Adds what one definition does to what others do.
fn merge(into: &mut Parsed, parsed: &Parsed) {
    let shift = into.objects.len();
    into.effects |= parsed.effects;
    if !matches!(parsed.class, StatementClass::Read | StatementClass::Catalogue) {
        into.class = parsed.class;
    }
    into.objects.extend(parsed.objects.iter().cloned());
    into.tell_all.extend(parsed.tell_all.iter().map(|index| index + shift));
    into.columns.extend(parsed.columns.iter().cloned().map(|mut column| {
        for candidate in &mut column.candidates {
            *candidate += shift;
        }
        column
    }));
    into.columns_known &= parsed.columns_known;
    into.functions.extend(parsed.functions.iter().cloned());
    into.findings.extend(parsed.findings.iter().cloned());
}

fn unreadable() -> Parsed {
    let mut parsed = Parsed::new(StatementClass::Unknown, Effects::UNKNOWN);
    parsed.findings.push(Finding::new(Rule::UnknownSyntax, "the definition cannot be read", None));
    parsed
}
