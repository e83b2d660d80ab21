//! Constants that ask for unreasonable sizes. The engine's memory limit does not count texts, so that
//! nothing else stops them.

use serde_json::Value;

use super::engine::Node;
use super::walk::{items, member, text};

/// Bytes, or elements of a list, that constants may ask for.
const MAX: f64 = (16 << 20) as f64;
/// How deep constant arithmetic is followed.
const MAX_DEPTH: usize = 32;

/// Says what is too large about a call, if anything is.
pub(super) fn too_large(function: &str, node: &Node) -> Option<String> {
    let size = size_of_call(function, node, 0)?;
    (size > MAX).then(|| format!("{function} is asked for about {size:.0} bytes, at most {MAX:.0} are made"))
}

fn argument(node: &Node, index: usize) -> Option<&Node> {
    items(node, "arguments").get(index).and_then(Value::as_object).and_then(|a| member(a, "expression"))
}

/// The size that a call makes at least, where constants tell.
fn size_of_call(function: &str, node: &Node, depth: usize) -> Option<f64> {
    let is = |names: &[&str]| names.iter().any(|n| function.eq_ignore_ascii_case(n));
    let number = |index: usize| argument(node, index).and_then(|a| constant(a, depth)).map(f64::abs);
    if is(&["repeat"]) {
        Some(number(1)? * argument(node, 0).and_then(|a| size(a, depth)).unwrap_or(1.0))
    } else if is(&["lpad", "rpad", "bitstring", "list_resize", "array_resize"]) {
        number(1)
    } else if is(&["range", "generate_series"]) {
        // A list of eight bytes each. With a step there are fewer; one of dates has no number.
        let (first, last) = (number(0)?, number(1).unwrap_or(0.0));
        Some(first.max(last) * 8.0 / number(2).unwrap_or(1.0).max(1.0))
    } else if is(PRODUCTS) {
        // A table with a row for each letter of the one and a column for each of the other.
        let of = |index: usize| argument(node, index).and_then(|a| size(a, depth));
        Some(of(0)? * of(1)?)
    } else if is(&["printf", "format"]) {
        let pattern = argument(node, 0).and_then(constant_text)?;
        let written = pattern.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<f64>().ok());
        // A width may stand behind the pattern (`%*d`, `{:{}}`). Which argument is one is not worth telling: a
        // constant of that size is none of anything else.
        let behind = pattern.contains('*') || pattern.matches('{').count() > pattern.matches("{}").count();
        let given = (1..items(node, "arguments").len()).filter_map(|i| number(i).filter(|_| behind));
        written.chain(given).reduce(f64::max)
    } else {
        None
    }
}

/// Functions that compare two texts in memory that grows with the product of their lengths.
const PRODUCTS: &[&str] = &["damerau_levenshtein"];

/// The size of a value, where it is a constant or made from constants.
fn size(node: &Node, depth: usize) -> Option<f64> {
    if depth > MAX_DEPTH {
        return None;
    }
    match text(node, "class") {
        "CONSTANT" => constant_text(node).map(|t| t.len() as f64),
        "CAST" => size(member(node, "child")?, depth + 1),
        "FUNCTION" => size_of_call(text(node, "function_name"), node, depth + 1),
        _ => None,
    }
}

fn constant_text(node: &Node) -> Option<&str> {
    member(node, "literal").filter(|l| text(l, "kind") == "STRING").map(|l| text(l, "text"))
}

/// The value of an expression of constants.
fn constant(node: &Node, depth: usize) -> Option<f64> {
    if depth > MAX_DEPTH {
        return None;
    }
    match text(node, "class") {
        "CONSTANT" => {
            let literal = text(member(node, "literal")?, "text").replace('_', "");
            literal.trim().parse().ok()
        }
        "CAST" => constant(member(node, "child")?, depth + 1),
        "FUNCTION" => {
            let of = |index: usize| argument(node, index).and_then(|a| constant(a, depth + 1));
            let first = of(0)?;
            match (text(node, "function_name"), of(1)) {
                ("-", None) => Some(-first),
                ("+", None) => Some(first),
                ("+", Some(second)) => Some(first + second),
                ("-", Some(second)) => Some(first - second),
                ("*", Some(second)) => Some(first * second),
                ("/" | "//", Some(second)) => Some(first / second),
                ("**" | "^" | "pow" | "power", Some(second)) => Some(first.powf(second)),
                ("<<", Some(second)) => Some(first * second.exp2()),
                _ => None,
            }
        }
        _ => None,
    }
}
