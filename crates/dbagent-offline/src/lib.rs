//! For people who try dbagent without a network and without a key, and for tests that need a model whose
//! answers are the same every time: a planner behind the [`Model`](dbagent_core::model::Model) trait that
//! answers plain English questions about any SQL database with a fixed set of rules.
//!
//! [`Offline`] is no language model and does not pretend to be one. It reads the schema through the agent's
//! tools, links the words of a question to tables, columns and values, builds one query, and says in its
//! answer how it understood the question. Where it is not sure it says so instead of guessing.

mod answer;
mod compile;
mod followup;
mod intent;
mod knowledge;
mod link;
mod meaning;
mod plan;
mod planner;
mod schema;
mod sql;
mod structured;
mod survey;
mod talk;
mod tools;
mod understand;
mod values;
mod words;

pub use planner::Offline;
