//! Each thing that can be wrong with a file has a kind of its own and says what to do.

use std::path::Path;
use std::process::Command;

use dbagent_core::{Error, ErrorKind};
use dbagent_sqlite::rusqlite::Connection;

use crate::support::{Ran, Scratch, open, run, target};

async fn refused(file: &Path) -> Error {
    let e = open(target(file)).await.map(|_| ()).unwrap_err();
    assert!(e.hint_text().is_some(), "no hint: {e}");
    e
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_file_is_never_created_and_near_names_are_told() {
    let scratch = Scratch::new();
    let missing = scratch.folder.path().join("scratsh.db");
    let e = refused(&missing).await;
    assert_eq!(e.kind(), ErrorKind::DatabaseNotFound, "{e}");
    assert!(e.hint_text().unwrap().contains("did you mean scratch.db?"), "{:?}", e.hint_text());
    assert!(!missing.exists());
    assert_eq!(refused(&scratch.file.join("x.db")).await.kind(), ErrorKind::DatabaseNotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_database_says_what_it_is() {
    let scratch = Scratch::new();
    let folder = scratch.folder.path();
    assert_eq!(refused(folder).await.kind(), ErrorKind::IsDirectory);

    let write = |name: &str, bytes: &[u8]| {
        let file = folder.join(name);
        std::fs::write(&file, bytes).unwrap();
        file
    };
    let noise: Vec<u8> =
        (0..8_192_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0]).collect();
    let mut zip = noise.clone();
    zip[..4].copy_from_slice(b"PK\x03\x04");
    for (file, kind) in [
        (write("text.db", b"hello"), ErrorKind::NotADatabase),
        (write("long text.db", &b"hello world, ".repeat(1_000)), ErrorKind::NotADatabase),
        (write("zip.db", &zip), ErrorKind::NotADatabase),
        (write("noise.db", &noise), ErrorKind::Encrypted),
        (write("half.db", b"SQLite for"), ErrorKind::NotADatabase),
    ] {
        let e = refused(&file).await;
        assert_eq!(e.kind(), kind, "{}: {e}", file.display());
    }
    // SQLite takes an empty file for an empty database, and so do we.
    let session = open(target(&write("empty.db", b""))).await.unwrap();
    assert!(run(&session, "SELECT * FROM sqlite_schema").await.rows().is_empty());
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_pipe_is_not_waited_for() {
    let scratch = Scratch::new();
    let pipe = scratch.folder.path().join("pipe.db");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_eq!(refused(&pipe).await.kind(), ErrorKind::NotADatabase);
}

/// Damages bytes of a file from `start` on.
fn damage(file: &Path, start: usize, length: usize) {
    let mut bytes = std::fs::read(file).unwrap();
    for byte in bytes.iter_mut().skip(start).take(length) {
        *byte = 0xee;
    }
    std::fs::write(file, bytes).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_file_is_corrupt_at_once_or_when_it_is_read() {
    let scratch = Scratch::new();
    damage(&scratch.file, 100, 400);
    assert_eq!(refused(&scratch.file).await.kind(), ErrorKind::Corrupt);

    let scratch = Scratch::with(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
         INSERT INTO t SELECT i, hex(zeroblob(400)) FROM n;
         CREATE TABLE ok (x); INSERT INTO ok VALUES (1)",
    );
    let pages = std::fs::metadata(&scratch.file).unwrap().len() / 4_096;
    damage(&scratch.file, 4_096 * 6, 4_096 * usize::try_from(pages - 8).unwrap());
    let session = scratch.session().await;
    let e = run(&session, "SELECT sum(length(body)) FROM t").await.error();
    assert_eq!(e.kind(), ErrorKind::Corrupt, "{e}");
    assert!(e.hint_text().unwrap().contains("backup"), "{e:?}");
    assert_eq!(run(&session, "SELECT 1").await.rows(), [["1"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_deleted_truncated_or_replaced_meanwhile_is_noticed() {
    let scratch = Scratch::new();
    let session = scratch.session().await;
    run(&session, "SELECT * FROM users").await.rows();
    std::fs::remove_file(&scratch.file).unwrap();
    let e = run(&session, "SELECT * FROM users").await.error();
    assert_eq!(e.kind(), ErrorKind::DatabaseNotFound, "{e}");

    // Another file in its place is read, not the one that nobody sees any more.
    dbagent_sqlite::testing::create_database(
        &scratch.file,
        "CREATE TABLE users (fresh); INSERT INTO users VALUES ('new')",
    )
    .unwrap();
    assert_eq!(run(&session, "SELECT fresh FROM users").await.rows(), [["new"]]);
    let newer = scratch.folder.path().join("newer.db");
    dbagent_sqlite::testing::create_database(
        &newer,
        "CREATE TABLE users (fresh); INSERT INTO users VALUES ('newer')",
    )
    .unwrap();
    std::fs::rename(&newer, &scratch.file).unwrap();
    assert_eq!(run(&session, "SELECT fresh FROM users").await.rows(), [["newer"]]);

    let scratch = Scratch::new();
    let session = scratch.session().await;
    run(&session, "SELECT * FROM users").await.rows();
    let file = std::fs::OpenOptions::new().write(true).open(&scratch.file).unwrap();
    file.set_len(5_000).unwrap();
    match run(&session, "SELECT * FROM orders").await {
        Ran::Failed(e) => assert_eq!(e.kind(), ErrorKind::Corrupt, "{e}"),
        other => panic!("{other:?}"),
    }
    file.set_len(0).unwrap();
    match run(&session, "SELECT * FROM orders").await {
        Ran::Failed(e) => assert_eq!(e.kind(), ErrorKind::UnknownObject, "{e}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wal_database_is_read_beside_its_writer_and_leaves_what_is_documented() {
    let scratch = Scratch::with("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)");
    let names = || {
        let mut names: Vec<String> = std::fs::read_dir(scratch.folder.path())
            .unwrap()
            .map(|f| f.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(), ["scratch.db"]);
    let before = std::fs::read(&scratch.file).unwrap();
    let session = scratch.session().await;
    assert_eq!(run(&session, "SELECT x FROM t").await.rows(), [["1"]]);
    assert_eq!(names(), ["scratch.db", "scratch.db-shm", "scratch.db-wal"]);
    session.close().await;
    drop(session);
    assert_eq!(std::fs::read(&scratch.file).unwrap(), before, "the database itself is untouched");
}

#[tokio::test(flavor = "multi_thread")]
async fn immutable_is_read_without_side_files_on_the_word_of_the_host() {
    let scratch = Scratch::with("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)");
    let odd = scratch.folder.path().join("a b%3f#&ü.db");
    std::fs::rename(&scratch.file, &odd).unwrap();
    let escaped: Vec<String> = odd.to_str().unwrap().bytes().map(|b| format!("%{b:02X}")).collect();
    let escaped = escaped.concat();
    let url = dbagent_core::ConnUrl::parse(&format!("sqlite:///{escaped}?immutable=1")).unwrap();
    let session = open(dbagent_core::Target::new("odd", url)).await.unwrap();
    assert_eq!(run(&session, "SELECT x FROM t").await.rows(), [["1"]]);
    let count = std::fs::read_dir(scratch.folder.path()).unwrap().count();
    assert_eq!(count, 1, "nothing was made beside it");
}

/// A database whose last writer died in the middle of a transaction.
fn interrupted(scratch: &Scratch) {
    let writer = scratch.writer();
    writer.execute_batch("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE").unwrap();
    writer
        .execute_batch(
            "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
             INSERT INTO users (id, data) SELECT i, hex(zeroblob(500)) FROM n",
        )
        .unwrap();
    let folder = scratch.folder.path();
    // What a crash leaves is a copy of the files as they are now.
    std::fs::copy(&scratch.file, folder.join("crashed.db")).unwrap();
    std::fs::copy(folder.join("scratch.db-journal"), folder.join("crashed.db-journal")).unwrap();
    writer.execute_batch("ROLLBACK").unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_write_must_be_rolled_back_by_somebody_who_may_write() {
    let scratch = Scratch::new();
    interrupted(&scratch);
    let crashed = scratch.folder.path().join("crashed.db");
    let e = refused(&crashed).await;
    assert_eq!(e.kind(), ErrorKind::Unwritable, "{e}");
    assert!(e.hint_text().unwrap().contains("rolled back"), "{:?}", e.hint_text());
    let healed: i64 = Connection::open(&crashed)
        .unwrap()
        .query_row("SELECT count(*) FROM users", [], |r| r.get(0))
        .unwrap();
    assert_eq!(healed, 3);
    let session = open(target(&crashed)).await.unwrap();
    assert_eq!(run(&session, "SELECT count(*) FROM users").await.rows(), [["3"]]);
}

/// What a user without rights sees. Tests often run as root, to whom no right is missing, so the test starts
/// itself again as a user who has none.
#[cfg(unix)]
#[test]
fn missing_rights_are_named() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;

    const CHILD: &str = "DBAGENT_SQLITE_WITHOUT_RIGHTS";
    const NOBODY: u32 = 65_534;
    if let Ok(folder) = std::env::var(CHILD) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let folder = Path::new(&folder);
            let e = refused(&folder.join("private.db")).await;
            assert_eq!(e.kind(), ErrorKind::Permission, "{e}");
            let e = refused(&folder.join("locked").join("x.db")).await;
            assert_eq!(e.kind(), ErrorKind::Permission, "{e}");
            let e = refused(&folder.join("wal.db")).await;
            assert_eq!(e.kind(), ErrorKind::Unwritable, "{e}");
            assert!(e.hint_text().unwrap().contains("immutable=1"), "{:?}", e.hint_text());
            let url = format!("sqlite:///{}?immutable=1", folder.join("wal.db").display());
            let url = dbagent_core::ConnUrl::parse(&url).unwrap();
            let session = open(dbagent_core::Target::new("wal", url)).await.unwrap();
            assert_eq!(run(&session, "SELECT x FROM t").await.rows(), [["1"]]);
            // A database that is not in WAL mode needs no right to write anywhere.
            let session = open(target(&folder.join("plain.db"))).await.unwrap();
            assert_eq!(run(&session, "SELECT x FROM t").await.rows(), [["2"]]);
        });
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let set = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let make = |name: &str, sql: &str, mode: u32| {
        let file = folder.path().join(name);
        dbagent_sqlite::testing::create_database(&file, sql).unwrap();
        set(&file, mode);
    };
    make("private.db", "CREATE TABLE t (x)", 0o000);
    make("wal.db", "PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)", 0o444);
    make("plain.db", "CREATE TABLE t (x); INSERT INTO t VALUES (2)", 0o444);
    std::fs::create_dir(folder.path().join("locked")).unwrap();
    set(&folder.path().join("locked"), 0o000);
    let program = folder.path().join("test");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    set(&program, 0o755);
    set(folder.path(), 0o555);
    let mut child = Command::new(&program);
    child.args(["--exact", "files::missing_rights_are_named", "--nocapture"]).env(CHILD, folder.path());
    child.current_dir("/");
    if Command::new("id").arg("-u").output().unwrap().stdout == b"0\n" {
        child.uid(NOBODY).gid(NOBODY);
    }
    let output = child.output().unwrap();
    set(folder.path(), 0o755);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
