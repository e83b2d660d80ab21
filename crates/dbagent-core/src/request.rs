//! What the model asks a database to do, before anyone has judged it.

use base64::Engine as _;
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::json::Json;

/// The body of a request, in the database's own language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestBody {
    /// Text such as SQL or Cypher. What runs is exactly these bytes.
    Text(String),
    /// The normal form of a JSON request. What runs is an encoding of the judged tree.
    JsonText(String),
}

/// A request: a body and the values bound to its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The text or JSON text.
    pub body: RequestBody,
    /// Values by position, or by name for languages that name them.
    #[serde(default)]
    pub params: Params,
}

/// The values of a request's parameters.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Params {
    /// There are none.
    #[default]
    None,
    /// By position, from 1.
    Positional(Vec<Param>),
    /// By name, without the marker.
    Named(Vec<(String, Param)>),
}

impl Params {
    /// How many values there are.
    pub fn len(&self) -> usize {
        match self {
            Params::None => 0,
            Params::Positional(v) => v.len(),
            Params::Named(v) => v.len(),
        }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One value bound to a parameter; never part of the text.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Param {
    /// NULL.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer.
    I64(i64),
    /// A double; finite.
    F64(f64),
    /// A text.
    Text(String),
    /// `{"$decimal": "12.50"}`: an exact number as text.
    Decimal(String),
    /// `{"$date": "2024-05-01"}` or a date-time in ISO 8601.
    Date(String),
    /// `{"$bytes": "…"}`: binary, base64 in JSON.
    Bytes(Vec<u8>),
    /// `{"$uuid": "…"}`: 36 characters, lower case.
    Uuid(String),
}

impl std::fmt::Debug for Param {
    /// Says the type and the length, not the value: bound values may be personal data.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Param::Null => f.write_str("null"),
            Param::Bool(_) => f.write_str("bool"),
            Param::I64(_) => f.write_str("i64"),
            Param::F64(_) => f.write_str("f64"),
            Param::Text(t) => write!(f, "text({} bytes)", t.len()),
            Param::Decimal(_) => f.write_str("decimal"),
            Param::Date(_) => f.write_str("date"),
            Param::Bytes(b) => write!(f, "bytes({})", b.len()),
            Param::Uuid(_) => f.write_str("uuid"),
        }
    }
}

impl Request {
    /// A request of text without parameters.
    pub fn text(text: impl Into<String>) -> Self {
        Self { body: RequestBody::Text(text.into()), params: Params::None }
    }

    /// A request of JSON text (a normal form) without parameters.
    pub fn json(text: impl Into<String>) -> Self {
        Self { body: RequestBody::JsonText(text.into()), params: Params::None }
    }

    /// The same request with these parameters.
    pub fn with_params(mut self, params: Params) -> Self {
        self.params = params;
        self
    }

    /// The body's text, whichever form it has.
    pub fn as_str(&self) -> &str {
        match &self.body {
            RequestBody::Text(t) | RequestBody::JsonText(t) => t,
        }
    }
}

impl Params {
    /// Reads an array (positional) or an object (named) of values.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] with the path of the first value that is not a parameter.
    pub fn from_json(json: &Json) -> Result<Params> {
        match json {
            Json::Null => Ok(Params::None),
            Json::Array(items) => {
                let mut values = Vec::with_capacity(items.len());
                for (i, item) in items.iter().enumerate() {
                    values
                        .push(Param::from_json(item).map_err(|e| e.with("path", format!("$.params[{i}]")))?);
                }
                Ok(if values.is_empty() { Params::None } else { Params::Positional(values) })
            }
            Json::Object(members) => {
                let mut values = Vec::with_capacity(members.len());
                for (key, item) in members {
                    let value =
                        Param::from_json(item).map_err(|e| e.with("path", format!("$.params.{key}")))?;
                    values.push((key.clone(), value));
                }
                Ok(if values.is_empty() { Params::None } else { Params::Named(values) })
            }
            other => Err(Error::new(
                ErrorKind::InvalidRequest,
                format!("params must be an array or an object, not a {}", other.type_name()),
            )
            .with("path", "$.params")),
        }
    }
}

impl Param {
    /// Reads null, a boolean, a number, a text, or one of the tagged forms.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] for an array, an object with an unknown tag, an integer beyond 64 bits
    /// (use `$decimal`), or a tagged value of the wrong form.
    pub fn from_json(json: &Json) -> Result<Param> {
        let bad = |m: String| Error::new(ErrorKind::InvalidRequest, m);
        Ok(match json {
            Json::Null => Param::Null,
            Json::Bool(b) => Param::Bool(*b),
            Json::String(s) => Param::Text(s.clone()),
            Json::Number(n) => {
                if n.contains(['.', 'e', 'E']) {
                    let value: f64 = n.parse().unwrap_or(f64::INFINITY);
                    if !value.is_finite() {
                        return Err(bad(format!("{n} is beyond a double; use {{\"$decimal\": \"{n}\"}}")));
                    }
                    Param::F64(value)
                } else {
                    Param::I64(
                        n.parse().map_err(|_| {
                            bad(format!("{n} is beyond 64 bits; use {{\"$decimal\": \"{n}\"}}"))
                        })?,
                    )
                }
            }
            Json::Array(_) => return Err(bad("a parameter is one value, not an array".into())),
            Json::Object(members) => {
                let [(tag, value)] = members.as_slice() else {
                    return Err(bad(
                        "a tagged parameter has exactly one member, such as {\"$date\": \"2024-05-01\"}"
                            .into(),
                    ));
                };
                let Some(text) = value.as_str() else {
                    return Err(bad(format!("{tag} takes a text, not a {}", value.type_name())));
                };
                match tag.as_str() {
                    "$decimal" if is_decimal(text) => Param::Decimal(text.to_owned()),
                    "$date" if is_date(text) => Param::Date(text.to_owned()),
                    "$uuid" if is_uuid(text) => Param::Uuid(text.to_ascii_lowercase()),
                    "$bytes" => Param::Bytes(
                        base64::engine::general_purpose::STANDARD
                            .decode(text)
                            .map_err(|e| bad(format!("$bytes is not base64: {e}")))?,
                    ),
                    "$decimal" => {
                        return Err(bad("$decimal takes digits with an optional sign and point".into()));
                    }
                    "$date" => {
                        return Err(bad("$date takes YYYY-MM-DD, optionally followed by THH:MM:SS".into()));
                    }
                    "$uuid" => return Err(bad("$uuid takes 8-4-4-4-12 hexadecimal digits".into())),
                    other => {
                        return Err(bad(format!(
                            "unknown tag {other:?}; known are $decimal, $date, $bytes, $uuid"
                        )));
                    }
                }
            }
        })
    }
}

fn is_decimal(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let all = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    all(whole) && all(fraction) && text.len() <= 1_100
}

fn is_date(text: &str) -> bool {
    let shape = |pattern: &str, text: &str| {
        pattern.len() == text.len()
            && pattern
                .bytes()
                .zip(text.bytes())
                .all(|(p, b)| if p == b'0' { b.is_ascii_digit() } else { p == b })
    };
    let (date, time) = match text.split_once(['T', ' ']) {
        Some((d, t)) => (d, Some(t)),
        None => (text, None),
    };
    let within = |range: std::ops::Range<usize>, low: u32, high: u32| {
        date.get(range).and_then(|p| p.parse().ok()).is_some_and(|n: u32| (low..=high).contains(&n))
    };
    let date_ok = shape("0000-00-00", date) && within(5..7, 1, 12) && within(8..10, 1, 31);
    let time_ok = time.is_none_or(|t| {
        let t = t.strip_suffix('Z').unwrap_or(t);
        let t = match t.find(['+', '-']) {
            Some(i) => match (t.get(..i), t.get(i + 1..)) {
                (Some(head), Some(zone)) if shape("00:00", zone) || shape("00", zone) => head,
                _ => return false,
            },
            None => t,
        };
        let (clock, fraction) = t.split_once('.').unwrap_or((t, "0"));
        (shape("00:00:00", clock) || shape("00:00", clock))
            && !fraction.is_empty()
            && fraction.len() <= 9
            && fraction.bytes().all(|b| b.is_ascii_digit())
    });
    date_ok && time_ok
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::JsonLimits;

    fn param(text: &str) -> Result<Param> {
        Param::from_json(&Json::parse(text, JsonLimits::default()).unwrap())
    }

    #[test]
    fn tagged_values_are_read() {
        assert_eq!(param("{\"$decimal\":\"-12.50\"}").unwrap(), Param::Decimal("-12.50".into()));
        assert_eq!(param("{\"$bytes\":\"AAE=\"}").unwrap(), Param::Bytes(vec![0, 1]));
        assert_eq!(
            param("{\"$date\":\"2024-05-01T10:00:00.5+02:00\"}").unwrap(),
            Param::Date("2024-05-01T10:00:00.5+02:00".into())
        );
        assert_eq!(
            param("{\"$uuid\":\"F47AC10B-58CC-4372-A567-0E02B2C3D479\"}").unwrap(),
            Param::Uuid("f47ac10b-58cc-4372-a567-0e02b2c3d479".into())
        );
        assert_eq!(param("9223372036854775807").unwrap(), Param::I64(i64::MAX));
    }

    #[test]
    fn what_is_no_parameter_is_refused() {
        for text in [
            "[1]",
            "{}",
            "{\"$where\":\"1\"}",
            "{\"$date\":\"2024-13-01\"}",
            "{\"$date\":\"today\"}",
            "{\"$bytes\":\"*\"}",
            "{\"$decimal\":\"1e5\"}",
            "9223372036854775808",
            "1e999",
            "{\"$uuid\":\"x\"}",
            "{\"$date\":1}",
        ] {
            let e = param(text).unwrap_err();
            assert_eq!(e.kind(), ErrorKind::InvalidRequest, "{text}");
        }
    }

    #[test]
    fn values_do_not_show_in_debug() {
        let text = format!("{:?}", Param::Text("canary".into()));
        assert!(!text.contains("canary"));
    }
}
