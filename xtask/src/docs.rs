//! `cargo xtask docs`: documents, or parts of them, that the program itself writes.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::cargo;
use crate::library::Library;
use crate::report::{Outcome, count};
use crate::workspace::Workspace;

/// Write the generated documents anew; with --check only say whether they are up to date.
///
/// What is generated is a table in xtask/src/docs.rs: a file, the place in it, and the words of the
/// `dbagent` program that print the text. Each page of docs/dialects has its dialect's own table.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Change nothing; fail when a document is not what the program prints now
    #[arg(long)]
    check: bool,
}

/// One generated text.
struct Generated {
    /// The document, from the root.
    file: String,
    /// The part of it, when it is not all of it: what stands between
    /// `<!-- generated: NAME -->` and `<!-- end: NAME -->`.
    marker: Option<&'static str>,
    /// What `dbagent` is asked.
    words: Vec<String>,
}

/// Where each dialect has a page of the name of its id.
const PAGES: &str = "docs/dialects";

/// Every generated text of the checkout.
fn generated(root: &Path) -> Result<Vec<Generated>> {
    let one = |file: &str, marker, words: &[&str]| Generated {
        file: file.to_owned(),
        marker,
        words: words.iter().map(|word| (*word).to_owned()).collect(),
    };
    let mut all = vec![
        one("docs/cli.md", None, &["help-markdown"]),
        one("README.md", Some("dialects"), &["dialects", "--format", "markdown"]),
    ];
    let pages = root.join(PAGES);
    if pages.is_dir() {
        let mut ids = Vec::new();
        for entry in fs::read_dir(&pages).with_context(|| format!("cannot list {PAGES}"))? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            ids.extend(name.strip_suffix(".md").map(str::to_owned));
        }
        ids.sort();
        all.extend(ids.iter().map(|id| {
            one(&format!("{PAGES}/{id}.md"), Some("capabilities"), &["dialects", id, "--format", "markdown"])
        }));
    }
    Ok(all)
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<Outcome> {
    let (library, servers) = Library::fetch(workspace);
    let environment = library.environment();
    let programs = cargo::build(workspace.root(), &programs(&library.fit(workspace))?, &environment)?;
    let Some(dbagent) = programs.iter().find(|program| program.name == "dbagent" && !program.is_example)
    else {
        bail!("the workspace built no program called `dbagent`; is crates/dbagent-cli a member?");
    };
    let mut problems = Vec::new();
    let all = generated(workspace.root())?;
    let mut skipped = Vec::new();
    for generated in &all {
        // A program without DuckDB does not know what it can do.
        if !library.is_there() && generated.words.first().is_some_and(|word| word == "dialects") {
            skipped.push(generated.file.clone());
            continue;
        }
        let mut command = std::process::Command::new(&dbagent.path);
        let text = cargo::output(
            command.current_dir(workspace.root()).envs(environment.iter().cloned()).args(&generated.words),
        )?;
        let path = workspace.root().join(&generated.file);
        let old = if path.is_file() {
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", generated.file))?
        } else {
            String::new()
        };
        let new = generated.apply(&old, &text)?;
        if old == new {
            continue;
        }
        if arguments.check {
            let line = first_difference(&old, &new);
            problems.push(format!(
                "{}:{line} is out of date; run `cargo xtask docs` and commit the result",
                generated.file
            ));
        } else {
            fs::write(&path, new).with_context(|| format!("cannot write {}", generated.file))?;
            println!("docs: wrote {}", generated.file);
        }
    }
    let mut outcome =
        Outcome::of_problems("docs", &count(all.len() - skipped.len(), "generated text"), problems);
    if !skipped.is_empty() {
        println!("SKIPPED duckdb: {} needs its library", skipped.join(", "));
    }
    outcome.skipped.extend(servers.skips().iter().cloned());
    Ok(outcome)
}

/// Whether all is up to date, as a step of CI.
pub(crate) fn check(workspace: &Workspace) -> Result<Outcome> {
    run(workspace, &Arguments { check: true })
}

/// The arguments that build every program and example with the features that the tests use too.
///
/// The examples are why: they make cargo take the dev-dependencies' features into account, as it does
/// for the tests, so that one set of builds serves both.
pub(crate) fn programs(workspace: &Workspace) -> Result<Vec<String>> {
    let mut arguments = vec!["--bins".to_owned(), "--examples".to_owned()];
    arguments.extend(workspace.selection(&[])?);
    Ok(arguments)
}

impl Generated {
    /// The document with the text in its place.
    fn apply(&self, document: &str, text: &str) -> Result<String> {
        let Some(name) = self.marker else { return Ok(format!("{}\n", text.trim_end())) };
        let (open, close) = (format!("<!-- generated: {name} -->"), format!("<!-- end: {name} -->"));
        let parts = document
            .split_once(open.as_str())
            .and_then(|(before, rest)| rest.split_once(close.as_str()).map(|(_, after)| (before, after)));
        let Some((before, after)) = parts else {
            bail!(
                "{} needs the lines `{open}` and `{close}`, in this order, around the generated text",
                self.file
            );
        };
        Ok(format!("{before}{open}\n{}\n{close}{after}", text.trim()))
    }
}

/// The number of the first line that differs.
fn first_difference(old: &str, new: &str) -> usize {
    old.lines().zip(new.lines()).take_while(|(old, new)| old == new).count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_document_is_replaced() {
        let whole = Generated { file: "a.md".to_owned(), marker: None, words: Vec::new() };
        assert_eq!(whole.apply("old", "# new\n\n").unwrap(), "# new\n");
    }

    #[test]
    fn a_part_is_replaced_between_its_markers_and_applying_twice_changes_nothing() {
        let part = Generated { file: "a.md".to_owned(), marker: Some("t"), words: Vec::new() };
        let once = part.apply("a\n<!-- generated: t -->\nold\n<!-- end: t -->\nz\n", "new\n").unwrap();
        assert_eq!(once, "a\n<!-- generated: t -->\nnew\n<!-- end: t -->\nz\n");
        assert_eq!(part.apply(&once, "new\n").unwrap(), once);
    }

    #[test]
    fn missing_markers_are_an_error_that_says_what_to_add() {
        let part = Generated { file: "a.md".to_owned(), marker: Some("t"), words: Vec::new() };
        let error = part.apply("<!-- end: t --><!-- generated: t -->", "new").unwrap_err().to_string();
        assert!(error.contains("a.md needs the lines `<!-- generated: t -->`"), "{error}");
    }

    #[test]
    fn every_page_of_a_dialect_has_its_own_table() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(generated(root.path()).unwrap().len(), 2);
        fs::create_dir_all(root.path().join(PAGES)).unwrap();
        fs::write(root.path().join(PAGES).join("sqlite.md"), "").unwrap();
        let all = generated(root.path()).unwrap();
        let page = all.last().unwrap();
        assert_eq!(page.file, "docs/dialects/sqlite.md");
        assert_eq!(page.words, ["dialects", "sqlite", "--format", "markdown"]);
    }

    #[test]
    fn the_first_line_that_differs_is_named() {
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), 2);
        assert_eq!(first_difference("", "a\n"), 1);
        assert_eq!(first_difference("a\n", "a\nb\n"), 2);
    }
}
