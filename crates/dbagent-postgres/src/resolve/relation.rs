//! What is known of one relation: its columns, and what reading it reads and runs in turn.

use dbagent_core::catalog::ObjectKind;
use dbagent_core::guard::{Finding, Parsed, Rule, StatementClass};
use dbagent_core::{Effects, ObjectName};

use super::catalogue::RelationRow;
use super::routine::FIRST_OF_USERS;
use crate::parse::{self, Limits};

/// A relation and its definition, with names still to be looked up.
#[derive(Debug)]
pub(super) struct Relation {
    pub(super) name: ObjectName,
    pub(super) kind: ObjectKind,
    pub(super) columns: Vec<String>,
    pub(super) aliases: Vec<(String, String)>,
    pub(super) body: Option<Parsed>,
    /// What shares rows with it.
    pub(super) kin: Vec<ObjectName>,
}

impl Relation {
    pub(super) fn of(row: RelationRow, limits: Limits) -> Self {
        let name = ObjectName::within(row.schema.as_str(), row.name.as_str());
        let kind = match row.kind.as_str() {
            _ if row.oid < FIRST_OF_USERS || row.kind == "t" => ObjectKind::System,
            "v" => ObjectKind::View,
            "m" => ObjectKind::MaterializedView,
            "f" => ObjectKind::ForeignTable,
            _ => ObjectKind::Table,
        };
        let body = body(&row, kind, &name, limits);
        let aliases = computed(&row.generated, &row.columns, limits);
        Self { name, kind, columns: row.columns, aliases, body, kin: row.kin }
    }
}

fn body(row: &RelationRow, kind: ObjectKind, name: &ObjectName, limits: Limits) -> Option<Parsed> {
    let mut bodies = Vec::new();
    if let Some(text) = &row.definition {
        let mut parsed = parse::statement(text, limits)
            .unwrap_or_else(|_| unreadable(&format!("the definition of {name}")));
        if kind == ObjectKind::MaterializedView {
            // Its rows were computed when it was filled: what they were computed by does not run again.
            parsed.functions.clear();
        }
        bodies.push(parsed);
    }
    let other = row.server.as_deref().or((kind == ObjectKind::ForeignTable).then_some("another server"));
    if let Some(server) = other {
        let mut parsed = Parsed::new(StatementClass::Read, Effects::READ);
        parsed.findings.push(
            Finding::new(
                Rule::ServerIo,
                format!("{name} is a foreign table, or has one below it: reading it reaches {server}, which nobody can look into"),
                None,
            )
            .choice("foreign_table"),
        );
        bodies.push(parsed);
    }
    for policy in &row.policies {
        let mut parsed = parse::expression(policy, limits)
            .unwrap_or_else(|_| unreadable(&format!("a row policy of {name}")));
        parsed.columns.retain(|c| !c.candidates.is_empty());
        bodies.push(parsed);
    }
    merged(bodies)
}

/// Generated columns with the columns that they are computed from: who may not see the one may not see the
/// other.
fn computed(generated: &[(String, String)], all: &[String], limits: Limits) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    for (column, expression) in generated {
        let from: Vec<String> = match parse::expression(expression, limits) {
            Ok(parsed) if parsed.columns_known => {
                parsed.columns.into_iter().filter_map(|c| c.column).collect()
            }
            // Nobody can tell: any other column may be in it. A newer server writes what our grammar cannot read.
            Ok(_) | Err(_) => all.iter().filter(|c| *c != column).cloned().collect(),
        };
        pairs.extend(from.into_iter().map(|from| (column.clone(), from)));
    }
    pairs
}

/// What cannot be read.
pub(super) fn unreadable(what: &str) -> Parsed {
    let mut parsed = Parsed::new(StatementClass::Unknown, Effects::UNKNOWN);
    parsed.findings.push(Finding::new(Rule::UnknownSyntax, format!("{what} cannot be read"), None));
    parsed
}

/// Several bodies as one.
pub(super) fn merged(bodies: Vec<Parsed>) -> Option<Parsed> {
    let mut bodies = bodies.into_iter();
    let mut all = bodies.next()?;
    for mut body in bodies {
        let shift = all.objects.len();
        for candidate in body.columns.iter_mut().flat_map(|c| &mut c.candidates) {
            *candidate += shift;
        }
        all.objects.append(&mut body.objects);
        all.columns.append(&mut body.columns);
        for function in body.functions {
            // One name is one definition.
            if !all.functions.iter().any(|f| f.name == function.name && f.effects == function.effects) {
                all.functions.push(function);
            }
        }
        all.findings.append(&mut body.findings);
        all.effects |= body.effects;
        all.columns_known &= body.columns_known;
        all.overloads |= body.overloads;
        if matches!(all.class, StatementClass::Read) {
            all.class = body.class;
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_computed_by_what_cannot_be_read_is_computed_from_all() {
        let all = ["a", "b", "c"].map(str::to_owned);
        let of = |expression: &str| {
            let generated = [("c".to_owned(), expression.to_owned())];
            let pairs = computed(&generated, &all, Limits::of_definition(10_000));
            pairs.into_iter().map(|(_, from)| from).collect::<Vec<_>>()
        };
        assert_eq!(of("(a + 1)"), ["a"]);
        assert_eq!(of("(a +++ of the future (("), ["a", "b"]);
    }
}
