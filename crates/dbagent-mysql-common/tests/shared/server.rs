//! A dialect and its server, as the tests of both name them: by the crate and the variables that `own` says.

use dbagent_core::{Dialect, Result, Session, Target};
use dbagent_mysql_common::sqlx::MySqlPool;
use dbagent_mysql_common::testing::Owner;

use super::{VARIABLES, dialect};

pub(crate) use dialect::testing::{Scratch, raw_hardened, scratch};

/// The dialect that is tested.
pub(crate) static DIALECT: &Dialect = &dialect::DIALECT;

/// An owner's connection.
pub(crate) async fn owner(url: &str) -> Result<Owner> {
    dialect::testing::owner(url).await
}

/// A session over a pool of the host's.
pub(crate) async fn from_pool(pool: MySqlPool, target: &Target) -> Result<Box<dyn Session>> {
    dialect::from_pool(pool, target).await
}

/// The URL of an owner, or why there is none.
pub(crate) fn owner_url() -> Result<String, String> {
    variable("URL")
}

/// The variable of that name about this server, or why there is none.
pub(crate) fn variable(name: &str) -> Result<String, String> {
    let name = format!("{VARIABLES}{name}");
    std::env::var(&name).map_err(|_| format!("{name} is not set"))
}
