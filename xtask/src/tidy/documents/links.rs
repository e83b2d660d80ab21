//! Links and paths in a Markdown document.

use std::collections::BTreeMap;
use std::path::Path;

use crate::tidy::files::TextFile;

/// A path in backticks is checked when it begins with one of these folders.
const FOLDERS: &[&str] =
    &[".ci/", ".cargo/", "crates/", "docs/", "examples/", "outside/", "tests/", "xtask/"];

/// What the document points to and is not there.
pub(super) fn check(root: &Path, document: &TextFile, files: &[TextFile]) -> Vec<String> {
    let mut problems = Vec::new();
    for (number, line) in prose(&document.text) {
        let mut complain = |what: String| problems.push(format!("{}:{number} {what}", document.path));
        for target in link_targets(line) {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = if path.is_empty() { document.path.clone() } else { resolve(&document.path, path) };
            if !root.join(&path).exists() {
                complain(format!("links to `{target}`, which does not exist"));
            } else if !anchor.is_empty()
                && let Some(linked) = files.iter().find(|file| file.path == path && file.extension() == "md")
                && !anchors(&linked.text).any(|found| found == anchor)
            {
                complain(format!("links to `{target}`, but {path} has no such heading"));
            }
        }
        for path in code_spans(line).filter_map(code_path) {
            if !root.join(path).exists() {
                complain(format!("names `{path}`, which does not exist"));
            }
        }
    }
    problems
}

/// The lines outside code blocks, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_block = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_block ^= is_fence;
        (!in_block && !is_fence).then_some((index + 1, line))
    })
}

/// The targets of `[text](target)` that are files of ours.
fn link_targets(line: &str) -> impl Iterator<Item = &str> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    targets.filter(|target| !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:"))
}

/// What stands between single backticks.
pub(super) fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The path that a piece of code names, when it names one and not a pattern.
fn code_path(span: &str) -> Option<&str> {
    let is_pattern = span.contains(['*', '<', '>', '{', '}', '$', '|', '…', ' ']) || span.contains("...");
    if is_pattern || !FOLDERS.iter().any(|folder| span.starts_with(folder)) {
        return None;
    }
    // `crates/x/src/lib.rs:12` and `crates/x/src/lib.rs::name` name a place in the file.
    span.split(':').next()
}

/// A relative link, from the root.
fn resolve(document: &str, target: &str) -> String {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// The anchors of a document's headings, as hosts of Markdown make them.
fn anchors(text: &str) -> impl Iterator<Item = String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let headings = prose(text).filter_map(|(_, line)| {
        let title = line.trim_start_matches('#');
        (title.len() < line.len() && title.starts_with(' ')).then(|| slug(title.trim()))
    });
    headings
        .map(move |slug| {
            let count = seen.entry(slug.clone()).or_insert(0);
            *count += 1;
            if *count == 1 { slug } else { format!("{slug}-{}", *count - 1) }
        })
        .collect::<Vec<_>>()
        .into_iter()
}

fn slug(title: &str) -> String {
    let kept =
        title.chars().filter(|character| character.is_alphanumeric() || matches!(character, ' ' | '-' | '_'));
    kept.map(|character| if character == ' ' { '-' } else { character.to_ascii_lowercase() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::files::file;

    #[test]
    fn code_blocks_are_passed_over() {
        let text = "one\n```rust\n[a](gone.md)\n```\ntwo";
        assert_eq!(prose(text).collect::<Vec<_>>(), [(1, "one"), (5, "two")]);
    }

    #[test]
    fn only_links_to_our_own_files_are_followed() {
        let line = "[a](b.md) [c](https://x.org/y) ![d](e/f.png \"title\") [g](#h) [i](mailto:a@b.c)";
        assert_eq!(link_targets(line).collect::<Vec<_>>(), ["b.md", "e/f.png", "#h"]);
    }

    #[test]
    fn paths_are_told_from_patterns() {
        assert_eq!(code_path("crates/a/src/lib.rs:12"), Some("crates/a/src/lib.rs"));
        assert_eq!(code_path("crates/a/src/lib.rs::name"), Some("crates/a/src/lib.rs"));
        for no_path in ["crates/*/src", "crates/<name>", "crates/…", "src/lib.rs", "tests/ and more"] {
            assert_eq!(code_path(no_path), None, "{no_path}");
        }
    }

    #[test]
    fn headings_become_anchors() {
        let text = "# One road, two faces\n## `xtask test`\n## `xtask test`\n#no heading";
        assert_eq!(anchors(text).collect::<Vec<_>>(), ["one-road-two-faces", "xtask-test", "xtask-test-1"]);
    }

    #[test]
    fn relative_links_are_resolved_from_their_document() {
        assert_eq!(resolve("docs/a.md", "../README.md"), "README.md");
        assert_eq!(resolve("docs/a.md", "./b.md"), "docs/b.md");
        assert_eq!(resolve("README.md", "docs/b.md"), "docs/b.md");
    }

    #[test]
    fn what_is_there_passes_and_what_is_not_is_named_with_its_line() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("docs")).unwrap();
        std::fs::write(root.path().join("docs/b.md"), "").unwrap();
        let files = [file("docs/b.md", "# There")];
        let page = |text: &str| check(root.path(), &file("README.md", text), &files);
        assert_eq!(page("[b](docs/b.md) [b](docs/b.md#there) `docs/b.md`"), Vec::<String>::new());
        let problems = page("\n[b](docs/c.md) [b](docs/b.md#gone) `docs/c.md`");
        assert_eq!(problems.len(), 3, "{problems:?}");
        assert!(problems.iter().all(|problem| problem.starts_with("README.md:2 ")), "{problems:?}");
    }
}
