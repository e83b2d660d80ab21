//! Which dialects there are.

use std::collections::BTreeMap;

use super::Dialect;
use crate::error::{Error, ErrorKind};
use crate::target::ConnUrl;

/// The dialects of a program: those that registered themselves and those that the host names.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    dialects: BTreeMap<&'static str, &'static Dialect>,
}

/// Two crates registered the same id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the dialect {0:?} is registered twice: two crates (or two versions of one) are in the build")]
pub struct RegistryError(pub &'static str);

impl From<RegistryError> for Error {
    fn from(e: RegistryError) -> Self {
        Error::new(ErrorKind::Config, e.to_string()).hint("remove one of them; `cargo tree -d` shows both")
    }
}

impl Registry {
    /// Nothing.
    pub fn empty() -> Self {
        Self::default()
    }

    /// What registered itself through `inventory`.
    ///
    /// # Errors
    /// When one id is registered twice.
    pub fn collected() -> Result<Self, RegistryError> {
        let mut registry = Self::empty();
        for dialect in inventory::iter::<Dialect> {
            if registry.dialects.insert(dialect.id, dialect).is_some() {
                return Err(RegistryError(dialect.id));
            }
        }
        Ok(registry)
    }

    /// The same dialects and this one, which replaces one of the same id.
    pub fn with(mut self, dialect: &'static Dialect) -> Self {
        self.dialects.insert(dialect.id, dialect);
        self
    }

    /// The dialects by id.
    pub fn iter(&self) -> impl Iterator<Item = &'static Dialect> {
        self.dialects.values().copied()
    }

    /// The ids, sorted.
    pub fn ids(&self) -> Vec<&'static str> {
        self.dialects.keys().copied().collect()
    }

    /// The dialect of that id.
    pub fn get(&self, id: &str) -> Option<&'static Dialect> {
        self.dialects.get(id).copied()
    }

    /// The dialect that opens this URL.
    ///
    /// # Errors
    /// [`ErrorKind::Config`]: lists what is registered and says how to add what is missing.
    pub fn for_url(&self, url: &ConnUrl) -> Result<&'static Dialect, Error> {
        let scheme = url.scheme();
        if let Some(dialect) = self.iter().find(|d| d.url_schemes().contains(&scheme)) {
            return Ok(dialect);
        }
        let known: Vec<String> =
            self.iter().flat_map(Dialect::url_schemes).map(|s| format!("{s}://")).collect();
        if known.is_empty() {
            return Err(Error::new(ErrorKind::Config, format!("no dialect is registered, so {scheme}:// cannot be opened"))
                .hint(
                    "turn on a feature of the dbagent crate (such as `sqlite`), or pass one with .dialect(&DIALECT). \
                     If a dialect crate is in the build, name it in the source (`use dbagent_sqlite as _;`): a crate \
                     that nobody names is not linked. Two versions of dbagent-core in `cargo tree -d` have two registries.",
                ));
        }
        let feature = feature_of(scheme);
        let hint = match feature {
            Some(feature) => format!("build with the feature `{feature}`"),
            None => "check the scheme; a dialect of your own is passed with .dialect(&DIALECT), and two versions of \
                     dbagent-core in `cargo tree -d` have two registries"
                .to_owned(),
        };
        Err(Error::new(ErrorKind::Config, format!("no dialect opens {scheme}://"))
            .with("registered", known.join(", "))
            .hint(hint))
    }
}

/// The feature of the umbrella that brings a well-known scheme.
fn feature_of(scheme: &str) -> Option<&'static str> {
    Some(match scheme {
        "sqlite" | "sqlite3" | "file" => "sqlite",
        "postgres" | "postgresql" => "postgres",
        "mysql" => "mysql",
        "mariadb" => "mariadb",
        "duckdb" => "duckdb",
        "mongodb" | "mongodb+srv" => "mongodb",
        "neo4j" | "neo4j+s" | "neo4j+ssc" | "bolt" | "bolt+s" | "bolt+ssc" => "neo4j",
        "elasticsearch" => "elasticsearch",
        "opensearch" => "opensearch",
        _ => return None,
    })
}
