//! Types of columns, and how their values become those of a result.
//!
//! Integers, doubles, truth values, binary and JSON have columns of their own; arrays and composites are
//! nested JSON; everything else is the server's own text. Most types arrive in binary and are written out
//! here exactly as the server would; a type that nobody has taught us comes as text from the server itself
//! (see [`crate::cursor`]).

pub(crate) mod binary;
mod moment;
mod network;
mod number;
pub(crate) mod text;

use sqlx::TypeInfo as _;
use sqlx::postgres::{PgTypeInfo, PgTypeKind};

use dbagent_core::rows::ColumnType;

/// How a type's values look on the wire and in a result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    Bool,
    Int2,
    Int4,
    Int8,
    /// Unsigned: `oid`, `xid`, `cid`.
    Oid,
    Float4,
    Float8,
    Numeric,
    /// With how many of its smallest units make one.
    Money(i64),
    /// Text on the wire, whatever it means: texts, names, enumerations, XML.
    Text,
    /// One byte.
    Char,
    Bytes,
    Json,
    Jsonb,
    Date,
    Time,
    TimeTz,
    Timestamp,
    TimestampTz,
    Interval,
    Uuid,
    /// Addresses; `cidr` always shows its length.
    Inet,
    MacAddr,
    Bits,
    /// Elements of one type, in any number of dimensions.
    Array(Box<Shape>),
    /// Attributes by name.
    Composite(Vec<(String, Shape)>),
    /// Known to the server alone.
    Opaque,
}

/// Types may nest in themselves only through the catalogue, and never this deep.
const MAX_DEPTH: usize = 32;

impl Shape {
    /// The shape of a type. `money` says how many of its smallest units make one.
    pub(crate) fn of(info: &PgTypeInfo, money: i64) -> Self {
        Self::at_depth(info, money, 0)
    }

    fn at_depth(info: &PgTypeInfo, money: i64, depth: usize) -> Self {
        if depth > MAX_DEPTH {
            return Self::Opaque;
        }
        if let Some(shape) = info.oid().and_then(|oid| Self::built_in(oid.0, money)) {
            return shape;
        }
        // A type that the driver was not told about has no kind that could be asked for.
        if info.oid().is_some() && info.name() == "?" {
            return Self::Opaque;
        }
        match info.kind() {
            PgTypeKind::Enum(_) => Self::Text,
            PgTypeKind::Domain(base) => Self::at_depth(base, money, depth + 1),
            PgTypeKind::Array(element) => match Self::at_depth(element, money, depth + 1) {
                Self::Opaque => Self::Opaque,
                element => Self::Array(Box::new(element)),
            },
            PgTypeKind::Composite(attributes) => {
                let shapes: Vec<(String, Self)> = attributes
                    .iter()
                    .map(|(name, info)| (name.clone(), Self::at_depth(info, money, depth + 1)))
                    .collect();
                if shapes.iter().any(|(_, s)| *s == Self::Opaque) {
                    Self::Opaque
                } else {
                    Self::Composite(shapes)
                }
            }
            PgTypeKind::Simple | PgTypeKind::Pseudo | PgTypeKind::Range(_) => Self::Opaque,
        }
    }

    /// The types that every server has under the same number.
    fn built_in(oid: u32, money: i64) -> Option<Self> {
        Some(match oid {
            16 => Self::Bool,
            17 => Self::Bytes,
            18 => Self::Char,
            // name, text, unknown, xml, cstring, bpchar, varchar, refcursor, void
            19 | 25 | 705 | 142 | 2275 | 1042 | 1043 | 1790 | 2278 => Self::Text,
            20 => Self::Int8,
            21 => Self::Int2,
            23 => Self::Int4,
            // oid, xid, cid
            26 | 28 | 29 => Self::Oid,
            114 => Self::Json,
            3802 => Self::Jsonb,
            700 => Self::Float4,
            701 => Self::Float8,
            790 => Self::Money(money),
            829 | 774 => Self::MacAddr,
            869 | 650 => Self::Inet,
            1082 => Self::Date,
            1083 => Self::Time,
            1114 => Self::Timestamp,
            1184 => Self::TimestampTz,
            1186 => Self::Interval,
            1266 => Self::TimeTz,
            1560 | 1562 => Self::Bits,
            1700 => Self::Numeric,
            2950 => Self::Uuid,
            other => {
                return element_of(other)
                    .and_then(|e| Self::built_in(e, money))
                    .map(|e| Self::Array(Box::new(e)));
            }
        })
    }

    /// What a column of it is declared to be; mixed where there is none.
    pub(crate) fn declared(&self) -> Option<ColumnType> {
        Some(match self {
            Self::Bool => ColumnType::Bool,
            Self::Int2 | Self::Int4 | Self::Int8 | Self::Oid => ColumnType::Int,
            Self::Float4 | Self::Float8 => ColumnType::Float,
            Self::Bytes => ColumnType::Bytes,
            Self::Json | Self::Jsonb | Self::Array(_) | Self::Composite(_) => return None,
            _ => ColumnType::Text,
        })
    }

    /// Whether its values are JSON.
    pub(crate) fn is_nested(&self) -> bool {
        matches!(self, Self::Json | Self::Jsonb | Self::Array(_) | Self::Composite(_))
    }
}

/// The element of an array type that every server has under the same number.
fn element_of(array: u32) -> Option<u32> {
    Some(match array {
        1000 => 16,
        1001 => 17,
        1002 => 18,
        1003 => 19,
        1005 => 21,
        1007 => 23,
        1009 => 25,
        1014 => 1042,
        1015 => 1043,
        1016 => 20,
        1021 => 700,
        1022 => 701,
        1028 => 26,
        1011 => 28,
        1012 => 29,
        1040 => 829,
        775 => 774,
        1041 => 869,
        651 => 650,
        143 => 142,
        199 => 114,
        3807 => 3802,
        791 => 790,
        1115 => 1114,
        1182 => 1082,
        1183 => 1083,
        1185 => 1184,
        1187 => 1186,
        1231 => 1700,
        1270 => 1266,
        1561 => 1560,
        1563 => 1562,
        2951 => 2950,
        2201 => 1790,
        _ => return None,
    })
}

/// The JSON text of a text.
pub(crate) fn quoted(text: &str) -> String {
    dbagent_core::serde_json::Value::from(text).to_string()
}
