//! The servers of one checkout, which stay until somebody stops them.
//!
//! Their folder is named after the path of the checkout, so two checkouts have servers, ports and
//! passwords of their own. One service is worked on by one process at a time; what a killed one left
//! is found by its command line, and is taken over or made anew.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::cache::{self, Cache};
use crate::engine::{Engine, Home, Record};
use crate::error::{Doing as _, Error, Result};
use crate::instance::{Instance, RECORD};
use crate::secrets::hex;
use crate::services::{self, Kind};
use crate::{os, process};

/// The servers of one checkout.
#[derive(Debug, Clone)]
pub struct Checkout {
    cache: Cache,
    folder: PathBuf,
}

/// What [`Checkout::up`] came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Up {
    /// It was started.
    Started,
    /// It was there already.
    WasUp,
}

/// What is known about one service.
#[derive(Debug, Clone)]
pub struct Status {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// The version, once it has been fetched.
    pub version: Option<String>,
    /// What it does.
    pub state: State,
    /// The bytes that its own folder takes.
    pub size: u64,
}

/// What a service does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It takes connections, or is about to.
    Up {
        /// Its main process.
        pid: u32,
        /// Its port of 127.0.0.1.
        port: u16,
        /// The memory of all its processes, in bytes.
        memory: u64,
    },
    /// A library that is there; nothing runs.
    Ready,
    /// It does not run.
    Down,
}

impl Checkout {
    /// The servers of the checkout with this root.
    pub fn of(cache: Cache, root: &Path) -> Result<Self> {
        let root = root.canonicalize().doing(|| format!("cannot find the checkout {}", root.display()))?;
        let folder = cache.folder("checkouts")?.join(folder_name(&root));
        cache::open_folder(&folder)?;
        Ok(Self { cache, folder })
    }

    /// Sees to it that a service is there, and before it the one that it stands before.
    pub fn up(&self, name: &str) -> Result<Up> {
        let service = services::find(name)?;
        let engine = match service.kind {
            Kind::Server(engine) => engine,
            Kind::Library { fetch, .. } => return fetch(&self.cache).map(|_| Up::WasUp),
        };
        let upstream = match service.info.needs {
            Some(needs) => {
                self.up(needs)?;
                Some(self.record(needs).ok_or_else(|| Error::new(format!("{needs} went down meanwhile")))?)
            }
            None => None,
        };
        let _lock = self.lock(name)?;
        let mut instance = Instance::prepare(&self.cache, name, engine, self.home(name), upstream.as_ref())?;
        if let Some(pid) = instance.pid() {
            if instance.adopt(pid) {
                return Ok(Up::WasUp);
            }
            process::kill(pid)?;
        }
        // It stays when we go: the child is not waited for.
        instance.start().map(|_| Up::Started)
    }

    /// Stops a service, and before it those that stand before it. Returns the names of those that ran.
    pub fn down(&self, name: &str) -> Result<Vec<&'static str>> {
        let service = services::find(name)?;
        let mut stopped = Vec::new();
        for dependent in services::dependents(name) {
            stopped.extend(self.down(dependent)?);
        }
        let Kind::Server(engine) = service.kind else { return Ok(stopped) };
        let _lock = self.lock(name)?;
        if let Some(pid) = process::find(&engine.marker(&self.home(name))) {
            process::end(pid, engine.stop_signal())?;
            stopped.push(service.info.name);
        }
        Ok(stopped)
    }

    /// What a service does.
    pub fn status(&self, name: &str) -> Result<Status> {
        let service = services::find(name)?;
        let (version, state) = match service.kind {
            Kind::Library { version, .. } => {
                let is_there = self.cache.path().join("packages").join(format!("{name}-{version}")).is_dir();
                (is_there.then(|| version.to_owned()), if is_there { State::Ready } else { State::Down })
            }
            Kind::Server(engine) => {
                let record = self.record(name);
                let state = record.as_ref().and_then(|record| self.running(name, engine, record));
                let version = record.as_ref().and_then(|record| record.get("version")).map(str::to_owned);
                (version, state.unwrap_or(State::Down))
            }
        };
        let size = cache::size(self.home(name).folder());
        Ok(Status { name: service.info.name, about: service.info.about, version, state, size })
    }

    /// The log of a service, where it has one.
    pub fn log(&self, name: &str) -> Result<Option<PathBuf>> {
        services::find(name)?;
        Ok(Some(self.home(name).log()).filter(|log| log.exists()))
    }

    /// The variables by which tests reach a service; none where it is not up.
    pub fn variables(&self, name: &str) -> Result<Vec<(String, String)>> {
        let service = services::find(name)?;
        let variables = match service.kind {
            Kind::Library { variables, .. } if self.status(name)?.state == State::Ready => {
                variables(&self.cache)
            }
            Kind::Library { .. } => Vec::new(),
            Kind::Server(engine) => match self.record(name) {
                Some(record) if self.running(name, engine, &record).is_some() => {
                    engine.variables(&self.home(name), &record)?
                }
                _ => Vec::new(),
            },
        };
        Ok(variables
            .into_iter()
            .map(|(end, value)| (format!("{}{end}", service.info.prefix), value))
            .collect())
    }

    /// The cache that all of it is in.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    fn running(&self, name: &str, engine: &dyn Engine, record: &Record) -> Option<State> {
        let pid = process::find(&engine.marker(&self.home(name)))?;
        Some(State::Up { pid, port: record.port(), memory: process::memory(&process::family(pid)) })
    }

    fn record(&self, name: &str) -> Option<Record> {
        Record::read(&self.home(name).file(RECORD))
    }

    fn home(&self, name: &str) -> Home {
        Home::at(self.folder.join(name))
    }

    /// Beside the folder of the service, which may be made anew.
    fn lock(&self, name: &str) -> Result<std::fs::File> {
        os::supported()?;
        cache::lock(&self.folder.join(format!("{name}.lock")))
    }
}

/// The last part of the path, for people, and a digest of all of it.
fn folder_name(root: &Path) -> String {
    let digest = hex(&Sha256::digest(root.as_os_str().as_encoded_bytes()));
    let last = root.file_name().unwrap_or_default().to_string_lossy();
    let readable: String = last.chars().filter(char::is_ascii_alphanumeric).take(12).collect();
    format!("{readable}-{}", digest.get(..8).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_checkouts_of_one_name_have_folders_of_their_own() {
        let (one, other) = (folder_name(Path::new("/a/dbagent")), folder_name(Path::new("/b/dbagent")));
        assert_ne!(one, other);
        assert!(one.starts_with("dbagent-") && other.starts_with("dbagent-"));
        assert_eq!(one, folder_name(Path::new("/a/dbagent")));
        // It becomes a part of the path of a socket, which must be short.
        assert!(
            folder_name(&Path::new("/a").join("é /\"".repeat(40) + "very-long-name-of-a-folder")).len() <= 21
        );
    }
}
