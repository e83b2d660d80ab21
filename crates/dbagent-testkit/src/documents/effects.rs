//! What a command does: an exhaustive walk over the tree.

use dbagent_core::guard::{ColumnUse, Finding, FunctionUse, ObjectUse, Parsed, Rule, StatementClass};
use dbagent_core::json::Json;
use dbagent_core::{Effects, ObjectName};

use super::expression::{ACCUMULATORS, FUNCTIONS};
use super::language::{Command, Expression, Filter, Path, Stage};

/// Values and members of a document, as the limit of tokens counts them.
pub(super) fn nodes(json: &Json) -> usize {
    match json {
        Json::Array(items) => 1 + items.iter().map(nodes).sum::<usize>(),
        Json::Object(members) => 1 + members.iter().map(|(_, value)| 1 + nodes(value)).sum::<usize>(),
        _ => 1,
    }
}

pub(super) fn too_many(limit: usize) -> Parsed {
    let message = format!("the request has more than {limit} values and members");
    objected(Finding::new(Rule::TooManyTokens, message, None))
}

pub(super) fn objected(finding: Finding) -> Parsed {
    let mut parsed = Parsed::new(StatementClass::Unknown, Effects::UNKNOWN);
    parsed.findings.push(finding);
    parsed
}

pub(super) fn parsed(command: &Command) -> Parsed {
    match command {
        Command::Read { collection, stages } => read(collection, stages),
        Command::Insert { collection, documents: _ } => {
            write(StatementClass::Insert, Effects::WRITE, collection)
        }
        Command::Update { collection, filter, set: _ } => {
            filtered(write(StatementClass::Update, Effects::WRITE, collection), filter)
        }
        Command::Delete { collection, filter } => {
            filtered(write(StatementClass::Delete, Effects::WRITE, collection), filter)
        }
        Command::Create { collection } | Command::Drop { collection } => {
            write(StatementClass::Schema, Effects::SCHEMA, collection)
        }
    }
}

fn write(class: StatementClass, effects: Effects, collection: &str) -> Parsed {
    let mut parsed = Parsed::new(class, effects);
    parsed.objects.push(ObjectUse { name: ObjectName::new(collection), written: true, span: None });
    parsed
}

fn filtered(parsed: Parsed, filter: &Filter) -> Parsed {
    let mut walk = Walk { parsed, base: Some(0), joined: Vec::new() };
    walk.filter(filter);
    walk.parsed
}

fn read(collection: &str, stages: &[Stage]) -> Parsed {
    let mut parsed = Parsed::new(StatementClass::Read, Effects::READ);
    parsed.objects.push(ObjectUse { name: ObjectName::new(collection), written: false, span: None });
    let mut walk = Walk { parsed, base: Some(0), joined: Vec::new() };
    for stage in stages {
        walk.stage(stage);
    }
    // Documents that are still those of the collection come back with every field.
    if let Some(base) = walk.base {
        walk.column(base, None);
    }
    walk.parsed
}

struct Walk {
    parsed: Parsed,
    /// The collection whose documents the current stage sees; none once a stage made documents of its own.
    base: Option<usize>,
    /// Fields that hold documents of another collection, and which.
    joined: Vec<(String, usize)>,
}

impl Walk {
    fn column(&mut self, object: usize, column: Option<String>) {
        self.parsed.columns.push(ColumnUse { candidates: vec![object], column, span: None });
    }

    fn path(&mut self, path: &Path) {
        let Some(base) = self.base else { return };
        let joined = path.0.first().and_then(|first| self.joined.iter().find(|(into, _)| into == first));
        match (joined.map(|(_, object)| *object), path.0.get(1..)) {
            (Some(object), Some([])) => self.column(object, None),
            (Some(object), Some(rest)) => self.column(object, Some(rest.join("."))),
            _ => self.column(base, Some(path.to_string())),
        }
    }

    fn function(&mut self, name: &str, arguments: usize, known: &[&str]) {
        let effects = if known.contains(&name) { Effects::READ } else { Effects::UNKNOWN };
        let arguments = Some(arguments);
        self.parsed.functions.push(FunctionUse { name: name.to_owned(), arguments, effects, span: None });
    }

    fn stage(&mut self, stage: &Stage) {
        match stage {
            Stage::Match(filter) => self.filter(filter),
            Stage::Keep(fields) => {
                for (_, expression) in fields {
                    self.expression(expression);
                }
                self.base = None;
            }
            Stage::Leave(_) => {
                // What is left out is not read, but everything else is.
                if let Some(base) = self.base {
                    self.column(base, None);
                }
            }
            Stage::Group { key, fields } => {
                if let Some(key) = key {
                    self.expression(key);
                }
                for (_, accumulator, expression) in fields {
                    self.function(accumulator, 1, ACCUMULATORS);
                    self.expression(expression);
                }
                self.base = None;
            }
            Stage::Sort(orders) => {
                for (path, _) in orders {
                    self.path(path);
                }
            }
            Stage::Skip(_) | Stage::Limit(_) => {}
            Stage::Unwind(path) => self.path(path),
            Stage::Count(_) => self.base = None,
            Stage::Lookup { from, local, foreign, into } => {
                self.path(local);
                let object = self.parsed.objects.len();
                self.parsed.objects.push(ObjectUse {
                    name: ObjectName::new(from.as_str()),
                    written: false,
                    span: None,
                });
                self.column(object, Some(foreign.to_string()));
                // Whole documents are joined, whatever later stages keep of them.
                self.column(object, None);
                self.joined.push((into.clone(), object));
            }
            Stage::Out(into) => {
                if let Some(base) = self.base {
                    self.column(base, None);
                }
                self.parsed.class = StatementClass::Insert;
                self.parsed.effects |= Effects::WRITE;
                self.parsed.objects.push(ObjectUse {
                    name: ObjectName::new(into.as_str()),
                    written: true,
                    span: None,
                });
            }
        }
    }

    fn filter(&mut self, filter: &Filter) {
        match filter {
            Filter::All(filters) | Filter::Any(filters) | Filter::None(filters) => {
                for filter in filters {
                    self.filter(filter);
                }
            }
            Filter::Field(path, _) => self.path(path),
        }
    }

    fn expression(&mut self, expression: &Expression) {
        match expression {
            Expression::Field(path) => self.path(path),
            Expression::Literal(_) => {}
            Expression::Call(name, arguments) => {
                self.function(name, arguments.len(), FUNCTIONS);
                for argument in arguments {
                    self.expression(argument);
                }
            }
        }
    }
}
