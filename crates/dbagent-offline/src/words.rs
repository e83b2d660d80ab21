//! Words: how a question and an identifier are cut into them, and when two words mean the same.

mod form;
mod identifier;
mod lexicon;
mod number;
mod token;

pub(crate) use form::{plural, singular, stem};
pub(crate) use identifier::{Label, label, pieces, spoken};
pub(crate) use lexicon::{demonym, place_names, same_meaning};
pub(crate) use number::{number_word, ordinal};
pub(crate) use token::{Kind, Token, tokens};
/// The names of the months, in their order.
pub(crate) const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
