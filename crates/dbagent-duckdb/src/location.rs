//! Reads a URL as the place of a database file or of a data lake. Pure: no file is touched.

use std::path::PathBuf;

use dbagent_core::text::near_misses;
use dbagent_core::{ConnUrl, Error, ErrorKind, Result};

/// The parameters that a URL may have.
const PARAMETERS: &[&str] = &["memory_limit", "mode", "threads"];
/// The engine's memory where the URL says nothing.
const MEMORY: &str = "1GB";
/// Most threads that a URL may ask for.
const MAX_THREADS: usize = 256;

/// Where the data is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// A database file, as the URL writes it: relative to the working directory, absolute, or a Windows path.
    File(PathBuf),
    /// A folder whose files are tables.
    Lake(PathBuf),
}

/// Where the data is and what the engine may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) place: Place,
    /// Memory of the engine, in its own words.
    pub(crate) memory: String,
    /// Threads of the engine; as many as the machine has, at most four, where the URL says nothing.
    pub(crate) threads: Option<usize>,
}

impl Location {
    /// Reads `duckdb:///relative.db`, `duckdb:////absolute.db`, `duckdb:///C:/x.db`, `duckdb:///folder/`.
    ///
    /// # Errors
    /// [`ErrorKind::Config`], each with what to write instead.
    pub(crate) fn of(url: &ConnUrl) -> Result<Self> {
        let config = |message: &str| Error::new(ErrorKind::Config, message).with("url", url);
        if url.has_user_info() {
            return Err(config("a DuckDB database has no accounts, but the URL names a user")
                .hint("leave out everything up to the @; files are protected by the file system"));
        }
        let rest = url.decoded_rest()?;
        if rest == ":memory:" || rest == "/:memory:" {
            return Err(config("a database in memory cannot be opened by a URL: it would be empty")
                .hint("a Rust host passes the connection that holds it: dbagent_duckdb::from_connection"));
        }
        let path = match rest.strip_prefix('/') {
            Some(path) => path,
            None if is_windows_path(&rest) => &rest,
            None if rest.is_empty() => "",
            None => {
                return Err(config("the URL names a host, and DuckDB databases are files").hint(format!(
                    "write three slashes for a relative path (duckdb:///{rest}), four for an absolute one \
                     (duckdb:////{rest})"
                )));
            }
        };
        if path.is_empty() {
            return Err(config("the URL names no file").hint(
                "write duckdb:///file.db or duckdb:////folder/file.db; a folder of data files ends in a slash, \
                 and the working directory is duckdb:///./",
            ));
        }
        let place = if path.ends_with('/') || (is_windows_path(path) && path.ends_with('\\')) {
            Place::Lake(PathBuf::from(path))
        } else {
            Place::File(PathBuf::from(path))
        };
        let mut location = Self { place, memory: MEMORY.to_owned(), threads: None };
        location.parameters(url)?;
        Ok(location)
    }

    fn parameters(&mut self, url: &ConnUrl) -> Result<()> {
        let mut seen: Vec<&str> = Vec::new();
        for (key, value) in url.query() {
            let bad = |message: String| Error::new(ErrorKind::Config, message).with("url", url);
            if seen.contains(&key.as_str()) {
                return Err(bad(format!("the URL gives {key} twice")).hint("once is enough"));
            }
            seen.push(key);
            let value = value.expose();
            match key.as_str() {
                "mode" if value == "ro" => {}
                "mode" => {
                    return Err(bad("mode can only be ro: a session never writes to the file".to_owned())
                        .hint("leave mode out, it is read-only anyway"));
                }
                "memory_limit" if is_size(value) => value.clone_into(&mut self.memory),
                "memory_limit" => {
                    return Err(bad("memory_limit must be a number of MB or GB".to_owned())
                        .hint("write memory_limit=512MB or memory_limit=2GB"));
                }
                "threads" => match value.parse().ok().filter(|n| (1..=MAX_THREADS).contains(n)) {
                    Some(threads) => self.threads = Some(threads),
                    None => {
                        return Err(bad(format!("threads must be a number from 1 to {MAX_THREADS}"))
                            .hint("leave threads out for one per core, at most four"));
                    }
                },
                other => {
                    let e = bad(format!("unknown parameter {other:?} in the URL"))
                        .with("known parameters", PARAMETERS.join(", "));
                    return Err(match near_misses(other, PARAMETERS.iter().copied(), 1).first() {
                        Some(near) => e.hint(format!("did you mean {near}?")),
                        None => e.hint("leave it out"),
                    });
                }
            }
        }
        Ok(())
    }
}

/// Whether a value is a size of memory, such as `512MB`: digits and a unit, nothing that could be more.
fn is_size(value: &str) -> bool {
    let digits = value.strip_suffix("MB").or_else(|| value.strip_suffix("GB"));
    digits.is_some_and(|d| {
        (1..=6).contains(&d.len()) && d.bytes().all(|b| b.is_ascii_digit()) && !d.starts_with('0')
    })
}

/// Whether a path begins with a drive or a share.
fn is_windows_path(path: &str) -> bool {
    let mut chars = path.chars();
    let drive = chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && matches!(chars.next(), Some('\\' | '/'));
    drive || path.starts_with("\\\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Location> {
        Location::of(&ConnUrl::parse(text).unwrap())
    }

    #[test]
    fn files_and_folders_are_named_in_every_form() {
        let file = |p: &str| Place::File(PathBuf::from(p));
        let lake = |p: &str| Place::Lake(PathBuf::from(p));
        for (url, place) in [
            ("duckdb:///relative.db", file("relative.db")),
            ("duckdb:///data/relative.duckdb", file("data/relative.duckdb")),
            ("duckdb:////absolute.db", file("/absolute.db")),
            ("duckdb:///../up.db?mode=ro", file("../up.db")),
            ("duckdb:///C:/x.db", file("C:/x.db")),
            ("duckdb://C:\\data\\x.db", file("C:\\data\\x.db")),
            ("duckdb:///a%20b%3Fc.db", file("a b?c.db")),
            ("duckdb:///ünïcode.db", file("ünïcode.db")),
            ("duckdb:///lake/", lake("lake/")),
            ("duckdb:////data/lake/", lake("/data/lake/")),
            ("duckdb:///./", lake("./")),
            ("duckdb:///C:\\lake\\", lake("C:\\lake\\")),
            ("duckdb:////", lake("/")),
        ] {
            assert_eq!(of(url).unwrap().place, place, "{url}");
        }
        let tuned = of("duckdb:///x.db?memory_limit=512MB&threads=2").unwrap();
        assert_eq!((tuned.memory.as_str(), tuned.threads), ("512MB", Some(2)));
    }

    #[test]
    fn what_is_no_file_says_what_to_write() {
        for (url, message, hint) in [
            ("duckdb://:memory:", "in memory", "from_connection"),
            ("duckdb:///:memory:", "in memory", "from_connection"),
            ("duckdb://data.db", "names a host", "duckdb:///data.db"),
            ("duckdb://", "names no file", "duckdb:///file.db"),
            ("duckdb:///", "names no file", "ends in a slash"),
            ("duckdb://bob:pw@/x.db", "no accounts", "leave out"),
            ("duckdb:///x.db?mode=rw", "only be ro", "leave mode out"),
            ("duckdb:///x.db?memory_limit=9'; DROP", "number of MB or GB", "512MB"),
            ("duckdb:///x.db?memory_limit=0MB", "number of MB or GB", "512MB"),
            ("duckdb:///x.db?threads=0", "from 1 to 256", "leave threads out"),
            ("duckdb:///x.db?thread=2", "unknown parameter \"thread\"", "did you mean threads?"),
            ("duckdb:///x.db?mode=ro&mode=ro", "twice", "once"),
            ("duckdb:///x.db?zzz=1", "unknown parameter", "leave it out"),
        ] {
            let e = of(url).unwrap_err();
            assert_eq!(e.kind(), ErrorKind::Config, "{url}");
            assert!(e.to_string().contains(message), "{url}: {e}");
            assert!(e.hint_text().unwrap().contains(hint), "{url}: {:?}", e.hint_text());
            assert!(!format!("{e} {e:?}").contains("pw"), "{url}");
        }
    }
}
