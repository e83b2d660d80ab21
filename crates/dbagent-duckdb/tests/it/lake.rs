//! A folder as a database: each clause of what a data lake is.

use std::path::{Path, PathBuf};

use dbagent_core::catalog::{Page, RowCount};
use dbagent_core::{ConnUrl, ErrorKind, GuardedSession, ObjectName, Target};
use dbagent_duckdb::duckdb::Connection;
use dbagent_duckdb::testing::raw_hardened;

use crate::corpus::rows;
use crate::support::{Ran, call, open, run};

pub(crate) struct Folder {
    root: tempfile::TempDir,
    maker: Connection,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("lake")).unwrap();
        Self { root, maker: Connection::open_in_memory().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join("lake").join(name)
    }

    /// Writes the rows of a query to a file of the lake, in the format of its ending.
    pub(crate) fn put(&self, name: &str, query: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let format = if name.contains(".parquet") {
            "parquet"
        } else if name.contains("json") {
            "json"
        } else {
            "csv"
        };
        let more = if name.split_once('.').is_some_and(|(_, ending)| ending == "json") {
            ", ARRAY true"
        } else {
            ""
        };
        let sql = format!(
            "COPY ({query}) TO '{}' (FORMAT {format}{more})",
            path.display().to_string().replace('\'', "''")
        );
        self.maker.execute_batch(&sql).unwrap();
    }

    fn target(&self) -> Target {
        let url = format!("duckdb:///{}/", self.root.path().join("lake").display());
        Target::new("lake", ConnUrl::parse(&url).unwrap())
    }

    pub(crate) async fn session(&self) -> GuardedSession {
        open(self.target()).await.unwrap()
    }
}

async fn names(session: &GuardedSession) -> Vec<String> {
    let page = session.objects(None, Page { offset: 0, size: 1_000 }, &call()).await.unwrap();
    page.objects.iter().map(|o| o.name.to_string()).collect()
}

/// Every file below a folder, with its bytes.
fn bytes(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap()) {
        let path = entry.path();
        if entry.metadata().unwrap().is_dir() {
            found.extend(bytes(&path));
        } else {
            found.push((path.clone(), std::fs::read(&path).unwrap_or_default()));
        }
    }
    found.sort();
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_every_format_are_tables_with_readable_names() {
    let folder = Folder::new();
    folder.put("users.parquet", "SELECT i AS id, 'u' || i AS name FROM range(3) t(i)");
    folder.put("my orders.csv", "SELECT 1 AS id, 2.5 AS total");
    folder.put("packed.csv.gz", "SELECT 1 AS a");
    folder.put("tight.csv.zst", "SELECT 2 AS a");
    folder.put("list.json", "SELECT 1 AS a, [1, 2] AS l");
    folder.put("lines.jsonl", "SELECT 2 AS a");
    folder.put("sub/deep/x.tsv", "SELECT 7 AS a");
    folder.put("same.csv", "SELECT 1 AS a");
    folder.put("same.parquet", "SELECT 2 AS a");
    std::fs::write(folder.path("README.md"), "no data").unwrap();
    std::fs::write(folder.path(".hidden.csv"), "a\n1\n").unwrap();
    std::fs::write(folder.path("_SUCCESS.csv"), "").unwrap();
    let session = folder.session().await;
    assert_eq!(
        names(&session).await,
        ["lines", "list", "my_orders", "packed", "same_csv", "same_parquet", "sub_deep_x", "tight", "users"]
    );
    assert_eq!(run(&session, "SELECT count(*), max(name) FROM users").await.rows(), [["3", "u2"]]);
    assert_eq!(run(&session, "SELECT total FROM my_orders").await.rows(), [["2.5"]]);
    assert_eq!(
        run(&session, "SELECT p.a, t.a, l.l, n.a, x.a FROM packed p, tight t, list l, lines n, sub_deep_x x")
            .await
            .rows(),
        [["1", "2", "[1,2]", "2", "7"]]
    );
    // What is described names files by where they lie in the folder, and by nothing outside.
    let described = session.describe(&[ObjectName::new("users")], &call()).await.unwrap();
    let users = described.found.first().unwrap();
    assert_eq!(users.summary.comment.as_deref(), Some("file users.parquet"));
    assert_eq!(users.summary.rows, RowCount::Exactly(3));
    assert_eq!(users.definition, None);
    let outer = folder.root.path().display().to_string();
    assert!(!format!("{users:?}").contains(&outer), "{users:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn partitions_and_files_of_one_kind_are_one_table() {
    let folder = Folder::new();
    for year in [2023, 2024] {
        folder.put(&format!("sales/year={year}/part-0.parquet"), &format!("SELECT {year} * 10 AS amount"));
        folder.put(&format!("visits_{year}.csv"), &format!("SELECT {year} AS y, 'x' AS page"));
        folder.put(&format!("odd_{year}.csv"), &format!("SELECT {year} AS a{year}"));
        folder.put(&format!("events/part-{year}.parquet"), "SELECT 1 AS e");
    }
    let session = folder.session().await;
    assert_eq!(names(&session).await, ["events", "odd_2023", "odd_2024", "sales", "visits"]);
    assert_eq!(
        run(&session, "SELECT year, amount FROM sales ORDER BY year").await.rows(),
        [["2023", "20230"], ["2024", "20240"]]
    );
    assert_eq!(run(&session, "SELECT count(*) FROM visits").await.rows(), [["2"]]);
    assert_eq!(run(&session, "SELECT count(*) FROM events").await.rows(), [["2"]]);
    let described = session.describe(&[ObjectName::new("sales")], &call()).await.unwrap();
    let comment = described.found[0].summary.comment.clone().unwrap();
    assert!(comment.starts_with("partitioned by year; 2 files: sales/year=2023/part-0.parquet"), "{comment}");
    assert_eq!(described.found[0].summary.rows, RowCount::Exactly(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn files_come_change_and_go_without_a_restart() {
    let folder = Folder::new();
    folder.put("a.csv", "SELECT 1 AS x");
    let session = folder.session().await;
    assert_eq!(names(&session).await, ["a"]);
    folder.put("b.csv", "SELECT 2 AS y");
    assert_eq!(names(&session).await, ["a", "b"]);
    assert_eq!(run(&session, "SELECT y FROM b").await.rows(), [["2"]]);
    folder.put("a.csv", "SELECT 10 AS x, 'new' AS z");
    assert_eq!(run(&session, "SELECT z FROM a").await.rows(), [["new"]]);
    std::fs::remove_file(folder.path("b.csv")).unwrap();
    assert_eq!(names(&session).await, ["a"]);
    assert_eq!(run(&session, "SELECT y FROM b").await.error().kind(), ErrorKind::UnknownObject);
    std::fs::remove_file(folder.path("a.csv")).unwrap();
    assert_eq!(names(&session).await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_file_is_named_and_takes_no_other_with_it() {
    let folder = Folder::new();
    folder.put("good.parquet", "SELECT 1 AS a");
    for part in 0..3 {
        folder.put(&format!("p/k={part}/x.parquet"), "SELECT 5 AS v");
    }
    std::fs::write(folder.path("bad.parquet"), b"PAR1 but no more").unwrap();
    std::fs::write(folder.path("p/k=1/x.parquet"), b"junk").unwrap();
    let session = folder.session().await;
    assert_eq!(run(&session, "SELECT a FROM good").await.rows(), [["1"]]);
    assert_eq!(run(&session, "SELECT sum(v) FROM p").await.rows(), [["10"]]);
    let described = session.describe(&[ObjectName::new("p")], &call()).await.unwrap();
    let told = format!("{:?}", described.found[0]);
    assert!(told.contains("INCOMPLETE: p/k=1/x.parquet cannot be read"), "{told}");
    // A table of which nothing can be read is there, and says why when it is read.
    assert_eq!(names(&session).await, ["bad", "good", "p"]);
    let e = run(&session, "FROM bad").await.error();
    assert_eq!(e.kind(), ErrorKind::Data, "{e}");
    assert!(e.message().contains("the file bad.parquet cannot be read"), "{e}");

    let folder = Folder::new();
    std::fs::write(folder.path("bad.parquet"), b"junk").unwrap();
    let e = open(folder.target()).await.map(|_| ()).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Corrupt, "{e}");
    assert!(e.to_string().contains("bad.parquet"), "{e}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn links_are_not_followed() {
    let folder = Folder::new();
    folder.put("in.csv", "SELECT 1 AS a");
    std::fs::write(folder.root.path().join("secret.csv"), "s\nsecret\n").unwrap();
    std::os::unix::fs::symlink("../secret.csv", folder.path("link.csv")).unwrap();
    std::os::unix::fs::symlink("..", folder.path("up")).unwrap();
    let session = folder.session().await;
    assert_eq!(names(&session).await, ["in"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_outside_can_be_read_and_nothing_inside_by_its_file() {
    let folder = Folder::new();
    folder.put("in.csv", "SELECT 1 AS a");
    let secret = folder.root.path().join("secret.csv");
    std::fs::write(&secret, "s\nsecret\n").unwrap();
    let session = folder.session().await;
    let door = raw_hardened(&folder.target()).unwrap();
    let (inside, outside) = (folder.path("in.csv"), secret);
    for (file, text) in [
        (&outside, "FROM '{}'"),
        (&outside, "FROM read_csv('{}')"),
        (&outside, "FROM read_text('{}')"),
        (&outside, "FROM glob('{}')"),
        (&outside, "FROM sniff_csv('{}')"),
    ] {
        let sql = text.replace("{}", &file.display().to_string());
        assert!(matches!(run(&session, &sql).await, Ran::Refused(_)), "{sql}");
        let e = door.run(&sql).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Refused, "{sql}: {e}");
    }
    let around = format!("FROM read_text('{}/../secret.csv')", folder.path("").display());
    assert!(door.run(&around).is_err(), "{around}");
    // The engine would read a file of the lake by its name; the judge does not let it.
    let sql = format!("FROM '{}'", inside.display());
    assert!(matches!(run(&session, &sql).await, Ran::Refused(_)), "{sql}");
    door.run(&sql).unwrap();
}

#[test]
fn no_deny_row_that_the_judge_refuses_changes_the_lake_when_it_runs_as_it_is() {
    let folder = Folder::new();
    folder.put("users.csv", "SELECT 1 AS id, 'a' AS name, 'b' AS email");
    folder.put("orders.parquet", "SELECT 1 AS id, 1 AS user_id, 5 AS total, 'x' AS status");
    let before = bytes(folder.root.path());
    let mut door = raw_hardened(&folder.target()).unwrap();
    for row in rows().into_iter().filter(|r| !r.allow && r.kind != "dos") {
        _ = door.run(&row.statement);
        door = door.next().unwrap();
        assert!(bytes(folder.root.path()) == before, "{} {:?}", row.id, row.statement);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_engine_would_still_write_inside_only_the_judge_stops() {
    let folder = Folder::new();
    folder.put("users.csv", "SELECT 1 AS id");
    let session = folder.session().await;
    let inside = |name: &str| folder.path(name).display().to_string();
    let before = bytes(folder.root.path());
    let attacks = [
        format!("COPY (SELECT 2 AS id) TO '{}'", inside("users.csv")),
        format!("ATTACH '{}' AS o", inside("new.db")),
        format!("EXPORT DATABASE '{}'", inside("dump")),
        format!("WITH x AS (COPY users TO '{}') FROM x", inside("users.csv")),
    ];
    for sql in &attacks {
        assert!(matches!(run(&session, sql).await, Ran::Refused(_)), "{sql}");
    }
    assert!(bytes(folder.root.path()) == before);
    drop(session);
    // Pinned as what the engine lets through, and listed in docs/threat-model.md.
    let door = raw_hardened(&folder.target()).unwrap();
    door.run(&attacks[0]).unwrap();
    assert!(bytes(folder.root.path()) != before, "the engine stops it by now: take it off the threat model");
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_names_and_odd_places() {
    let folder = Folder::new();
    folder.put("it's [a] *.csv", "SELECT 1 AS a");
    folder.put("it's b *.csv", "SELECT 2 AS a");
    let session = folder.session().await;
    assert_eq!(names(&session).await, ["it_s_a", "it_s_b"]);
    assert_eq!(run(&session, "SELECT a FROM it_s_a").await.rows(), [["1"]]);

    let empty = Folder::new();
    assert_eq!(names(&empty.session().await).await, [""; 0]);
    let missing = Target::new(
        "x",
        ConnUrl::parse(&format!("duckdb:///{}/nowhere/", folder.root.path().display())).unwrap(),
    );
    assert_eq!(open(missing).await.map(|_| ()).unwrap_err().kind(), ErrorKind::DatabaseNotFound);
    std::fs::write(folder.path("file"), "x").unwrap();
    let file =
        Target::new("x", ConnUrl::parse(&format!("duckdb:///{}/", folder.path("file").display())).unwrap());
    let e = open(file).await.map(|_| ()).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::DatabaseNotFound, "{e}");
}
