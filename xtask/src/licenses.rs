//! `cargo xtask licenses`: what we may ship, and where it comes from.

mod advisories;
mod spdx;

use std::collections::BTreeSet;

use anyhow::Result;
use cargo_metadata::Metadata;

use crate::deny::{Deny, Licenses};
use crate::report::{self, Outcome, count};
use crate::workspace::Workspace;
use spdx::Expression;

/// Check the licence and the source of everything the workspace is built from; print advisories.
///
/// The allowed licences stand in deny.toml, which cargo-deny reads too. Known vulnerabilities are
/// printed, not failed on, where cargo-deny or cargo-audit is installed and its database can be
/// reached; elsewhere that part is skipped and says so.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// What there is to know of one package.
#[derive(Debug)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    /// None for our own.
    source: Option<String>,
    is_ours: bool,
}

pub(crate) fn run(workspace: &Workspace, _: &Arguments) -> Result<Outcome> {
    check(workspace)
}

/// Licences, sources and advisories, as a step of CI.
pub(crate) fn check(workspace: &Workspace) -> Result<Outcome> {
    let packages = packages(&workspace.resolve()?);
    let policy = Deny::load(workspace.root())?.licenses;
    for unused in unused(&packages, &policy) {
        println!("licenses: nothing needs `{unused}` any more; take it out of deny.toml");
    }
    let problems = licenses(&packages, &policy).into_iter().chain(sources(&packages)).collect();
    let mut outcome = Outcome::of_problems("licenses", &count(packages.len(), "package"), problems);
    if let Some(why) = advisories::show(workspace.root())? {
        let skip = format!("advisories: {why}");
        println!("SKIPPED {skip}");
        if report::required_names().iter().any(|name| name == "advisories") {
            outcome.add(Outcome::failure(format!("DBAGENT_REQUIRE names it, yet it was skipped: {skip}")));
        }
        outcome.skipped.push(skip);
    }
    Ok(outcome)
}

fn packages(metadata: &Metadata) -> Vec<Package> {
    let ours: BTreeSet<_> = metadata.workspace_members.iter().collect();
    let packages = metadata.packages.iter().map(|package| Package {
        name: package.name.to_string(),
        version: package.version.to_string(),
        license: package.license.clone(),
        source: package.source.as_ref().map(|source| source.repr.clone()),
        is_ours: ours.contains(&package.id),
    });
    packages.collect()
}

/// What has no licence that is allowed.
fn licenses(packages: &[Package], policy: &Licenses) -> Vec<String> {
    let mut problems = Vec::new();
    for package in packages {
        let shown = format!("{} {}", package.name, package.version);
        let Some(license) = &package.license else {
            problems.push(format!("{shown} names no licence; it cannot be used"));
            continue;
        };
        match Expression::parse(license) {
            Err(error) => {
                problems.push(format!("the licence of {shown}, `{license}`, cannot be read: {error}"));
            }
            Ok(expression) if !expression.is_satisfied(&|term| is_allowed(&package.name, term, policy)) => {
                problems.push(format!(
                    "the licence of {shown}, `{license}`, is not allowed; use another crate, or argue for the licence \
                     in deny.toml"
                ));
            }
            Ok(_) => {}
        }
    }
    problems
}

fn is_allowed(package: &str, term: &str, policy: &Licenses) -> bool {
    let for_all = policy.allow.iter();
    let for_this = policy.exceptions.iter().filter(|exception| exception.name == package);
    for_all.chain(for_this.flat_map(|exception| &exception.allow)).any(|allowed| allowed == term)
}

/// The licences that are allowed and that no package has, and the exceptions for packages that are not there.
fn unused<'a>(packages: &[Package], policy: &'a Licenses) -> Vec<&'a str> {
    let expressions: Vec<Expression> =
        packages.iter().filter_map(|package| Expression::parse(package.license.as_deref()?).ok()).collect();
    let is_used = |license: &str| expressions.iter().any(|expression| expression.mentions(license));
    let licenses = policy.allow.iter().map(String::as_str).filter(|license| !is_used(license));
    let exceptions = policy.exceptions.iter().map(|exception| exception.name.as_str());
    licenses.chain(exceptions.filter(|name| !packages.iter().any(|package| package.name == *name))).collect()
}

/// What comes from elsewhere than the registry or this workspace.
fn sources(packages: &[Package]) -> Vec<String> {
    let problem = |package: &Package| {
        let from = match (&package.source, package.is_ours) {
            (None, true) => return None,
            (Some(source), _) if source == CRATES_IO => return None,
            (Some(source), _) => source.as_str(),
            (None, false) => "a folder outside the workspace",
        };
        Some(format!(
            "{} {} comes from {from}; a clone must be whole with the registry",
            package.name, package.version
        ))
    };
    packages.iter().filter_map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deny::Exception;

    fn package(name: &str, license: Option<&str>) -> Package {
        Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license: license.map(str::to_owned),
            source: Some(CRATES_IO.to_owned()),
            is_ours: false,
        }
    }

    fn policy() -> Licenses {
        Licenses {
            allow: vec!["MIT".to_owned(), "Zlib".to_owned()],
            exceptions: vec![Exception {
                name: "roots".to_owned(),
                allow: vec!["CDLA-Permissive-2.0".to_owned()],
            }],
        }
    }

    #[test]
    fn one_allowed_choice_is_enough_and_all_of_an_and_are_needed() {
        assert_eq!(licenses(&[package("a", Some("GPL-3.0-only OR MIT"))], &policy()), Vec::<String>::new());
        assert_eq!(licenses(&[package("a", Some("GPL-3.0-only AND MIT"))], &policy()).len(), 1);
    }

    #[test]
    fn no_licence_an_unreadable_one_and_a_forbidden_one_are_problems() {
        for license in [None, Some("MIT OR"), Some("GPL-3.0-only")] {
            assert_eq!(licenses(&[package("a", license)], &policy()).len(), 1, "{license:?}");
        }
    }

    #[test]
    fn an_exception_is_for_its_crate_only() {
        assert_eq!(
            licenses(&[package("roots", Some("CDLA-Permissive-2.0"))], &policy()),
            Vec::<String>::new()
        );
        assert_eq!(licenses(&[package("other", Some("CDLA-Permissive-2.0"))], &policy()).len(), 1);
    }

    #[test]
    fn a_licence_that_nothing_needs_is_told() {
        assert_eq!(unused(&[package("a", Some("MIT"))], &policy()), ["Zlib", "roots"]);
    }

    #[test]
    fn all_comes_from_the_registry_or_from_here() {
        let from = |source: Option<&str>, is_ours| Package {
            source: source.map(str::to_owned),
            is_ours,
            ..package("a", Some("MIT"))
        };
        assert_eq!(sources(&[from(Some(CRATES_IO), false), from(None, true)]), Vec::<String>::new());
        assert_eq!(sources(&[from(Some("git+https://example.org/a"), false), from(None, false)]).len(), 2);
    }
}
