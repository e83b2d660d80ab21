//! What SQLite itself stops on a hardened connection, with the guard out of the way.

use std::collections::BTreeSet;
use std::path::Path;

use dbagent_sqlite::testing::{RawHardened, raw_hardened};

use crate::corpus::rows;
use crate::support::{Scratch, call};

/// Deny rows that run on the hardened connection all the same: only the judge stops them. They read, or do
/// nothing that anybody could notice; the test below holds them to that. The list can only shrink: a row
/// that no longer runs must be taken off, and a new one must not be put on without a reason.
const STILL_RUN: &[(&str, &str)] = &[
    ("own-088", "two reads, one after the other"),
    ("own-098", "a variable with an odd name"),
    ("own-101", "a variable with an odd name"),
    ("own-114", "nothing"),
    ("own-115", "nothing"),
    ("own-116", "nothing"),
    ("own-117", "nothing"),
    ("own-173", "the listing of a program that is not run"),
    ("own-296", "the common table expression is not used, so SQLite does not look at it"),
    ("own-339", "a text of 1.8 MB, under the limit of the connection"),
    ("own-341", "raw storage is data, read"),
    ("own-342", "raw storage is data, read"),
    ("own-343", "raw storage is data, read"),
    ("own-344", "raw storage is data, read"),
    ("sl-112", "nothing"),
];

/// Everything that a statement could leave behind: the bytes and names of files, settings, databases.
fn fingerprint(door: &RawHardened, file: &Path) -> Vec<String> {
    let mut print = vec![format!("{:?}", std::fs::read(file).map(|b| (b.len(), checksum(&b))))];
    for folder in [file.parent().expect("a folder"), Path::new(".")] {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .expect("a folder")
            .map(|f| f.expect("a file").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        print.push(format!("{names:?}"));
    }
    for pragma in [
        "query_only",
        "trusted_schema",
        "cell_size_check",
        "journal_mode",
        "locking_mode",
        "synchronous",
        "foreign_keys",
        "recursive_triggers",
        "writable_schema",
        "cache_size",
        "temp_store",
        "mmap_size",
        "busy_timeout",
        "user_version",
        "application_id",
        "schema_version",
        "ignore_check_constraints",
        "legacy_alter_table",
        "secure_delete",
        "max_page_count",
    ] {
        print.push(format!("{pragma} {:?}", door.value(&format!("PRAGMA {pragma}")).ok()));
    }
    for sql in [
        "SELECT group_concat(name || ':' || file) FROM pragma_database_list WHERE name <> 'temp'",
        "SELECT 'a' LIKE 'A'",
        "SELECT count(*) || total(id) FROM users",
        "SELECT group_concat(name || type || ifnull(sql, '')) FROM sqlite_schema",
        "SELECT count(*) FROM sqlite_temp_schema",
        "SELECT total_changes()",
    ] {
        print.push(format!("{sql} {:?}", door.value(sql).ok()));
    }
    print
}

fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, b| (sum ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn no_deny_row_leaves_a_trace_and_what_still_runs_is_known() {
    let mut ran = BTreeSet::new();
    for row in rows().into_iter().filter(|r| !r.allow) {
        let scratch = Scratch::new();
        // What the rows drop and rebuild is there, so that nothing succeeds for want of an object.
        scratch.change(
            "CREATE INDEX i ON users (name); CREATE VIEW v AS SELECT 1 AS x;
             CREATE TRIGGER tr AFTER INSERT ON users BEGIN SELECT 1; END",
        );
        let mut door = raw_hardened(&scratch.target(), &call()).expect("a connection");
        door.stop_after(50_000_000).expect("a handler");
        let before = fingerprint(&door, &scratch.file);
        if door.run(&row.statement).is_ok() {
            ran.insert((row.id.clone(), row.statement.clone()));
        }
        assert_eq!(fingerprint(&door, &scratch.file), before, "{} {:?}", row.id, row.statement);
    }
    let pinned: BTreeSet<&str> = STILL_RUN.iter().map(|(id, _)| *id).collect();
    let new: Vec<_> = ran.iter().filter(|(id, _)| !pinned.contains(id.as_str())).collect();
    assert!(new.is_empty(), "these ran and are not on the list: {new:#?}");
    let gone: Vec<_> = pinned.iter().filter(|id| !ran.iter().any(|(r, _)| r == *id)).collect();
    assert!(gone.is_empty(), "these no longer run, take them off the list: {gone:?}");
}

#[test]
fn compiling_any_row_changes_nothing() {
    let scratch = Scratch::new();
    let door = raw_hardened(&scratch.target(), &call()).expect("a connection");
    let before = fingerprint(&door, &scratch.file);
    let mut compiled = 0;
    for row in rows() {
        compiled += usize::from(door.compile(&row.statement).is_ok());
        assert_eq!(fingerprint(&door, &scratch.file), before, "{} {:?}", row.id, row.statement);
    }
    assert!(compiled > 100, "{compiled}");
}
