//! Connections that break: cut by the server, by the network, by the server's end; and what comes after.

use std::sync::Arc;
use std::time::Duration;

use dbagent_core::ErrorKind;
use dbagent_core::context::CallContext;
use dbagent_testkit::conformance::Value;
use tokio::net::{TcpListener, TcpStream};

use super::proxy::{Proxy, place, plain};
use super::support::{call, collect, numbers, open, refused, rows, scratch, session, start, target};
use crate::own;

#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_that_the_server_cut_are_replaced() {
    let Some(scratch) = scratch().await else { return };
    let session = session(&scratch).await;
    let Value::Int(number) = rows(&session, "SELECT CONNECTION_ID() AS id").await[0][0] else { panic!() };
    let mut owner = scratch.owner().await.unwrap();
    let others = format!(
        "SELECT ID FROM information_schema.PROCESSLIST WHERE DB = '{}' AND ID <> CONNECTION_ID()",
        scratch.name()
    );
    for id in owner.rows(&others).await.unwrap().into_iter().flatten().flatten() {
        owner.run(&format!("KILL {id}")).await.unwrap();
    }
    // Nobody is told: the next call finds out and goes on by another connection.
    let Value::Int(next) = rows(&session, "SELECT CONNECTION_ID() AS id").await[0][0] else { panic!() };
    assert_ne!(number, next);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_drops_in_the_middle() {
    let Some(scratch) = numbers().await else { return };
    let (server, through) = place(scratch.url());
    let proxy = Proxy::to(server).await;
    let session = open(target(&through(proxy.port))).await.unwrap();
    let mut stream = start(&session, "SELECT a.t FROM numbers a, numbers b", None, &call()).await.unwrap();
    assert!(stream.next().await.unwrap().is_some());
    proxy.cut().await;
    let e = loop {
        match stream.next().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("a result that was cut off is taken for whole"),
            Err(e) => break e,
        }
    };
    assert_eq!(e.kind(), ErrorKind::Connection, "{e}");
    assert_eq!(rows(&session, "SELECT 1 AS a").await, [[Value::from(1)]], "the session goes on");
}

/// Hands bytes on, but shortens each row of the statement that holds this mark to its first byte.
async fn garbling_proxy(place: String, mark: &'static [u8]) -> u16 {
    use std::sync::atomic::{AtomicU8, Ordering};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    const EXECUTE: u8 = 0x17;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let far = TcpStream::connect(place.clone()).await.unwrap();
            let (mut near_in, mut near_out) = near.into_split();
            let (mut far_in, mut far_out) = far.into_split();
            // 0: as it is, 1: the mark was prepared, 2: and is being executed.
            let stage = Arc::new(AtomicU8::new(0));
            let staged = Arc::clone(&stage);
            tokio::spawn(async move {
                let mut bytes = [0; 4096];
                while let Ok(n @ 1..) = near_in.read(&mut bytes).await {
                    let sent = &bytes[..n];
                    if sent.windows(mark.len()).any(|w| w == mark) {
                        staged.store(1, Ordering::SeqCst);
                    } else if staged.load(Ordering::SeqCst) == 1 && sent.get(4) == Some(&EXECUTE) {
                        staged.store(2, Ordering::SeqCst);
                    }
                    if far_out.write_all(sent).await.is_err() {
                        break;
                    }
                }
            });
            tokio::spawn(async move {
                loop {
                    let mut header = [0; 4];
                    if far_in.read_exact(&mut header).await.is_err() {
                        break;
                    }
                    let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
                    let mut payload = vec![0; length];
                    if far_in.read_exact(&mut payload).await.is_err() {
                        break;
                    }
                    if stage.load(Ordering::SeqCst) == 2 && payload.first() == Some(&0) {
                        payload.truncate(1);
                        header[..3].copy_from_slice(&[1, 0, 0]);
                    }
                    if near_out.write_all(&[&header[..], &payload].concat()).await.is_err() {
                        break;
                    }
                }
            });
        }
    });
    port
}

/// A row that is cut short inside its packet ends the call, and neither the program nor the session.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_makes_no_sense() {
    let Some(scratch) = scratch().await else { return };
    let (server, _) = place(scratch.url());
    let port = garbling_proxy(server, b"SELECT 2").await;
    let session = open(target(&plain(scratch.url(), port))).await.unwrap();
    assert_eq!(rows(&session, "SELECT 1 AS a").await, [[Value::from(1)]]);
    let e = super::support::fails(&session, "SELECT 2 AS a").await;
    assert_eq!(e.kind(), ErrorKind::Connection, "{e}");
    assert!(e.message().contains("cannot go on"), "{e}");
    assert_eq!(rows(&session, "SELECT 3 AS a").await, [[Value::from(3)]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_in_the_middle() {
    let Some(mut server) = super::modes::server_with(&[]).await else { return };
    let scratch = own::scratch(server.url(), own::Scratch::fresh_name()).await.unwrap();
    let mut owner = scratch.owner().await.unwrap();
    for statement in super::support::NUMBERS {
        owner.run(statement).await.unwrap();
    }
    let session = open(target(scratch.url())).await.unwrap();
    let mut stream = start(&session, "SELECT a.t FROM numbers a, numbers b", None, &call()).await.unwrap();
    assert!(stream.next().await.unwrap().is_some());
    server.kill().unwrap();
    let e = loop {
        match stream.next().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("a result that was cut off is taken for whole"),
            Err(e) => break e,
        }
    };
    assert_eq!(e.kind(), ErrorKind::Connection, "{e}");
    let e = session.ping(&call()).await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Connection, "{e}");
    let server = tokio::task::spawn_blocking(move || server.restart().map(|()| server));
    let server = server.await.unwrap().unwrap();
    assert_eq!(
        rows(&session, "SELECT 1 AS a").await,
        [[Value::from(1)]],
        "the pool goes on with the new one"
    );
    drop(scratch);
    drop(server);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_hangs() {
    let Some(server) = super::modes::server_with(&[]).await else { return };
    let session = open(target(server.url())).await.unwrap();
    assert_eq!(rows(&session, "SELECT 1 AS a").await, [[Value::from(1)]]);
    server.freeze().unwrap();
    let begun = tokio::time::Instant::now();
    let limit = CallContext::within(Duration::from_millis(500));
    let e = match start(&session, "SELECT 2 AS a", None, &limit).await {
        Ok(stream) => collect(stream).await.unwrap_err(),
        Err(e) => e,
    };
    assert_eq!(e.kind(), ErrorKind::Timeout, "{e}");
    // New connections hang too.
    let mut other = target(server.url());
    other.credential = other.credential.set("connect_timeout", "0.5");
    let e = refused(other).await;
    assert_eq!(e.kind(), ErrorKind::Connection, "{e}");
    assert!(begun.elapsed() < Duration::from_secs(20), "a hanging server holds nobody up");
    server.thaw().unwrap();
    assert_eq!(rows(&session, "SELECT 3 AS a").await, [[Value::from(3)]], "and then it goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_a_free_connection() {
    let Some(server) = super::modes::server_with(&["--max-connections=10"]).await else { return };
    let reader = server.variable("READER_URL").expect("a reader");
    let mut held = Vec::new();
    let e = loop {
        match open(target(reader)).await {
            Ok(session) => held.push(session),
            Err(e) => break e,
        }
        assert!(held.len() < 20, "the server takes them all");
    };
    assert_eq!(e.kind(), ErrorKind::TooManyConnections, "{e}");
    drop(held);
}
