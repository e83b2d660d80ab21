//! Values and tables as a fixture writes them down and a scenario compares them: exactly.

use dbagent_core::arrow_array::RecordBatch;
use dbagent_core::json::{Json, JsonLimits};
use dbagent_core::rows::{Cell, Ending};

/// One value of a result, owned. Equality is exact: `1` is not `1.0`, `-0.0` is not `0.0`, NaN is itself.
#[derive(Debug, Clone)]
pub enum Value {
    /// NULL.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer beyond `i64`.
    Unsigned(u64),
    /// A double.
    Float(f64),
    /// An exact number.
    Decimal(String),
    /// A text.
    Text(String),
    /// Binary.
    Bytes(Vec<u8>),
    /// A date, a time or both, ISO 8601.
    Time(String),
    /// A nested value, or one of a column that mixes types. Compared as JSON, with the order of members.
    Json(String),
    /// Anything else, as the engine's text.
    Other(String),
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Unsigned(a), Self::Unsigned(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
            (Self::Decimal(a), Self::Decimal(b))
            | (Self::Text(a), Self::Text(b))
            | (Self::Time(a), Self::Time(b))
            | (Self::Other(a), Self::Other(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::Json(a), Self::Json(b)) => a == b || normal(a).is_some_and(|a| Some(a) == normal(b)),
            _ => false,
        }
    }
}

fn normal(text: &str) -> Option<Json> {
    Json::parse(text, JsonLimits::default()).ok()
}

impl Value {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A nested or mixed value by its JSON text.
    pub fn json(text: impl Into<String>) -> Self {
        Self::Json(text.into())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for Value {
    fn from(n: i64) -> Self {
        Self::Int(n)
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Self {
        Self::Float(x)
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Self {
        Self::Bool(b)
    }
}

impl From<Cell<'_>> for Value {
    fn from(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Null => Self::Null,
            Cell::Bool(b) => Self::Bool(b),
            Cell::Int(n) => Self::Int(n),
            Cell::Unsigned(n) => Self::Unsigned(n),
            Cell::Float(x) => Self::Float(x),
            Cell::Decimal(s) => Self::Decimal(s),
            Cell::Text(s) => Self::Text(s.to_owned()),
            Cell::Bytes(b) => Self::Bytes(b.to_vec()),
            Cell::Time(s) => Self::Time(s),
            Cell::Json(s) => Self::Json(s.to_owned()),
            Cell::Other(s) => Self::Other(s),
        }
    }
}

/// A whole result.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<Value>>,
    /// How it ended.
    pub ending: Ending,
}

impl Table {
    pub(super) fn add(&mut self, batch: &RecordBatch) {
        for row in 0..batch.num_rows() {
            self.rows.push(
                (0..batch.num_columns()).map(|column| Value::from(Cell::at(batch, column, row))).collect(),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equality_is_exact() {
        assert_ne!(Value::from(1), Value::from(1.0));
        assert_ne!(Value::from(0.0), Value::from(-0.0));
        assert_eq!(Value::from(f64::NAN), Value::from(f64::NAN));
        assert_ne!(Value::text("1"), Value::json("1"));
        assert_eq!(Value::json("{ \"a\": 1 }"), Value::json("{\"a\":1}"));
        assert_ne!(Value::json("{\"a\":1.0}"), Value::json("{\"a\":1}"));
    }
}
