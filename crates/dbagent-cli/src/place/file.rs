//! Database files: which kind one is, by its first bytes or its name, and the URL that opens it.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use dbagent::{Error, ErrorKind};

/// What is known of a kind of file.
struct Kind {
    scheme: &'static str,
    extensions: &'static [&'static str],
    /// Bytes at this place tell the kind whatever the name.
    magic: (usize, &'static [u8]),
}

const KINDS: &[Kind] = &[
    Kind {
        scheme: "sqlite",
        extensions: &["db", "db3", "sqlite", "sqlite3", "sqlitedb", "s3db", "sl3"],
        magic: (0, b"SQLite format 3\0"),
    },
    Kind { scheme: "duckdb", extensions: &["duckdb", "ddb"], magic: (8, b"DUCK") },
];

/// The URL of an existing file; `None` when there is no such path.
///
/// # Errors
/// [`ErrorKind::IsDirectory`] for a folder, [`ErrorKind::NotADatabase`] for a file of no known kind,
/// [`ErrorKind::Permission`] for one that cannot be read.
pub(super) fn url_of(word: &str) -> Result<Option<String>, Error> {
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
    let read = File::open(path).and_then(|file| file.take(32).read_to_end(&mut head));
    if let Err(e) = read {
        return Err(Error::new(ErrorKind::Permission, "the file cannot be read")
            .with("path", path.display())
            .source(e));
    }
    let by_magic = KINDS.iter().find(|kind| {
        let (at, bytes) = kind.magic;
        head.get(at..).is_some_and(|rest| rest.starts_with(bytes))
    });
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    let by_name = || KINDS.iter().find(|kind| kind.extensions.contains(&extension.as_str()));
    match by_magic.or_else(by_name) {
        Some(kind) => Ok(Some(format!("{}:///{}", kind.scheme, escape(word)))),
        None => Err(Error::new(
            ErrorKind::NotADatabase,
            "the file is of no kind that is known by its first bytes or its name",
        )
        .with("path", path.display())
        .hint(format!("say which kind it is with a URL, such as sqlite:///{}", escape(word)))),
    }
}

/// A path as a URL holds it.
fn escape(path: &str) -> String {
    path.replace('%', "%25").replace('?', "%3F")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_bytes_then_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let url = |word: &str| url_of(word).unwrap().unwrap();
        let odd = file("100%?.txt", b"SQLite format 3\0rest");
        assert_eq!(url(&odd), format!("sqlite:///{}", odd.replace('%', "%25").replace('?', "%3F")));
        assert_eq!(url(&file("x.db", b"12345678DUCKrest")).split(':').next(), Some("duckdb"));
        assert_eq!(url(&file("empty.sqlite", b"")).split(':').next(), Some("sqlite"));
        assert_eq!(url_of(&file("x.txt", b"hello")).unwrap_err().kind(), ErrorKind::NotADatabase);
        assert_eq!(url_of(folder.path().to_str().unwrap()).unwrap_err().kind(), ErrorKind::IsDirectory);
        assert_eq!(url_of("no/such/file.db").unwrap(), None);
        // What comes out is a URL that means the same file.
        let back = dbagent::ConnUrl::parse(&url(&odd)).unwrap().decoded_rest().unwrap();
        assert_eq!(back, format!("/{odd}"));
    }
}
