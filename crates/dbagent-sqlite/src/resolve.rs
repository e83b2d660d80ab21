//! Says what the names of a request are: tables with their columns, views with what they read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dbagent_core::catalog::ObjectKind;
use dbagent_core::guard::{
    Finding, Needs, Parsed, Resolution, ResolvedBody, ResolvedFunction, ResolvedObject, Rule, StatementClass,
    follow_computed,
};
use dbagent_core::{Effects, NameCase, ObjectName};
use rusqlite::Result;

use crate::connect::Conn;
use crate::error::is_mistake;
use crate::file::Identity;
use crate::modules;
use crate::parse::ddl::{self, Definition};
use crate::schema::{self, ColumnRow, Entry, EntryKind, Hidden};

/// How many objects one request may lead to. Views over views over views can double at each step.
const MAX_OBJECTS: usize = 2_000;
/// How many names are remembered.
const MAX_CACHED: usize = 10_000;
/// How deep views over views are followed to tell how heavy they are.
const MAX_PATH: usize = 100;
/// How deep views over views are followed; the judge refuses at the same depth.
const MAX_DEPTH: usize = 33;
/// Names by which SQLite knows the number of a row.
const ROW_NUMBER: &[&str] = &["rowid", "oid", "_rowid_"];

/// What is known of one object by itself.
#[derive(Debug)]
struct Known {
    object: ResolvedObject,
    /// What its definition reads, with names still to be looked up.
    body: Option<Parsed>,
    /// Whether it may be called like a function.
    callable: bool,
    /// How many objects SQLite opens for it, each as often as it is named.
    weight: usize,
}

#[derive(Debug, Default)]
struct Cache {
    /// The version of the schema and the file that it is of.
    version: Option<(i64, Option<Identity>)>,
    known: HashMap<ObjectName, Option<Arc<Known>>>,
}

/// Looks names up and remembers them for as long as the schema keeps its version.
#[derive(Debug, Clone, Default)]
pub(crate) struct Resolver(Arc<Mutex<Cache>>);

/// One walk along the definitions.
struct Lookup<'a> {
    resolver: &'a Resolver,
    conn: &'a Conn,
    left: usize,
    path: Vec<ObjectName>,
}

impl Resolver {
    fn lock(&self) -> MutexGuard<'_, Cache> {
        // What a panic leaves behind is at worst a cache with fewer entries.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What these names are. Names that do not exist are left out.
    pub(crate) fn resolve(&self, conn: &Conn, needs: &Needs) -> Result<Resolution> {
        conn.watch.set_catalogue(true);
        let resolved = self.refresh(conn).and_then(|()| {
            let mut lookup = Lookup { resolver: self, conn, left: MAX_OBJECTS, path: Vec::new() };
            lookup.all(needs)
        });
        conn.watch.set_catalogue(false);
        resolved
    }

    /// Forgets everything when the schema is another one than before.
    fn refresh(&self, conn: &Conn) -> Result<()> {
        let version: i64 = conn.db.query_row("PRAGMA main.schema_version", [], |row| row.get(0))?;
        let version = Some((version, conn.identity));
        let mut cache = self.lock();
        // A connection of the host may have other schemas too, whose versions nobody watches.
        if cache.version != version || conn.identity.is_none() {
            *cache = Cache { version, known: HashMap::new() };
        }
        Ok(())
    }

    fn known(&self, conn: &Conn, name: &ObjectName) -> Result<Option<Arc<Known>>> {
        self.known_below(conn, name, &mut Vec::new())
    }

    /// The same below the definitions of `path`.
    fn known_below(
        &self,
        conn: &Conn,
        name: &ObjectName,
        path: &mut Vec<ObjectName>,
    ) -> Result<Option<Arc<Known>>> {
        if let Some(found) = self.lock().known.get(name) {
            return Ok(found.clone());
        }
        let found = self.look_up(conn, name, path)?.map(Arc::new);
        // What was cut short because of where it stands is not what it is by itself.
        let whole = path.is_empty() || found.as_ref().is_none_or(|k| k.weight <= MAX_OBJECTS);
        if whole {
            let mut cache = self.lock();
            // Names come from statements, so that there is no end to them.
            if cache.known.len() >= MAX_CACHED {
                cache.known.clear();
            }
            cache.known.insert(name.clone(), found.clone());
        }
        Ok(found)
    }

    /// How heavy a view is. SQLite opens a view anew at each of its uses, also to name its columns, and
    /// views over views can double at each step; so this is told before SQLite is asked anything.
    fn weight(&self, conn: &Conn, body: &Parsed, path: &mut Vec<ObjectName>) -> Result<usize> {
        let mut weight = 1_usize;
        for used in &body.objects {
            if path.len() >= MAX_PATH {
                return Ok(usize::MAX);
            }
            let known = self.known_below(conn, &used.name, path)?;
            weight = weight.saturating_add(known.map_or(1, |k| k.weight));
            if weight > MAX_OBJECTS {
                break;
            }
        }
        Ok(weight)
    }

    fn look_up(&self, conn: &Conn, name: &ObjectName, path: &mut Vec<ObjectName>) -> Result<Option<Known>> {
        let db = &conn.db;
        let Some(entry) = schema::find(db, name)? else { return Ok(None) };
        // The name of an index stands for its table: who may not see the one may not see the other.
        let entry = match entry.kind {
            EntryKind::Index => match schema::find_in(db, &entry.schema, &entry.table)? {
                Some(table) => table,
                None => return Ok(None),
            },
            _ => entry,
        };
        let definition = entry.sql.as_deref().and_then(ddl::definition);
        let full = ObjectName::within(&*entry.schema, &*entry.name);
        let mut weight = 1;
        if let Some(Definition::View(body)) = &definition {
            weight = usize::MAX;
            if !path.contains(&full) {
                path.push(full.clone());
                let counted = self.weight(conn, body, path);
                path.pop();
                weight = counted?;
            }
        }
        // A view that is broken has no columns to name, nor has a virtual table without its module; the
        // engine will say what is wrong with it.
        let columns = if weight > MAX_OBJECTS {
            Vec::new()
        } else {
            match schema::columns(db, &entry.schema, &entry.name) {
                Err(e) if entry.kind != EntryKind::Table && is_mistake(&e) => Vec::new(),
                told => told?,
            }
        };
        let object = ResolvedObject {
            name: full,
            kind: entry.kind.object_kind(),
            columns: columns.iter().map(|c| c.name.clone()).collect(),
            column_aliases: Vec::new(),
            body: None,
        };
        describe(conn, &entry, definition, &columns, object).map(|known| Some(Known { weight, ..known }))
    }
}

impl Lookup<'_> {
    fn all(&mut self, needs: &Needs) -> Result<Resolution> {
        let mut resolution = Resolution::live();
        for name in &needs.objects {
            if let Some(object) = self.object(name)? {
                resolution.objects.push((name.clone(), object));
            }
        }
        for name in &needs.functions {
            if let Some(function) = self.function(name)? {
                resolution.functions.push((name.clone(), function));
            }
        }
        Ok(resolution)
    }

    fn object(&mut self, name: &ObjectName) -> Result<Option<ResolvedObject>> {
        let Some(known) = self.resolver.known(self.conn, name)? else { return Ok(None) };
        let mut object = known.object.clone();
        if let Some(parsed) = &known.body {
            let body = if known.weight > MAX_OBJECTS {
                too_complex(
                    parsed,
                    format!("{} is defined by itself, or by too many views over views", object.name),
                )
            } else {
                self.body(&object.name, parsed)?
            };
            object.body = Some(Box::new(body));
        }
        Ok(Some(object))
    }

    /// A definition with its own names looked up, as far as that goes.
    fn body(&mut self, name: &ObjectName, parsed: &Parsed) -> Result<ResolvedBody> {
        self.left = self.left.saturating_sub(1);
        let why = if self.path.contains(name) {
            Some(format!("{name} is defined by itself"))
        } else if self.left == 0 {
            Some(format!("more than {MAX_OBJECTS} definitions stand behind this statement"))
        } else if self.path.len() >= MAX_DEPTH {
            Some(format!("definitions are nested deeper than {MAX_DEPTH} levels"))
        } else {
            None
        };
        if let Some(why) = why {
            return Ok(too_complex(parsed, why));
        }
        self.path.push(name.clone());
        let resolution = self.all(&parsed.needs());
        self.path.pop();
        Ok(ResolvedBody { parsed: parsed.clone(), resolution: resolution? })
    }

    /// A virtual table may be called like a function; its columns are checked as those of a table.
    fn function(&self, name: &str) -> Result<Option<ResolvedFunction>> {
        let known = self.resolver.known(self.conn, &ObjectName::new(name))?;
        Ok(known.filter(|k| k.callable).map(|_| ResolvedFunction {
            effects: Effects::READ,
            reason: format!("{name} is a virtual table"),
            body: None,
        }))
    }
}

fn describe(
    conn: &Conn,
    entry: &Entry,
    definition: Option<Definition>,
    columns: &[ColumnRow],
    mut object: ResolvedObject,
) -> Result<Known> {
    let mut body = None;
    let mut callable = false;
    match (entry.kind, definition) {
        (EntryKind::View, Some(Definition::View(parsed))) => body = Some(*parsed),
        (EntryKind::View, _) => body = Some(unreadable("the view")),
        (EntryKind::Virtual, Some(Definition::Virtual { module, arguments })) => {
            callable = modules::is_known(&module);
            let own: Vec<&ColumnRow> = columns.iter().filter(|c| c.hidden != Hidden::Yes).collect();
            let names: Vec<String> = own.iter().map(|c| c.name.clone()).collect();
            if modules::is_full_text(&module) {
                // The name of the table, as a column, is every column at once.
                object.column_aliases = names.iter().map(|c| (entry.name.clone(), c.clone())).collect();
            }
            body = modules::body(&module, &arguments, &names);
        }
        (EntryKind::Virtual, _) => body = Some(unreadable("the virtual table")),
        (EntryKind::Table, Some(Definition::Table(table))) => {
            body = schema::owner_of_storage(&conn.db, entry)?.map(|owner| modules::storage_body(&owner));
            if !table.functions.is_empty() {
                // What a generated column calls, a statement that reads it calls.
                let calls = body.get_or_insert_with(|| Parsed::new(StatementClass::Read, Effects::READ));
                calls.functions.extend(table.functions);
            }
            object.column_aliases = row_number(columns, table.without_rowid);
            let computed = table.columns.iter();
            let mut pairs: Vec<(String, String)> = computed
                .flat_map(|c| c.computed_from.iter().map(|from| (c.name.clone(), from.clone())))
                .collect();
            if !follow_computed(&mut pairs, NameCase::AsciiInsensitive) {
                body = Some(unreadable("the table, with its generated columns,"));
            }
            object.column_aliases.extend(pairs);
        }
        (EntryKind::Table, _) => object.column_aliases = row_number(columns, false),
        (EntryKind::Index | EntryKind::System, _) => {}
    }
    Ok(Known { object, body, callable, weight: 1 })
}

/// A definition that is not followed, and why.
fn too_complex(parsed: &Parsed, why: String) -> ResolvedBody {
    let mut parsed = parsed.clone();
    parsed.findings.push(Finding::new(Rule::TooComplex, why, None));
    ResolvedBody { parsed, resolution: Resolution::live() }
}

fn unreadable(what: &str) -> Parsed {
    let mut parsed = Parsed::new(StatementClass::Unknown, Effects::UNKNOWN);
    parsed.findings.push(Finding::new(
        Rule::UnknownSyntax,
        format!("the definition of {what} cannot be read"),
        None,
    ));
    parsed
}

fn row_number(columns: &[ColumnRow], without_rowid: bool) -> Vec<(String, String)> {
    let Some(key) = schema::integer_key(columns, without_rowid) else { return Vec::new() };
    let free = |n: &&&str| !columns.iter().any(|c| c.name.eq_ignore_ascii_case(n));
    ROW_NUMBER.iter().filter(free).map(|n| ((*n).to_owned(), key.name.clone())).collect()
}

/// Every object behind a resolution, those behind definitions included.
pub(crate) fn each_object<'r>(resolution: &'r Resolution, visit: &mut impl FnMut(&'r ResolvedObject)) {
    for (_, object) in &resolution.objects {
        visit(object);
        if let Some(body) = &object.body {
            each_object(&body.resolution, visit);
        }
    }
}

/// Every definition behind a resolution.
pub(crate) fn each_body<'r>(resolution: &'r Resolution, visit: &mut impl FnMut(&'r Parsed)) {
    for (_, object) in &resolution.objects {
        if let Some(body) = &object.body {
            visit(&body.parsed);
            each_body(&body.resolution, visit);
        }
    }
}

/// The virtual tables behind a resolution.
pub(crate) fn virtual_tables(resolution: &Resolution) -> Vec<&ObjectName> {
    let mut names = Vec::new();
    each_object(resolution, &mut |object| {
        if object.kind == ObjectKind::VirtualTable {
            names.push(&object.name);
        }
    });
    names
}
