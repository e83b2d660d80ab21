//! Rust files: each says what it is for, and is short enough to be one idea.

use super::files::TextFile;

const MAX_LINES: usize = 700;

/// Files that may be longer, each with the reason why it cannot be split.
const LONG_FILES: &[(&str, &str)] = &[];

pub(super) fn check(files: &[TextFile]) -> Vec<String> {
    let rust = || files.iter().filter(|file| file.extension() == "rs");
    let mut problems: Vec<String> = rust().filter_map(module_docs).collect();
    problems.extend(rust().filter_map(|file| length(file, LONG_FILES)));
    problems.extend(needless_exceptions(files, LONG_FILES));
    problems
}

fn module_docs(file: &TextFile) -> Option<String> {
    let first = file.text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    let says_something = first.strip_prefix("//!").is_some_and(|text| !text.trim().is_empty());
    if says_something || first.starts_with("#![doc =") {
        return None;
    }
    Some(format!("{}:1 does not open with a `//!` sentence that says what the file is for", file.path))
}

fn length(file: &TextFile, exceptions: &[(&str, &str)]) -> Option<String> {
    let lines = file.text.lines().count();
    if lines <= MAX_LINES || exceptions.iter().any(|(path, _)| *path == file.path) {
        return None;
    }
    Some(format!("{} has {lines} lines; {MAX_LINES} is the limit, split it by what it speaks of", file.path))
}

/// An exception that is no longer needed hides the next one.
fn needless_exceptions(files: &[TextFile], exceptions: &[(&str, &str)]) -> Vec<String> {
    let is_needed =
        |path: &str| files.iter().any(|file| file.path == path && file.text.lines().count() > MAX_LINES);
    let needless = exceptions.iter().filter(|(path, _)| !is_needed(path));
    needless
        .map(|(path, _)| format!("{path} is no longer too long; take it out of xtask/src/tidy/rust.rs"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::files::file;

    #[test]
    fn a_file_opens_with_what_it_is_for() {
        assert_eq!(module_docs(&file("a.rs", "\n//! What it is for.\nuse b;")), None);
        assert_eq!(module_docs(&file("a.rs", "#![doc = include_str!(\"docs.md\")]")), None);
        for text in ["", "//!\n//! late", "use b;", "// no doc comment", "/// of an item"] {
            assert!(module_docs(&file("a.rs", text)).is_some(), "{text:?}");
        }
    }

    #[test]
    fn a_long_file_is_a_problem_unless_it_is_an_exception() {
        let long = file("a.rs", &"//! x\n".repeat(MAX_LINES + 1));
        assert!(length(&long, &[]).is_some());
        assert_eq!(length(&long, &[("a.rs", "a table")]), None);
        assert_eq!(length(&file("a.rs", &"//! x\n".repeat(MAX_LINES)), &[]), None);
    }

    #[test]
    fn an_exception_for_a_short_or_missing_file_is_a_problem() {
        let files = [file("a.rs", "//! short")];
        assert_eq!(needless_exceptions(&files, &[("a.rs", "?"), ("gone.rs", "?")]).len(), 2);
    }
}
