//! Folds the flat rows of catalogue queries into objects.
//!
//! Every SQL engine answers with one row a column, one a key column, one an index column. A dialect asks a
//! constant number of such queries for however many tables, and adds their rows here in any order between
//! tables; within a table columns, keys and index columns come in their own order.

use std::collections::HashMap;

use dbagent_core::catalog::{Column, Described, ForeignKey, Index, ObjectDetail, ObjectSummary};
use dbagent_core::{NameCase, ObjectName};

/// Objects under construction.
///
/// Rows of an object that was not added are passed over: between two catalogue queries it may have been made
/// or dropped.
///
/// ```
/// use dbagent_core::ObjectName;
/// use dbagent_core::catalog::{Column, ObjectDetail, ObjectKind};
/// use dbagent_sql::catalog::Fold;
/// let (users, orders) = (ObjectName::within("app", "users"), ObjectName::within("app", "orders"));
/// let mut fold = Fold::default();
/// for name in [&users, &orders] {
///     fold.object(ObjectDetail::new(name.clone(), ObjectKind::Table).summary);
/// }
/// for (table, column) in [(&orders, "id"), (&users, "id"), (&orders, "user_id")] {
///     fold.column(table, Column { name: column.into(), ..Column::default() });
/// }
/// fold.primary_key(&users, "id");
/// fold.foreign_key(&orders, "orders_users_fk", "user_id", &users, "id");
/// let objects = fold.finish();
/// assert_eq!(objects[1].columns.len(), 2);
/// assert_eq!(objects[1].foreign_keys[0].target, users);
/// ```
#[derive(Debug, Default)]
pub struct Fold {
    objects: Vec<ObjectDetail>,
    places: HashMap<ObjectName, usize>,
    /// Where the foreign key of that name is in its object's list.
    keys: HashMap<(usize, String), usize>,
    /// Where the index of that name is in its object's list.
    indexes: HashMap<(usize, String), usize>,
}

impl Fold {
    /// Adds an object. A second one of the same name is passed over.
    pub fn object(&mut self, summary: ObjectSummary) {
        let place = self.objects.len();
        if let std::collections::hash_map::Entry::Vacant(entry) = self.places.entry(summary.name.clone()) {
            entry.insert(place);
            let mut detail = ObjectDetail::new(summary.name.clone(), summary.kind);
            detail.summary = summary;
            self.objects.push(detail);
        }
    }

    /// Adds a column behind those that the object has.
    pub fn column(&mut self, of: &ObjectName, column: Column) {
        if let Some((_, object)) = self.find(of) {
            object.columns.push(column);
        }
    }

    /// Adds a column to the primary key.
    pub fn primary_key(&mut self, of: &ObjectName, column: &str) {
        if let Some((_, object)) = self.find(of) {
            object.primary_key.push(column.to_owned());
        }
    }

    /// Adds a pair of columns to the foreign key of that name; `key` only tells the keys of one object apart.
    pub fn foreign_key(
        &mut self,
        of: &ObjectName,
        key: &str,
        column: &str,
        target: &ObjectName,
        target_column: &str,
    ) {
        let Some(place) = self.places.get(of).copied() else { return };
        let Some(object) = self.objects.get_mut(place) else { return };
        let at = *self.keys.entry((place, key.to_owned())).or_insert_with(|| {
            object.foreign_keys.push(ForeignKey {
                columns: Vec::new(),
                target: target.clone(),
                target_columns: Vec::new(),
            });
            object.foreign_keys.len() - 1
        });
        if let Some(key) = object.foreign_keys.get_mut(at) {
            key.columns.push(column.to_owned());
            key.target_columns.push(target_column.to_owned());
        }
    }

    /// Adds a column, or an expression as the engine writes it, to the index of that name.
    pub fn index(
        &mut self,
        of: &ObjectName,
        index: &str,
        column: &str,
        unique: bool,
        condition: Option<&str>,
    ) {
        let Some(place) = self.places.get(of).copied() else { return };
        let Some(object) = self.objects.get_mut(place) else { return };
        let at = *self.indexes.entry((place, index.to_owned())).or_insert_with(|| {
            object.indexes.push(Index {
                name: index.to_owned(),
                columns: Vec::new(),
                unique,
                condition: condition.map(str::to_owned),
            });
            object.indexes.len() - 1
        });
        if let Some(index) = object.indexes.get_mut(at) {
            index.columns.push(column.to_owned());
        }
    }

    /// Adds a note.
    pub fn note(&mut self, of: &ObjectName, note: &str) {
        if let Some((_, object)) = self.find(of) {
            object.notes.push(note.to_owned());
        }
    }

    /// Sets the definition.
    pub fn definition(&mut self, of: &ObjectName, definition: &str) {
        if let Some((_, object)) = self.find(of) {
            object.definition = Some(definition.to_owned());
        }
    }

    /// The objects in the order in which they were added.
    pub fn finish(self) -> Vec<ObjectDetail> {
        self.objects
    }

    /// The objects that were asked for in the order asked, and the names that mean nothing. A name without a
    /// namespace means the first object of that name.
    pub fn described(self, asked: &[ObjectName], case: NameCase) -> Described {
        let mut described = Described::default();
        for name in asked {
            let same = |object: &&ObjectDetail| {
                let own = &object.summary.name;
                let in_space = match (&name.namespace, &own.namespace) {
                    (None, _) => true,
                    (Some(wanted), Some(space)) => case.same(wanted, space),
                    (Some(_), None) => false,
                };
                in_space && case.same(&name.name, &own.name)
            };
            // Spelt exactly so before all others: `Users` and `users` may both be there.
            let exact = self.objects.iter().find(|o| same(o) && o.summary.name.name == name.name);
            match exact.or_else(|| self.objects.iter().find(same)) {
                Some(object) => described.found.push(object.clone()),
                None => described.missing.push(name.clone()),
            }
        }
        described
    }

    fn find(&mut self, name: &ObjectName) -> Option<(usize, &mut ObjectDetail)> {
        let place = *self.places.get(name)?;
        self.objects.get_mut(place).map(|object| (place, object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbagent_core::catalog::ObjectKind;

    fn name(table: &str) -> ObjectName {
        ObjectName::within("app", table)
    }

    fn fold(tables: &[&str]) -> Fold {
        let mut fold = Fold::default();
        for table in tables {
            fold.object(ObjectDetail::new(name(table), ObjectKind::Table).summary);
        }
        fold
    }

    #[test]
    fn keys_and_indexes_of_several_columns_stay_together() {
        let mut f = fold(&["a", "b"]);
        f.foreign_key(&name("a"), "k1", "x", &name("b"), "p");
        f.foreign_key(&name("a"), "k2", "z", &name("b"), "r");
        f.foreign_key(&name("a"), "k1", "y", &name("b"), "q");
        f.foreign_key(&name("b"), "k1", "x", &name("a"), "p");
        f.index(&name("a"), "i", "x", true, Some("x > 1"));
        f.index(&name("b"), "i", "lower(y)", false, None);
        f.index(&name("a"), "i", "y", true, Some("x > 1"));
        f.primary_key(&name("a"), "x");
        f.primary_key(&name("a"), "y");
        f.note(&name("a"), "STRICT");
        f.definition(&name("b"), "CREATE TABLE b");
        let [a, b] = <[ObjectDetail; 2]>::try_from(f.finish()).unwrap();
        assert_eq!(a.foreign_keys[0].columns, ["x", "y"]);
        assert_eq!(a.foreign_keys[0].target_columns, ["p", "q"]);
        assert_eq!(a.foreign_keys[1].columns, ["z"]);
        assert_eq!(b.foreign_keys[0].target, name("a"));
        assert_eq!((a.indexes.len(), a.indexes[0].columns.join(",")), (1, "x,y".to_owned()));
        assert_eq!(a.indexes[0].condition.as_deref(), Some("x > 1"));
        assert_eq!(b.indexes[0].columns, ["lower(y)"]);
        assert_eq!(a.primary_key, ["x", "y"]);
        assert_eq!(a.notes, ["STRICT"]);
        assert_eq!(b.definition.as_deref(), Some("CREATE TABLE b"));
    }

    #[test]
    fn rows_of_unknown_objects_and_second_objects_are_passed_over() {
        let mut f = fold(&["a", "a"]);
        f.column(&name("gone"), Column::default());
        f.index(&name("gone"), "i", "x", false, None);
        f.foreign_key(&name("gone"), "k", "x", &name("a"), "y");
        let objects = f.finish();
        assert_eq!(objects.len(), 1);
        assert!(objects[0].columns.is_empty());
    }

    #[test]
    fn what_was_asked_comes_back_in_that_order() {
        let f = fold(&["users", "Users", "orders"]);
        let asked = ["orders", "Users", "nothing", "ORDERS"].map(ObjectName::new);
        let described = f.described(&asked, NameCase::AsciiInsensitive);
        let found: Vec<_> = described.found.iter().map(|o| o.summary.name.name.as_str()).collect();
        assert_eq!(found, ["orders", "Users", "orders"]);
        assert_eq!(described.missing, [ObjectName::new("nothing")]);
        let f = fold(&["users"]);
        let asked = [ObjectName::within("other", "users"), name("users")];
        assert_eq!(f.described(&asked, NameCase::Sensitive).missing, [asked[0].clone()]);
    }
}
