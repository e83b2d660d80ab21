//! Which database is meant: a URL, a name of the configuration, or a file. And its password.

mod file;
pub(crate) mod password;

use dbagent::{ConnUrl, Credential, Dialect, Error, ErrorKind, Guardrails, Policy, Registry, Target};

use crate::app::App;
use crate::exit::usage;
use crate::mask::mask_name;

/// How a database is reached, on the command line.
#[derive(Debug, clap::Args)]
pub(crate) struct Access {
    /// Read the password from a file (its first line)
    #[arg(long, value_name = "FILE", conflicts_with = "ask_password")]
    pub(crate) password_file: Option<std::path::PathBuf>,
    /// Ask for the password
    #[arg(long)]
    pub(crate) ask_password: bool,
    /// A credential or connection setting that the kind of database knows, such as connect_timeout=5
    #[arg(long = "credential", value_name = "KEY=VALUE")]
    pub(crate) credentials: Vec<String>,
    /// Seconds that one statement may take
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: Option<u64>,
}

/// A database, found and checked; nothing is opened yet.
pub(crate) struct Place {
    /// Its dialect.
    pub(crate) dialect: &'static Dialect,
    /// What to open.
    pub(crate) target: Target,
}

/// What a word on the command line named.
struct Named {
    name: String,
    /// The URL's text; it may hold a password.
    url: String,
    credential: Credential,
    policy: Policy,
    guardrails: Guardrails,
    /// Whether the URL itself stood on the command line, for everyone to see.
    typed: bool,
}

/// Finds the database that a word on the command line means.
///
/// # Errors
/// [`ErrorKind::Config`]: no such name and no such file, a URL that no dialect opens, a wrong credential;
/// what reading a password says.
pub(crate) fn find(app: &App, word: &str, access: &Access) -> Result<Place, Error> {
    let registry = Registry::collected()?;
    let named = name(app, &registry, word)?;
    let parsed = ConnUrl::parse(&named.url)?;
    let dialect = registry.for_url(&parsed)?;
    let mut credential = with_settings(named.credential, &access.credentials)?;
    credential.normalise(dialect.id(), dialect.known_credentials())?;
    if named.typed {
        warn_of_secrets(app, dialect, &parsed, access);
    }
    if let Some(password) = password::find(app, dialect, &parsed, &credential, access)? {
        credential = credential.set("password", password);
    }
    let mut target = Target::new(named.name, parsed);
    target.credential = credential;
    target.policy = named.policy;
    target.guardrails = named.guardrails;
    if let Some(seconds) = access.timeout {
        target.guardrails.query_timeout_s = seconds;
    }
    Ok(Place { dialect, target })
}

fn name(app: &App, registry: &Registry, word: &str) -> Result<Named, Error> {
    let config = app.config()?;
    let plain = |url: String, typed: bool| Named {
        name: "main".to_owned(),
        url,
        credential: Credential::new(),
        policy: Policy::default(),
        guardrails: config.settings.guardrails.clone(),
        typed,
    };
    if word.contains("://") {
        return Ok(plain(word.to_owned(), true));
    }
    if let Some(database) = config.settings.databases.get(word) {
        app.ui.detail(&format!("{word} is a database of {}", config.name()));
        return Ok(Named {
            name: word.to_owned(),
            url: database.url.expose().to_owned(),
            credential: database.credential.clone(),
            policy: database.policy.clone(),
            guardrails: database.guardrails.clone(),
            typed: false,
        });
    }
    if let Some(url) = file::url_of(registry, word)? {
        app.ui.detail(&format!("the file {word} is opened as {url}"));
        return Ok(plain(url, true));
    }
    let names = config.settings.databases.keys().map(String::as_str);
    let near = dbagent::text::near_misses(word, names, 1);
    let hint = match near.first() {
        Some(near) => format!("did you mean {near}?"),
        None => format!(
            "give a URL such as sqlite:///shop.db, the path of a database file, or a name under [databases] in {}",
            config.name()
        ),
    };
    let shown = mask_name(&dbagent::text::printable(word));
    // A path that is not there is a database that is not there; a mere word may be anything.
    let kind = if word.contains(['/', '\\', '.']) { ErrorKind::DatabaseNotFound } else { ErrorKind::Config };
    Err(Error::new(kind, format!("there is no database and no file {shown:?}")).hint(hint))
}

/// Adds `KEY=VALUE` of the command line, which wins.
fn with_settings(mut credential: Credential, settings: &[String]) -> Result<Credential, Error> {
    for setting in settings {
        // The value may be a secret, so the message names the option alone.
        let Some((key, value)) = setting.split_once('=') else {
            return Err(usage("--credential takes KEY=VALUE").hint("such as --credential connect_timeout=5"));
        };
        credential = credential.set(key.trim(), value);
    }
    Ok(credential)
}

fn warn_of_secrets(app: &App, dialect: &Dialect, url: &ConnUrl, access: &Access) {
    let secret = |key: &str| {
        dialect.known_credentials().iter().any(|k| k.secret && (k.name == key || k.aliases.contains(&key)))
            || matches!(key, "password" | "api_key")
    };
    let in_url = url.password().is_some() || url.query().iter().any(|(key, _)| secret(key));
    let in_options =
        access.credentials.iter().filter_map(|c| c.split_once('=')).any(|(key, _)| secret(key.trim()));
    if in_url || in_options {
        app.ui.warn(
            "a password on the command line can be read by others on this machine and stays in the shell's history; \
             use DBAGENT_PASSWORD, --password-file or --ask-password instead",
        );
    }
}

#[cfg(test)]
mod tests {
    use dbagent::{CredentialKey, OpenContext, ParseContext, Parsed, Request, Session};

    use super::*;
    use crate::app::Global;

    fn parse(_: &Request, _: &ParseContext) -> dbagent::Result<Parsed> {
        Err(Error::new(ErrorKind::Syntax, "no language"))
    }

    fn open<'a>(
        _: &'a Target,
        _: &'a OpenContext,
    ) -> futures_util::future::BoxFuture<'a, dbagent::Result<Box<dyn Session>>> {
        Box::pin(async { Err(Error::new(ErrorKind::Connection, "nobody is there")) })
    }

    /// A kind of database that knows users and passwords.
    const GUARDED: Dialect = Dialect::new("guarded", parse, open).credential_keys(&[
        CredentialKey::new("user", "account"),
        CredentialKey::new("password", "password").secret(),
    ]);
    dbagent::inventory::submit! { GUARDED }

    fn access(password_file: Option<std::path::PathBuf>) -> Access {
        Access { password_file, ask_password: false, credentials: Vec::new(), timeout: Some(7) }
    }

    #[test]
    fn a_user_in_the_url_and_a_password_beside_it_belong_together() {
        let folder = tempfile::tempdir().unwrap();
        let (config, password) = (folder.path().join("dbagent.toml"), folder.path().join("password"));
        std::fs::write(&password, "canary\n").unwrap();
        std::fs::write(
            &config,
            "[databases.shop]\nurl = \"guarded://bob@h/x?a=b\"\ncredential = { password = \"of the file\" }\n",
        )
        .unwrap();
        let app = App::new(Global { config: Some(config), quiet: true, ..Global::default() });
        let values = |place: &Place| {
            let value = |key| place.target.credential.get(key).map(|v| v.expose().to_owned());
            (place.target.url.to_string(), value("user"), value("password"))
        };
        let place = find(&app, "guarded://bob@h:5/x?mode=b", &access(Some(password.clone()))).unwrap();
        assert_eq!(values(&place), ("guarded://bob@h:5/x?mode=b".into(), None, Some("canary".into())));
        assert_eq!(place.target.guardrails.query_timeout_s, 7);
        let place = find(&app, "shop", &access(None)).unwrap();
        assert_eq!(values(&place), ("guarded://bob@h/x?a=****".into(), None, Some("of the file".into())));
        // What the command line says is stronger than the configuration.
        let place = find(&app, "shop", &access(Some(password))).unwrap();
        assert_eq!(values(&place).2, Some("canary".into()));
        assert_eq!(place.target.name, "shop");
    }

    #[test]
    fn a_password_for_a_database_without_one_is_an_error() {
        let app = App::new(Global { quiet: true, ..Global::default() });
        let e = find(&app, "guarded://h", &access(Some("absent".into()))).err().unwrap();
        assert!(e.to_string().contains("password file"), "{e}");
    }

    #[test]
    fn settings_are_pairs() {
        let c = with_settings(Credential::new().set("user", "a"), &["user=b=c".to_owned()]).unwrap();
        assert_eq!(c.get("user").unwrap().expose(), "b=c");
        let e = with_settings(Credential::new(), &["canary".to_owned()]).unwrap_err();
        assert!(!e.to_string().contains("canary"));
    }
}
