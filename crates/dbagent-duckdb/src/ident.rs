//! Names in the fixed statements of this crate: quoted by a type, never by hand.

use std::fmt;

use dbagent_core::ObjectName;

/// A name as DuckDB reads it back, whatever is in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ident<'a>(pub(crate) &'a str);

impl fmt::Display for Ident<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.replace('"', "\"\""))
    }
}

/// An object, with its namespace where it has one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Qualified<'a>(pub(crate) &'a ObjectName);

impl fmt::Display for Qualified<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = &self.0.namespace {
            write!(f, "{}.", Ident(namespace))?;
        }
        Ident(&self.0.name).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_is_read_back_as_itself() {
        let connection = duckdb::Connection::open_in_memory().unwrap();
        for name in
            ["plain", "two words", "quo\"te", "'", "]", "--", ";", "sélect", "日本", "\u{202e}", "\\", "*"]
        {
            connection.execute_batch(&format!("CREATE TABLE {}(x INTEGER)", Ident(name))).unwrap();
            let qualified = Qualified(&ObjectName::within("main", name)).to_string();
            connection.execute_batch(&format!("INSERT INTO {qualified} VALUES (1)")).unwrap();
            let found: i64 = connection
                .query_row("SELECT count(*) FROM duckdb_tables() WHERE table_name = ?", [name], |r| r.get(0))
                .unwrap();
            assert_eq!(found, 1, "{name}");
        }
    }
}
