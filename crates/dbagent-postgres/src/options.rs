//! The target's URL and credentials, read into what a connection needs.

use std::path::PathBuf;
use std::time::Duration;

use dbagent_core::{Error, ErrorKind, Result, Secret, Target};
use sqlx::ConnectOptions as _;
use sqlx::postgres::{PgConnectOptions, PgSslMode};

use crate::error::Hidden;

/// The port where the URL names none.
pub(crate) const PORT: u16 = 5432;

/// How to reach a server and what to say there. Prints nothing but the hosts.
#[derive(Clone)]
pub(crate) struct Place {
    /// Each host is tried in turn.
    pub(crate) hosts: Vec<Host>,
    user: String,
    password: Secret,
    pub(crate) database: String,
    pub(crate) tls: Tls,
    application: String,
    /// Settings of the start-up packet, as `options` gives them.
    options: Vec<(String, String)>,
    pub(crate) connect_timeout: Option<Duration>,
    pub(crate) wanted: Wanted,
    /// Whether a pooler hands out another server for each transaction.
    pub(crate) pooler: bool,
    /// What the server's words must not repeat.
    pub(crate) hidden: Hidden,
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Place").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

/// One server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Host {
    /// A name, an address, or the folder of a socket.
    pub(crate) name: String,
    pub(crate) port: u16,
}

/// Encryption, in libpq's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tls {
    pub(crate) mode: TlsMode,
    pub(crate) root: Option<PathBuf>,
    pub(crate) certificate: Option<(PathBuf, PathBuf)>,
}

/// `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TlsMode {
    Disable,
    Allow,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

/// `target_session_attrs`: which server of several will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Any,
    Primary,
    Standby,
}

/// The parameters that a URL may have.
const KNOWN: &str = "host, hostaddr, port, dbname, user, password, sslmode, sslrootcert, sslcert, sslkey, \
                     application_name, connect_timeout, options, target_session_attrs, client_encoding, pooler";

impl Place {
    /// Reads the URL and the credentials of a target.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] for what cannot be read, what is given twice, and unknown parameters.
    pub(crate) fn of(target: &Target) -> Result<Self> {
        let parameters = Parameters::of(target)?;
        let rest = target.url.rest();
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let hosts = hosts(authority, &parameters)?;
        let database = one_of(
            "database",
            [
                (!path.is_empty()).then(|| decode(path)).transpose()?,
                parameters.get("dbname"),
                target.credential.get("database").map(|s| s.expose().to_owned()),
            ],
        )?;
        let secret = |key: &str| target.credential.get(key).map(|s| s.expose().to_owned());
        let user =
            one_of("user", [target.url.user().map(str::to_owned), parameters.get("user"), secret("user")])?
                .ok_or_else(|| {
                config("no user is named")
                    .hint("write postgres://user@host/database, or give the credential user")
            })?;
        let password = one_of(
            "password",
            [
                target.url.password().map(|s| s.expose().to_owned()),
                parameters.get("password"),
                secret("password"),
            ],
        )?;
        let hidden = ["user", "password", "database"].into_iter().filter_map(secret).chain(password.clone());
        Ok(Self {
            hosts,
            hidden: Hidden(hidden.collect()),
            database: database.unwrap_or_else(|| user.clone()),
            user,
            password: Secret::new(password.unwrap_or_default()),
            tls: Tls::of(&parameters)?,
            application: parameters.get("application_name").unwrap_or_else(|| "dbagent".to_owned()),
            options: parameters.get("options").map(|text| settings(&text)).transpose()?.unwrap_or_default(),
            connect_timeout: parameters.get("connect_timeout").map(|text| seconds(&text)).transpose()?,
            wanted: Wanted::of(parameters.get("target_session_attrs").as_deref())?,
            pooler: pooler(&parameters)?,
        })
    }

    /// The driver's options for one host, with one of the two ways of encryption.
    pub(crate) fn connect_options(&self, host: &Host, mode: PgSslMode) -> PgConnectOptions {
        // The driver's own constructor looks at the environment. What it may find there is set here, but for
        // certificates and options that the URL does not name: those it gives nobody a way to take back.
        let mut options = PgConnectOptions::new_without_pgpass()
            .host(&host.name)
            .port(host.port)
            .username(&self.user)
            .password(self.password.expose())
            .database(&self.database)
            .application_name(&self.application)
            .ssl_mode(mode)
            // Poolers refuse it at start-up; each transaction sets it for itself.
            .extra_float_digits(None)
            .statement_cache_capacity(if self.pooler { 1 } else { 64 })
            // The text of statements may hold personal data.
            .disable_statement_logging();
        if host.name.starts_with('/') {
            options = options.socket(&host.name);
        }
        if let Some(root) = &self.tls.root {
            options = options.ssl_root_cert(root);
        }
        if let Some((certificate, key)) = &self.tls.certificate {
            options = options.ssl_client_cert(certificate).ssl_client_key(key);
        }
        if !self.options.is_empty() {
            options = options.options(self.options.iter().map(|(k, v)| (k.as_str(), v.as_str())));
        }
        options
    }

    /// The same for asking how the server answers, without the password.
    pub(crate) fn probe_options(&self, host: &Host, mode: PgSslMode) -> PgConnectOptions {
        self.connect_options(host, mode).password("")
    }
}

impl Tls {
    fn of(parameters: &Parameters) -> Result<Self> {
        let mode = match (parameters.get("sslmode"), parameters.get("ssl")) {
            (Some(_), Some(_)) => {
                return Err(config("sslmode and ssl say the same thing").hint("keep sslmode"));
            }
            (Some(text), None) => TlsMode::of(&text)?,
            (None, Some(text)) => match text.as_str() {
                "true" | "1" => TlsMode::Require,
                "false" | "0" => TlsMode::Disable,
                _ => return Err(config("ssl must be true or false").hint("or write sslmode=verify-full")),
            },
            (None, None) => TlsMode::Prefer,
        };
        let path = |key: &str| parameters.get(key).filter(|p| !p.is_empty()).map(PathBuf::from);
        // `system` is libpq's word for the public authorities, which the driver trusts anyway.
        let root = path("sslrootcert").filter(|p| p.as_os_str() != "system");
        let certificate = match (path("sslcert"), path("sslkey")) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => {
                return Err(config("sslcert and sslkey belong together")
                    .hint("give both, the certificate and its key, as PEM files"));
            }
        };
        // As libpq does it: who names an authority wants it to be checked.
        let mode = if mode == TlsMode::Require && root.is_some() { TlsMode::VerifyCa } else { mode };
        if let Some(missing) =
            root.iter().chain(certificate.iter().flat_map(|(c, k)| [c, k])).find(|p| !p.is_file())
        {
            return Err(config("a certificate or key file is not there")
                .with("file", missing.display())
                .hint("check the paths of sslrootcert, sslcert and sslkey"));
        }
        Ok(Self { mode, root, certificate })
    }
}

impl TlsMode {
    fn of(text: &str) -> Result<Self> {
        Ok(match text {
            "disable" => Self::Disable,
            "allow" => Self::Allow,
            "prefer" => Self::Prefer,
            "require" => Self::Require,
            "verify-ca" => Self::VerifyCa,
            "verify-full" => Self::VerifyFull,
            _ => {
                return Err(config("sslmode is none of those that exist")
                    .hint("it is disable, allow, prefer, require, verify-ca or verify-full"));
            }
        })
    }

    /// What is tried, in order: the driver itself knows no second try.
    pub(crate) fn attempts(self) -> &'static [PgSslMode] {
        match self {
            Self::Disable => &[PgSslMode::Disable],
            Self::Allow => &[PgSslMode::Disable, PgSslMode::Require],
            Self::Prefer => &[PgSslMode::Prefer, PgSslMode::Disable],
            Self::Require => &[PgSslMode::Require],
            Self::VerifyCa => &[PgSslMode::VerifyCa],
            Self::VerifyFull => &[PgSslMode::VerifyFull],
        }
    }
}

impl Wanted {
    fn of(text: Option<&str>) -> Result<Self> {
        match text {
            None | Some("any" | "read-only" | "prefer-standby") => Ok(Self::Any),
            Some("primary" | "read-write") => Ok(Self::Primary),
            Some("standby") => Ok(Self::Standby),
            Some(_) => Err(config("target_session_attrs is none of those that exist")
                .hint("it is any, primary, standby, prefer-standby, read-write or read-only")),
        }
    }
}

/// The parameters of the URL, each once and known.
struct Parameters(Vec<(&'static str, String)>);

impl Parameters {
    fn of(target: &Target) -> Result<Self> {
        let mut found: Vec<(&'static str, String)> = Vec::new();
        for (key, value) in target.url.query() {
            let Some(name) = name_of(key) else {
                return Err(
                    config(format!("unknown parameter {key:?} in the URL")).with("known parameters", KNOWN)
                );
            };
            if found.iter().any(|(k, _)| *k == name) {
                return Err(config(format!("the parameter {name} is given twice in the URL")));
            }
            found.push((name, value.expose().to_owned()));
        }
        let this = Self(found);
        if let Some(encoding) = this.get("client_encoding")
            && !matches!(encoding.to_ascii_lowercase().as_str(), "utf8" | "utf-8" | "auto")
        {
            return Err(config("client_encoding can only be UTF8").hint("leave it out"));
        }
        Ok(this)
    }

    fn get(&self, name: &str) -> Option<String> {
        self.0.iter().find(|(k, _)| *k == name).map(|(_, v)| v.clone())
    }
}

/// The one name of a parameter's spellings.
fn name_of(key: &str) -> Option<&'static str> {
    Some(match key {
        "host" => "host",
        "hostaddr" => "hostaddr",
        "port" => "port",
        "dbname" => "dbname",
        "user" => "user",
        "password" => "password",
        "sslmode" | "ssl-mode" => "sslmode",
        "ssl" => "ssl",
        "sslrootcert" | "ssl-root-cert" | "ssl-ca" => "sslrootcert",
        "sslcert" | "ssl-cert" => "sslcert",
        "sslkey" | "ssl-key" => "sslkey",
        "application_name" | "fallback_application_name" => "application_name",
        "connect_timeout" => "connect_timeout",
        "options" => "options",
        "target_session_attrs" => "target_session_attrs",
        "client_encoding" => "client_encoding",
        "pooler" => "pooler",
        "pgbouncer" => "pgbouncer",
        _ => return None,
    })
}

fn hosts(authority: &str, parameters: &Parameters) -> Result<Vec<Host>> {
    let given = parameters.get("hostaddr").or_else(|| parameters.get("host"));
    if !authority.is_empty() && given.is_some() {
        return Err(config("the host is given twice: in the URL and as a parameter"));
    }
    let default_port = parameters.get("port").map(|text| port(&text)).transpose()?;
    let authority = match given {
        // As a parameter an address has no brackets.
        Some(list) => {
            return list
                .split(',')
                .map(|name| Ok(Host { name: name.to_owned(), port: default_port.unwrap_or(PORT) }))
                .collect();
        }
        None if authority.is_empty() => "localhost",
        None => authority,
    };
    authority.split(',').map(|text| host(text, default_port)).collect()
}

/// `name`, `name:port`, `[address]:port`, or the folder of a socket with its slashes escaped.
fn host(text: &str, default_port: Option<u16>) -> Result<Host> {
    let (name, given) = if let Some(rest) = text.strip_prefix('[') {
        let Some((address, after)) = rest.split_once(']') else {
            return Err(config("an IPv6 address in the URL has no closing bracket"));
        };
        if address.parse::<std::net::Ipv6Addr>().is_err() {
            return Err(config("what stands in brackets in the URL is no IPv6 address"));
        }
        (address.to_owned(), after.strip_prefix(':').filter(|p| !p.is_empty()))
    } else {
        if text.matches(':').count() > 1 {
            return Err(config("the host of the URL holds several colons")
                .hint("write an IPv6 address in brackets: postgres://user@[::1]:5432/database"));
        }
        let (name, given) = text.split_once(':').map_or((text, None), |(n, p)| (n, Some(p)));
        (decode(name)?, given.filter(|p| !p.is_empty()))
    };
    if given.is_some() && default_port.is_some() {
        return Err(config("the port is given twice: in the URL and as a parameter"));
    }
    let port = given.map(port).transpose()?.or(default_port).unwrap_or(PORT);
    Ok(Host { name: if name.is_empty() { "localhost".to_owned() } else { name }, port })
}

fn port(text: &str) -> Result<u16> {
    text.parse().ok().filter(|p| *p > 0).ok_or_else(|| config("the port must be a number from 1 to 65535"))
}

fn seconds(text: &str) -> Result<Duration> {
    let seconds = text.trim().parse::<f64>().ok().filter(|s| *s > 0.0 && *s <= 86_400.0);
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| config("connect_timeout must be a number of seconds above 0, at most 86,400"))
}

fn pooler(parameters: &Parameters) -> Result<bool> {
    match (parameters.get("pooler").as_deref(), parameters.get("pgbouncer").as_deref()) {
        (Some("transaction"), _) | (None, Some("true")) => Ok(true),
        (None | Some("none"), None | Some("false")) => Ok(false),
        _ => Err(config("pooler must be transaction or none")
            .hint("write pooler=transaction before PgBouncer in transaction mode, else leave it out")),
    }
}

/// `-c name=value` pairs, as libpq's `options` has them.
fn settings(text: &str) -> Result<Vec<(String, String)>> {
    let wrong = || {
        config("options of the URL cannot be read")
            .hint("write -c name=value, several of them with spaces between")
    };
    let mut settings = Vec::new();
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        let pair = match word.strip_prefix("-c").or_else(|| word.strip_prefix("--")) {
            Some("") => words.next().ok_or_else(wrong)?,
            Some(pair) => pair,
            None => return Err(wrong()),
        };
        let (name, value) = pair.split_once('=').ok_or_else(wrong)?;
        if !name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-')) {
            return Err(wrong());
        }
        settings.push((name.to_owned(), value.to_owned()));
    }
    Ok(settings)
}

/// The one value that is given.
fn one_of<const N: usize>(what: &str, given: [Option<String>; N]) -> Result<Option<String>> {
    let mut values = given.into_iter().flatten();
    let first = values.next();
    if values.next().is_some() {
        return Err(config(format!("the {what} is given twice"))
            .hint("give it in one place; outside the URL is safer"));
    }
    Ok(first)
}

/// Decodes percent escapes of one part of the URL.
fn decode(text: &str) -> Result<String> {
    let wrong = || config("the percent escapes of the URL cannot be read");
    let mut bytes = Vec::with_capacity(text.len());
    let mut iter = text.bytes();
    while let Some(b) = iter.next() {
        if b != b'%' {
            bytes.push(b);
            continue;
        }
        let mut digit = || iter.next().and_then(|b| char::from(b).to_digit(16));
        let (high, low) = (digit().ok_or_else(wrong)?, digit().ok_or_else(wrong)?);
        bytes.push(u8::try_from(high * 16 + low).map_err(|_| wrong())?);
    }
    String::from_utf8(bytes).ok().filter(|s| !s.contains('\0')).ok_or_else(wrong)
}

fn config(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Config, message).op("open")
}

#[cfg(test)]
mod tests {
    use dbagent_core::{ConnUrl, Credential};

    use super::*;

    fn place(url: &str) -> Result<Place> {
        Place::of(&Target::new("x", ConnUrl::parse(url).unwrap()))
    }

    fn hosts_of(url: &str) -> Vec<(String, u16)> {
        place(url).unwrap().hosts.into_iter().map(|h| (h.name, h.port)).collect()
    }

    #[test]
    fn hosts_are_names_addresses_lists_and_sockets() {
        let one = |name: &str, port| vec![(name.to_owned(), port)];
        assert_eq!(hosts_of("postgres://u@db/x"), one("db", 5432));
        assert_eq!(hosts_of("postgresql://u@db:6543/x"), one("db", 6543));
        assert_eq!(hosts_of("postgres://u@[::1]:6543/x"), one("::1", 6543));
        assert_eq!(hosts_of("postgres://u@[fe80::1]/x"), one("fe80::1", 5432));
        assert_eq!(hosts_of("postgres://u@/x"), one("localhost", 5432));
        assert_eq!(hosts_of("postgres://u@%2Fvar%2Frun%2Fpg/x"), one("/var/run/pg", 5432));
        assert_eq!(hosts_of("postgres://u@/x?host=/var/run/pg&port=6000"), one("/var/run/pg", 6000));
        assert_eq!(hosts_of("postgres://u@/x?hostaddr=::1"), one("::1", 5432));
        let two = hosts_of("postgres://u@a:1,b/x?target_session_attrs=primary");
        assert_eq!(two, [("a".to_owned(), 1), ("b".to_owned(), 5432)]);
    }

    #[test]
    fn the_database_is_decoded_and_falls_back_to_the_user() {
        assert_eq!(place("postgres://u@h/d%C3%A9j%C3%A0%20vu").unwrap().database, "déjà vu");
        assert_eq!(place("postgres://u@h/a%2Fb").unwrap().database, "a/b");
        assert_eq!(place("postgres://bob@h").unwrap().database, "bob");
        assert_eq!(place("postgres://h?user=bob&dbname=d").unwrap().database, "d");
    }

    #[test]
    fn modes_are_those_of_libpq() {
        let mode = |url: &str| place(url).unwrap().tls.mode;
        assert_eq!(mode("postgres://u@h/x"), TlsMode::Prefer);
        assert_eq!(mode("postgres://u@h/x?sslmode=verify-full"), TlsMode::VerifyFull);
        assert_eq!(mode("postgres://u@h/x?ssl=true"), TlsMode::Require);
        let file = tempfile::NamedTempFile::new().unwrap();
        let url = format!("postgres://u@h/x?sslmode=require&sslrootcert={}", file.path().display());
        assert_eq!(mode(&url), TlsMode::VerifyCa);
    }

    #[test]
    fn what_is_wrong_is_said_without_values() {
        for (url, word) in [
            ("postgres://u@h/x?sslmod=canary", "sslmod"),
            ("postgres://u@h/x?sslmode=canary", "verify-full"),
            ("postgres://u:p@h/x?password=canary", "twice"),
            ("postgres://u@h/x?user=canary", "twice"),
            ("postgres://u@h/x?dbname=canary", "twice"),
            ("postgres://u@h:1/x?port=2", "twice"),
            ("postgres://u@h/x?host=canary", "twice"),
            ("postgres://h/x", "user"),
            ("postgres://u@h:0/x", "port"),
            ("postgres://u@h:99999/x", "port"),
            ("postgres://u@::1/x", "brackets"),
            ("postgres://u@[canary]/x", "IPv6"),
            ("postgres://u@[::1/x", "bracket"),
            ("postgres://u@h/x?connect_timeout=canary", "seconds"),
            ("postgres://u@h/x?sslcert=/canary", "sslkey"),
            ("postgres://u@h/x?client_encoding=LATIN1", "UTF8"),
            ("postgres://u@h/x?options=canary", "-c"),
            ("postgres://u@h/x?options=-c%20a;b=1", "-c"),
            ("postgres://u@h/x?pooler=canary", "transaction"),
            ("postgres://u@h/x?target_session_attrs=canary", "standby"),
            ("postgres://u@h/x?sslmode=require&sslmode=disable", "twice"),
        ] {
            let e = place(url).unwrap_err();
            assert_eq!(e.kind(), ErrorKind::Config, "{url}");
            let said = format!("{e} {}", e.hint_text().unwrap_or_default());
            assert!(said.contains(word) && !said.contains("canary"), "{url}: {said}");
        }
    }

    #[test]
    fn two_kinds_of_credentials_are_an_error() {
        let mut target = Target::new("x", ConnUrl::parse("postgres://h/x?password=a&user=b").unwrap());
        target.credential = Credential::new().set("password", "c");
        assert_eq!(Place::of(&target).unwrap_err().kind(), ErrorKind::Config);
    }

    #[test]
    fn nothing_secret_prints() {
        let mut target = Target::new("x", ConnUrl::parse("postgres://h/x?password=canary1").unwrap());
        target.credential = Credential::new().set("user", "canary2");
        let place = Place::of(&target).unwrap();
        let text = format!("{place:?} {:?}", place.hidden);
        assert!(!text.contains("canary"), "{text}");
    }

    #[test]
    fn options_are_pairs() {
        let pairs = settings("-c statement_timeout=5 -csearch_path=a,b --geqo=off").unwrap();
        assert_eq!(pairs.len(), 3);
        assert_eq!(pairs.get(1), Some(&("search_path".to_owned(), "a,b".to_owned())));
    }
}
