//! Credentials apart from the URL: a small map whose values cannot be printed.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::secret::Secret;
use crate::text::near_misses;

/// A key that a dialect understands.
#[derive(Debug, Clone, Copy)]
pub struct CredentialKey {
    /// The key.
    pub name: &'static str,
    /// Other spellings.
    pub aliases: &'static [&'static str],
    /// Whether its value is a secret (for prompts that ask a person).
    pub secret: bool,
    /// What it is, in one phrase.
    pub help: &'static str,
}

impl CredentialKey {
    /// A key without aliases.
    pub const fn new(name: &'static str, help: &'static str) -> Self {
        Self { name, aliases: &[], secret: false, help }
    }

    /// The same key with other spellings.
    pub const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// The same key, its value being a secret.
    pub const fn secret(self) -> Self {
        Self { secret: true, ..self }
    }
}

/// User, password and connection settings by key. Values print as `****`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Credential {
    values: BTreeMap<String, Secret>,
}

impl Credential {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets one value.
    pub fn set(mut self, key: impl Into<String>, value: impl Into<Secret>) -> Self {
        self.values.insert(key.into(), value.into());
        self
    }

    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The keys that are set.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Secret> {
        self.values.get(key)
    }

    /// A value in seconds.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] when it is not a number of seconds above 0 and up to a day.
    pub fn seconds(&self, key: &str) -> Result<Option<Duration>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let seconds = value.expose().trim().parse::<f64>().ok().filter(|s| *s > 0.0 && *s <= 86_400.0);
        match seconds {
            Some(s) => Ok(Some(Duration::from_secs_f64(s))),
            None => Err(Error::new(
                ErrorKind::Config,
                format!("the credential {key} must be a number of seconds above 0, at most 86,400"),
            )),
        }
    }

    /// Checks the keys against those that a dialect knows and replaces aliases by names.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] for an unknown key (lists the known ones) and for a key given twice.
    pub fn normalise(&self, dialect: &str, known: &[CredentialKey]) -> Result<Credential> {
        let mut out = Credential::new();
        for (key, value) in &self.values {
            let Some(found) = known.iter().find(|k| k.name == key || k.aliases.contains(&key.as_str()))
            else {
                let names: Vec<&str> = known.iter().map(|k| k.name).collect();
                let list = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                let mut e =
                    Error::new(ErrorKind::Config, format!("unknown credential key {key:?} for {dialect}"))
                        .with("known keys", list);
                if let Some(near) = near_misses(key, names.iter().copied(), 1).first() {
                    e = e.hint(format!("did you mean {near}?"));
                }
                return Err(e);
            };
            if out.values.insert(found.name.to_owned(), value.clone()).is_some() {
                return Err(Error::new(
                    ErrorKind::Config,
                    format!("the credential {} is given twice", found.name),
                )
                .hint("one of its spellings is enough"));
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: &[CredentialKey] = &[
        CredentialKey::new("user", "account"),
        CredentialKey::new("database", "database").aliases(&["db"]),
        CredentialKey::new("connect_timeout", "seconds"),
    ];

    #[test]
    fn unknown_keys_are_errors_that_list_the_known() {
        let e = Credential::new().set("usr", "bob").normalise("postgres", KEYS).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Config);
        assert!(e.to_string().contains("user, database, connect_timeout"), "{e}");
        assert_eq!(e.hint_text(), Some("did you mean user?"));
    }

    #[test]
    fn aliases_become_names_and_a_double_is_an_error() {
        let c = Credential::new().set("db", "x").normalise("postgres", KEYS).unwrap();
        assert_eq!(c.get("database").unwrap().expose(), "x");
        assert!(Credential::new().set("db", "x").set("database", "y").normalise("postgres", KEYS).is_err());
    }

    #[test]
    fn values_cannot_be_printed_and_seconds_are_checked() {
        let c = Credential::new().set("user", "canary").set("connect_timeout", "soon");
        assert!(!format!("{c:?}").contains("canary"));
        assert!(c.seconds("connect_timeout").is_err());
        assert_eq!(c.seconds("absent").unwrap(), None);
    }
}
