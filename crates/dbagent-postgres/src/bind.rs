//! Values of parameters, in the binary form of the types that the server inferred for them.

use dbagent_core::{Error, ErrorKind, Param, Params, Result};
use sqlx::encode::{Encode, IsNull};
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgArguments, PgTypeInfo, PgTypeKind};
use sqlx::{Arguments as _, Postgres, Type, TypeInfo as _};

mod number;
mod time;

/// The values as the driver takes them.
///
/// # Errors
/// [`ErrorKind::Data`] for a value that is none of its parameter's type; [`ErrorKind::InvalidRequest`] for a
/// count that does not fit.
pub(crate) fn arguments(params: &Params, types: &[PgTypeInfo]) -> Result<PgArguments> {
    let values: &[Param] = match params {
        Params::None => &[],
        Params::Positional(values) => values,
        Params::Named(_) => {
            return Err(Error::new(ErrorKind::InvalidRequest, "PostgreSQL numbers its parameters: $1, $2 …")
                .hint("give params as an array"));
        }
    };
    if values.len() != types.len() {
        return Err(Error::new(
            ErrorKind::InvalidRequest,
            format!("the statement takes {} parameters, and {} values are given", types.len(), values.len()),
        ));
    }
    let mut arguments = PgArguments::default();
    for (index, (value, info)) in values.iter().zip(types).enumerate() {
        let bytes = encoded(value, info).map_err(|why| wrong(index + 1, info, why))?;
        let added = arguments.add(Bound { info: info.clone(), bytes });
        added.map_err(|e| {
            Error::new(ErrorKind::TooLarge, format!("parameter ${} cannot be bound: {e}", index + 1))
        })?;
    }
    Ok(arguments)
}

/// Why a value does not fit a type.
enum Why {
    /// It is of another type, or out of range.
    Value(&'static str),
    /// Nothing is bound to parameters of this type.
    Type,
}

fn wrong(number: usize, info: &PgTypeInfo, why: Why) -> Error {
    let name = info.name().to_lowercase();
    match why {
        Why::Value(what) => {
            Error::new(ErrorKind::Data, format!("the value of ${number} is no {name}: {what}"))
                .hint(format!("give another value, or write ${number}::text and convert it in the statement"))
        }
        Why::Type => Error::new(
            ErrorKind::Data,
            format!("${number} is a {name}, and values of that type cannot be bound"),
        )
        .hint(format!("write ${number}::text::{name} and give the value as text")),
    }
}

/// The bytes of a value under a type; none is NULL.
fn encoded(value: &Param, info: &PgTypeInfo) -> Result<Option<Vec<u8>>, Why> {
    if matches!(value, Param::Null) {
        return Ok(None);
    }
    let bytes = match info.oid().map(|oid| oid.0) {
        // name, text, unknown, bpchar, varchar, json, xml
        Some(19 | 25 | 705 | 1042 | 1043 | 114 | 142) => text(value)?.into_bytes(),
        Some(3802) => [&[1], text(value)?.as_bytes()].concat(),
        Some(16) => match value {
            Param::Bool(b) => vec![u8::from(*b)],
            _ => return Err(Why::Value("it must be true or false")),
        },
        Some(17) => match value {
            Param::Bytes(bytes) => bytes.clone(),
            _ => return Err(Why::Value("give it as {\"$bytes\": \"base64\"}")),
        },
        Some(21) => i16::try_from(number::integer(value)?).map_err(|_| range())?.to_be_bytes().to_vec(),
        Some(23) => i32::try_from(number::integer(value)?).map_err(|_| range())?.to_be_bytes().to_vec(),
        Some(20) => number::integer(value)?.to_be_bytes().to_vec(),
        Some(26) => u32::try_from(number::integer(value)?).map_err(|_| range())?.to_be_bytes().to_vec(),
        Some(700) => number::single(value)?.to_be_bytes().to_vec(),
        Some(701) => number::double(value)?.to_be_bytes().to_vec(),
        Some(1700) => number::numeric(&number::decimal(value)?)?,
        Some(1082) => time::date(value)?.to_be_bytes().to_vec(),
        Some(1083) => time::clock(value)?.to_be_bytes().to_vec(),
        Some(1114 | 1184) => time::timestamp(value)?.to_be_bytes().to_vec(),
        Some(2950) => uuid(value)?,
        // A type that the driver was not told about has no kind that could be asked for.
        _ if info.name() == "?" => return Err(Why::Type),
        _ => match info.kind() {
            PgTypeKind::Enum(_) => text(value)?.into_bytes(),
            PgTypeKind::Domain(base) => return encoded(value, base),
            _ => return Err(Why::Type),
        },
    };
    Ok(Some(bytes))
}

fn range() -> Why {
    Why::Value("it is out of range")
}

fn text(value: &Param) -> Result<String, Why> {
    Ok(match value {
        Param::Text(t) | Param::Decimal(t) | Param::Date(t) | Param::Uuid(t) => t.clone(),
        Param::Bool(b) => b.to_string(),
        Param::I64(n) => n.to_string(),
        Param::F64(x) => x.to_string(),
        Param::Bytes(_) | Param::Null => return Err(Why::Value("it is binary")),
    })
}

fn uuid(value: &Param) -> Result<Vec<u8>, Why> {
    let (Param::Uuid(text) | Param::Text(text)) = value else {
        return Err(Why::Value("give it as {\"$uuid\": \"…\"}"));
    };
    let digits: Option<Vec<u8>> = text
        .chars()
        .filter(|c| *c != '-')
        .map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok()))
        .collect();
    let bytes: Vec<u8> = digits
        .unwrap_or_default()
        .chunks(2)
        .filter_map(|pair| match pair {
            [high, low] => Some(high * 16 + low),
            _ => None,
        })
        .collect();
    if bytes.len() == 16 { Ok(bytes) } else { Err(Why::Value("it has not 32 hexadecimal digits")) }
}

/// Bytes that are bound as they are, under the type that the server inferred.
struct Bound {
    info: PgTypeInfo,
    bytes: Option<Vec<u8>>,
}

impl Type<Postgres> for Bound {
    fn type_info() -> PgTypeInfo {
        // Every value says its own type; see `produces`.
        PgTypeInfo::with_name("text")
    }
}

impl Encode<'_, Postgres> for Bound {
    fn encode_by_ref(&self, buf: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Ok(match &self.bytes {
            Some(bytes) => {
                buf.extend_from_slice(bytes);
                IsNull::No
            }
            None => IsNull::Yes,
        })
    }

    fn produces(&self) -> Option<PgTypeInfo> {
        Some(self.info.clone())
    }
}
