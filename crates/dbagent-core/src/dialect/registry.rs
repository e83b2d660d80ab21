//! Which dialects there are.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Dialect, Magic};
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

    /// The dialect that a file is a database of: by its first bytes, [`FILE_HEAD`] of them or as many as it
    /// has, else by the end of its name. `None` when no registered dialect declares such files.
    pub fn for_file(&self, path: &Path, head: &[u8]) -> Option<&'static Dialect> {
        let extension = extension(path);
        let by_magic = self.iter().find(|d| d.file_magic().iter().any(|m| m.is_in(head)));
        // What a file says of itself is stronger than its name, also where nobody here can read it.
        if by_magic.is_some() || well_known_magic(head).is_some() {
            return by_magic;
        }
        self.iter().find(|d| d.file_extensions().contains(&extension.as_str()))
    }

    /// The feature that would open a file which [`for_file`](Self::for_file) knows nothing of, if it is a
    /// well-known kind.
    pub fn feature_for_file(path: &Path, head: &[u8]) -> Option<&'static str> {
        let extension = extension(path);
        let by_name = || FILES.iter().find(|f| f.extensions.contains(&extension.as_str()));
        well_known_magic(head).or_else(by_name).map(|f| f.feature)
    }
}

/// Bytes of a file's beginning that are enough to tell what it is.
pub const FILE_HEAD: usize = 64;

fn extension(path: &Path) -> String {
    path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase()
}

/// A kind of file that a feature of the umbrella opens.
struct WellKnown {
    feature: &'static str,
    extensions: &'static [&'static str],
    magic: Magic,
}

/// Only for hints about what a build lacks: what a dialect opens, it says itself.
const FILES: &[WellKnown] = &[
    WellKnown {
        feature: "sqlite",
        extensions: &["db", "db3", "sqlite", "sqlite3"],
        magic: Magic::new(0, b"SQLite format 3\0"),
    },
    WellKnown { feature: "duckdb", extensions: &["duckdb", "ddb"], magic: Magic::new(8, b"DUCK") },
];

fn well_known_magic(head: &[u8]) -> Option<&'static WellKnown> {
    FILES.iter().find(|f| f.magic.is_in(head))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::OpenContext;
    use crate::{ParseContext, Parsed, Request, Result, Session, Target};

    fn parse(_: &Request, _: &ParseContext) -> Result<Parsed> {
        Err(Error::new(ErrorKind::Syntax, "no language"))
    }

    fn open<'a>(
        _: &'a Target,
        _: &'a OpenContext,
    ) -> futures_core::future::BoxFuture<'a, Result<Box<dyn Session>>> {
        Box::pin(async { Err(Error::new(ErrorKind::Connection, "nobody is there")) })
    }

    static NOTES: Dialect = Dialect::new("notes", parse, open)
        .files(&["note", "db"], &[Magic::new(2, b"NOTE"), Magic::new(0, b"nt")]);
    static OTHER: Dialect = Dialect::new("other", parse, open).files(&["oth"], &[Magic::new(0, b"OTHER")]);

    #[test]
    fn a_file_is_what_its_bytes_say_and_else_what_its_name_says() {
        let registry = Registry::empty().with(&NOTES).with(&OTHER);
        let id = |path: &str, head: &[u8]| registry.for_file(Path::new(path), head).map(Dialect::id);
        assert_eq!(id("x.txt", b"..NOTE"), Some("notes"));
        assert_eq!(id("x.txt", b"nt"), Some("notes"));
        assert_eq!(id("x.oth", b"..NOTE"), Some("notes"), "bytes are stronger than the name");
        assert_eq!(id("x.OTH", b""), Some("other"));
        assert_eq!(id("x.txt", b"..NOT"), None);
        assert_eq!(id("oth", b""), None, "a name is no end of a name");
        // A file that says that it is something else is not opened because of its name.
        assert_eq!(id("x.db", b"SQLite format 3\0"), None);
        assert_eq!(id("x.db", b""), Some("notes"));
    }

    #[test]
    fn what_a_build_lacks_is_named() {
        let feature = |path: &str, head: &[u8]| Registry::feature_for_file(Path::new(path), head);
        assert_eq!(feature("x.db", b"12345678DUCK"), Some("duckdb"));
        assert_eq!(feature("x.ddb", b""), Some("duckdb"));
        assert_eq!(feature("x.sqlite3", b""), Some("sqlite"));
        assert_eq!(feature("x.txt", b"hello"), None);
    }
}
