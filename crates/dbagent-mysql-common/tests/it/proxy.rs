//! Proxies between a session and its server: one that can be cut, and one that writes down what is asked.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::support::eventually;

/// Host and port of a URL, and the URL through another port.
pub(crate) fn place(url: &str) -> (String, impl Fn(u16) -> String + '_) {
    let (before, rest) = url.split_once('@').expect("an account");
    let at = rest.find(['/', '?']).unwrap_or(rest.len());
    let (place, after) = rest.split_at(at);
    (place.to_owned(), move |port| format!("{before}@127.0.0.1:{port}{after}"))
}

/// The URL through another port without encryption: what goes over it can be read. The owner has logged in before,
/// so that the server remembers the password and takes a short proof.
pub(crate) fn plain(url: &str, port: u16) -> String {
    let (_, through) = place(url);
    through(port).split('?').next().expect("a URL").to_owned() + "?ssl-mode=DISABLED"
}

/// Hands bytes on in both directions until it is told to stop.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    lines: Arc<tokio::sync::Mutex<JoinSet<()>>>,
}

impl Proxy {
    pub(crate) async fn to(place: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let lines: Arc<tokio::sync::Mutex<JoinSet<()>>> = Arc::default();
        let open = Arc::clone(&lines);
        tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                let place = place.clone();
                open.lock().await.spawn(async move {
                    if let Ok(mut far) = TcpStream::connect(place).await {
                        drop(tokio::io::copy_bidirectional(&mut near, &mut far).await);
                    }
                });
            }
        });
        Self { port, lines }
    }

    /// Drops every connection that is open.
    pub(crate) async fn cut(&self) {
        self.lines.lock().await.shutdown().await;
    }
}

/// What was asked through a proxy: `prepare`, `execute`, `ping`, and the first two words of what was not prepared.
#[derive(Default)]
struct Seen {
    asked: Vec<String>,
    connections: usize,
    /// Connections of which the client has closed its side.
    left: usize,
}

/// Writes down each message to which the server must answer, in the order in which they pass, and lets the
/// server's answers wait while it is held.
pub(crate) struct Counter {
    pub(crate) port: u16,
    seen: Arc<Mutex<Seen>>,
    held: watch::Sender<bool>,
}

impl Counter {
    /// A proxy to the server of a URL.
    pub(crate) async fn before(url: &str) -> Self {
        let (place, _) = place(url);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen: Arc<Mutex<Seen>> = Arc::default();
        let (held, holds) = watch::channel(false);
        let log = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                log.lock().unwrap().connections += 1;
                let far = TcpStream::connect(&place).await.unwrap();
                // Neither side waits for the other's acknowledgements because of what is between them.
                near.set_nodelay(true).unwrap();
                far.set_nodelay(true).unwrap();
                let (near_in, mut near_out) = near.into_split();
                let (mut far_in, far_out) = far.into_split();
                let log = Arc::clone(&log);
                tokio::spawn(async move {
                    drop(requests(near_in, far_out, &log).await);
                    log.lock().unwrap().left += 1;
                });
                let mut holds = holds.clone();
                tokio::spawn(async move {
                    let mut bytes = [0; 4_096];
                    while let Ok(n @ 1..) = far_in.read(&mut bytes).await {
                        if holds.wait_for(|held| !held).await.is_err()
                            || near_out.write_all(&bytes[..n]).await.is_err()
                        {
                            break;
                        }
                    }
                });
            }
        });
        Self { port, seen, held }
    }

    /// Lets answers wait, or go on.
    pub(crate) fn hold(&self, held: bool) {
        self.held.send_replace(held);
    }

    /// How many connections were opened, and how many of them were closed by the client.
    pub(crate) fn connections(&self) -> (usize, usize) {
        let seen = self.seen.lock().unwrap();
        (seen.connections, seen.left)
    }

    /// Waits until as much was asked as is expected, compares, and forgets it: what is asked beyond that is in the
    /// way of the next comparison.
    pub(crate) async fn asked(&self, what: &str, expected: &[&str]) {
        eventually(what, async || self.seen.lock().unwrap().asked.len() >= expected.len()).await;
        assert_eq!(self.forget(), expected, "{what}");
    }

    /// Waits until what was asked is so, and forgets it.
    pub(crate) async fn forget_when(&self, is_so: impl Fn(&[String]) -> bool) {
        eventually("all was asked", async || is_so(&self.seen.lock().unwrap().asked)).await;
        self.forget();
    }

    /// What was asked until now, which is forgotten.
    pub(crate) fn forget(&self) -> Vec<String> {
        std::mem::take(&mut self.seen.lock().unwrap().asked)
    }
}

/// Hands the client's messages on, one by one. Those of a login have numbers that go on.
async fn requests(
    mut near: tokio::net::tcp::OwnedReadHalf,
    mut far: tokio::net::tcp::OwnedWriteHalf,
    seen: &Mutex<Seen>,
) -> std::io::Result<()> {
    loop {
        let mut header = [0; 4];
        near.read_exact(&mut header).await?;
        let [low, middle, high, number] = header;
        let mut message = vec![0; u32::from_le_bytes([low, middle, high, 0]) as usize];
        near.read_exact(&mut message).await?;
        let asked = match message.as_slice() {
            _ if number != 0 => None,
            [0x03, text @ ..] => {
                let text = String::from_utf8_lossy(text);
                Some(text.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
            }
            [0x0e, ..] => Some("ping".to_owned()),
            [0x16, ..] => Some("prepare".to_owned()),
            [0x17, ..] => Some("execute".to_owned()),
            // To close a statement, and to leave: no answer.
            [0x19 | 0x01, ..] => None,
            other => Some(format!("{other:?}")),
        };
        seen.lock().unwrap().asked.extend(asked);
        far.write_all(&[&header[..], &message].concat()).await?;
    }
}
