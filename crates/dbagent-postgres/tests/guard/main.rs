//! The guard of Postgres: what is judged how, and what the real server says to it.

// Marked as tests, so that their helpers may unwrap.
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod depth;
#[cfg(test)]
mod door;
#[cfg(test)]
mod extensions;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod json_casts;
#[cfg(test)]
mod lists;
#[cfg(test)]
mod live;
#[cfg(test)]
mod overloads;
#[cfg(test)]
mod spatial;
#[cfg(test)]
mod state;
#[cfg(test)]
mod support;
#[cfg(test)]
mod unseen;
