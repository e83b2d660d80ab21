//! What MySQL and MariaDB have in common: accounts, the sample, URLs, how they listen.

use std::process::Command;

use crate::engine::{Account, Ground, Home, Record};
use crate::error::{Error, Result};
use crate::instance;
use crate::os;
use crate::{sample, script};

/// In what the two differ.
pub(super) struct Family {
    /// The beginning of its URLs.
    pub(super) scheme: &'static str,
    pub(super) socket: &'static str,
}

pub(super) const USERS: &[&str] = &["mysql", "nobody"];

const OWNER: &str = "root";

impl Family {
    /// The arguments of a server that runs, beside those that making a data folder needs too.
    pub(super) fn listen(&self, command: &mut Command, home: &Home, record: &Record) -> Result<()> {
        let tls = home.tls();
        for (name, path) in [
            ("socket", home.socket(self.socket)?),
            // Not one that servers share: one that starts removes temporary tables there, whosever they are.
            ("tmpdir", home.sockets()),
            ("pid-file", home.data().join("server.pid")),
            ("init-file", home.file(ACCOUNTS)),
            ("ssl-ca", tls.authority()),
            ("ssl-cert", tls.server_certificate()),
            ("ssl-key", tls.server_key()),
        ] {
            command.arg(format!("--{name}={}", path.display()));
        }
        command.arg(format!("--port={}", record.port()));
        command.args(["--bind-address=127.0.0.1", "--skip-name-resolve", "--max-connections=100"]);
        Ok(())
    }

    pub(super) fn variables(&self, home: &Home, record: &Record) -> Result<Vec<(&'static str, String)>> {
        let mut variables = Vec::new();
        for account in Account::ALL {
            let url = format!(
                "{}://{}:{}@127.0.0.1:{}/{}",
                self.scheme,
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
        variables.push(("SOCKET", home.socket(self.socket)?.display().to_string()));
        Ok(variables)
    }
}

const ACCOUNTS: &str = "accounts.sql";

fn login(account: Account) -> &'static str {
    if account == Account::Owner { OWNER } else { account.login() }
}

/// Writes the file that the server runs at each start before it listens.
pub(super) fn write_accounts(ground: &Ground<'_>, home: &Home, record: &Record) -> Result<()> {
    os::write_private(&home.file(ACCOUNTS), &accounts(record)?, ground.user)
}

/// Makes the accounts, or makes them as they should be; one statement a line.
fn accounts(record: &Record) -> Result<String> {
    let mut lines = Vec::new();
    for account in Account::ALL {
        let name = format!("'{}'@'%'", login(account));
        let requires = match account {
            Account::Tls => " REQUIRE SSL",
            Account::Certificate => " REQUIRE X509",
            Account::Owner | Account::Reader | Account::Nobody => "",
        };
        lines.push(format!("CREATE USER IF NOT EXISTS {name}"));
        lines.push(format!("ALTER USER {name} IDENTIFIED BY '{}'{requires}", record.password(account)?));
        match account {
            Account::Owner => lines.push(format!("GRANT ALL PRIVILEGES ON *.* TO {name} WITH GRANT OPTION")),
            Account::Reader | Account::Tls | Account::Certificate => {
                lines.push(format!("GRANT SELECT, SHOW VIEW ON {}.* TO {name}", sample::DATABASE));
            }
            Account::Nobody => {}
        }
    }
    // Else the owner would be another account through the socket than over TCP.
    lines.push(format!("DROP USER IF EXISTS '{OWNER}'@'localhost'"));
    Ok(lines.into_iter().map(|line| line + ";\n").collect())
}

/// The sample with its database, one statement a line.
pub(super) fn sample() -> Result<Vec<String>> {
    let mut statements = vec![
        // A few titles hold a backslash, which the other engines keep.
        "SET SESSION sql_mode = CONCAT(@@SESSION.sql_mode, ',NO_BACKSLASH_ESCAPES')".to_owned(),
        "SET NAMES utf8mb4".to_owned(),
        format!("CREATE DATABASE {} CHARACTER SET utf8mb4", sample::DATABASE),
        format!("USE {}", sample::DATABASE),
    ];
    for statement in sample::mysql()? {
        statements.extend(in_parts(&statement));
    }
    statements
        .iter()
        .map(|statement| {
            script::on_one_line(statement).map(|line| line + ";\n").ok_or_else(|| {
                Error::new(format!("a text in the sample holds a line break: {statement:.80}"))
            })
        })
        .collect()
}

/// Takes an INSERT of many rows, one a line, apart: what runs before there are clients takes no more
/// than some ten thousand bytes a statement.
fn in_parts(statement: &str) -> Vec<String> {
    let mut lines = statement.lines();
    let Some(head) =
        lines.next().filter(|head| head.starts_with("INSERT INTO ") && head.ends_with(" VALUES"))
    else {
        return vec![statement.to_owned()];
    };
    let rows: Vec<&str> = lines.map(|row| row.trim().trim_end_matches(',')).collect();
    rows.chunks(ROWS).map(|part| format!("{head} {}", part.join(", "))).collect()
}

/// The widest row of the sample has under 300 bytes.
const ROWS: usize = 50;

/// Runs a program to its end; an error that it only reports counts as one.
pub(super) fn finish(command: Command, ground: &Ground<'_>, name: &str, input: &str) -> Result<()> {
    instance::finish(command, ground, name, input, &["[ERROR]", "ERROR:"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_insert_is_taken_apart_by_its_rows() {
        let rows = (0..120).map(|row| format!("    ({row}, N'a, (b)')")).collect::<Vec<_>>().join(",\n");
        let parts = in_parts(&format!("INSERT INTO `T` (`A`) VALUES\n{rows}"));
        assert_eq!(parts.len(), 3);
        assert!(parts[0].starts_with("INSERT INTO `T` (`A`) VALUES (0, N'a, (b)'), (1, "), "{}", parts[0]);
        assert!(parts[2].ends_with("(119, N'a, (b)')"), "{}", parts[2]);
        assert_eq!(in_parts("CREATE TABLE t\n(\n a int\n)"), ["CREATE TABLE t\n(\n a int\n)"]);
    }

    #[test]
    fn the_sample_is_short_statements_with_all_rows() {
        let statements = sample().unwrap();
        assert!(statements.iter().all(|line| line.len() < 16_000 && line.matches('\n').count() == 1));
        let rows: usize = statements.iter().map(|line| line.matches("), (").count()).sum();
        let inserts = statements.iter().filter(|line| line.starts_with("INSERT")).count();
        assert_eq!(rows + inserts, 15_607);
    }

    #[test]
    fn only_the_owner_may_write_and_tls_is_required_where_it_should_be() {
        let mut record = Record::default();
        for account in Account::ALL {
            record.set(account.key(), "secret");
        }
        let text = accounts(&record).unwrap();
        assert!(text.lines().all(|line| line.ends_with(';')));
        assert_eq!(text.matches("ALL PRIVILEGES").count(), 1);
        assert!(text.contains("ALTER USER 'dbagent_tls'@'%' IDENTIFIED BY 'secret' REQUIRE SSL;"));
        assert!(!text.contains("GRANT SELECT, SHOW VIEW ON chinook.* TO 'dbagent_nobody'@'%'"));
        assert!(accounts(&Record::default()).is_err());
    }
}
