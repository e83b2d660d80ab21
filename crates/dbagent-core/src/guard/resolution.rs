//! What the live catalogue says of the names in a request.

use serde::{Deserialize, Serialize};

use super::parsed::Parsed;
use crate::catalog::ObjectKind;
use crate::effects::Effects;
use crate::name::ObjectName;

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
