//! A connection URL that hides what is secret in it.
//!
//! Database URLs are not web URLs: hosts come in lists, paths may be Windows paths, `sqlite://` has no
//! host at all. So only the parts that all share are read here; a dialect reads the rest.

use std::fmt;

use crate::error::{Error, ErrorKind};
use crate::secret::Secret;
use crate::text::may_be_password;

/// A URL of the form `scheme://[user[:password]@]rest[?key=value&…]`. Prints with `****` for secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct ConnUrl {
    scheme: String,
    user: Option<String>,
    password: Option<Secret>,
    rest: String,
    query: Vec<(String, Secret)>,
}

/// Why a URL cannot be read. Never holds the URL itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the database URL cannot be read: {0}")]
pub struct UrlError(String);

impl From<UrlError> for Error {
    fn from(e: UrlError) -> Self {
        Error::new(ErrorKind::Config, e.to_string())
            .hint("a database URL looks like sqlite:///file.db or postgres://user@host/database")
    }
}

impl ConnUrl {
    /// Reads a URL.
    ///
    /// # Errors
    /// No scheme, a control character, a bad percent escape, or an `@` behind a `/` or a `?` where the part
    /// before may be a password.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let text = text.trim();
        if text.chars().any(char::is_control) {
            return Err(UrlError("it holds a control character".into()));
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err(UrlError("it has no scheme; write scheme://…".into()));
        };
        let good = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
        if !scheme.starts_with(|c: char| c.is_ascii_alphabetic()) || !scheme.bytes().all(good) {
            return Err(UrlError("its scheme must be letters, digits, +, - or .".into()));
        }
        let (rest, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        // User info ends at the last @ before the first /: passwords with @ in them are common.
        let authority_end = rest.find('/').unwrap_or(rest.len());
        let (authority, path) = rest.split_at(authority_end);
        if !authority.is_empty() && path.contains('@') {
            // Somebody's password may hold a /, and what follows it would be taken for a path and shown.
            return Err(UrlError(
                "an @ stands behind a /: write / in a password as %2F, and @ in a path as %40".into(),
            ));
        }
        if !authority.is_empty() && parameters.contains('@') {
            return Err(UrlError(
                "an @ stands behind a ?: write ? in a password as %3F, and @ in a parameter as %40".into(),
            ));
        }
        let query = Self::query_pairs(parameters)?;
        let (user, password, host) = match authority.rsplit_once('@') {
            None => (None, None, authority),
            Some((info, host)) => {
                let (user, password) = match info.split_once(':') {
                    Some((user, password)) => (user, Some(Secret::new(decode(password)?))),
                    None => (info, None),
                };
                let user = decode(user)?;
                ((!user.is_empty()).then_some(user), password, host)
            }
        };
        Ok(Self { scheme: scheme.to_ascii_lowercase(), user, password, rest: format!("{host}{path}"), query })
    }

    fn query_pairs(query: &str) -> Result<Vec<(String, Secret)>, UrlError> {
        query
            .split('&')
            .filter(|p| !p.is_empty())
            .map(|pair| {
                let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                Ok((decode(key)?, Secret::new(decode(value)?)))
            })
            .collect()
    }

    /// The scheme, in lower case.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The user named in the URL, decoded.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// The password in the URL, decoded.
    pub fn password(&self) -> Option<&Secret> {
        self.password.as_ref()
    }

    /// What stands between the user part and the `?`, still percent-encoded: hosts and path.
    pub fn rest(&self) -> &str {
        &self.rest
    }

    /// [`rest`](Self::rest) with percent escapes decoded, for files.
    ///
    /// # Errors
    /// A bad percent escape, or a NUL.
    pub fn decoded_rest(&self) -> Result<String, UrlError> {
        decode(&self.rest)
    }

    /// The parameters after the `?`, decoded, in order. Values may be secrets.
    pub fn query(&self) -> &[(String, Secret)] {
        &self.query
    }

    /// Whether the URL itself carries a user or a password.
    pub fn has_user_info(&self) -> bool {
        self.user.is_some() || self.password.is_some()
    }
}

/// Decodes percent escapes; the result must be UTF-8 without NUL.
fn decode(text: &str) -> Result<String, UrlError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut iter = text.bytes();
    while let Some(b) = iter.next() {
        if b != b'%' {
            bytes.push(b);
            continue;
        }
        let digit = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16));
        match (digit(iter.next()), digit(iter.next())) {
            (Some(high), Some(low)) => bytes.push(u8::try_from(high * 16 + low).unwrap_or_default()),
            _ => {
                return Err(UrlError(
                    "% must be followed by two hexadecimal digits (write %25 for %)".into(),
                ));
            }
        }
    }
    match String::from_utf8(bytes) {
        Ok(s) if !s.contains('\0') => Ok(s),
        _ => Err(UrlError("its percent escapes are not UTF-8 text".into())),
    }
}

/// Parameters whose values are harmless and help to see what is wrong.
const SHOWN: &[&str] =
    &["sslmode", "ssl-mode", "mode", "immutable", "application_name", "connect_timeout", "tls", "ssl"];

impl fmt::Display for ConnUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://", self.scheme)?;
        if self.has_user_info() {
            // Behind an escaped colon may stand what was meant as the password.
            let user = self.user.as_deref().unwrap_or_default();
            let (user, more) = user.split_once(':').map_or((user, false), |(user, _)| (user, true));
            f.write_str(user)?;
            if self.password.is_some() || more {
                f.write_str(":****")?;
            }
            f.write_str("@")?;
        }
        // `bob:password` without its @ was taken for a host.
        let authority = self.rest.split('/').next().unwrap_or_default();
        f.write_str(if may_be_password(authority) { "****" } else { &self.rest })?;
        for (i, (key, value)) in self.query.iter().enumerate() {
            let shown = if SHOWN.contains(&key.as_str()) { value.expose() } else { "****" };
            write!(f, "{}{key}={shown}", if i == 0 { '?' } else { '&' })?;
        }
        Ok(())
    }
}

impl fmt::Debug for ConnUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

impl std::str::FromStr for ConnUrl {
    type Err = UrlError;
    fn from_str(text: &str) -> Result<Self, UrlError> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_do_not_print() {
        let url = ConnUrl::parse("postgres://bob:can%40ry@db:5432/x?sslmode=require&api_key=canary").unwrap();
        assert_eq!(format!("{url:?}"), "\"postgres://bob:****@db:5432/x?sslmode=require&api_key=****\"");
        assert_eq!(url.password().unwrap().expose(), "can@ry");
        assert_eq!(url.rest(), "db:5432/x");
    }

    #[test]
    fn a_password_may_hold_an_at_sign() {
        let url = ConnUrl::parse("mysql://bob:p@ss@db/x").unwrap();
        assert_eq!(url.password().unwrap().expose(), "p@ss");
        assert!(!url.to_string().contains("p@ss"));
    }

    #[test]
    fn a_password_with_a_slash_is_refused_and_not_shown() {
        let e = ConnUrl::parse("postgres://bob:ca/nary@db/x").unwrap_err().to_string();
        assert!(e.contains("%2F") && !e.contains("nary"), "{e}");
        assert_eq!(ConnUrl::parse("postgres://bob:a%2Fb@db/x").unwrap().password().unwrap().expose(), "a/b");
    }

    #[test]
    fn a_password_with_a_question_mark_is_refused_and_not_shown() {
        for text in
            ["postgres://bob:can?ary@db/x", "postgres://bob:ca/n?ary@db", "sqlite://bob:can?ary@/x.db"]
        {
            let e = ConnUrl::parse(text).unwrap_err().to_string();
            assert!(e.contains("%3F") && !e.contains("ary"), "{e}");
        }
        let url = ConnUrl::parse("postgres://bob:a%3Fb@db/x?application_name=a%40b").unwrap();
        assert_eq!(url.password().unwrap().expose(), "a?b");
        // A file has no user, so that an @ behind the ? is one of a parameter.
        assert_eq!(ConnUrl::parse("sqlite:///x.db?mode=a@b").unwrap().query()[0].1.expose(), "a@b");
    }

    #[test]
    fn a_user_with_a_colon_in_it_may_be_a_user_and_a_password() {
        let url = ConnUrl::parse("postgres://bob%3Acanary@db/x").unwrap();
        assert_eq!((url.to_string().as_str(), url.user()), ("postgres://bob:****@db/x", Some("bob:canary")));
    }

    #[test]
    fn a_password_without_its_at_sign_does_not_print() {
        for text in ["postgres://bob:canary", "sqlite://bob:canary/x.db", "x://h:1,bob:ca/nary?mode=ro"] {
            let url = ConnUrl::parse(text).unwrap();
            assert!(!format!("{url} {url:?}").contains("nary"), "{url}");
        }
        for text in ["x://h:5432/db", "x://[::1]:1,h:2/db", "sqlite://C:\\x.db", "sqlite://:memory:"] {
            assert_eq!(ConnUrl::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn file_urls_keep_their_paths() {
        for (text, rest) in [
            ("sqlite:///rel.db", "/rel.db"),
            ("sqlite:////abs.db", "//abs.db"),
            ("sqlite://:memory:", ":memory:"),
            ("sqlite:///C:\\data\\x.db", "/C:\\data\\x.db"),
            ("sqlite:///a%20b@c.db", "/a%20b@c.db"),
        ] {
            assert_eq!(ConnUrl::parse(text).unwrap().rest(), rest);
        }
    }

    #[test]
    fn broken_urls_say_why_without_showing_themselves() {
        for text in [
            "",
            "nonsense",
            "://x",
            "1x://y",
            "postgres://a:%zz@h",
            "postgres://a:%ff@h",
            "sqlite://a\nb",
            "p://x?k=%",
        ] {
            let e = ConnUrl::parse(text).unwrap_err().to_string();
            assert!(e.starts_with("the database URL cannot be read: "), "{e}");
        }
    }
}
