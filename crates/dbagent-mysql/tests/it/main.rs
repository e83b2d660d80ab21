//! Everything that needs a real server. The tests are shared by both dialects.

// Marked as tests, so that their helpers may unwrap.
#[cfg(test)]
#[path = "../../../dbagent-mysql-common/tests/it/mod.rs"]
mod it;
#[cfg(test)]
mod only;
#[cfg(test)]
#[path = "../own/mod.rs"]
mod own;
