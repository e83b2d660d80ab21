//! What the workspace is made of, as cargo tells it.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use cargo_metadata::{CargoOpt, Metadata, MetadataCommand, Package};

use crate::report;

/// The workspace that this xtask was built in.
#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    root: PathBuf,
    target: PathBuf,
    members: Vec<Package>,
    /// A crate that cannot be linked here; what needs it is not selected.
    unlinkable: Option<&'static str>,
}

impl Workspace {
    /// Reads the manifests of the members, without resolving their dependencies.
    pub(crate) fn load() -> Result<Self> {
        let root = root()?;
        let metadata =
            MetadataCommand::new().manifest_path(root.join("Cargo.toml")).no_deps().exec().context(
                "`cargo metadata` could not read the workspace; mend the manifest it names and try again",
            )?;
        let mut members: Vec<Package> = metadata.workspace_packages().into_iter().cloned().collect();
        members.sort_by(|left, right| left.name.as_str().cmp(right.name.as_str()));
        Ok(Self { root, target: metadata.target_directory.into_std_path_buf(), members, unlinkable: None })
    }

    /// The folder of the root manifest.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder that cargo builds into.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// The members, by name.
    pub(crate) fn members(&self) -> &[Package] {
        &self.members
    }

    /// The member of this name.
    pub(crate) fn member(&self, name: &str) -> Option<&Package> {
        self.members.iter().find(|member| member.name.as_str() == name)
    }

    /// The member that a person means by a package name or by a dialect's id.
    pub(crate) fn find(&self, word: &str) -> Result<&Package> {
        let long = format!("dbagent-{word}");
        if let Some(member) = self.member(word).or_else(|| self.member(&long)) {
            return Ok(member);
        }
        let names: Vec<&str> = self.members.iter().map(|member| member.name.as_str()).collect();
        let short = names.iter().filter_map(|name| name.strip_prefix("dbagent-"));
        let hint = report::nearest(word, names.iter().copied().chain(short))
            .map(|name| format!("did you mean `{name}`? "))
            .unwrap_or_default();
        bail!("no package or dialect `{word}` here; {hint}there are: {}", names.join(", "))
    }

    /// The same workspace, of which nothing is selected that is linked with a crate.
    pub(crate) fn without(&self, unlinkable: &'static str) -> Self {
        Self { unlinkable: Some(unlinkable), ..self.clone() }
    }

    /// Whether a package is linked with what cannot be linked here, whatever its features.
    fn is_left_out(&self, member: &Package) -> bool {
        let Some(unlinkable) = self.unlinkable else { return false };
        let needs =
            |dependency: &cargo_metadata::Dependency| dependency.name == unlinkable && !dependency.optional;
        member.dependencies.iter().any(needs)
    }

    /// Whether a feature, as `package/feature`, leads to a package that is left out.
    fn leads_to_left_out(&self, feature: &str) -> bool {
        let Some((package, feature)) = feature.split_once('/') else { return false };
        let Some(turns_on) = self.member(package).and_then(|member| member.features.get(feature)) else {
            return false;
        };
        turns_on.iter().any(|word| match (word.strip_prefix("dep:"), word.split_once('/')) {
            (Some(optional), _) => self.member(optional).is_some_and(|member| self.is_left_out(member)),
            (None, Some((other, feature))) => {
                self.leads_to_left_out(&format!("{}/{feature}", other.trim_end_matches('?')))
            }
            (None, None) => self.leads_to_left_out(&format!("{package}/{word}")),
        })
    }

    /// Every feature of the given members that can be on at once, as `package/feature`.
    ///
    /// One list serves tests, lints and docs, so that they share what cargo has built. It leaves out
    /// what [`is_selectable`] leaves out, which is why it is not `--all-features`.
    pub(crate) fn features_of<'a>(members: impl IntoIterator<Item = &'a Package>) -> Vec<String> {
        let mut list = Vec::new();
        for member in members {
            let chosen = member.features.keys().filter(|feature| is_selectable(feature));
            list.extend(chosen.map(|feature| format!("{}/{feature}", member.name)));
        }
        list
    }

    /// The arguments that select the named packages or dialects, all of them when there is no name,
    /// with [`Self::features_of`] them.
    pub(crate) fn selection(&self, names: &[String]) -> Result<Vec<String>> {
        let mut arguments = Vec::new();
        let mut members = Vec::new();
        if names.is_empty() {
            arguments.push("--workspace".to_owned());
            for member in &self.members {
                if self.is_left_out(member) {
                    arguments.extend(["--exclude".to_owned(), member.name.to_string()]);
                } else {
                    members.push(member);
                }
            }
        } else {
            for name in names {
                let member = self.find(name)?;
                arguments.extend(["--package".to_owned(), member.name.to_string()]);
                members.push(member);
            }
        }
        let mut features = Self::features_of(members);
        features.retain(|feature| !self.leads_to_left_out(feature));
        if !features.is_empty() {
            arguments.extend(["--features".to_owned(), features.join(",")]);
        }
        Ok(arguments)
    }

    /// The names of the packages that [`Self::selection`] selects.
    pub(crate) fn chosen(&self, names: &[String]) -> Result<Vec<String>> {
        if names.is_empty() {
            return Ok(self.members.iter().map(|member| member.name.to_string()).collect());
        }
        names.iter().map(|name| Ok(self.find(name)?.name.to_string())).collect()
    }

    /// Whether one of these packages, or a member that they are built with, depends on a crate.
    ///
    /// Features count as on: tests turn on all that can be.
    pub(crate) fn build_on(&self, packages: &[String], dependency: &str) -> bool {
        let mut seen: Vec<&str> = Vec::new();
        let mut open: Vec<&str> = packages.iter().map(String::as_str).collect();
        while let Some(name) = open.pop() {
            if name == dependency {
                return true;
            }
            if !seen.contains(&name) {
                seen.push(name);
                let dependencies = self.member(name).into_iter().flat_map(|member| &member.dependencies);
                open.extend(dependencies.map(|dependency| dependency.name.as_str()));
            }
        }
        false
    }

    /// The whole resolved graph, for every platform, with [`Self::features_of`] all members.
    pub(crate) fn resolve(&self) -> Result<Metadata> {
        MetadataCommand::new()
            .manifest_path(self.root.join("Cargo.toml"))
            .features(CargoOpt::SomeFeatures(Self::features_of(&self.members)))
            .exec()
            .context("`cargo metadata` could not resolve the dependencies; without a network, fetch them first: `cargo fetch`")
    }
}

/// Whether a feature can be on together with all others.
///
/// `default` is on anyway, `testing` opens doors that only a crate's own tests may use, and
/// `*-bundled` and `*-download` are ways to obtain a library, not things to check.
pub(crate) fn is_selectable(feature: &str) -> bool {
    !(feature == "default"
        || feature == "testing"
        || feature.ends_with("-bundled")
        || feature.ends_with("-download"))
}

/// The root of the checkout, also when one binary is used from two of them.
pub(crate) fn root() -> Result<PathBuf> {
    let here =
        env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    let root = here.parent().ok_or_else(|| anyhow!("{} has no parent folder", here.display()))?;
    if !root.join("Cargo.toml").is_file() {
        bail!("{} holds no Cargo.toml; run this as `cargo xtask` inside the checkout", root.display());
    }
    Ok(root.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_package_is_built_on_is_followed_through_the_workspace() {
        let workspace = Workspace::load().unwrap();
        let build_on =
            |package: &str, dependency: &str| workspace.build_on(&[package.to_owned()], dependency);
        assert!(build_on("dbagent-sqlite", "rusqlite"));
        assert!(build_on("dbagent-cli", "rusqlite"), "by way of the umbrella");
        assert!(!build_on("dbagent-core", "rusqlite"));
    }

    #[test]
    fn ways_to_obtain_a_library_and_test_doors_are_left_out() {
        for left_out in ["default", "testing", "duckdb-bundled", "duckdb-download"] {
            assert!(!is_selectable(left_out), "{left_out}");
        }
        for kept in ["sqlite", "duckdb", "full"] {
            assert!(is_selectable(kept), "{kept}");
        }
    }

    #[test]
    fn what_cannot_be_linked_is_not_selected_and_neither_is_what_leads_to_it() {
        let workspace = Workspace::load().unwrap();
        let whole = workspace.selection(&[]).unwrap().join(" ");
        assert!(whole.contains("dbagent/full") && !whole.contains("--exclude"), "{whole}");
        // SQLite stands for a library here: one package is linked with it, and features lead there.
        let without = workspace.without("rusqlite").selection(&[]).unwrap().join(" ");
        assert!(without.contains("--exclude dbagent-sqlite"), "{without}");
        for gone in ["dbagent/sqlite", "dbagent/full", "dbagent-cli/sqlite"] {
            assert!(whole.contains(gone) && !without.contains(gone), "{gone}: {without}");
        }
        assert!(without.contains("dbagent-cli/openai"), "{without}");
    }
}
