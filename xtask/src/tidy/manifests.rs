//! Manifests: one version, one set of lints, and what the registry wants to know.

use anyhow::{Context as _, Result};
use toml::{Table, Value};

use super::files::TextFile;

/// What every package of ours takes from the root manifest.
const INHERITED: &[&str] = &["version", "edition", "rust-version", "license", "repository"];

pub(super) fn check(files: &[TextFile]) -> Vec<String> {
    let mut problems = Vec::new();
    let members = match members(files) {
        Ok(members) => members,
        Err(error) => return vec![format!("Cargo.toml: {error:#}")],
    };
    for folder in crate_folders(files) {
        if !members.contains(&folder) {
            problems.push(format!("{folder} is not among the workspace's members in Cargo.toml"));
        }
    }
    for member in members {
        let path = format!("{member}/Cargo.toml");
        let Some(file) = files.iter().find(|file| file.path == path) else {
            problems.push(format!("Cargo.toml names the member {member}, which has no manifest"));
            continue;
        };
        match file.text.parse::<Table>() {
            Ok(manifest) => {
                problems.extend(package(&manifest).into_iter().map(|what| format!("{path}: {what}")));
            }
            Err(error) => problems.push(format!("{path}: {error}")),
        }
    }
    problems
}

fn members(files: &[TextFile]) -> Result<Vec<String>> {
    let root = files.iter().find(|file| file.path == "Cargo.toml").context("there is no root manifest")?;
    let manifest: Table = root.text.parse()?;
    let members =
        manifest.get("workspace").and_then(|workspace| workspace.get("members")).and_then(Value::as_array);
    let members = members.context("it has no list `workspace.members`")?;
    Ok(members.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

/// `crates/x` for each `crates/x/Cargo.toml`.
fn crate_folders(files: &[TextFile]) -> Vec<String> {
    let folders = files.iter().filter_map(|file| file.path.strip_suffix("/Cargo.toml"));
    folders.filter(|folder| folder.starts_with("crates/")).map(str::to_owned).collect()
}

fn package(manifest: &Table) -> Vec<String> {
    let mut problems = Vec::new();
    let empty = Value::Table(Table::new());
    let package = manifest.get("package").unwrap_or(&empty);
    let is_inherited = |value: Option<&Value>| {
        value.and_then(|value| value.get("workspace")).and_then(Value::as_bool) == Some(true)
    };
    for key in INHERITED {
        if !is_inherited(package.get(key)) {
            problems.push(format!("write `{key}.workspace = true`"));
        }
    }
    if !is_inherited(manifest.get("lints")) {
        problems.push("write `[lints]` with `workspace = true`".to_owned());
    }
    if package.get("description").and_then(Value::as_str).is_none_or(|text| text.trim().is_empty()) {
        problems.push("it has no description".to_owned());
    }
    let is_published = package.get("publish").and_then(Value::as_bool) != Some(false);
    if is_published && package.get("include").is_none() {
        problems.push("a published package says what it holds: `include = [\"src/**\", …]`".to_owned());
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::files::file;

    const GOOD: &str = r#"
        package.version.workspace = true
        package.edition.workspace = true
        package.rust-version.workspace = true
        package.license.workspace = true
        package.repository.workspace = true
        package.description = "What it is"
        package.include = ["src/**"]
        lints.workspace = true
    "#;

    fn problems(root: &str, member: &str) -> Vec<String> {
        check(&[file("Cargo.toml", root), file("crates/a/Cargo.toml", member)])
    }

    #[test]
    fn a_manifest_in_order_is_not_mentioned() {
        assert_eq!(problems("workspace.members = ['crates/a']", GOOD), Vec::<String>::new());
    }

    #[test]
    fn every_line_is_needed() {
        for line in GOOD.lines().filter(|line| !line.trim().is_empty()) {
            let without = GOOD.replace(line, "");
            assert_eq!(problems("workspace.members = ['crates/a']", &without).len(), 1, "{line}");
        }
    }

    #[test]
    fn what_is_not_published_need_not_say_what_it_holds() {
        let private = GOOD.replace("package.include = [\"src/**\"]", "package.publish = false");
        assert_eq!(problems("workspace.members = ['crates/a']", &private), Vec::<String>::new());
    }

    #[test]
    fn folders_and_members_agree() {
        assert_eq!(problems("workspace.members = []", GOOD).len(), 1);
        assert_eq!(problems("workspace.members = ['crates/a', 'crates/gone']", GOOD).len(), 1);
        assert_eq!(problems("", GOOD).len(), 1);
    }
}
