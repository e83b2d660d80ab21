//! Binds the values of a request to a compiled statement.

use dbagent_core::{Param, Params};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Result, Statement};

/// Binds every parameter of the statement. One that no value was given for stays NULL; the core has
/// compared the two before.
pub(crate) fn all(statement: &mut Statement<'_>, params: &Params) -> Result<()> {
    match params {
        Params::None => Ok(()),
        Params::Positional(values) => {
            for (index, value) in values.iter().enumerate().take(statement.parameter_count()) {
                statement.raw_bind_parameter(index + 1, Bound(value))?;
            }
            Ok(())
        }
        Params::Named(values) => {
            for index in 1..=statement.parameter_count() {
                // `:a`, `@a` and `$a` are parameters of their own and take the same value.
                let name = statement.parameter_name(index).and_then(|n| n.get(1..)).map(str::to_owned);
                let value = values.iter().find(|(key, _)| Some(key) == name.as_ref());
                if let Some((_, value)) = value {
                    statement.raw_bind_parameter(index, Bound(value))?;
                }
            }
            Ok(())
        }
    }
}

/// A value as SQLite stores it: truth values as 0 and 1, exact numbers, dates and identifiers as text. SQLite
/// has no NaN: it binds one as NULL.
struct Bound<'a>(&'a Param);

impl rusqlite::ToSql for Bound<'_> {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Param::Null => ValueRef::Null,
            Param::Bool(b) => ValueRef::Integer(i64::from(*b)),
            Param::I64(n) => ValueRef::Integer(*n),
            Param::F64(x) => ValueRef::Real(*x),
            Param::Text(text) | Param::Decimal(text) | Param::Date(text) | Param::Uuid(text) => {
                ValueRef::Text(text.as_bytes())
            }
            Param::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}
