//! Looks through a folder for data files. Links are not followed: what they lead to may be anywhere.

use std::fmt;
use std::path::Path;
use std::time::SystemTime;

use dbagent_core::{ErrorKind, Result};

use crate::file::about;

/// Files that a lake may have.
const MAX_FILES: usize = 10_000;
/// How deep folders are entered.
const MAX_DEPTH: usize = 16;

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Format {
    Parquet,
    Csv,
    Json,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Parquet => "Parquet",
            Format::Csv => "CSV",
            Format::Json => "JSON",
        })
    }
}

impl Format {
    /// The format and the rest of a file's name.
    pub(super) fn of(name: &str) -> Option<(Format, &str)> {
        let strip = |name: &'_ str, ending: &str| -> Option<usize> {
            let at = name.len().checked_sub(ending.len())?;
            name.get(at..).filter(|e| e.eq_ignore_ascii_case(ending)).map(|_| at)
        };
        let plain = [".gz", ".zst"].iter().find_map(|e| strip(name, e)).and_then(|at| name.get(..at));
        let packed = plain.is_some();
        let name = plain.unwrap_or(name);
        let endings: [(&str, Format); 6] = [
            (".parquet", Format::Parquet),
            (".csv", Format::Csv),
            (".tsv", Format::Csv),
            (".json", Format::Json),
            (".jsonl", Format::Json),
            (".ndjson", Format::Json),
        ];
        let (format, stem) = endings
            .iter()
            .find_map(|(e, format)| strip(name, e).and_then(|at| Some((*format, name.get(..at)?))))?;
        let readable = !packed || format != Format::Parquet;
        (readable && !stem.is_empty()).then_some((format, stem))
    }

    /// The word by which tables of the same name are told apart.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Format::Parquet => "parquet",
            Format::Csv => "csv",
            Format::Json => "json",
        }
    }
}

/// A data file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DataFile {
    /// Below the folder, with slashes.
    pub(super) path: String,
    pub(super) format: Format,
    length: u64,
    modified: Option<SystemTime>,
}

/// Everything that was found, in order of the paths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Scan {
    pub(super) files: Vec<DataFile>,
}

impl Scan {
    /// Looks through a folder.
    ///
    /// # Errors
    /// What the file system says of the folder itself; [`ErrorKind::TooLarge`] for too many files.
    pub(crate) fn of(folder: &Path) -> Result<Self> {
        let mut scan = Self::default();
        scan.enter(folder, folder, "", 0)?;
        scan.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(scan)
    }

    fn enter(&mut self, root: &Path, folder: &Path, prefix: &str, depth: usize) -> Result<()> {
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            // A folder inside that is closed, or gone by now, takes nothing else with it.
            Err(_) if depth > 0 => return Ok(()),
            Err(e) => {
                let kind = match e.kind() {
                    std::io::ErrorKind::NotFound => ErrorKind::DatabaseNotFound,
                    std::io::ErrorKind::PermissionDenied => ErrorKind::Permission,
                    _ => ErrorKind::Io,
                };
                return Err(about(root, kind, "the folder cannot be read").source(e));
            }
        };
        for entry in entries.flatten() {
            // A name that is no text cannot be written in a statement.
            let Ok(name) = entry.file_name().into_string() else { continue };
            // Hidden files, and what writers keep beside their data.
            if name.starts_with(['.', '_']) {
                continue;
            }
            // Of the entry itself: a link is neither a file nor a folder.
            let Ok(metadata) = entry.metadata() else { continue };
            let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
            if metadata.is_dir() {
                if depth < MAX_DEPTH {
                    self.enter(root, &entry.path(), &path, depth + 1)?;
                }
            } else if metadata.is_file()
                && let Some((format, _)) = Format::of(&name)
            {
                if self.files.len() >= MAX_FILES {
                    return Err(about(root, ErrorKind::TooLarge, "the folder holds too many data files")
                        .with("most", MAX_FILES)
                        .hint("name a folder further down, or join small files into larger ones"));
                }
                self.files.push(DataFile {
                    path,
                    format,
                    length: metadata.len(),
                    modified: metadata.modified().ok(),
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_endings() {
        for (name, expected) in [
            ("a.parquet", Some((Format::Parquet, "a"))),
            ("a.b.CSV", Some((Format::Csv, "a.b"))),
            ("a.csv.gz", Some((Format::Csv, "a"))),
            ("a.jsonl.zst", Some((Format::Json, "a"))),
            ("a.ndjson", Some((Format::Json, "a"))),
            ("a.parquet.gz", None),
            (".csv", None),
            ("a.db", None),
            ("é", None),
            ("csv", None),
        ] {
            assert_eq!(Format::of(name), expected, "{name}");
        }
    }
}
