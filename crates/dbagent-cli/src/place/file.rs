//! Database files: which kind one is, by its first bytes or its name, and the URL that opens it.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use dbagent::dialect::FILE_HEAD;
use dbagent::{Dialect, Error, ErrorKind, Registry};

/// The URL of an existing file; `None` when there is no such path.
///
/// # Errors
/// [`ErrorKind::IsDirectory`] for a folder, [`ErrorKind::NotADatabase`] for a file of no known kind,
/// [`ErrorKind::Permission`] for one that cannot be read.
pub(super) fn url_of(registry: &Registry, word: &str) -> Result<Option<String>, Error> {
    let path = Path::new(word);
    if path.is_dir() {
        return Err(Error::new(ErrorKind::IsDirectory, "this is a folder, not a database file")
            .with("path", path.display())
            .hint("name the file in it, or write a URL"));
    }
    if !path.exists() {
        return Ok(None);
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(FILE_HEAD as u64).read_to_end(&mut head));
    if let Err(e) = read {
        return Err(Error::new(ErrorKind::Permission, "the file cannot be read")
            .with("path", path.display())
            .source(e));
    }
    if let Some(dialect) = registry.for_file(path, &head) {
        let scheme = dialect.url_schemes().first().copied().unwrap_or(dialect.id());
        return Ok(Some(format!("{scheme}:///{}", escape(word))));
    }
    let kind = Error::new(
        ErrorKind::NotADatabase,
        "the file is of no kind that this build knows by its first bytes or its name",
    )
    .with("path", path.display());
    let hint = if let Some(feature) = Registry::feature_for_file(path, &head) {
        format!("build with the feature `{feature}`, which opens such files")
    } else {
        let example = registry.iter().find(|d| !d.file_extensions().is_empty()).map_or("sqlite", Dialect::id);
        format!("say which kind it is with a URL, such as {example}:///{}", escape(word))
    };
    Err(kind.hint(hint))
}

/// A path as a URL holds it.
fn escape(path: &str) -> String {
    path.replace('%', "%25").replace('?', "%3F")
}

#[cfg(test)]
mod tests {
    use dbagent::{Magic, OpenContext, ParseContext, Parsed, Request, Session, Target};

    use super::*;

    fn parse(_: &Request, _: &ParseContext) -> dbagent::Result<Parsed> {
        Err(Error::new(ErrorKind::Syntax, "no language"))
    }

    fn open<'a>(
        _: &'a Target,
        _: &'a OpenContext,
    ) -> futures_util::future::BoxFuture<'a, dbagent::Result<Box<dyn Session>>> {
        Box::pin(async { Err(Error::new(ErrorKind::Connection, "nobody is there")) })
    }

    /// A kind of database that is a file.
    static SHELF: Dialect = Dialect::new("shelf", parse, open)
        .schemes(&["bookshelf", "shelf"])
        .files(&["shelf"], &[Magic::new(2, b"SHELF")]);

    #[test]
    fn kinds_are_told_by_bytes_then_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let registry = Registry::empty().with(&SHELF);
        let url = |word: &str| url_of(&registry, word).unwrap().unwrap();
        let fails = |word: &str| url_of(&registry, word).unwrap_err();
        let odd = file("100%?.txt", b"..SHELFrest");
        assert_eq!(url(&odd), format!("bookshelf:///{}", odd.replace('%', "%25").replace('?', "%3F")));
        assert_eq!(url(&file("empty.shelf", b"")).split(':').next(), Some("bookshelf"));
        let e = fails(&file("x.txt", b"hello"));
        assert_eq!(e.kind(), ErrorKind::NotADatabase);
        assert!(e.hint_text().unwrap().contains("shelf:///"), "{e:?}");
        // A kind that another build opens.
        let e = fails(&file("x.shelf", b"12345678DUCKrest"));
        assert_eq!(e.kind(), ErrorKind::NotADatabase);
        assert!(e.hint_text().unwrap().contains("the feature `duckdb`"), "{e:?}");
        assert_eq!(fails(folder.path().to_str().unwrap()).kind(), ErrorKind::IsDirectory);
        assert_eq!(url_of(&registry, "no/such/file.db").unwrap(), None);
        // What comes out is a URL that means the same file.
        let back = dbagent::ConnUrl::parse(&url(&odd)).unwrap().decoded_rest().unwrap();
        assert_eq!(back, format!("/{odd}"));
    }
}
