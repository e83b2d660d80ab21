//! Known vulnerabilities, where there is a tool and a network to ask; never a reason to fail or to hang.

use std::env;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::Result;

use crate::{cargo, deadline, report, tools};

/// Where both tools fetch the advisory database from.
const DATABASE_HOST: (&str, u16) = ("github.com", 443);
const REACH_LIMIT: Duration = Duration::from_secs(4);
const RUN_LIMIT: Duration = Duration::from_mins(2);

/// The program that must be on PATH, and the words for cargo.
const SCANNERS: &[(&str, &[&str])] =
    &[("cargo-deny", &["deny", "check", "advisories"]), ("cargo-audit", &["audit"])];

/// Prints the advisories that concern us; answers why not when it could not.
pub(super) fn show(root: &Path) -> Result<Option<String>> {
    let Some(words) = scanner(tools::is_on_path) else {
        return Ok(Some(
            "neither cargo-deny nor cargo-audit is installed (`cargo install cargo-deny`)".to_owned(),
        ));
    };
    if !is_reachable() {
        return Ok(Some(format!(
            "{} cannot be reached, which serves the advisory database",
            DATABASE_HOST.0
        )));
    }
    let mut command: Command = cargo::cargo(root);
    command.args(words);
    let shown = cargo::shown(&command);
    match deadline::run_within(&mut command, RUN_LIMIT)? {
        None => Ok(Some(format!("`{shown}` did not end within {}", report::duration(RUN_LIMIT)))),
        Some(status) if status.success() => Ok(None),
        Some(_) => {
            println!("advisories: `{shown}` has something to say, see above; this is a warning");
            Ok(None)
        }
    }
}

fn scanner(is_installed: impl Fn(&str) -> bool) -> Option<&'static [&'static str]> {
    SCANNERS.iter().find(|(program, _)| is_installed(program)).map(|(_, words)| *words)
}

/// Whether the database's host answers in time. Behind a proxy only the tool itself can find out.
fn is_reachable() -> bool {
    let has_proxy =
        ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"].iter().any(|name| env::var_os(name).is_some());
    has_proxy
        || answers_within(REACH_LIMIT, || {
            let addresses = DATABASE_HOST.to_socket_addrs().into_iter().flatten();
            addresses.into_iter().any(|address| TcpStream::connect_timeout(&address, REACH_LIMIT).is_ok())
        })
}

/// What `look` finds, or false when it takes too long: looking up a name has no limit of its own.
fn answers_within(limit: Duration, look: impl FnOnce() -> bool + Send + 'static) -> bool {
    let (sender, answer) = mpsc::channel();
    thread::spawn(move || sender.send(look()).ok());
    answer.recv_timeout(limit).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_scanner_that_is_installed_is_used() {
        assert_eq!(scanner(|_| true).unwrap(), ["deny", "check", "advisories"]);
        assert_eq!(scanner(|program| program == "cargo-audit").unwrap(), ["audit"]);
        assert!(scanner(|_| false).is_none());
    }

    #[test]
    fn a_look_up_that_hangs_is_not_waited_for() {
        let (held, hangs) = mpsc::channel::<bool>();
        assert!(!answers_within(Duration::from_millis(10), move || hangs.recv().is_ok()));
        drop(held);
        assert!(answers_within(Duration::from_mins(1), || true));
    }
}
