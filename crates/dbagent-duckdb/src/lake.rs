//! A data lake: a folder whose Parquet, CSV and JSON files are tables.
//!
//! The files become views of a database in memory, which is then confined to the folder. Nothing of a
//! request names a file: statements see tables. When files come, go or change, the next call sees it and
//! the database is made anew.

mod group;
mod name;
mod scan;

use std::path::{Path, PathBuf};

use dbagent_core::{Error, ErrorKind, Result};
use duckdb::Connection;

use crate::connect::Literal;
use crate::error::{Phase, exception, translate};
use crate::file::about;
use crate::ident::Ident;
use group::{Group, Layout};
use scan::{DataFile, Format, Scan};

/// Files that a comment names one by one.
const NAMED: usize = 3;

/// A folder of data files, as it was found.
#[derive(Debug)]
pub(crate) struct Lake {
    folder: PathBuf,
    scan: Scan,
    tables: std::sync::OnceLock<Vec<LakeTable>>,
}

/// A table of a lake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LakeTable {
    pub(crate) name: String,
    /// Paths below the folder.
    files: Vec<String>,
    format: Format,
    layout: Layout,
    /// Rows by the footers of the files, where they have such.
    pub(crate) rows: Option<u64>,
    /// Files that belong here and cannot be read, and why.
    broken: Vec<(String, String)>,
}

impl Lake {
    /// Looks through a folder.
    ///
    /// # Errors
    /// [`ErrorKind::DatabaseNotFound`], [`ErrorKind::NotADatabase`], [`ErrorKind::Permission`],
    /// [`ErrorKind::TooLarge`] for a folder of too many files.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let found = std::fs::canonicalize(folder).map_err(|e| {
            let (kind, message) = match e.kind() {
                std::io::ErrorKind::PermissionDenied => (ErrorKind::Permission, "the folder may not be entered"),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                    (ErrorKind::DatabaseNotFound, "there is no such folder")
                }
                _ => (ErrorKind::Io, "the folder cannot be read"),
            };
            about(folder, kind, message)
                .hint("a URL that ends in a slash names a folder of data files; a database file has no slash at its end")
                .source(e)
        })?;
        if !found.is_dir() {
            return Err(about(
                folder,
                ErrorKind::NotADatabase,
                "the URL ends in a slash, and what it names is no folder",
            )
            .hint("leave out the slash to open a database file"));
        }
        let scan = Scan::of(&found)?;
        Ok(Self { folder: found, scan, tables: std::sync::OnceLock::new() })
    }

    /// Whether files came, went or changed since.
    ///
    /// # Errors
    /// As opening.
    pub(crate) fn has_changed(&self) -> Result<bool> {
        Ok(Scan::of(&self.folder)? != self.scan)
    }

    /// The folder, without links in its path.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The tables, once they are defined.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &LakeTable> {
        self.tables.get().into_iter().flatten()
    }

    /// Defines the tables in a database. A file that cannot be read takes no other with it.
    ///
    /// # Errors
    /// When no file at all can be read, or when the engine fails for another reason.
    pub(crate) fn define(&self, connection: &Connection) -> Result<()> {
        let maker = Maker { folder: &self.folder, connection };
        let mut tables = Vec::new();
        for group in group::groups(&self.scan.files, |a, b| maker.same_columns(a, b)) {
            tables.push(maker.table(group));
        }
        name::distinct(&mut tables);
        for table in &tables {
            maker.view(table)?;
        }
        if tables.iter().all(|t| t.files.is_empty())
            && let Some((file, why)) = tables.iter().flat_map(|t| &t.broken).next()
        {
            return Err(about(&self.folder, ErrorKind::Corrupt, "no file in the folder can be read")
                .with("first file", file)
                .with("why", why)
                .hint("repair or remove the file"));
        }
        // Set once: a lake is defined in one database.
        _ = self.tables.set(tables);
        Ok(())
    }

    /// Lets the database read below the folder, and nowhere else once files are out of reach.
    ///
    /// # Errors
    /// What the engine says.
    pub(crate) fn confine(&self, connection: &Connection) -> Result<()> {
        let folder = format!("{}/", self.folder.to_string_lossy().trim_end_matches('/'));
        let sql = format!("SET GLOBAL allowed_directories = [{}]", Literal(&folder));
        connection.execute_batch(&sql).map_err(|e| translate(e, Phase::Open))
    }
}

impl LakeTable {
    /// What the table is made of, in one line.
    pub(crate) fn comment(&self) -> String {
        let mut text = match self.files.as_slice() {
            [] => "no file".to_owned(),
            [one] => format!("file {one}"),
            files => {
                let shown: Vec<&str> = files.iter().take(NAMED).map(String::as_str).collect();
                let more = files.len().saturating_sub(NAMED);
                let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("{} files: {}{rest}", files.len(), shown.join(", "))
            }
        };
        if let Layout::Partitioned(keys) = &self.layout {
            text = format!("partitioned by {}; {text}", keys.join(", "));
        }
        if let Some((file, _)) = self.broken.first() {
            text = format!("{text}; INCOMPLETE: {file} cannot be read");
        }
        text
    }

    /// What else matters.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = vec![format!("read from {} files", self.format)];
        notes.extend(
            self.broken.iter().map(|(file, why)| format!("{file} cannot be read and is left out: {why}")),
        );
        notes
    }
}

/// Asks the engine about files and makes views of them.
struct Maker<'a> {
    folder: &'a Path,
    connection: &'a Connection,
}

impl Maker<'_> {
    /// The files of a group that can be read, as a table.
    fn table(&self, group: Group<'_>) -> LakeTable {
        let mut table = LakeTable {
            name: group.name,
            files: Vec::new(),
            format: group.format,
            layout: group.layout,
            rows: None,
            broken: Vec::new(),
        };
        for file in group.files {
            match self.columns(file) {
                Ok(_) => table.files.push(file.path.clone()),
                Err(why) => table.broken.push((file.path.clone(), why)),
            }
        }
        if table.format == Format::Parquet && !table.files.is_empty() {
            table.rows = self.footers(&table.files).ok();
        }
        table
    }

    /// Whether two files have the same columns, by name and type.
    fn same_columns(&self, a: &DataFile, b: &DataFile) -> bool {
        matches!((self.columns(a), self.columns(b)), (Ok(a), Ok(b)) if a == b)
    }

    /// The columns of a file; the engine's words where it cannot be read.
    fn columns(&self, file: &DataFile) -> Result<Vec<(String, String)>, String> {
        let sql =
            format!("DESCRIBE SELECT * FROM {}", self.reader(file.format, &Layout::Plain, &[&file.path]));
        let describe = || -> duckdb::Result<Vec<(String, String)>> {
            self.connection.prepare(&sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        describe().map_err(|e| self.words(&e))
    }

    /// The rows of Parquet files, by their footers.
    fn footers(&self, files: &[String]) -> duckdb::Result<u64> {
        let paths: Vec<&str> = files.iter().map(String::as_str).collect();
        let sql = format!("SELECT sum(num_rows)::BIGINT FROM parquet_file_metadata({})", self.list(&paths));
        self.connection.query_row(&sql, [], |row| row.get::<_, i64>(0)).map(i64::unsigned_abs)
    }

    /// Makes the table. One of which no file can be read is there all the same, and says so when it is read.
    fn view(&self, table: &LakeTable) -> Result<()> {
        let files: Vec<&str> = table.files.iter().map(String::as_str).collect();
        let query = match table.broken.first() {
            Some((file, why)) if files.is_empty() => {
                let message = format!("the file {file} cannot be read: {why}");
                format!("SELECT error({}) AS error", Literal(&message))
            }
            _ => format!("SELECT * FROM {}", self.reader(table.format, &table.layout, &files)),
        };
        let sql = format!("CREATE VIEW {} AS {query}", Ident(&table.name));
        self.connection.execute_batch(&sql).map_err(|e| {
            let words = self.words(&e);
            Error::new(
                ErrorKind::Corrupt,
                format!("the files of the table {} do not go together: {words}", table.name),
            )
            .op("open")
            .with("folder", self.folder.display())
            .hint("repair them, or put files of different columns under different names")
            .source(e)
        })
    }

    /// The engine's words, in short, without the path of the folder: only what is in it has names here.
    fn words(&self, e: &duckdb::Error) -> String {
        let message = exception(e).message;
        let first = message.lines().next().unwrap_or_default();
        first.replace(&*format!("{}/", self.folder.to_string_lossy()), "").chars().take(300).collect()
    }

    /// The call that reads files of one format.
    fn reader(&self, format: Format, layout: &Layout, files: &[&str]) -> String {
        let hive = matches!(layout, Layout::Partitioned(_));
        // Columns of several files go together by name.
        let by_name = files.len() > 1;
        let function = match format {
            Format::Parquet => "read_parquet",
            Format::Csv => "read_csv",
            Format::Json => "read_json",
        };
        format!("{function}({}, hive_partitioning = {hive}, union_by_name = {by_name})", self.list(files))
    }

    fn list(&self, files: &[&str]) -> String {
        let paths: Vec<String> = files
            .iter()
            .map(|f| Literal(&as_pattern(&self.folder.join(f).to_string_lossy())).to_string())
            .collect();
        format!("[{}]", paths.join(", "))
    }
}

/// A path as a pattern that only it matches.
fn as_pattern(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        match c {
            '*' | '?' | '[' => {
                out.push('[');
                out.push(c);
                out.push(']');
            }
            c => out.push(c),
        }
    }
    out
}
