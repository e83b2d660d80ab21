//! Hides credentials in the URLs of a text that is shown again, such as a statement.

use std::borrow::Cow;

/// Ends of words that belong to the sentence around a URL.
const PUNCTUATION: &[char] = &[',', '.', ';', ':', ')', ']', '}'];

/// The same text with stars for what may be a credential in its URLs: user and password, what may be a
/// password because the `@` is missing or behind a `/`, and the values of parameters that are called so.
///
/// Each byte becomes one star, so that every place in the text stays where it is.
pub fn mask_urls(text: &str) -> Cow<'_, str> {
    let mut hidden = Vec::new();
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find("://")) {
        let start = at + found + "://".len();
        let (before, after) =
            (text.get(..at + found).unwrap_or_default(), text.get(start..).unwrap_or_default());
        let word = word(before, after);
        secrets(word, start, &mut hidden);
        at = start + word.len();
    }
    if hidden.is_empty() {
        return Cow::Borrowed(text);
    }
    let is_hidden = |i: usize| hidden.iter().any(|(from, to)| (*from..*to).contains(&i));
    let stars = |c: char| "*".repeat(c.len_utf8());
    Cow::Owned(
        text.char_indices().map(|(i, c)| if is_hidden(i) { stars(c) } else { c.to_string() }).collect(),
    )
}

/// Whether a `host` or `host:port,host:port` is rather a user and a password that no `@` follows. The drive
/// of a Windows path and `:memory:` are neither.
pub(crate) fn may_be_password(authority: &str) -> bool {
    let is_port = |port: &str| port.trim_end_matches(PUNCTUATION).bytes().all(|b| b.is_ascii_digit());
    let drive = authority.split_once(":\\").is_some_and(|(drive, _)| drive.len() == 1);
    !drive
        && authority.trim_end_matches(PUNCTUATION) != ":memory"
        && authority.split(',').any(|host| {
            // The colons of an IPv6 address stand in brackets.
            let host = host.strip_prefix('[').and_then(|h| h.split_once(']')).map_or(host, |(_, port)| port);
            host.split_once(':').is_some_and(|(_, port)| !is_port(port))
        })
}

/// What follows `://` up to the end of the URL: up to a space or a quote, or everything where the text is
/// nothing but a URL, for a password may hold both. A doubled quote is one of the word.
fn word<'t>(before: &str, after: &'t str) -> &'t str {
    let scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    if !before.trim_start().is_empty() && before.trim_start().chars().all(scheme) {
        return after;
    }
    let mut chars = after.char_indices().peekable();
    while let Some((i, c)) = chars.next() {
        let quote = matches!(c, '\'' | '"' | '`');
        if quote && chars.next_if(|(_, next)| *next == c).is_some() {
            continue;
        }
        if quote || c.is_whitespace() {
            return after.get(..i).unwrap_or_default();
        }
    }
    after
}

/// Adds the ranges of a URL's word that are not shown.
fn secrets(word: &str, start: usize, hidden: &mut Vec<(usize, usize)>) {
    let authority_end = word.find(['/', '?', '#']).unwrap_or(word.len());
    let authority = word.get(..authority_end).unwrap_or_default();
    let odd = may_be_password(authority);
    match word.rfind('@') {
        Some(at) if odd || authority.contains('@') => hidden.push((start, start + at)),
        None if odd => hidden.push((start, start + word.len())),
        _ => {}
    }
    let Some(parameters) = word.find('?').map(|at| at + 1) else { return };
    let mut at = parameters;
    for pair in word.get(parameters..).unwrap_or_default().split('&') {
        if let Some((key, value)) = pair.split_once('=').filter(|(key, _)| is_secret(key)) {
            let from = start + at + key.len() + 1;
            hidden.push((from, from + value.len()));
        }
        at += pair.len() + 1;
    }
}

/// Whether what stands under this key may be a secret: `password`, `Pwd`, `api_key`, `sslpassword`…
pub fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    ["pass", "pwd", "secret", "token", "key", "credential"].iter().any(|word| key.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_become_stars_and_places_stay() {
        for (text, masked) in [
            ("postgres://bob:pw@h", "postgres://******@h"),
            ("  mysql://b:c d'e@h/x", "  mysql://*******@h/x"),
            ("SELECT 'mysql://b:c@d@h/x', 1", "SELECT 'mysql://*****@h/x', 1"),
            ("SELECT 'x://bob:p/w@h/x' FROM t", "SELECT 'x://*******@h/x' FROM t"),
            ("SELECT 'x://bob:p''w@h/x' FROM t", "SELECT 'x://********@h/x' FROM t"),
            ("-- x://bob:pw\nSELECT 1", "-- x://******\nSELECT 1"),
            ("see x://h/y?a=b&password=pw&c=d", "see x://h/y?a=b&password=**&c=d"),
            ("'x://a:b@h' 'y://c@h'", "'x://***@h' 'y://*@h'"),
            ("'x://bób@h'", "'x://****@h'"),
        ] {
            assert_eq!(mask_urls(text), masked);
            assert_eq!(mask_urls(text).len(), text.len());
        }
    }

    #[test]
    fn what_is_no_credential_is_shown() {
        for text in [
            "SELECT 1",
            "email LIKE '%@%' AND url = 'http://h/x'",
            "SELECT 'https://h:8080/@bob', 'x://h1:1,h2:2/d'",
            "x://[::1]:5432/d",
            "(see http://h:80), http://h:80.",
            "sqlite:///a@b.db",
            "sqlite:///C:/x@y.db",
            "sqlite://C:\\x.db",
            "sqlite://c:/x.db",
            "sqlite://:memory:",
            "x://h?mode=ro",
            "://",
        ] {
            assert_eq!(mask_urls(text), text);
        }
    }
}
