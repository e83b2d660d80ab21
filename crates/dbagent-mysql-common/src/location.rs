//! Reads the URL and the credentials of a target: where the server is and how to log in.

use std::path::PathBuf;
use std::time::Duration;

use dbagent_core::{Credential, CredentialKey, Error, ErrorKind, Result, Secret, Target};

use crate::tls::Tls;

/// The port where a URL names none.
pub(crate) const PORT: u16 = 3306;

/// What the credentials of a target may hold.
pub const CREDENTIAL_KEYS: &[CredentialKey] = &[
    CredentialKey::new("user", "the account"),
    CredentialKey::new("password", "the account's password").secret(),
    CredentialKey::new("database", "the database that names without one are in").aliases(&["db"]),
    CredentialKey::new("connect_timeout", "seconds to wait for a connection"),
    CredentialKey::new("read_timeout", "seconds to wait for the next bytes of an answer"),
    CredentialKey::new("ssl_mode", "DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY"),
    CredentialKey::new("ssl_ca", "file of the certificates that are trusted"),
    CredentialKey::new("ssl_cert", "file of the client's certificate"),
    CredentialKey::new("ssl_key", "file of the client's key"),
    CredentialKey::new("socket", "path of a Unix socket, instead of host and port"),
];

/// The parameters of a URL, as MySQL's own URLs spell them; `_` does for `-`.
const PARAMETERS: &[&str] =
    &["ssl-mode", "ssl-ca", "ssl-cert", "ssl-key", "socket", "connect-timeout", "read-timeout"];

/// Where a server is and how to log in.
#[derive(Debug, Clone)]
pub(crate) struct Location {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) socket: Option<PathBuf>,
    pub(crate) user: String,
    pub(crate) password: Option<Secret>,
    pub(crate) database: Option<String>,
    pub(crate) tls: Tls,
    pub(crate) connect_timeout: Option<Duration>,
    pub(crate) read_timeout: Option<Duration>,
    /// What came as a credential and not in the URL: not to be shown, whatever it is.
    pub(crate) secrets: Vec<Secret>,
}

impl Location {
    /// Reads a target.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] for what does not make sense, each with what to write instead.
    pub(crate) fn of(target: &Target) -> Result<Self> {
        let url = &target.url;
        let mut settings = target.credential.clone();
        for (key, value) in url.query() {
            let name = key.to_ascii_lowercase().replace('_', "-");
            if !PARAMETERS.contains(&name.as_str()) {
                let mut e = config(format!("unknown parameter {key:?} in the URL"))
                    .with("known parameters", PARAMETERS.join(", "));
                let near = dbagent_core::text::near_misses(&name, PARAMETERS.iter().copied(), 1);
                if let Some(near) = near.first() {
                    e = e.hint(format!("did you mean {near}?"));
                }
                return Err(e);
            }
            settings = once(settings, &name.replace('-', "_"), value.clone())?;
        }
        let (authority, path) = match url.rest().split_once('/') {
            Some((authority, path)) => (authority, Some(path)),
            None => (url.rest(), None),
        };
        if let Some(database) = path.map(decode).transpose()?.filter(|d| !d.is_empty()) {
            if database.contains('/') && !path.is_some_and(|p| p.to_ascii_lowercase().contains("%2f")) {
                return Err(config(
                    "the URL names no database: what stands behind the host holds a /".to_owned(),
                )
                .hint("write scheme://user@host:port/database; a / in a name is written %2F"));
            }
            settings = once(settings, "database", Secret::new(database))?;
        }
        if let Some(user) = url.user() {
            settings = once(settings, "user", Secret::new(user))?;
        }
        if let Some(password) = url.password() {
            settings = once(settings, "password", password.clone())?;
        }
        let (host, port) = host_and_port(authority)?;
        let text = |key: &str| settings.get(key).map(Secret::expose).filter(|t| !t.is_empty());
        let (host, socket) = match (decode(&host)?, text("socket")) {
            (host, Some(_)) if host.starts_with('/') => {
                return Err(config(format!("the socket is given twice: as the host {host} and as socket")));
            }
            (host, None) if host.starts_with('/') => ("localhost".to_owned(), Some(PathBuf::from(host))),
            (host, socket) => {
                (if host.is_empty() { "localhost".to_owned() } else { host }, socket.map(PathBuf::from))
            }
        };
        if socket.is_some() && cfg!(not(unix)) {
            return Err(config("Unix sockets exist on Unix only".to_owned()).hint("name a host and a port"));
        }
        let Some(user) = text("user").map(str::to_owned) else {
            return Err(config("no account is given".to_owned())
                .hint("write it into the URL (scheme://user@host/database) or give the credential user"));
        };
        Ok(Self {
            host,
            port,
            socket,
            user,
            password: settings.get("password").cloned(),
            database: text("database").map(str::to_owned),
            tls: Tls::of(text("ssl_mode"), text("ssl_ca"), text("ssl_cert"), text("ssl_key"))?,
            connect_timeout: settings.seconds("connect_timeout")?,
            read_timeout: settings.seconds("read_timeout")?,
            secrets: target.credential.keys().filter_map(|key| target.credential.get(key)).cloned().collect(),
        })
    }

    /// The place for people, without account and password.
    pub(crate) fn place(&self) -> String {
        match &self.socket {
            // Its path may have come as a credential.
            Some(_) => "a Unix socket".to_owned(),
            None if self.host.contains(':') => format!("[{}]:{}", self.host, self.port),
            None => format!("{}:{}", self.host, self.port),
        }
    }
}

fn config(message: String) -> Error {
    Error::new(ErrorKind::Config, message).op("open")
}

/// Sets a value that must not be there yet.
fn once(settings: Credential, key: &str, value: Secret) -> Result<Credential> {
    if settings.get(key).is_some() {
        return Err(config(format!("{key} is given twice: in the URL and as a credential"))
            .hint("give it in one place"));
    }
    Ok(settings.set(key, value))
}

/// `host`, `host:port`, `[v6]`, `[v6]:port`, or nothing.
/// What is wrong is not repeated: a password whose @ was forgotten may stand there.
fn host_and_port(authority: &str) -> Result<(String, u16)> {
    let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
        let Some((host, after)) = rest.split_once(']') else {
            return Err(config("the address in the URL has no closing ]".to_owned()));
        };
        if host.parse::<std::net::Ipv6Addr>().is_err() {
            return Err(config("what stands in brackets in the URL is no IPv6 address".to_owned()));
        }
        match after.strip_prefix(':') {
            Some(port) => (host, Some(port)),
            None if after.is_empty() => (host, None),
            None => {
                return Err(config(
                    "something else than a port stands behind the address in the URL".to_owned(),
                ));
            }
        }
    } else {
        match authority.split_once(':') {
            Some((_, port)) if port.contains(':') => {
                return Err(config("what the URL names is no host and port".to_owned())
                    .hint("write an IPv6 address in brackets: [::1]:3306"));
            }
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        }
    };
    if host.contains(',') {
        return Err(
            config("the URL names several hosts".to_owned()).hint("name one; the other is another target")
        );
    }
    let port = match port {
        None | Some("") => PORT,
        Some(text) => match text.parse::<u16>() {
            Ok(port) if port > 0 => port,
            _ => {
                return Err(config("what stands behind the host in the URL is no port".to_owned())
                    .hint("a port is a number from 1 to 65535"));
            }
        },
    };
    Ok((host.to_owned(), port))
}

/// Decodes percent escapes of one part of a URL.
fn decode(part: &str) -> Result<String> {
    let whole = dbagent_core::ConnUrl::parse(&format!("x:///{part}"))?.decoded_rest()?;
    Ok(whole.strip_prefix('/').unwrap_or(&whole).to_owned())
}

#[cfg(test)]
mod tests {
    use dbagent_core::ConnUrl;

    use super::*;
    use crate::tls::Mode;

    fn target(url: &str) -> Target {
        Target::new("t", ConnUrl::parse(url).unwrap())
    }

    fn of(url: &str) -> Result<Location> {
        Location::of(&target(url))
    }

    #[test]
    fn urls_are_read() {
        let l =
            of("mysql://bob:p%40ss@db.example:3307/my%20shop?ssl-mode=REQUIRED&read_timeout=2.5").unwrap();
        assert_eq!((l.host.as_str(), l.port, l.user.as_str()), ("db.example", 3307, "bob"));
        assert_eq!(l.password.as_ref().map(Secret::expose), Some("p@ss"));
        assert_eq!(l.database.as_deref(), Some("my shop"));
        assert_eq!(l.tls.mode, Mode::Required);
        assert_eq!(l.read_timeout, Some(Duration::from_millis(2_500)));
        assert_eq!(l.place(), "db.example:3307");

        let l = of("mysql://bob@[::1]/x").unwrap();
        assert_eq!((l.host.as_str(), l.port), ("::1", PORT));
        assert_eq!(l.place(), "[::1]:3306");
        assert_eq!(of("mysql://bob@[fe80::1]:3307/x").unwrap().port, 3307);

        let l = of("mysql://bob@/x?socket=/run/mysqld/mysqld.sock").unwrap();
        assert_eq!(l.socket, Some(PathBuf::from("/run/mysqld/mysqld.sock")));
        let l = of("mysql://bob@%2Frun%2Fmysqld.sock/x").unwrap();
        assert_eq!(l.socket, Some(PathBuf::from("/run/mysqld.sock")));
        assert_eq!(of("mysql://bob@h/a%2Fb").unwrap().database.as_deref(), Some("a/b"));
        assert_eq!(of("mysql://bob@h").unwrap().database, None);
        assert_eq!(of("mysql://bob@h/").unwrap().database, None);
    }

    #[test]
    fn what_makes_no_sense_is_an_error_that_says_what_to_do() {
        for (url, says) in [
            ("mysql://h/x", "no account"),
            ("mysql://bob@h:99999/x", "no port"),
            ("mysql://bob@h:0/x", "no port"),
            ("mysql://bob@::1/x", "host and port"),
            ("mysql://bob@[::1/x", "closing ]"),
            ("mysql://bob@[nope]/x", "no IPv6 address"),
            ("mysql://bob@a,b/x", "several hosts"),
            ("mysql://bob@h/x/y", "holds a /"),
            ("mysql://bob@h/x?ssl-modus=REQUIRED", "ssl-mode"),
            ("mysql://bob@h/x?ssl-mode=maybe", "VERIFY_CA"),
            ("mysql://bob@h/x?read-timeout=soon", "seconds"),
            ("mysql://bob@h/x?socket=/a&socket=/b", "twice"),
            ("mysql://bob@h/x?ssl-cert=/c.pem", "ssl-key"),
            ("mysql://bob@h/%ZZ", "hexadecimal"),
        ] {
            let e = of(url).unwrap_err();
            assert_eq!(e.kind(), ErrorKind::Config, "{url}");
            let text = format!("{e} {}", e.hint_text().unwrap_or_default());
            assert!(text.contains(says), "{url}: {text}");
        }
    }

    #[test]
    fn a_thing_given_twice_is_an_error() {
        let mut t = target("mysql://h/x");
        t.credential = Credential::new().set("user", "bob").set("database", "y");
        assert!(Location::of(&t).unwrap_err().to_string().contains("database is given twice"));
        let mut t = target("mysql://h");
        t.credential = Credential::new().set("user", "bob").set("database", "y").set("password", "");
        let l = Location::of(&t).unwrap();
        assert_eq!(l.database.as_deref(), Some("y"));
    }

    #[test]
    fn the_password_does_not_show() {
        let l = of("mysql://bob:canary@h/x").unwrap();
        assert!(!format!("{l:?}").contains("canary"));
        // Without its @ it is read as a host, a port or a database.
        for url in [
            "mysql://bob:canary",
            "mysql://bob:canary/x",
            "mysql://bob:ca/canary/x",
            "mysql://bob:a:canary",
            "mysql://[::1]canary",
            "mysql://[canary]",
            "mysql://[canary",
            "mysql://a,bob:canary",
        ] {
            let e = of(url).unwrap_err();
            assert!(!format!("{e} {e:?} {:?}", e.hint_text()).contains("canary"), "{url}: {e}");
        }
    }
}
