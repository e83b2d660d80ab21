//! Everything about PostgreSQL that needs the real server.

// Marked as tests, so that their helpers may unwrap.
#[cfg(test)]
mod support;
#[cfg(test)]
mod types;
