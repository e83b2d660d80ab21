//! Everything about SQLite that needs the real engine.

// Marked as tests, so that their helpers may unwrap.
#[cfg(test)]
mod account;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod catalogue;
#[cfg(test)]
mod columns;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod door;
#[cfg(test)]
mod feedback;
#[cfg(test)]
mod files;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod grammar;
#[cfg(test)]
mod host;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod reads;
#[cfg(test)]
mod stopping;
#[cfg(test)]
mod support;
#[cfg(test)]
mod types;
