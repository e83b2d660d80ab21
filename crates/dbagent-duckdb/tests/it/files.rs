//! Each thing that can be wrong with a file has a kind of its own and says what to do; files are shared.

use std::path::Path;
use std::process::{Command, Stdio};

use dbagent_core::session::Verdict;
use dbagent_core::{Error, ErrorKind, Policy, Request, Rule};

use crate::support::{Ran, Scratch, call, collect, open, run, target};

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
    for (name, bytes) in
        [("text.db", &b"hello"[..]), ("empty.db", b""), ("lite.db", b"SQLite format 3\0 and more of it")]
    {
        let file = folder.join(name);
        std::fs::write(&file, bytes).unwrap();
        assert_eq!(refused(&file).await.kind(), ErrorKind::NotADatabase, "{name}");
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_pipe_is_not_waited_for() {
    let scratch = Scratch::new();
    let pipe = scratch.folder.path().join("pipe.db");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_eq!(refused(&pipe).await.kind(), ErrorKind::NotADatabase);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_or_cut_file_is_corrupt() {
    let scratch = Scratch::new();
    let bytes = std::fs::read(&scratch.file).unwrap();
    let cut = scratch.folder.path().join("cut.db");
    std::fs::write(&cut, &bytes[..20_000]).unwrap();
    assert_eq!(refused(&cut).await.kind(), ErrorKind::Corrupt);
    let mut damaged = bytes;
    for byte in damaged.iter_mut().skip(4_200).take(8_000) {
        *byte = 0xee;
    }
    let file = scratch.folder.path().join("damaged.db");
    std::fs::write(&file, damaged).unwrap();
    assert_eq!(refused(&file).await.kind(), ErrorKind::Corrupt);
}

/// The checksum by which the engine protects a block of whole words.
fn checksum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(8).map(|w| u64::from_le_bytes(w.try_into().unwrap()));
    words.fold(5_381, |sum, word| sum ^ word.wrapping_mul(0xbf58_476d_1ce4_e5b9))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_a_newer_version_says_so() {
    let scratch = Scratch::new();
    let mut bytes = std::fs::read(&scratch.file).unwrap();
    // Both headers of the database: a checksum, figures, at their end the version of the storage.
    for block in [4_096, 8_192] {
        let stored = u64::from_le_bytes(bytes[block..block + 8].try_into().unwrap());
        assert_eq!(checksum(&bytes[block + 8..block + 4_096]), stored, "the engine's checksum");
        bytes[block + 56..block + 64].copy_from_slice(&9_999_u64.to_le_bytes());
        let sum = checksum(&bytes[block + 8..block + 4_096]);
        bytes[block..block + 8].copy_from_slice(&sum.to_le_bytes());
    }
    let file = scratch.folder.path().join("newer.db");
    std::fs::write(&file, bytes).unwrap();
    let e = refused(&file).await;
    assert_eq!(e.kind(), ErrorKind::Incompatible, "{e}");
    assert!(e.to_string().contains("9999"), "{e}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_encrypted_file_says_so() {
    let scratch = Scratch::new();
    let mut bytes = std::fs::read(&scratch.file).unwrap();
    // The first flag of the main header; the engine asks for a key then.
    bytes[20] |= 1;
    let sum = checksum(&bytes[8..4_096]);
    bytes[..8].copy_from_slice(&sum.to_le_bytes());
    let file = scratch.folder.path().join("secret.db");
    std::fs::write(&file, bytes).unwrap();
    assert_eq!(refused(&file).await.kind(), ErrorKind::Encrypted);
}

const CHILD: &str = "DBAGENT_TEST_FILE";

/// Not a test of its own: another process that opens the file, says so, and waits for the end of its input.
#[test]
fn child() {
    let Ok(told) = std::env::var(CHILD) else { return };
    let (how, file) = told.split_once(' ').unwrap();
    if how == "session" {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let session = runtime.block_on(open(target(Path::new(file)))).unwrap();
        say_and_wait(true);
        drop(session);
        return;
    }
    let mode = if how == "write" {
        dbagent_duckdb::duckdb::AccessMode::ReadWrite
    } else {
        dbagent_duckdb::duckdb::AccessMode::ReadOnly
    };
    let config = dbagent_duckdb::duckdb::Config::default().access_mode(mode).unwrap();
    let opened = dbagent_duckdb::duckdb::Connection::open_with_flags(file, config);
    say_and_wait(opened.is_ok());
}

fn say_and_wait(open: bool) {
    println!("\nthe file is {}", if open { "open" } else { "closed" });
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}

/// Another process that has the file open, until it is dropped; and whether it could open it.
fn another(how: &str, file: &Path) -> (std::process::Child, bool) {
    another_with(how, file, &std::env::temp_dir())
}

/// The same, with its temporary files in a folder.
fn another_with(how: &str, file: &Path, temporary: &Path) -> (std::process::Child, bool) {
    use std::io::BufRead as _;
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "files::child", "--nocapture"])
        .env(CHILD, format!("{how} {}", file.display()))
        .env("TMPDIR", temporary)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
    let said = lines.map(Result::unwrap).find(|l| l.starts_with("the file is")).unwrap();
    (child, said.ends_with("open"))
}

fn end(mut child: std::process::Child) {
    drop(child.stdin.take());
    child.wait().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_writer_elsewhere_is_told_and_readers_share() {
    let scratch = Scratch::new();
    let (writer, wrote) = another("write", &scratch.file);
    assert!(wrote);
    let e = refused(&scratch.file).await;
    assert_eq!(e.kind(), ErrorKind::Locked, "{e}");
    end(writer);

    let (reader, read) = another("read", &scratch.file);
    assert!(read);
    let session = scratch.session().await;
    let second = scratch.session().await;
    assert_eq!(run(&session, "SELECT count(*) FROM users").await.rows(), [["3"]]);
    assert_eq!(run(&second, "SELECT count(*) FROM users").await.rows(), [["3"]]);
    // While we read, nobody writes.
    let (writer, wrote) = another("write", &scratch.file);
    assert!(!wrote);
    end(writer);
    end(reader);
    session.close().await;
    assert_eq!(run(&second, "SELECT count(*) FROM users").await.rows(), [["3"]]);
    match run(&session, "SELECT 1").await {
        Ran::Failed(e) => assert_eq!(e.kind(), ErrorKind::Connection, "{e}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_beside_the_file() {
    let scratch = Scratch::new();
    let before = std::fs::read(&scratch.file).unwrap();
    let session = scratch.session().await;
    run(&session, "SELECT count(*) FROM (SELECT i, hash(i) AS h FROM range(2000000) t(i) ORDER BY h)")
        .await
        .rows();
    run(&session, "PIVOT orders ON status USING sum(total)").await.rows();
    drop(session);
    let names: Vec<_> =
        std::fs::read_dir(scratch.folder.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert_eq!(names, ["scratch.db"]);
    assert!(std::fs::read(&scratch.file).unwrap() == before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replaced_file_is_opened_anew_unless_it_brings_other_functions() {
    let scratch = Scratch::new();
    let session = scratch.session().await;
    let other = scratch.folder.path().join("other.db");
    let replace = |sql: &str| {
        dbagent_duckdb::testing::create_database(&other, sql).unwrap();
        std::fs::rename(&other, &scratch.file).unwrap();
    };
    replace("CREATE TABLE users (id INTEGER); INSERT INTO users VALUES (7)");
    assert_eq!(run(&session, "SELECT * FROM users").await.rows(), [["7"]]);
    // What was judged on one file is judged again on the other: its names may mean something else.
    let strict = scratch.session_under(Policy::default().deny("main.secret").unwrap()).await;
    replace(
        "CREATE TABLE secret (x INTEGER); CREATE TABLE open_table (x INTEGER); CREATE VIEW v AS FROM open_table",
    );
    let Ok(Verdict::Cleared(cleared)) = strict.judge(Request::text("FROM v"), None, &call()).await else {
        panic!("not cleared");
    };
    replace(
        "CREATE TABLE secret (x INTEGER); CREATE TABLE open_table (x INTEGER); CREATE VIEW v AS FROM secret",
    );
    assert_eq!(collect(strict.read(cleared, &call()).unwrap()).await.refusal().rule, Rule::DeniedObject);
    replace("CREATE TABLE users (id INTEGER); CREATE MACRO abs(x) AS (SELECT 'mine')");
    let e = run(&session, "SELECT abs(id) FROM users").await.error();
    assert_eq!(e.kind(), ErrorKind::Conflict, "{e}");
    std::fs::remove_file(&scratch.file).unwrap();
    assert_eq!(run(&session, "SELECT * FROM users").await.error().kind(), ErrorKind::DatabaseNotFound);
}

/// The private folders among temporary files.
#[cfg(unix)]
fn private(temporary: &Path) -> std::collections::BTreeSet<std::ffi::OsString> {
    let entries = std::fs::read_dir(temporary).unwrap().map(|entry| entry.unwrap().file_name());
    entries.filter(|name| name.to_string_lossy().starts_with("dbagent-duckdb-")).collect()
}

#[cfg(unix)]
#[test]
fn the_private_folder_of_a_killed_process_is_removed_by_the_next() {
    let scratch = Scratch::new();
    let temporary = tempfile::tempdir().unwrap();
    let another = || {
        let (child, opened) = another_with("session", &scratch.file, temporary.path());
        assert!(opened);
        child
    };
    let mut killed = another();
    let left = private(temporary.path());
    assert_eq!(left.len(), 1);
    let second = another();
    assert!(private(temporary.path()).is_superset(&left), "the first is in use");
    killed.kill().unwrap();
    killed.wait().unwrap();
    end(second);
    assert_eq!(private(temporary.path()), left, "one that ends by itself leaves nothing");
    let third = another();
    assert!(private(temporary.path()).is_disjoint(&left));
    end(third);
    assert_eq!(private(temporary.path()).len(), 0);
}

/// What nobody reads any more is stopped, and gone with everything that it held.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn closing_waits_for_statements_that_are_being_stopped() {
    let scratch = Scratch::new();
    let is_open = || {
        let files = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        let mut files = files.filter_map(|file| std::fs::read_link(file.path()).ok());
        files.any(|file| file == scratch.file)
    };
    let session = scratch.session().await;
    assert!(is_open());
    for _ in 0..4 {
        let endless = "SELECT i, hash(i) FROM range(1000000000000) t(i)";
        let Ok(Verdict::Cleared(cleared)) = session.judge(Request::text(endless), None, &call()).await else {
            panic!("not cleared");
        };
        let mut rows = session.read(cleared, &call()).unwrap();
        assert!(rows.next().await.unwrap().is_some());
    }
    session.close().await;
    assert!(!is_open());
}
