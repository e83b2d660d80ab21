//! What a kind of server must know about itself, so that one can be made, started and reached.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::Cache;
use crate::error::{Error, Result};
use crate::os::{self, Signal, User};
use crate::packages::Package;
use crate::tls::Tls;

/// One kind of server. The order of the methods is the order in which they are called.
pub(crate) trait Engine: Sync {
    /// Accounts it may run under where we are root, the best first.
    fn users(&self) -> &'static [&'static str];

    /// Sees to it that the program is there.
    fn fetch(&self, cache: &Cache) -> Result<Package>;

    /// Counts up when [`Self::initialise`] comes to make something else; none where nothing is kept.
    fn recipe(&self) -> Option<u32> {
        None
    }

    /// Makes a data folder with the sample in it, which many servers begin with. No password in it.
    fn initialise(&self, _: &Ground<'_>, _data: &Path) -> Result<()> {
        Ok(())
    }

    /// Gives a server that was just made what is its own: the passwords of its accounts.
    fn equip(&self, _: &Ground<'_>, _: &Home, _: &Record) -> Result<()> {
        Ok(())
    }

    /// Writes what depends on the port, before each start.
    fn configure(&self, _: &Ground<'_>, _: &Home, _: &Record) -> Result<()> {
        Ok(())
    }

    /// The path among the arguments by which a running server is recognised.
    fn marker(&self, home: &Home) -> PathBuf {
        home.data()
    }

    /// The command that becomes the server.
    fn command(&self, ground: &Ground<'_>, home: &Home, record: &Record) -> Result<Command>;

    /// Whether it takes connections. `log` is what it has said since its start.
    fn is_ready(&self, home: &Home, record: &Record, pid: u32, log: &str) -> bool;

    /// Makes it end cleanly and soon, also with clients connected.
    fn stop_signal(&self) -> Signal;

    /// How it is reached: the ends of variable names, with their values.
    fn variables(&self, home: &Home, record: &Record) -> Result<Vec<(&'static str, String)>>;
}

/// What a server stands on: its program and the account it runs under.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ground<'a> {
    pub(crate) package: &'a Package,
    pub(crate) user: Option<&'a User>,
}

/// The folder of one server.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    folder: PathBuf,
}

impl Home {
    pub(crate) fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// What the server itself keeps.
    pub(crate) fn data(&self) -> PathBuf {
        self.file("data")
    }

    /// Where its unix socket is.
    pub(crate) fn sockets(&self) -> PathBuf {
        self.file("socket")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.file("server.log")
    }

    pub(crate) fn tls(&self) -> Tls {
        Tls::at(&self.file("tls"))
    }

    /// The path of a socket in [`Self::sockets`], which the kernel limits to 107 bytes.
    pub(crate) fn socket(&self, name: &str) -> Result<PathBuf> {
        let socket = self.sockets().join(name);
        if socket.as_os_str().len() > 107 {
            return Err(Error::new(format!(
                "the unix socket {} would have a longer path than the kernel takes; name a cache with a shorter \
                 path in DBAGENT_SERVICES_CACHE",
                socket.display()
            )));
        }
        Ok(socket)
    }
}

/// What is remembered about one server: its version, port and passwords.
///
/// Written before the server is started, so that a run that dies meanwhile leaves it reachable. Its
/// process is not in here: that is found by its command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Record {
    values: BTreeMap<String, String>,
}

impl Record {
    /// Reads a record; none where there is no whole one, which means that the server must be made anew.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(path).ok()?)
    }

    /// Replaces the file in one step, readable by its owner only.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        os::write_private(path, &self.text(), None)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str)
    }

    pub(crate) fn set(&mut self, key: &str, value: impl Into<String>) {
        self.values.insert(key.to_owned(), value.into());
    }

    /// The port; 0 before the first start.
    pub(crate) fn port(&self) -> u16 {
        self.get("port").and_then(|port| port.parse().ok()).unwrap_or(0)
    }

    /// The password of one of the accounts.
    pub(crate) fn password(&self, account: Account) -> Result<&str> {
        self.get(account.key()).ok_or_else(|| {
            Error::new(format!("the record of this server has no `{}`; remove its folder", account.key()))
        })
    }

    /// One pair a line, with an end by which a torn file is known.
    fn text(&self) -> String {
        let lines = self.values.iter().map(|(key, value)| format!("{key} {value}\n"));
        lines.chain([format!("{END}\n")]).collect()
    }

    fn parse(text: &str) -> Option<Self> {
        let mut values = BTreeMap::new();
        let mut lines = text.lines();
        for line in &mut lines {
            if line == END {
                return Some(Self { values });
            }
            let (key, value) = line.split_once(' ')?;
            values.insert(key.to_owned(), value.to_owned());
        }
        None
    }
}

const END: &str = "end";

/// The accounts that tests need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Account {
    /// May do everything.
    Owner,
    /// May read the sample.
    Reader,
    /// May log in.
    Nobody,
    /// May read the sample, over TLS only.
    Tls,
    /// May read the sample, with a certificate of its own only.
    Certificate,
}

impl Account {
    pub(crate) const ALL: [Self; 5] = [Self::Owner, Self::Reader, Self::Nobody, Self::Tls, Self::Certificate];

    /// Its login name, apart from the owner's, which each server has of its own.
    pub(crate) fn login(self) -> &'static str {
        match self {
            Self::Owner => "dbagent_owner",
            Self::Reader => "dbagent_reader",
            Self::Nobody => "dbagent_nobody",
            Self::Tls => "dbagent_tls",
            Self::Certificate => "dbagent_cert",
        }
    }

    /// The end of the variable that holds its URL.
    pub(crate) fn variable(self) -> &'static str {
        match self {
            Self::Owner => "URL",
            Self::Reader => "READER_URL",
            Self::Nobody => "NOBODY_URL",
            Self::Tls => "TLS_URL",
            Self::Certificate => "CERT_URL",
        }
    }

    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Owner => "password.owner",
            Self::Reader => "password.reader",
            Self::Nobody => "password.nobody",
            Self::Tls => "password.tls",
            Self::Certificate => "password.cert",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let mut record = Record::default();
        record.set("port", "20001");
        record.set("version", "18.6.0 (a b)");
        record
    }

    #[test]
    fn a_record_comes_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record");
        assert_eq!(Record::read(&path), None);
        record().write(&path).unwrap();
        assert_eq!(Record::read(&path), Some(record()));
        assert_eq!(record().port(), 20001);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_torn_record_is_none() {
        let whole = record().text();
        for end in 0..whole.len() - 1 {
            let torn: String = whole.chars().take(end).collect();
            assert_eq!(Record::parse(&torn), None, "{torn:?}");
        }
        assert_eq!(Record::parse(&whole), Some(record()));
    }

    #[test]
    fn a_socket_path_that_the_kernel_refuses_is_refused_by_us_with_advice() {
        let home = Home::at(PathBuf::from(format!("/{}", "x".repeat(90))));
        let error = home.socket("mysql.sock").unwrap_err().to_string();
        assert!(error.contains("DBAGENT_SERVICES_CACHE"), "{error}");
        assert!(Home::at(PathBuf::from("/c")).socket("mysql.sock").is_ok());
    }
}
