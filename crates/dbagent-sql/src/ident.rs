//! Identifiers as a type: query text is never built from plain strings.

use std::fmt;

use dbagent_core::ObjectName;

/// How a database quotes identifiers.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Quoting {
    /// `"name"`, a quote doubled: standard SQL, PostgreSQL, SQLite, DuckDB, Oracle.
    #[default]
    DoubleQuotes,
    /// `` `name` ``, a backtick doubled: MySQL, MariaDB, BigQuery, Spark.
    Backticks,
    /// `[name]`, a closing bracket doubled: SQL Server. SQLite reads brackets too but has no way to write a
    /// closing one in them; use [`Quoting::DoubleQuotes`] there.
    Brackets,
}

impl Quoting {
    /// The characters before and after a quoted identifier.
    pub const fn marks(self) -> (char, char) {
        match self {
            Self::DoubleQuotes => ('"', '"'),
            Self::Backticks => ('`', '`'),
            Self::Brackets => ('[', ']'),
        }
    }

    /// A bare name, to be printed quoted.
    pub const fn ident(self, name: &str) -> Ident<'_> {
        Ident { name, quoting: self }
    }

    /// The name of an object, to be printed quoted, with its namespace where it has one.
    pub const fn path(self, name: &ObjectName) -> Path<'_> {
        Path { name, quoting: self }
    }
}

/// One identifier. Prints quoted, always: no list of reserved words can be out of date.
///
/// ```
/// use dbagent_sql::Quoting;
/// assert_eq!(Quoting::DoubleQuotes.ident("a\"b").to_string(), "\"a\"\"b\"");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ident<'a> {
    name: &'a str,
    quoting: Quoting,
}

impl Ident<'_> {
    /// The bare name.
    pub const fn name(&self) -> &str {
        self.name
    }
}

impl fmt::Display for Ident<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        let (open, close) = self.quoting.marks();
        f.write_char(open)?;
        for c in self.name.chars() {
            if c == close {
                f.write_char(c)?;
            }
            f.write_char(c)?;
        }
        f.write_char(close)
    }
}

/// The name of an object with its namespace. Prints each part quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path<'a> {
    name: &'a ObjectName,
    quoting: Quoting,
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = &self.name.namespace {
            write!(f, "{}.", self.quoting.ident(namespace))?;
        }
        write!(f, "{}", self.quoting.ident(&self.name.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_mark_is_doubled_and_nothing_else() {
        for (quoting, name, expected) in [
            (Quoting::DoubleQuotes, "a\"; DROP TABLE t; --", "\"a\"\"; DROP TABLE t; --\""),
            (Quoting::Backticks, "a`b\"c", "`a``b\"c`"),
            (Quoting::Brackets, "a]b[c", "[a]]b[c]"),
            (Quoting::DoubleQuotes, "", "\"\""),
            (Quoting::DoubleQuotes, "größe 列", "\"größe 列\""),
        ] {
            assert_eq!(quoting.ident(name).to_string(), expected);
        }
    }

    #[test]
    fn a_namespace_is_a_part_of_its_own() {
        let name = ObjectName::within("my.schema", "order details");
        assert_eq!(Quoting::Backticks.path(&name).to_string(), "`my.schema`.`order details`");
        assert_eq!(Quoting::Brackets.path(&ObjectName::new("t")).to_string(), "[t]");
    }
}
