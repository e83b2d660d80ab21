//! Crates of which two versions in one program would not understand each other.

use std::collections::{BTreeMap, BTreeSet};

use super::house::House;

/// A `*` at the end means every name that begins so.
const ONE_VERSION: &[(&str, &str)] = &[
    ("dbagent*", "a dialect registered with one core is unknown to the other"),
    ("arrow*", "a batch of one version is no batch of the other"),
    ("parquet*", "it reads and writes batches of its own version"),
    ("rusqlite", "hosts bring their own connections"),
    ("rustls", "one TLS library with one provider"),
    ("ring", "the one TLS provider"),
    ("tokio", "a task of one version finds no runtime of the other"),
];

/// What is there in more than one version and must not be.
pub(super) fn check(house: &House) -> Vec<String> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in &house.resolved {
        versions.entry(&package.name).or_default().insert(&package.version);
    }
    let mut problems = Vec::new();
    for (name, versions) in versions.iter().filter(|(_, versions)| versions.len() > 1) {
        let rule = ONE_VERSION.iter().find(|(pattern, _)| match pattern.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => pattern == name,
        });
        if let Some((_, why)) = rule {
            let list = versions.iter().copied().collect::<Vec<_>>().join(", ");
            problems.push(format!("`{name}` is there in versions {list}; there must be one: {why}"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::firewall::house::by_hand::resolved;

    fn problems(packages: &[(&str, &str)]) -> Vec<String> {
        let resolved = packages.iter().map(|(name, version)| resolved(name, version, &[])).collect();
        check(&House { members: Vec::new(), resolved })
    }

    #[test]
    fn two_versions_of_what_must_be_one_are_seen() {
        assert_eq!(problems(&[("arrow-schema", "60.1.0"), ("arrow-schema", "59.0.0")]).len(), 1);
        assert_eq!(problems(&[("dbagent-core", "0.1.0"), ("dbagent-core", "0.2.0")]).len(), 1);
    }

    #[test]
    fn two_versions_of_others_are_the_registrys_life() {
        assert_eq!(problems(&[("syn", "2.0.0"), ("syn", "3.0.0")]), Vec::<String>::new());
        assert_eq!(problems(&[("arrow-schema", "60.1.0"), ("arrow-array", "60.1.1")]), Vec::<String>::new());
    }
}
