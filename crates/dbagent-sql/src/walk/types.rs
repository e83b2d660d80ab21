//! Types, where a cast names them.

use sqlparser::ast::{ArrayElemTypeDef, DataType, EnumMember, StructField, UnionField};

use super::Walk;

impl Walk<'_> {
    /// Walks a type. Types that the grammar knows are the engine's own; others may belong to somebody.
    pub(super) fn data_type(&mut self, data_type: &DataType) {
        match data_type {
            DataType::Custom(name, _) => self.custom_type(name),
            DataType::Zerofill(inner)
            | DataType::Nullable(inner)
            | DataType::LowCardinality(inner)
            | DataType::Collate(inner, _) => self.data_type(inner),
            DataType::Array(element) => match element {
                ArrayElemTypeDef::None => {}
                ArrayElemTypeDef::AngleBracket(inner)
                | ArrayElemTypeDef::SquareBracket(inner, _)
                | ArrayElemTypeDef::Parenthesis(inner)
                | ArrayElemTypeDef::ParenthesisNotNull(inner)
                | ArrayElemTypeDef::Qualified(inner, _) => self.data_type(inner),
            },
            DataType::Map(key, value, _) => {
                self.data_type(key);
                self.data_type(value);
            }
            DataType::Tuple(fields) | DataType::Struct(fields, _) => self.struct_fields(fields),
            DataType::Union(fields) => {
                for UnionField { field_name: _, field_type } in fields {
                    self.data_type(field_type);
                }
            }
            DataType::Enum(members, _) => {
                for member in members {
                    match member {
                        EnumMember::Name(_) => {}
                        EnumMember::NamedValue(_, expr) => self.expr(expr),
                    }
                }
            }
            // Definitions of columns belong to statements that make tables.
            DataType::Table(columns) => {
                self.unknown("a table as a type", None);
                if let Some(columns) = columns {
                    self.parts(columns, false);
                }
            }
            DataType::NamedTable { name: _, columns }
            | DataType::Nested(columns)
            | DataType::Object(columns) => {
                self.unknown("a type with columns", None);
                self.parts(columns, false);
            }
            DataType::Character(_)
            | DataType::Char(_)
            | DataType::CharacterVarying(_)
            | DataType::CharVarying(_)
            | DataType::Varchar(_)
            | DataType::Nvarchar(_)
            | DataType::Uuid
            | DataType::CharacterLargeObject(_)
            | DataType::CharLargeObject(_)
            | DataType::Clob(_)
            | DataType::Binary(_)
            | DataType::Varbinary(_)
            | DataType::Blob(_)
            | DataType::TinyBlob
            | DataType::MediumBlob
            | DataType::LongBlob
            | DataType::Bytes(_)
            | DataType::Numeric(_)
            | DataType::Decimal(_)
            | DataType::DecimalUnsigned(_)
            | DataType::BigNumeric(_)
            | DataType::BigDecimal(_)
            | DataType::Dec(_)
            | DataType::DecUnsigned(_)
            | DataType::Float(_)
            | DataType::FloatUnsigned(_)
            | DataType::TinyInt(_)
            | DataType::TinyIntUnsigned(_)
            | DataType::UTinyInt
            | DataType::Int2(_)
            | DataType::Int2Unsigned(_)
            | DataType::SmallInt(_)
            | DataType::SmallIntUnsigned(_)
            | DataType::USmallInt
            | DataType::MediumInt(_)
            | DataType::MediumIntUnsigned(_)
            | DataType::Int(_)
            | DataType::Int4(_)
            | DataType::Int8(_)
            | DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::Int128
            | DataType::Int256
            | DataType::Integer(_)
            | DataType::IntUnsigned(_)
            | DataType::Int4Unsigned(_)
            | DataType::IntegerUnsigned(_)
            | DataType::HugeInt
            | DataType::UHugeInt
            | DataType::UInt8
            | DataType::UInt16
            | DataType::UInt32
            | DataType::UInt64
            | DataType::UInt128
            | DataType::UInt256
            | DataType::BigInt(_)
            | DataType::BigIntUnsigned(_)
            | DataType::UBigInt
            | DataType::Int8Unsigned(_)
            | DataType::Signed
            | DataType::SignedInteger
            | DataType::Unsigned
            | DataType::UnsignedInteger
            | DataType::Float4
            | DataType::Float32
            | DataType::Float64
            | DataType::Real
            | DataType::RealUnsigned
            | DataType::Float8
            | DataType::Double(_)
            | DataType::DoubleUnsigned(_)
            | DataType::DoublePrecision
            | DataType::DoublePrecisionUnsigned
            | DataType::Bool
            | DataType::Boolean
            | DataType::Date
            | DataType::Date32
            | DataType::Time(..)
            | DataType::Datetime(_)
            | DataType::Datetime64(..)
            | DataType::Timestamp(..)
            | DataType::TimestampNtz(_)
            | DataType::Interval { .. }
            | DataType::JSON
            | DataType::JSONB
            | DataType::Regclass
            | DataType::Text
            | DataType::TinyText
            | DataType::MediumText
            | DataType::LongText
            | DataType::String(_)
            | DataType::FixedString(_)
            | DataType::Bytea
            | DataType::Bit(_)
            | DataType::BitVarying(_)
            | DataType::VarBit(_)
            | DataType::Set(_)
            | DataType::Unspecified
            | DataType::Trigger
            | DataType::AnyType
            | DataType::GeometricType(_)
            | DataType::TsVector
            | DataType::TsQuery => {}
        }
    }

    pub(super) fn struct_fields(&mut self, fields: &[StructField]) {
        for StructField { field_name: _, field_type, options } in fields {
            self.data_type(field_type);
            if let Some(options) = options {
                self.parts(options, false);
            }
        }
    }
}
