//! What DuckDB itself stops on a hardened connection, with the guard out of the way.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dbagent_duckdb::testing::{RawHardened, raw_hardened};

use crate::corpus::rows;
use crate::support::Scratch;

/// Deny rows that change the session of the engine all the same: only the judge stops them. What they
/// change goes with the connection, which serves one call; the test below holds them to that. The list is
/// in `docs/threat-model.md`, and it can only shrink.
const CHANGE_THE_CONNECTION: &[&str] = include!("changes.in");

/// How long a row may run before it is stopped.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// What a statement could leave behind outside the connection: bytes and names of files.
fn outside(file: &Path) -> Vec<String> {
    let mut print = vec![format!("{:?}", std::fs::metadata(file).map(|m| m.len()))];
    // Only the metadata and a copy made before are compared: opening the file here would drop its locks.
    for folder in [file.parent().expect("a folder"), Path::new(".")] {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .expect("a folder")
            .map(|f| f.expect("a file").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        print.push(format!("{names:?}"));
    }
    print
}

/// What a connection sees of itself and of the database.
fn inside(door: &RawHardened) -> Vec<String> {
    [
        "SELECT string_agg(name || '=' || coalesce(value, ''), ';' ORDER BY name) FROM duckdb_settings()",
        "SELECT string_agg(database_name || coalesce(path, ''), ';' ORDER BY database_name) FROM duckdb_databases()",
        "SELECT string_agg(concat(schema_name, '.', table_name, sql), ';' ORDER BY schema_name, table_name) FROM duckdb_tables()",
        "SELECT string_agg(concat(schema_name, '.', view_name), ';' ORDER BY schema_name, view_name) FROM duckdb_views() WHERE NOT internal",
        "SELECT string_agg(function_name, ';' ORDER BY function_name) FROM duckdb_functions() WHERE NOT internal",
        "SELECT string_agg(type_name, ';' ORDER BY type_name) FROM duckdb_types() WHERE NOT internal",
        "SELECT string_agg(concat(sequence_name, last_value), ';') FROM duckdb_sequences()",
        "SELECT string_agg(name, ';') FROM duckdb_variables()",
        "SELECT string_agg(name, ';') FROM duckdb_prepared_statements() WHERE name NOT LIKE 'duckdb_prepare_internal%'",
        "SELECT string_agg(name, ';') FROM duckdb_secrets()",
        "SELECT string_agg(extension_name, ';' ORDER BY extension_name) FROM duckdb_extensions() WHERE loaded",
        "SELECT current_schema()",
        "SELECT concat(count(*), sum(id), string_agg(name, ',')) FROM users",
    ]
    .iter()
    .map(|sql| format!("{sql} {:?}", door.value(sql).ok()))
    .collect()
}

/// Runs a text and stops it after a while.
fn run(door: &RawHardened, text: &str) -> bool {
    let done = Arc::new(AtomicBool::new(false));
    let (handle, flag) = (door.interrupt_handle(), Arc::clone(&done));
    let watchdog = std::thread::spawn(move || {
        let until = std::time::Instant::now() + PATIENCE;
        while !flag.load(Ordering::Relaxed) {
            if std::time::Instant::now() > until {
                handle.interrupt();
            }
            std::thread::park_timeout(Duration::from_millis(20));
        }
    });
    let ran = door.run(text).is_ok();
    done.store(true, Ordering::Relaxed);
    watchdog.thread().unpark();
    watchdog.join().expect("the watchdog");
    ran
}

#[test]
fn no_deny_row_leaves_a_trace_and_what_changes_the_connection_is_known() {
    let scratch = Scratch::new();
    scratch.change("CREATE SEQUENCE s1; CREATE VIEW v AS SELECT 1 AS x; CREATE MACRO m(x) AS x");
    let bytes = std::fs::read(&scratch.file).expect("bytes");
    let outer = outside(&scratch.file);
    let mut door = raw_hardened(&scratch.target()).expect("a connection");
    let before = inside(&door);
    let mut changed = BTreeSet::new();
    // A size that nothing stops is no test of what is left behind, only of the machine.
    for row in rows().into_iter().filter(|r| !r.allow && r.kind != "dos") {
        run(&door, &row.statement);
        // An open transaction of the row would hide what it did.
        _ = door.run("ROLLBACK");
        if inside(&door) != before {
            changed.insert(row.id.clone());
        }
        assert_eq!(outside(&scratch.file), outer, "{} {:?}", row.id, row.statement);
        // The next call has a connection of its own, and sees nothing of it.
        door = door.next().expect("another connection");
        for (now, then) in inside(&door).iter().zip(&before) {
            assert_eq!(now, then, "{} {:?}", row.id, row.statement);
        }
    }
    drop(door);
    assert!(std::fs::read(&scratch.file).expect("bytes") == bytes, "the file was changed");
    let pinned: BTreeSet<String> = CHANGE_THE_CONNECTION.iter().map(|id| (*id).to_owned()).collect();
    assert_eq!(changed, pinned);
}
