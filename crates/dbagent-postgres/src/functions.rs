//! What Postgres' own functions do, by name.
//!
//! The lists are those of `pg_proc`, `pg_operator` and `pg_type` of the versions 15 and 18 together, by
//! name: several functions of one name count as one, and the gravest of them decides. "Stable" and
//! "immutable" are what the owner of a function claims, so they were no reason for anything: each volatile
//! and each stable function was looked at. A function that is on no list is unknown, and refused.

mod called;
mod grave;

use dbagent_core::Effects;

pub(crate) use called::{Called, Qualified};

/// Functions that only read or compute, one a line, sorted by bytes.
const READS: &str = include_str!("functions/reads.txt");
/// Operators of Postgres' own; the functions behind all of them only compute.
const OPERATORS: &str = include_str!("functions/operators.txt");
/// Types of Postgres' own, the rows of its catalogues and arrays included.
const TYPES: &str = include_str!("functions/types.txt");
/// Functions of `information_schema`, which its views call.
const INFORMATION_SCHEMA: &[&str] = &[
    "_pg_char_max_length",
    "_pg_char_octet_length",
    "_pg_datetime_precision",
    "_pg_expandarray",
    "_pg_index_position",
    "_pg_interval_type",
    "_pg_numeric_precision",
    "_pg_numeric_precision_radix",
    "_pg_numeric_scale",
    "_pg_truetypid",
    "_pg_truetypmod",
];
/// Functions that give back something of a row of any table: `users.row_to_json` calls one, where the table
/// has no column of that name.
const OF_ANY_ROW: &[&str] = &[
    "any_out",
    "any_value",
    "anycompatible_out",
    "anycompatiblenonarray_out",
    "anyelement_out",
    "anynonarray_out",
    "array_agg",
    "concat",
    "first_value",
    "hash_record",
    "json_agg",
    "json_agg_strict",
    "json_build_array",
    "json_build_object",
    "jsonb_agg",
    "jsonb_agg_strict",
    "jsonb_build_array",
    "jsonb_build_object",
    "lag",
    "last_value",
    "lead",
    "max",
    "min",
    "mode",
    "quote_literal",
    "quote_nullable",
    "record_out",
    "record_send",
    "row_to_json",
    "to_json",
    "to_jsonb",
];

/// What a list says of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    /// What it does.
    pub(crate) effects: Effects,
    /// The choice of policy that it needs.
    pub(crate) choice: Option<&'static str>,
}

/// What the function of that bare name does, as Postgres has it.
pub(crate) fn builtin(name: &str, arguments: Option<usize>) -> Option<Known> {
    const READ: Known = Known { effects: Effects::READ, choice: None };
    // With three arguments it replaces a part of a query, with two it runs a statement that is a text.
    if name == "ts_rewrite" && arguments == Some(3) {
        return Some(READ);
    }
    if let Some(grave) = grave::of(name) {
        return Some(grave);
    }
    holds(READS, name).then_some(READ)
}

/// What a function that is called by that name does, as far as the lists go.
pub(crate) fn known(name: &Qualified, arguments: Option<usize>) -> Option<Known> {
    match name.schema.as_deref() {
        None | Some("pg_catalog") => builtin(&name.name, arguments),
        Some("information_schema") => INFORMATION_SCHEMA
            .binary_search(&name.name.as_str())
            .is_ok()
            .then_some(Known { effects: Effects::READ, choice: None }),
        Some(_) => None,
    }
}

/// Whether a function of that name, called as a column is read, gives back something of the whole row.
pub(crate) fn takes_any_row(name: &str) -> bool {
    OF_ANY_ROW.binary_search(&name).is_ok()
}

/// Whether Postgres itself has an operator of that name.
pub(crate) fn is_operator(name: &Qualified) -> bool {
    matches!(name.schema.as_deref(), None | Some("pg_catalog")) && holds(OPERATORS, &name.name)
}

/// Whether Postgres itself has a type of that name.
pub(crate) fn is_type(name: &Qualified) -> bool {
    match name.schema.as_deref() {
        None | Some("pg_catalog") => holds(TYPES, &name.name),
        Some("information_schema") => true,
        Some(_) => false,
    }
}

/// Whether a sorted list has that line.
fn holds(list: &str, name: &str) -> bool {
    if name.is_empty() || name.contains('\n') {
        return false;
    }
    let (mut low, mut high) = (0, list.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let start = list.get(..middle).and_then(|l| l.rfind('\n')).map_or(0, |at| at + 1).max(low);
        let end = list.get(start..).and_then(|l| l.find('\n')).map_or(list.len(), |at| start + at);
        match list.get(start..end).unwrap_or_default().cmp(name) {
            std::cmp::Ordering::Equal => return true,
            std::cmp::Ordering::Less => low = end + 1,
            std::cmp::Ordering::Greater => high = start,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_every_line_is_found() {
        for list in [READS, OPERATORS, TYPES] {
            let lines: Vec<&str> = list.lines().collect();
            assert!(lines.is_sorted_by(|a, b| a < b));
            assert!(lines.iter().all(|l| holds(list, l)), "{:?}", lines.iter().find(|l| !holds(list, l)));
            for absent in ["", "a", "zzzz", "lowe", "lowerr", "\n", "@@@@"] {
                assert!(!holds(list, absent), "{absent:?}");
            }
        }
        assert!(INFORMATION_SCHEMA.is_sorted() && OF_ANY_ROW.is_sorted());
        assert!(OF_ANY_ROW.iter().all(|name| holds(READS, name)));
    }

    #[test]
    fn what_is_grave_is_on_no_other_list() {
        let names: Vec<&str> = grave::names().collect();
        assert!(names.len() > 150);
        for name in names {
            assert!(!holds(READS, name), "{name}");
        }
    }

    #[test]
    fn the_number_of_arguments_tells_two_functions_apart() {
        let effects = |n| builtin("ts_rewrite", n).map(|k| k.effects);
        assert_eq!(effects(Some(3)), Some(Effects::READ));
        assert!(!effects(Some(2)).is_some_and(Effects::is_pure_read));
        assert!(!effects(None).is_some_and(Effects::is_pure_read));
    }
}
