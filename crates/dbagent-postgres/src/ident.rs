//! Names in the fixed statements of this crate: quoted by a type, never by hand.

use std::fmt;

use dbagent_core::ObjectName;

/// A name as PostgreSQL reads it back, whatever is in it.
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
    fn quotes_are_doubled() {
        let name = ObjectName::within("s\"1", "t; --");
        assert_eq!(Qualified(&name).to_string(), "\"s\"\"1\".\"t; --\"");
    }
}
