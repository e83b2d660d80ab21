//! `cargo xtask tidy`: the rules of the house that no compiler knows.

mod documents;
mod files;
mod manifests;
mod rust;
mod words;

use std::path::Path;

use anyhow::Result;

use crate::report::{Outcome, count};
use crate::workspace::Workspace;

/// Check what no compiler knows: module docs, file sizes, left-over words, links, manifests.
///
/// Every Rust file opens with a sentence that says what it is for and stays short; nothing is left
/// undone or switched off; links and paths that the documents name exist; every crate is in the README
/// and in the code map. The same runs as a test: `cargo test -p xtask`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(workspace: &Workspace, _: &Arguments) -> Result<Outcome> {
    check(workspace)
}

/// All rules, as a step of CI.
pub(crate) fn check(workspace: &Workspace) -> Result<Outcome> {
    let (looked_at, problems) = problems(workspace.root())?;
    Ok(Outcome::of_problems("tidy", &count(looked_at, "file"), problems))
}

/// How many files were looked at, and what is wrong with them.
fn problems(root: &Path) -> Result<(usize, Vec<String>)> {
    let files = files::read(root)?;
    let mut problems = Vec::new();
    problems.extend(rust::check(&files));
    problems.extend(words::check(&files));
    problems.extend(documents::check(root, &files));
    problems.extend(manifests::check(&files));
    Ok((files.len(), problems))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_tidy() {
        let (looked_at, problems) = problems(&crate::workspace::root().unwrap()).unwrap();
        assert!(looked_at > 20, "only {looked_at} files were found");
        assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    }
}
