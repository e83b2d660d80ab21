//! Types: a cast to one of a user's runs the user's code.

use dbagent_core::Effects;
use pg_query::protobuf::TypeName;
use pg_query::{Node, NodeEnum};

use super::inner;
use super::walk::{Walk, qualified, string};
use crate::functions::{self, Called};

impl Walk<'_> {
    pub(super) fn optional_type(&mut self, name: Option<&TypeName>) {
        if let Some(name) = name {
            self.type_name(name);
        }
    }

    /// A type that values become.
    pub(super) fn type_name(&mut self, name: &TypeName) {
        let TypeName {
            names,
            type_oid: _,
            setof: _,
            pct_type,
            typmods,
            typemod: _,
            array_bounds: _,
            location,
        } = name;
        let span = self.span(*location, names.len());
        if *pct_type {
            return self.unknown("%TYPE", span);
        }
        for modifier in typmods {
            self.modifier(modifier);
        }
        let Some(name) = qualified(names) else { return self.unknown("the name of this type", span) };
        let effects = if functions::is_type(&name) { Effects::READ } else { Effects::UNKNOWN };
        self.called(&Called::Type(name), Some(1), effects, span);
    }

    /// `numeric(10, 2)`, `geometry(Point, 4326)`: constants and bare words, which are no columns.
    fn modifier(&mut self, node: &Node) {
        match inner(node) {
            Some(NodeEnum::AConst(_)) => {}
            Some(NodeEnum::ColumnRef(word)) if matches!(word.fields.as_slice(), [w] if string(w).is_some()) =>
                {}
            _ => self.unknown("this modifier of a type", None),
        }
    }
}
