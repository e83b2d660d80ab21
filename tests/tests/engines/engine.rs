//! The engines, and what comes back from them in a form that can be compared.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dbagent::Answer;
use dbagent::artifact::Artifact;
use dbagent::rows::Cell;
use tempfile::TempDir;

/// An engine that has the sample.
#[derive(Debug, Clone)]
pub(crate) struct Engine {
    pub(crate) id: &'static str,
    pub(crate) url: String,
    /// Where its file is, if that was made for it.
    _folder: Option<Arc<TempDir>>,
}

impl Engine {
    /// At an address.
    pub(crate) fn at(id: &'static str, url: String) -> Self {
        Self { id, url, _folder: None }
    }
}

/// The servers beside SQLite, each with the variable that says where its sample is.
const SERVERS: &[(&str, &str)] = &[
    ("postgres", "DBAGENT_TEST_POSTGRES_READER_URL"),
    ("mysql", "DBAGENT_TEST_MYSQL_READER_URL"),
    ("mariadb", "DBAGENT_TEST_MARIADB_READER_URL"),
];

/// SQLite, to which the others are compared.
pub(crate) fn sqlite() -> Engine {
    Engine::at("sqlite", format!("sqlite:///{}", file().display()))
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/chinook/chinook.sqlite")
}

/// The others that are there.
pub(crate) fn others() -> Vec<Engine> {
    let built = |id: &str| dbagent::BUILT_WITH.contains(&id);
    let built = SERVERS.iter().filter(|(id, _)| built(id));
    let servers = built.filter_map(|(id, variable)| Some(Engine::at(id, address(id, variable)?)));
    servers.chain(duckdb()).collect()
}

#[cfg(feature = "duckdb")]
fn duckdb() -> Vec<Engine> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chinook.duckdb");
    crate::duck::fill(&file(), &path);
    vec![Engine {
        id: "duckdb",
        url: format!("duckdb:///{}", path.display()),
        _folder: Some(Arc::new(folder)),
    }]
}

#[cfg(not(feature = "duckdb"))]
fn duckdb() -> Vec<Engine> {
    missing("duckdb", "this program was built without its library").into_iter().collect()
}

/// Where a server is. One that is not there is printed, and is an error where it is required.
pub(crate) fn address(id: &str, variable: &str) -> Option<String> {
    std::env::var(variable).ok().or_else(|| missing(id, &format!("{variable} is not set")))
}

#[expect(clippy::print_stdout, reason = "whoever runs the tests counts what was skipped")]
fn missing<T>(id: &str, why: &str) -> Option<T> {
    let required = std::env::var("DBAGENT_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name.trim() == id), "DBAGENT_REQUIRE names {id}: {why}");
    println!("SKIPPED {id}: {why}");
    None
}

/// The rows of the last query of an answer, as texts that mean the same on every engine.
pub(crate) fn rows(answer: &Answer) -> Vec<Vec<String>> {
    let last = answer.artifacts.iter().rev().find_map(|(_, artifact)| match artifact {
        Artifact::Rows(rows) => Some(rows),
        _ => None,
    });
    let Some(last) = last else { return Vec::new() };
    let mut rows = Vec::new();
    for batch in &last.batches {
        for row in 0..batch.num_rows() {
            rows.push((0..batch.num_columns()).map(|column| plain(&Cell::at(batch, column, row))).collect());
        }
    }
    rows
}

/// A value without what engines do differently: decimals and floats, times with and without a fraction.
fn plain(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Null => "NULL".to_owned(),
        cell => plain_text(&cell.to_text()),
    }
}

/// The same of a text.
pub(crate) fn plain_text(text: &str) -> String {
    if text == "NULL" {
        return text.to_owned();
    }
    if let Ok(number) = text.parse::<f64>() {
        return format!("{number:.6}");
    }
    // 2009-01-01 00:00:00 and 2009-01-01T00:00:00.000000 are the same moment.
    let time = text.replacen('T', " ", 1);
    let time = time.split_once('.').map_or(time.as_str(), |(before, fraction)| {
        if fraction.chars().all(|c| c == '0') { before } else { time.as_str() }
    });
    let looks_like_a_time = time.len() == 19 && time.chars().all(|c| c.is_ascii_digit() || "-: ".contains(c));
    if looks_like_a_time { time.to_owned() } else { format!("“{text}”") }
}

/// Whether rows are the same, as far as engines can be: an average of whole numbers has four decimals on MySQL
/// and MariaDB (`div_precision_increment`).
pub(crate) fn same(left: &[Vec<String>], right: &[Vec<String>]) -> bool {
    const HALF_OF_THE_FOURTH: f64 = 0.000_051;
    let value = |(left, right): (&String, &String)| match (left.parse::<f64>(), right.parse::<f64>()) {
        (Ok(left), Ok(right)) => (left - right).abs() <= HALF_OF_THE_FOURTH,
        _ => left == right,
    };
    let row = |(left, right): (&Vec<String>, &Vec<String>)| {
        left.len() == right.len() && left.iter().zip(right).all(value)
    };
    left.len() == right.len() && left.iter().zip(right).all(row)
}
