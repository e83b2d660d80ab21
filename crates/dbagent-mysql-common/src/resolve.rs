//! Says what the names of a request really are: tables with all their columns, views with what they read,
//! functions that somebody made.
//!
//! Every level of views takes the same small number of questions to `information_schema`, however many names
//! there are; all names are bound. A view is read with the rights of its owner where it is `SQL SECURITY
//! DEFINER`, so what it reads is judged whatever this account may read itself.

mod bodies;
mod columns;
mod facts;

use std::collections::HashMap;

use dbagent_core::catalog::ObjectKind;
use dbagent_core::guard::{
    Finding, Needs, Parsed, Resolution, ResolvedBody, ResolvedFunction, ResolvedObject, Rule, StatementClass,
};
use dbagent_core::guardrails::StatementLimits;
use dbagent_core::{Effects, ObjectName, Result};
use sqlx::MySqlConnection;

use crate::error;
use crate::flavor::Flavor;
use bodies::Definition;
use facts::{Fact, FunctionFact};

/// How deep views over views are followed.
const MAX_DEPTH: usize = 8;
/// How many objects one request may lead to. Views over views can double at each step.
const MAX_OBJECTS: usize = 2_000;

/// A name as it is written, and the database that it means where it names none; `None` is that of the session.
type Key = (Option<String>, String);

/// What these names are. Those that do not exist, or that this account may not see, are left out.
///
/// # Errors
/// What the server says; [`Exhausted`](dbagent_core::ErrorKind::Exhausted) where no thread could be started.
pub(crate) async fn resolve(
    flavor: &'static Flavor,
    connection: &mut MySqlConnection,
    needs: &Needs,
    limits: StatementLimits,
) -> Result<Resolution> {
    let failed = |e| error::translate(e, None).op("resolve");
    let mut known = Known::default();
    let mut wanted: Vec<Key> = needs.objects.iter().map(|name| key(name, None)).collect();
    let mut called: Vec<Key> = needs.functions.iter().map(|name| function_key(name, None)).collect();
    // The level behind the last one is looked at too, to tell views from tables.
    for _ in 0..=MAX_DEPTH {
        known.miss(&mut wanted);
        called.retain(|f| !known.functions.contains_key(f));
        if (wanted.is_empty() && called.is_empty()) || known.objects.len() > MAX_OBJECTS {
            break;
        }
        wanted.truncate(MAX_OBJECTS);
        let found = facts::objects(connection, &wanted).await.map_err(failed)?;
        let functions = facts::functions(flavor.server(), connection, &called).await.map_err(failed)?;
        for name in std::mem::take(&mut called) {
            let fact = functions.get(&name).cloned();
            known.functions.insert(name, fact);
        }
        let definitions: Vec<(Key, Definition)> =
            found.iter().filter_map(|(key, fact)| Some((key.clone(), Definition::of(fact)?))).collect();
        for name in std::mem::take(&mut wanted) {
            let fact = found.get(&name).cloned();
            known.objects.insert(name, fact);
        }
        for (key, body) in bodies::parse(flavor, definitions, limits).await? {
            let space = known.space(&key);
            let inner = body.needs();
            wanted.extend(inner.objects.iter().map(|name| self::key(name, space.as_deref())));
            called.extend(inner.functions.iter().map(|name| function_key(name, space.as_deref())));
            known.bodies.insert(key, body);
        }
    }
    let mut build = Build { known: &known, left: MAX_OBJECTS };
    Ok(build.resolution(needs, None, 0))
}

fn key(name: &ObjectName, space: Option<&str>) -> Key {
    (name.namespace.clone().or_else(|| space.map(str::to_owned)), name.name.clone())
}

/// `schema.function`, or a function of the default database. A dot within a name is taken for the one between
/// both: then no such function is found, and it stays unknown.
fn function_key(name: &str, space: Option<&str>) -> Key {
    match name.split_once('.') {
        Some((schema, name)) => (Some(schema.to_owned()), name.to_owned()),
        None => (space.map(str::to_owned), name.to_owned()),
    }
}

/// What was found so far; what was asked for and does not exist is there without a value.
#[derive(Default)]
struct Known {
    objects: HashMap<Key, Option<Fact>>,
    functions: HashMap<Key, Option<FunctionFact>>,
    bodies: HashMap<Key, Parsed>,
}

impl Known {
    /// Keeps the names that were not asked for yet, each once.
    fn miss(&self, wanted: &mut Vec<Key>) {
        wanted.sort();
        wanted.dedup();
        wanted.retain(|key| !self.objects.contains_key(key));
    }

    /// The database that names without one mean in the definition of a view.
    fn space(&self, key: &Key) -> Option<String> {
        self.objects.get(key).and_then(Option::as_ref).map(|fact| fact.schema.clone())
    }
}

/// Puts together what was found.
struct Build<'k> {
    known: &'k Known,
    left: usize,
}

impl Build<'_> {
    fn resolution(&mut self, needs: &Needs, space: Option<&str>, depth: usize) -> Resolution {
        let mut resolution = Resolution::live();
        for name in &needs.objects {
            let key = key(name, space);
            if let Some(Some(fact)) = self.known.objects.get(&key) {
                let object = self.object(&key, fact, depth);
                resolution.objects.push((name.clone(), object));
            }
        }
        for name in &needs.functions {
            if let Some(Some(fact)) = self.known.functions.get(&function_key(name, space)) {
                let function = ResolvedFunction {
                    // Whoever made it may say what it does; nobody checks that.
                    effects: Effects::UNKNOWN,
                    reason: fact.reason(),
                    body: None,
                };
                resolution.functions.push((name.clone(), function));
            }
        }
        resolution
    }

    fn object(&mut self, key: &Key, fact: &Fact, depth: usize) -> ResolvedObject {
        self.left = self.left.saturating_sub(1);
        let body = match fact.kind() {
            ObjectKind::View => Some(self.view(key, fact, depth)),
            _ => fact.objection().map(|finding| {
                let mut parsed = Parsed::new(StatementClass::Read, Effects::READ);
                parsed.findings.push(finding);
                ResolvedBody { parsed, resolution: Resolution::live() }
            }),
        };
        ResolvedObject {
            name: ObjectName::within(fact.schema.as_str(), fact.name.as_str()),
            kind: fact.kind(),
            columns: columns::names(fact),
            column_aliases: columns::aliases(fact),
            body: body.map(Box::new),
        }
    }

    fn view(&mut self, key: &Key, fact: &Fact, depth: usize) -> ResolvedBody {
        let why = if depth >= MAX_DEPTH {
            Some(format!("views are nested deeper than {MAX_DEPTH} levels"))
        } else if self.left == 0 {
            Some(format!("more than {MAX_OBJECTS} objects stand behind this statement"))
        } else {
            None
        };
        let parsed = self.known.bodies.get(key);
        let (Some(parsed), None) = (parsed, &why) else {
            let mut parsed = Parsed::new(StatementClass::Read, Effects::READ);
            parsed.findings.push(match why {
                Some(why) => Finding::new(Rule::TooComplex, why, None),
                None => fact.unreadable(),
            });
            return ResolvedBody { parsed, resolution: Resolution::live() };
        };
        let resolution = self.resolution(&parsed.needs(), Some(&fact.schema), depth + 1);
        ResolvedBody { parsed: parsed.clone(), resolution }
    }
}
