//! What the scenarios ask of a database, in its own language: data, so that a new language needs no code.

use dbagent_core::{ErrorKind, ObjectName, Request};

use super::value::Value;

/// A read and exactly what comes back.
#[derive(Debug, Clone)]
pub struct Expected {
    /// The read.
    pub request: Request,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Its rows, in order.
    pub rows: Vec<Vec<Value>>,
}

impl Expected {
    /// A read of these columns.
    pub fn new(request: Request, columns: &[&str], rows: Vec<Vec<Value>>) -> Self {
        Self { request, columns: columns.iter().map(|c| (*c).to_owned()).collect(), rows }
    }
}

/// An object whose name is meant to break something.
#[derive(Debug, Clone)]
pub struct Hostile {
    /// Its name.
    pub name: ObjectName,
    /// The names of its columns, hostile too where the engine lets them be.
    pub columns: Vec<String>,
    /// How many rows it has.
    pub rows: u64,
}

/// Everything that the scenarios ask, in the dialect's own language.
///
/// [`Material::sql`] fits a database that was prepared with [`sql::setup`](super::sql::setup); a fixture
/// changes what its engine spells otherwise. Another language starts from `Material::default()`, which
/// holds nothing. What is missing makes the scenarios that need it skip, and a skip has to be either
/// disclaimed by the capabilities or listed in [`Fixture::lacks`](super::Fixture::lacks).
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Material {
    /// The object `users`: at least `id`, `name` and `email`, three rows or more.
    pub users: Option<ObjectName>,
    /// The object `orders`: its `user_id` refers to the `id` of `users`.
    pub orders: Option<ObjectName>,
    /// An object that shows `email` of `users` under a name of its own, such as a view.
    pub view: Option<ObjectName>,
    /// Reads all of `users`.
    pub read_users: Option<Request>,
    /// Reads `name` of `users` and no other column.
    pub read_name: Option<Request>,
    /// Reads `email` of `users`.
    pub read_email: Option<Request>,
    /// Reads the view.
    pub read_view: Option<Request>,
    /// Reads all of `orders`.
    pub read_orders: Option<Request>,

    /// Values of every type that the engine has, and exactly what comes back.
    pub types: Vec<Expected>,
    /// NULLs beside values, first and last in a column, and a column of nothing else.
    pub nulls: Vec<Expected>,
    /// Reads that return no row, and the columns that they announce all the same.
    pub empty: Vec<Expected>,
    /// A column that holds values of different types.
    pub mixed: Vec<Expected>,
    /// Nested values.
    pub nested: Vec<Expected>,

    /// A read of many rows, and how many: at least 20,000, so that several batches come.
    pub many_rows: Option<(Request, u64)>,
    /// A read of one row with one text of at least 64 KiB.
    pub big_cell: Option<Request>,
    /// A read that computes without end before its first row.
    pub endless: Option<Request>,
    /// A read whose rows never end.
    pub endless_rows: Option<Request>,

    /// Texts that the engine's grammar does not accept.
    pub syntax_errors: Vec<Request>,
    /// A read of an object that does not exist.
    pub unknown_object: Option<Request>,
    /// A read of a column that does not exist.
    pub unknown_column: Option<Request>,
    /// Reads that fail for other reasons, and the kind of each failure.
    pub errors: Vec<(Request, ErrorKind)>,

    /// Changes of every kind that the language has. They would work on the scratch database.
    pub writes: Vec<Request>,

    /// Returns its one parameter, a text by position, as its one value.
    pub echo_positional: Option<Request>,
    /// Returns its one parameter, a text by name, as its one value; and the name without its marker.
    pub echo_named: Option<(Request, String)>,
    /// Reads with parameters of other types, and exactly what comes back.
    pub parameters: Vec<Expected>,

    /// Objects with hostile names.
    pub hostile: Vec<Hostile>,
    /// The namespace that a name without one is in.
    pub default_namespace: Option<String>,
    /// An object with a comment, and the comment.
    pub comment: Option<(ObjectName, String)>,
    /// Texts that may be too much for a parser: deep nesting, long chains. The suite adds its own.
    pub hostile_texts: Vec<String>,
}
