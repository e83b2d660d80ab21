//! `cargo xtask test`: what the README promises after `clone`.
//!
//! Installs what is missing, runs the tests and the documentation examples of the workspace and of
//! each workspace under `outside/`, and ends with one line of totals that a script can read.

mod tally;

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::report::{self, Outcome, count};
use crate::workspace::Workspace;
use crate::{cargo, outside, tools};
use tally::Tally;

/// Install what the tests need, run them all, say what was skipped.
///
/// Without a name everything runs: every crate, the documentation examples, and the workspaces under
/// outside/. With names only those run; a name is a package (`dbagent-sqlite`), a dialect (`sqlite`)
/// or a folder of outside/. The last line is `N passed, N failed`, with `, N skipped` where something
/// was skipped. Names listed in `DBAGENT_REQUIRE=a,b` must not be skipped: that counts as a failure.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Arguments {
    /// What to test; everything when absent
    #[arg(value_name = "CRATE-OR-DIALECT")]
    names: Vec<String>,
    /// Passed on to each test program, for example a part of a test's name
    #[arg(last = true, value_name = "TEST-ARGUMENT")]
    harness: Vec<String>,
}

/// One call of `cargo test`.
struct Suite {
    name: String,
    folder: PathBuf,
    arguments: Vec<String>,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<Outcome> {
    tools::C_COMPILER.ensure()?;
    let mut tally = Tally::default();
    for suite in suites(workspace, &arguments.names)? {
        println!("── {}", suite.name);
        let failed_before = tally.failed();
        let status =
            cargo::stream(&mut command(workspace, &suite, &arguments.harness), |line| tally.take(line))?;
        tally.end_of_suite();
        if !status.success() && tally.failed() == failed_before {
            // A build that broke or a test program that died: no test says so, but something failed.
            tally.fail(format!("{}: cargo test ended with {status}; see its output above", suite.name));
        }
    }
    Ok(conclude(tally, &report::required_names()))
}

fn suites(workspace: &Workspace, names: &[String]) -> Result<Vec<Suite>> {
    let outside = outside::find(workspace)?;
    let of_outside = |found: &outside::Outside| Suite {
        name: found.name(),
        folder: found.folder().to_owned(),
        arguments: std::iter::once("--workspace".to_owned()).chain(found.profile_arguments()).collect(),
    };
    let ours =
        |arguments| Suite { name: "workspace".to_owned(), folder: workspace.root().to_owned(), arguments };
    if names.is_empty() {
        let first = ours(workspace.selection(&[])?);
        return Ok(std::iter::once(first).chain(outside.iter().map(of_outside)).collect());
    }

    let mut suites = Vec::new();
    let mut members = Vec::new();
    for name in names {
        match outside.iter().find(|found| found.is_called(name)) {
            Some(found) => suites.push(of_outside(found)),
            None => members.push(name.clone()),
        }
    }
    if !members.is_empty() {
        suites.insert(0, ours(workspace.selection(&members)?));
    }
    Ok(suites)
}

fn command(workspace: &Workspace, suite: &Suite, harness: &[String]) -> Command {
    let mut command = cargo::cargo(&suite.folder);
    command
        .env("CARGO_TARGET_DIR", workspace.target())
        .args(["test", "--no-fail-fast"])
        .args(&suite.arguments)
        // A passed test's output is captured; this hands it over, so that no skip stays unseen.
        .args(["--", "--show-output"])
        .args(harness);
    command
}

/// Prints the end of the run. The totals are the very last line.
fn conclude(mut tally: Tally, required: &[String]) -> Outcome {
    println!();
    for (skip, times) in tally.skips() {
        let times = if times > 1 { format!(" ({times} times)") } else { String::new() };
        println!("SKIPPED {skip}{times}");
    }
    for skip in tally.forbidden_skips(required) {
        tally.fail(format!("DBAGENT_REQUIRE names it, yet it was skipped: {skip}"));
    }
    for failure in tally.failures() {
        println!("FAILED {failure}");
    }
    if tally.ignored() > 0 {
        println!("{} ignored by an attribute; counted as skipped", count(tally.ignored(), "test"));
    }
    let outcome = outcome(&tally);
    if tally.ran() == 0 {
        println!(
            "No test ran at all, which is not a success: look at the names and the filter that were given."
        );
    }
    println!("{}", tally.totals());
    outcome
}

fn outcome(tally: &Tally) -> Outcome {
    let mut outcome = Outcome { failures: tally.failures().to_vec(), skipped: Vec::new() };
    if outcome.failures.is_empty() && tally.failed() > 0 {
        outcome.failures.push(count(tally.failed(), "failed test"));
    }
    if tally.ran() == 0 {
        outcome.failures.push("no test ran at all".to_owned());
    }
    outcome.skipped.extend(tally.skips().into_keys());
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally_of(lines: &[&str]) -> Tally {
        let mut tally = Tally::default();
        for line in lines {
            tally.take(line);
        }
        tally
    }

    #[test]
    fn a_run_without_a_test_is_a_failure() {
        let outcome = outcome(&tally_of(&[
            "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out",
        ]));
        assert_eq!(outcome.failures, ["no test ran at all"]);
    }

    #[test]
    fn a_run_in_which_all_passed_is_a_success() {
        let outcome = outcome(&tally_of(&[
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
        ]));
        assert!(outcome.passed());
    }

    #[test]
    fn a_required_name_must_not_be_skipped() {
        let lines = [
            "SKIPPED postgres: no server",
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
        ];
        assert!(conclude(tally_of(&lines), &["mysql".to_owned()]).passed());
        let outcome = conclude(tally_of(&lines), &["postgres".to_owned()]);
        assert_eq!(outcome.failures, ["DBAGENT_REQUIRE names it, yet it was skipped: postgres: no server"]);
    }
}
