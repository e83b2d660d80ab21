//! Tests for dialects, and models and databases for tests.
//!
//! For **authors of a dialect**, in this repository or their own: one line runs the whole conformance
//! suite, see [`dialect_conformance!`] and [`conformance`]; the guide is `docs/dialect-authors.md`. For
//! **whoever tests an agent**: [`model::ScriptedModel`] says what a test wrote down,
//! [`model::CassetteModel`] replays what a real model said, and [`documents::sample`] is a database that
//! needs no driver.

pub mod conformance;
pub mod documents;
pub mod fuzz;
pub mod model;
