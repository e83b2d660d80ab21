//! Lets a language model work with a real database, safely.
//!
//! For Rust programs that embed a database agent. You give it a URL and a question; it explores the
//! schema, writes queries in the database's own language, runs them under limits that no prompt can lift,
//! and answers.
//!
//! ```no_run
//! # async fn f() -> dbagent::Result<()> {
//! let agent = dbagent::LightAgent::builder().url("sqlite:///chinook.db").build()?;
//! let answer = agent.ask("Which five artists have the most albums?").await?;
//! println!("{}", answer.text);
//! # Ok(())
//! # }
//! ```
//!
//! Each database is a feature: `sqlite`, `duckdb`, `postgres`, `mysql`, `mariadb`. So are the models: `openai` (any OpenAI-compatible server) and
//! `offline` (a deterministic planner that needs no network). The default is none; `full` is all.
//!
//! The building blocks are re-exported from [`dbagent_core`]: the guarded session without any model, the
//! guard alone, the contracts of dialects, models, tools, middleware and stores.

mod light;

pub use dbagent_core::*;

pub use light::{LightAgent, LightAgentBuilder};

/// DuckDB files, and folders of Parquet, CSV and JSON files.
#[cfg(feature = "duckdb")]
pub use dbagent_duckdb as duckdb;
/// MariaDB.
#[cfg(feature = "mariadb")]
pub use dbagent_mariadb as mariadb;
/// MySQL.
#[cfg(feature = "mysql")]
pub use dbagent_mysql as mysql;
/// The deterministic planner that needs no network and no key.
#[cfg(feature = "offline")]
pub use dbagent_offline as offline;
/// Any OpenAI-compatible model server.
#[cfg(feature = "openai")]
pub use dbagent_openai as openai;
/// PostgreSQL.
#[cfg(feature = "postgres")]
pub use dbagent_postgres as postgres;
/// SQLite.
#[cfg(feature = "sqlite")]
pub use dbagent_sqlite as sqlite;

// A crate that no source names is not linked and registers nothing.
#[cfg(feature = "duckdb")]
use dbagent_duckdb as _;
#[cfg(feature = "mariadb")]
use dbagent_mariadb as _;
#[cfg(feature = "mysql")]
use dbagent_mysql as _;
#[cfg(feature = "postgres")]
use dbagent_postgres as _;
#[cfg(feature = "sqlite")]
use dbagent_sqlite as _;

/// The dialects that this build was made with, by feature.
pub const BUILT_WITH: &[&str] = &[
    #[cfg(feature = "duckdb")]
    "duckdb",
    #[cfg(feature = "mariadb")]
    "mariadb",
    #[cfg(feature = "mysql")]
    "mysql",
    #[cfg(feature = "postgres")]
    "postgres",
    #[cfg(feature = "sqlite")]
    "sqlite",
];

/// The program in the crate's README compiles.
#[cfg(all(doctest, feature = "offline"))]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests {
    #[test]
    fn every_feature_is_registered() {
        let registry = dbagent_core::Registry::collected().unwrap();
        assert_eq!(registry.ids(), super::BUILT_WITH);
    }
}
