//! Forms within a statement that sqlparser does not know, put in words that do the same.
//!
//! Only what the guard reads is put in other words: the statement runs as it was written. Each form keeps
//! every expression that it holds, so that the walk sees it; what is left out is a word, a number, or the name
//! of a character set.

use dbagent_core::Settings;
use dbagent_core::guard::{Finding, Rule};
use dbagent_sql::sqlparser::keywords::Keyword;
use dbagent_sql::sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace, Word};

use crate::flavor::Server;
use crate::functions::{FOREIGN, TIGHT};
use crate::lex::Mode;

/// MySQL's forms.
pub(super) fn mysql(tokens: Vec<TokenWithSpan>, settings: &Settings) -> Result<Vec<TokenWithSpan>, Finding> {
    Forms::new(tokens, settings).all(Server::MySql)
}

/// MariaDB's forms.
pub(super) fn mariadb(
    tokens: Vec<TokenWithSpan>,
    settings: &Settings,
) -> Result<Vec<TokenWithSpan>, Finding> {
    Forms::new(tokens, settings).all(Server::MariaDb)
}

/// How far ahead a form is looked for: its points in time are no long texts.
const AHEAD: usize = 300;

struct Forms {
    tokens: Vec<TokenWithSpan>,
    /// Where the tokens are that are neither blanks nor comments.
    places: Vec<usize>,
    /// What stands instead of a token of `places`.
    edits: Vec<Option<Vec<Token>>>,
    ignore_space: bool,
}

impl Forms {
    fn new(tokens: Vec<TokenWithSpan>, settings: &Settings) -> Self {
        let places: Vec<usize> = tokens
            .iter()
            .enumerate()
            .filter(|(_, t)| !matches!(t.token, Token::Whitespace(_)))
            .map(|(i, _)| i)
            .collect();
        let edits = vec![None; places.len()];
        Self { tokens, places, edits, ignore_space: Mode::of(settings).ignore_space }
    }

    fn all(mut self, server: Server) -> Result<Vec<TokenWithSpan>, Finding> {
        let mut braces = Vec::new();
        for at in 0..self.places.len() {
            self.call(at)?;
            self.braces(at, &mut braces);
            self.variable(at);
            self.row(at);
            self.operators(at);
            self.lists_of_tables(at);
            self.index_hint(at);
            self.side_of_window(at);
            if server == Server::MariaDb {
                self.system_time(at);
                self.rows_examined(at);
                self.group_limit(at);
                self.cycle(at);
                self.small_words(at);
            }
        }
        Ok(self.done())
    }

    fn done(self) -> Vec<TokenWithSpan> {
        let mut edits = self.edits.into_iter();
        let mut out = Vec::with_capacity(self.tokens.len());
        for token in self.tokens {
            if matches!(token.token, Token::Whitespace(_)) {
                out.push(token);
                continue;
            }
            match edits.next().flatten() {
                None => out.push(token),
                Some(instead) => {
                    out.extend(instead.into_iter().map(|t| TokenWithSpan { token: t, span: token.span }));
                }
            }
        }
        out
    }

    fn token(&self, at: usize) -> Option<&Token> {
        self.places.get(at).and_then(|i| self.tokens.get(*i)).map(|t| &t.token)
    }

    /// The token before.
    fn before(&self, at: usize) -> Option<&Token> {
        at.checked_sub(1).and_then(|at| self.token(at))
    }

    /// The bare word there.
    fn word(&self, at: usize) -> Option<&str> {
        match self.token(at)? {
            Token::Word(w) if w.quote_style.is_none() => Some(&w.value),
            _ => None,
        }
    }

    fn is(&self, at: usize, word: &str) -> bool {
        self.word(at).is_some_and(|w| w.eq_ignore_ascii_case(word))
    }

    fn are(&self, at: usize, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(i, w)| self.is(at + i, w))
    }

    fn is_number(&self, at: usize) -> bool {
        matches!(self.token(at), Some(Token::Number(..)))
    }

    /// Whether a name cannot be meant there, since a dot stands before it.
    fn behind_dot(&self, at: usize) -> bool {
        self.before(at) == Some(&Token::Period)
    }

    fn put(&mut self, at: usize, instead: Vec<Token>) {
        if let Some(edit) = self.edits.get_mut(at) {
            *edit = Some(instead);
        }
    }

    fn leave_out(&mut self, from: usize, count: usize) {
        for at in from..from + count {
            self.put(at, Vec::new());
        }
    }

    /// The place of the bracket that closes the one at `open`.
    fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for at in open..self.places.len() {
            match self.token(at) {
                Some(Token::LParen) => depth += 1,
                Some(Token::RParen) => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Whether a comment, or a blank that the mode does not ignore, stands behind the token there.
    fn apart(&self, at: usize) -> bool {
        let Some(place) = self.places.get(at) else { return false };
        let behind = self.tokens.iter().skip(place + 1);
        behind.map_while(|t| if let Token::Whitespace(w) = &t.token { Some(w) } else { None }).any(
            |w| match w {
                Whitespace::SingleLineComment { .. } | Whitespace::MultiLineComment(_) => true,
                Whitespace::Space | Whitespace::Newline | Whitespace::Tab => !self.ignore_space,
            },
        )
    }

    /// A call that the server takes for one of a stored function, and sqlparser for one of its own.
    fn call(&self, at: usize) -> Result<(), Finding> {
        let Some(word) = self.word(at) else { return Ok(()) };
        if self.token(at + 1) != Some(&Token::LParen) || self.behind_dot(at) {
            return Ok(());
        }
        let lower = word.to_ascii_lowercase();
        let what = if TIGHT.contains(&lower.as_str()) && self.apart(at) {
            format!("what stands between {word} and its bracket makes it a stored function")
        } else if FOREIGN.contains(&lower.as_str()) {
            format!("nothing vouches for the function {word}")
        } else {
            return Ok(());
        };
        Err(Finding::new(Rule::UnknownFunction, what, None)
            .advice("Write the bracket directly behind the name, and use the server's own functions."))
    }

    /// `{ word expression }` is the expression: a form of ODBC.
    fn braces(&mut self, at: usize, open: &mut Vec<bool>) {
        match self.token(at) {
            Some(Token::LBrace) => {
                let known = self.word(at + 1).is_some();
                open.push(known);
                if known {
                    self.put(at, vec![Token::LParen]);
                    self.leave_out(at + 1, 1);
                }
            }
            Some(Token::RBrace) if open.pop() == Some(true) => self.put(at, vec![Token::RParen]),
            _ => {}
        }
    }

    /// `@'name'`, `@"name"` and `` @`name` `` are variables like `@name`.
    fn variable(&mut self, at: usize) {
        if self.token(at) != Some(&Token::AtSign) {
            return;
        }
        let name = match self.token(at + 1) {
            Some(Token::SingleQuotedString(s) | Token::DoubleQuotedString(s)) => s.clone(),
            Some(Token::Word(w)) if w.quote_style.is_some() => w.value.clone(),
            _ => return,
        };
        self.put(at, vec![word(&format!("@{name}"))]);
        self.leave_out(at + 1, 1);
    }

    /// `ROW (…)` is its bracket.
    fn row(&mut self, at: usize) {
        if self.is(at, "row") && self.token(at + 1) == Some(&Token::LParen) && !self.behind_dot(at) {
            self.leave_out(at, 1);
        }
    }

    fn operators(&mut self, at: usize) {
        if self.are(at, &["sounds", "like"]) {
            self.put(at, vec![Token::Eq]);
            self.leave_out(at + 1, 1);
        }
        if self.is(at, "mod") && at > 0 {
            let operand = match self.before(at) {
                Some(Token::Word(w)) => w.quote_style.is_some() || w.keyword == Keyword::NoKeyword,
                Some(
                    Token::Number(..)
                    | Token::SingleQuotedString(_)
                    | Token::DoubleQuotedString(_)
                    | Token::HexStringLiteral(_)
                    | Token::Placeholder(_)
                    | Token::RParen,
                ) => true,
                _ => false,
            };
            if operand {
                self.put(at, vec![Token::Mod]);
            }
        }
    }

    /// `FROM (a, b)` joins both, and `FROM (a)` is `a`.
    fn lists_of_tables(&mut self, at: usize) {
        let first = match self.token(at + 1) {
            Some(Token::Word(w)) => w.quote_style.is_some() || !is_query(&w.value),
            _ => false,
        };
        let from = at > 0 && (self.is(at - 1, "from") || self.is(at - 1, "join"));
        if !from || !first || self.token(at) != Some(&Token::LParen) {
            return;
        }
        let Some(end) = self.closing(at) else { return };
        let mut depth = 0_usize;
        let mut plain = true;
        for inside in at + 1..end {
            match self.token(inside) {
                Some(Token::LParen) => depth += 1,
                Some(Token::RParen) => depth = depth.saturating_sub(1),
                Some(Token::Comma) if depth == 0 => {
                    self.put(inside, vec![word("CROSS"), word("JOIN")]);
                    plain = false;
                }
                Some(Token::Word(w)) if depth == 0 && is_join(w) => plain = false,
                _ => {}
            }
        }
        if plain {
            self.leave_out(at, 1);
            self.leave_out(end, 1);
        }
    }

    /// `USE INDEX FOR JOIN (a, b)` behind a table names indexes only.
    fn index_hint(&mut self, at: usize) {
        let hint = self.is(at, "use") || self.is(at, "ignore") || self.is(at, "force");
        if !hint || at == 0 || !(self.is(at + 1, "index") || self.is(at + 1, "key")) {
            return;
        }
        let mut open = at + 2;
        if self.is(open, "for") {
            open += if self.is(open + 1, "join") { 2 } else { 3 };
        }
        let Some(end) = self.closing(open).filter(|_| self.token(open) == Some(&Token::LParen)) else {
            return;
        };
        let names = |i| matches!(self.token(i), Some(Token::Word(_) | Token::Comma));
        if (open + 1..end).all(names) {
            self.leave_out(at, end + 1 - at);
        }
    }

    /// `NTH_VALUE(a, 2) FROM FIRST OVER w`.
    fn side_of_window(&mut self, at: usize) {
        let window = ["over", "respect", "ignore"].iter().any(|w| self.is(at + 2, w));
        let side = self.is(at + 1, "first") || self.is(at + 1, "last");
        if self.is(at, "from") && side && window && self.before(at) == Some(&Token::RParen) {
            self.leave_out(at, 2);
        }
    }

    /// `FOR SYSTEM_TIME`: sqlparser knows `AS OF expression`.
    fn system_time(&mut self, at: usize) {
        if !self.are(at, &["for", "system_time"]) {
            return;
        }
        let as_of = || vec![word("AS"), word("OF")];
        if self.is(at + 2, "all") {
            self.leave_out(at, 3);
        } else if self.are(at + 2, &["as", "of"]) {
            self.kind_of_time(at + 4);
        } else if self.is(at + 2, "between") {
            self.put(at + 2, as_of());
            self.kind_of_time(at + 3);
        } else if self.is(at + 2, "from") {
            self.put(at + 2, as_of());
            self.kind_of_time(at + 3);
            let mut depth = 0_usize;
            for to in at + 3..self.places.len().min(at + AHEAD) {
                match self.token(to) {
                    Some(Token::LParen) => depth += 1,
                    Some(Token::RParen) if depth == 0 => break,
                    Some(Token::RParen) => depth -= 1,
                    _ if depth == 0 && self.is(to, "to") => {
                        self.put(to, vec![word("AND")]);
                        self.kind_of_time(to + 1);
                        break;
                    }
                    _ => {}
                }
            }
        }
    }

    /// `TIMESTAMP` or `TRANSACTION` before a point in time.
    fn kind_of_time(&mut self, at: usize) {
        let is_call = self.token(at + 1) == Some(&Token::LParen);
        if (self.is(at, "timestamp") || self.is(at, "transaction")) && !is_call {
            self.leave_out(at, 1);
        }
    }

    /// `LIMIT 1 ROWS EXAMINED 100`: a limit of the work.
    fn rows_examined(&mut self, at: usize) {
        if self.are(at, &["rows", "examined"]) && self.is_number(at + 2) {
            self.leave_out(at, 3);
            if at > 0 && self.is(at - 1, "limit") {
                self.leave_out(at - 1, 1);
            }
        }
    }

    /// `GROUP_CONCAT(… LIMIT 1, 2)`.
    fn group_limit(&mut self, at: usize) {
        if !self.is(at, "group_concat") || self.token(at + 1) != Some(&Token::LParen) {
            return;
        }
        let Some(end) = self.closing(at + 1) else { return };
        let mut depth = 0_usize;
        for inside in at + 2..end {
            match self.token(inside) {
                Some(Token::LParen) => depth += 1,
                Some(Token::RParen) => depth = depth.saturating_sub(1),
                _ if depth == 0 && self.is(inside, "limit") && self.is_number(inside + 1) => {
                    let comma = self.token(inside + 2) == Some(&Token::Comma);
                    let two = comma || self.is(inside + 2, "offset");
                    let count = if two && self.is_number(inside + 3) { 4 } else { 2 };
                    if inside + count == end {
                        self.leave_out(inside, count);
                    }
                }
                _ => {}
            }
        }
    }

    /// `CYCLE a, b RESTRICT` behind a common table expression.
    fn cycle(&mut self, at: usize) {
        if !self.is(at, "cycle") || self.before(at) != Some(&Token::RParen) {
            return;
        }
        let mut end = at + 1;
        while matches!(self.token(end), Some(Token::Word(_) | Token::Comma)) && !self.is(end, "restrict") {
            end += 1;
        }
        if self.is(end, "restrict") {
            self.leave_out(at, end + 1 - at);
        }
    }

    /// `\N` is NULL, and `SQL_CACHE` says nothing.
    fn small_words(&mut self, at: usize) {
        if self.token(at) == Some(&Token::Backslash) && self.word(at + 1) == Some("N") {
            self.put(at, vec![word("NULL")]);
            self.leave_out(at + 1, 1);
        }
        if self.is(at, "sql_cache") && at > 0 {
            let modifier = |w: &str| {
                ["select", "distinct", "all", "high_priority", "straight_join"]
                    .iter()
                    .any(|m| m.eq_ignore_ascii_case(w))
            };
            if self.word(at - 1).is_some_and(modifier) {
                self.leave_out(at, 1);
            }
        }
    }
}

fn is_query(word: &str) -> bool {
    ["select", "with", "values", "value", "table"].iter().any(|w| w.eq_ignore_ascii_case(word))
}

fn is_join(word: &Word) -> bool {
    matches!(word.keyword, Keyword::JOIN | Keyword::STRAIGHT_JOIN) && word.quote_style.is_none()
}

/// A bare word.
fn word(text: &str) -> Token {
    Token::make_word(text, None)
}
