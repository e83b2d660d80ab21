//! Real servers, really started.
//!
//! What cannot be had prints `SKIPPED name: why`; with the name in `DBAGENT_REQUIRE` that is a failure.

// Servers are to be had on Linux only; what these tests look at is in /proc.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test may end early, and says what it skips")]

mod accounts;
mod checkout;
mod client;
mod killed;
mod throwaway;

use dbagent_services::{Cache, Checkout, Server};
use tempfile::TempDir;

/// A server of the test's own, or a line that says why not.
fn server(name: &str) -> Option<Server> {
    had(name, Server::throwaway(name))
}

fn had<T>(name: &str, found: dbagent_services::Result<T>) -> Option<T> {
    match found {
        Ok(found) => Some(found),
        Err(why) => {
            let required = std::env::var("DBAGENT_REQUIRE").unwrap_or_default();
            assert!(
                !required.split(',').any(|required| required.trim() == name),
                "{name} is required: {why}"
            );
            println!("SKIPPED {name}: {why}");
            None
        }
    }
}

/// A cache of a test's own that shares with the real one what was fetched, and removes the rest.
struct Scratch {
    cache: Cache,
    _folder: TempDir,
}

impl Scratch {
    /// None where servers cannot be had at all; the line that says so names the service.
    fn sharing(shared: &[&str], name: &str) -> Option<Self> {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let real = had(name, Cache::of_environment())?;
        let folder = tempfile::Builder::new().prefix("tests-").tempdir_in(real.path()).unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        for section in shared {
            std::fs::create_dir_all(real.path().join(section)).unwrap();
            symlink(real.path().join(section), folder.path().join(section)).unwrap();
        }
        let cache = Cache::at(folder.path()).unwrap();
        Some(Self { cache, _folder: folder })
    }

    /// The servers of a checkout that is only a folder. They are stopped when this is dropped.
    fn checkout(&self, name: &str) -> Guarded {
        let root = self.cache.path().join("roots").join(name);
        std::fs::create_dir_all(&root).unwrap();
        Guarded(Checkout::of(self.cache.clone(), &root).unwrap())
    }
}

/// Stops all servers of a checkout in the end, also after a panic.
struct Guarded(Checkout);

impl std::ops::Deref for Guarded {
    type Target = Checkout;

    fn deref(&self) -> &Checkout {
        &self.0
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        for name in dbagent_services::names() {
            self.0.wipe(name).ok();
        }
    }
}

/// The process of a service that is up.
fn pid(checkout: &Checkout, name: &str) -> Option<u32> {
    match checkout.status(name).unwrap().state {
        dbagent_services::State::Up { pid, .. } => Some(pid),
        _ => None,
    }
}

/// One of the variables of a service.
fn variable(checkout: &Checkout, name: &str, variable: &str) -> Option<String> {
    let variables = checkout.variables(name).unwrap();
    variables.into_iter().find(|(found, _)| found == variable).map(|(_, value)| value)
}

/// Whether a process is gone, or is only remembered until its parent asks.
fn has_ended(pid: u32) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return true };
    status.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('Z'))
}
