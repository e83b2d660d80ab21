//! PgBouncer in transaction mode before the newest PostgreSQL, Debian's build of it.

use std::path::PathBuf;
use std::process::Command;

use crate::cache::Cache;
use crate::engine::{Account, Engine, Ground, Home, Record};
use crate::error::{Error, Result};
use crate::os::{self, Signal};
use crate::packages::Package;
use crate::packages::debian::DebianProgram;
use crate::sample;

/// PgBouncer.
pub(super) struct PgBouncer;

const PROGRAM: DebianProgram = DebianProgram {
    suite: "bookworm",
    package: "pgbouncer",
    with: &[],
    without: &[],
    program: "usr/sbin/pgbouncer",
    prune: &[],
};

/// Accounts that come in through it. The others are told apart by how they connect, which it hides.
const ACCOUNTS: [(Account, &str); 3] =
    [(Account::Owner, "postgres"), (Account::Reader, "dbagent_reader"), (Account::Nobody, "dbagent_nobody")];

const CONFIGURATION: &str = "pgbouncer.ini";
const USERS: &str = "users.txt";

impl Engine for PgBouncer {
    fn users(&self) -> &'static [&'static str] {
        &["postgres", "nobody"]
    }

    fn package(&self) -> String {
        PROGRAM.folder()
    }

    fn fetch(&self, cache: &Cache) -> Result<Package> {
        PROGRAM.fetch(cache)
    }

    fn configure(&self, ground: &Ground<'_>, home: &Home, record: &Record) -> Result<()> {
        let mut users = String::new();
        for (account, login) in ACCOUNTS {
            users += &format!("\"{login}\" \"{}\"\n", record.password(account)?);
        }
        os::write_private(&home.file(USERS), &users, ground.user)?;
        let upstream =
            record.get("upstream").ok_or_else(|| Error::new("there is no server behind the pooler"))?;
        let text = configuration(upstream, record.port(), &home.file(USERS).display().to_string());
        os::write_private(&home.file(CONFIGURATION), &text, ground.user)
    }

    fn marker(&self, home: &Home) -> PathBuf {
        home.file(CONFIGURATION)
    }

    fn command(&self, ground: &Ground<'_>, home: &Home, _: &Record) -> Result<Command> {
        let mut command = PROGRAM.command(ground.package)?;
        command.arg(home.file(CONFIGURATION));
        Ok(command)
    }

    fn is_ready(&self, _: &Home, _: &Record, _: u32, log: &str) -> bool {
        log.contains("process up: ")
    }

    fn stop_signal(&self) -> Signal {
        Signal::Terminate
    }

    fn variables(&self, _: &Home, record: &Record) -> Result<Vec<(&'static str, String)>> {
        let mut variables = Vec::new();
        for (account, login) in ACCOUNTS {
            let (password, port) = (record.password(account)?, record.port());
            variables.push((
                account.variable(),
                format!("postgres://{login}:{password}@127.0.0.1:{port}/{}", sample::DATABASE),
            ));
        }
        Ok(variables)
    }
}

/// Start-up parameters that it does not know are refused, as where nobody thought of our client.
fn configuration(upstream: &str, port: u16, users: &str) -> String {
    format!(
        "[databases]\n* = host=127.0.0.1 port={upstream}\n\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
         unix_socket_dir =\nauth_type = scram-sha-256\nauth_file = {users}\npool_mode = transaction\n\
         default_pool_size = 4\nmax_client_conn = 100\nadmin_users = postgres\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_pools_by_transaction_and_points_at_the_server_behind() {
        let text = configuration("20001", 20002, "/h/users.txt");
        for line in [
            "* = host=127.0.0.1 port=20001",
            "listen_port = 20002",
            "pool_mode = transaction",
            "unix_socket_dir =",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        assert!(!text.contains("ignore_startup_parameters"));
    }
}
