//! Which of the two servers it is, and what differs between them.

use dbagent_core::NameCase;
use dbagent_sql::{FunctionTable, SqlGrammar};

use crate::functions::Since;
use crate::parse;

/// One of the two servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Server {
    /// Oracle's MySQL and what is built from its source.
    MySql,
    /// MariaDB.
    MariaDb,
}

/// Which server it is, and what its grammar and its list of functions are: a plain value, one in each dialect
/// crate.
#[derive(Debug, Clone, Copy)]
pub struct Flavor {
    server: Server,
    grammar: SqlGrammar,
    since: &'static [Since],
}

impl Flavor {
    /// How both servers compare the names of columns, and how the names in policies are compared. Tables may
    /// be told apart by case (`lower_case_table_names`); a rule then means all that differ in case alone.
    pub const NAME_CASE: NameCase = NameCase::Insensitive;

    /// A server with its functions, put over [`SHARED`](crate::functions::SHARED), and the versions that first
    /// or last had one of them.
    pub const fn new(server: Server, functions: &'static FunctionTable, since: &'static [Since]) -> Self {
        Self { server, grammar: parse::grammar(server, functions), since }
    }

    /// Which server it is.
    pub const fn server(&self) -> Server {
        self.server
    }

    /// The name of the server, as people write it.
    pub const fn name(&self) -> &'static str {
        match self.server {
            Server::MySql => "MySQL",
            Server::MariaDb => "MariaDB",
        }
    }

    /// Whether it is MariaDB.
    pub const fn is_mariadb(&self) -> bool {
        matches!(self.server, Server::MariaDb)
    }

    pub(crate) const fn grammar(&self) -> &SqlGrammar {
        &self.grammar
    }

    pub(crate) const fn since(&self) -> &'static [Since] {
        self.since
    }
}
