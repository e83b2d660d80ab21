//! A small TCP proxy before a server, which can swallow what comes or cut every connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use dbagent_core::ConnUrl;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Forward,
    /// What comes is kept back; connections stay open.
    Hole,
    /// Every connection ends.
    Cut,
}

pub(crate) struct Proxy {
    /// The server's URL with the proxy's address in it.
    pub(crate) url: String,
    mode: watch::Sender<Mode>,
    trips: Arc<Trips>,
}

/// How often the client spoke after the server did.
#[derive(Default)]
struct Trips {
    count: AtomicUsize,
    client_spoke: AtomicBool,
}

impl Proxy {
    /// A proxy on an address of this machine.
    pub(crate) async fn before(url: &str, address: &str) -> Self {
        let parsed = ConnUrl::parse(url).expect("a URL");
        let upstream = parsed.rest().split('/').next().expect("a host").to_owned();
        let listener = TcpListener::bind((address, 0)).await.expect("a port");
        let own = listener.local_addr().expect("an address").to_string();
        let (mode, seen) = watch::channel(Mode::Forward);
        let trips = Arc::new(Trips::default());
        let counted = Arc::clone(&trips);
        let to = upstream.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(&to).await else { continue };
                let ((cr, cw), (sr, sw)) = (client.into_split(), server.into_split());
                tokio::spawn(pump(cr, sw, seen.clone(), Arc::clone(&counted), true));
                tokio::spawn(pump(sr, cw, seen.clone(), Arc::clone(&counted), false));
            }
        });
        Self { url: url.replace(&upstream, &own), mode, trips }
    }

    pub(crate) fn set(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }

    /// Round trips so far, over all connections.
    pub(crate) fn trips(&self) -> usize {
        self.trips.count.load(Ordering::SeqCst)
    }
}

async fn pump(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut mode: watch::Receiver<Mode>,
    trips: Arc<Trips>,
    of_client: bool,
) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = tokio::select! {
            read = from.read(&mut buffer) => read,
            gone = mode.wait_for(|m| *m == Mode::Cut) => { drop(gone); return }
        };
        let Ok(n @ 1..) = read else { return };
        match mode.wait_for(|m| *m != Mode::Hole).await {
            Ok(now) if *now == Mode::Forward => {}
            _ => return,
        }
        if of_client && !trips.client_spoke.swap(true, Ordering::SeqCst) {
            trips.count.fetch_add(1, Ordering::SeqCst);
        } else if !of_client {
            trips.client_spoke.store(false, Ordering::SeqCst);
        }
        if to.write_all(&buffer[..n]).await.is_err() {
            return;
        }
    }
}
