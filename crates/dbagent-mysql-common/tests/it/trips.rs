//! How often the server is asked, message by message: what the documentation of the dialects says of it.

use std::time::Duration;

use dbagent_core::ObjectName;
use dbagent_core::catalog::Page;
use dbagent_core::{CallContext, Cleared, GuardedSession};
use dbagent_mysql_common::sqlx::{self, Executor as _};

use super::host::{over, pool_at};
use super::proxy::{Counter, plain};
use super::support::{cleared_within, collect, open, scratch_with, target};
use crate::own;

const TABLES: &[&str] = &[
    "CREATE TABLE t (a INT)",
    "INSERT INTO t VALUES (1), (2)",
    "CREATE TABLE u (a INT)",
    "CREATE TABLE v (a INT)",
];
const READ: &str = "SELECT a FROM t WHERE a > 0";

/// A new statement is prepared, and run.
const NEW: [&str; 2] = ["prepare", "execute"];
const BEGIN: &str = "START TRANSACTION";
const ROLLBACK: &str = "ROLLBACK";
/// What a connection of our own is compared by before it is used again: prepared when it was opened.
const COMPARED: [&str; 2] = [ROLLBACK, "execute"];

fn joined(parts: &[&[&'static str]]) -> Vec<&'static str> {
    parts.concat()
}

/// So many questions to the catalogue.
fn questions(number: usize) -> Vec<&'static str> {
    NEW.repeat(number)
}

/// A call with less time than the limits of a target allow: it is the same limit each time.
fn call() -> CallContext {
    CallContext::within(Duration::from_secs(20))
}

async fn cleared(session: &GuardedSession, sql: &str) -> Cleared {
    cleared_within(session, sql, &call()).await
}

async fn read(session: &GuardedSession, cleared: Cleared) -> usize {
    collect(session.read(cleared, &call()).unwrap()).await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn on_connections_of_our_own() {
    let Some(scratch) = scratch_with(TABLES).await else { return };
    let counter = Counter::before(scratch.url()).await;
    let session = open(target(&plain(scratch.url(), counter.port))).await.unwrap();
    // The driver's settings, who it is, read-only, two more settings and what it looks like after that.
    let opened = joined(&[
        &["SET time_zone='+00:00',NAMES", "SELECT CAST(CONNECTION_ID()", "SET SESSION"],
        &NEW,
        &NEW,
    ]);
    counter.asked("open", &opened).await;
    // The time limit is set once, as long as calls have the same.
    session.ping(&call()).await.unwrap();
    counter.asked("the first call", &joined(&[&NEW, &["ping"], &COMPARED])).await;
    session.ping(&call()).await.unwrap();
    counter.asked("ping", &joined(&[&["ping"], &COMPARED])).await;

    // What the names are: tables and their columns.
    let first = cleared(&session, READ).await;
    counter.asked("judge", &joined(&[&questions(2), &COMPARED])).await;
    // What a name is, is remembered for a short time.
    let (again, cleared) = (cleared(&session, READ).await, cleared(&session, READ).await);
    assert_eq!(read(&session, first).await, 2);
    counter.asked("read", &joined(&[&[BEGIN], &NEW, &COMPARED])).await;
    assert_eq!(read(&session, again).await, 2);
    counter.asked("the same again", &joined(&[&[BEGIN, "execute"], &COMPARED])).await;
    session.estimate(&cleared, &call()).await.unwrap().unwrap();
    counter.asked("estimate", &joined(&[&[BEGIN], &NEW, &COMPARED])).await;
    // Once as JSON to be read, once for people.
    session.explain(&cleared, &call()).await.unwrap().unwrap();
    counter.asked("explain", &joined(&[&[BEGIN, "execute"], &COMPARED, &[BEGIN], &NEW, &COMPARED])).await;

    let names = ["t", "u", "v"].map(ObjectName::new);
    let described = session.describe(&names[..1], &call()).await.unwrap();
    assert_eq!(described.found.len(), 1);
    counter.asked("describe one", &joined(&[&questions(7), &COMPARED])).await;
    let described = session.describe(&names, &call()).await.unwrap();
    assert_eq!(described.found.len(), 3);
    counter.asked("describe three", &joined(&[&questions(7), &COMPARED])).await;
    let described = session.describe(&names, &call()).await.unwrap();
    assert_eq!(described.found.len(), 3);
    counter.asked("describe as many again", &joined(&[&["execute"; 7], &COMPARED])).await;
    let listed = session.objects(None, Page::default(), &call()).await.unwrap();
    assert_eq!(listed.total, 3);
    counter.asked("list", &joined(&[&questions(2), &COMPARED])).await;
    session.ping(&call()).await.unwrap();
    counter.asked("nothing else", &joined(&[&["ping"], &COMPARED])).await;
    assert_eq!(counter.connections().0, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_connection_that_a_host_lends() {
    /// The pool's own, before and after.
    const PING: &str = "ping";
    /// Ends what was open, and looks at what the connection is set to.
    const LOOK: [&str; 2] = [ROLLBACK, "SELECT CAST(CONNECTION_ID()"];
    let Some(scratch) = scratch_with(TABLES).await else { return };
    let counter = Counter::before(scratch.url()).await;
    let pool = pool_at(&plain(scratch.url(), counter.port), 1).await;
    // The host has its own statements there.
    sqlx::query(READ).fetch_all(&pool).await.unwrap();
    counter.asked("the host", &["SET sql_mode=(SELECT", PING, "prepare", "execute", PING]).await;
    let session = over(&pool).await;
    // Which product it is; after that as every other time. Settings are prepared once for each connection.
    let (begun, over) =
        ([&["SELECT VERSION()"][..], &LOOK, &NEW], [&[ROLLBACK][..], &NEW, &LOOK[1..], &[PING]]);
    counter.asked("from_pool", &joined(&[&[PING], &begun.concat(), &over.concat()])).await;

    let begun = [&[PING][..], &LOOK, &["execute"]].concat();
    let over = [&[ROLLBACK, "execute"][..], &LOOK[1..], &[PING]].concat();
    session.ping(&call()).await.unwrap();
    counter.asked("ping", &joined(&[&begun, &["ping"], &over])).await;
    let first = cleared(&session, READ).await;
    // Questions to the catalogue stay prepared for the call, and then all is forgotten, with what sets and restores.
    let afterwards = [&[ROLLBACK][..], &NEW, &LOOK[1..], &[PING]].concat();
    counter.asked("judge", &joined(&[&begun, &questions(2), &afterwards])).await;
    let (second, third) = (cleared(&session, READ).await, cleared(&session, READ).await);
    let (explained, fourth) = (cleared(&session, READ).await, cleared(&session, READ).await);
    assert_eq!(read(&session, first).await, 2);
    let set = [&[PING][..], &LOOK, &NEW].concat();
    let restored = [&[ROLLBACK][..], &NEW, &LOOK[1..], &[PING]].concat();
    counter.asked("the first read", &joined(&[&set, &[BEGIN], &NEW, &restored])).await;
    for (what, cleared) in [("a read", second), ("the same again", third)] {
        assert_eq!(read(&session, cleared).await, 2);
        counter.asked(what, &joined(&[&begun, &[BEGIN], &NEW, &over])).await;
    }
    session.estimate(&explained, &call()).await.unwrap().unwrap();
    counter.asked("estimate", &joined(&[&begun, &[BEGIN], &NEW, &over])).await;
    // What the host has prepared is prepared still: it was not when questions to the catalogue were asked.
    for prepared in [&NEW[..], &NEW[1..]] {
        sqlx::query(READ).fetch_all(&pool).await.unwrap();
        counter.asked("the host", &joined(&[&[PING], prepared, &[PING]])).await;
        session.ping(&call()).await.unwrap();
        counter.asked("ping", &joined(&[&begun, &["ping"], &over])).await;
    }
    // A host that is somewhere else: there and back.
    pool.execute("USE information_schema").await.unwrap();
    counter.asked("the host", &[PING, "USE information_schema", PING]).await;
    assert_eq!(read(&session, fourth).await, 2);
    let there = format!("USE `{}`", scratch.name());
    let (there, back) = ([there.as_str()], ["USE `information_schema`"]);
    let moved = [&begun[..], &there, &[BEGIN], &NEW, &[ROLLBACK], &back, &over[1..]].concat();
    counter.asked("a read from another database", &moved).await;
    assert_eq!(counter.connections().0, 1, "{}", own::DIALECT.id());
}
