//! A server that belongs to one test, which may do to it whatever it likes.

use std::fs::File;
use std::path::Path;
use std::process::Child;

use tempfile::TempDir;

use crate::cache::{self, Cache};
use crate::engine::Home;
use crate::error::{Doing as _, Error, Result};
use crate::instance::Instance;
use crate::process;
use crate::services::{self, Kind};

/// A server of a test's own: ended and removed when this is dropped, also by a panic.
///
/// It has the same accounts, certificates and sample as those of `cargo xtask services`. When the test
/// program itself is killed, the next one that starts a server cleans up after it.
pub struct Server {
    name: &'static str,
    instance: Instance,
    child: Option<Child>,
    variables: Vec<(&'static str, String)>,
    // Dropped in this order: the folder goes before its lock.
    folder: Option<TempDir>,
    _lock: File,
}

impl Server {
    /// Starts a server of the given service, `postgres` or `mysql`.
    ///
    /// The error is the reason for a `SKIPPED` line.
    pub fn throwaway(name: &str) -> Result<Self> {
        Self::throwaway_with(name, &[])
    }

    /// Like [`Self::throwaway`], with further arguments for the server, which win over ours:
    /// `["-c", "max_connections=8"]` for Postgres, `["--max-connections=8"]` for MySQL.
    pub fn throwaway_with(name: &str, arguments: &[&str]) -> Result<Self> {
        Self::throwaway_in(&Cache::of_environment()?, name, arguments)
    }

    /// Like [`Self::throwaway_with`], in a cache that is not the one of the environment.
    pub fn throwaway_in(cache: &Cache, name: &str, arguments: &[&str]) -> Result<Self> {
        let service = services::find(name)?;
        let Kind::Server(engine) = service.kind else {
            return Err(Error::new(format!("`{name}` is a library; there is nothing to start")));
        };
        if service.info.needs.is_some() {
            return Err(Error::new(format!("`{name}` stands before another server and cannot be had alone")));
        }
        let section = cache.folder("throwaway")?;
        let (folder, lock) = claim(&section)?;
        let home = Home::at(folder.path().join("s"));
        let mut instance = Instance::prepare(cache, name, engine, home, None)?.with_arguments(arguments);
        let child = instance.start()?;
        let variables = instance.variables()?;
        Ok(Self {
            name: service.info.name,
            instance,
            child: Some(child),
            variables,
            folder: Some(folder),
            _lock: lock,
        })
    }

    /// The URL of the owner, who may do everything.
    pub fn url(&self) -> &str {
        self.variable("URL").unwrap_or_default()
    }

    /// What `DBAGENT_TEST_<NAME>_<END>` would be for this server: `READER_URL`, `TLS_URL`, `CA`, …
    pub fn variable(&self, end: &str) -> Option<&str> {
        self.variables.iter().find(|(name, _)| *name == end).map(|(_, value)| value.as_str())
    }

    /// The port of 127.0.0.1 that it listens on.
    pub fn port(&self) -> u16 {
        self.instance.record.port()
    }

    /// Its log.
    pub fn log(&self) -> std::path::PathBuf {
        self.instance.home.log()
    }

    /// Its processes, the main one first; none when it does not run.
    pub fn pids(&self) -> Vec<u32> {
        self.child.as_ref().map(|child| process::family(child.id())).unwrap_or_default()
    }

    /// Stops every process of it where it is (SIGSTOP). Connections stay open and nothing answers.
    pub fn freeze(&self) -> Result<()> {
        process::freeze(self.main()?)
    }

    /// Lets it go on after [`Self::freeze`].
    pub fn thaw(&self) -> Result<()> {
        process::thaw(self.main()?)
    }

    /// Ends every process of it at once (SIGKILL), as a crash would. They are gone when this returns.
    pub fn kill(&mut self) -> Result<()> {
        let Some(mut child) = self.child.take() else { return Ok(()) };
        process::kill(child.id())?;
        child.wait().doing(|| format!("cannot wait for {}", self.name))?;
        Ok(())
    }

    /// Starts it again on the same port with the same data, after [`Self::kill`] or while it runs, which
    /// it is then first asked to end.
    pub fn restart(&mut self) -> Result<()> {
        let before = self.port();
        if let Some(mut child) = self.child.take() {
            // Our child stays a zombie, which counts as gone, until it is waited for.
            self.instance.stop(child.id())?;
            child.wait().doing(|| format!("cannot wait for {}", self.name))?;
        }
        self.child = Some(self.instance.start()?);
        if self.port() != before {
            return Err(Error::new(format!("port {before} was taken by another program meanwhile")));
        }
        Ok(())
    }

    fn main(&self) -> Result<u32> {
        let child = self.child.as_ref();
        child
            .map(Child::id)
            .ok_or_else(|| Error::new(format!("this {} was killed; restart it first", self.name)))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nobody is there to be told; what is left is swept by the next one.
        self.kill().ok();
        drop(self.folder.take());
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Server")
            .field("name", &self.name)
            .field("port", &self.port())
            .finish_non_exhaustive()
    }
}

/// A new folder that is ours for as long as we live, after those of the dead are swept away.
fn claim(section: &Path) -> Result<(TempDir, File)> {
    // Held while a folder exists whose lock is not taken yet.
    let _all = cache::lock(&section.join(".lock"))?;
    sweep(section)?;
    let cannot = || format!("cannot make a folder in {}", section.display());
    let folder = tempfile::Builder::new().prefix("t").rand_bytes(8).tempdir_in(section).doing(cannot)?;
    crate::os::set_mode(folder.path(), 0o755)?;
    let lock = cache::lock(&folder.path().join("lock"))?;
    Ok((folder, lock))
}

fn sweep(section: &Path) -> Result<()> {
    let cannot = || format!("cannot list {}", section.display());
    for entry in std::fs::read_dir(section).doing(cannot)? {
        let folder = entry.doing(cannot)?.path();
        if !folder.is_dir() {
            continue;
        }
        let Some(_dead_owner) = cache::try_lock(&folder.join("lock"))? else { continue };
        let home = Home::at(folder.join("s"));
        if let Some(pid) = services::markers(&home).iter().find_map(|marker| process::find(marker)) {
            process::kill(pid)?;
        }
        process::clear(&home.data())?;
        cache::remove(&folder)?;
    }
    Ok(())
}
