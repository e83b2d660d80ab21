//! Lets views search full-text indexes although the schema of a file is not trusted.
//!
//! The functions of a full-text index work only where they stand beside that index; elsewhere they are an
//! error. SQLite declares them without saying that they are harmless, and so refuses them inside views once
//! it does not trust the schema. They read nothing but the index that the view names, so they are declared
//! again, as harmless. The index still answers for them where it did before.

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::{Connection, Error, Result};

/// Names and numbers of arguments, as SQLite declares them.
const FUNCTIONS: &[(&str, i32)] = &[
    ("match", 2),
    ("bm25", -1),
    ("highlight", -1),
    ("snippet", -1),
    ("offsets", 1),
    ("matchinfo", 1),
    ("matchinfo", 2),
];

/// Declares the functions on a connection of our own.
pub(crate) fn declare(db: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_INNOCUOUS;
    for (name, arguments) in FUNCTIONS {
        db.create_scalar_function(*name, *arguments, flags, move |_: &mut Context<'_>| -> Result<i64> {
            let message = format!("unable to use function {name} in the requested context");
            Err(Error::UserFunctionError(message.into()))
        })?;
    }
    Ok(())
}
