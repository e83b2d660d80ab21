//! Which values a statement has, by their types: so that of functions of one name only those count that
//! something can be given to.

use std::collections::{BTreeMap, BTreeSet};

use crate::functions::Called;

/// Which values there are in a statement and in the definitions behind it, as far as it is known. It only grows.
///
/// A function that takes a value of a type which nothing here can have is not called, whatever its name: so an
/// extension that adds functions to the names of another (rasters to those of geometries) takes none of them
/// away. A value of a type comes from a column, a cast, another function, or from a constant without a type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Values {
    /// Types of users that values have.
    pub(super) types: BTreeSet<u32>,
    /// Which arguments of a function or operator were seen without a type of their own, see [`Called::Untyped`].
    pub(super) untyped: BTreeMap<Called, i64>,
    /// Nothing is known: there may be values of every type.
    pub(super) any: bool,
}

impl Values {
    /// The arguments of this use that may become a value of any type.
    pub(super) fn untyped(&self, called: &Called) -> i64 {
        if self.any { Called::ANY } else { self.untyped.get(called).copied().unwrap_or_default() }
    }
}
