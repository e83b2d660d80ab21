//! What `docs/stability.md` promises of traits and types, compared with the core's code.

use std::collections::{BTreeMap, BTreeSet};

use super::links;
use crate::tidy::files::TextFile;

const PAGE: &str = "docs/stability.md";
const CORE: &str = "crates/dbagent-core/src/";

const IMPLEMENT: &str = "## Traits you may implement";
const OURS: &str = "## Traits that are ours";
const GROW: &str = "## Types that grow";
const FIXED: &str = "## Types that do not grow";

/// A public type of the core, and whether it is `#[non_exhaustive]`.
type Types<'a> = BTreeMap<&'a str, bool>;

pub(super) fn check(files: &[TextFile]) -> Vec<String> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else {
        return vec![format!("{PAGE} is missing")];
    };
    let core = || files.iter().filter(|file| file.path.starts_with(CORE) && file.extension() == "rs");
    let traits: BTreeSet<&str> = core().flat_map(|file| traits(&file.text)).collect();
    let types: Types<'_> = core().flat_map(|file| types(&file.text)).collect();
    let table = |heading| names_in_table(&page.text, heading);
    let listed: BTreeSet<&str> = table(IMPLEMENT).into_iter().chain(table(OURS)).collect();

    let mut problems = Vec::new();
    let mut complain = |what: String| problems.push(format!("{PAGE}: {what}"));
    for name in &listed {
        if !traits.contains(name) {
            complain(format!("lists the trait `{name}`, which dbagent-core does not have"));
        }
    }
    for name in traits.difference(&listed) {
        complain(format!("does not say whether others may implement the trait `{name}`"));
    }
    let (grow, fixed) = (table(GROW), table(FIXED));
    for (names, grows) in [(&grow, true), (&fixed, false)] {
        for name in names {
            match types.get(name) {
                None => complain(format!("lists the type `{name}`, which dbagent-core does not have")),
                Some(found) if *found != grows => {
                    let is = if *found { "is" } else { "is not" };
                    complain(format!("is wrong about `{name}`, which {is} `#[non_exhaustive]`"));
                }
                Some(_) => {}
            }
        }
    }
    for name in types.iter().filter(|(name, grows)| **grows && !grow.contains(*name)).map(|(name, _)| name) {
        complain(format!("does not list `{name}`, which is `#[non_exhaustive]`"));
    }
    problems
}

/// The names in backticks in the first column of the table under a heading.
fn names_in_table<'a>(page: &'a str, heading: &str) -> Vec<&'a str> {
    let section = page.lines().skip_while(|line| *line != heading).skip(1);
    let rows = section.take_while(|line| !line.starts_with("## ")).filter_map(|line| line.strip_prefix('|'));
    rows.filter_map(|row| row.split('|').next()).flat_map(links::code_spans).collect()
}

fn traits(code: &str) -> impl Iterator<Item = &str> {
    code.lines().filter_map(|line| identifier(line.trim_start().strip_prefix("pub trait ")?))
}

/// The public types, each with whether the attributes above it hold `#[non_exhaustive]`.
fn types(code: &str) -> Vec<(&str, bool)> {
    let mut found = Vec::new();
    let mut grows = false;
    for line in code.lines().map(str::trim_start) {
        let declared = ["pub enum ", "pub struct "].iter().find_map(|word| line.strip_prefix(word));
        if let Some(name) = declared.and_then(identifier) {
            found.push((name, grows));
        }
        let is_above_an_item = line.starts_with("#[") || line.starts_with("//");
        grows = line.starts_with("#[non_exhaustive]") || (grows && is_above_an_item);
    }
    found
}

fn identifier(rest: &str) -> Option<&str> {
    let name = rest.split(|character: char| !character.is_alphanumeric() && character != '_').next()?;
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::files::file;

    const CODE: &str = "\
pub trait Model: Send {}
trait Private {}
#[non_exhaustive]
/// What went wrong.
#[derive(Debug)]
pub enum Kind { A }
pub enum Verdict<T> { A(T) }
";

    fn problems(page: &str) -> Vec<String> {
        check(&[file("crates/dbagent-core/src/lib.rs", CODE), file(PAGE, page)])
    }

    fn page(traits: &str, grow: &str, fixed: &str) -> String {
        let row =
            |name: &str| if name.is_empty() { String::new() } else { format!("| `{name}` | x `y` |\n") };
        format!("{IMPLEMENT}\n{}{GROW}\n{}{FIXED}\n{}", row(traits), row(grow), row(fixed))
    }

    #[test]
    fn a_page_that_tells_the_truth_passes() {
        assert_eq!(problems(&page("Model", "Kind", "Verdict")), Vec::<String>::new());
    }

    #[test]
    fn a_trait_that_is_missing_or_invented_is_seen() {
        assert_eq!(problems(&page("", "Kind", "Verdict")).len(), 1);
        assert_eq!(problems(&page("Gone", "Kind", "Verdict")).len(), 2);
        assert_eq!(problems(&page("Private", "Kind", "Verdict")).len(), 2);
    }

    #[test]
    fn a_type_under_the_wrong_heading_or_nowhere_is_seen() {
        assert_eq!(problems(&page("Model", "Verdict", "")).len(), 2);
        assert_eq!(problems(&page("Model", "Kind", "Gone")).len(), 1);
        assert_eq!(problems(&page("Model", "", "Verdict")).len(), 1);
    }

    #[test]
    fn a_page_that_is_not_there_is_a_problem() {
        assert_eq!(check(&[]).len(), 1);
    }
}
