//! A server for the time of a run of tests, shared by runs that overlap.
//!
//! A file says that nobody but tests wants the server; each run holds a shared lock on it. Who gives
//! his back and finds himself the last one stops the server. The lock of a killed run is gone with
//! it, so the next run is the last one then.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::cache;
use crate::checkout::{Checkout, Up};
use crate::error::{Doing as _, Result};

/// A server that is there for as long as this is held.
#[derive(Debug)]
pub struct Lease {
    checkout: Checkout,
    name: &'static str,
    up: Up,
    /// None where somebody wants the server to stay.
    shared: Option<(PathBuf, File)>,
}

impl Lease {
    /// The lock of the service is held.
    pub(crate) fn take(checkout: Checkout, name: &'static str, folder: &Path, up: Up) -> Result<Self> {
        let path = path(folder, name);
        let is_for_tests = up == Up::Started || path.exists();
        let shared = if is_for_tests { Some((path.clone(), cache::lock_shared(&path)?)) } else { None };
        Ok(Self { checkout, name, up, shared })
    }

    /// Whether it was started for this.
    pub fn up(&self) -> Up {
        self.up
    }

    /// Gives it back; says whether it was stopped, as nobody else has one.
    pub fn give_back(mut self) -> Result<bool> {
        self.end()
    }

    fn end(&mut self) -> Result<bool> {
        let Some((path, ours)) = self.shared.take() else { return Ok(false) };
        let _lock = self.checkout.lock(self.name)?;
        drop(ours);
        // Gone where somebody said `up` or `down` meanwhile.
        if !path.exists() {
            return Ok(false);
        }
        let Some(_all) = cache::try_lock(&path)? else { return Ok(false) };
        forget_file(&path)?;
        Ok(self.checkout.down_locked(self.name)?.is_some())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Who wants to know gives it back.
        self.end().ok();
    }
}

/// From now on the server is somebody's own business. The lock of the service is held.
pub(crate) fn forget(folder: &Path, name: &str) -> Result<()> {
    forget_file(&path(folder, name))
}

fn forget_file(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).doing(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

fn path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.lease"))
}
