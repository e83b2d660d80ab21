//! Says what the names of a request are in the live catalogue: relations with what reading them runs, and
//! every function that an operator, a cast, an aggregate or a name may call.
//!
//! It goes level by level: what the request names, then what the definitions behind those names name, and
//! so on, with at most four statements a level whatever their number. Where an overload was left out and a
//! value for it turns up further down, it begins anew with what was learnt. It must run inside a transaction
//! whose search path is the one that the request will run under, `pg_catalog` first.

mod assemble;
mod catalogue;
mod deep;
mod extensions;
mod relation;
mod routine;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use dbagent_core::guard::{FunctionUse, Needs, Parsed, Resolution, StatementClass};
use dbagent_core::guardrails::StatementLimits;
use dbagent_core::{Effects, Error, ObjectName, Result};
use sqlx::PgConnection;

use catalogue::{FunctionRow, Names, RelationRow, Way};
use relation::{Relation, unreadable};
use routine::{FIRST_OF_USERS, Routine, Verdict};
use values::Values;

use crate::error::{Phase, translate};
use crate::functions::{Called, Qualified};
use crate::parse::{self, Limits};

/// How deep definitions behind definitions are followed.
pub(crate) const MAX_DEPTH: usize = 8;

/// What these names are. Names that do not exist are left out; so are names that call nothing but
/// Postgres' own code.
///
/// # Errors
/// What the server says when the catalogue cannot be read.
pub(crate) async fn resolve(
    connection: &mut PgConnection,
    needs: &Needs,
    limits: StatementLimits,
) -> Result<Resolution> {
    let mut values = Values::default();
    for _ in 0..MAX_ROUNDS {
        let mut known = Known::within(Limits::of_definition(limits.tokens), values);
        known.learn(connection, needs).await?;
        if known.is_settled() {
            return Ok(known.resolution(needs));
        }
        values = known.values;
    }
    let mut known = Known::within(Limits::of_definition(limits.tokens), Values { any: true, ..values });
    known.learn(connection, needs).await?;
    Ok(known.resolution(needs))
}

/// How often the definitions are followed anew because a value turned up that an overload needs which had been
/// left out. After that none is left out.
const MAX_ROUNDS: usize = 4;

fn failed(e: sqlx::Error) -> Error {
    translate(e, Phase::Catalogue).op("resolve")
}

/// Names to look up at one level.
#[derive(Debug, Default)]
struct Wanted {
    objects: BTreeSet<ObjectName>,
    called: BTreeSet<Called>,
    untyped: BTreeMap<Called, i64>,
    routines: BTreeSet<u32>,
}

impl Wanted {
    fn add(&mut self, needs: &Needs) {
        self.objects.extend(needs.objects.iter().cloned());
        for called in needs.functions.iter().filter_map(|name| Called::parse(name)) {
            match called {
                Called::Untyped(arguments, called) => *self.untyped.entry(*called).or_default() |= arguments,
                called => _ = self.called.insert(called),
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.called.is_empty() && self.routines.is_empty()
    }
}

/// What was learnt of the catalogue for one request.
#[derive(Debug)]
struct Known {
    limits: Limits,
    relations: BTreeMap<ObjectName, Option<Relation>>,
    /// The functions that each name may call, Postgres' own left out.
    called: BTreeMap<Called, BTreeSet<u32>>,
    /// Names of types that exist.
    types: BTreeSet<Called>,
    routines: BTreeMap<u32, Routine>,
    /// Types that values may have.
    reached: BTreeSet<u32>,
    /// Types that something is cast to.
    cast_to: BTreeSet<u32>,
    /// Functions that run although nobody names them: casts, and what reads and writes values of a type.
    unnamed: BTreeSet<u32>,
    /// Conditions of domains, which run wherever a value becomes one.
    checks: BTreeMap<u32, Parsed>,
    values: Values,
    /// How each name was thought to be used when it was looked up, see [`Values::untyped`].
    asked: BTreeMap<Called, i64>,
    /// The types of values that were known when the first function was left out.
    left_out: Option<BTreeSet<u32>>,
}

impl Known {
    fn within(limits: Limits, values: Values) -> Self {
        Self {
            limits,
            relations: BTreeMap::new(),
            called: BTreeMap::new(),
            types: BTreeSet::new(),
            routines: BTreeMap::new(),
            reached: BTreeSet::new(),
            cast_to: BTreeSet::new(),
            unnamed: BTreeSet::new(),
            checks: BTreeMap::new(),
            values,
            asked: BTreeMap::new(),
            left_out: None,
        }
    }

    /// Whether what was left out is still out of the question by all that was learnt since.
    fn is_settled(&self) -> bool {
        self.left_out.as_ref().is_none_or(|then| {
            *then == self.values.types
                && self.asked.iter().all(|(called, then)| *then == self.values.untyped(called))
        })
    }

    async fn learn(&mut self, connection: &mut PgConnection, needs: &Needs) -> Result<()> {
        let mut wanted = Wanted::default();
        wanted.add(needs);
        for level in 0..=MAX_DEPTH {
            if wanted.is_empty() {
                break;
            }
            wanted = self.level(connection, wanted, level == 0).await?;
        }
        Ok(())
    }

    /// Looks up what is new of these names, and says what that leads to.
    async fn level(
        &mut self,
        connection: &mut PgConnection,
        mut wanted: Wanted,
        first: bool,
    ) -> Result<Wanted> {
        let mut next = Wanted::default();
        for (called, arguments) in wanted.untyped {
            *self.values.untyped.entry(called).or_default() |= arguments;
        }
        let row_types = self.learn_relations(connection, wanted.objects, first, &mut next).await?;
        wanted.called.retain(|c| !self.called.contains_key(c));
        let (names, places) = Names::of(&wanted.called, &self.values);
        self.learn_types(connection, &wanted.called, &row_types, &names, &mut next).await?;
        let reached: Vec<u32> = self.reached.iter().copied().collect();
        let cast_to: Vec<u32> = self.cast_to.iter().copied().collect();
        for called in wanted.called {
            self.asked.insert(called.clone(), self.values.untyped(&called));
            self.called.insert(called, BTreeSet::new());
        }
        let mut routines = wanted.routines;
        let values: Vec<u32> = self.values.types.iter().copied().collect();
        let found = catalogue::routines(connection, &names, &reached, &cast_to, &values).await;
        for (way, oid, strange) in found.map_err(failed)? {
            if strange && !self.values.any {
                self.left_out.get_or_insert_with(|| self.values.types.clone());
                continue;
            }
            let caller = match way {
                Way::Function(at) => places.functions.get(at),
                Way::Operator(at) => places.operators.get(at),
                Way::Dotted(at) => places.dotted.get(at),
                Way::Cast => None,
            };
            match caller {
                Some(called) => _ = self.called.entry(called.clone()).or_default().insert(oid),
                None => _ = self.unnamed.insert(oid),
            }
            routines.insert(oid);
        }
        routines.extend(self.unnamed.iter().copied());
        self.learn_routines(connection, &routines, &mut next).await?;
        Ok(next)
    }

    async fn learn_relations(
        &mut self,
        connection: &mut PgConnection,
        wanted: BTreeSet<ObjectName>,
        first: bool,
        next: &mut Wanted,
    ) -> Result<Vec<u32>> {
        let names: Vec<ObjectName> = wanted.into_iter().filter(|n| !self.relations.contains_key(n)).collect();
        let mut row_types = Vec::new();
        if names.is_empty() {
            return Ok(row_types);
        }
        let rows = catalogue::relations(connection, &names, first).await.map_err(failed)?;
        row_types
            .extend(rows.iter().filter(|r| r.oid >= FIRST_OF_USERS && r.row_type != 0).map(|r| r.row_type));
        let limits = self.limits;
        let read = move |rows: Vec<RelationRow>| -> Vec<_> {
            rows.into_iter().map(|row| (row.place, Relation::of(row, limits))).collect()
        };
        let relations = if rows.iter().any(RelationRow::has_text) {
            deep::on_deep_stack(move || read(rows)).await?
        } else {
            read(rows)
        };
        for (place, relation) in relations {
            let Some(name) = names.get(place) else { continue };
            if let Some(body) = &relation.body {
                next.add(&body.needs());
            }
            self.relations.insert(name.clone(), Some(relation));
        }
        for name in names {
            self.relations.entry(name).or_insert(None);
        }
        Ok(row_types)
    }

    async fn learn_types(
        &mut self,
        connection: &mut PgConnection,
        called: &BTreeSet<Called>,
        row_types: &[u32],
        names: &Names,
        next: &mut Wanted,
    ) -> Result<()> {
        // The name of a type, called like a function or written like a field, is a cast.
        let named: Vec<(&Called, Qualified)> = called
            .iter()
            .filter_map(|c| match c {
                Called::Type(name) | Called::Function(name) => Some((c, name.clone())),
                Called::Field(name) => Some((c, Qualified::bare(name))),
                Called::Operator(_) | Called::Attribute(_) | Called::Implicit | Called::Untyped(..) => None,
            })
            .collect();
        let asked: Vec<Qualified> = named.iter().map(|(_, name)| name.clone()).collect();
        let reached: Vec<u32> = self.reached.iter().copied().collect();
        let values: Vec<u32> = self.values.types.iter().copied().collect();
        let rows = catalogue::types(connection, &asked, row_types, names, &reached, &values).await;
        let rows = rows.map_err(failed)?;
        let mut conditions = Vec::new();
        for row in rows {
            for at in row.places {
                if let Some((called, _)) = named.get(at) {
                    self.types.insert((*called).clone());
                }
            }
            if row.named {
                self.cast_to.insert(row.oid);
            }
            if row.oid < FIRST_OF_USERS {
                continue;
            }
            self.reached.insert(row.oid);
            if row.value {
                self.values.types.insert(row.oid);
            }
            self.unnamed.extend(row.routines);
            if !row.checks.is_empty() && !self.checks.contains_key(&row.oid) {
                conditions.push((row.oid, row.name, row.checks));
            }
        }
        if conditions.is_empty() {
            return Ok(());
        }
        let limits = self.limits;
        let checks = deep::on_deep_stack(move || {
            let read = |(oid, name, texts): (u32, Qualified, Vec<String>)| {
                let bodies = texts.iter().map(|text| {
                    parse::expression(text, limits)
                        .unwrap_or_else(|_| unreadable(&format!("a condition of the type {name}")))
                });
                relation::merged(bodies.collect()).map(|body| (oid, body))
            };
            conditions.into_iter().filter_map(read).collect::<Vec<_>>()
        });
        for (oid, body) in checks.await? {
            next.add(&body.needs());
            self.checks.insert(oid, body);
        }
        Ok(())
    }

    async fn learn_routines(
        &mut self,
        connection: &mut PgConnection,
        wanted: &BTreeSet<u32>,
        next: &mut Wanted,
    ) -> Result<()> {
        let new: Vec<u32> = wanted.iter().copied().filter(|o| !self.routines.contains_key(o)).collect();
        if new.is_empty() {
            return Ok(());
        }
        let rows = catalogue::functions(connection, &new).await.map_err(failed)?;
        let limits = self.limits;
        let read = move |rows: Vec<FunctionRow>| -> Vec<_> {
            rows.into_iter().map(|row| (Routine::of(&row, limits), row)).collect()
        };
        let routines = if rows.iter().any(|r| r.definition.is_some()) {
            deep::on_deep_stack(move || read(rows)).await?
        } else {
            read(rows)
        };
        for (mut routine, row) in routines {
            if self.is_value_routine(&row) {
                routine.verdict = Verdict::Vouched("it reads or writes values of a type".to_owned());
            }
            // Behind a dot it is given the whole row.
            next.objects.extend(routine.row_of.clone().filter(|_| self.is_dotted(row.oid)));
            match &routine.verdict {
                Verdict::Body(body) => {
                    next.add(&body.needs());
                    // Inside, there are values of the types that it takes.
                    self.values.types.extend(row.parameters.iter().filter(|t| **t >= FIRST_OF_USERS));
                }
                Verdict::Parts(parts) => next.routines.extend(parts),
                Verdict::Own(_) | Verdict::Vouched(_) | Verdict::Unknown(_) => {}
            }
            self.routines.insert(row.oid, routine);
        }
        Ok(())
    }

    /// Whether it is called as a column is read.
    fn is_dotted(&self, oid: u32) -> bool {
        self.called.iter().any(|(c, oids)| matches!(c, Called::Attribute(_)) && oids.contains(&oid))
    }

    /// Whether it is one of the functions behind a type of its own that only a superuser can make, and that
    /// does not claim to do more.
    fn is_value_routine(&self, row: &FunctionRow) -> bool {
        self.unnamed.contains(&row.oid)
            && row.language == "c"
            && matches!(row.volatility.as_str(), "i" | "s")
            && !self.called.values().any(|oids| oids.contains(&row.oid))
    }
}

/// The names behind each place that the catalogue answers with.
#[derive(Debug, Default)]
struct Places {
    functions: Vec<Called>,
    operators: Vec<Called>,
    dotted: Vec<Called>,
}

impl Names {
    fn of(called: &BTreeSet<Called>, values: &Values) -> (Self, Places) {
        let (mut names, mut places) = (Self::default(), Places::default());
        for one in called {
            match one {
                Called::Function(name) => {
                    names.functions.push(name.clone());
                    names.untyped_functions.push(values.untyped(one));
                    places.functions.push(one.clone());
                }
                Called::Operator(name) => {
                    names.operators.push(name.clone());
                    names.untyped_operators.push(values.untyped(one));
                    places.operators.push(one.clone());
                }
                Called::Attribute(name) | Called::Field(name) => {
                    names.dotted.push((name.clone(), matches!(one, Called::Attribute(_))));
                    places.dotted.push(one.clone());
                }
                Called::Type(_) | Called::Implicit | Called::Untyped(..) => {}
            }
        }
        (names, places)
    }
}

/// A list of functions as a body that calls them.
fn calls(functions: Vec<FunctionUse>) -> Parsed {
    let mut parsed = Parsed::new(StatementClass::Read, Effects::READ);
    parsed.functions = functions;
    parsed
}
