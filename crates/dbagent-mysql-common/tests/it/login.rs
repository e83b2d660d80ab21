//! Ways in: accounts, encryption, sockets, and what each failure is called.

use dbagent_core::{ConnUrl, ErrorKind, Target};
use dbagent_testkit::conformance::Value;

use super::proxy::place;
use super::support::{digits, open, refused, rows, scratch, skipped, target, variable};
use crate::own;

async fn works(target: Target) {
    let session = open(target).await.unwrap_or_else(|e| panic!("{e} {:?}", e.hint_text()));
    assert_eq!(rows(&session, "SELECT 1 AS a").await, [[Value::from(1)]]);
}

/// Whether the session's connection is encrypted.
async fn cipher(target: Target) -> bool {
    let mut raw = own::raw_hardened(&target, &super::support::call()).await.unwrap();
    let row = dbagent_mysql_common::sqlx::query("SHOW SESSION STATUS LIKE 'Ssl_cipher'");
    let row = row.fetch_one(raw.connection()).await.unwrap();
    use dbagent_mysql_common::sqlx::Row as _;
    !row.get::<String, _>(1).is_empty()
}

fn with(url: &str, parameters: &str) -> Target {
    let bare = url.split_once('?').map_or(url, |(bare, _)| bare);
    target(&format!("{bare}?{parameters}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn encryption_is_what_was_asked_for() {
    let (Some(url), Some(ca)) = (variable("TLS_URL"), variable("CA")) else { return };
    assert!(cipher(with(&url, "ssl-mode=REQUIRED")).await);
    assert!(cipher(with(&url, "")).await, "PREFERRED takes what is offered");
    assert!(cipher(with(&url, &format!("ssl-ca={ca}"))).await);
    assert!(cipher(with(&url, &format!("ssl-mode=VERIFY_CA&ssl-ca={ca}"))).await);
    let owner = variable("URL").unwrap();
    assert!(!cipher(with(&owner, "ssl-mode=DISABLED")).await);

    // An account that must be encrypted, without.
    let e = refused(with(&url, "ssl-mode=DISABLED")).await;
    assert!(matches!(e.kind(), ErrorKind::Authentication | ErrorKind::Tls), "{e}");
    assert!(
        e.hint_text().is_some_and(|h| h.contains("TLS") || h.contains("REQUIRED")),
        "{e} {:?}",
        e.hint_text()
    );
    // An authority that nobody knows.
    let e = refused(with(&url, "ssl-mode=VERIFY_CA")).await;
    assert_eq!(e.kind(), ErrorKind::Tls, "{e}");
    let e = refused(with(&url, "ssl-mode=VERIFY_IDENTITY&ssl-ca=/no/such/file.pem")).await;
    assert_eq!(e.kind(), ErrorKind::Config, "{e}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_is_for_its_host() {
    let (Some(url), Some(ca)) = (variable("TLS_URL"), variable("CA")) else { return };
    // The server's certificate names localhost and 127.0.0.1.
    works(with(&url, &format!("ssl-mode=VERIFY_IDENTITY&ssl-ca={ca}"))).await;
    // The same server by an address that its certificate does not name.
    let (_, place) = url.split_once('@').unwrap();
    let server = place.split(['/', '?']).next().unwrap().to_owned();
    let listener = tokio::net::TcpListener::bind("127.0.0.2:0").await.unwrap();
    let elsewhere = url.replace(&server, &listener.local_addr().unwrap().to_string());
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut upstream = tokio::net::TcpStream::connect(&server).await.unwrap();
            tokio::spawn(async move { tokio::io::copy_bidirectional(&mut client, &mut upstream).await });
        }
    });
    works(with(&elsewhere, &format!("ssl-mode=VERIFY_CA&ssl-ca={ca}"))).await;
    let e = refused(with(&elsewhere, &format!("ssl-mode=VERIFY_IDENTITY&ssl-ca={ca}"))).await;
    assert_eq!(e.kind(), ErrorKind::Tls, "{e}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_that_shows_a_certificate() {
    let (Some(url), Some(cert), Some(key)) =
        (variable("CERT_URL"), variable("CLIENT_CERT"), variable("CLIENT_KEY"))
    else {
        return;
    };
    works(with(&url, &format!("ssl-mode=REQUIRED&ssl-cert={cert}&ssl-key={key}"))).await;
    let e = refused(with(&url, "ssl-mode=REQUIRED")).await;
    assert!(matches!(e.kind(), ErrorKind::Authentication | ErrorKind::Tls), "{e}");
}

#[tokio::test(flavor = "multi_thread")]
async fn through_a_socket() {
    let (Some(socket), Some(url)) = (variable("SOCKET"), variable("URL")) else { return };
    let (bare, _) = url.split_once('?').unwrap_or((&url, ""));
    let account = bare.split_once('@').map_or(bare, |(account, _)| account);
    works(target(&format!("{account}@/?socket={socket}"))).await;
    works(target(&format!("{account}@{}/", socket.replace('/', "%2F")))).await;
    let e = refused(target(&format!("{account}@/?socket=/no/such.sock"))).await;
    assert_eq!(e.kind(), ErrorKind::Connection, "{e}");
}

#[tokio::test(flavor = "multi_thread")]
async fn accounts_without_rights_and_without_password() {
    let Some(scratch) = scratch().await else { return };
    let name = scratch.reader("IDENTIFIED BY ''").await.unwrap();
    works(target(&scratch.url_of(&name, ""))).await;
    let name = scratch.reader("IDENTIFIED BY 'p@ss/w%rd'").await.unwrap();
    works(target(&scratch.url_of(&name, "p%40ss%2Fw%25rd"))).await;
    // A database that the account may not see.
    let url = scratch.url_of(&name, "p%40ss%2Fw%25rd").replace(&format!("/{}", scratch.name()), "/mysql");
    let e = refused(target(&url)).await;
    assert_eq!(e.kind(), ErrorKind::Permission, "{e}");
    let mut locked = scratch.owner().await.unwrap();
    locked.run(&format!("ALTER USER '{name}'@'%' ACCOUNT LOCK")).await.unwrap();
    let e = refused(target(&scratch.url_of(&name, "p%40ss%2Fw%25rd"))).await;
    assert_eq!(e.kind(), ErrorKind::Authentication, "{e}");
}

/// A text with every byte written as an escape.
fn escaped(text: &str) -> String {
    digits(text.as_bytes(), "%")
}

#[tokio::test(flavor = "multi_thread")]
async fn by_an_ipv6_address_and_odd_escapes() {
    let Some(scratch) = scratch().await else { return };
    let listener = match tokio::net::TcpListener::bind("[::1]:0").await {
        Ok(listener) => listener,
        Err(e) => return skipped(&format!("this machine has no IPv6: {e}")),
    };
    let port = listener.local_addr().unwrap().port();
    let (server, _) = place(scratch.url());
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut upstream = tokio::net::TcpStream::connect(&server).await.unwrap();
            tokio::spawn(async move { tokio::io::copy_bidirectional(&mut client, &mut upstream).await });
        }
    });
    let password = "p@:/?#[%] é日";
    let account = scratch.reader(&format!("IDENTIFIED BY '{password}'")).await.unwrap();
    let database = format!("{} %/?#é", scratch.name());
    let mut owner = scratch.owner().await.unwrap();
    for statement in [
        format!("CREATE DATABASE `{database}`"),
        format!("CREATE TABLE `{database}`.t (a INT)"),
        format!("GRANT SELECT ON `{database}`.* TO '{account}'@'%'"),
    ] {
        owner.run(&statement).await.unwrap();
    }
    let scheme = own::DIALECT.id();
    let url = |account: &str, password: &str, database: &str| {
        format!("{scheme}://{account}:{password}@[::1]:{port}/{database}")
    };
    let at = |account: &str, password: &str, database: &str| target(&url(account, password, database));
    let (account, password, place) = (escaped(&account), escaped(password), escaped(&database));
    let session = open(at(&account, &password, &place)).await.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        rows(&session, "SELECT DATABASE() AS d FROM t RIGHT JOIN (SELECT 1) x ON 1").await,
        [[Value::text(&database)]]
    );
    // In capitals they are the same, and what is none is not guessed at.
    works(at(&account, &password.to_uppercase(), &place)).await;
    // An account is read with the URL, a database by the dialect.
    for odd in ["%", "%4", "%zz", "%+1"] {
        let e = ConnUrl::parse(&url(&account, odd, &place)).unwrap_err();
        assert!(e.to_string().contains("hexadecimal"), "{odd}: {e}");
        let e = refused(at(&account, &password, odd)).await;
        assert_eq!(e.kind(), ErrorKind::Config, "{odd}: {e}");
    }
    // No text in UTF-8.
    let e = refused(at(&account, &password, "%c3")).await;
    assert_eq!(e.kind(), ErrorKind::Config, "{e}");
    let e = refused(at(&account, &escaped("another"), &place)).await;
    assert_eq!(e.kind(), ErrorKind::Authentication, "{e}");
    let e = refused(at(&account, &password, &escaped("no / such %"))).await;
    // An account without rights there is not told whether there is one.
    assert_eq!(e.kind(), ErrorKind::Permission, "{e}");
    session.close().await;
    owner.run(&format!("DROP DATABASE `{database}`")).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_other_product_is_told_apart() {
    let Some(url) = variable("URL") else { return };
    let Ok(other) = std::env::var(own::OTHER) else { return skipped(&format!("{} is not set", own::OTHER)) };
    let scheme = url.split("://").next().unwrap();
    let (_, rest) = other.split_once("://").unwrap();
    let e = refused(target(&format!("{scheme}://{rest}"))).await;
    assert_eq!(e.kind(), ErrorKind::NotADatabase, "{e}");
    assert!(
        e.hint_text().is_some_and(|h| h.contains(&format!("instead of {scheme}://"))),
        "{:?}",
        e.hint_text()
    );
}

/// A server that greets, and then asks for a login by this plugin.
async fn server_that_wants(plugin: &'static str) -> u16 {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let packet = |sequence: u8, payload: &[u8]| {
        let length = u32::try_from(payload.len()).unwrap().to_le_bytes();
        [&length[..3], &[sequence], payload].concat()
    };
    // Version, number, the first half of the nonce; 4.1, secure connection and plugins; the second half.
    let greeting = [
        &b"\x0a9.9.9-test\0\x01\0\0\0abcdefgh\0\x00\x82\x2d\x02\0\x08\0\x15"[..],
        &[0; 10],
        b"ijklmnopqrst\0mysql_native_password\0",
    ]
    .concat();
    let greeting = packet(0, &greeting);
    let change = packet(2, &[b"\xfe", plugin.as_bytes(), b"\0", &[7; 32]].concat());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (greeting, change) = (greeting.clone(), change.clone());
            tokio::spawn(async move {
                stream.write_all(&greeting).await?;
                let mut login = [0; 1_024];
                if stream.read(&mut login).await? > 0 {
                    stream.write_all(&change).await?;
                }
                // Until the other side has had enough.
                stream.read(&mut login).await
            });
        }
    });
    port
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_the_driver_lacks_is_named() {
    let scheme = own::DIALECT.id();
    for plugin in ["client_ed25519", "parsec", "authentication_ldap_sasl_client", "mysql_clear_password"] {
        let port = server_that_wants(plugin).await;
        let e = refused(target(&format!("{scheme}://bob:secret@127.0.0.1:{port}/x"))).await;
        assert_eq!(e.kind(), ErrorKind::Authentication, "{plugin}: {e}");
        assert!(e.message().contains(&format!("the plugin {plugin}")), "{e}");
        assert!(!format!("{e} {e:?} {:?}", e.hint_text()).contains("secret"), "{e}");
    }
}
