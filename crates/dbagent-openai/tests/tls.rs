//! Encrypted servers: a certificate is verified, a root of the host's is trusted, and no process-wide TLS
//! provider is needed or set. The key in `tests/tls` is of no server but this one.

mod support;

use std::sync::Arc;

use dbagent_core::model::ModelErrorKind as Kind;
use dbagent_openai::OpenAi;
use support::*;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

const ROOT: &str = include_str!("tls/ca.pem");

/// A server with a certificate for `localhost`; it answers each connection with one stream.
#[expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
async fn server() -> u16 {
    let certificate = CertificateDer::from_pem_slice(include_bytes!("tls/server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("tls/server.key")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut socket) = acceptor.accept(socket).await else { return };
                let mut seen = Vec::new();
                while !seen.ends_with(b"}") {
                    match socket.read_buf(&mut seen).await {
                        Ok(n) if n > 0 => {}
                        _ => return,
                    }
                }
                _ = socket.write_all(&events(&[&text("hi"), STOP, DONE])).await;
                _ = socket.shutdown().await;
            });
        }
    });
    port
}

fn at(host: &str, port: u16) -> dbagent_openai::OpenAiBuilder {
    OpenAi::builder().base_url(format!("https://{host}:{port}/v1")).model("m")
}

#[tokio::test]
async fn a_root_of_the_hosts_is_trusted() {
    let model = at("localhost", server().await).root_certificates(ROOT).build().unwrap();
    assert_eq!(ask(&model, hello()).await.1.unwrap().text, "hi");
    assert!(CryptoProvider::get_default().is_none(), "a library sets no provider for the process");
}

#[tokio::test]
async fn a_certificate_that_does_not_verify_is_an_error_that_is_not_tried_again() {
    let port = server().await;
    let unknown = ask(&at("localhost", port).build().unwrap(), hello()).await.1.unwrap_err();
    assert_eq!((unknown.kind, unknown.retryable), (Kind::Transport, false));
    assert!(unknown.message.contains("UnknownIssuer"), "{}", unknown.message);
    let other_name = at("127.0.0.1", port).root_certificates(ROOT).build().unwrap();
    let other_name = ask(&other_name, hello()).await.1.unwrap_err();
    assert_eq!((other_name.kind, other_name.retryable), (Kind::Transport, false));
    assert!(other_name.message.contains("certificate"), "{}", other_name.message);
}

#[tokio::test]
async fn a_server_that_is_not_encrypted() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        while matches!(socket.read(&mut [0; 64]).await, Ok(n) if n > 0) {}
    });
    let error = ask(&at("localhost", port).build().unwrap(), hello()).await.1.unwrap_err();
    assert_eq!((error.kind, error.retryable), (Kind::Transport, false));
}
