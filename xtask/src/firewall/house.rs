//! The part of cargo's metadata that the rules look at, small enough to be written by hand in a test.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Metadata, Package, PackageId};

/// The workspace and everything it is built from.
#[derive(Debug, Default)]
pub(super) struct House {
    /// Our packages, as their manifests declare them.
    pub(super) members: Vec<Member>,
    /// Every package of the resolved graph, ours too.
    pub(super) resolved: Vec<Resolved>,
}

/// One of our packages.
#[derive(Debug, Default)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) dependencies: Vec<Declared>,
    /// What each feature turns on.
    pub(super) features: BTreeMap<String, Vec<String>>,
}

/// One dependency as a manifest declares it.
#[derive(Debug, Clone, Default)]
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) features: Vec<String>,
    pub(super) default_features: bool,
    /// Given by a path and no version, so that it vanishes when the package is published.
    pub(super) path_only: bool,
}

/// When a dependency is needed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    Normal,
    Build,
    Dev,
}

/// One package of the resolved graph.
#[derive(Debug, Default)]
pub(super) struct Resolved {
    pub(super) name: String,
    pub(super) version: String,
    /// The names of what it depends on directly, in any way.
    pub(super) depends_on: BTreeSet<String>,
}

impl House {
    pub(super) fn from_metadata(metadata: &Metadata) -> Self {
        let mut members: Vec<Member> = metadata.workspace_packages().into_iter().map(member).collect();
        members.sort_by(|left, right| left.name.cmp(&right.name));

        let names: BTreeMap<&PackageId, &Package> =
            metadata.packages.iter().map(|package| (&package.id, package)).collect();
        let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
        let mut resolved: Vec<Resolved> = nodes
            .filter_map(|node| {
                let package = names.get(&node.id)?;
                let depends_on = node.dependencies.iter().filter_map(|id| names.get(id));
                Some(Resolved {
                    name: package.name.to_string(),
                    version: package.version.to_string(),
                    depends_on: depends_on.map(|package| package.name.to_string()).collect(),
                })
            })
            .collect();
        resolved.sort_by(|left, right| (&left.name, &left.version).cmp(&(&right.name, &right.version)));
        Self { members, resolved }
    }

    /// Whether a package of this name is ours.
    pub(super) fn is_ours(&self, name: &str) -> bool {
        self.members.iter().any(|member| member.name == name)
    }
}

impl Member {
    /// What is needed to build it, not only to test it.
    pub(super) fn needed(&self) -> impl Iterator<Item = &Declared> {
        self.dependencies.iter().filter(|dependency| dependency.kind != Kind::Dev)
    }
}

fn member(package: &Package) -> Member {
    let dependencies = package.dependencies.iter().map(|dependency| Declared {
        name: dependency.name.clone(),
        kind: match dependency.kind {
            DependencyKind::Development => Kind::Dev,
            DependencyKind::Build => Kind::Build,
            _ => Kind::Normal,
        },
        features: dependency.features.clone(),
        default_features: dependency.uses_default_features,
        path_only: dependency.path.is_some() && dependency.req.comparators.is_empty(),
    });
    Member {
        name: package.name.to_string(),
        dependencies: dependencies.collect(),
        features: package.features.clone().into_iter().collect(),
    }
}

/// Small graphs for tests.
#[cfg(test)]
pub(super) mod by_hand {
    use super::*;

    pub(in crate::firewall) fn member(name: &str, dependencies: &[&str]) -> Member {
        let dependencies = dependencies.iter().map(|name| needs(name)).collect();
        Member { name: name.to_owned(), dependencies, features: BTreeMap::new() }
    }

    pub(in crate::firewall) fn needs(name: &str) -> Declared {
        Declared { name: name.to_owned(), ..Declared::default() }
    }

    pub(in crate::firewall) fn tests_with(name: &str) -> Declared {
        Declared { kind: Kind::Dev, ..needs(name) }
    }

    pub(in crate::firewall) fn resolved(name: &str, version: &str, depends_on: &[&str]) -> Resolved {
        Resolved {
            name: name.to_owned(),
            version: version.to_owned(),
            depends_on: depends_on.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    pub(in crate::firewall) fn names(list: &[&str]) -> BTreeSet<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    pub(in crate::firewall) fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(|word| (*word).to_owned()).collect()
    }
}
