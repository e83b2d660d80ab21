//! Tests for dialects, and models and databases for tests.
//!
//! For **authors of a dialect**, in this repository or their own: one line runs the whole conformance
//! suite, see `docs/dialect-authors.md`. For **whoever tests an agent**:
//! [`model::ScriptedModel`] says what a test wrote down, [`model::CassetteModel`] replays what a real model
//! said.

pub mod conformance;
pub mod documents;
pub mod model;
