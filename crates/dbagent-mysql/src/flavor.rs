//! What makes the shared code speak MySQL.

use dbagent_mysql_common::flavor::{Flavor, Server};

use crate::functions::{FUNCTIONS, SINCE};

/// MySQL: its grammar and its functions.
pub const FLAVOR: Flavor = Flavor::new(Server::MySql, &FUNCTIONS, SINCE);
