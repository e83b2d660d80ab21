//! The names under which a statement calls code, in one text each.
//!
//! A function is called by its name, by an operator, by a cast to a type, and by what looks like a column
//! (`people.full_name`). One text says which: it is what a refusal shows and what a policy allows.

use std::fmt;

/// A name that may have a schema.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Qualified {
    pub(crate) schema: Option<String>,
    pub(crate) name: String,
}

impl Qualified {
    /// A name without a schema.
    pub(crate) fn bare(name: impl Into<String>) -> Self {
        Self { schema: None, name: name.into() }
    }

    /// A name in a schema.
    pub(crate) fn within(schema: impl Into<String>, name: impl Into<String>) -> Self {
        Self { schema: Some(schema.into()), name: name.into() }
    }
}

/// Something that runs code.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Called {
    /// A function by its name: `lower`, `public.f`, `"Odd".f`.
    Function(Qualified),
    /// An operator: `operator(+)`, `operator(public.@@)`.
    Operator(Qualified),
    /// A type that something is cast to: `type mood`.
    Type(Qualified),
    /// A function that is called as a column of a row is read, `people.full_name`: `attribute full_name`.
    Attribute(String),
    /// A function that is called as a field of a value is read, `(x).full_name`: `field full_name`.
    Field(String),
    /// Casts that nobody writes: `implicit casts`.
    Implicit,
    /// A use of a function or an operator with values that have no type of their own, constants in quotes and
    /// parameters, which can become a value of any type: `untyped 5 st_distance`. Each bit is an argument, the
    /// lowest the first; [`Called::ANY`] is all of them.
    Untyped(i64, Box<Called>),
}

impl Called {
    /// Every argument may be without a type.
    pub(crate) const ANY: i64 = -1;
}

/// Whether a name needs no quotes.
fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

fn part(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    if is_plain(name) { f.write_str(name) } else { write!(f, "\"{}\"", name.replace('"', "\"\"")) }
}

impl fmt::Display for Qualified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(schema) = &self.schema {
            part(f, schema)?;
            f.write_str(".")?;
        }
        part(f, &self.name)
    }
}

impl fmt::Display for Called {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Function(name) => name.fmt(f),
            Self::Operator(Qualified { schema: None, name }) => write!(f, "operator({name})"),
            Self::Operator(Qualified { schema: Some(schema), name }) => {
                f.write_str("operator(")?;
                part(f, schema)?;
                write!(f, ".{name})")
            }
            Self::Type(name) => write!(f, "type {name}"),
            Self::Attribute(name) => {
                f.write_str("attribute ")?;
                part(f, name)
            }
            Self::Field(name) => {
                f.write_str("field ")?;
                part(f, name)
            }
            Self::Implicit => f.write_str("implicit casts"),
            Self::Untyped(arguments, called) => write!(f, "untyped {arguments} {called}"),
        }
    }
}

/// Reads one part and what is behind it.
fn take(text: &str) -> Option<(String, &str)> {
    let Some(mut rest) = text.strip_prefix('"') else {
        let end = text.find(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'));
        let (name, rest) = text.split_at_checked(end.unwrap_or(text.len()))?;
        return is_plain(name).then(|| (name.to_owned(), rest));
    };
    let mut name = String::new();
    loop {
        let (before, behind) = rest.split_once('"')?;
        name.push_str(before);
        match behind.strip_prefix('"') {
            Some(more) => {
                name.push('"');
                rest = more;
            }
            None => return Some((name, behind)),
        }
    }
}

fn qualified(text: &str) -> Option<Qualified> {
    let (first, rest) = take(text)?;
    if rest.is_empty() {
        return Some(Qualified::bare(first));
    }
    let (second, rest) = take(rest.strip_prefix('.')?)?;
    rest.is_empty().then(|| Qualified::within(first, second))
}

impl Called {
    /// Reads what `Display` writes.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text == "implicit casts" {
            return Some(Self::Implicit);
        }
        if let Some(inner) = text.strip_prefix("operator(").and_then(|t| t.strip_suffix(')')) {
            return Some(Self::Operator(
                match take(inner).and_then(|(s, r)| Some((s, r.strip_prefix('.')?))) {
                    Some((schema, name)) => Qualified::within(schema, name),
                    None => Qualified::bare(inner),
                },
            ));
        }
        if let Some(name) = text.strip_prefix("type ") {
            return qualified(name).map(Self::Type);
        }
        if let Some(rest) = text.strip_prefix("untyped ") {
            let (arguments, called) = rest.split_once(' ')?;
            let called = Self::parse(called)?;
            let is_use = matches!(called, Self::Function(_) | Self::Operator(_));
            return is_use.then_some(Self::Untyped(arguments.parse().ok()?, Box::new(called)));
        }
        if let Some(name) = text.strip_prefix("attribute ") {
            let (name, rest) = take(name)?;
            return rest.is_empty().then_some(Self::Attribute(name));
        }
        if let Some(name) = text.strip_prefix("field ") {
            let (name, rest) = take(name)?;
            return rest.is_empty().then_some(Self::Field(name));
        }
        qualified(text).map(Self::Function)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_survives_and_no_two_are_the_same_text() {
        let odd =
            ["lower", "Lower", "a.b", "a\"b", "type x", "operator(+)", "implicit casts", "ü", "a b", "1"];
        let mut all = vec![Called::Implicit];
        for name in odd {
            all.push(Called::Attribute(name.into()));
            all.push(Called::Field(name.into()));
            for q in [Qualified::bare(name), Qualified::within("public", name), Qualified::within(name, "f")]
            {
                all.push(Called::Function(q.clone()));
                all.push(Called::Untyped(5, Box::new(Called::Function(q.clone()))));
                all.push(Called::Type(q));
            }
        }
        all.push(Called::Untyped(Called::ANY, Box::new(Called::Operator(Qualified::bare("+")))));
        for operator in ["+", "||", "@>", "~~*", "?|", "<", "->>"] {
            all.push(Called::Operator(Qualified::bare(operator)));
            all.push(Called::Operator(Qualified::within("Odd.schema", operator)));
        }
        let mut texts: Vec<String> = all.iter().map(ToString::to_string).collect();
        for (called, text) in all.iter().zip(&texts) {
            assert_eq!(Called::parse(text).as_ref(), Some(called), "{text}");
        }
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), all.len());
        for text in [
            "",
            "a.",
            ".a",
            "a.b.c",
            "\"a",
            "type ",
            "attribute a.b",
            "A",
            "untyped f",
            "untyped x f",
            "untyped 1 type f",
        ] {
            assert_eq!(Called::parse(text), None, "{text:?}");
        }
    }
}
