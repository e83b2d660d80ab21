//! The mathematical functions of SQLite, for builds of it that leave them out.
//!
//! SQLite has them as a build option, its own shell has them on, and the bundled build has them off. The
//! rules are SQLite's: what is no number, or outside a function's domain, is NULL.

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Result};

type One = fn(f64) -> f64;
type Two = fn(f64, f64) -> f64;

const ONE: &[(&str, One)] = &[
    ("acos", f64::acos),
    ("acosh", f64::acosh),
    ("asin", f64::asin),
    ("asinh", f64::asinh),
    ("atan", f64::atan),
    ("atanh", f64::atanh),
    ("cos", f64::cos),
    ("cosh", f64::cosh),
    ("degrees", f64::to_degrees),
    ("exp", f64::exp),
    ("ln", logarithm),
    ("log", log10),
    ("log10", log10),
    ("log2", log2),
    ("radians", f64::to_radians),
    ("sin", f64::sin),
    ("sinh", f64::sinh),
    ("sqrt", f64::sqrt),
    ("tan", f64::tan),
    ("tanh", f64::tanh),
];

/// These keep integers as they are.
const ROUNDING: &[(&str, One)] =
    &[("ceil", f64::ceil), ("ceiling", f64::ceil), ("floor", f64::floor), ("trunc", f64::trunc)];

const TWO: &[(&str, Two)] = &[
    ("atan2", f64::atan2),
    ("log", |base, x| if base > 1.0 && x > 0.0 { x.ln() / base.ln() } else { f64::NAN }),
    ("mod", |x, y| x % y),
    ("pow", f64::powf),
    ("power", f64::powf),
];

fn positive(x: f64, f: One) -> f64 {
    if x > 0.0 { f(x) } else { f64::NAN }
}

fn logarithm(x: f64) -> f64 {
    positive(x, f64::ln)
}

fn log10(x: f64) -> f64 {
    positive(x, f64::log10)
}

fn log2(x: f64) -> f64 {
    positive(x, f64::log2)
}

/// Adds the functions unless the connection has them.
pub(crate) fn install(db: &Connection) -> Result<()> {
    // Asked this way the engine does not read the schema of the file.
    if db.prepare("SELECT sqrt(1)").is_ok() {
        return Ok(());
    }
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    for (name, f) in ONE {
        db.create_scalar_function(*name, 1, flags, move |c: &mut Context<'_>| {
            Ok(number(c.get_raw(0)).map(f).filter(|x| !x.is_nan()))
        })?;
    }
    for (name, f) in ROUNDING {
        db.create_scalar_function(*name, 1, flags, move |c: &mut Context<'_>| {
            Ok(match c.get_raw(0) {
                ValueRef::Integer(n) => Value::Integer(n),
                other => number(other).map_or(Value::Null, |x| Value::Real(f(x))),
            })
        })?;
    }
    for (name, f) in TWO {
        db.create_scalar_function(*name, 2, flags, move |c: &mut Context<'_>| {
            let both = number(c.get_raw(0)).zip(number(c.get_raw(1)));
            Ok(both.map(|(x, y)| f(x, y)).filter(|x| !x.is_nan()))
        })?;
    }
    db.create_scalar_function("pi", 0, flags, |_: &mut Context<'_>| Ok(std::f64::consts::PI))
}

/// A value as a number, if it is one or reads as one.
fn number(value: ValueRef<'_>) -> Option<f64> {
    match value {
        ValueRef::Integer(n) => Some(n as f64),
        ValueRef::Real(x) => Some(x),
        ValueRef::Text(text) => {
            let text = std::str::from_utf8(text).ok()?.trim();
            // Rust reads words as numbers that SQLite does not.
            let plain = text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
            plain.then(|| text.parse().ok()).flatten()
        }
        ValueRef::Null | ValueRef::Blob(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_compute_as_sqlite_documents() {
        let db = Connection::open_in_memory().unwrap();
        install(&db).unwrap();
        install(&db).unwrap();
        for (expression, expected) in [
            ("sqrt(9)", "3.0"),
            ("sqrt(-1)", "NULL"),
            ("sqrt('x')", "NULL"),
            ("sqrt('inf')", "NULL"),
            ("sqrt('16')", "4.0"),
            ("sqrt(NULL)", "NULL"),
            ("sqrt(x'34')", "NULL"),
            ("ceil(1.2)", "2.0"),
            ("floor(-1.2)", "-2.0"),
            ("ceil(7)", "7"),
            ("trunc(-1.7)", "-1.0"),
            ("mod(11, 3.5)", "0.5"),
            ("pow(2, 10)", "1024.0"),
            ("log(100)", "2.0"),
            ("log(2, 8)", "3.0"),
            ("log(0)", "NULL"),
            ("ln(1)", "0.0"),
            ("round(pi(), 2)", "3.14"),
            ("round(degrees(pi()))", "180.0"),
        ] {
            let found: String =
                db.query_row(&format!("SELECT quote({expression})"), [], |r| r.get(0)).unwrap();
            assert_eq!(found, expected, "{expression}");
        }
    }

    #[test]
    fn the_list_of_functions_knows_them() {
        let names = ONE.iter().chain(ROUNDING).map(|(n, _)| n).chain(TWO.iter().map(|(n, _)| n));
        for name in names.chain([&"pi"]) {
            assert!(crate::functions::effects(name).is_pure_read(), "{name}");
        }
    }
}
