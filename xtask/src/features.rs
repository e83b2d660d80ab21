//! `cargo xtask features`: what a build of the whole workspace hides.
//!
//! There cargo gives each package the union of the features that any other asks for, so a missing
//! one is not noticed. Here each package is checked alone, and with each of its features alone.

use anyhow::Result;
use cargo_metadata::Package;

use crate::cargo;
use crate::report::{Outcome, count};
use crate::workspace::{Workspace, is_selectable};

/// Check each package alone, and with each of its features alone.
///
/// A package that has features is checked with none, with its default ones, and with each by itself
/// (`full` among them). Warnings are errors. Left out are `testing`, which only a crate's own tests
/// may turn on, and the ways to obtain a library (`*-bundled`, `*-download`).
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Packages or dialects to check; all when absent
    #[arg(value_name = "CRATE-OR-DIALECT")]
    names: Vec<String>,
    /// Only print what would be checked
    #[arg(long)]
    list: bool,
}

/// One package with one choice of its features.
#[derive(Debug, PartialEq, Eq)]
struct Choice {
    package: String,
    features: Features,
}

#[derive(Debug, PartialEq, Eq)]
enum Features {
    Default,
    None,
    One(String),
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<Outcome> {
    let members: Vec<&Package> = if arguments.names.is_empty() {
        workspace.members().iter().collect()
    } else {
        arguments.names.iter().map(|name| workspace.find(name)).collect::<Result<_>>()?
    };
    let choices: Vec<Choice> = members
        .iter()
        .flat_map(|member| {
            let features =
                member.features.iter().map(|(name, turns_on)| (name.as_str(), turns_on.is_empty()));
            choices(member.name.as_str(), features)
        })
        .collect();
    if arguments.list {
        for choice in &choices {
            println!("{}", choice.shown());
        }
        return Ok(Outcome::success());
    }
    let mut problems = Vec::new();
    for choice in &choices {
        let mut command = cargo::cargo(workspace.root());
        // Clippy checks and builds nothing; unlike `check` it can be told that a warning is an error
        // without another set of flags for every dependency.
        command.args(["clippy", "--quiet"]).args(choice.arguments()).args(["--", "-D", "warnings"]);
        if cargo::run(&mut command).is_err() {
            problems.push(format!("{} does not build cleanly alone", choice.shown()));
        }
    }
    Ok(Outcome::of_problems("features", &count(choices.len(), "choice"), problems))
}

/// All packages, as a step of CI.
pub(crate) fn check(workspace: &Workspace) -> Result<Outcome> {
    run(workspace, &Arguments { names: Vec::new(), list: false })
}

/// The choices for one package, from its features, each with whether it turns nothing on.
fn choices<'a>(package: &str, features: impl IntoIterator<Item = (&'a str, bool)>) -> Vec<Choice> {
    let features: Vec<(&str, bool)> = features.into_iter().collect();
    let choice = |features| Choice { package: package.to_owned(), features };
    let mut list = vec![choice(Features::Default)];
    if features.iter().any(|(name, empty)| *name == "default" && !empty) {
        list.push(choice(Features::None));
    }
    let selectable = features.iter().filter(|(name, _)| is_selectable(name));
    list.extend(selectable.map(|(name, _)| choice(Features::One((*name).to_owned()))));
    list
}

impl Choice {
    fn arguments(&self) -> Vec<&str> {
        let mut arguments = vec!["--package", &self.package];
        match &self.features {
            Features::Default => {}
            Features::None => arguments.push("--no-default-features"),
            Features::One(name) => arguments.extend(["--no-default-features", "--features", name]),
        }
        arguments
    }

    fn shown(&self) -> String {
        match &self.features {
            Features::Default => self.package.clone(),
            Features::None => format!("{} without features", self.package),
            Features::One(name) => format!("{} with `{name}`", self.package),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(package: &str, features: &[(&str, bool)]) -> Vec<String> {
        choices(package, features.iter().copied()).iter().map(Choice::shown).collect()
    }

    #[test]
    fn a_package_without_features_is_checked_once() {
        assert_eq!(shown("dbagent-core", &[]), ["dbagent-core"]);
    }

    #[test]
    fn an_empty_default_is_the_same_as_none() {
        let features = [("default", true), ("full", false), ("sqlite", false)];
        assert_eq!(shown("dbagent", &features), ["dbagent", "dbagent with `full`", "dbagent with `sqlite`"]);
    }

    #[test]
    fn a_default_that_turns_something_on_is_checked_off_too() {
        let features = [("default", false), ("sqlite", false)];
        let expected = ["dbagent-cli", "dbagent-cli without features", "dbagent-cli with `sqlite`"];
        assert_eq!(shown("dbagent-cli", &features), expected);
    }

    #[test]
    fn test_doors_and_ways_to_obtain_a_library_are_left_out() {
        let features = [("testing", true), ("duckdb-bundled", false), ("duckdb-download", false)];
        assert_eq!(shown("dbagent", &features), ["dbagent"]);
    }

    #[test]
    fn one_feature_is_alone() {
        let choice = Choice { package: "dbagent".to_owned(), features: Features::One("sqlite".to_owned()) };
        assert_eq!(
            choice.arguments(),
            ["--package", "dbagent", "--no-default-features", "--features", "sqlite"]
        );
    }
}
