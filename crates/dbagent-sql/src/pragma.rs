//! `PRAGMA`, which sqlparser knows only in part: its arguments may be bare names.

use dbagent_core::guard::{ObjectUse, Parsed, StatementClass};
use dbagent_core::{Effects, ObjectName};
use sqlparser::tokenizer::Token;

use crate::words::Words;

/// Reads a statement that begins with PRAGMA: one of `readable`, bare or with an argument in parentheses,
/// asks the catalogue; anything else changes the session.
pub(crate) fn read(words: &Words<'_>, readable: &[&str]) -> Option<Parsed> {
    if readable.is_empty() || !words.are(0, &["pragma"]) {
        return None;
    }
    let mut parsed = Parsed::new(StatementClass::Session, Effects::SESSION);
    let Some((name, next)) = words.name(1) else { return Some(parsed) };
    if !readable.contains(&name.name.to_ascii_lowercase().as_str()) {
        return Some(parsed);
    }
    let argument = words.token(next) == Some(&Token::LParen)
        && words.token(next + 2) == Some(&Token::RParen)
        && words.ends(next + 3);
    if !argument && !words.ends(next) {
        return Some(parsed);
    }
    parsed.class = StatementClass::Catalogue;
    parsed.effects = Effects::READ;
    if argument {
        let object = match words.token(next + 1) {
            Some(Token::Word(word)) => Some(word.value.clone()),
            _ => words.string(next + 1).map(str::to_owned),
        };
        if let Some(object) = object {
            let name = ObjectName { namespace: name.namespace, name: object };
            parsed.objects.push(ObjectUse { name, written: false, span: words.span(next + 1) });
        }
    }
    Some(parsed)
}
