//! Names of things in a database, as a type: query text is never built from plain strings.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The name of an object (table, view, collection, label, index), optionally in a namespace
/// (schema, database). The parts hold the bare names, without any quoting.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ObjectName {
    /// Schema or database; absent means the session's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The bare name.
    pub name: String,
}

impl ObjectName {
    /// A name in the session's default namespace.
    pub fn new(name: impl Into<String>) -> Self {
        Self { namespace: None, name: name.into() }
    }

    /// A name in a namespace.
    pub fn within(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { namespace: Some(namespace.into()), name: name.into() }
    }

    /// Reads `name`, `namespace.name`, and either part in double quotes (`"a.b"."c"`, a quote doubled).
    /// More than two parts, an empty part or an open quote give `None`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = split_quoted(text)?;
        match parts.len() {
            1 => Some(Self::new(parts.pop()?)),
            2 => {
                let name = parts.pop()?;
                Some(Self { namespace: parts.pop(), name })
            }
            _ => None,
        }
    }
}

/// Splits at dots outside double quotes and removes the quotes.
pub(crate) fn split_quoted(text: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut chars = text.trim().chars().peekable();
    loop {
        let mut part = String::new();
        if chars.peek() == Some(&'"') {
            chars.next();
            loop {
                match chars.next()? {
                    '"' if chars.peek() == Some(&'"') => {
                        chars.next();
                        part.push('"');
                    }
                    '"' => break,
                    c => part.push(c),
                }
            }
        } else {
            while let Some(c) = chars.next_if(|c| *c != '.' && *c != '"') {
                part.push(c);
            }
        }
        if part.is_empty() {
            return None;
        }
        parts.push(part);
        match chars.next() {
            None => return Some(parts),
            Some('.') => {}
            Some(_) => return None,
        }
    }
}

fn write_part(f: &mut fmt::Formatter<'_>, part: &str) -> fmt::Result {
    if part.contains(['.', '"']) || part.trim() != part || part.is_empty() {
        write!(f, "\"{}\"", part.replace('"', "\"\""))
    } else {
        f.write_str(part)
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = &self.namespace {
            write_part(f, namespace)?;
            f.write_str(".")?;
        }
        write_part(f, &self.name)
    }
}

impl From<&str> for ObjectName {
    /// The whole text is the bare name; nothing is split.
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

/// How a dialect compares names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NameCase {
    /// `Users` and `users` are two names.
    #[default]
    Sensitive,
    /// ASCII letters compare without case, as in SQLite.
    AsciiInsensitive,
    /// All letters compare without case, also those that only some servers fold: `emaıl` is `email`.
    Insensitive,
}

impl NameCase {
    /// Whether two names mean the same thing.
    pub fn same(self, a: &str, b: &str) -> bool {
        match self {
            Self::Sensitive => a == b,
            Self::AsciiInsensitive => a.eq_ignore_ascii_case(b),
            Self::Insensitive => a == b || self.fold(a) == self.fold(b),
        }
    }

    /// Whether a name matches a pattern, in which `*` stands for any characters and `?` for one. Linear in
    /// practice, quadratic at worst.
    pub fn matches(self, pattern: &str, name: &str) -> bool {
        let pattern: Vec<char> = self.fold(pattern).chars().collect();
        let name: Vec<char> = self.fold(name).chars().collect();
        let (mut p, mut n) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        while let Some(c) = name.get(n) {
            match pattern.get(p) {
                Some('*') => {
                    star = Some((p + 1, n));
                    p += 1;
                }
                Some('?') => {
                    p += 1;
                    n += 1;
                }
                Some(x) if x == c => {
                    p += 1;
                    n += 1;
                }
                _ => match star {
                    Some((after, from)) => {
                        p = after;
                        n = from + 1;
                        star = Some((after, from + 1));
                    }
                    None => return false,
                },
            }
        }
        pattern.get(p..).is_some_and(|rest| rest.iter().all(|c| *c == '*'))
    }

    /// The form of a name in which equal names are equal texts.
    pub fn fold(self, name: &str) -> String {
        match self {
            Self::Sensitive => name.to_owned(),
            Self::AsciiInsensitive => name.to_ascii_lowercase(),
            Self::Insensitive => name.chars().flat_map(fold_char).collect(),
        }
    }
}

/// A letter without its case, as whatever server might fold it: by way of its capital, since some have one that
/// is that of another letter (`ı` and `ſ` are `I` and `S`, `ς` is `Σ`), and the `İ` without its dot. Servers
/// differ in these; two names that one of them might take for the same are the same.
fn fold_char(letter: char) -> impl Iterator<Item = char> {
    let plain = if letter == 'İ' { 'i' } else { letter };
    plain.to_uppercase().flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of these reads the column on MySQL or MariaDB.
    #[test]
    fn letters_that_a_server_may_fold_are_folded() {
        let case = NameCase::Insensitive;
        for (written, meant) in [
            ("EMAIL", "email"),
            ("emaİl", "email"),
            ("emaıl", "email"),
            ("ſsn", "ssn"),
            ("toKen", "token"),
            ("ΛΌΓΟΣ", "λόγος"),
            ("λόγοσ", "λόγος"),
            ("GRÖSSE", "größe"),
        ] {
            assert!(case.same(written, meant), "{written} {meant}");
            assert!(case.matches(&format!("*{meant}"), written), "{written} {meant}");
        }
        assert!(!case.same("e-mail", "email") && !case.same("é", "e"));
    }

    #[test]
    fn names_survive_printing_and_parsing() {
        for name in [
            ObjectName::new("users"),
            ObjectName::within("main", "Order Details"),
            ObjectName::within("a.b", "c\"d"),
            ObjectName::new(" leading"),
        ] {
            assert_eq!(ObjectName::parse(&name.to_string()), Some(name));
        }
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for text in ["", ".", "a.", "a..b", "\"open", "a.b.c", "a\"b"] {
            assert_eq!(ObjectName::parse(text), None, "{text}");
        }
    }
}
