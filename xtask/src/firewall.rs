//! `cargo xtask firewall`: who may depend on whom, and who may turn on which features.
//!
//! The design promises a thin core, drivers that stay in their dialect, features that only add. A
//! promise that nobody checks does not last; each rule here is a pure function over what cargo says,
//! with tests on small graphs made by hand.

mod core_list;
mod feature_rules;
mod house;
mod layers;
mod owners;
mod trees;
mod versions;

use std::collections::BTreeSet;

use anyhow::Result;

use crate::cargo;
use crate::deny::Deny;
use crate::report::{Outcome, count};
use crate::workspace::Workspace;
use house::House;

/// Hold the borders between crates: who may depend on whom, who may turn on which features.
///
/// The rules: dbagent-core depends on a closed list, and nothing behind it talks to a network, drives
/// a database, parses queries or writes a file format; drivers and HTTP clients stay in the crates that
/// deny.toml names; a dialect never depends on another one or on a face; only the binary turns features
/// of ours on; a build with one dialect holds no other; each crate that must be one is one.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

const CORE: &str = "dbagent-core";
const UMBRELLA: &str = "dbagent";

pub(crate) fn run(workspace: &Workspace, _: &Arguments) -> Result<Outcome> {
    check(workspace)
}

/// All rules, as a step of CI.
pub(crate) fn check(workspace: &Workspace) -> Result<Outcome> {
    let house = House::from_metadata(&workspace.resolve()?);
    let deny = Deny::load(workspace.root())?;

    let mut problems = Vec::new();
    problems.extend(core_list::direct(&house));
    problems.extend(core_list::transitive(&tree(workspace, CORE, &[])?));
    problems.extend(layers::check(&house));
    problems.extend(owners::check(&house, &deny.bans.deny));
    problems.extend(feature_rules::check(&house));
    problems.extend(versions::check(&house));
    for feature in umbrella_features(&house) {
        let features: Vec<&str> = feature.iter().map(String::as_str).collect();
        let tree = tree(workspace, UMBRELLA, &features)?;
        problems.extend(trees::check(feature.as_deref(), &tree, &deny.bans.deny));
    }
    let looked_at =
        format!("{} of ours in a graph of {}", count(house.members.len(), "package"), house.resolved.len());
    Ok(Outcome::of_problems("firewall", &looked_at, problems))
}

/// No feature, and each that is one thing by itself.
fn umbrella_features(house: &House) -> Vec<Option<String>> {
    let umbrella = house.members.iter().find(|member| member.name == UMBRELLA);
    let features = umbrella.into_iter().flat_map(|umbrella| umbrella.features.keys());
    let single = features.filter(|name| crate::workspace::is_selectable(name) && *name != "full");
    std::iter::once(None).chain(single.cloned().map(Some)).collect()
}

/// The names of all packages in a build of one package alone, on any platform.
fn tree(workspace: &Workspace, package: &str, features: &[&str]) -> Result<BTreeSet<String>> {
    let mut command = cargo::cargo(workspace.root());
    command.args(["tree", "--edges", "normal", "--target", "all", "--prefix", "none", "--format", "{p}"]);
    command.args(["--package", package, "--no-default-features"]);
    if !features.is_empty() {
        command.args(["--features", &features.join(",")]);
    }
    let listing = cargo::output(&mut command)?;
    Ok(listing.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect())
}
