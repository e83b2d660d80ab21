//! `cargo xtask bench`: how fast and how big, as ratios within one run.

use anyhow::{Result, bail};
use cargo_metadata::{Package, TargetKind};

use crate::library::Library;
use crate::report::Outcome;
use crate::test::{self, Servers};
use crate::workspace::Workspace;
use crate::{cargo, tools};

/// Measure speed and memory: ratios between interleaved runs, never bare times.
///
/// Builds the `bench` program of the package dbagent-tests with optimisation and runs it, with the servers that
/// it compares (see `cargo xtask services`). What comes after `--` goes to that program: the names of what is to
/// be measured, and `--check`, with which a figure under its floor is a failure.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Passed on to the bench program
    #[arg(last = true, value_name = "BENCH-ARGUMENT")]
    bench: Vec<String>,
}

const PACKAGE: &str = "dbagent-tests";
const TARGET: &str = "bench";

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<Outcome> {
    let Some(words) = workspace.member(PACKAGE).and_then(words) else {
        bail!(
            "{PACKAGE} has no program called `{TARGET}`; add tests/src/bin/{TARGET}.rs or tests/examples/{TARGET}.rs"
        );
    };
    tools::C_COMPILER.ensure()?;
    tools::LIBCLANG.ensure()?;
    let servers = Servers::bring_up(workspace, &test::needed(workspace, &[PACKAGE.to_owned()]));
    for skip in servers.skips() {
        println!("{skip}");
    }
    let library = Library::of(&servers);
    let features = library.fit(workspace).selection(&[PACKAGE.to_owned()])?;
    // The bench also times the start of the program that people run.
    let mut build = cargo::cargo(workspace.root());
    build.args(["build", "--release", "--package", "dbagent-cli"]);
    cargo::run(&mut build)?;
    let mut command = cargo::cargo(workspace.root());
    command.envs(servers.variables().iter().cloned()).envs(library.environment());
    command.args(words).args(features).arg("--").args(&arguments.bench);
    cargo::run(&mut command)?;
    Ok(Outcome::success())
}

/// How cargo runs the program, whichever kind of target it is: an example and a bench may use
/// dev-dependencies, a binary may not.
fn words(package: &Package) -> Option<Vec<&'static str>> {
    let target = package.targets.iter().find(|target| target.name == TARGET)?;
    words_for(&target.kind)
}

fn words_for(kinds: &[TargetKind]) -> Option<Vec<&'static str>> {
    kinds.iter().find_map(|kind| match kind {
        TargetKind::Bin => Some(vec!["run", "--release", "--bin", TARGET]),
        TargetKind::Example => Some(vec!["run", "--release", "--example", TARGET]),
        TargetKind::Bench => Some(vec!["bench", "--bench", TARGET]),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_kind_of_program_will_do_and_a_test_will_not() {
        assert_eq!(words_for(&[TargetKind::Bin]).unwrap(), ["run", "--release", "--bin", "bench"]);
        assert_eq!(words_for(&[TargetKind::Example]).unwrap(), ["run", "--release", "--example", "bench"]);
        assert_eq!(words_for(&[TargetKind::Bench]).unwrap(), ["bench", "--bench", "bench"]);
        assert_eq!(words_for(&[TargetKind::Test]), None);
    }
}
