//! Real database servers for tests, started by the project itself.
//!
//! For two readers: `cargo xtask services`, which keeps servers for a checkout and hands their
//! addresses to the tests as environment variables, and a test that must freeze or kill a server,
//! which starts one of its own:
//!
//! ```no_run
//! let mut server = dbagent_services::Server::throwaway("postgres")?;
//! let url = server.url();
//! server.freeze()?; // every process of it stands still
//! server.thaw()?;
//! server.kill()?; // SIGKILL, and gone
//! server.restart()?; // on the same port, with the same data
//! # Ok::<(), dbagent_services::Error>(())
//! ```
//!
//! Programs are fetched through package clients (Maven, apt) into a [`Cache`] that survives; nothing
//! is installed. Every server listens on 127.0.0.1 only, with passwords of its own. There is no
//! driver in here: data and accounts come in through what each server offers before it listens.

mod cache;
mod checkout;
mod engine;
mod error;
mod instance;
mod os;
mod packages;
mod process;
mod sample;
mod script;
mod secrets;
mod services;
mod throwaway;
mod tls;

pub use cache::Cache;
pub use checkout::{Checkout, State, Status, Up};
pub use error::{Error, Result};
pub use services::{Info, info, names};
pub use throwaway::Server;
