//! Reads a URL as the place of a database file. Pure: no file is touched.

use std::path::PathBuf;

use dbagent_core::text::near_misses;
use dbagent_core::{ConnUrl, Error, ErrorKind, Result};

/// The parameters that a URL may have.
const PARAMETERS: &[&str] = &["mode", "immutable"];

/// Where a database file is and how it may be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    /// As the URL writes it: relative to the working directory, absolute, or a Windows path.
    pub(crate) path: PathBuf,
    /// Whether the host vouches that nobody changes the file while it is open.
    pub(crate) immutable: bool,
}

impl Location {
    /// Reads `sqlite:///relative.db`, `sqlite:////absolute.db`, `sqlite:///C:/x.db`, `sqlite:///C:\x.db`.
    ///
    /// # Errors
    /// [`ErrorKind::Config`], each with what to write instead.
    pub(crate) fn of(url: &ConnUrl) -> Result<Self> {
        let config = |message: &str| Error::new(ErrorKind::Config, message).with("url", url);
        if url.has_user_info() {
            return Err(config("a SQLite database has no accounts, but the URL names a user")
                .hint("leave out everything up to the @; files are protected by the file system"));
        }
        let rest = url.decoded_rest()?;
        if rest == ":memory:" || rest == "/:memory:" {
            return Err(config("a database in memory cannot be opened by a URL: it would be empty")
                .hint("a Rust host passes the connection that holds it: dbagent_sqlite::from_connection"));
        }
        let path = match rest.strip_prefix('/') {
            Some(path) => path,
            None if is_windows_path(&rest) => &rest,
            None if rest.is_empty() => "",
            None => {
                // Behind a colon may stand a password whose @ was forgotten: nothing of it is repeated then.
                let repeated = !rest.contains(':');
                let file = if repeated { rest.as_str() } else { "file.db" };
                let message = "the URL names a host, and SQLite databases are files";
                let e = if repeated { config(message) } else { Error::new(ErrorKind::Config, message) };
                return Err(e.hint(format!(
                    "write three slashes for a relative path (sqlite:///{file}), four for an absolute one \
                     (sqlite:////{file})"
                )));
            }
        };
        if path.is_empty() {
            return Err(
                config("the URL names no file").hint("write sqlite:///file.db or sqlite:////folder/file.db")
            );
        }
        Ok(Self { path: PathBuf::from(path), immutable: parameters(url)? })
    }
}

/// Whether a path begins with a drive or a share.
fn is_windows_path(path: &str) -> bool {
    let mut chars = path.chars();
    let drive = chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && matches!(chars.next(), Some('\\' | '/'));
    drive || path.starts_with("\\\\")
}

/// Checks the parameters and returns whether the file is immutable.
fn parameters(url: &ConnUrl) -> Result<bool> {
    let mut seen: Vec<&str> = Vec::new();
    let mut immutable = false;
    for (key, value) in url.query() {
        let bad = |message: String| Error::new(ErrorKind::Config, message).with("url", url);
        if seen.contains(&key.as_str()) {
            return Err(bad(format!("the URL gives {key} twice")).hint("once is enough"));
        }
        seen.push(key);
        match (key.as_str(), value.expose()) {
            ("mode", "ro") | ("immutable", "0") => {}
            ("immutable", "1") => immutable = true,
            ("mode", _) => {
                return Err(bad("mode can only be ro: a session never writes to the file".to_owned())
                    .hint("leave mode out, it is read-only anyway"));
            }
            ("immutable", _) => {
                return Err(bad("immutable must be 1 or 0".to_owned()).hint(
                    "immutable=1 says that nobody changes the file while it is open; leave it out otherwise",
                ));
            }
            (other, _) => {
                let e = bad(format!("unknown parameter {other:?} in the URL"))
                    .with("known parameters", PARAMETERS.join(", "));
                return Err(match near_misses(other, PARAMETERS.iter().copied(), 1).first() {
                    Some(near) => e.hint(format!("did you mean {near}?")),
                    None => e.hint("leave it out"),
                });
            }
        }
    }
    Ok(immutable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Location> {
        Location::of(&ConnUrl::parse(text).unwrap())
    }

    #[test]
    fn files_are_named_in_every_form() {
        for (url, path) in [
            ("sqlite:///relative.db", "relative.db"),
            ("sqlite:///data/relative.db", "data/relative.db"),
            ("sqlite:////absolute.db", "/absolute.db"),
            ("sqlite:///../up.db?mode=ro", "../up.db"),
            ("sqlite:///C:/x.db", "C:/x.db"),
            ("sqlite:///C:\\data\\x.db", "C:\\data\\x.db"),
            ("sqlite://C:\\data\\x.db", "C:\\data\\x.db"),
            ("sqlite://c:/x.db", "c:/x.db"),
            ("sqlite:///\\\\server\\share\\x.db", "\\\\server\\share\\x.db"),
            ("sqlite:///a%20b%3Fc.db", "a b?c.db"),
            ("sqlite:///ünïcode.db", "ünïcode.db"),
            ("sqlite:///file:x.db", "file:x.db"),
            ("sqlite:///a@b.db", "a@b.db"),
        ] {
            let location = of(url).unwrap();
            assert_eq!(location.path, PathBuf::from(path), "{url}");
            assert!(!location.immutable);
        }
        assert!(of("sqlite:////x.db?immutable=1").unwrap().immutable);
    }

    #[test]
    fn what_is_no_file_says_what_to_write() {
        for (url, message, hint) in [
            ("sqlite://:memory:", "in memory", "from_connection"),
            ("sqlite:///:memory:", "in memory", "from_connection"),
            ("sqlite://data.db", "names a host", "sqlite:///data.db"),
            ("sqlite://", "names no file", "sqlite:///file.db"),
            ("sqlite:///", "names no file", "sqlite:///file.db"),
            ("sqlite://bob:pw@/x.db", "no accounts", "leave out"),
            ("sqlite://bob:pw", "names a host", "sqlite:///file.db"),
            ("sqlite://bob:p%77/x.db", "names a host", "sqlite:///file.db"),
            ("sqlite://bob:7pw?mode=ro", "names a host", "sqlite:///file.db"),
            ("sqlite:///x.db?mode=rw", "only be ro", "leave mode out"),
            ("sqlite:///x.db?immutable=yes", "1 or 0", "immutable=1"),
            ("sqlite:///x.db?imutable=1", "unknown parameter \"imutable\"", "did you mean immutable?"),
            ("sqlite:///x.db?mode=ro&mode=ro", "twice", "once"),
            ("sqlite:///x.db?zzz=1", "unknown parameter", "leave it out"),
        ] {
            let e = of(url).unwrap_err();
            assert_eq!(e.kind(), ErrorKind::Config, "{url}");
            assert!(e.to_string().contains(message), "{url}: {e}");
            assert!(e.hint_text().unwrap().contains(hint), "{url}: {:?}", e.hint_text());
            assert!(!format!("{e} {e:?} {:?}", e.hint_text()).contains("pw"), "{url}");
        }
    }
}
