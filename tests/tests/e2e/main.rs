//! The whole road on real SQLite files: scripted models, the offline planner, hostile data, a moving file.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

mod chinook;
mod hostile;
mod limits;
mod moving;
mod support;
