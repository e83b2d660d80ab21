//! What is known of one function, and who vouches for it.

use dbagent_core::guard::Parsed;
use dbagent_core::{Effects, ObjectName};

use super::catalogue::FunctionRow;
use super::extensions;
use crate::functions::{self, Called, Qualified};
use crate::parse::{self, Limits};

/// Object ids below this are Postgres' own: it gives them out when it is compiled or set up.
pub(super) const FIRST_OF_USERS: u32 = 16_384;
/// What Postgres itself puts behind the constructors of ranges that users define.
const CONSTRUCTORS: &[&str] = &[
    "multirange_constructor0",
    "multirange_constructor1",
    "multirange_constructor2",
    "range_constructor2",
    "range_constructor3",
];

/// A function and what it does.
#[derive(Debug)]
pub(super) struct Routine {
    /// Its full name, as a policy would allow it.
    pub(super) name: String,
    pub(super) verdict: Verdict,
    /// The table whose row it takes first.
    pub(super) row_of: Option<ObjectName>,
    /// Whether it takes a value of any type first.
    pub(super) any_row: bool,
}

/// What is made of a function by itself.
#[derive(Debug)]
pub(super) enum Verdict {
    /// Postgres' own, as the lists have it.
    Own(Effects),
    /// Somebody vouches for it.
    Vouched(String),
    /// It does what its body does.
    Body(Box<Parsed>),
    /// An aggregate: it does what these functions do.
    Parts(Vec<u32>),
    /// Nobody vouches for it, and why.
    Unknown(String),
}

impl Routine {
    /// Judges a function by what the catalogue says of it.
    pub(super) fn of(row: &FunctionRow, limits: Limits) -> Self {
        let own = row.oid < FIRST_OF_USERS;
        let name = if own { Qualified::within("pg_catalog", &*row.name.name) } else { row.name.clone() };
        let verdict = if own {
            let known = functions::known(&row.name, Some(row.arguments));
            Verdict::Own(match known {
                Some(known) if known.choice.is_none() => known.effects,
                // A choice is made for what a statement says, not for what stands behind it.
                _ => Effects::UNKNOWN,
            })
        } else {
            of_user(row, limits)
        };
        let name = Called::Function(name).to_string();
        Self { name, verdict, row_of: row.row_of.clone(), any_row: row.any_row }
    }
}

fn of_user(row: &FunctionRow, limits: Limits) -> Verdict {
    if let Some(extension) = &row.extension
        && let Some(why) = extensions::vouches(extension, &row.name.name, &row.language, &row.volatility)
    {
        return Verdict::Vouched(why);
    }
    if row.language == "internal" && CONSTRUCTORS.binary_search(&row.source.as_str()).is_ok() {
        return Verdict::Vouched("the constructor of a range".to_owned());
    }
    if row.kind == "a" {
        return Verdict::Parts(row.parts.clone());
    }
    let unknown = |why: &str| Verdict::Unknown(why.to_owned());
    if row.kind != "f" {
        return unknown("it is a window function or a procedure of a user");
    }
    if row.language != "sql" {
        return Verdict::Unknown(format!("it is written in {}, which nobody can look into", row.language));
    }
    if row.definer {
        return unknown("it runs with the rights of its owner (SECURITY DEFINER)");
    }
    if row.configured {
        return unknown("it changes settings while it runs");
    }
    match row.definition.as_deref().and_then(|text| parse::function_body(text, limits)) {
        Some(body) => Verdict::Body(Box::new(body)),
        None => unknown("its body cannot be read"),
    }
}
