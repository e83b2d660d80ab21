//! The DuckDB library: nothing to start, only to fetch, so that nobody compiles its C++.
//!
//! DuckDB publishes it inside its Java driver. The name that the file gives itself is rewritten in
//! place, so that a program linked with `-lduckdb` finds it again under `libduckdb.so`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cache::{Cache, say};
use crate::error::{Doing as _, Error, Result};
use crate::os;
use crate::packages::maven::{Artifact, read_entry};
use crate::packages::{Package, check_sum};

/// Of the Java driver; the library in it is 2.0.0.
pub(super) const VERSION: &str = "2.0.0.1";

/// `libduckdb-sys` 1.20000.1 is made of the very commit that this was built from.
const JAR: Artifact = Artifact {
    group: "org.duckdb",
    name: "duckdb_jdbc",
    version: VERSION,
    sha256: "6cb8b0e0fc51b2e45aead2d2c1e1fd09dd10267db2966e69aaab0de67319f826",
};

/// The library with its own name rewritten.
const LIBRARY_SHA256: &str = "4db178cc927793db25eb33e62a8a6bdb4cf222ebf83f6308e0e489de81f2ff21";

const OLD_NAME: &[u8] = b"\0libduckdb_java.so_linux_amd64\0";
const NEW_NAME: &[u8] = b"\0libduckdb.so\0";

/// Fetches the library where it is not there yet.
pub(super) fn fetch(cache: &Cache) -> Result<Package> {
    os::supported()?;
    let folder = cache.ready("packages", &folder_name(), unpack)?;
    Ok(Package { version: VERSION.to_owned(), folder })
}

/// What a build must be told.
pub(super) fn variables(cache: &Cache) -> Vec<(&'static str, String)> {
    let folder = library_folder(&cache.path().join("packages").join(folder_name()));
    vec![("DUCKDB_LIB_DIR", folder.display().to_string())]
}

/// The name of its folder among the packages of the cache.
pub(super) fn folder_name() -> String {
    format!("duckdb-{VERSION}")
}

fn library_folder(folder: &Path) -> PathBuf {
    folder.join("lib")
}

fn unpack(partial: &Path) -> Result<()> {
    let jar = JAR.fetch(partial)?;
    say("unpacking the DuckDB library, 69 MB");
    let mut library = read_entry(&jar, "libduckdb_java.so_linux_amd64")?;
    rename(&mut library)?;
    let folder = library_folder(partial);
    crate::cache::open_folder(&folder)?;
    let path = folder.join("libduckdb.so");
    fs::write(&path, library).doing(|| format!("cannot write {}", path.display()))?;
    check_sum(&path, LIBRARY_SHA256)?;
    fs::remove_file(&jar).doing(|| format!("cannot remove {}", jar.display()))
}

/// Rewrites the one place where the library names itself, without moving anything.
fn rename(library: &mut [u8]) -> Result<()> {
    let places: Vec<usize> = library
        .windows(OLD_NAME.len())
        .enumerate()
        .filter(|(_, bytes)| *bytes == OLD_NAME)
        .map(|(at, _)| at)
        .collect();
    let [place] = places.as_slice() else {
        return Err(Error::new(format!(
            "the DuckDB library names itself {} times where once is expected",
            places.len()
        )));
    };
    let bytes = library.iter_mut().skip(*place).take(OLD_NAME.len());
    for (byte, new) in bytes.zip(NEW_NAME.iter().copied().chain(std::iter::repeat(0))) {
        *byte = new;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_rewritten_in_place() {
        let mut library = [b"code".as_slice(), OLD_NAME, b"more"].concat();
        let length = library.len();
        rename(&mut library).unwrap();
        assert_eq!(library.len(), length);
        assert!(library.starts_with(b"code\0libduckdb.so\0\0\0"));
        assert!(library.ends_with(b"\0\0more"));
        assert!(rename(&mut library).unwrap_err().to_string().contains("0 times"));
        assert!(rename(&mut [OLD_NAME, OLD_NAME].concat()).is_err());
    }
}
