//! Everything about SQLite that needs the real engine.

mod corpus;
mod reads;
mod support;
