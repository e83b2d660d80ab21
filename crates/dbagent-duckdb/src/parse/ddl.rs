//! Reads definitions as the engine writes them out: the query of a view, generated columns, the columns of
//! an index, the labels of an enumeration.

use super::lex::{Kind, Tokens};

/// The query of `CREATE VIEW name [(columns)] AS query`, as the engine writes definitions out, and
/// whether the definition gives the columns names of its own.
pub(crate) fn view_query(definition: &str) -> Option<&str> {
    let tokens = Tokens::read(definition, usize::MAX).ok()?;
    let mut next = 0;
    if !tokens.is_word(next, "create") {
        return None;
    }
    next += 1;
    while tokens.is_any(next, &["or", "replace", "temp", "temporary", "recursive"]) {
        next += 1;
    }
    if !tokens.is_word(next, "view") {
        return None;
    }
    next += 1;
    while tokens.is_any(next, &["if", "not", "exists"])
        && !tokens.is_sign(next + 1, '.')
        && !tokens.is_word(next + 1, "as")
    {
        next += 1;
    }
    tokens.name(next)?;
    next += 1;
    while tokens.is_sign(next, '.') {
        tokens.name(next + 1)?;
        next += 2;
    }
    if tokens.is_sign(next, '(') {
        while !tokens.is_sign(next, ')') {
            tokens.list().get(next)?;
            next += 1;
        }
        next += 1;
    }
    if !tokens.is_word(next, "as") {
        return None;
    }
    let begin = tokens.list().get(next + 1)?.span.start;
    definition.get(begin..)
}

/// The names of the generated columns of `CREATE TABLE name(…)`.
pub(crate) fn generated_columns(definition: &str) -> Vec<String> {
    let Ok(tokens) = Tokens::read(definition, usize::MAX) else { return Vec::new() };
    let mut found = Vec::new();
    for item in outer_items(&tokens, 0) {
        let generated = (item.0 + 1..item.1).any(|i| {
            tokens.is_word(i, "generated") && tokens.is_word(i + 1, "always") && tokens.is_word(i + 2, "as")
        });
        if generated {
            found.extend(tokens.name(item.0));
        }
    }
    found
}

/// The columns and expressions of `CREATE INDEX name ON table(…)`.
pub(crate) fn index_columns(definition: &str) -> Vec<String> {
    let Ok(tokens) = Tokens::read(definition, usize::MAX) else { return Vec::new() };
    let on = (0..tokens.list().len()).find(|i| tokens.is_word(*i, "on")).unwrap_or(0);
    outer_items(&tokens, on)
        .into_iter()
        .map(|(from, to)| {
            if let Some(name) = tokens.name(from).filter(|_| to == from + 1) {
                return name;
            }
            let begin = tokens.list().get(from).map_or(0, |t| t.span.start);
            let end = tokens.list().get(to.saturating_sub(1)).map_or(begin, |t| t.span.end);
            definition.get(begin..end).unwrap_or_default().to_owned()
        })
        .collect()
}

/// The labels of `ENUM('a', 'b')`; none of any other type.
pub(crate) fn enum_labels(data_type: &str) -> Vec<String> {
    let Ok(tokens) = Tokens::read(data_type, usize::MAX) else { return Vec::new() };
    if !tokens.is_word(0, "enum") || !tokens.is_sign(tokens.end().saturating_sub(1), ')') {
        return Vec::new();
    }
    (0..tokens.list().len()).filter_map(|i| tokens.plain_text(i)).collect()
}

/// The items between the first brackets from a token on: first token, and the one behind the last.
fn outer_items(tokens: &Tokens<'_>, from: usize) -> Vec<(usize, usize)> {
    let mut items = Vec::new();
    let mut depth = 0_usize;
    let mut begin = 0;
    for (index, token) in tokens.list().iter().enumerate().skip(from) {
        match token.kind {
            Kind::Sign('(' | '[' | '{') => {
                depth += 1;
                if depth == 1 {
                    begin = index + 1;
                }
            }
            Kind::Sign(')' | ']' | '}') if depth == 1 => {
                if index > begin {
                    items.push((begin, index));
                }
                return items;
            }
            Kind::Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
            Kind::Sign(',') if depth == 1 => {
                items.push((begin, index));
                begin = index + 1;
            }
            _ => {}
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_is_what_stands_behind_as() {
        for (definition, query) in [
            ("CREATE VIEW v AS SELECT 1;", "SELECT 1;"),
            ("CREATE VIEW s.\"a.b \"\"c\" (x, \"as\") AS FROM t;", "FROM t;"),
            ("CREATE VIEW \"as\" AS SELECT 'AS';", "SELECT 'AS';"),
            ("CREATE VIEW v AS DESCRIBE (SELECT * FROM users);", "DESCRIBE (SELECT * FROM users);"),
        ] {
            assert_eq!(view_query(definition), Some(query));
        }
        assert_eq!(view_query("CREATE TABLE t (a)"), None);
        assert_eq!(view_query("CREATE VIEW v"), None);
    }

    #[test]
    fn parts_of_definitions_are_found() {
        let table = "CREATE TABLE t(id INTEGER, \"a \"\"b\" INTEGER GENERATED ALWAYS AS((id + 1)), c VARCHAR DEFAULT('x, GENERATED ALWAYS AS'));";
        assert_eq!(generated_columns(table), ["a \"b"]);
        assert_eq!(
            index_columns("CREATE UNIQUE INDEX i ON s.t(\"on\", ((a + f(b, c))));"),
            ["on", "((a + f(b, c)))"]
        );
        assert_eq!(enum_labels("ENUM('a', 'it''s', ')')"), ["a", "it's", ")"]);
        assert_eq!(enum_labels("STRUCT(a ENUM('x'))"), [""; 0]);
        assert_eq!(enum_labels("ENUM('a')[]"), [""; 0]);
    }
}
