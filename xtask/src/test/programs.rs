//! The test programs of one workspace: built at once, run side by side.
//!
//! `cargo test` runs one after the other. The tests of servers wait far more than they work, for locks, for
//! deadlines, for a server that starts again; beside each other they take as long as the longest.

use std::collections::VecDeque;
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::{Suite, servers};
use crate::cargo::{self, Program};
use crate::workspace::Workspace;

/// What is to run.
pub(super) struct Run {
    jobs: VecDeque<Job>,
}

/// One program with its arguments.
struct Job {
    name: String,
    command: Command,
}

/// What became of one program.
pub(super) struct Ended {
    /// The package and the target.
    pub(super) name: String,
    /// All that it printed.
    pub(super) lines: Vec<String>,
    /// How long it ran.
    pub(super) took: Duration,
    /// Why it is not a success.
    pub(super) failure: Option<String>,
}

impl Run {
    /// Builds the tests of a workspace.
    pub(super) fn build(
        workspace: &Workspace,
        suite: &Suite,
        harness: &[String],
        environment: Vec<(String, OsString)>,
    ) -> Result<Self> {
        let cargo = |words: &[&str]| {
            let mut command = cargo::cargo(&suite.folder);
            command.env("CARGO_TARGET_DIR", workspace.target()).envs(environment.iter().cloned());
            command.arg("test").args(words).args(&suite.arguments);
            command
        };
        let mut programs = cargo::programs(&suite.folder, cargo(&["--no-run"]))?;
        // Tests may run the programs of their package, and examples must build: those are no tests.
        programs.retain(|program| program.is_test);
        // A passed test's output is captured; this hands it over, so that no skip stays unseen.
        let harness: Vec<&str> =
            std::iter::once("--show-output").chain(harness.iter().map(String::as_str)).collect();
        let mut jobs = VecDeque::new();
        if programs.iter().any(|program| program.has_documentation_tests) {
            let mut command = cargo(&["--doc"]);
            command.arg("--").args(&harness);
            jobs.push_back(Job { name: format!("{}: documentation", suite.name), command });
        }
        let (waiting, working): (Vec<_>, Vec<_>) =
            programs.into_iter().partition(|program| waits(workspace, program));
        for program in waiting.into_iter().chain(working) {
            let mut command = Command::new(&program.path);
            command
                .envs(environment.iter().cloned())
                // What cargo sets for a test, as far as tests look at it.
                .env("CARGO_MANIFEST_DIR", &program.package_folder)
                .env("CARGO", env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
                .env("CARGO_TARGET_DIR", workspace.target())
                .current_dir(&program.package_folder)
                .args(&harness);
            let folder = program.package_folder.file_name().unwrap_or_default().to_string_lossy();
            jobs.push_back(Job { name: format!("{folder}: {}", program.name), command });
        }
        Ok(Self { jobs })
    }
}

/// Whether the tests of a program wait for servers. Those begin first, since they last longest.
fn waits(workspace: &Workspace, program: &Program) -> bool {
    let package = workspace.members().iter().find(|member| {
        member.manifest_path.parent().map(PathBuf::from).as_ref() == Some(&program.package_folder)
    });
    package.is_some_and(|package| !servers::needed(workspace, &[package.name.to_string()]).is_empty())
}

/// How many run at once: some of them wait at any time.
fn at_once() -> usize {
    2 * thread::available_parallelism().map_or(2, usize::from)
}

/// How long nothing ends before somebody is told what runs.
const SILENCE: Duration = Duration::from_secs(60);

/// Runs all programs, some at once, and hands over each as it ends, its output in one piece.
pub(super) fn side_by_side(run: Run, mut take: impl FnMut(Ended)) {
    let jobs = Mutex::new(run.jobs);
    let running = Mutex::new(Vec::new());
    let (sender, ended) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..at_once() {
            let (jobs, running, sender) = (&jobs, &running, sender.clone());
            scope.spawn(move || {
                let next = || locked(jobs).pop_front();
                while let Some(job) = next() {
                    let name = job.name.clone();
                    locked(running).push(name.clone());
                    let ended = job.run();
                    locked(running).retain(|other| *other != name);
                    if sender.send(ended).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        loop {
            match ended.recv_timeout(SILENCE) {
                Ok(one) => take(one),
                Err(RecvTimeoutError::Timeout) => {
                    println!("   still running: {}", locked(&running).join(", "));
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    });
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Job {
    fn run(mut self) -> Ended {
        println!("   {} begins", self.name);
        let started = Instant::now();
        let mut lines = Vec::new();
        let status = cargo::stream(&mut self.command, |line| lines.push(line));
        Ended { name: self.name, lines, took: started.elapsed(), failure: failure(status) }
    }
}

fn failure(status: Result<ExitStatus>) -> Option<String> {
    match status {
        Ok(status) if status.success() => None,
        Ok(status) => Some(format!("ended with {status}")),
        Err(error) => Some(format!("{error:#}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(name: &str, script: &str) -> Job {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Job { name: name.to_owned(), command }
    }

    fn all(jobs: Vec<Job>) -> Vec<Ended> {
        let mut ended = Vec::new();
        side_by_side(Run { jobs: jobs.into() }, |one| ended.push(one));
        ended.sort_by(|a, b| a.name.cmp(&b.name));
        ended
    }

    #[test]
    fn programs_run_at_the_same_time_and_their_output_stays_in_one_piece() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        // Each end of a pipe waits for the other: one after the other they would wait for ever.
        let reads = format!("echo one; cat '{}'; echo three", fifo.display());
        let writes = format!("echo two > '{}'", fifo.display());
        let ended = all(vec![job("a", &reads), job("b", &writes)]);
        assert_eq!(ended[0].lines, ["one", "two", "three"]);
        assert_eq!((ended[0].failure.as_deref(), ended[1].failure.as_deref()), (None, None));
    }

    #[test]
    fn a_program_that_fails_or_does_not_start_says_so_and_the_others_go_on() {
        let nowhere = Job { name: "b".to_owned(), command: Command::new("/nowhere/at/all") };
        let ended = all(vec![job("a", "echo last; exit 3"), nowhere, job("c", "exit 0")]);
        assert_eq!(ended[0].failure.as_deref(), Some("ended with exit status: 3"));
        assert_eq!(ended[0].lines, ["last"]);
        assert!(ended[1].failure.as_deref().unwrap().starts_with("cannot start"));
        assert_eq!(ended[2].failure, None);
    }
}
