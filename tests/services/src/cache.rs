//! The folder where programs and data folders are kept between runs.
//!
//! ```text
//! packages/postgres-18.6.0/       programs as fetched, the same for everybody
//! golden/postgres-18.6.0-4f…/     a data folder with the sample in it, copied for each server
//! checkouts/dbagent-91…/postgres/ the servers of one checkout
//! throwaway/…/                    servers that belong to one running test
//! ```
//!
//! Whatever takes long to make is made beside its place and moved there when it is whole, under a
//! lock that the kernel releases when its holder dies. So a run that is killed leaves nothing that
//! the next one could take for finished, and nothing that makes it wait.

use std::env;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::error::{Doing as _, Error, Result};
use crate::os;

/// The variable that moves the cache elsewhere.
const VARIABLE: &str = "DBAGENT_SERVICES_CACHE";

/// Where everything is kept.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// The folder that the environment names.
    ///
    /// `DBAGENT_SERVICES_CACHE` where it is set; else `/var/cache/dbagent` for root, whose servers run
    /// under other accounts that may not look into root's home; else `dbagent` under the user's cache.
    pub fn of_environment() -> Result<Self> {
        Self::at(&chosen(
            |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from),
            os::is_root(),
        )?)
    }

    /// A folder of one's own choice.
    pub fn at(root: &Path) -> Result<Self> {
        let root = std::path::absolute(root).doing(|| format!("cannot use {} as a cache", root.display()))?;
        open_folder(&root)?;
        let root = root.canonicalize().doing(|| format!("cannot use {} as a cache", root.display()))?;
        if os::is_root()
            && let Some(closed) = os::closed_folder(&root)
        {
            return Err(Error::new(format!(
                "servers refuse to run as root, and other accounts may not pass {} on the way to the cache {}; \
                 name another folder in {VARIABLE}",
                closed.display(),
                root.display()
            )));
        }
        let cache = Self { root };
        // Backup programs, and `cargo xtask tidy`, leave such folders alone.
        let tag = cache.root.join("CACHEDIR.TAG");
        if !tag.exists() {
            fs::write(&tag, "Signature: 8a477f597d28d172789f06886806bc55\n")
                .doing(|| format!("cannot write {}", tag.display()))?;
        }
        Ok(cache)
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// A folder in it, made where it is missing.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.root.join(name);
        open_folder(&folder)?;
        Ok(folder)
    }

    /// The folder `section/name`, made by `make` where it is not there yet.
    ///
    /// `make` fills a folder beside it. Two that want the same one wait for each other.
    pub(crate) fn ready(
        &self,
        section: &str,
        name: &str,
        make: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<PathBuf> {
        let section = self.folder(section)?;
        let folder = section.join(name);
        let _lock = lock(&section.join(format!(".{name}.lock")))?;
        if folder.exists() {
            return Ok(folder);
        }
        // The lock is ours, so whoever began these is dead. What it started may still write in there, and
        // then the rest goes the next time: names are not used twice.
        let prefix = format!(".{name}.partial-");
        for stale in folders(&section, &prefix)? {
            fs::remove_dir_all(stale).ok();
        }
        let cannot = || format!("cannot make {}", folder.display());
        let partial = tempfile::Builder::new().prefix(&prefix).tempdir_in(&section).doing(cannot)?;
        os::set_mode(partial.path(), 0o755)?;
        make(partial.path())?;
        fs::rename(partial.path(), &folder).doing(cannot)?;
        // It is not there any more under its old name.
        drop(partial.keep());
        Ok(folder)
    }

    /// How many bytes all of it takes.
    pub fn size(&self) -> u64 {
        size(&self.root)
    }
}

/// The rule of [`Cache::of_environment`].
fn chosen(variable: impl Fn(&str) -> Option<PathBuf>, is_root: bool) -> Result<PathBuf> {
    if let Some(named) = variable(VARIABLE) {
        return Ok(named);
    }
    if is_root {
        return Ok(PathBuf::from("/var/cache/dbagent"));
    }
    let users = variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
    users.map(|folder| folder.join("dbagent")).ok_or_else(|| {
        Error::new(format!("neither {VARIABLE}, XDG_CACHE_HOME nor HOME says where the cache may be"))
    })
}

/// Says to a person what takes its time. The output of a test program belongs to its tests.
pub(crate) fn say(line: &str) {
    // Nobody there to read it is no reason to stop.
    writeln!(std::io::stderr(), "services: {line}").ok();
}

/// Makes a folder that other accounts may pass, whatever the umask says.
pub(crate) fn open_folder(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        open_folder(parent)?;
    }
    match fs::create_dir(folder) {
        Ok(()) => os::set_mode(folder, 0o755),
        // Somebody else was faster.
        Err(_) if folder.is_dir() => Ok(()),
        Err(error) => Err(error).doing(|| format!("cannot make the folder {}", folder.display())),
    }
}

/// Removes a folder with all that is in it; one that is not there is no error.
pub(crate) fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).doing(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// The folders in a folder whose names begin so.
fn folders(section: &Path, prefix: &str) -> Result<Vec<PathBuf>> {
    let cannot = || format!("cannot list {}", section.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(section).doing(cannot)? {
        let entry = entry.doing(cannot)?;
        if entry.file_name().to_string_lossy().starts_with(prefix) && entry.path().is_dir() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// Waits for a lock. It is released when the file is closed, also by death.
pub(crate) fn lock(path: &Path) -> Result<File> {
    let file = lock_file(path)?;
    file.lock().doing(|| format!("cannot lock {}", path.display()))?;
    Ok(file)
}

/// Takes a lock, or says that somebody else has it.
pub(crate) fn try_lock(path: &Path) -> Result<Option<File>> {
    let file = lock_file(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(fs::TryLockError::WouldBlock) => Ok(None),
        Err(fs::TryLockError::Error(error)) => Err(error).doing(|| format!("cannot lock {}", path.display())),
    }
}

fn lock_file(path: &Path) -> Result<File> {
    File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .doing(|| format!("cannot open the lock {}", path.display()))
}

/// The bytes of all files under a folder.
pub(crate) fn size(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => size(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(set: &[(&str, &str)], is_root: bool) -> Result<PathBuf> {
        let find =
            |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| PathBuf::from(value));
        chosen(find, is_root)
    }

    #[test]
    fn the_cache_is_where_the_person_says_else_where_servers_can_reach_it() {
        let all = [(VARIABLE, "/a"), ("XDG_CACHE_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(choose(&all, true).unwrap(), Path::new("/a"));
        assert_eq!(choose(&all[1..], true).unwrap(), Path::new("/var/cache/dbagent"));
        assert_eq!(choose(&all[1..], false).unwrap(), Path::new("/x/dbagent"));
        assert_eq!(choose(&all[2..], false).unwrap(), Path::new("/h/.cache/dbagent"));
        assert!(choose(&[], false).unwrap_err().to_string().contains(VARIABLE));
    }

    /// A cache in a temporary folder, without asking who could reach it.
    fn scratch() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache { root: folder.path().to_owned() };
        (folder, cache)
    }

    #[test]
    fn what_is_ready_is_not_made_again_and_what_failed_is() {
        let (_folder, cache) = scratch();
        let failed = cache.ready("packages", "a", |partial| {
            fs::write(partial.join("half"), "").unwrap();
            Err(Error::new("the network is gone"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "the network is gone");

        let dead = cache.path().join("packages/.a.partial-dead");
        fs::create_dir(&dead).unwrap();
        let made = cache.ready("packages", "a", |partial| {
            assert!(!partial.join("half").exists() && !dead.exists(), "what a dead run left is still there");
            fs::write(partial.join("whole"), "").unwrap();
            Ok(())
        });
        assert!(made.unwrap().join("whole").exists());
        let again = cache.ready("packages", "a", |_| panic!("it is there already"));
        assert!(again.unwrap().join("whole").exists());
    }

    #[test]
    fn a_lock_is_free_when_its_holder_is_gone() {
        let (folder, _) = scratch();
        let path = folder.path().join("lock");
        let held = try_lock(&path).unwrap();
        assert!(held.is_some());
        assert!(try_lock(&path).unwrap().is_none());
        drop(held);
        assert!(try_lock(&path).unwrap().is_some());
    }
}
