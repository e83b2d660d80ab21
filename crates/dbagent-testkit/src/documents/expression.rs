//! Values: how they compare, and the closed list of functions over them.

use std::cmp::Ordering;

use dbagent_core::json::Json;
use dbagent_core::{Error, ErrorKind, Result};

use super::engine::values;
use super::language::Expression;

/// Functions that the engine has. All of them only compute.
pub(super) const FUNCTIONS: &[&str] = &["$add", "$subtract", "$multiply", "$divide", "$concat", "$size"];
/// Accumulators that the engine has.
pub(super) const ACCUMULATORS: &[&str] = &["$sum", "$avg", "$min", "$max"];

/// The value of an expression over a document; a field that is not there is null.
pub(super) fn value(document: &Json, expression: &Expression) -> Result<Json> {
    Ok(match expression {
        Expression::Literal(json) => json.clone(),
        Expression::Field(path) => match values(document, path).as_slice() {
            [] => Json::Null,
            [one] => (*one).clone(),
            several => Json::Array(several.iter().map(|v| (*v).clone()).collect()),
        },
        Expression::Call(name, arguments) => {
            let arguments: Vec<Json> =
                arguments.iter().map(|argument| value(document, argument)).collect::<Result<_>>()?;
            call(name, &arguments)?
        }
    })
}

fn call(name: &str, arguments: &[Json]) -> Result<Json> {
    let wrong = |what: &str| Err(Error::new(ErrorKind::Data, format!("{name} {what}")));
    if !FUNCTIONS.contains(&name) {
        return Err(Error::new(ErrorKind::UnknownFunction, format!("there is no function {name}")));
    }
    if name == "$size" {
        return match arguments {
            [Json::Array(items)] => Ok(Json::Number(items.len().to_string())),
            _ => wrong("takes a list"),
        };
    }
    if arguments.contains(&Json::Null) {
        return Ok(Json::Null);
    }
    if name == "$concat" {
        let texts: Option<Vec<&str>> = arguments.iter().map(Json::as_str).collect();
        return match texts {
            Some(texts) => Ok(Json::String(texts.concat())),
            None => wrong("takes texts"),
        };
    }
    let mut left = arguments.iter();
    let Some(first) = left.next() else { return wrong("takes numbers") };
    left.try_fold(first.clone(), |sum, next| arithmetic(name, &sum, next))
}

/// Whole numbers stay whole; what does not fit is an error, never a wrong number.
pub(super) fn arithmetic(name: &str, left: &Json, right: &Json) -> Result<Json> {
    let wrong = |what: &str| Error::new(ErrorKind::Data, format!("{name} {what}"));
    if let (Some(a), Some(b)) = (left.as_i64(), right.as_i64()) {
        let whole = match name {
            "$add" => a.checked_add(b),
            "$subtract" => a.checked_sub(b),
            "$multiply" => a.checked_mul(b),
            _ if b == 0 => return Err(wrong("divides by zero")),
            _ if a % b == 0 => a.checked_div(b),
            _ => return number(a as f64 / b as f64).ok_or_else(|| wrong("overflows")),
        };
        return whole.map(|n| Json::Number(n.to_string())).ok_or_else(|| wrong("overflows"));
    }
    let (Some(a), Some(b)) = (left.as_f64(), right.as_f64()) else { return Err(wrong("takes numbers")) };
    let result = match name {
        "$add" => a + b,
        "$subtract" => a - b,
        "$multiply" => a * b,
        _ if b == 0.0 => return Err(wrong("divides by zero")),
        _ => a / b,
    };
    number(result).ok_or_else(|| wrong("overflows"))
}

/// A double as JSON, where JSON has it.
pub(super) fn number(x: f64) -> Option<Json> {
    x.is_finite().then(|| Json::Number(format!("{x:?}")))
}

/// The order of values: by kind first, then by value. Whole numbers compare exactly.
pub(super) fn compare(a: &Json, b: &Json) -> Ordering {
    match (a, b) {
        (Json::Bool(a), Json::Bool(b)) => a.cmp(b),
        (Json::String(a), Json::String(b)) => a.cmp(b),
        (Json::Number(_), Json::Number(_)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => a.as_f64().unwrap_or(f64::NAN).total_cmp(&b.as_f64().unwrap_or(f64::NAN)),
        },
        (Json::Array(a), Json::Array(b)) => a
            .iter()
            .zip(b)
            .map(|(a, b)| compare(a, b))
            .find(|order| order.is_ne())
            .unwrap_or_else(|| a.len().cmp(&b.len())),
        (Json::Object(_), Json::Object(_)) => a.to_string().cmp(&b.to_string()),
        _ => rank(a).cmp(&rank(b)),
    }
}

fn rank(json: &Json) -> u8 {
    match json {
        Json::Null => 0,
        Json::Number(_) => 1,
        Json::String(_) => 2,
        Json::Object(_) => 3,
        Json::Array(_) => 4,
        Json::Bool(_) => 5,
    }
}

/// Whether both are of one kind, so that more and less mean something.
pub(super) fn comparable(a: &Json, b: &Json) -> bool {
    rank(a) == rank(b)
}
