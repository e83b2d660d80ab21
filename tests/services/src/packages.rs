//! Fetching programs through the clients of package registries, and unpacking them.

pub(crate) mod debian;
pub(crate) mod maven;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest as _, Sha256};

use crate::error::{Doing as _, Error, Result};
use crate::secrets::hex;

/// A program that is ready to be started.
#[derive(Debug, Clone)]
pub(crate) struct Package {
    pub(crate) version: String,
    pub(crate) folder: PathBuf,
}

/// Runs a package client; when it fails, what it said is the reason.
pub(crate) fn run(command: &mut Command, advice: &str) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = match command.stdin(Stdio::null()).output() {
        Ok(output) => output,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Error::new(format!("`{name}` is not on PATH; {advice}")));
        }
        Err(error) => return Err(error).doing(|| format!("cannot start `{name}`")),
    };
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    // Maven resets the terminal's colours even where there is no terminal.
    let said = String::from_utf8_lossy(&said).replace("\u{1b}[0m", "");
    Err(Error::new(format!("`{name}` ended with {}: {}", output.status, reason(&said))))
}

/// What a client that failed said about it: the first of its errors, which the others follow from, or
/// else the end of it all.
fn reason(said: &str) -> String {
    let errors: Vec<&str> = said
        .lines()
        .map(str::trim)
        .filter(|line| ["[ERROR] ", "E: ", "dpkg-deb: error"].iter().any(|start| line.starts_with(start)))
        .take(2)
        .collect();
    if errors.is_empty() { last_lines(said, 6) } else { errors.join(" / ") }
}

/// The last lines that say something, as one.
pub(crate) fn last_lines(text: &str, count: usize) -> String {
    let mut lines: Vec<&str> =
        text.lines().map(str::trim).filter(|line| !line.is_empty()).rev().take(count).collect();
    lines.reverse();
    lines.join(" / ")
}

/// An error when the file does not have this SHA-256.
pub(crate) fn check_sum(path: &Path, expected: &str) -> Result<()> {
    let cannot = || format!("cannot read {}", path.display());
    let mut file = File::open(path).doing(cannot)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = io::Read::read(&mut file, &mut buffer).doing(cannot)?;
        let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
        hasher.update(bytes);
    }
    let found = hex(&hasher.finalize());
    if found == expected {
        return Ok(());
    }
    Err(Error::new(format!(
        "{} has the SHA-256 {found} where {expected} is expected: it was damaged on the way or is not what was \
         published before; remove it from the client's own cache and try again",
        path.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_that_differs_is_an_error_with_both() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "abc").unwrap();
        let right = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        check_sum(&path, right).unwrap();
        std::fs::write(&path, "abd").unwrap();
        let error = check_sum(&path, right).unwrap_err().to_string();
        assert!(error.contains(right) && error.contains("a52d159f262b2c6ddb724a61840befc3"), "{error}");
    }

    #[test]
    fn the_first_errors_of_a_client_are_the_reason() {
        let maven = "[ERROR] Could not create local repository\n[ERROR] \n[ERROR] To see the full stack trace\n[ERROR] more";
        assert_eq!(
            reason(maven),
            "[ERROR] Could not create local repository / [ERROR] To see the full stack trace"
        );
        assert_eq!(reason("W: old\nE: Unable to locate package x\n"), "E: Unable to locate package x");
        assert_eq!(reason("one\n\ntwo\n"), "one / two");
    }

    #[test]
    fn a_client_that_fails_or_is_missing_says_why() {
        let error = run(Command::new("sh").args(["-c", "echo one; echo two >&2; exit 3"]), "").unwrap_err();
        assert!(error.to_string().ends_with("exit status: 3: one / two"), "{error}");
        let error = run(&mut Command::new("dbagent-no-such-client"), "install it").unwrap_err();
        assert_eq!(error.to_string(), "`dbagent-no-such-client` is not on PATH; install it");
    }
}
