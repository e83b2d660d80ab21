//! The few statements that the engine does not serialize: EXPLAIN, PIVOT and PRAGMA, told by their first
//! words, and what to give to the engine's grammar in their place.
//!
//! What is given differs from the text only by spaces over the words of EXPLAIN, or by what is put in
//! around PIVOT: a bracket, `IN (1)` without any quote, a closing bracket on a line of its own. So the
//! engine reads every token of the text all the same, also where this reader saw the borders of a quote
//! or comment wrong: then the brackets do not pair, and the text is refused.

use dbagent_core::guard::Span;

use super::lex::{Kind, Tokens};

/// A statement by its outer form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    /// Anything that the engine's grammar is asked about as it is.
    Plain,
    /// EXPLAIN: the text with its first words blank, and whether the statement is run for it.
    Explain { body: String, analyze: bool },
    /// PIVOT without a list of values at its end, as a query that holds it.
    Pivot(Rewritten),
    /// PRAGMA of a name, with the one name in its brackets.
    Pragma { name: String, argument: Option<Argument> },
    /// Begins like one of these, and goes on in a way that nobody has judged.
    Unclear { what: &'static str, at: Span },
}

/// The argument of a PRAGMA.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Argument {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// A text with pieces put in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rewritten {
    pub(crate) text: String,
    /// Where in the original, and how many bytes were put in there, in order.
    inserted: Vec<(usize, usize)>,
}

impl Rewritten {
    /// The place in the original of a place in the rewritten text.
    pub(crate) fn original(&self, at: usize) -> usize {
        let mut shift = 0;
        for (place, length) in &self.inserted {
            if at < place + shift + length {
                return (*place).min(at.saturating_sub(shift));
            }
            shift += length;
        }
        at - shift
    }
}

const PIVOTS: &[&str] = &["pivot", "pivot_wider"];
/// Words that end the list behind ON.
const AFTER_ON: &[&str] =
    &["using", "group", "order", "limit", "offset", "union", "except", "intersect", "where", "having"];

/// Tells the outer form of a statement.
pub(crate) fn command(tokens: &Tokens<'_>, text: &str) -> Command {
    let found = if tokens.is_word(0, "explain") {
        explain(tokens, text)
    } else if tokens.is_word(0, "pragma") {
        pragma(tokens)
    } else if tokens.is_any(0, PIVOTS) || tokens.is_word(0, "with") {
        pivot(tokens, text)
    } else {
        return Command::Plain;
    };
    if found != Command::Plain && tokens.has_nested_comment() {
        return unclear("a comment inside a comment", tokens, 0);
    }
    found
}

fn unclear(what: &'static str, tokens: &Tokens<'_>, index: usize) -> Command {
    let at = tokens.list().get(index).map(|t| t.span).unwrap_or_default();
    Command::Unclear { what, at }
}

/// `EXPLAIN [ANALYZE | (option [value], …)] statement`.
fn explain(tokens: &Tokens<'_>, text: &str) -> Command {
    let mut next = 1;
    let mut analyze = false;
    if tokens.is_any(next, &["analyze", "analyse"]) {
        analyze = true;
        next += 1;
    }
    // A bracket opens options only if a word that is one follows; `EXPLAIN (SELECT 1)` has none.
    if !analyze && tokens.is_sign(next, '(') && tokens.is_any(next + 1, &["analyze", "format"]) {
        next += 1;
        loop {
            if tokens.is_word(next, "analyze") {
                analyze = true;
                next += 1;
                if tokens.is_any(next, &["true", "on"]) {
                    next += 1;
                }
            } else if tokens.is_word(next, "format") {
                next += 1;
                let value = tokens.list().get(next).map(|t| t.kind);
                if !matches!(value, Some(Kind::Word | Kind::Quoted | Kind::Text)) {
                    return unclear("an option of EXPLAIN", tokens, next);
                }
                next += 1;
            } else {
                return unclear("an option of EXPLAIN", tokens, next);
            }
            if tokens.is_sign(next, ',') {
                next += 1;
            } else if tokens.is_sign(next, ')') {
                next += 1;
                break;
            } else {
                return unclear("an option of EXPLAIN", tokens, next);
            }
        }
    }
    let Some(first) = tokens.list().get(next).map(|t| t.span.start) else {
        return unclear("EXPLAIN of nothing", tokens, 0);
    };
    let body = format!("{}{}", " ".repeat(first), text.get(first..).unwrap_or_default());
    Command::Explain { body, analyze }
}

/// `PRAGMA name` and `PRAGMA name('table')`.
fn pragma(tokens: &Tokens<'_>) -> Command {
    let Some(name) = tokens.name(1) else { return unclear("a PRAGMA without a name", tokens, 0) };
    let mut next = 2;
    let mut argument = None;
    if tokens.is_sign(next, '(') {
        next += 1;
        if !tokens.is_sign(next, ')') {
            let Some(text) = tokens.plain_text(next).or_else(|| tokens.name(next)) else {
                return unclear("the argument of a PRAGMA", tokens, next);
            };
            let span = tokens.list().get(next).map(|t| t.span).unwrap_or_default();
            argument = Some(Argument { text, span });
            next += 1;
        }
        if !tokens.is_sign(next, ')') {
            return unclear("the argument of a PRAGMA", tokens, next);
        }
        next += 1;
    }
    if next == tokens.end() {
        Command::Pragma { name: name.to_ascii_lowercase(), argument }
    } else {
        unclear("what follows a PRAGMA", tokens, next)
    }
}

/// `[WITH …] PIVOT source ON list …` becomes `[WITH …] FROM (PIVOT source ON list IN (1) …)`.
fn pivot(tokens: &Tokens<'_>, text: &str) -> Command {
    let end = tokens.end();
    let mut depth = 0_usize;
    let mut begin = None;
    let mut on = false;
    // Whether the element of the list that is being read has a list of values of its own.
    let mut has_values = false;
    let mut pieces: Vec<(usize, &str)> = Vec::new();
    let mut last = 0;
    for index in 0..end {
        let Some(token) = tokens.list().get(index) else { break };
        match token.kind {
            Kind::Sign('(' | '[' | '{') => depth += 1,
            // The bracket that is put in must pair with the one that is put in before it.
            Kind::Sign(')' | ']' | '}') if depth == 0 => {
                return unclear("a bracket that closes nothing", tokens, index);
            }
            Kind::Sign(')' | ']' | '}') => depth -= 1,
            _ if depth > 0 => {}
            Kind::Word if begin.is_none() && tokens.is_any(index, PIVOTS) => {
                begin = Some(token.span.start);
                pieces.push((token.span.start, "FROM ("));
            }
            Kind::Word if begin.is_some() && !on && tokens.is_word(index, "on") => {
                on = true;
                has_values = false;
            }
            Kind::Word if on && tokens.is_word(index, "in") => has_values = true,
            Kind::Word if on && tokens.is_any(index, AFTER_ON) => {
                if !has_values {
                    pieces.push((last, " IN (1)"));
                }
                on = false;
            }
            Kind::Sign(',') if on => {
                if !has_values {
                    pieces.push((last, " IN (1)"));
                }
                has_values = false;
            }
            _ => {}
        }
        last = token.span.end;
    }
    if begin.is_none() {
        return Command::Plain;
    }
    if on && !has_values {
        pieces.push((last, " IN (1)"));
    }
    pieces.push((last, "\n)"));
    let mut rewritten = String::with_capacity(text.len() + 8 * pieces.len());
    let mut inserted = Vec::with_capacity(pieces.len());
    let mut at = 0;
    for (place, piece) in pieces {
        rewritten.push_str(text.get(at..place).unwrap_or_default());
        rewritten.push_str(piece);
        inserted.push((place, piece.len()));
        at = place;
    }
    // Only semicolons and comments are left. They stay behind the bracket, where they change nothing.
    rewritten.push_str(text.get(at..).unwrap_or_default());
    Command::Pivot(Rewritten { text: rewritten, inserted })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Command {
        command(&Tokens::read(text, 1_000).unwrap(), text)
    }

    #[test]
    fn explain_is_blanked_so_that_places_stay() {
        for (text, body, analyzed) in [
            ("EXPLAIN SELECT 1", "        SELECT 1", false),
            ("explain analyze FROM t", "                FROM t", true),
            ("EXPLAIN (FORMAT json) SELECT 1", "                      SELECT 1", false),
            ("EXPLAIN (ANALYZE, FORMAT 'json') FROM t", "                                 FROM t", true),
            ("EXPLAIN (SELECT 1)", "        (SELECT 1)", false),
            ("EXPLAIN -- plan\n FROM t", "                 FROM t", false),
        ] {
            assert_eq!(told(text), Command::Explain { body: body.into(), analyze: analyzed }, "{text}");
        }
        for text in [
            "EXPLAIN",
            "EXPLAIN (FORMAT 1) SELECT 1",
            "EXPLAIN (ANALYZE, COPY) FROM t",
            "/* /* */ EXPLAIN FROM t",
        ] {
            assert!(matches!(told(text), Command::Unclear { .. }), "{text}");
        }
    }

    #[test]
    fn pivot_gets_a_list_of_values_and_a_bracket() {
        for (text, expected) in [
            ("PIVOT t ON a USING sum(b)", "FROM (PIVOT t ON a IN (1) USING sum(b)\n)"),
            (
                "PIVOT t ON a, (b || c) IN ('x') GROUP BY d;",
                "FROM (PIVOT t ON a IN (1), (b || c) IN ('x') GROUP BY d\n);",
            ),
            (
                "WITH z AS (PIVOT q ON r IN (1)) PIVOT z ON a -- end",
                "WITH z AS (PIVOT q ON r IN (1)) FROM (PIVOT z ON a IN (1)\n) -- end",
            ),
            ("PIVOT t USING sum(b)", "FROM (PIVOT t USING sum(b)\n)"),
        ] {
            let Command::Pivot(rewritten) = told(text) else { panic!("{text}") };
            assert_eq!(rewritten.text, expected);
            // A place behind every insertion leads back to the same word.
            for word in ["sum", "d", "a"] {
                if let (Some(new), Some(old)) = (rewritten.text.find(word), text.find(word)) {
                    assert_eq!(rewritten.original(new), old, "{text}: {word}");
                }
            }
        }
        assert_eq!(told("WITH z AS (SELECT 1) FROM z"), Command::Plain);
    }

    #[test]
    fn pragma_takes_one_name() {
        let argument =
            |text: &str, start, end| Some(Argument { text: text.into(), span: Span::new(start, end) });
        assert_eq!(told("PRAGMA version;"), Command::Pragma { name: "version".into(), argument: None });
        assert_eq!(
            told("pragma Table_Info('users')"),
            Command::Pragma { name: "table_info".into(), argument: argument("users", 18, 25) }
        );
        for text in [
            "PRAGMA",
            "PRAGMA threads=4",
            "PRAGMA a(1)",
            "PRAGMA a('b', 'c')",
            "PRAGMA a; DROP TABLE t",
            "PRAGMA a('b') x",
        ] {
            assert!(matches!(told(text), Command::Unclear { .. }), "{text}");
        }
    }
}
