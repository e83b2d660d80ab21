//! The sample database, Chinook, as each kind of server takes it.

use std::io::Read as _;

use flate2::read::GzDecoder;
use sha2::{Digest as _, Sha256};

use crate::error::{Doing as _, Result};
use crate::script::statements;
use crate::secrets::hex;

const POSTGRES: &[u8] = include_bytes!("../../data/chinook/chinook-postgres.sql.gz");
const MYSQL: &[u8] = include_bytes!("../../data/chinook/chinook-mysql.sql.gz");

/// The database that holds the sample, on every server.
pub(crate) const DATABASE: &str = "chinook";

/// The statements that fill an empty database on Postgres.
pub(crate) fn postgres() -> Result<Vec<String>> {
    filling(POSTGRES)
}

/// The statements that fill an empty database on MySQL or MariaDB.
///
/// They are written for `NO_BACKSLASH_ESCAPES`: a few titles hold a backslash, which the other
/// scripts, and so the other engines, keep.
pub(crate) fn mysql() -> Result<Vec<String>> {
    filling(MYSQL)
}

/// Names this sample: another one makes other golden data folders.
pub(crate) fn fingerprint() -> String {
    let mut hasher = Sha256::new();
    hasher.update(POSTGRES);
    hasher.update(MYSQL);
    let digest = hex(&hasher.finalize());
    digest.get(..8).unwrap_or_default().to_owned()
}

fn filling(script: &[u8]) -> Result<Vec<String>> {
    let mut text = String::new();
    GzDecoder::new(script).read_to_string(&mut text).doing(|| "the sample's script is damaged".into())?;
    let mut all = statements(&text);
    // The database is made, and named, by whoever loads it.
    all.retain(|statement| {
        let is =
            |start: &str| statement.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
        !(is("DROP DATABASE") || is("CREATE DATABASE") || is("USE "))
    });
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_scripts_make_eleven_tables_and_fill_them_all() {
        for statements in [postgres().unwrap(), mysql().unwrap()] {
            let count =
                |start: &str| statements.iter().filter(|statement| statement.starts_with(start)).count();
            assert_eq!(count("CREATE TABLE"), 11);
            assert_eq!(count("INSERT INTO"), 24);
            assert_eq!(statements.iter().filter(|statement| statement.contains("DATABASE")).count(), 0);
        }
    }
}
