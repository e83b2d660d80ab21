//! Looks at a file around SQLite's opening it, so that each thing that can be wrong has a name of its own.
//!
//! A file that is open as a database in this process must not be opened and closed beside SQLite: on Unix
//! that drops the locks of every connection to it. So before SQLite opens a file only its metadata are
//! read, and its bytes only once SQLite has said that it is no database.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use dbagent_core::text::near_misses;
use dbagent_core::{Error, ErrorKind, Result};

/// What is read of a file to tell what it is.
const SAMPLE: u64 = 1_024;
/// Bytes of a sample that are different from each other when it is encrypted, at least.
const ENCRYPTED_VARIETY: usize = 200;
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
        return Err(about(path, ErrorKind::IsDirectory, "the URL names a folder, not a database file")
            .hint("name a file in it"));
    }
    if !metadata.is_file() {
        return Err(about(path, ErrorKind::NotADatabase, "the URL names something that is no regular file")
            .hint("name a SQLite database file"));
    }
    Ok(identity_of(&metadata))
}

/// Says what it is that SQLite could not open.
pub(crate) fn cannot_open(path: &Path, e: rusqlite::Error) -> Error {
    match File::open(path) {
        Err(io) => unreachable_file(path, io),
        Ok(_) => crate::error::translate(e, crate::error::Phase::Run).with("file", path.display()),
    }
}

/// Says what a file is that SQLite does not take for a database.
pub(crate) fn not_a_database(path: &Path) -> Error {
    let mut sample = Vec::new();
    let read = File::open(path).and_then(|file| {
        let length = file.metadata()?.len();
        file.take(SAMPLE).read_to_end(&mut sample)?;
        Ok(length)
    });
    match read {
        Err(e) => unreachable_file(path, e),
        Ok(length) if looks_encrypted(&sample, length) => {
            about(path, ErrorKind::Encrypted, "the file seems to be an encrypted database").hint(
                "this build has no decryption: give it a plain copy, or pass a connection that can read it",
            )
        }
        Ok(_) => about(path, ErrorKind::NotADatabase, "the file is no SQLite database")
            .hint("its first bytes are not those of SQLite; check the path"),
    }
}

/// An encrypted database is pages of noise. Compressed files are noise as well, but say what they are.
fn looks_encrypted(sample: &[u8], length: u64) -> bool {
    let known: [&[u8]; 9] = [
        b"PK",
        b"\x1f\x8b",
        b"\x89PNG",
        b"\xff\xd8\xff",
        b"BZh",
        b"\xfd7zXZ",
        b"\x28\xb5\x2f\xfd",
        b"7z\xbc\xaf",
        b"%PDF",
    ];
    let mut seen = [false; 256];
    for byte in sample {
        if let Some(slot) = seen.get_mut(usize::from(*byte)) {
            *slot = true;
        }
    }
    let variety = seen.iter().filter(|s| **s).count();
    sample.len() as u64 == SAMPLE
        && length.is_multiple_of(512)
        && variety >= ENCRYPTED_VARIETY
        && !known.iter().any(|magic| sample.starts_with(magic))
}

fn unreachable_file(path: &Path, e: io::Error) -> Error {
    let (kind, message) = match e.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            (ErrorKind::DatabaseNotFound, "there is no such database file")
        }
        io::ErrorKind::PermissionDenied => (ErrorKind::Permission, "the file may not be read"),
        io::ErrorKind::IsADirectory => {
            (ErrorKind::IsDirectory, "the URL names a folder, not a database file")
        }
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

/// The absolute form of a path: connections are opened later too, whatever the working directory is then.
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
