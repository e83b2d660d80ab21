//! Words that must not stay behind: of work undone, of tests switched off, of somebody's machine.

use super::files::TextFile;

/// One thing that must not be written.
struct Forbidden {
    /// In pieces, so that this file does not hold it.
    pieces: &'static [&'static str],
    /// The kinds of files it is looked for in; all when empty.
    only_in: &'static [&'static str],
    why: &'static str,
}

const FORBIDDEN: &[Forbidden] = &[
    Forbidden { pieces: &["to", "do!("], only_in: &["rs"], why: "finish it" },
    Forbidden { pieces: &["unimpl", "emented!("], only_in: &["rs"], why: "finish it" },
    Forbidden { pieces: &["FIX", "ME"], only_in: &["rs", "toml", "md"], why: "mend it, or file an issue" },
    Forbidden { pieces: &["XX", "X"], only_in: &["rs", "toml", "md"], why: "mend it, or file an issue" },
    Forbidden {
        pieces: &["#[", "ignore"],
        only_in: &["rs"],
        why: "run it, or print SKIPPED with the reason",
    },
    Forbidden {
        pieces: &["--all", "-features"],
        only_in: &["yml", "yaml"],
        why: "use a list; some exclude others",
    },
    Forbidden { pieces: &["/ro", "ot/"], only_in: &[], why: "a path of one machine" },
    Forbidden { pieces: &["/wo", "rk/"], only_in: &[], why: "a path of one machine" },
    Forbidden { pieces: &["Co-Auth", "ored-By"], only_in: &[], why: "the project speaks of itself only" },
    Forbidden {
        pieces: &["session of the ", "helper"],
        only_in: &[],
        why: "the project speaks of itself only",
    },
    Forbidden {
        pieces: &["as an AI ", "language model"],
        only_in: &[],
        why: "the project speaks of itself only",
    },
];

pub(super) fn check(files: &[TextFile]) -> Vec<String> {
    let mut problems = Vec::new();
    for forbidden in FORBIDDEN {
        let phrase = forbidden.pieces.concat();
        let concerns =
            |file: &&TextFile| forbidden.only_in.is_empty() || forbidden.only_in.contains(&file.extension());
        for file in files.iter().filter(concerns) {
            let lines = file.text.lines().enumerate().filter(|(_, line)| holds(line, &phrase));
            problems.extend(lines.map(|(number, _)| {
                format!("{}:{} says `{phrase}`: {}", file.path, number + 1, forbidden.why)
            }));
        }
    }
    problems
}

/// Whether the line holds the phrase as words of its own and not as a part of longer ones.
fn holds(line: &str, phrase: &str) -> bool {
    let is_word =
        |character: Option<char>| character.is_some_and(|found| found.is_alphanumeric() || found == '_');
    let starts_as_word = is_word(phrase.chars().next());
    let ends_as_word = is_word(phrase.chars().next_back());
    line.match_indices(phrase).any(|(start, _)| {
        let (before, rest) = line.split_at(start);
        let after = rest.strip_prefix(phrase).and_then(|rest| rest.chars().next());
        // A path must not be the tail of a longer one, which begins with a word of its own.
        let glued_before = (starts_as_word || phrase.starts_with('/')) && is_word(before.chars().next_back());
        let glued_after = ends_as_word && is_word(after);
        !(glued_before || glued_after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::files::file;

    #[test]
    fn every_phrase_is_found_where_it_is_forbidden() {
        for forbidden in FORBIDDEN {
            let extension = forbidden.only_in.first().unwrap_or(&"md");
            let text = format!("before\nand {} then", forbidden.pieces.concat());
            let problems = check(&[file(&format!("a.{extension}"), &text)]);
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert!(problems[0].starts_with(&format!("a.{extension}:2 ")), "{problems:?}");
        }
    }

    #[test]
    fn a_part_of_a_longer_word_is_not_meant() {
        let mark = FORBIDDEN[3].pieces.concat();
        assert!(holds(&format!("// {mark}: later"), &mark));
        assert!(!holds(&format!("{mark}L shirts"), &mark));
        let path = FORBIDDEN[7].pieces.concat();
        assert!(holds(&format!("`{path}main`"), &path));
        assert!(!holds(&format!("docs{path}main"), &path));
    }

    #[test]
    fn a_phrase_is_looked_for_only_where_it_means_something() {
        let text = format!("never write {}", FORBIDDEN[0].pieces.concat());
        assert_eq!(check(&[file("CONTRIBUTING.md", &text)]), Vec::<String>::new());
    }
}
