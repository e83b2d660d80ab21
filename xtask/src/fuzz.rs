//! `cargo xtask fuzz`: random statements against a real engine, for as long as somebody has time.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};

use crate::library::Library;
use crate::report::Outcome;
use crate::test::{self, Servers};
use crate::workspace::Workspace;
use crate::{cargo, tools};

/// Judge and run random statements of a dialect: what is cleared must change nothing.
///
/// It is the dialect's own test, which CI runs for a moment with a fixed seed, run for longer with seeds of
/// its own. A find is printed with the statements that may have done it; put the shortest that does into the
/// dialect's own corpus.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The dialect
    #[arg(value_name = "DIALECT")]
    dialect: String,
    /// How long: 60s, 10m, 2h
    #[arg(long = "for", value_name = "TIME", default_value = "60s", value_parser = seconds)]
    long: u64,
    /// Where the numbers begin; by the clock when absent, and printed, so that a run can be repeated
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
}

/// What `dbagent_testkit::fuzz::VARIABLE` is called; xtask depends on no crate of ours.
const VARIABLE: &str = "DBAGENT_FUZZ";
/// The words by which the dialects' fuzz tests are found among their tests.
const TESTS: &str = "fuzz::";

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<Outcome> {
    let package = workspace.find(&arguments.dialect)?.name.to_string();
    let by_the_clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |passed| passed.as_secs());
    let seed = arguments.seed.unwrap_or_else(by_the_clock);
    println!("fuzzing {package} for {} s from the seed {seed}", arguments.long);
    let packages = [package.clone()];
    tools::C_COMPILER.ensure()?;
    if workspace.build_on(&packages, "pg_query") {
        tools::LIBCLANG.ensure()?;
    }
    let servers = Servers::bring_up(workspace, &test::needed(workspace, &packages));
    if let Some(skip) = servers.skips().first() {
        bail!("{skip}; without it there is nothing to fuzz");
    }
    let library = Library::of(&servers);
    let mut command = cargo::cargo(workspace.root());
    command.envs(servers.variables().iter().cloned()).envs(library.environment());
    command.env(VARIABLE, format!("{} {seed}", arguments.long)).args([
        "test",
        "--package",
        &package,
        "--tests",
        "--",
        "--nocapture",
        TESTS,
    ]);
    let mut ran = 0;
    cargo::announce(&command);
    let status = cargo::stream(&mut command, |line| {
        ran += passed(&line).unwrap_or(0);
        println!("{line}");
    })?;
    if !status.success() {
        return Ok(Outcome::of_problems(
            "fuzz",
            &package,
            vec![format!("something was found in {package}; see above")],
        ));
    }
    if ran == 0 {
        bail!("{package} has no test in a module `fuzz`; dbagent_testkit::fuzz says how one is written");
    }
    println!("fuzz: nothing was found in {package}");
    Ok(Outcome::success())
}

/// How many passed, in the line that ends a test program.
fn passed(line: &str) -> Option<u64> {
    line.strip_prefix("test result: ok. ")?.split_once(" passed")?.0.parse().ok()
}

fn seconds(text: &str) -> Result<u64, String> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let times = match unit {
        "s" | "" => 1,
        "m" => 60,
        "h" => 3_600,
        other => return Err(format!("{other:?} is no unit of time; write 60s, 10m or 2h")),
    };
    match number.parse::<u64>() {
        Ok(number) if number > 0 => Ok(number.saturating_mul(times)),
        _ => Err("write a number above 0 and a unit: 60s, 10m or 2h".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(
            (seconds("60s"), seconds("10m"), seconds("2h"), seconds("5")),
            (Ok(60), Ok(600), Ok(7_200), Ok(5))
        );
        assert!(seconds("0s").is_err() && seconds("ten").is_err() && seconds("5d").is_err());
    }

    #[test]
    fn the_tests_of_a_program_are_counted() {
        assert_eq!(passed("test result: ok. 2 passed; 0 failed; 0 ignored"), Some(2));
        assert_eq!(passed("test a ... ok"), None);
    }
}
