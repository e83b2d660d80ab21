//! For people who try dbagent without a network and without a key, and for tests that need a model whose
//! answers are the same every time: a planner behind the [`Model`](dbagent_core::model::Model) trait that
//! answers plain English questions about any SQL database with a fixed set of rules.
//!
//! [`Offline`] is no language model and does not pretend to be one. It reads the schema through the agent's
//! tools, links the words of a question to tables, columns and values, builds one query, and says in its
//! answer how it understood the question. Where it is not sure it says so instead of guessing.
//!
//! # How it works
//!
//! A reply is a pure function of the messages: observations of earlier calls are its only memory, so it works
//! on a thread that another process began. Each reply either asks for the next calls it needs (the schema,
//! values that words of the question may name, the one query) or answers. On the way, words become chunks
//! with their possible readings, a small grammar puts them together, the result is resolved into tables,
//! columns, conditions and figures, and that is printed as one statement with bound parameters. Before it
//! runs, every word of the question is accounted for: each number, text, date, comparison, superlative,
//! negation, order and name claims its place in the finished plan. Whatever has none ends in "I am not sure",
//! which names the word.

mod account;
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
