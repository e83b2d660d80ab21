//! Puts what was learnt together: for each name of a request what it is, and behind it what that uses.

use std::collections::BTreeSet;

use dbagent_core::guard::{
    ColumnUse, Finding, FunctionUse, Needs, ObjectUse, Parsed, Resolution, ResolvedBody, ResolvedFunction,
    ResolvedObject, Rule,
};
use dbagent_core::{Effects, ObjectName};

use super::routine::{Routine, Verdict};
use super::{Known, MAX_DEPTH, calls, relation};
use crate::functions::Called;

/// How many definitions one request may lead to. Definitions over definitions can double at each step.
const MAX_BODIES: usize = 2_000;

/// One way down along the definitions.
struct Assembly<'k> {
    known: &'k Known,
    left: usize,
    depth: usize,
    /// The functions that are being looked into.
    path: Vec<u32>,
}

impl Known {
    pub(super) fn resolution(&self, needs: &Needs) -> Resolution {
        Assembly { known: self, left: MAX_BODIES, depth: 0, path: Vec::new() }.all(needs)
    }
}

impl Assembly<'_> {
    fn all(&mut self, needs: &Needs) -> Resolution {
        let mut resolution = Resolution::live();
        for name in &needs.objects {
            if let Some(object) = self.object(name) {
                resolution.objects.push((name.clone(), object));
                let relation = self.known.relations.get(name).and_then(Option::as_ref);
                if let Some(relation) = relation.filter(|r| !r.kin.is_empty()) {
                    resolution.kin.push((name.clone(), relation.kin.clone()));
                }
            }
        }
        for name in &needs.functions {
            if let Some(function) = Called::parse(name).and_then(|called| self.function(name, &called)) {
                resolution.functions.push((name.clone(), function));
            }
        }
        resolution
    }

    fn object(&mut self, name: &ObjectName) -> Option<ResolvedObject> {
        let relation = self.known.relations.get(name)?.as_ref()?;
        let body = relation.body.as_ref().map(|parsed| Box::new(self.body(parsed.clone())));
        Some(ResolvedObject {
            name: relation.name.clone(),
            kind: relation.kind,
            columns: relation.columns.clone(),
            column_aliases: relation.aliases.clone(),
            body,
        })
    }

    /// A definition with its own names looked up, as far as that goes.
    fn body(&mut self, mut parsed: Parsed) -> ResolvedBody {
        self.left = self.left.saturating_sub(1);
        let why = if self.left == 0 {
            Some(format!("more than {MAX_BODIES} definitions stand behind this statement"))
        } else if self.depth >= MAX_DEPTH {
            Some(format!("definitions are nested deeper than {MAX_DEPTH} levels"))
        } else {
            None
        };
        if let Some(why) = why {
            parsed.findings.push(Finding::new(Rule::TooComplex, why, None));
            return ResolvedBody { parsed, resolution: Resolution::live() };
        }
        self.depth += 1;
        let resolution = self.all(&parsed.needs());
        self.depth -= 1;
        ResolvedBody { parsed, resolution }
    }

    fn function(&mut self, written: &str, called: &Called) -> Option<ResolvedFunction> {
        match called {
            Called::Implicit => self.unnamed(),
            // It says how another is called.
            Called::Untyped(..) => None,
            Called::Type(_) => self.known.types.contains(called).then(|| read("a type", None)),
            Called::Function(_) | Called::Operator(_) | Called::Attribute(_) | Called::Field(_) => {
                let oids = match self.known.called.get(called).filter(|oids| !oids.is_empty()) {
                    Some(oids) => oids.clone(),
                    None => self.by_name(written),
                };
                if oids.is_empty() {
                    return None;
                }
                let direct = oids.iter().all(|o| self.routine(*o).is_some_and(|r| r.name == written));
                Some(if direct {
                    self.merged(&oids)
                } else {
                    // What it calls is named in full, so that a policy can allow it by that name.
                    let mut parsed = calls(self.uses(&oids));
                    if matches!(called, Called::Attribute(_)) {
                        self.rows(&oids, &mut parsed);
                    }
                    let resolution = self.all(&parsed.needs());
                    read("it calls functions of users", Some(ResolvedBody { parsed, resolution }))
                })
            }
        }
    }

    /// The rows that functions take when they stand behind a dot: every column is read.
    fn rows(&self, oids: &BTreeSet<u32>, parsed: &mut Parsed) {
        for routine in oids.iter().filter_map(|oid| self.routine(*oid)) {
            if let Some(table) = &routine.row_of {
                parsed.objects.push(ObjectUse { name: table.clone(), written: false, span: None });
                let candidates = vec![parsed.objects.len() - 1];
                parsed.columns.push(ColumnUse { candidates, column: None, span: None });
            } else if routine.any_row {
                parsed.findings.push(Finding::new(
                    Rule::UnknownFunction,
                    format!("{} takes a row of any table and is called like a column", routine.name),
                    None,
                ));
            }
        }
    }

    fn routine(&self, oid: u32) -> Option<&Routine> {
        self.known.routines.get(&oid)
    }

    /// The functions of that full name.
    fn by_name(&self, name: &str) -> BTreeSet<u32> {
        let named = self.known.routines.iter().filter(|(_, r)| r.name == name);
        named.filter(|(_, r)| !matches!(r.verdict, Verdict::Own(_))).map(|(oid, _)| *oid).collect()
    }

    /// Uses of these functions by their full names.
    fn uses(&self, oids: &BTreeSet<u32>) -> Vec<FunctionUse> {
        let mut uses: Vec<FunctionUse> = Vec::new();
        for oid in oids {
            let (name, effects) = match self.routine(*oid) {
                Some(Routine { name, verdict: Verdict::Own(effects), .. }) => (name.clone(), *effects),
                Some(Routine { name, .. }) => (name.clone(), Effects::UNKNOWN),
                // It is not there any more, or stands too deep to have been looked up.
                None => (format!("of the number {oid}"), Effects::UNKNOWN),
            };
            if !uses.iter().any(|u| u.name == name && u.effects == effects) {
                uses.push(FunctionUse { name, arguments: None, effects, span: None });
            }
        }
        uses
    }

    /// All functions of one name as one: the gravest of them decides.
    fn merged(&mut self, oids: &BTreeSet<u32>) -> ResolvedFunction {
        let (mut effects, mut reason, mut bodies) = (Effects::READ, String::new(), Vec::new());
        let mut inside = Vec::new();
        for oid in oids {
            // A function that calls itself does what is being looked at already.
            if self.path.contains(oid) {
                continue;
            }
            inside.push(*oid);
            match self.known.routines.get(oid).map(|r| &r.verdict) {
                Some(Verdict::Own(own)) => effects |= *own,
                // Why nobody vouches for another of that name is worth more.
                Some(Verdict::Vouched(why)) if !effects.contains(Effects::UNKNOWN) => reason.clone_from(why),
                Some(Verdict::Vouched(_)) => {}
                Some(Verdict::Body(body)) => bodies.push((**body).clone()),
                Some(Verdict::Parts(parts)) => {
                    let parts: BTreeSet<u32> = parts.iter().copied().collect();
                    bodies.push(calls(self.uses(&parts)));
                }
                Some(Verdict::Unknown(why)) => {
                    effects |= Effects::UNKNOWN;
                    reason.clone_from(why);
                }
                None => {
                    effects |= Effects::UNKNOWN;
                    "it is gone, or stands too deep".clone_into(&mut reason);
                }
            }
        }
        let depth = self.path.len();
        self.path.extend(inside);
        let body = relation::merged(bodies).map(|parsed| Box::new(self.body(parsed)));
        self.path.truncate(depth);
        ResolvedFunction { effects, reason, body }
    }

    /// What runs although nobody names it. It belongs to the request as a whole.
    fn unnamed(&mut self) -> Option<ResolvedFunction> {
        if self.depth > 0 || (self.known.unnamed.is_empty() && self.known.checks.is_empty()) {
            return None;
        }
        let mut bodies = vec![calls(self.uses(&self.known.unnamed))];
        bodies.extend(self.known.checks.values().cloned());
        let body = relation::merged(bodies).map(|parsed| self.body(parsed));
        Some(read("casts and conditions of types", body))
    }
}

fn read(reason: &str, body: Option<ResolvedBody>) -> ResolvedFunction {
    ResolvedFunction { effects: Effects::READ, reason: reason.to_owned(), body: body.map(Box::new) }
}
