//! Encryption as libpq names its modes, client certificates, and sockets.

use dbagent_core::{Error, ErrorKind, Request};
use dbagent_postgres::testing::raw_hardened;

use crate::proxy::Proxy;
use crate::support::{call, open, target, variable, with_parameter};

/// Whether the connection is encrypted, or why it did not open.
async fn encrypted(url: &str) -> Result<bool, Error> {
    let raw = raw_hardened(&target(url), &call()).await?;
    let text = "SELECT 1 FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl";
    Ok(raw.run(&Request::text(text)).await? == 1)
}

async fn refused(url: &str) -> Error {
    match encrypted(url).await {
        Ok(_) => panic!("it opened"),
        Err(e) => e,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_mode_does_what_libpq_says() {
    let (Some(any), Some(url), Some(ca)) = (variable("URL"), variable("TLS_URL"), variable("CA")) else {
        return;
    };
    // An account that both ways are open to.
    for (mode, expected) in [("disable", false), ("allow", false), ("prefer", true), ("require", true)] {
        assert_eq!(
            encrypted(&with_parameter(&any, &format!("sslmode={mode}"))).await.unwrap(),
            expected,
            "{mode}"
        );
    }
    // One that the server admits only encrypted.
    for mode in ["allow", "prefer", "require"] {
        assert!(encrypted(&with_parameter(&url, &format!("sslmode={mode}"))).await.unwrap(), "{mode}");
    }
    assert!(encrypted(&url).await.unwrap(), "the default is prefer");
    for mode in ["require", "verify-ca", "verify-full"] {
        let url = with_parameter(&url, &format!("sslmode={mode}&sslrootcert={ca}"));
        assert!(encrypted(&url).await.unwrap(), "{mode} with the authority");
    }
    let e = refused(&with_parameter(&url, "sslmode=disable")).await;
    assert_eq!(e.kind(), ErrorKind::Tls, "{e}");
    assert!(e.hint_text().unwrap().contains("sslmode=require"), "{e:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_does_not_verify_is_an_error_of_its_own() {
    let (Some(url), Some(ca), Some(other)) = (variable("TLS_URL"), variable("CA"), variable("OLD_CA")) else {
        return;
    };
    // Nobody vouches for it; somebody else's authority.
    for parameters in [
        "sslmode=verify-full".to_owned(),
        "sslmode=verify-ca".to_owned(),
        format!("sslmode=verify-full&sslrootcert={other}"),
        format!("sslmode=require&sslrootcert={other}"),
    ] {
        let e = refused(&with_parameter(&url, &parameters)).await;
        assert_eq!(e.kind(), ErrorKind::Tls, "{parameters}: {e}");
    }
    // Under an address that is not in it.
    let proxy = Proxy::before(&url, "127.0.0.2").await;
    let e = refused(&with_parameter(&proxy.url, &format!("sslmode=verify-full&sslrootcert={ca}"))).await;
    assert_eq!(e.kind(), ErrorKind::Tls, "{e}");
    assert!(
        encrypted(&with_parameter(&proxy.url, &format!("sslmode=verify-ca&sslrootcert={ca}"))).await.unwrap()
    );
    let missing = refused(&with_parameter(&url, "sslmode=verify-full&sslrootcert=/no/such.pem")).await;
    assert_eq!(missing.kind(), ErrorKind::Config, "{missing}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_encryption_is_told_apart() {
    let Some(url) = variable("PGBOUNCER_URL") else { return };
    let e = refused(&with_parameter(&url, "sslmode=require&pooler=transaction")).await;
    assert_eq!(e.kind(), ErrorKind::Tls, "{e}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_certificate_is_a_login() {
    let (Some(url), Some(ca), Some(cert), Some(key)) =
        (variable("CERT_URL"), variable("CA"), variable("CLIENT_CERT"), variable("CLIENT_KEY"))
    else {
        return;
    };
    let verify = with_parameter(&url, &format!("sslmode=verify-full&sslrootcert={ca}"));
    assert!(encrypted(&with_parameter(&verify, &format!("sslcert={cert}&sslkey={key}"))).await.unwrap());
    let e = refused(&verify).await;
    assert_eq!(e.kind(), ErrorKind::Authentication, "{e}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_is_a_folder() {
    let (Some(url), Some(folder)) = (variable("URL"), variable("SOCKET")) else { return };
    let (login, place) = url.split_once("://").unwrap().1.rsplit_once('@').unwrap();
    let port = place.split(['/', ':']).nth(1).unwrap();
    let escaped = folder.replace('/', "%2F");
    for url in [
        format!("postgres://{login}@/postgres?host={folder}&port={port}"),
        format!("postgresql://{login}@{escaped}:{port}/postgres"),
    ] {
        let session = open(target(&url)).await.unwrap();
        assert!(session.server(&call()).await.unwrap().starts_with("PostgreSQL "));
        assert!(!encrypted(&url).await.unwrap());
    }
}
