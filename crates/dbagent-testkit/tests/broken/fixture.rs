//! The fixture of a broken dialect: the documents fixture, with what a fault needs to show.

use dbagent_core::{Dialect, ErrorKind, ObjectName, Request, Result, Target, async_trait};
use dbagent_testkit::conformance::{Change, Corpus, Fixture, Material};
use dbagent_testkit::documents::{Connection, DocumentsFixture, Mode};

use super::Fault;

/// A fixture whose dialect misbehaves.
pub(crate) struct BrokenFixture {
    inner: DocumentsFixture,
    fault: Fault,
    dialect: &'static Dialect,
    /// What it lists as lacking, instead of what is right.
    pub(crate) lacks: Option<Vec<(&'static str, &'static str)>>,
    /// Why it is not there.
    pub(crate) absent: Option<String>,
    /// What it has, changed.
    pub(crate) change: fn(&mut Material),
}

impl BrokenFixture {
    pub(crate) fn new(fault: Fault) -> Self {
        Self {
            inner: DocumentsFixture::new(),
            fault,
            dialect: fault.dialect(),
            lacks: None,
            absent: None,
            change: |_| {},
        }
    }
}

#[async_trait]
impl Fixture for BrokenFixture {
    fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    async fn unavailable(&self) -> Option<String> {
        self.absent.clone()
    }

    async fn target(&self) -> Result<Target> {
        self.inner.target().await
    }

    fn material(&self) -> Material {
        let mut material = self.inner.material();
        match self.fault {
            Fault::MissingColumnsAreNull => {
                material.unknown_column = Some(Request::json(
                    r#"{"op":"find","collection":"users","projection":{"no_such_field":1}}"#,
                ));
            }
            // A "view" whose definition nobody looked up.
            Fault::ViewsAreOpaque => {
                material.view = Some(ObjectName::new("orders"));
                material.read_view = Some(Request::json(r#"{"op":"find","collection":"orders"}"#));
            }
            Fault::ClaimsNamespaces => material.default_namespace = Some("main".to_owned()),
            Fault::TrimsParameters => {
                material.echo_positional = Some(Request::json(r#"{"op":"echo"}"#));
                material.echo_named = Some((Request::json(r#"{"op":"echo","by":"named"}"#), "v".to_owned()));
            }
            _ => {}
        }
        (self.change)(&mut material);
        material
    }

    async fn raw_hardened(&self, request: &Request) -> Option<Result<()>> {
        if self.fault != Fault::EngineWrites {
            return self.inner.raw_hardened(request).await;
        }
        let file = self.target().await.unwrap().url.decoded_rest().unwrap();
        Some(Connection::open(file, None, Mode::ReadWrite).and_then(|c| c.execute(request)))
    }

    async fn beside(&self, change: Change) -> Option<Result<()>> {
        self.inner.beside(change).await
    }

    async fn wrong_targets(&self) -> Result<Vec<(Target, ErrorKind)>> {
        self.inner.wrong_targets().await
    }

    async fn secret_targets(&self) -> Result<Vec<Target>> {
        self.inner.secret_targets().await
    }

    fn corpora(&self) -> Vec<Corpus> {
        self.inner.corpora()
    }

    fn lacks(&self) -> Vec<(&'static str, &'static str)> {
        self.lacks.clone().unwrap_or_else(|| self.inner.lacks())
    }
}
