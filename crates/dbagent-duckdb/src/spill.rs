//! The private folder for what does not fit into the engine's memory.
//!
//! It goes with its database. A process that is killed leaves it behind, perhaps with gigabytes of rows in
//! it; the next one removes it. Which folder is in use is told by a lock on a file in it: the system drops the
//! lock with the process, however that ends.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use dbagent_core::{Error, ErrorKind, Result};
use tempfile::TempDir;

/// How the names of the folders begin.
const PREFIX: &str = "dbagent-duckdb-";
/// The file in a folder that its process holds a lock on.
const LOCK: &str = "in-use";
/// How often a folder is made anew because another process took it for one that was left behind.
const TRIES: usize = 16;

/// A private folder, removed when dropped.
pub(crate) struct Spill {
    folder: TempDir,
    /// None where the system has no such locks; then nobody takes the folder for one that was left behind.
    _lock: Option<File>,
}

impl Spill {
    /// Makes a folder among the temporary files, and removes what processes that are gone left there.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when no folder can be made.
    pub(crate) fn new() -> Result<Self> {
        let among = tempfile::env::temp_dir();
        let spill = make(&among).map_err(|e| {
            Error::new(ErrorKind::Io, "no private folder can be made for what does not fit into memory")
                .op("open")
                .with("folder", among.display())
                .hint("make the folder for temporary files writable (TMPDIR)")
                .source(e)
        })?;
        // What cannot be removed is no reason not to answer questions.
        _ = sweep(&among, spill.path());
        Ok(spill)
    }

    /// The path of the folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn make(among: &Path) -> io::Result<Spill> {
    for _ in 0..TRIES {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder.tempdir_in(among)?;
        let lock = match File::create_new(folder.path().join(LOCK)) {
            Ok(lock) => lock,
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => return Err(e),
        };
        match lock.try_lock() {
            // Until now it looked like one that was left behind: it may be gone.
            Ok(()) if folder.path().join(LOCK).exists() => return Ok(Spill { folder, _lock: Some(lock) }),
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(_)) => return Ok(Spill { folder, _lock: None }),
        }
    }
    Err(io::Error::other("another process removes every folder at once"))
}

/// Removes the folders of this account that no process holds.
fn sweep(among: &Path, own: &Path) -> io::Result<()> {
    let account = account(&fs::symlink_metadata(own)?);
    for entry in fs::read_dir(among)?.flatten() {
        // A link, or a folder in which somebody else could have put anything, is left alone.
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry.metadata().is_ok_and(|m| m.is_dir() && self::account(&m) == account);
        if ours
            && let Ok(lock) = File::open(entry.path().join(LOCK))
            && lock.try_lock().is_ok()
        {
            _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

/// Whose a file is, as far as the system tells.
#[cfg(unix)]
fn account(metadata: &fs::Metadata) -> u32 {
    use std::os::unix::fs::MetadataExt as _;
    metadata.uid()
}

#[cfg(not(unix))]
fn account(_metadata: &fs::Metadata) -> u32 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(among: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(among)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_in_use_stays_and_what_nobody_holds_goes() {
        let among = tempfile::tempdir().unwrap();
        let among = among.path();
        let used = make(among).unwrap();
        let left = among.join("dbagent-duckdb-left");
        fs::create_dir(&left).unwrap();
        fs::write(left.join(LOCK), "").unwrap();
        fs::write(left.join("duckdb_temp_storage_DEFAULT-0.tmp"), "rows").unwrap();
        // Not ours, or not to be told: a folder without the file, one of another name, a file.
        for other in ["dbagent-duckdb-young", "other"] {
            fs::create_dir(among.join(other)).unwrap();
        }
        fs::write(among.join("other").join(LOCK), "").unwrap();
        fs::write(among.join("dbagent-duckdb-file"), "").unwrap();
        let own = make(among).unwrap();
        sweep(among, own.path()).unwrap();
        let name = |spill: &Spill| spill.path().file_name().unwrap().to_string_lossy().into_owned();
        let mut expected =
            vec!["dbagent-duckdb-file".to_owned(), "dbagent-duckdb-young".into(), "other".into()];
        expected.extend([name(&used), name(&own)]);
        expected.sort();
        assert_eq!(names(among), expected);
        drop((used, own));
        assert_eq!(names(among), ["dbagent-duckdb-file", "dbagent-duckdb-young", "other"]);
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_looks_into_it_and_links_are_left_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let among = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join(LOCK), "").unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), among.path().join("dbagent-duckdb-link")).unwrap();
        let own = make(among.path()).unwrap();
        assert_eq!(fs::metadata(own.path()).unwrap().permissions().mode() & 0o777, 0o700);
        sweep(among.path(), own.path()).unwrap();
        assert!(elsewhere.path().join(LOCK).exists());
    }
}
