//! MariaDB, Debian's build of it.
//!
//! A data folder is made by the scripts that come with the server, run by the server itself in its
//! bootstrap mode, with the sample behind them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::mysql_family::{self, Family};
use crate::cache::{Cache, open_folder};
use crate::engine::{Engine, Ground, Home, Record};
use crate::error::{Doing as _, Error, Result};
use crate::os::{self, Signal};
use crate::packages::Package;
use crate::packages::debian::DebianProgram;

/// MariaDB.
pub(super) struct MariaDb;

const PROGRAM: DebianProgram = DebianProgram {
    suite: "trixie",
    package: "mariadb-server-core",
    with: &[],
    without: &[],
    program: "usr/sbin/mariadbd",
    prune: &["usr/share/mysql/test", "usr/share/mariadb/test"],
};

const FAMILY: Family = Family { scheme: "mariadb", socket: "mariadb.sock" };

/// What makes the system tables, in order, each under its new and its old name.
const SCRIPTS: &[[&str; 2]] = &[
    ["mariadb_system_tables.sql", "mysql_system_tables.sql"],
    ["mariadb_performance_tables.sql", "mysql_performance_tables.sql"],
    ["mariadb_system_tables_data.sql", "mysql_system_tables_data.sql"],
    ["maria_add_gis_sp_bootstrap.sql", "maria_add_gis_sp_bootstrap.sql"],
    ["mariadb_sys_schema.sql", "mysql_sys_schema.sql"],
];

impl Engine for MariaDb {
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
        open_folder(data)?;
        os::set_mode(data, 0o700)?;
        os::give(data, ground.user)?;
        let mut script = "CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket = NULL;\n".to_owned();
        for names in SCRIPTS {
            script += &system_script(ground.package, names)?;
            script += "\n";
        }
        // Accounts without a name or for this host's name; and a root without a password that nobody
        // can use before the accounts are made, since the server does not listen until then.
        script += "USE mysql;\nDELETE FROM global_priv WHERE User = '' OR (User = 'root' AND Host <> 'localhost');\n\
                   DELETE FROM proxies_priv;\nFLUSH PRIVILEGES;\n";
        script += &mysql_family::sample()?.concat();
        let mut command = server(ground, data)?;
        command.args([
            "--bootstrap",
            "--log-warnings=0",
            "--max-allowed-packet=8M",
            "--net-buffer-length=16K",
        ]);
        mysql_family::finish(command, ground, "mariadbd --bootstrap", &script)
    }

    fn configure(&self, ground: &Ground<'_>, home: &Home, record: &Record) -> Result<()> {
        mysql_family::write_accounts(ground, home, record)
    }

    fn command(&self, ground: &Ground<'_>, home: &Home, record: &Record) -> Result<Command> {
        let mut command = server(ground, &home.data())?;
        FAMILY.listen(&mut command, home, record)?;
        Ok(command)
    }

    fn is_ready(&self, _: &Home, record: &Record, _: u32, log: &str) -> bool {
        let port = format!("port: {} ", record.port());
        log.lines().any(|line| line.starts_with("Version: ") && format!("{line} ").contains(&port))
    }

    fn complaints(&self) -> &'static [&'static str] {
        &["ERROR: "]
    }

    fn stop_signal(&self) -> Signal {
        Signal::Terminate
    }

    fn variables(&self, home: &Home, record: &Record) -> Result<Vec<(&'static str, String)>> {
        FAMILY.variables(home, record)
    }
}

fn share(package: &Package) -> PathBuf {
    let share = package.folder.join("usr/share");
    let own = share.join("mariadb");
    if own.join("english").is_dir() { own } else { share.join("mysql") }
}

fn system_script(package: &Package, names: &[&str; 2]) -> Result<String> {
    let share = package.folder.join("usr/share");
    let paths =
        names.iter().flat_map(|name| [share.join("mariadb").join(name), share.join("mysql").join(name)]);
    let Some(path) = paths.into_iter().find(|path| path.exists()) else {
        return Err(Error::new(format!(
            "{} has no {}; remove it to fetch it anew",
            package.folder.display(),
            names[0]
        )));
    };
    fs::read_to_string(&path).doing(|| format!("cannot read {}", path.display()))
}

/// What every call of the program needs. It loses data when the machine loses power,
/// not when the server is killed.
fn server(ground: &Ground<'_>, data: &Path) -> Result<Command> {
    let mut command = PROGRAM.command(ground.package)?;
    let share = share(ground.package);
    command.arg("--no-defaults");
    for (name, path) in [
        ("basedir", ground.package.folder.join("usr")),
        ("lc-messages-dir", share.clone()),
        ("character-sets-dir", share.join("charsets")),
        ("datadir", data.to_owned()),
    ] {
        command.arg(format!("--{name}={}", path.display()));
    }
    command.args([
        "--innodb-log-file-size=8M",
        "--innodb-buffer-pool-size=32M",
        "--innodb-flush-log-at-trx-commit=2",
        "--innodb-doublewrite=OFF",
        "--innodb-use-native-aio=OFF",
        "--key-buffer-size=1M",
        "--aria-pagecache-buffer-size=8M",
    ]);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_is_ready_when_it_names_its_port() {
        let mut record = Record::default();
        record.set("port", "2033");
        let ready = |line: &str| MariaDb.is_ready(&Home::at("/h".into()), &record, 1, line);
        assert!(ready("Version: '11.8.6-MariaDB'  socket: '/s'  port: 2033  Debian n/a"));
        assert!(!ready("Version: '11.8.6-MariaDB'  socket: '/s'  port: 20333  Debian n/a"));
        assert!(!ready("mariadbd: ready for connections."));
    }
}
