//! What a name with dots means: a column, a whole row, or a function that is written like a column.

use dbagent_core::Effects;
use dbagent_core::guard::Span;
use pg_query::protobuf::ColumnRef;
use pg_query::{Node, NodeEnum};

use super::inner;
use super::scope::Env;
use super::walk::{Walk, string};
use crate::functions::{self, Called};

impl Walk<'_> {
    pub(super) fn column_ref(&mut self, column: &ColumnRef, env: Env) {
        let ColumnRef { fields, location } = column;
        let span = self.span(*location, fields.len());
        let Some((last, before)) = fields.split_last() else {
            return self.unknown("a name without a name", span);
        };
        let qualifier = match before.last() {
            None => None,
            Some(node) => match string(node) {
                Some(name) => Some(name),
                None => return self.unknown("this name", span),
            },
        };
        match inner(last) {
            Some(NodeEnum::AStar(_)) => {
                let objects = match qualifier {
                    // `*` alone is of this select, not of those around it.
                    None => self.scopes.own(env.scope),
                    Some(name) => self.behind(name, env),
                };
                self.column(objects, None, span);
            }
            Some(NodeEnum::String(text)) => {
                let name = text.sval.as_str();
                let objects = match qualifier {
                    None => self.scopes.visible(env.scope),
                    Some(qualifier) => self.behind(qualifier, env),
                };
                self.column(objects, Some(name), span);
                // The name of a table, where no column has it, is its whole row.
                if let Some(row) = self.scopes.named(env.scope, name).filter(|row| !row.is_empty()) {
                    self.column(row, None, span);
                }
                if let Some(qualifier) = qualifier {
                    if functions::takes_any_row(name) {
                        let row = self.behind(qualifier, env);
                        self.column(row, None, span);
                    }
                    let of_function = self.scopes.is_function(env.scope, qualifier);
                    let called = if of_function { Called::Field } else { Called::Attribute };
                    self.attribute(called(name.to_owned()), name, span);
                }
            }
            _ => self.unknown("this name", span),
        }
    }

    /// The objects behind a qualifier. A name that nothing visible has is for the engine to refuse; until
    /// then it may be anything.
    fn behind(&self, name: &str, env: Env) -> Vec<usize> {
        self.scopes.named(env.scope, name).unwrap_or_else(|| self.scopes.visible(env.scope))
    }

    /// `x.name`, where no column has the name, calls the function of that name with the row.
    fn attribute(&mut self, called: Called, name: &str, span: Option<Span>) {
        let known = functions::builtin(name, Some(1));
        if let Some(choice) = known.and_then(|k| k.choice) {
            self.not_allowed(name, choice, span);
        }
        let effects = known.map_or(Effects::READ, |k| k.effects);
        self.called(&called, Some(1), effects | Effects::READ, span);
    }

    /// What is taken out of a value: `(x).name`, `(x).*`, `x[1]`, `x[1:2]`.
    pub(super) fn indirection<'n>(&mut self, steps: &'n [Node], open: &mut Vec<&'n Node>) {
        for step in steps {
            match inner(step) {
                // Every field of a value that was walked.
                Some(NodeEnum::AStar(_)) => {}
                Some(NodeEnum::String(text)) => {
                    self.attribute(Called::Field(text.sval.clone()), &text.sval, None);
                }
                Some(NodeEnum::AIndices(indices)) => {
                    let pg_query::protobuf::AIndices { is_slice: _, lidx, uidx } = indices.as_ref();
                    open.extend(lidx.as_deref());
                    open.extend(uidx.as_deref());
                }
                _ => self.unknown("this part of a value", None),
            }
        }
    }
}
