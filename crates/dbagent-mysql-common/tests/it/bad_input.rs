//! Databases and results that are meant to break something.

use std::time::Duration;

use dbagent_core::catalog::Page;
use dbagent_core::{CallContext, ErrorKind, ObjectName, Retry};
use dbagent_mysql_common::testing::{Owner, Scratch};
use dbagent_testkit::conformance::Value;

use super::modes::server_with;
use super::support::{call, collect, eventually, fails, open, rows, scratch_with, session, start, target};
use crate::own;

/// Texts of other character sets are converted by the servers, and what is a text by its type and none by its
/// bytes is theirs to refuse: as far as it comes by a statement.
#[tokio::test(flavor = "multi_thread")]
async fn texts_of_other_character_sets() {
    let Some(scratch) = scratch_with(&[
        "CREATE TABLE t (l VARCHAR(20) CHARACTER SET latin1, s VARCHAR(20) CHARACTER SET ucs2, \
         b VARCHAR(20) CHARACTER SET big5)",
        // What latin1 does not define is a control character to these servers.
        "INSERT INTO t VALUES (_latin1 x'E981', _ucs2 x'65E5', _big5 x'A4A4')",
    ])
    .await
    else {
        return;
    };
    let session = session(&scratch).await;
    assert_eq!(
        rows(&session, "SELECT l, s, b FROM t").await,
        [["é\u{81}".into(), "日".into(), Value::text("中")]]
    );
    assert_eq!(rows(&session, "SELECT _binary x'FF' AS b").await, [[Value::Bytes(vec![0xff])]]);
    let e = fails(&session, "SELECT _utf8mb4 x'FF' AS b").await;
    assert!(e.native_code().is_some_and(|code| code.starts_with("1300")), "{e}");
    assert_eq!(rows(&session, "SELECT COUNT(*) FROM t").await, [[Value::from(1)]]);
}

/// A text whose bytes are no UTF-8 is kept as it is. No statement of an owner makes one on every server, a file
/// that was damaged does.
#[tokio::test(flavor = "multi_thread")]
async fn text_that_is_no_utf_8_comes_as_its_bytes() {
    let Some(server) = server_with(&[]).await else { return };
    let scratch = own::scratch(server.url(), Scratch::fresh_name()).await.unwrap();
    let mut owner = scratch.owner().await.unwrap();
    for statement in [
        "CREATE TABLE t (id INT, u TEXT) ENGINE = MyISAM CHARACTER SET utf8mb4",
        "INSERT INTO t VALUES (1, 'plain'), (2, 'to be broken')",
        "FLUSH TABLES t",
    ] {
        owner.run(statement).await.unwrap();
    }
    let folder = owner.rows("SELECT @@datadir").await.unwrap()[0][0].clone().unwrap();
    let file = std::path::Path::new(&folder).join(scratch.name()).join("t.MYD");
    let mut bytes = std::fs::read(&file).unwrap();
    let at = bytes.windows(12).position(|w| w == b"to be broken").expect("the text is in the file");
    bytes[at] = 0xff;
    std::fs::write(&file, bytes).unwrap();
    owner.run("FLUSH TABLES").await.unwrap();

    let session = open(target(scratch.url())).await.unwrap();
    assert_eq!(rows(&session, "SELECT u FROM t WHERE id = 1").await, [[Value::text("plain")]]);
    // Not sorted: MySQL then makes an empty text of it.
    let found = rows(&session, "SELECT u FROM t").await;
    let [[plain], [broken]] = [found[0].as_slice(), found[1].as_slice()] else { panic!("{found:?}") };
    // \xff and "o be broken".
    assert!(format!("{broken:?}").contains("$bytes\\\":\\\"/28gYmUgYnJva2Vu"), "{found:?}");
    assert!(format!("{plain:?}").contains("plain"), "{found:?}");
    assert_eq!(rows(&session, "SELECT HEX(LEFT(u, 1)) FROM t WHERE id = 2").await, [[Value::text("FF")]]);
}

/// The largest row that a client takes is the server's setting: here it lets one of 200 MB out.
#[tokio::test(flavor = "multi_thread")]
async fn a_cell_of_two_hundred_megabytes_is_an_error_and_the_session_lives() {
    let Some(server) = server_with(&["--max-allowed-packet=512M"]).await else { return };
    let scratch = own::scratch(server.url(), Scratch::fresh_name()).await.unwrap();
    let mut owner = scratch.owner().await.unwrap();
    // Not in InnoDB, whose log would have to be larger than that.
    owner.run("CREATE TABLE t (id INT, a LONGTEXT, b LONGBLOB) ENGINE = MyISAM").await.unwrap();
    owner.run("INSERT INTO t VALUES (1, REPEAT('x', 209715200), NULL)").await.unwrap();
    owner.run("INSERT INTO t VALUES (2, 'short', REPEAT('y', 209715200))").await.unwrap();
    let session = open(target(scratch.url())).await.unwrap();
    for (sql, column) in [("SELECT a FROM t", "\"a\""), ("SELECT id, b FROM t ORDER BY id DESC", "\"b\"")] {
        let e = fails(&session, sql).await;
        assert_eq!(e.kind(), ErrorKind::TooLarge, "{sql}: {e}");
        assert!(e.message().contains("209,715,200") && e.message().contains(column), "{sql}: {e}");
        assert!(e.hint_text().is_some(), "{e:?}");
    }
    let found = rows(&session, "SELECT LENGTH(a), LENGTH(b), LEFT(b, 2) FROM t ORDER BY id").await;
    assert_eq!(found[0], [Value::from(209_715_200), Value::Null, Value::Null]);
    assert_eq!(found[1], [Value::from(5), Value::from(209_715_200), Value::Bytes(b"yy".to_vec())]);
}

#[tokio::test(flavor = "multi_thread")]
async fn as_many_columns_as_there_may_be() {
    const MOST: usize = 4_096;
    let columns: Vec<String> = (0..1_000).map(|n| format!("c{n} INT")).collect();
    let create = format!("CREATE TABLE wide ({})", columns.join(", "));
    let Some(scratch) = scratch_with(&[&create, "INSERT INTO wide (c999) VALUES (7)"]).await else { return };
    let session = session(&scratch).await;
    let select =
        |n: usize| format!("SELECT {}", (0..n).map(|i| i.to_string()).collect::<Vec<_>>().join(", "));
    let found = rows(&session, select(MOST)).await;
    assert_eq!((found[0].len(), &found[0][MOST - 1]), (MOST, &Value::from(4_095)));
    // Each name four times.
    let found = rows(&session, "SELECT w.*, w.*, w.*, w.* FROM wide w").await;
    assert_eq!((found[0].len(), &found[0][3_998..]), (4_000, &[Value::Null, Value::from(7)][..]));
    assert_eq!(rows(&session, "SELECT 1 AS a, 2 AS A, 3 AS a").await, [[1.into(), 2.into(), 3.into()]]);
}

/// Cut by the server for having been idle, as most are at night.
#[tokio::test(flavor = "multi_thread")]
async fn connections_that_were_idle_for_too_long() {
    let Some(server) = server_with(&["--wait-timeout=3", "--interactive-timeout=3"]).await else { return };
    let mut owner = own::owner(server.url()).await.unwrap();
    owner.run("SET SESSION wait_timeout = 600").await.unwrap();
    let session = open(target(server.url())).await.unwrap();
    let endless = "SELECT a.n FROM (SELECT 1 AS n UNION ALL SELECT 2) a, information_schema.COLUMNS b, \
                   information_schema.COLUMNS c";
    // Stopped by the one connection that stops others, which is cut too.
    let stop = async || {
        let mut stream = start(&session, endless, Some(1), &call()).await.unwrap();
        assert_eq!(stream.next().await.unwrap().unwrap().num_rows(), 1);
    };
    let number = async || match rows(&session, "SELECT CONNECTION_ID() AS id").await[0][0] {
        Value::Int(number) => number,
        ref other => panic!("{other:?}"),
    };
    for _ in 0..2 {
        stop().await;
        let before = number().await;
        let others = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'root' AND ID <> CONNECTION_ID()";
        eventually("the server has cut them", async || {
            owner.rows(others).await.unwrap() == [[Some("0".to_owned())]]
        })
        .await;
        assert_ne!(number().await, before);
        session.ping(&call()).await.unwrap();
        assert!(session.objects(None, Page::default(), &call()).await.is_ok());
    }
}

/// Under SERIALIZABLE a plain read takes locks: it can wait, and be the victim of a deadlock.
#[tokio::test(flavor = "multi_thread")]
async fn reads_that_lock_are_told_apart() {
    let Some(server) = server_with(&["--transaction-isolation=SERIALIZABLE"]).await else { return };
    let scratch = own::scratch(server.url(), Scratch::fresh_name()).await.unwrap();
    let mut owner = scratch.owner().await.unwrap();
    for statement in [
        "CREATE TABLE t (id INT PRIMARY KEY, a INT) ENGINE = InnoDB",
        "INSERT INTO t VALUES (1, 10), (2, 20)",
        "SET GLOBAL innodb_lock_wait_timeout = 600",
    ] {
        owner.run(statement).await.unwrap();
    }
    let mut side = scratch.owner().await.unwrap();
    let session = open(target(scratch.url())).await.unwrap();
    let read = async || {
        let call = call();
        match start(&session, "SELECT id, a FROM t ORDER BY id", None, &call).await {
            Ok(stream) => collect(stream).await,
            Err(e) => Err(e),
        }
    };
    let meet = async |owner: &mut Owner, side: &mut Owner, last: &str| {
        owner.run("START TRANSACTION").await.unwrap();
        // The writer has more to lose, so that the reader is the victim.
        owner.run("UPDATE t SET a = a + 1 WHERE id = 2").await.unwrap();
        let (read, ()) = tokio::join!(read(), async {
            let waits = "SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE TRX_STATE = 'LOCK WAIT'";
            eventually("the reader waits", async || {
                // The server looks again only when nobody has asked for a tenth of a second.
                tokio::time::sleep(Duration::from_millis(150)).await;
                side.rows(waits).await.unwrap() == [[Some("1".to_owned())]]
            })
            .await;
            owner.run(last).await.unwrap();
        });
        owner.run("ROLLBACK").await.unwrap();
        read
    };
    // It has the first row, waits for the second, and its holder wants the first.
    let e = meet(&mut owner, &mut side, "UPDATE t SET a = a + 1 WHERE id = 1").await.unwrap_err();
    assert_eq!((e.kind(), e.native_code()), (ErrorKind::Conflict, Some("1213 (40001)")), "{e}");
    assert_eq!(e.retry_advice(), Retry::Later, "{e:?}");
    assert_eq!(read().await.unwrap().len(), 2, "the session goes on");
    // It waits and gets what is there then.
    let found = meet(&mut owner, &mut side, "ROLLBACK").await.unwrap();
    assert_eq!(found[1][1], Value::from(20));
    let changed = meet(&mut owner, &mut side, "COMMIT").await;
    if own::DIALECT.id() == "mariadb" {
        // Its snapshots do not mix with what was committed since (innodb_snapshot_isolation).
        let e = changed.unwrap_err();
        assert_eq!((e.kind(), e.native_code()), (ErrorKind::Conflict, Some("1020 (HY000)")), "{e}");
    } else {
        assert_eq!(changed.unwrap()[1][1], Value::from(21));
    }

    // It waits for as long as the server lets it.
    owner.run("SET GLOBAL innodb_lock_wait_timeout = 1").await.unwrap();
    let session = open(target(scratch.url())).await.unwrap();
    owner.run("START TRANSACTION").await.unwrap();
    owner.run("UPDATE t SET a = a + 1 WHERE id = 2").await.unwrap();
    let e = fails(&session, "SELECT id, a FROM t ORDER BY id").await;
    assert_eq!((e.kind(), e.native_code()), (ErrorKind::Locked, Some("1205 (HY000)")), "{e}");
    assert_eq!(e.retry_advice(), Retry::Later, "{e:?}");
    // Or as long as the call may take, and no longer.
    let limit = CallContext::within(Duration::from_millis(300));
    let e = match start(&session, "SELECT id, a FROM t ORDER BY id", None, &limit).await {
        Ok(stream) => collect(stream).await.unwrap_err(),
        Err(e) => e,
    };
    assert_eq!(e.kind(), ErrorKind::Timeout, "{e}");
    owner.run("ROLLBACK").await.unwrap();
    assert_eq!(rows(&session, "SELECT a FROM t WHERE id = 2").await, [[Value::from(21)]]);
}

/// Five thousand, made by several at once, on a server where nobody lists all that there is.
#[tokio::test(flavor = "multi_thread")]
async fn five_thousand_tables_are_listed_and_described_in_pages() {
    const TABLES: usize = 5_000;
    const MAKERS: usize = 4;
    let Some(server) = server_with(&[]).await else { return };
    let scratch = own::scratch(server.url(), own::Scratch::fresh_name()).await.unwrap();
    let scratch = std::sync::Arc::new(scratch);
    let mut makers = tokio::task::JoinSet::new();
    for maker in 0..MAKERS {
        let scratch = std::sync::Arc::clone(&scratch);
        makers.spawn(async move {
            let mut owner = scratch.owner().await.unwrap();
            for n in (maker..TABLES).step_by(MAKERS) {
                let sql = format!("CREATE TABLE t{n:05} (id INT PRIMARY KEY, n{n} TEXT) ENGINE = MyISAM");
                owner.run(&sql).await.unwrap();
            }
        });
    }
    while let Some(made) = makers.join_next().await {
        made.unwrap();
    }
    let session = open(target(scratch.url())).await.unwrap();
    let call = CallContext::within(Duration::from_secs(240));
    let mut seen: Vec<ObjectName> = Vec::new();
    while seen.len() < TABLES {
        let listed = session.objects(None, Page { offset: seen.len(), size: 1_000 }, &call).await.unwrap();
        assert_eq!((listed.total, listed.objects.len()), (TABLES, 1_000));
        seen.extend(listed.objects.into_iter().map(|o| o.name));
    }
    let mut sorted = seen.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(sorted.len(), TABLES, "each once");
    let found = session.objects(Some("t0499*"), Page::default(), &call).await.unwrap();
    assert_eq!(found.total, 10);
    // More than are asked for at once.
    let described = session.describe(&seen, &call).await.unwrap();
    assert_eq!((described.found.len(), described.missing.len()), (TABLES, 0));
    let last = described.found.iter().find(|o| o.summary.name.name == "t04999").unwrap();
    assert_eq!(last.columns[1].name, "n4999");
    assert_eq!(rows(&session, "SELECT COUNT(*) FROM t04999").await, [[Value::from(0)]]);
}
