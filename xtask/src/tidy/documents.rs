//! Documents: what they point to exists, and every crate is in them.

mod links;
mod stability;

use std::path::Path;

use super::files::TextFile;

/// The documents that speak of every crate.
const NAME_EVERY_CRATE: &[&str] = &["README.md", "docs/architecture.md"];

/// The document whose invariants name the checks that hold them.
const INVARIANTS: &str = "docs/architecture.md";

pub(super) fn check(root: &Path, files: &[TextFile]) -> Vec<String> {
    let mut problems = Vec::new();
    let is_document = |file: &&TextFile| {
        file.extension() == "md" && (file.path.starts_with("docs/") || !file.path.contains('/'))
    };
    for file in files.iter().filter(is_document) {
        problems.extend(links::check(root, file, files));
    }
    problems.extend(crates_are_named(files));
    problems.extend(named_checks_exist(files));
    problems.extend(stability::check(files));
    if !document(files, "CHANGELOG.md").is_some_and(|file| file.text.contains("\n## [Unreleased]")) {
        problems.push("CHANGELOG.md has no section `## [Unreleased]`".to_owned());
    }
    problems
}

fn document<'a>(files: &'a [TextFile], path: &str) -> Option<&'a TextFile> {
    files.iter().find(|file| file.path == path)
}

fn crates_are_named(files: &[TextFile]) -> Vec<String> {
    let crates: Vec<&str> = files
        .iter()
        .filter_map(|file| file.path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml"))
        .filter(|name| !name.contains('/'))
        .collect();
    let mut problems = Vec::new();
    for path in NAME_EVERY_CRATE {
        let Some(file) = document(files, path) else {
            problems.push(format!("{path} is missing"));
            continue;
        };
        for name in crates.iter().filter(|name| !names_crate(&file.text, name)) {
            problems.push(format!("{path} does not name the crate `{name}`"));
        }
    }
    problems
}

/// Whether the name stands there by itself: `dbagent-sqlite` does not name `dbagent`.
fn names_crate(text: &str, name: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || character == '-' || character == '_';
    text.split(|character| !is_part(character)).any(|word| word == name)
}

/// After the words `Held by`, the tests that a line names in backticks are tests that exist.
fn named_checks_exist(files: &[TextFile]) -> Vec<String> {
    let Some(invariants) = document(files, INVARIANTS) else { return Vec::new() };
    let mut problems = Vec::new();
    for (number, line) in invariants.text.lines().enumerate() {
        let Some((_, named)) = line.split_once("Held by") else { continue };
        for name in links::code_spans(named).filter(|span| is_function_name(span)) {
            if !is_defined(files, name) {
                problems.push(format!(
                    "{INVARIANTS}:{} names the check `{name}`, which does not exist",
                    number + 1
                ));
            }
        }
    }
    problems
}

/// Several words in snake case, which is how tests are called.
fn is_function_name(span: &str) -> bool {
    let is_part =
        |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '_';
    span.contains('_') && span.chars().all(is_part)
}

fn is_defined(files: &[TextFile], name: &str) -> bool {
    let (function, module) = (format!("fn {name}("), format!("mod {name}"));
    let file_name = format!("{name}.rs");
    files
        .iter()
        .filter(|file| file.extension() == "rs")
        .any(|file| file.name() == file_name || file.text.contains(&function) || file.text.contains(&module))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::files::file;

    #[test]
    fn a_crate_is_named_by_its_whole_name() {
        assert!(names_crate("the crate `dbagent` and more", "dbagent"));
        assert!(names_crate("crates/dbagent-sqlite/src", "dbagent-sqlite"));
        assert!(!names_crate("only dbagent-sqlite", "dbagent"));
    }

    #[test]
    fn a_crate_that_a_document_forgets_and_a_missing_document_are_problems() {
        let files = [file("crates/dbagent-x/Cargo.toml", ""), file("README.md", "dbagent-x")];
        assert_eq!(crates_are_named(&files), ["docs/architecture.md is missing"]);
        let files = [
            file("crates/dbagent-x/Cargo.toml", ""),
            file("README.md", "nothing"),
            file("docs/architecture.md", "crates/dbagent-x"),
        ];
        assert_eq!(crates_are_named(&files), ["README.md does not name the crate `dbagent-x`"]);
    }

    #[test]
    fn an_invariant_names_a_check_that_exists() {
        let code = file("crates/a/src/lib.rs", "fn judge_is_deterministic() {}");
        let page = |name: &str| {
            file("docs/architecture.md", &format!("Pure. *Held by:* `{name}` and `cargo xtask firewall`."))
        };
        assert_eq!(named_checks_exist(&[page("judge_is_deterministic"), code]), Vec::<String>::new());
        let code = file("crates/a/src/lib.rs", "fn judge_is_deterministic() {}");
        assert_eq!(named_checks_exist(&[page("judge_is_pure"), code]).len(), 1);
    }
}
