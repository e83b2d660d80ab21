//! The program in the README is an example that compiles and runs.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a page that cannot be read fails the test")]

use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    fs::read_to_string(root.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// What stands in the fenced blocks of a language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("\n```{language}\n");
    page.split(fence.as_str()).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

/// The example without the comments and the lint that a reader of the README need not see.
fn from_first_use(code: &str) -> &str {
    code.find("\nuse ").map_or(code, |at| code.split_at(at + 1).1)
}

#[test]
fn the_readme_shows_the_quickstart() {
    let (readme, example) = (read("README.md"), read("examples/examples/quickstart.rs"));
    let shown = blocks(&readme, "rust");
    assert_eq!(shown.len(), 1, "the README has one Rust program");
    assert_eq!(shown[0], from_first_use(&example), "copy examples/examples/quickstart.rs into the README");
    let lines = shown[0].lines().filter(|line| !line.trim().is_empty()).count();
    assert!(lines <= 15, "the program in the README has {lines} lines; 15 are promised");
}

#[test]
fn the_readme_names_every_example() {
    let readme = read("README.md");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(readme.contains(&format!("`{name}`")), "the README does not name the example {name}");
        seen += 1;
    }
    assert!(seen > 1, "only {seen} examples were found");
}
