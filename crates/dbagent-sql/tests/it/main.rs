//! The walk over many grammars: by rows, at random, and at its bounds.

// Marked as tests, so that their helpers may unwrap.
#[cfg(test)]
mod copies;
#[cfg(test)]
mod depth;
#[cfg(test)]
mod grammars;
#[cfg(test)]
mod hooks;
#[cfg(test)]
mod property;
#[cfg(test)]
mod rows;
#[cfg(test)]
mod settings;
