//! The sample database of the demo: Chinook, a music shop, embedded compressed.

use std::io::Read as _;
use std::path::PathBuf;

use dbagent::{Error, ErrorKind};
use flate2::read::GzDecoder;
use tempfile::TempDir;

/// Chinook by Luis Rocha, MIT; its licence is `assets/LICENSE-CHINOOK.md`.
static CHINOOK: &[u8] = include_bytes!("../assets/chinook.sqlite.gz");

/// The sample database in a folder of its own, which goes when this is dropped.
pub(crate) struct Sample {
    folder: TempDir,
}

impl Sample {
    /// Unpacks it into a new folder that only this user can read.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when the folder for temporary files cannot be written.
    pub(crate) fn unpack() -> Result<Self, Error> {
        let failed = |e: std::io::Error| {
            Error::new(ErrorKind::Io, "the sample database cannot be unpacked")
                .with("folder", std::env::temp_dir().display())
                .hint("free some space there, or set TMPDIR to another folder")
                .source(e)
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix("dbagent-demo-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder.tempdir().map_err(failed)?;
        let mut bytes = Vec::new();
        GzDecoder::new(CHINOOK).read_to_end(&mut bytes).map_err(failed)?;
        let sample = Self { folder };
        std::fs::write(sample.path(), bytes).map_err(failed)?;
        Ok(sample)
    }

    /// Removes the folder from elsewhere, when nothing is dropped any more.
    pub(crate) fn remover(&self) -> impl FnOnce() + Send + 'static {
        let folder = self.folder.path().to_owned();
        // What cannot be removed stays for whoever cleans the folder for temporary files.
        move || _ = std::fs::remove_dir_all(folder)
    }

    /// The database file.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("chinook.db")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_unpacks_and_goes_away() {
        let sample = Sample::unpack().unwrap();
        let path = sample.path();
        assert!(std::fs::read(&path).unwrap().starts_with(b"SQLite format 3\0"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(path.parent().unwrap()).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0);
        }
        drop(sample);
        assert!(!path.exists());
    }
}
