//! What can go wrong with a server, each told apart from the others.

use dbagent_core::{Error, ErrorKind, Request, Target};
use dbagent_postgres::ServerError;
use dbagent_postgres::testing::raw_hardened;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::support::{Scratch, call, in_database, open, run, skipped, target, variable, with_parameter};

async fn fails(target: Target) -> Error {
    match open(target).await {
        Ok(_) => panic!("it opened"),
        Err(e) => e,
    }
}

fn no_retry(e: &Error) -> bool {
    e.hint_text().is_some_and(|h| h.contains("do not retry"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_fails_says_what_to_check() {
    let Some(url) = variable("URL") else { return };
    let (login, place) = url.split_once("://").unwrap().1.rsplit_once('@').unwrap();
    let user = login.split(':').next().unwrap();

    let e = fails(target(&format!("postgres://{user}:c4n4ry@{place}"))).await;
    assert_eq!((e.kind(), e.native_code()), (ErrorKind::Authentication, Some("28P01")));
    assert!(no_retry(&e) && !format!("{e} {e:?}").contains("c4n4ry"), "{e:?}");
    assert!(e.downcast_source::<ServerError>().is_some());

    let e = fails(target(&format!("postgres://{user}@{place}"))).await;
    assert_eq!(e.kind(), ErrorKind::Authentication, "{e}");

    let e = fails(target(&in_database(&url, "no_such_database"))).await;
    assert_eq!((e.kind(), e.native_code()), (ErrorKind::DatabaseNotFound, Some("3D000")));
    assert!(no_retry(&e), "{e:?}");
    assert!(e.context().iter().any(|(key, _)| *key == "port"), "{e:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_connections_is_a_kind_of_its_own() {
    let Some(db) = Scratch::new().await else { return };
    let name = db.value("current_database()").await;
    let role = format!("{name}_few");
    db.change(&format!("CREATE ROLE {role} LOGIN PASSWORD 'few' CONNECTION LIMIT 1")).await;
    let place = db.url.rsplit_once('@').unwrap().1;
    let url = format!("postgres://{role}:few@{place}");
    // The session's first connection is the only one that there may be.
    let session = open(target(&url)).await.unwrap();
    let e = run(&session, "SELECT 1").await.error();
    assert_eq!((e.kind(), e.native_code()), (ErrorKind::TooManyConnections, Some("53300")), "{e}");
    assert_eq!(e.retry_advice(), dbagent_core::Retry::Later);
    let e = fails(target(&url)).await;
    assert_eq!(e.kind(), ErrorKind::TooManyConnections, "{e}");
    session.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_where_nobody_or_somebody_else_listens() {
    let Some(_) = variable("URL") else { return };
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let e = fails(target(&format!("postgres://u:p@127.0.0.1:{free}/x"))).await;
    assert_eq!(e.kind(), ErrorKind::Connection);
    assert!(e.message().contains("refused") && no_retry(&e), "{e:?}");

    let e = fails(target("postgres://u:p@no-such-host.invalid/x")).await;
    assert_eq!(e.kind(), ErrorKind::Connection);
    assert!(e.to_string().contains("no-such-host.invalid"), "{e}");

    let e = fails(target("postgres://u:p@/x?host=/no/such/folder")).await;
    assert_eq!(e.kind(), ErrorKind::Connection);
    assert!(e.message().contains("socket"), "{e}");

    // One that answers HTTP, one that speaks first as MySQL does, with and without encryption asked for.
    for (greets, says) in
        [(false, &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..]), (true, &b"J\0\0\0\x0a8.0.40\0"[..])]
    {
        for mode in ["prefer", "disable", "require"] {
            let port = speaks(greets, says).await;
            let e = fails(target(&format!("postgres://u:p@127.0.0.1:{port}/x?sslmode={mode}"))).await;
            assert_eq!(e.kind(), ErrorKind::NotADatabase, "{mode} {greets}: {e:?}");
            assert!(e.hint_text().unwrap().contains("another kind"), "{e:?}");
        }
    }

    // One that hangs up without a word, and one that says nothing at all.
    let port = speaks(true, b"").await;
    let e = fails(target(&format!("postgres://u:p@127.0.0.1:{port}/x"))).await;
    assert_eq!(e.kind(), ErrorKind::NotADatabase, "{e}");
    assert!(e.message().contains("hangs up"), "{e}");
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = silent.local_addr().unwrap().port();
    let e = fails(target(&format!("postgres://u:p@127.0.0.1:{port}/x?connect_timeout=0.3"))).await;
    assert_eq!(e.kind(), ErrorKind::Connection);
    assert!(e.message().contains("did not answer"), "{e}");
}

/// A server of another kind: says something, at once or after it was spoken to, and hangs up.
async fn speaks(first: bool, says: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            if !first {
                _ = client.read(&mut [0; 1024]).await;
            }
            _ = client.write_all(says).await;
            if first {
                _ = client.read(&mut [0; 1024]).await;
            }
        }
    });
    port
}

#[tokio::test(flavor = "multi_thread")]
async fn several_hosts_are_tried_in_turn_and_a_replica_is_told_apart() {
    let Some(url) = variable("URL") else { return };
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (before, place) = url.rsplit_once('@').unwrap();
    let list = format!("{before}@127.0.0.1:{free},{place}");
    open(target(&list)).await.unwrap();
    open(target(&with_parameter(&list, "target_session_attrs=primary"))).await.unwrap();
    let e = fails(target(&with_parameter(&url, "target_session_attrs=standby"))).await;
    assert_eq!(e.kind(), ErrorKind::Unwritable);
    assert!(e.message().contains("primary server"), "{e}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_says_what_it_is() {
    let mut server = match dbagent_services::Server::throwaway("postgres") {
        Ok(server) => server,
        Err(why) => return skipped(&why.to_string()),
    };
    // A server that waits for more of a log that never comes is a standby like any other.
    let session = open(target(server.url())).await.unwrap();
    let folder = run(&session, "SHOW data_directory").await;
    let crate::support::Ran::Rows(rows) = folder else { return skipped("the data folder is not shown") };
    let dbagent_testkit::conformance::Value::Text(folder) = &rows[0][0] else { panic!("{rows:?}") };
    drop(session);
    std::fs::write(std::path::Path::new(folder).join("standby.signal"), "").unwrap();
    server.restart().unwrap();
    let url = server.url().to_owned();
    let session = open(target(&url)).await.unwrap();
    assert!(session.server(&call()).await.unwrap().contains("replica"));
    assert_eq!(run(&session, "SELECT 1 AS v").await.rows().len(), 1);
    let e = fails(target(&with_parameter(&url, "target_session_attrs=read-write"))).await;
    assert_eq!(e.kind(), ErrorKind::Unwritable);
    assert!(e.message().contains("read-only replica"), "{e}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_code_comes_with_its_kind_and_the_words_of_the_server() {
    let setup = "CREATE FUNCTION fail(code text) RETURNS int LANGUAGE plpgsql AS \
                 $$ BEGIN RAISE EXCEPTION 'words of the server' USING ERRCODE = code, DETAIL = 'more', HINT = 'do'; END $$";
    let Some(db) = Scratch::with(setup).await else { return };
    let raw = raw_hardened(&db.target(), &call()).await.unwrap();
    for (code, kind) in [
        ("40001", ErrorKind::Conflict),
        ("40P01", ErrorKind::Conflict),
        ("53200", ErrorKind::Exhausted),
        ("53100", ErrorKind::Exhausted),
        ("25006", ErrorKind::Refused),
        ("42501", ErrorKind::Permission),
        ("55P03", ErrorKind::Locked),
        ("54001", ErrorKind::TooLarge),
        ("58030", ErrorKind::Io),
        ("XX001", ErrorKind::Corrupt),
        ("23505", ErrorKind::Constraint),
        ("P0001", ErrorKind::Engine),
        ("ZZ999", ErrorKind::Engine),
    ] {
        let e = raw.run(&Request::text(format!("SELECT fail('{code}')"))).await.unwrap_err();
        assert_eq!((e.kind(), e.native_code()), (kind, Some(code)), "{e}");
        assert_eq!((e.message(), e.hint_text()), ("words of the server", Some("do")));
        let said = e.downcast_source::<ServerError>().unwrap();
        assert_eq!(said.detail.as_deref(), Some("more"));
        assert!(said.context.as_deref().unwrap().contains("fail(text)"), "{said:?}");
        assert_eq!(raw.run(&Request::text("SELECT 1")).await.unwrap(), 1, "after {code}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_place_of_an_error_is_in_the_judged_text() {
    let Some(db) = Scratch::with("CREATE TABLE users (id int, name text)").await else { return };
    let session = db.session().await;
    for (text, at, kind) in [
        ("SELECT 'é表', id, no_such FROM users", "no_such", ErrorKind::UnknownColumn),
        ("SELECT *\nFROM   nowhere", "nowhere", ErrorKind::UnknownObject),
        ("SELECT id + name FROM users", "+", ErrorKind::UnknownFunction),
        ("SELECT point(1, 2), no_such FROM users", "no_such", ErrorKind::UnknownColumn),
    ] {
        let e = run(&session, text).await.error();
        assert_eq!(e.kind(), kind, "{e}");
        assert!(text.get(e.position().unwrap()..).unwrap().starts_with(at), "{text}: {:?}", e.position());
        // The same place when the planner is asked first.
        let dbagent_core::session::Verdict::Cleared(cleared) =
            session.judge(Request::text(text), Some(1), &call()).await.unwrap()
        else {
            panic!("{text}")
        };
        let e = session.estimate(&cleared, &call()).await.err().unwrap();
        assert!(text.get(e.position().unwrap()..).unwrap().starts_with(at), "{text}: {:?}", e.position());
    }
}
