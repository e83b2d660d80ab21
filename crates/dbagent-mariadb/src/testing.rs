//! For tests: the hardened connection with the guard out of the way, and a connection of an owner. In no
//! release build: the feature `testing` opens the door.

use dbagent_core::context::CallContext;
use dbagent_core::{Result, Target};
use dbagent_mysql_common::flavor::Server;
pub use dbagent_mysql_common::testing::{Owner, RawHardened, Scratch};

/// Opens the hardened read connection of a target without a guard before it.
///
/// # Errors
/// As opening a session on it.
pub async fn raw_hardened(target: &Target, call: &CallContext) -> Result<RawHardened> {
    dbagent_mysql_common::testing::raw_hardened(Server::MariaDb, target, call).await
}

/// Connects as an owner, with nothing hardened.
///
/// # Errors
/// As opening a session.
pub async fn owner(url: &str) -> Result<Owner> {
    Owner::connect(Server::MariaDb, url).await
}

/// Makes a scratch database of a [fresh name](Scratch::fresh_name) with the rights of the owner whose URL this
/// is.
///
/// # Errors
/// As connecting, and what the server says.
pub async fn scratch(owner: &str, name: String) -> Result<Scratch> {
    Scratch::named(Server::MariaDb, owner, name).await
}
