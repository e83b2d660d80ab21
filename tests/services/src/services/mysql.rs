//! MySQL, Debian's build of it.
//!
//! The sample comes in while the data folder is made, the accounts by the file that the server runs
//! before it listens: no client is needed.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::mysql_family::{self, Family};
use crate::cache::Cache;
use crate::engine::{Engine, Ground, Home, Record};
use crate::error::Result;
use crate::os::{self, Signal};
use crate::packages::Package;
use crate::packages::debian::DebianProgram;

/// MySQL.
pub(super) struct MySql;

const PROGRAM: DebianProgram = DebianProgram {
    // The only suite that has it.
    suite: "sid",
    package: "mysql-server-core",
    with: &[],
    without: &[],
    program: "usr/sbin/mysqld",
    prune: &["usr/bin", "usr/share/mysql-test", "usr/lib/mysql/plugin/group_replication.so"],
};

const FAMILY: Family = Family { scheme: "mysql", socket: "mysql.sock" };

impl Engine for MySql {
    fn users(&self) -> &'static [&'static str] {
        mysql_family::USERS
    }

    fn package(&self) -> String {
        PROGRAM.folder()
    }

    fn fetch(&self, cache: &Cache) -> Result<Package> {
        PROGRAM.fetch(cache)
    }

    fn recipe(&self) -> Option<u32> {
        Some(1)
    }

    fn initialise(&self, ground: &Ground<'_>, data: &Path) -> Result<()> {
        let script = data.with_extension("sql");
        os::write_private(&script, &mysql_family::sample()?.concat(), ground.user)?;
        let mut command = server(ground, data)?;
        command.arg("--initialize-insecure").arg(format!("--init-file={}", script.display()));
        mysql_family::finish(command, ground, "mysqld --initialize", "")?;
        fs::remove_file(&script).ok();
        // Else all copies would have the same number; the server makes it anew.
        fs::remove_file(data.join("auto.cnf")).ok();
        Ok(())
    }

    fn configure(&self, ground: &Ground<'_>, home: &Home, record: &Record) -> Result<()> {
        mysql_family::write_accounts(ground, home, record)
    }

    fn command(&self, ground: &Ground<'_>, home: &Home, record: &Record) -> Result<Command> {
        let mut command = server(ground, &home.data())?;
        FAMILY.listen(&mut command, home, record)?;
        command.arg("--mysqlx=OFF");
        Ok(command)
    }

    fn is_ready(&self, _: &Home, record: &Record, _: u32, log: &str) -> bool {
        let port = format!("port: {} ", record.port());
        log.lines().any(|line| line.contains("ready for connections") && format!("{line} ").contains(&port))
    }

    fn complaints(&self) -> &'static [&'static str] {
        &["[ERROR] [MY-000061]"]
    }

    fn stop_signal(&self) -> Signal {
        Signal::Terminate
    }

    fn variables(&self, home: &Home, record: &Record) -> Result<Vec<(&'static str, String)>> {
        FAMILY.variables(home, record)
    }
}

/// What every call of the program needs. It loses data when the machine loses power,
/// not when the server is killed.
fn server(ground: &Ground<'_>, data: &Path) -> Result<Command> {
    let mut command = PROGRAM.command(ground.package)?;
    let folder = ground.package.folder.join("usr");
    command.arg("--no-defaults");
    for (name, path) in [
        ("basedir", folder.clone()),
        ("plugin-dir", folder.join("lib/mysql/plugin")),
        ("lc-messages-dir", folder.join("share/mysql")),
        ("character-sets-dir", folder.join("share/mysql/charsets")),
        ("datadir", data.to_owned()),
    ] {
        command.arg(format!("--{name}={}", path.display()));
    }
    command.args([
        "--skip-log-bin",
        "--secure-file-priv=NULL",
        "--innodb-redo-log-capacity=16M",
        "--innodb-buffer-pool-size=64M",
        "--innodb-log-buffer-size=4M",
        "--innodb-flush-log-at-trx-commit=2",
        "--innodb-doublewrite=OFF",
        "--innodb-use-native-aio=OFF",
        "--table-open-cache=400",
        "--table-definition-cache=400",
        "--performance-schema-digests-size=500",
        "--performance-schema-max-table-instances=500",
        "--performance-schema-max-index-stat=500",
        "--performance-schema-error-size=0",
    ]);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_is_ready_when_it_listens_on_its_port() {
        let mut record = Record::default();
        record.set("port", "2033");
        let ready = |line: &str| MySql.is_ready(&Home::at("/h".into()), &record, 1, line);
        assert!(ready(
            "[Server] mysqld: ready for connections. Version: '9.7.4'  socket: '/s'  port: 2033  (Debian)."
        ));
        assert!(ready("mysqld: ready for connections. port: 2033"));
        assert!(!ready(
            "mysqld: ready for connections. Version: '9.7.4'  socket: '/s'  port: 20330  (Debian)."
        ));
        assert!(!ready("X Plugin ready. Bind-address: '127.0.0.1' port: 2033"));
    }
}
