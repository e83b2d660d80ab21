//! Names in the fixed statements of this crate: quoted by a type, never by hand.

use std::fmt;

/// Whether a table or column can have this name. The servers keep names in characters of three bytes; one of four
/// becomes a question mark on the way (MySQL) or is an error (MariaDB).
pub(crate) fn is_possible(name: &str) -> bool {
    name.chars().all(|letter| letter <= '\u{ffff}')
}

/// A name as the server reads it back, whatever is in it, under every `sql_mode`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ident<'a>(pub(crate) &'a str);

impl fmt::Display for Ident<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0.replace('`', "``"))
    }
}
