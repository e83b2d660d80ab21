//! `cargo xtask ci`: everything besides the tests that a change must pass.

use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::library::Library;
use crate::report::{self, Outcome};
use crate::workspace::Workspace;
use crate::{cargo, deadline, docs, features, firewall, licenses, outside, tidy};

/// Check everything besides the tests: format, lints, borders, licences, features, docs, examples.
///
/// Each step runs even when one before it failed; a table at the end says how each went. Names of
/// steps select some of them: fmt, tidy, firewall, licenses, clippy, features, rustdoc, docs, outside,
/// examples.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The steps to run; all when absent
    #[arg(value_name = "STEP")]
    steps: Vec<String>,
}

/// One thing that CI checks.
struct Step {
    name: &'static str,
    run: fn(&Workspace) -> Result<Outcome>,
}

/// The quick ones first, so that a slip shows early.
const STEPS: &[Step] = &[
    Step { name: "fmt", run: fmt },
    Step { name: "tidy", run: tidy::check },
    Step { name: "firewall", run: firewall::check },
    Step { name: "licenses", run: licenses::check },
    Step { name: "clippy", run: clippy },
    Step { name: "features", run: features::check },
    Step { name: "rustdoc", run: rustdoc },
    Step { name: "docs", run: docs::check },
    Step { name: "outside", run: |workspace| outside::check(workspace).map(|()| Outcome::success()) },
    Step { name: "examples", run: examples },
];

/// An example is a small program; one that runs longer hangs.
const EXAMPLE_LIMIT: Duration = Duration::from_mins(5);

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<Outcome> {
    let steps = select(&arguments.steps)?;
    let mut results = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        println!("\n━━ {} ({} of {})", step.name, number + 1, steps.len());
        let start = Instant::now();
        let outcome = (step.run)(workspace).unwrap_or_else(|error| {
            println!("{}: {error:#}", step.name);
            Outcome::failure(format!("{error:#}"))
        });
        let took = start.elapsed();
        println!("━━ {}: {}, {}", step.name, word(&outcome), report::duration(took));
        results.push((step.name, took, outcome));
    }
    let (text, outcome) = conclude(results);
    println!("{text}");
    Ok(outcome)
}

fn select(names: &[String]) -> Result<Vec<&'static Step>> {
    if names.is_empty() {
        return Ok(STEPS.iter().collect());
    }
    for name in names {
        if !STEPS.iter().any(|step| step.name == name) {
            let known: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
            bail!("no step `{name}`; there are: {}", known.join(", "));
        }
    }
    Ok(STEPS.iter().filter(|step| names.iter().any(|name| name == step.name)).collect())
}

/// The table of steps. Its totals are the very last line.
fn conclude(results: Vec<(&str, Duration, Outcome)>) -> (String, Outcome) {
    let mut lines = vec![String::new()];
    let mut all = Outcome::success();
    let (mut passed, mut failed) = (0, 0);
    for (name, took, outcome) in results {
        lines.push(format!("{name:<10} {:<8} {:>12}", word(&outcome), report::duration(took)));
        if outcome.passed() {
            passed += 1;
        } else {
            failed += 1;
        }
        all.add(outcome);
    }
    lines.extend(all.skipped.iter().map(|skip| format!("SKIPPED {skip}")));
    lines.push(format!("steps: {passed} passed, {failed} failed"));
    (lines.join("\n"), all)
}

fn word(outcome: &Outcome) -> &'static str {
    if outcome.passed() { "passed" } else { "FAILED" }
}

fn fmt(workspace: &Workspace) -> Result<Outcome> {
    cargo::run(cargo::cargo(workspace.root()).args(["fmt", "--all", "--check"]))?;
    Ok(Outcome::success())
}

fn clippy(workspace: &Workspace) -> Result<Outcome> {
    let mut command = cargo::cargo(workspace.root());
    command.args(["clippy", "--all-targets"]).args(workspace.selection(&[])?).args(["--", "-D", "warnings"]);
    cargo::run(&mut command)?;
    Ok(Outcome::success())
}

fn rustdoc(workspace: &Workspace) -> Result<Outcome> {
    let mut command = cargo::cargo(workspace.root());
    command.env("RUSTDOCFLAGS", "-D warnings").args(["doc", "--no-deps"]).args(workspace.selection(&[])?);
    cargo::run(&mut command)?;
    Ok(Outcome::success())
}

/// Runs each example as a reader would, but with nothing on its standard input.
fn examples(workspace: &Workspace) -> Result<Outcome> {
    let folder = workspace.root().join("examples");
    let (library, servers) = Library::fetch(workspace);
    let environment = library.environment();
    let mut programs =
        cargo::build(workspace.root(), &docs::programs(&library.fit(workspace))?, &environment)?;
    programs.sort_by(|left, right| left.name.cmp(&right.name));
    let mut outcome = Outcome::success();
    let mut ran = 0;
    for program in programs.iter().filter(|program| program.is_example && program.package_folder == folder) {
        println!("── example {}", program.name);
        let mut command = std::process::Command::new(&program.path);
        command.current_dir(workspace.root()).stdin(Stdio::null()).envs(environment.iter().cloned());
        let problem = match deadline::run_within(&mut command, EXAMPLE_LIMIT)? {
            Some(status) if status.success() => None,
            Some(status) => Some(format!("example {} ended with {status}", program.name)),
            None => Some(format!("example {} ran past {}", program.name, report::duration(EXAMPLE_LIMIT))),
        };
        if let Some(problem) = problem {
            println!("{problem}");
            outcome.add(Outcome::failure(problem));
        }
        ran += 1;
    }
    if ran == 0 {
        outcome.add(Outcome::failure("no example was found; examples/ holds them, one file each"));
    }
    println!("examples: {}", report::count(ran, "program"));
    outcome.skipped.extend(servers.skips().iter().cloned());
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_selected_by_name_in_their_own_order() {
        let names = |list: &[&str]| -> Vec<String> { list.iter().map(|name| (*name).to_owned()).collect() };
        let selected = select(&names(&["clippy", "fmt"])).unwrap();
        assert_eq!(selected.iter().map(|step| step.name).collect::<Vec<_>>(), ["fmt", "clippy"]);
        assert_eq!(select(&[]).unwrap().len(), STEPS.len());
        let Err(error) = select(&names(&["lint"])) else { panic!("`lint` is no step") };
        assert!(error.to_string().contains("there are: fmt, tidy"));
    }

    #[test]
    fn the_help_names_every_step() {
        use clap::Args as _;
        let help = Arguments::augment_args(clap::Command::new("ci")).render_long_help().to_string();
        for step in STEPS {
            assert!(help.contains(step.name), "{} is not in the help", step.name);
        }
    }

    #[test]
    fn one_failed_step_fails_the_whole_and_hides_no_other() {
        let results = vec![
            ("fmt", Duration::ZERO, Outcome::failure("not formatted")),
            (
                "tidy",
                Duration::ZERO,
                Outcome { failures: Vec::new(), skipped: vec!["advisories: no network".to_owned()] },
            ),
        ];
        let (text, outcome) = conclude(results);
        assert_eq!(text.lines().last(), Some("steps: 1 passed, 1 failed"));
        assert!(text.contains("SKIPPED advisories: no network"), "{text}");
        assert_eq!(outcome.failures, ["not formatted"]);
        assert_eq!(outcome.skipped, ["advisories: no network"]);
    }
}
