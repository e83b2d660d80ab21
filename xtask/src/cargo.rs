//! Running cargo, with its output passed on as it comes.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;

use anyhow::{Context as _, Result, bail};
use cargo_metadata::{Message, TargetKind};

/// A cargo command in the given folder.
///
/// What the outer `cargo run` set for this process is taken out of its environment: a build script
/// that watches `CARGO_MANIFEST_DIR` would else run again each time somebody calls `cargo` by hand.
pub(crate) fn cargo(folder: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder).stdin(Stdio::null());
    for (name, _) in env::vars_os() {
        if is_set_by_cargo_run(&name) {
            command.env_remove(name);
        }
    }
    command
}

/// Runs a command with its output on the terminal; an error when it does not succeed.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    announce(command);
    let status = command.status().with_context(|| cannot_start(command))?;
    check(command, status)
}

/// Runs a command and returns what it printed; an error, with what it complained, when it does not succeed.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::piped()).output().with_context(|| cannot_start(command))?;
    if !output.status.success() {
        bail!(
            "`{}` ended with {}: {}",
            shown(command),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    String::from_utf8(output.stdout)
        .with_context(|| format!("`{}` printed bytes that are not UTF-8", shown(command)))
}

/// Runs a command and hands each line of its output on as it comes.
pub(crate) fn stream(command: &mut Command, mut take: impl FnMut(String)) -> Result<ExitStatus> {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| cannot_start(command))?;
    let (sender, lines) = mpsc::sync_channel(1024);
    let readers: Vec<_> = [
        child.stdout.take().map(|pipe| read_lines(pipe, sender.clone())),
        child.stderr.take().map(|pipe| read_lines(pipe, sender)),
    ]
    .into_iter()
    .flatten()
    .collect();

    for line in lines {
        take(line);
    }
    for reader in readers {
        reader.join().ok();
    }
    child.wait().with_context(|| format!("cannot wait for `{}`", shown(command)))
}

/// One program that cargo built.
#[derive(Debug)]
pub(crate) struct Program {
    /// The name of its target.
    pub(crate) name: String,
    /// The name of the folder of its package.
    pub(crate) package_folder: PathBuf,
    /// Whether it is an example.
    pub(crate) is_example: bool,
    /// Whether it is a test program.
    pub(crate) is_test: bool,
    /// Whether its documentation may have examples that are tests.
    pub(crate) has_documentation_tests: bool,
    /// Where cargo put it.
    pub(crate) path: PathBuf,
}

/// Builds with the given arguments and returns the programs that came of it.
pub(crate) fn build(
    folder: &Path,
    arguments: &[String],
    environment: &[(String, OsString)],
) -> Result<Vec<Program>> {
    let mut command = cargo(folder);
    command.envs(environment.iter().cloned());
    command.arg("build").args(arguments);
    programs(folder, command)
}

/// Runs a command that builds and returns the programs that came of it.
pub(crate) fn programs(folder: &Path, mut command: Command) -> Result<Vec<Program>> {
    command.args(["--message-format", "json-render-diagnostics"]);
    announce(&command);
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| cannot_start(&command))?;
    let mut programs = Vec::new();
    if let Some(pipe) = child.stdout.take() {
        for message in Message::parse_stream(BufReader::new(pipe)) {
            let Message::CompilerArtifact(artifact) =
                message.context("cannot read what cargo says it built")?
            else {
                continue;
            };
            let Some(path) = artifact.executable else { continue };
            let manifest = artifact.manifest_path.into_std_path_buf();
            programs.push(Program {
                name: artifact.target.name,
                package_folder: manifest.parent().unwrap_or(folder).to_owned(),
                is_example: artifact.target.kind.contains(&TargetKind::Example),
                is_test: artifact.profile.test,
                has_documentation_tests: artifact.target.doctest,
                path: path.into_std_path_buf(),
            });
        }
    }
    let status = child.wait().with_context(|| format!("cannot wait for `{}`", shown(&command)))?;
    check(&command, status)?;
    Ok(programs)
}

/// The command as a person would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_stem().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    if word.is_empty() || word.contains(char::is_whitespace) { format!("'{word}'") } else { word.to_owned() }
}

/// Prints the command as a person would type it.
pub(crate) fn announce(command: &Command) {
    println!("$ {}", shown(command));
}

fn check(command: &Command, status: ExitStatus) -> Result<()> {
    if !status.success() {
        bail!("`{}` ended with {status}; its output above says why", shown(command));
    }
    Ok(())
}

fn cannot_start(command: &Command) -> String {
    format!("cannot start `{}`; is it installed and on PATH?", shown(command))
}

fn is_set_by_cargo_run(name: &OsStr) -> bool {
    const NAMES: &[&str] = &[
        "CARGO_MANIFEST_DIR",
        "CARGO_MANIFEST_PATH",
        "CARGO_MANIFEST_LINKS",
        "CARGO_CRATE_NAME",
        "CARGO_BIN_NAME",
        "CARGO_PRIMARY_PACKAGE",
        "OUT_DIR",
    ];
    name.to_str().is_some_and(|name| NAMES.contains(&name) || name.starts_with("CARGO_PKG_"))
}

/// Sends every line of a pipe on, whatever its bytes.
fn read_lines(pipe: impl Read + Send + 'static, sender: mpsc::SyncSender<String>) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut bytes = Vec::new();
        while pipe.read_until(b'\n', &mut bytes).is_ok_and(|read| read > 0) {
            let line = String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_owned();
            if sender.send(line).is_err() {
                return;
            }
            bytes.clear();
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_a_person_would_type_it() {
        let mut command = Command::new("/opt/rust/bin/cargo");
        command.args(["test", "-p", "dbagent", "--", "two words"]);
        assert_eq!(shown(&command), "cargo test -p dbagent -- 'two words'");
    }

    #[test]
    fn what_cargo_run_sets_is_recognised() {
        assert!(is_set_by_cargo_run(OsStr::new("CARGO_PKG_VERSION")));
        assert!(is_set_by_cargo_run(OsStr::new("CARGO_MANIFEST_DIR")));
        assert!(!is_set_by_cargo_run(OsStr::new("CARGO_TARGET_DIR")));
        assert!(!is_set_by_cargo_run(OsStr::new("CARGO_TERM_COLOR")));
    }

    #[test]
    fn lines_come_through_whatever_their_bytes_and_endings() {
        let (sender, lines) = mpsc::sync_channel(8);
        let reader = read_lines(std::io::Cursor::new(b"one\r\ntwo \xff\nlast".to_vec()), sender);
        assert_eq!(lines.into_iter().collect::<Vec<_>>(), ["one", "two \u{fffd}", "last"]);
        reader.join().unwrap();
    }
}
