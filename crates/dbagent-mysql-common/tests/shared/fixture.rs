//! A scratch database on a real server, for the conformance suite.

use std::sync::OnceLock;

use dbagent_core::context::CallContext;
use dbagent_core::{ConnUrl, Dialect, Error, ErrorKind, Request, Result, Target, async_trait};
use dbagent_testkit::conformance::{CANARY, Change, Corpus, Fixture, Material, sql};
use tokio::sync::OnceCell;

use super::material;
use crate::own::{self, Scratch};

/// The dialect on its real server.
pub(crate) struct ServerFixture {
    name: String,
    scratch: OnceCell<Scratch>,
    /// A listener that speaks another protocol.
    stranger: OnceLock<u16>,
}

impl ServerFixture {
    pub(crate) fn new() -> Self {
        Self { name: Scratch::fresh_name(), scratch: OnceCell::new(), stranger: OnceLock::new() }
    }

    /// The scratch database, made by the first call.
    async fn scratch(&self) -> Result<&Scratch> {
        self.scratch
            .get_or_try_init(|| async {
                let url = own::owner_url().map_err(|why| Error::new(ErrorKind::Config, why))?;
                let scratch = own::scratch(&url, self.name.clone()).await?;
                let mut owner = scratch.owner().await?;
                for statement in material::setup() {
                    owner
                        .run(&statement)
                        .await
                        .map_err(|e| e.with("statement", statement.chars().take(80).collect::<String>()))?;
                }
                Ok(scratch)
            })
            .await
    }

    /// The port of something that answers like a server of another kind.
    fn stranger(&self) -> Result<u16> {
        let failed = |e: std::io::Error| Error::new(ErrorKind::Io, e.to_string());
        if let Some(port) = self.stranger.get() {
            return Ok(*port);
        }
        let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                use std::io::Write as _;
                let mut stream = stream;
                drop(stream.write_all(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"));
            }
        });
        Ok(*self.stranger.get_or_init(|| port))
    }
}

fn target(name: &str, url: &str) -> Result<Target> {
    Ok(Target::new(name, ConnUrl::parse(url)?))
}

/// The URL with another host and port.
fn elsewhere(url: &str, place: &str) -> String {
    let (before, rest) = url.split_once('@').unwrap_or(("", url));
    let rest = rest.find('/').and_then(|at| rest.get(at..)).unwrap_or_default();
    format!("{before}@{place}{rest}")
}

#[async_trait]
impl Fixture for ServerFixture {
    fn dialect(&self) -> &'static Dialect {
        own::DIALECT
    }

    async fn unavailable(&self) -> Option<String> {
        own::owner_url().err()
    }

    async fn target(&self) -> Result<Target> {
        target("scratch", self.scratch().await?.url())
    }

    fn material(&self) -> Material {
        let mut material = own::material(material::shared());
        material.default_namespace = Some(self.name.clone());
        material
    }

    async fn raw_hardened(&self, request: &Request) -> Option<Result<()>> {
        let call = CallContext::within(std::time::Duration::from_secs(60));
        let run = async {
            let target = self.target().await?;
            let mut raw = own::raw_hardened(&target, &call).await?;
            raw.run(request.as_str(), &request.params).await.map(drop)
        };
        Some(run.await)
    }

    async fn beside(&self, change: Change) -> Option<Result<()>> {
        let statements = match change {
            Change::Create(name) => {
                vec![format!("CREATE TABLE {} (a INTEGER)", sql::quoted(&name.name).replace('"', "`"))]
            }
            Change::ViewOverOrders => {
                vec![
                    "CREATE OR REPLACE VIEW user_emails AS SELECT id, status AS contact FROM orders"
                        .to_owned(),
                ]
            }
            _ => return None,
        };
        let run = async {
            let mut owner = self.scratch().await?.owner().await?;
            for statement in statements {
                owner.run(&statement).await?;
            }
            Ok(())
        };
        Some(run.await)
    }

    async fn wrong_targets(&self) -> Result<Vec<(Target, ErrorKind)>> {
        let scratch = self.scratch().await?;
        let url = scratch.url();
        let reader = scratch.reader("IDENTIFIED BY 'right'").await?;
        let silent = std::net::TcpListener::bind("127.0.0.1:0");
        let silent = silent.and_then(|l| Ok((l.local_addr()?.port(), l)));
        let (port, silent) = silent.map_err(|e| Error::new(ErrorKind::Io, e.to_string()))?;
        // It listens, and nobody answers, until the tests end.
        std::mem::forget(silent);
        let mut hangs = target("silent", &elsewhere(url, &format!("127.0.0.1:{port}")))?;
        hangs.credential = hangs.credential.set("connect_timeout", "0.5");
        let mut nonsense = self.target().await?;
        nonsense.credential = nonsense.credential.set("connect_timeout", "soon");
        let nowhere = url.replace(scratch.name(), "no_such_database");
        let separator = if url.contains('?') { '&' } else { '?' };
        Ok(vec![
            (target("password", &scratch.url_of(&reader, "wrong"))?, ErrorKind::Authentication),
            (target("user", &scratch.url_of("no_such_user", "wrong"))?, ErrorKind::Authentication),
            (target("database", &nowhere)?, ErrorKind::DatabaseNotFound),
            (target("port", &elsewhere(url, "127.0.0.1:1"))?, ErrorKind::Connection),
            (target("host", &elsewhere(url, "no-such-host.invalid"))?, ErrorKind::Connection),
            (
                target("stranger", &elsewhere(url, &format!("127.0.0.1:{}", self.stranger()?)))?,
                ErrorKind::NotADatabase,
            ),
            (hangs, ErrorKind::Connection),
            (target("parameter", &format!("{url}{separator}charset=latin1"))?, ErrorKind::Config),
            (nonsense, ErrorKind::Config),
        ])
    }

    async fn secret_targets(&self) -> Result<Vec<Target>> {
        let scratch = self.scratch().await?;
        let reader = scratch.reader(&format!("IDENTIFIED BY '{CANARY}'")).await?;
        let in_url = target("in the URL", &scratch.url_of(&reader, CANARY))?;
        let mut beside = target("beside", &scratch.url_of("x", "").replace("x@", ""))?;
        beside.credential = beside.credential.set("user", reader).set("password", CANARY);
        Ok(vec![in_url, beside])
    }

    fn corpora(&self) -> Vec<Corpus> {
        own::corpora()
    }
}
