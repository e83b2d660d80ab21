//! Looks at a file around the engine's opening it, so that each thing that can be wrong has a name of its own.
//!
//! A file that is open as a database in this process must not be opened and closed beside the engine: on
//! Unix that drops the locks of every connection to it. So before the engine opens a file only its metadata
//! are read, and its bytes only once the engine could not open it.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use dbagent_core::text::near_misses;
use dbagent_core::{Error, ErrorKind, Result, Retry};

use crate::error::{self, Phase, exception};

/// Bytes that tell what a file is: the main header and two headers of the database, 4 KiB each.
const HEADERS: usize = 3 * BLOCK;
const BLOCK: usize = 4_096;
const MAGIC: &[u8] = b"DUCK";
/// The version in the main header that says: look into the headers of the database.
const ELSEWHERE: u64 = 999;
/// The newest storage that the library of this build reads.
const NEWEST_STORAGE: u64 = 69;
/// Files of a folder that are looked at for a similar name.
const NEIGHBOURS: usize = 1_000;

/// Which file a path leads to, so that a replaced one is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    file: u64,
}

/// Checks that a path leads to a file, and says to which.
///
/// # Errors
/// [`ErrorKind::DatabaseNotFound`], [`ErrorKind::IsDirectory`], [`ErrorKind::Permission`],
/// [`ErrorKind::NotADatabase`], [`ErrorKind::Io`].
pub(crate) fn identity(path: &Path) -> Result<Identity> {
    let metadata = fs::metadata(path).map_err(|e| unreachable_file(path, e))?;
    if metadata.is_dir() {
        return Err(about(path, ErrorKind::IsDirectory, "the URL names a folder, not a database file").hint(
            "name a file in it; to read its Parquet, CSV and JSON files as tables, end the URL in a slash",
        ));
    }
    if !metadata.is_file() {
        return Err(about(path, ErrorKind::NotADatabase, "the URL names something that is no regular file")
            .hint("name a DuckDB database file"));
    }
    Ok(identity_of(&metadata))
}

/// Says why the engine could not open a file.
pub(crate) fn cannot_open(path: &Path, e: duckdb::Error) -> Error {
    let mut header = Vec::new();
    let opened = File::open(path).and_then(|file| {
        (&file).take(HEADERS as u64).read_to_end(&mut header)?;
        Ok(file)
    });
    let file = match opened {
        Ok(file) => file,
        Err(io) => return unreachable_file(path, io),
    };
    if header.get(8..12) != Some(MAGIC) {
        return about(path, ErrorKind::NotADatabase, "the file is no DuckDB database")
            .hint("its first bytes are not those of DuckDB; check the path, or open a SQLite file by sqlite:///")
            .source(e);
    }
    if is_locked(&file) {
        return about(path, ErrorKind::Locked, "another process has the database open for writing")
            .hint("close it there, or let it open the file read-only; many processes may read at once")
            .retry(Retry::Later)
            .source(e);
    }
    if word(&header, 20).is_some_and(|flags| flags & 1 == 1) {
        return about(path, ErrorKind::Encrypted, "the database is encrypted")
            .hint("no key can be given here: write a plain copy with the duckdb shell")
            .source(e);
    }
    // Where checksums do not agree, no figure behind them means anything.
    let damaged = exception(&e).kind.eq_ignore_ascii_case("data corruption");
    if let Some(version) = storage_version(&header).filter(|v| *v > NEWEST_STORAGE && !damaged) {
        return about(path, ErrorKind::Incompatible, "the file was written by a newer version of DuckDB")
            .with("storage version", version)
            .with("newest known", NEWEST_STORAGE)
            .hint("use a newer dbagent, or write the file again with the older storage (ATTACH … (STORAGE_VERSION …))")
            .source(e);
    }
    // With a good header, what cannot be read behind it is damage, unless the disk says otherwise.
    let translated = error::translate(e, Phase::Open);
    let kind = match translated.kind() {
        ErrorKind::Io => ErrorKind::Corrupt,
        other => other,
    };
    about(path, kind, translated.message())
        .hint(match kind {
            ErrorKind::Corrupt => "the file is damaged or cut short: restore a backup",
            _ => "check the file with the duckdb shell",
        })
        .source(translated)
}

/// A number of eight bytes, the lowest first.
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map(u64::from_le_bytes)
}

/// The version of the storage: in the main header, or in that header of the database that was written last.
fn storage_version(header: &[u8]) -> Option<u64> {
    let main = word(header, 12)?;
    if main != ELSEWHERE {
        return Some(main);
    }
    // Behind a checksum: how often the header was written, and at the end of the figures the version.
    let of = |block: usize| Some((word(header, block + 8)?, word(header, block + 56)?));
    [of(BLOCK), of(2 * BLOCK)].into_iter().flatten().max().map(|(_, version)| version)
}

/// Whether another process holds a lock that reading would have to wait for.
#[cfg(unix)]
fn is_locked(file: &File) -> bool {
    use rustix::fs::{FlockOperation, fcntl_lock};
    use rustix::io::Errno;
    matches!(fcntl_lock(file, FlockOperation::NonBlockingLockShared), Err(Errno::ACCESS | Errno::AGAIN))
}

/// Where files are locked whole, one that could be read is not locked.
#[cfg(not(unix))]
fn is_locked(_file: &File) -> bool {
    false
}

fn unreachable_file(path: &Path, e: io::Error) -> Error {
    let (kind, message) = match e.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            (ErrorKind::DatabaseNotFound, "there is no such database file")
        }
        io::ErrorKind::PermissionDenied => (ErrorKind::Permission, "the file may not be read"),
        _ => (ErrorKind::Io, "the file cannot be read"),
    };
    let hint = match kind {
        ErrorKind::DatabaseNotFound => match neighbour(path) {
            Some(near) => format!("did you mean {near}? A missing database is never created"),
            None => "check the path; a missing database is never created".to_owned(),
        },
        ErrorKind::Permission => {
            "give this user the right to read the file and to enter its folders".to_owned()
        }
        _ => "check the path and the disk".to_owned(),
    };
    about(path, kind, message).hint(hint).source(e)
}

/// A file in the same folder with a similar name.
fn neighbour(path: &Path) -> Option<String> {
    let folder = match path.parent()? {
        here if here.as_os_str().is_empty() => Path::new("."),
        folder => folder,
    };
    let wanted = path.file_name()?.to_str()?;
    let files = fs::read_dir(folder).ok()?.take(NEIGHBOURS).flatten();
    let mut names: Vec<String> = files.filter_map(|f| f.file_name().into_string().ok()).collect();
    names.sort();
    near_misses(wanted, names.iter().map(String::as_str), 1).first().map(|n| (*n).to_owned())
}

pub(crate) fn about(path: &Path, kind: ErrorKind, message: &str) -> Error {
    Error::new(kind, message).op("open").with("file", path.display())
}

/// The absolute form of a path: it is opened again later too, whatever the working directory is then.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path)
        .map_err(|e| about(path, ErrorKind::Io, "the working directory cannot be told").source(e))
}

#[cfg(unix)]
fn identity_of(metadata: &fs::Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt as _;
    Identity { device: metadata.dev(), file: metadata.ino() }
}

/// Where files have no numbers, an open database cannot be replaced either.
#[cfg(not(unix))]
fn identity_of(_metadata: &fs::Metadata) -> Identity {
    Identity { device: 0, file: 0 }
}
