//! What makes the shared code speak MariaDB.

use dbagent_mysql_common::flavor::{Flavor, Server};

use crate::functions::{FUNCTIONS, SINCE};

/// MariaDB: its grammar and its functions.
pub const FLAVOR: Flavor = Flavor::new(Server::MariaDb, &FUNCTIONS, SINCE);
