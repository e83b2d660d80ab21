//! The servers that a run of tests needs: which, from where, and for how long.

use std::env;

use anyhow::Result;
use dbagent_services::{Checkout, Lease};

use crate::services;
use crate::workspace::Workspace;

/// The services that each dialect is tested with.
const OF_DIALECTS: &[(&str, &[&str])] = &[
    (
        "dbagent-postgres",
        &["postgres", "postgres-old", "postgres-oldest", "postgres-extensions", "pgbouncer"],
    ),
    ("dbagent-mysql", &["mysql"]),
    ("dbagent-mariadb", &["mariadb"]),
];

/// What stands for several dialects.
const OF_FAMILIES: &[(&str, &[&str])] = &[("dbagent-mysql-common", &["dbagent-mysql", "dbagent-mariadb"])];

/// What is tested with every dialect of the workspace.
const OF_ALL: &[&str] = &["dbagent-tests", "dbagent-examples"];

/// A library that cannot be built without what a service fetches.
const OF_LIBRARIES: &[(&str, &str)] = &[("duckdb", "duckdb")];

/// The services that tests of these packages need, in the order in which they are started.
pub(crate) fn needed(workspace: &Workspace, packages: &[String]) -> Vec<&'static str> {
    let is_member = |name: &&str| workspace.member(name).is_some();
    let mut dialects: Vec<&str> = Vec::new();
    for package in packages.iter().map(String::as_str) {
        dialects.push(package);
        if OF_ALL.contains(&package) {
            dialects.extend(OF_DIALECTS.iter().map(|(dialect, _)| *dialect).filter(is_member));
        }
        let family = OF_FAMILIES.iter().filter(|(name, _)| *name == package);
        dialects.extend(family.flat_map(|(_, dialects)| dialects.iter().copied()).filter(is_member));
    }
    let of_dialects = OF_DIALECTS.iter().filter(|(dialect, _)| dialects.contains(dialect));
    let of_libraries = OF_LIBRARIES.iter().filter(|(library, _)| workspace.build_on(packages, library));
    let services: Vec<&str> = of_dialects
        .flat_map(|(_, services)| services.iter().copied())
        .chain(of_libraries.map(|(_, service)| *service))
        .collect();
    dbagent_services::names().filter(|name| services.contains(name)).collect()
}

/// Servers that are up for as long as this lives. Those that were up before stay.
#[derive(Default)]
pub(crate) struct Servers {
    leases: Vec<Lease>,
    variables: Vec<(String, String)>,
    skips: Vec<String>,
}

impl Servers {
    /// Brings up what can be had.
    pub(crate) fn bring_up(workspace: &Workspace, names: &[&'static str]) -> Self {
        let mut servers = Self::default();
        let (wanted, of_person) = split(names, |variable| env::var_os(variable).is_some());
        for line in of_person {
            println!("{line}");
        }
        if wanted.is_empty() {
            return servers;
        }
        match services::checkout(workspace) {
            Ok(checkout) => {
                for name in wanted {
                    if let Err(error) = servers.add(&checkout, name) {
                        servers.skips.push(format!("SKIPPED {name}: {error:#}"));
                    }
                }
            }
            Err(error) => {
                servers.skips.extend(wanted.iter().map(|name| format!("SKIPPED {name}: {error:#}")));
            }
        }
        servers
    }

    /// What tests find them by.
    pub(crate) fn variables(&self) -> &[(String, String)] {
        &self.variables
    }

    /// A line for each that cannot be had, with the reason.
    pub(crate) fn skips(&self) -> &[String] {
        &self.skips
    }

    fn add(&mut self, checkout: &Checkout, name: &'static str) -> Result<()> {
        self.leases.push(services::lease(checkout, name)?);
        self.variables.extend(checkout.variables(name)?);
        Ok(())
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        // What stands before another server goes first.
        while let Some(lease) = self.leases.pop() {
            if let Err(error) = lease.give_back() {
                println!("a server could not be stopped: {error}");
            }
        }
    }
}

/// The services to start, and a line for each that a person has for themselves.
///
/// Before a server of theirs nothing is started either: what is known of it is in their hands.
fn split(names: &[&'static str], is_set: impl Fn(&str) -> bool) -> (Vec<&'static str>, Vec<String>) {
    let mut wanted = Vec::new();
    let mut lines = Vec::new();
    let has_own = |name: &str| {
        dbagent_services::info(name).map(|info| info.variable()).filter(|variable| is_set(variable))
    };
    for name in names.iter().copied() {
        let needs = dbagent_services::info(name).and_then(|info| info.needs);
        if let Some(variable) = has_own(name) {
            lines.push(format!("{name}: yours, as {variable} says"));
        } else if let Some(variable) = needs.and_then(has_own) {
            lines.push(format!(
                "{name}: not started, since it would stand before the server that {variable} names"
            ));
        } else {
            wanted.push(name);
        }
    }
    (wanted, lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_of_a_persons_own_is_used_and_nothing_is_put_before_it() {
        let all = ["postgres", "postgres-old", "pgbouncer", "mysql"];
        let (wanted, lines) = split(&all, |variable| variable == "DBAGENT_TEST_POSTGRES_URL");
        assert_eq!(wanted, ["postgres-old", "mysql"]);
        assert_eq!(lines.len(), 2);
        let (wanted, lines) = split(&all, |_| false);
        assert_eq!((wanted.as_slice(), lines.len()), (all.as_slice(), 0));
    }

    #[test]
    fn only_what_the_packages_need_is_started() {
        let workspace = Workspace::load().unwrap();
        let needed = |packages: &[&str]| {
            let packages: Vec<String> = packages.iter().map(|name| (*name).to_owned()).collect();
            needed(&workspace, &packages)
        };
        assert!(needed(&["dbagent-core", "dbagent-sqlite", "xtask"]).is_empty());
        assert_eq!(
            needed(&["dbagent-postgres"]),
            ["postgres", "postgres-old", "postgres-oldest", "postgres-extensions", "pgbouncer"]
        );
        assert_eq!(needed(&["dbagent-mariadb", "dbagent-mysql"]), ["mysql", "mariadb"]);
    }

    #[test]
    fn every_service_is_known_and_every_dialect_has_its_own() {
        for name in OF_DIALECTS.iter().flat_map(|(_, services)| services.iter()) {
            assert!(dbagent_services::info(name).is_some(), "{name}");
        }
        for (library, service) in OF_LIBRARIES {
            assert!(dbagent_services::info(service).is_some(), "{library}");
        }
    }
}
