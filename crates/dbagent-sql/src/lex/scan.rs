//! Cuts a text by an engine's rules.

use dbagent_core::guard::{Finding, Rule, Span};

use super::rules::{BlockComment, Brackets, DashComment, DoubleQuotes, Hints, LexRules};
use super::{LexFault, LexKind, Lexeme};

/// Cuts a text into pieces by these rules. Blanks are left out, nothing else is.
///
/// # Errors
/// A string, name or comment that is not closed; an executable comment; a hint or a nested comment where the
/// rules refuse them; a character outside strings, names and comments that engines read differently or that a
/// reader cannot see.
pub fn lex(text: &str, rules: &LexRules) -> Result<Vec<Lexeme>, LexFault> {
    let mut scan = Scan { text, rules, at: 0, out: Vec::with_capacity(text.len() / 4) };
    while let Some(c) = scan.peek() {
        scan.piece(c)?;
    }
    Ok(scan.out)
}

struct Scan<'t> {
    text: &'t str,
    rules: &'t LexRules,
    at: usize,
    out: Vec<Lexeme>,
}

impl Scan<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn push(&mut self, kind: LexKind, start: usize) {
        self.out.push(Lexeme { kind, span: Span::new(start, self.at) });
    }

    fn piece(&mut self, c: char) -> Result<(), LexFault> {
        let start = self.at;
        let rules = self.rules;
        if c.is_ascii_whitespace() || c == '\u{b}' {
            self.at += 1;
            return Ok(());
        }
        if self.begins_line_comment() {
            // Oracle reads hints from these too.
            if rules.hints != Hints::Ignore && self.rest().starts_with("--+") {
                return Err(hint(Span::new(start, start + 3)));
            }
            let ends = |c: char| c == '\n' || (rules.return_ends_comment && c == '\r');
            self.at += self.rest().find(ends).unwrap_or(self.rest().len());
            self.push(LexKind::Comment, start);
            return Ok(());
        }
        if self.rest().starts_with("/*") {
            return self.block_comment();
        }
        match c {
            '\'' => self.string(start, '\'', rules.backslash),
            '"' if rules.double_quotes == DoubleQuotes::String => self.string(start, '"', rules.backslash),
            '"' => self.quoted('"', true),
            '`' if rules.backticks => self.quoted('`', true),
            '[' if rules.brackets != Brackets::Symbols => {
                self.quoted(']', rules.brackets == Brackets::DoubledIdentifier)
            }
            '$' if rules.dollar_quotes && self.dollar_tag().is_some() => self.dollar_string(),
            c if c.is_ascii_digit() => {
                self.skip_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
                self.push(LexKind::Number, start);
                Ok(())
            }
            c if begins_word(rules, c) => {
                self.skip_while(|c| begins_word(rules, c) || c.is_ascii_digit());
                self.visible(start)?;
                self.push(LexKind::Word, start);
                self.prefixed_string(start)
            }
            c if c.is_ascii() && !c.is_ascii_control() => {
                self.at += 1;
                self.push(LexKind::Symbol, start);
                Ok(())
            }
            _ => Err(odd_character(c, start)),
        }
    }

    fn skip_while(&mut self, wanted: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c| !wanted(c)).unwrap_or(rest.len());
    }

    fn begins_line_comment(&self) -> bool {
        let rest = self.rest();
        if let Some(after) = rest.strip_prefix("--") {
            return match self.rules.dash {
                DashComment::Always => true,
                DashComment::BeforeBlank => {
                    after.chars().next().is_none_or(|c| c.is_ascii_whitespace() || c == '\u{b}')
                }
            };
        }
        (self.rules.hash && rest.starts_with('#')) || (self.rules.slashes && rest.starts_with("//"))
    }

    fn block_comment(&mut self) -> Result<(), LexFault> {
        let start = self.at;
        let opening = Span::new(start, start + 2);
        let inner = self.text.get(start + 2..).unwrap_or_default();
        if self.rules.executable && (inner.starts_with('!') || inner.starts_with("M!")) {
            return Err(LexFault::Refused(
                Finding::new(
                    Rule::UnknownSyntax,
                    "a comment that begins with /*! is executed by some servers and not by others",
                    Some(opening),
                )
                .advice("Write the statement without executable comments."),
            ));
        }
        if let Some(text) = inner.strip_prefix('+') {
            let harmless = match self.rules.hints {
                Hints::Ignore => true,
                Hints::Refuse => false,
                Hints::Named(names) => are_hints(text, names),
            };
            if !harmless {
                return Err(hint(opening));
            }
        }
        let mut depth = 1_usize;
        self.at = start + 2;
        loop {
            let rest = self.rest();
            let Some(next) = rest.find(['*', '/']) else {
                self.at = self.text.len();
                break;
            };
            let two = rest.get(next..next + 2);
            if two == Some("*/") {
                self.at += next + 2;
                depth -= 1;
                if depth == 0 {
                    break;
                }
            } else if two == Some("/*") {
                match self.rules.block {
                    BlockComment::Flat => {}
                    BlockComment::Nested => depth += 1,
                    BlockComment::RefuseNested => {
                        let at = self.at + next;
                        return Err(LexFault::Refused(
                            Finding::new(
                                Rule::UnknownSyntax,
                                "engines disagree about where a comment inside a comment ends",
                                Some(Span::new(at, at + 2)),
                            )
                            .advice("Leave the comment out."),
                        ));
                    }
                }
                // Flat: only the slash is passed, since `/*/` holds an end.
                self.at += next + if self.rules.block == BlockComment::Nested { 2 } else { 1 };
            } else {
                self.at += next + 1;
            }
        }
        if depth > 0 && !self.rules.open_comment {
            return Err(LexFault::open("comment", start));
        }
        self.push(LexKind::Comment, start);
        Ok(())
    }

    /// A string from the quote at the current place; the piece begins at `start`.
    fn string(&mut self, start: usize, quote: char, backslash: bool) -> Result<(), LexFault> {
        let triple: String = std::iter::repeat_n(quote, 3).collect();
        if self.rules.triple_quotes && self.rest().starts_with(&triple) {
            self.at += 3;
            loop {
                let rest = self.rest();
                match rest.find(['\\', quote]) {
                    None => return Err(LexFault::open("string", start)),
                    Some(next) if backslash && rest.get(next..).is_some_and(|r| r.starts_with('\\')) => {
                        self.at += next + 1;
                        self.at += self.peek().map_or(0, char::len_utf8);
                    }
                    Some(next) if rest.get(next..).is_some_and(|r| r.starts_with(&triple)) => {
                        self.at += next + 3;
                        self.push(LexKind::String, start);
                        return Ok(());
                    }
                    Some(next) => self.at += next + 1,
                }
            }
        }
        self.at += 1;
        loop {
            let rest = self.rest();
            let Some(next) = rest.find(|c| c == quote || (backslash && c == '\\')) else {
                return Err(LexFault::open("string", start));
            };
            let is_escape = rest.get(next..).is_some_and(|r| r.starts_with('\\'));
            self.at += next + 1;
            if is_escape {
                self.at += self.peek().map_or(0, char::len_utf8);
            } else if self.peek() == Some(quote) {
                self.at += 1;
            } else {
                self.push(LexKind::String, start);
                return Ok(());
            }
        }
    }

    /// A string that directly follows the word at `start`, where that word changes how it is read.
    fn prefixed_string(&mut self, start: usize) -> Result<(), LexFault> {
        let quote = match self.peek() {
            Some('\'') => '\'',
            Some('"') if self.rules.double_quotes == DoubleQuotes::String => '"',
            _ => return Ok(()),
        };
        let word = self.text.get(start..self.at).unwrap_or_default().to_ascii_lowercase();
        let at = self.at;
        match word.as_str() {
            "e" if self.rules.escape_strings && quote == '\'' => self.string(at, quote, true),
            "r" | "rb" | "br" if self.rules.raw_strings => self.string(at, quote, true),
            "q" | "nq" if self.rules.quoted_strings && quote == '\'' => self.oracle_string(at),
            _ => self.string(at, quote, self.rules.backslash),
        }
    }

    fn oracle_string(&mut self, start: usize) -> Result<(), LexFault> {
        self.at += 1;
        let Some(open) = self.peek() else { return Err(LexFault::open("string", start)) };
        let close = match open {
            '[' => ']',
            '{' => '}',
            '<' => '>',
            '(' => ')',
            c => c,
        };
        self.at += open.len_utf8();
        let end = format!("{close}'");
        match self.rest().find(&end) {
            Some(next) => {
                self.at += next + end.len();
                self.push(LexKind::String, start);
                Ok(())
            }
            None => Err(LexFault::open("string", start)),
        }
    }

    fn quoted(&mut self, close: char, doubled: bool) -> Result<(), LexFault> {
        let start = self.at;
        self.at += 1;
        loop {
            let Some(next) = self.rest().find(close) else {
                return Err(LexFault::open("quoted name", start));
            };
            self.at += next + 1;
            if doubled && self.peek() == Some(close) {
                self.at += 1;
            } else {
                self.push(LexKind::QuotedIdent, start);
                return Ok(());
            }
        }
    }

    /// The `$tag$` at the current place.
    fn dollar_tag(&self) -> Option<&str> {
        let rest = self.rest();
        let end = rest.get(1..)?.find('$')? + 1;
        let tag = rest.get(1..end)?;
        let names = |c: char| c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii();
        (tag.chars().all(names) && !tag.starts_with(|c: char| c.is_ascii_digit()))
            .then(|| rest.get(..=end))
            .flatten()
    }

    fn dollar_string(&mut self) -> Result<(), LexFault> {
        let start = self.at;
        let tag = self.dollar_tag().unwrap_or("$").to_owned();
        self.at += tag.len();
        let Some(end) = self.rest().find(&tag) else {
            return Err(LexFault::open("string", start));
        };
        self.at += end + tag.len();
        self.push(LexKind::String, start);
        Ok(())
    }

    /// Refuses a bare word with characters in it that nobody sees or that some engine takes for blanks.
    fn visible(&self, start: usize) -> Result<(), LexFault> {
        let word = self.text.get(start..self.at).unwrap_or_default();
        if word.is_ascii() {
            return Ok(());
        }
        match word.char_indices().find(|(_, c)| is_odd(*c)) {
            Some((offset, c)) => Err(odd_character(c, start + offset)),
            None => Ok(()),
        }
    }
}

/// Whether the text of a comment, up to its end, is nothing but hints of these names, each with names and
/// numbers in brackets behind it or without. Quotes are left to nobody's judgement.
fn are_hints(text: &str, names: &[&str]) -> bool {
    let Some((mut rest, _)) = text.split_once("*/") else { return false };
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return true;
        }
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        if !names.iter().any(|n| n.eq_ignore_ascii_case(name)) {
            return false;
        }
        rest = behind.trim_start();
        if let Some(inside) = rest.strip_prefix('(') {
            let Some((arguments, behind)) = inside.split_once(')') else { return false };
            let plain = |c: char| c.is_alphanumeric() || c.is_ascii_whitespace() || "_@,.$".contains(c);
            if !arguments.chars().all(plain) {
                return false;
            }
            rest = behind;
        }
    }
}

fn hint(span: Span) -> LexFault {
    LexFault::Refused(
        Finding::new(
            Rule::SessionChange,
            "a hint (/*+ … */) changes how the statement runs and can lift its limits",
            Some(span),
        )
        .advice("Leave the hint out; limits and plans are managed for you."),
    )
}

fn begins_word(rules: &LexRules, c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '_' | '$') || !c.is_ascii() || (c == '@' && !rules.operators)
}

/// Blanks beyond ASCII, controls, and characters without a shape of their own.
fn is_odd(c: char) -> bool {
    !c.is_ascii()
        && (c.is_whitespace()
            || c.is_control()
            || matches!(c,
                '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}'))
}

fn odd_character(c: char, at: usize) -> LexFault {
    LexFault::Refused(
        Finding::new(
            Rule::UnknownSyntax,
            format!(
                "the character U+{:04X} stands outside of strings; engines read it differently",
                u32::from(c)
            ),
            Some(Span::new(at, at + c.len_utf8())),
        )
        .advice("Use plain blanks between words, and quotes around names with unusual characters."),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const MYSQL: LexRules = LexRules::ANSI
        .dash_comment(DashComment::BeforeBlank)
        .hash_comments(true)
        .block_comment(BlockComment::Flat)
        .executable_comments(true)
        .backslash_escapes(true)
        .double_quotes(DoubleQuotes::String)
        .backticks(true);

    fn cut<'t>(text: &'t str, rules: &LexRules) -> Vec<&'t str> {
        lex(text, rules).unwrap().iter().map(|l| text.get(l.span.start..l.span.end).unwrap()).collect()
    }

    fn refusal(text: &str, rules: &LexRules) -> Rule {
        match lex(text, rules) {
            Err(LexFault::Refused(finding)) => finding.rule,
            other => panic!("{text}: {other:?}"),
        }
    }

    fn open_at(text: &str, rules: &LexRules) -> usize {
        match lex(text, rules) {
            Err(LexFault::Syntax(e)) => e.position().unwrap(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn escapes_decide_where_a_string_ends() {
        assert_eq!(cut(r"'a\' b'", &MYSQL), [r"'a\' b'"]);
        assert_eq!(cut(r"'a\' b", &LexRules::ANSI), [r"'a\'", "b"]);
        assert_eq!(cut("'it''s' x", &LexRules::ANSI), ["'it''s'", "x"]);
        assert_eq!(cut(r#""a\"b" c"#, &MYSQL), [r#""a\"b""#, "c"]);
        assert_eq!(cut(r#""a\" b"#, &LexRules::ANSI), [r#""a\""#, "b"]);
        assert_eq!(cut(r"e'\'' x", &LexRules::ANSI.escape_strings(true)), ["e", r"'\''", "x"]);
        assert_eq!(cut(r"N'a\'b'", &MYSQL), ["N", r"'a\'b'"]);
    }

    #[test]
    fn comments_follow_the_engine() {
        assert_eq!(cut("1--1", &MYSQL), ["1", "-", "-", "1"]);
        assert_eq!(cut("1--1\n2", &LexRules::ANSI), ["1", "--1", "2"]);
        assert_eq!(cut("1 # x\n2", &MYSQL), ["1", "# x", "2"]);
        assert_eq!(cut("1 # x", &LexRules::ANSI), ["1", "#", "x"]);
        assert_eq!(cut("/* /* */ x", &MYSQL), ["/* /* */", "x"]);
        assert_eq!(cut("/*/ */ x", &MYSQL), ["/*/ */", "x"]);
        let nested = LexRules::ANSI.block_comment(BlockComment::Nested);
        assert_eq!(cut("/* /* */ */ x", &nested), ["/* /* */ */", "x"]);
        assert_eq!(cut("-- a\rb", &LexRules::ANSI.return_ends_comment(true)), ["-- a", "b"]);
        assert_eq!(refusal("/* /* */ */", &LexRules::ANSI), Rule::UnknownSyntax);
        assert_eq!(refusal("SELECT /*!50000 1 */", &MYSQL), Rule::UnknownSyntax);
        assert_eq!(refusal("SELECT /*M!100000 1 */", &MYSQL), Rule::UnknownSyntax);
        assert_eq!(refusal("SELECT /*+ SET_VAR(a=1) */ 1", &MYSQL), Rule::SessionChange);
        assert_eq!(cut("/*+ x */ 1", &LexRules::ANSI.hints(Hints::Ignore)), ["/*+ x */", "1"]);
        assert_eq!(refusal("SELECT --+ FULL(t)\n 1", &LexRules::ANSI), Rule::SessionChange);
    }

    #[test]
    fn names_and_other_strings() {
        assert_eq!(cut("`a``b` \"c\"", &MYSQL), ["`a``b`", "\"c\""]);
        assert_eq!(cut("[a]] x", &LexRules::ANSI.brackets(Brackets::Identifier)), ["[a]", "]", "x"]);
        assert_eq!(cut("[a]] x]", &LexRules::ANSI.brackets(Brackets::DoubledIdentifier)), ["[a]] x]"]);
        let dollar = LexRules::ANSI.dollar_quotes(true);
        assert_eq!(cut("$a$ ; $A$ $a$ x", &dollar), ["$a$ ; $A$ $a$", "x"]);
        assert_eq!(cut("a$$ x b$$", &dollar), ["a$$", "x", "b$$"]);
        assert_eq!(cut("$1 x", &dollar), ["$1", "x"]);
        assert_eq!(cut("'''a'b''' x", &LexRules::ANSI.triple_quotes(true)), ["'''a'b'''", "x"]);
        assert_eq!(cut("q'[it's]' x", &LexRules::ANSI.quoted_strings(true)), ["q", "'[it's]'", "x"]);
    }

    #[test]
    fn what_is_not_closed_is_named_with_its_beginning() {
        assert_eq!(open_at("SELECT 'a", &MYSQL), 7);
        assert_eq!(open_at("SELECT \"a", &LexRules::ANSI), 7);
        assert_eq!(open_at("SELECT 1 /* a", &MYSQL), 9);
        assert_eq!(open_at("SELECT 'a\\", &MYSQL), 7);
        assert_eq!(cut("1 /* a", &MYSQL.unterminated_comment(true)), ["1", "/* a"]);
    }

    #[test]
    fn unseen_characters_are_refused_outside_of_strings_only() {
        for odd in
            ["SELECT\u{a0}1", "SELECT 1\u{200b}", "SELECT a\u{202e}b", "SELECT \u{1}", "\u{feff}SELECT 1"]
        {
            assert_eq!(refusal(odd, &LexRules::ANSI), Rule::UnknownSyntax, "{odd:?}");
        }
        assert_eq!(cut("SELECT '\u{a0}', größe, 列, नमस्ते", &LexRules::ANSI).len(), 8);
    }
}
