//! Licence expressions: `(MIT OR Apache-2.0) AND Unicode-3.0`.

use anyhow::{Result, bail};

/// Deeper nesting is no licence but a mistake.
const MAX_DEPTH: usize = 32;

/// What a package says of its licence.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Expression {
    /// One licence, with its exception if it has one: `Apache-2.0 WITH LLVM-exception`.
    License(String),
    /// All of these hold.
    All(Vec<Self>),
    /// The user chooses one of these.
    Any(Vec<Self>),
}

impl Expression {
    /// Reads an expression. The old form `MIT/Apache-2.0` means a choice.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let spaced = text.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
        let mut parser =
            Parser { words: spaced.split_whitespace().collect::<Vec<_>>().into_iter().peekable() };
        let expression = parser.any(0)?;
        match parser.words.next() {
            None => Ok(expression),
            Some(word) => bail!("`{word}` is too much"),
        }
    }

    /// Whether the licence can be had with what is allowed.
    pub(super) fn is_satisfied(&self, allowed: &impl Fn(&str) -> bool) -> bool {
        match self {
            Self::License(license) => allowed(license),
            Self::All(parts) => parts.iter().all(|part| part.is_satisfied(allowed)),
            Self::Any(parts) => parts.iter().any(|part| part.is_satisfied(allowed)),
        }
    }

    /// Whether it speaks of this licence at all.
    pub(super) fn mentions(&self, license: &str) -> bool {
        match self {
            Self::License(own) => own == license,
            Self::All(parts) | Self::Any(parts) => parts.iter().any(|part| part.mentions(license)),
        }
    }
}

struct Parser<'a> {
    words: std::iter::Peekable<std::vec::IntoIter<&'a str>>,
}

impl Parser<'_> {
    /// OR binds weaker than AND.
    fn any(&mut self, depth: usize) -> Result<Expression> {
        let mut parts = vec![self.all(depth)?];
        while self.words.next_if_eq(&"OR").is_some() {
            parts.push(self.all(depth)?);
        }
        Ok(only_or(parts, Expression::Any))
    }

    fn all(&mut self, depth: usize) -> Result<Expression> {
        let mut parts = vec![self.one(depth)?];
        while self.words.next_if_eq(&"AND").is_some() {
            parts.push(self.one(depth)?);
        }
        Ok(only_or(parts, Expression::All))
    }

    fn one(&mut self, depth: usize) -> Result<Expression> {
        match self.words.next() {
            None => bail!("a licence is missing at its end"),
            Some("(") if depth >= MAX_DEPTH => bail!("it is nested more than {MAX_DEPTH} deep"),
            Some("(") => {
                let inner = self.any(depth + 1)?;
                if self.words.next() != Some(")") {
                    bail!("a parenthesis is not closed");
                }
                Ok(inner)
            }
            Some(word @ (")" | "AND" | "OR" | "WITH")) => bail!("`{word}` stands where a licence should"),
            Some(license) => {
                if self.words.next_if_eq(&"WITH").is_none() {
                    return Ok(Expression::License(license.to_owned()));
                }
                match self.words.next() {
                    Some(exception) => Ok(Expression::License(format!("{license} WITH {exception}"))),
                    None => bail!("an exception is missing at its end"),
                }
            }
        }
    }
}

fn only_or(mut parts: Vec<Expression>, many: impl FnOnce(Vec<Expression>) -> Expression) -> Expression {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        Some(last) => {
            parts.push(last);
            many(parts)
        }
        None => many(parts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn satisfied(text: &str, allowed: &[&str]) -> bool {
        Expression::parse(text).unwrap().is_satisfied(&|license| allowed.contains(&license))
    }

    #[test]
    fn and_binds_stronger_than_or() {
        assert!(satisfied("MIT OR GPL-3.0 AND Zlib", &["MIT"]));
        assert!(!satisfied("MIT OR GPL-3.0 AND Zlib", &["Zlib"]));
        assert!(!satisfied("(MIT OR Apache-2.0) AND Unicode-3.0", &["MIT"]));
        assert!(satisfied("(MIT OR Apache-2.0) AND Unicode-3.0", &["MIT", "Unicode-3.0"]));
    }

    #[test]
    fn an_exception_makes_another_licence() {
        let llvm = "Apache-2.0 WITH LLVM-exception";
        assert!(satisfied(llvm, &[llvm]));
        assert!(!satisfied(llvm, &["Apache-2.0"]));
        assert!(satisfied("Apache-2.0 WITH LLVM-exception OR MIT", &["MIT"]));
    }

    #[test]
    fn the_old_slash_is_a_choice() {
        assert!(satisfied("Unlicense/MIT", &["MIT"]));
        assert!(satisfied("Apache-2.0 / MIT", &["MIT"]));
    }

    #[test]
    fn nonsense_is_an_error() {
        let deep = format!("{}MIT{}", "(".repeat(1000), ")".repeat(1000));
        for text in ["", "MIT OR", "MIT Zlib", "(MIT", "MIT)", "AND MIT", "MIT WITH", "()", deep.as_str()] {
            assert!(Expression::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_it_mentions_is_found_at_any_depth() {
        let expression = Expression::parse("(MIT OR Apache-2.0) AND Unicode-3.0").unwrap();
        assert!(expression.mentions("Apache-2.0"));
        assert!(!expression.mentions("Zlib"));
    }
}
