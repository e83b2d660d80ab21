//! What the live catalogue says of the names in a request.

use serde::{Deserialize, Serialize};

use super::parsed::Parsed;
use crate::catalog::ObjectKind;
use crate::effects::Effects;
use crate::name::{NameCase, ObjectName};

/// Names to look up.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
pub struct Needs {
    /// Objects, as written.
    pub objects: Vec<ObjectName>,
    /// Functions that the dialect's own list does not know, as written; all of them where users may define
    /// functions under the engine's own names.
    pub functions: Vec<String>,
}

impl Needs {
    /// Whether there is nothing to look up.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.functions.is_empty()
    }
}

/// What names really are.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Resolution {
    /// Whether a live catalogue was asked. Offline, unknown functions are refused, and an unknown table is
    /// no matter of the guard.
    pub live: bool,
    /// Objects by the name that was asked. A name that is absent does not exist (or was not asked).
    pub objects: Vec<(ObjectName, ResolvedObject)>,
    /// Functions by the name that was asked. A name that is absent stays what the list says of it.
    pub functions: Vec<(String, ResolvedFunction)>,
    /// Objects that share rows with another, by the name that was asked: partitions, children, and what they
    /// belong to. A rule that denies one of them holds for the object too.
    #[serde(default)]
    pub kin: Vec<(ObjectName, Vec<ObjectName>)>,
}

impl Resolution {
    /// Nothing was looked up.
    pub fn offline() -> Self {
        Self::default()
    }

    /// A live catalogue without entries yet.
    pub fn live() -> Self {
        Self { live: true, ..Self::default() }
    }

    /// The entry of that name.
    pub fn object(&self, name: &ObjectName) -> Option<&ResolvedObject> {
        self.objects.iter().find(|(n, _)| n == name).map(|(_, o)| o)
    }

    /// What shares rows with the object of that name.
    pub fn kin(&self, name: &ObjectName) -> &[ObjectName] {
        self.kin.iter().find(|(n, _)| n == name).map_or(&[], |(_, kin)| kin)
    }

    /// The entry of that name.
    pub fn function(&self, name: &str) -> Option<&ResolvedFunction> {
        self.functions.iter().find(|(n, _)| n == name).map(|(_, f)| f)
    }
}

/// An object as the catalogue knows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResolvedObject {
    /// Its full name, namespace included, as the catalogue spells it.
    pub name: ObjectName,
    /// What it is.
    pub kind: ObjectKind,
    /// All its columns, hidden ones included; empty where they cannot be told, as of a collection without a
    /// schema. A list that is not empty is taken for complete.
    pub columns: Vec<String>,
    /// Other spellings that read a column: `rowid` for an integer primary key, the name of a full-text
    /// table for all its text (then several pairs).
    pub column_aliases: Vec<(String, String)>,
    /// What a view (or a rule, a policy) reads in turn.
    pub body: Option<Box<ResolvedBody>>,
}

/// The definition behind a view, judged like a request of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResolvedBody {
    /// What its text does.
    pub parsed: Parsed,
    /// What its names are.
    pub resolution: Resolution,
}

/// A function as the catalogue knows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResolvedFunction {
    /// What it does; [`Effects::UNKNOWN`] refuses.
    pub effects: Effects,
    /// Why, for the refusal's text.
    pub reason: String,
    /// What its body reads in turn, where it was judged.
    pub body: Option<Box<ResolvedBody>>,
}

/// How many pairs of a generated column and a column that it is computed from one table may have.
pub const MAX_COMPUTED: usize = 5_000;

/// Follows generated columns that are computed from generated columns: for [`ResolvedObject::column_aliases`],
/// each gets a pair for whatever it is computed from in the end. `false` when there are more than
/// [`MAX_COMPUTED`]; the pairs are not complete then, and the table must not be taken for known.
#[must_use]
pub fn follow_computed(pairs: &mut Vec<(String, String)>, case: NameCase) -> bool {
    let mut at = 0;
    while let Some((column, from)) = pairs.get(at).cloned() {
        let further: Vec<String> =
            pairs.iter().filter(|(c, _)| case.same(c, &from)).map(|(_, f)| f.clone()).collect();
        for source in further {
            let pair = (column.clone(), source);
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        at += 1;
        if pairs.len() > MAX_COMPUTED {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    }

    #[test]
    fn what_a_generated_column_is_computed_from_is_followed_to_its_end() {
        let mut found = pairs(&[("c", "B"), ("b", "a"), ("loop", "loop")]);
        assert!(follow_computed(&mut found, NameCase::AsciiInsensitive));
        assert_eq!(found, pairs(&[("c", "B"), ("b", "a"), ("loop", "loop"), ("c", "a")]));
        let mut found = pairs(&[("c", "B"), ("b", "a")]);
        assert!(follow_computed(&mut found, NameCase::Sensitive));
        assert_eq!(found, pairs(&[("c", "B"), ("b", "a")]));
    }

    #[test]
    fn too_many_are_said_to_be_too_many() {
        let mut chain: Vec<(String, String)> =
            (0..200).map(|i| (format!("c{i}"), format!("c{}", i + 1))).collect();
        assert!(!follow_computed(&mut chain, NameCase::Sensitive));
    }
}
