//! Everything about PostgreSQL that needs the real server.

// Marked as tests, so that their helpers may unwrap.
#[cfg(test)]
mod account;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod catalogue;
#[cfg(test)]
mod door;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod extension_types;
#[cfg(test)]
mod hidden;
#[cfg(test)]
mod host;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod pooler;
#[cfg(test)]
mod proxy;
#[cfg(test)]
mod stopping;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tls;
#[cfg(test)]
mod types;
