//! `cargo xtask test`: what the README promises after `clone`.
//!
//! Installs what is missing, starts the servers that the tests need, runs the tests and the
//! documentation examples of the workspace and of each workspace under `outside/`, and ends with one
//! line of totals that a script can read.

mod programs;
mod servers;
mod tally;

use std::path::PathBuf;

use anyhow::Result;

use crate::library::{self, Library};
use crate::report::{self, Outcome, count};
use crate::workspace::Workspace;
use crate::{outside, tools};
use programs::{Run, side_by_side};
pub(crate) use servers::{Servers, needed};
use tally::Tally;

/// Install and start what the tests need, run them all, say what was skipped.
///
/// Without a name everything runs: every crate, the documentation examples, and the workspaces under
/// outside/. With names only those run; a name is a package (`dbagent-sqlite`), a dialect (`sqlite`)
/// or a folder of outside/. The last line is `N passed, N failed`, with `, N skipped` where something
/// was skipped. Names listed in `DBAGENT_REQUIRE=a,b` must not be skipped: that counts as a failure.
///
/// Servers that the tests need are started and stopped again (see `cargo xtask services`); one of your
/// own is used instead where its variable is set, for example `DBAGENT_TEST_POSTGRES_URL`.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Arguments {
    /// What to test; everything when absent
    #[arg(value_name = "CRATE-OR-DIALECT")]
    names: Vec<String>,
    /// Passed on to each test program, for example a part of a test's name
    #[arg(last = true, value_name = "TEST-ARGUMENT")]
    harness: Vec<String>,
}

/// The tests of one workspace.
struct Suite {
    name: String,
    folder: PathBuf,
    /// The members of the workspace that are tested; none of a workspace under `outside/`.
    packages: Vec<String>,
    arguments: Vec<String>,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<Outcome> {
    tools::C_COMPILER.ensure()?;
    let suites = suites(workspace, &arguments.names)?;
    let packages: Vec<String> = suites.iter().flat_map(|suite| suite.packages.iter().cloned()).collect();
    if workspace.build_on(&packages, "pg_query") {
        tools::LIBCLANG.ensure()?;
    }
    let servers = Servers::bring_up(workspace, &needed(workspace, &packages));
    let mut tally = Tally::default();
    for skip in servers.skips() {
        println!("{skip}");
        tally.take(skip);
    }
    let library = Library::of(&servers);
    // Without the library, what is linked with it is not built; the skip is printed above.
    let suites = if library.is_there() || !workspace.build_on(&packages, library::CRATE) {
        suites
    } else {
        let left = arguments.names.iter().filter(|name| !is_of_library(workspace, name));
        let names: Vec<String> = left.cloned().collect();
        if names.is_empty() && !arguments.names.is_empty() {
            Vec::new()
        } else {
            self::suites(&library.fit(workspace), &names)?
        }
    };
    for suite in suites {
        println!("── {}", suite.name);
        let environment = servers.variables().iter().map(|(name, value)| (name.clone(), value.into()));
        let environment = environment.chain(library.environment()).collect();
        match Run::build(workspace, &suite, &arguments.harness, environment) {
            Ok(run) => side_by_side(run, |ended| {
                println!("── {} ({:.1} s)", ended.name, ended.took.as_secs_f64());
                let failed_before = tally.failed();
                for line in ended.lines.iter().filter(|line| tally.take(line)) {
                    println!("{line}");
                }
                tally.end_of_program();
                if let Some(why) = ended.failure
                    && tally.failed() == failed_before
                {
                    // A program that could not start or died: no test says so, but something failed.
                    tally.fail(format!("{}: {why}; see its output above", ended.name));
                }
            }),
            Err(error) => tally.fail(format!("{}: {error:#}", suite.name)),
        }
    }
    let (text, outcome) = conclude(tally, &report::required_names());
    println!("{text}");
    Ok(outcome)
}

/// Whether a name means a package that is nothing without the library.
fn is_of_library(workspace: &Workspace, name: &str) -> bool {
    let own =
        |package: &cargo_metadata::Package| package.dependencies.iter().any(|d| d.name == library::CRATE);
    workspace.find(name).is_ok_and(own)
}

fn suites(workspace: &Workspace, names: &[String]) -> Result<Vec<Suite>> {
    let outside = outside::find(workspace)?;
    let of_outside = |found: &outside::Outside| Suite {
        name: found.name(),
        folder: found.folder().to_owned(),
        packages: Vec::new(),
        arguments: std::iter::once("--workspace".to_owned()).chain(found.profile_arguments()).collect(),
    };
    let ours = |names: &[String]| -> Result<Suite> {
        Ok(Suite {
            name: "workspace".to_owned(),
            folder: workspace.root().to_owned(),
            packages: workspace.chosen(names)?,
            arguments: workspace.selection(names)?,
        })
    };
    if names.is_empty() {
        let first = ours(&[])?;
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
        suites.insert(0, ours(&members)?);
    }
    Ok(suites)
}

/// The end of the run as a person reads it. The totals are the very last line.
fn conclude(mut tally: Tally, required: &[String]) -> (String, Outcome) {
    let mut lines = vec![String::new()];
    let skips = tally.skips();
    lines.extend(skips.iter().map(|(skip, times)| match times {
        1 => format!("SKIPPED {skip}"),
        _ => format!("SKIPPED {skip} ({times} times)"),
    }));
    for skip in tally.forbidden_skips(required) {
        tally.fail(format!("DBAGENT_REQUIRE names it, yet it was skipped: {skip}"));
    }
    lines.extend(tally.failures().iter().map(|failure| format!("FAILED {failure}")));
    if tally.ignored() > 0 {
        lines.push(format!("{} ignored by an attribute; counted as skipped", count(tally.ignored(), "test")));
    }

    let mut outcome = Outcome { failures: tally.failures().to_vec(), skipped: skips.into_keys().collect() };
    if outcome.failures.is_empty() && tally.failed() > 0 {
        outcome.failures.push(count(tally.failed(), "failed test"));
    }
    if tally.ran() == 0 {
        lines.push(
            "No test ran at all, which is a failure: look at the names and the filter that were given."
                .to_owned(),
        );
        outcome.failures.push("no test ran at all".to_owned());
    }
    lines.push(tally.totals());
    (lines.join("\n"), outcome)
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

    const NOTHING: &str = "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out";
    const THREE: &str = "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out";

    #[test]
    fn a_run_without_a_test_is_a_failure() {
        let (text, outcome) = conclude(tally_of(&[NOTHING]), &[]);
        assert_eq!(outcome.failures, ["no test ran at all"]);
        assert_eq!(text.lines().last(), Some("0 passed, 0 failed"));
    }

    #[test]
    fn the_totals_are_the_very_last_line_and_skips_stand_before_them() {
        let skip = "SKIPPED postgres: no server";
        let (text, outcome) = conclude(tally_of(&[skip, skip, THREE]), &[]);
        assert!(outcome.passed());
        assert_eq!(
            text.lines().skip(1).collect::<Vec<_>>(),
            [
                "SKIPPED postgres: no server (2 times)",
                "1 test ignored by an attribute; counted as skipped",
                "3 passed, 0 failed, 3 skipped",
            ]
        );
    }

    #[test]
    fn a_failed_test_fails_the_run_also_when_its_name_was_not_seen() {
        let result = "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out";
        assert_eq!(conclude(tally_of(&[result]), &[]).1.failures, ["2 failed tests"]);
        let (text, outcome) = conclude(tally_of(&["test a::b ... FAILED", result]), &[]);
        assert_eq!(outcome.failures, ["a::b"]);
        assert!(text.contains("\nFAILED a::b\n"), "{text}");
    }

    #[test]
    fn a_required_name_must_not_be_skipped() {
        let lines = ["SKIPPED postgres: no server", THREE];
        assert!(conclude(tally_of(&lines), &["mysql".to_owned()]).1.passed());
        let (text, outcome) = conclude(tally_of(&lines), &["postgres".to_owned()]);
        assert_eq!(outcome.failures, ["DBAGENT_REQUIRE names it, yet it was skipped: postgres: no server"]);
        assert_eq!(text.lines().last(), Some("3 passed, 1 failed, 2 skipped"));
    }
}
