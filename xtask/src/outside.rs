//! The workspaces under `outside/`: built the way strangers build, so each is one of its own.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::cargo;
use crate::workspace::Workspace;

/// One workspace under `outside/`.
#[derive(Debug)]
pub(crate) struct Outside {
    folder: PathBuf,
    release: bool,
}

impl Outside {
    /// `outside/third-party-dialect`.
    pub(crate) fn name(&self) -> String {
        format!("outside/{}", self.folder_name())
    }

    /// Where it is.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether a person means it by `name`.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        name == self.folder_name() || name == self.name()
    }

    /// `--release` for one that says `[workspace.metadata.xtask] release = true`: what it proves is
    /// about optimised builds.
    pub(crate) fn profile_arguments(&self) -> Vec<String> {
        if self.release { vec!["--release".to_owned()] } else { Vec::new() }
    }

    fn folder_name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// All of them, by name; none when the folder is not there.
///
/// One without a lock file gets a copy of ours. Cargo drops from it what is not needed and adds what
/// is missing, so that the same versions are used, built once, and found without a network.
pub(crate) fn find(workspace: &Workspace) -> Result<Vec<Outside>> {
    find_in(workspace.root())
}

fn find_in(root: &Path) -> Result<Vec<Outside>> {
    let parent = root.join("outside");
    if !parent.is_dir() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(&parent).with_context(|| format!("cannot list {}", parent.display()))? {
        let folder = entry.with_context(|| format!("cannot list {}", parent.display()))?.path();
        let manifest = folder.join("Cargo.toml");
        if !manifest.is_file() {
            continue;
        }
        let text =
            fs::read_to_string(&manifest).with_context(|| format!("cannot read {}", manifest.display()))?;
        let release = wants_release(&text).with_context(|| format!("cannot read {}", manifest.display()))?;
        let (ours, theirs) = (root.join("Cargo.lock"), folder.join("Cargo.lock"));
        if ours.is_file() && !theirs.exists() {
            fs::copy(&ours, &theirs).with_context(|| format!("cannot write {}", theirs.display()))?;
        }
        found.push(Outside { folder, release });
    }
    found.sort_by(|left, right| left.folder.cmp(&right.folder));
    Ok(found)
}

/// Formats, lints and builds each.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    for outside in find(workspace)? {
        println!("── {}", outside.name());
        let cargo = || {
            let mut command = cargo::cargo(outside.folder());
            command.env("CARGO_TARGET_DIR", workspace.target());
            command
        };
        let profile = outside.profile_arguments();
        cargo::run(cargo().args(["fmt", "--all", "--check"]))?;
        cargo::run(
            cargo()
                .args(["clippy", "--workspace", "--all-targets"])
                .args(&profile)
                .args(["--", "-D", "warnings"]),
        )?;
        cargo::run(cargo().args(["build", "--workspace"]).args(&profile))?;
    }
    Ok(())
}

fn wants_release(manifest: &str) -> Result<bool> {
    let manifest: toml::Table = manifest.parse()?;
    let metadata =
        |table: &str| manifest.get(table)?.get("metadata")?.get("xtask")?.get("release")?.as_bool();
    Ok(metadata("workspace").or_else(|| metadata("package")).unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_may_ask_for_an_optimised_build() {
        assert!(wants_release("[workspace.metadata.xtask]\nrelease = true").unwrap());
        assert!(wants_release("[package.metadata.xtask]\nrelease = true").unwrap());
        assert!(!wants_release("[package]\nname = 'x'").unwrap());
        assert!(wants_release("not toml").is_err());
    }

    #[test]
    fn each_folder_with_a_manifest_is_one_and_gets_a_lock_file() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("outside/b")).unwrap();
        fs::create_dir_all(root.path().join("outside/a")).unwrap();
        fs::create_dir_all(root.path().join("outside/empty")).unwrap();
        fs::write(root.path().join("outside/a/Cargo.toml"), "[workspace]").unwrap();
        fs::write(root.path().join("outside/b/Cargo.toml"), "[workspace]").unwrap();
        fs::write(root.path().join("outside/b/Cargo.lock"), "its own").unwrap();
        fs::write(root.path().join("Cargo.lock"), "ours").unwrap();

        let found = find_in(root.path()).unwrap();
        assert_eq!(found.iter().map(Outside::name).collect::<Vec<_>>(), ["outside/a", "outside/b"]);
        assert!(found[0].is_called("a") && found[0].is_called("outside/a") && !found[0].is_called("b"));
        assert_eq!(fs::read_to_string(root.path().join("outside/a/Cargo.lock")).unwrap(), "ours");
        assert_eq!(fs::read_to_string(root.path().join("outside/b/Cargo.lock")).unwrap(), "its own");
    }

    #[test]
    fn no_such_folder_means_none() {
        assert!(find_in(tempfile::tempdir().unwrap().path()).unwrap().is_empty());
    }
}
