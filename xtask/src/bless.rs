//! `cargo xtask bless`: golden files, written anew.

use anyhow::Result;

use crate::cargo;
use crate::report::Outcome;
use crate::workspace::Workspace;

/// Write the golden files anew: recorded outputs, facts, compiler errors.
///
/// Runs the tests with `DBAGENT_BLESS=1` (and `TRYBUILD=overwrite`), which makes those that compare
/// with a file write the file instead. Read the difference before you commit it: a golden file that
/// changes without a reason is a defect.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Packages or dialects; all when absent
    #[arg(value_name = "CRATE-OR-DIALECT")]
    names: Vec<String>,
    /// Passed on to each test program, for example a part of a test's name
    #[arg(last = true, value_name = "TEST-ARGUMENT")]
    harness: Vec<String>,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<Outcome> {
    let mut command = cargo::cargo(workspace.root());
    command
        .env("DBAGENT_BLESS", "1")
        .env("TRYBUILD", "overwrite")
        // Documentation examples have no golden files.
        .args(["test", "--no-fail-fast", "--all-targets"])
        .args(workspace.selection(&arguments.names)?)
        .arg("--")
        .args(&arguments.harness);
    cargo::run(&mut command)?;
    println!("Golden files are written. Read what changed (`git diff`) before you commit it.");
    Ok(Outcome::success())
}
